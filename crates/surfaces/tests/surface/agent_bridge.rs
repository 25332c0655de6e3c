//! The requests of an Agent Bridge client, and the behaviour it relies on.

use serde_json::{Value, json};

use crate::server::Server;

#[tokio::test]
async fn ping_and_health_answer() {
    let server = Server::start().await;
    let (status, ping) = server.get("/ping").await;
    assert_eq!((status, &ping["status"], &ping["name"]), (200, &json!("ok"), &json!("Moothall")));
    assert!(ping["timestamp"].as_str().unwrap().ends_with('Z'));
    for path in ["/healthz", "/health"] {
        assert_eq!(server.get(path).await.1["status"], "ok", "{path}");
    }
}

#[tokio::test]
async fn a_bare_thread_only_answers_those_addressed() {
    let server = Server::start().await;
    let (status, thread) = server.post("/threads", json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(
        (&thread["name"], &thread["policy"]["name"]),
        (&json!("Untitled"), &json!("mention_only"))
    );
    assert_eq!(thread["policy"]["max_agent_turns_per_message"], 3);
    let id = thread["id"].as_str().unwrap();
    let (_, list) = server.get("/threads").await;
    let entry = &list["threads"][0];
    assert_eq!(
        (&entry["id"], &entry["head"], &entry["archived"], &entry["policy"]),
        (&json!(id), &json!(1), &json!(false), &json!("mention_only"))
    );
    assert_eq!(entry["created_at"], thread["created_at"]);
    let events = server.events(id, "").await;
    assert_eq!(
        (&events[0]["type"], &events[0]["content"], &events[0]["from"], &events[0]["to"]),
        (&json!("thread.created"), &json!("Untitled"), &json!("user"), &json!("all"))
    );
}

#[tokio::test]
async fn a_thread_takes_a_policy_by_name_or_whole() {
    let server = Server::start().await;
    let (_, thread) = server
        .post("/threads", json!({"policy": {"name": "hybrid", "cooldown_seconds": 0.5}}))
        .await;
    assert_eq!(
        (&thread["policy"]["name"], &thread["policy"]["cooldown_seconds"]),
        (&json!("hybrid"), &json!(0.5))
    );
    let (status, refused) = server.post("/threads", json!({"policy": "hybird"})).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid_policy")));
}

#[tokio::test]
async fn an_envelope_has_all_its_parts() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let first = server.say(&thread, "user", "Hello").await;
    let event = server
        .take(
            &thread,
            json!({"from": "user", "type": "message", "to": "user", "content": "Again", "meta": {"reply_to": first["id"], "tags": ["x"]}}),
        )
        .await["event"]
        .clone();
    assert_eq!(
        (&event["type"], &event["from"], &event["to"], &event["content"], &event["thread"]),
        (&json!("message"), &json!("user"), &json!("user"), &json!("Again"), &json!(thread))
    );
    assert_eq!(
        event["meta"],
        json!({"reply_to": first["id"], "tags": ["x"], "unproven": true}),
        "in local mode a name is the client's word"
    );
    assert_eq!(event["id"].as_str().unwrap().as_bytes()[14], b'7');
    assert_eq!(event["seq"], first["seq"].as_u64().unwrap() + 1);
    assert!(event["ts"].as_str() > first["ts"].as_str());
    assert_eq!(server.events(&thread, "?after=1").await, [first, event]);
}

#[tokio::test]
async fn since_is_exclusive_and_limits_page() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let mut said = Vec::new();
    for n in 0..20 {
        said.push(server.say(&thread, "user", &format!("message {n}")).await);
    }
    for (place, event) in said.iter().enumerate() {
        let later =
            server.events(&thread, &format!("?since={}", event["ts"].as_str().unwrap())).await;
        assert_eq!(later, said[place + 1..], "since {place}");
    }
    assert_eq!(server.events(&thread, "?since=1999-01-01T00:00:00Z").await.len(), 21);
    assert_eq!(server.events(&thread, "?after=1&limit=3").await, said[..3]);
    assert_eq!(server.events(&thread, "?after=21").await, Vec::<Value>::new());
    let (_, page) = server.get(&format!("/threads/{thread}/events?limit=5")).await;
    assert_eq!(
        (&page["count"], &page["through"], &page["head"]),
        (&json!(5), &json!(5), &json!(21))
    );
}

#[tokio::test]
async fn a_long_log_is_read_whole() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let words = "w".repeat(2000);
    for _ in 0..300 {
        server.say(&thread, "user", &words).await;
    }
    let events = server.events(&thread, "").await;
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=301).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_invited_agent_answers_when_addressed_and_its_reply_says_how_it_came() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "codex", "echo").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    for addressed in [
        json!({"from": "user", "content": "@codex, hello"}),
        json!({"from": "user", "to": "codex", "content": "hello"}),
    ] {
        let asked = server.take(&thread, addressed).await["event"].clone();
        let reply = stream.until(|event| event["from"] == "codex").await;
        assert_eq!(
            (&reply["type"], &reply["content"], &reply["to"]),
            (&json!("message"), &json!("I heard you."), &json!("all"))
        );
        let meta = &reply["meta"];
        assert_eq!(
            (&meta["reply_to"], &meta["via"], &meta["tags"], &meta["depth"]),
            (&asked["id"], &json!("moothall"), &json!(["coordinator"]), &json!(1))
        );
        assert!(meta["turn"].as_str().unwrap().starts_with(&format!("{thread}.")));
    }
    server.say(&thread, "user", "nobody in particular").await;
    assert_eq!(server.turns(&thread, "").await.len(), 2);
}

#[tokio::test]
async fn re_inviting_merges_the_profile_and_uninviting_forgets_it() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let profile =
        json!({"client": "echo", "model": "m1", "roles": ["planner"], "nickname": "Echo"});
    server
        .take(&thread, json!({"type": "control", "from": "helper", "content": {"invite": {"participant_id": "a1", "profile": profile}}}))
        .await;
    let before = server.state(&thread).await["participants"]["invited"][0].clone();
    assert_eq!((&before["profile"], &before["invited_by"]), (&profile, &json!("helper")));
    server
        .control(&thread, json!({"invite": {"participant_id": "a1", "profile": {"model": "m2"}}}))
        .await;
    let after = server.state(&thread).await["participants"]["invited"][0].clone();
    assert_eq!(
        after["profile"],
        json!({"client": "echo", "model": "m2", "roles": ["planner"], "nickname": "Echo"})
    );
    assert_eq!(
        (&after["invited_by"], &after["invited_at"]),
        (&before["invited_by"], &before["invited_at"])
    );
    assert_eq!(
        (&after["kind"], &after["runtime"], &after["known"], &after["color"]),
        (&json!("agent"), &json!("script"), &json!(true), &json!(0))
    );
    server.control(&thread, json!({"uninvite": {"participant_id": "a1"}})).await;
    assert_eq!(server.state(&thread).await["participants"]["invited"], json!([]));
    server.control(&thread, json!({"invite": {"participant_id": "a1", "profile": {"client": "echo", "model": "m3"}}})).await;
    let again = server.state(&thread).await["participants"]["invited"][0].clone();
    assert_eq!(
        (&again["profile"], &again["invited_by"]),
        (&json!({"client": "echo", "model": "m3"}), &json!("user"))
    );
}

#[tokio::test]
async fn a_first_invite_needs_client_and_model() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for profile in [json!({}), json!({"client": "echo"}), json!({"model": "m"})] {
        let (status, error) = server
            .refuse(&thread, json!({"type": "control", "from": "user", "content": {"invite": {"participant_id": "a", "profile": profile}}}))
            .await;
        assert_eq!((status, &error["code"]), (422, &json!("incomplete_profile")));
    }
    server
        .control(
            &thread,
            json!({"invite": {"participant_id": "ann", "profile": {"client": "human"}}}),
        )
        .await;
    let state = server.state(&thread).await;
    assert_eq!(
        (
            &state["participants"]["invited"][0]["kind"],
            &state["participants"]["invited"][0]["profile"]["model"]
        ),
        (&json!("human"), &json!("human"))
    );
}

#[tokio::test]
async fn an_unknown_client_is_taken_with_a_warning_and_words_to_join() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let answer = server.invite(&thread, "far", "some-program").await;
    assert!(answer["warnings"][0].as_str().unwrap().contains("some-program"));
    assert_eq!(answer["join"]["participant"], "far");
    assert!(
        answer["join"]["prompt"]
            .as_str()
            .unwrap()
            .contains(&server.url(&format!("/threads/{thread}/events")))
    );
    let listening = server.url(&format!("/threads/{thread}/events/stream?as=far&turns=1"));
    assert_eq!(answer["join"]["command"], format!("curl -sN '{listening}'"));
    let known = server.invite(&thread, "near", "echo").await;
    assert_eq!((&known["warnings"], &known["join"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn several_controls_travel_in_one_content_and_come_back_in_it() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "a", "echo").await;
    let content = json!({"mute": {"targets": ["a"]}, "pause": {}, "discussion": {"on": true}, "invited_auto": {"on": true}});
    let answer = server.control(&thread, content).await;
    assert_eq!(
        answer["event"]["content"],
        json!({"mute": {"targets": ["a"], "mode": "hard"}, "pause": {"on": true}, "discussion": {"on": true, "allow_agent_mentions": true}, "invited_auto": {"on": true}})
    );
    let state = server.state(&thread).await;
    assert_eq!((&state["paused"], &state["muted"]), (&json!(true), &json!(["a"])));
    assert_eq!(
        (&state["discussion"], &state["invited_auto"]),
        (&json!({"on": true, "allow_agent_mentions": true}), &json!({"on": true}))
    );
    server
        .control(&thread, json!("{\"unmute\": {\"targets\": [\"a\"]}, \"pause\": {\"on\": false}}"))
        .await;
    let state = server.state(&thread).await;
    assert_eq!((&state["paused"], &state["muted"]), (&json!(false), &json!([])));
}

#[tokio::test]
async fn controls_of_agents_are_refused_but_invites() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let (status, error) = server
        .refuse(
            &thread,
            json!({"type": "control", "from": "bot", "content": {"pause": {"on": true}}}),
        )
        .await;
    assert_eq!(
        (status, &error["code"], &error["participant"]),
        (403, &json!("humans_only"), &json!("bot"))
    );
}

#[tokio::test]
async fn the_muted_and_the_paused_get_a_conflict_and_their_words_are_kept() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "far", "elsewhere").await;
    server.control(&thread, json!({"mute": {"targets": ["far"]}})).await;
    let (status, error) = server.refuse(&thread, json!({"from": "far", "content": "let me"})).await;
    assert_eq!(
        (status, &error["code"], &error["thread"], &error["participant"]),
        (409, &json!("participant_muted"), &json!(thread), &json!("far"))
    );
    let kept = server.events(&thread, "").await.pop().unwrap();
    assert_eq!(
        (&kept["id"], &kept["content"]["event"], &kept["content"]["text"]),
        (&error["kept"], &json!("kept"), &json!("let me"))
    );
    server.control(&thread, json!({"unmute": {"targets": ["far"]}, "pause": {"on": true}})).await;
    let (status, error) =
        server.refuse(&thread, json!({"from": "far", "content": "and now"})).await;
    assert_eq!((status, &error["code"]), (409, &json!("thread_paused")));
    server.say(&thread, "user", "people may").await;
}

#[tokio::test]
async fn policies_are_replaced_and_patched() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.control(&thread, json!({"policy": {"name": "hybrid", "max_depth": 1}})).await;
    let answer = server
        .control(
            &thread,
            json!({"config": {"cooldown_seconds": 0, "reply_strategy": "round_robin"}}),
        )
        .await;
    assert_eq!(
        answer["event"]["content"],
        json!({"config": {"cooldown_seconds": 0, "reply_strategy": "round_robin"}})
    );
    let policy = server.state(&thread).await["policy"].clone();
    assert_eq!(
        (&policy["name"], &policy["max_depth"], &policy["cooldown_seconds"]),
        (&json!("round_robin"), &json!(1), &json!(0.0))
    );
    let (status, error) = server
        .refuse(
            &thread,
            json!({"type": "control", "from": "user", "content": {"config": {"max_dept": 1}}}),
        )
        .await;
    assert_eq!((status, &error["code"]), (422, &json!("invalid_policy")));
}

#[tokio::test]
async fn threads_are_renamed_archived_and_opened_again() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let renamed = server
        .take(&thread, json!({"type": "thread.renamed", "from": "user", "content": "Better"}))
        .await;
    assert_eq!(
        (&renamed["event"]["type"], &renamed["event"]["content"]),
        (&json!("thread.renamed"), &json!("Better"))
    );
    let archived = server.control(&thread, json!({"archive": true})).await;
    assert_eq!(archived["event"]["type"], "thread.archived");
    let (_, list) = server.get("/threads?archived=true").await;
    assert_eq!(
        (&list["threads"][0]["name"], &list["threads"][0]["archived"]),
        (&json!("Better"), &json!(true))
    );
    let (status, error) =
        server.refuse(&thread, json!({"from": "user", "content": "hello?"})).await;
    assert_eq!((status, &error["code"]), (409, &json!("thread_archived")));
    assert_eq!(
        server.control(&thread, json!({"unarchive": {}})).await["event"]["type"],
        "thread.unarchived"
    );
    server.say(&thread, "user", "hello").await;
    let (status, _) = server
        .refuse(
            &thread,
            json!({"type": "control", "from": "user", "content": {"archive": true, "pause": {}}}),
        )
        .await;
    assert_eq!(status, 422);
}

#[tokio::test]
async fn presence_is_told_kept_and_not_logged() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/presence");
    let (_, accepted) = server
        .post(&path, json!({"from": "codex", "state": "listening", "details": {"client": "codex"}}))
        .await;
    assert_eq!(
        (
            &accepted["received"],
            &accepted["presence"]["thread"],
            &accepted["presence"]["participant"]
        ),
        (&json!(true), &json!(thread), &json!("codex"))
    );
    server.post(&path, json!({"from": "codex", "state": "thinking"})).await;
    server.post(&path, json!({"from": "alpha", "state": "idle"})).await;
    let (_, list) = server.get(&path).await;
    assert_eq!((&list["thread"], &list["ttl_seconds"]), (&json!(thread), &json!(120)));
    let seen: Vec<_> = list["participants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["id"].clone(), p["state"].clone(), p["stale"].clone(), p["details"].clone()))
        .collect();
    assert_eq!(seen[0], (json!("alpha"), json!("idle"), json!(false), Value::Null));
    assert_eq!(
        seen[1],
        (json!("codex"), json!("thinking"), json!(false), json!({"client": "codex"}))
    );
    assert_eq!(server.events(&thread, "").await.len(), 1);
    for (body, code) in [
        (json!({"state": "idle"}), "missing_from"),
        (json!({"from": "a"}), "missing_state"),
        (json!({}), "missing_from"),
    ] {
        let (status, error) = server.post(&path, body).await;
        assert_eq!((status, &error["error"]["code"]), (400, &json!(code)));
    }
    let (status, _) = server.post(&path, json!({"from": "a", "state": "idle", "details": 5})).await;
    assert_eq!(status, 422);
}

#[tokio::test]
async fn a_keyed_presence_is_said_once() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/presence");
    let (_, first) = server.post_with_key(&path, "k", json!({"from": "a", "state": "idle"})).await;
    server.post(&path, json!({"from": "a", "state": "typing"})).await;
    assert_eq!(
        server.post_with_key(&path, "k", json!({"from": "a", "state": "idle"})).await,
        (200, first)
    );
    assert_eq!(server.get(&path).await.1["participants"][0]["state"], "typing");
    let (status, refused) =
        server.post_with_key(&path, "k", json!({"from": "a", "state": "thinking"})).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("idempotency_key_reused")));
    assert_eq!(
        server.post_with_key(&path, "k", json!({"from": "b", "state": "thinking"})).await.0,
        200
    );
}

#[tokio::test]
async fn agents_are_listed() {
    let server = Server::start().await;
    let (_, list) = server.get("/agents").await;
    let clients: Vec<_> = list["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["client"].as_str().unwrap())
        .collect();
    assert_eq!(
        clients,
        ["broken", "careful", "demo", "echo", "ping", "pong", "quiet", "stuck", "teller"]
    );
    assert_eq!(
        (&list["agents"][3]["runtime"], &list["agents"][3]["timeout_seconds"]),
        (&json!("script"), &json!(30.0))
    );
}

#[tokio::test]
async fn a_key_makes_a_request_take_effect_once() {
    let server = Server::start().await;
    let (_, one) = server.post_with_key("/threads", "k1", json!({"name": "a"})).await;
    let (_, two) = server.post_with_key("/threads", "k1", json!({"name": "a"})).await;
    assert_eq!(one, two);
    let thread = one["id"].as_str().unwrap().to_owned();
    let path = format!("/threads/{thread}/events");
    let body = json!({"from": "user", "content": "once"});
    let (_, first) = server.post_with_key(&path, "k2", body.clone()).await;
    let (_, second) =
        server.post_with_key(&path, "k2", json!({"content": "once", "from": "user"})).await;
    assert_eq!(first, second);
    let (status, error) =
        server.post_with_key(&path, "k2", json!({"from": "user", "content": "twice"})).await;
    assert_eq!((status, &error["error"]["code"]), (422, &json!("idempotency_key_reused")));
    let (_, other) =
        server.post_with_key(&path, "k2", json!({"from": "ann", "content": "once"})).await;
    assert_ne!(first["event"]["id"], other["event"]["id"]);
    let invite = json!({"type": "control", "from": "user", "content": {"invite": {"participant_id": "x", "profile": {"client": "unheard", "model": "m"}}}});
    let (_, first) = server.post_with_key(&path, "k3", invite.clone()).await;
    assert_eq!(first, server.post_with_key(&path, "k3", invite).await.1);
    assert!(first["warnings"].is_array());
    assert_eq!(
        server.events(&thread, "").await.iter().filter(|event| event["type"] == "message").count(),
        2
    );
}

#[tokio::test]
async fn a_client_keeps_events_of_its_own_kind() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let answer = server.take(&thread, json!({"type": "task", "from": "bot", "to": "user", "content": {"title": "do it"}, "meta": {"tags": ["t"], "colour": "red"}, "extra": 1})).await;
    let event = &answer["event"];
    assert_eq!(
        (&event["type"], &event["content"], &event["to"], &event["meta"]),
        (
            &json!("task"),
            &json!({"title": "do it"}),
            &json!("user"),
            &json!({"tags": ["t"], "unproven": true})
        )
    );
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn pages_for_people_and_programs_are_there() {
    let server = Server::start().await;
    for (path, kind, needle) in [
        ("/", "text/html", "Moothall"),
        ("/docs/", "text/html", "swagger"),
        ("/openapi.json", "application/json", "\"/threads/{id}/events\""),
    ] {
        let response = server.client.get(server.url(path)).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with(kind), "{path}");
        assert!(response.text().await.unwrap().contains(needle), "{path}");
    }
}
