//! Turns as clients see them: their reasons, the reasons for silence, and how a person ends them.

use moothall_surfaces::wire::{Envelope, ThreadStateAnswer, TurnEvent, TurnList};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

#[tokio::test]
async fn turns_say_why_each_agent_spoke_or_did_not() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    for (id, client) in [("a", "echo"), ("b", "quiet"), ("c", "echo"), ("d", "broken")] {
        server.invite(&thread, id, client).await;
    }
    server.control(&thread, json!({"mute": {"targets": ["c"]}})).await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    let asked = server.say(&thread, "user", "@a and @c, what do you think?").await;
    stream.until(|event| event["content"]["event"] == "round_closed").await;
    let turns = server.turns(&thread, &format!("?message={}", asked["id"].as_str().unwrap())).await;
    let of = |id: &str| turns.iter().find(|turn| turn["participant"] == id).unwrap().clone();
    let a = of("a");
    assert_eq!(
        (&a["why"], &a["outcome"], &a["why_not"], &a["may_pass"]),
        (&json!("forced"), &json!("spoke"), &Value::Null, &json!(false))
    );
    assert_eq!(
        (&a["cause"]["id"], &a["message"], &a["attempt"]),
        (&asked["id"], &asked["id"], &json!(1))
    );
    assert!(
        a["id"].as_str().unwrap().starts_with(&format!("{thread}."))
            && a["reply"].is_string()
            && a["usage"].is_object()
    );
    assert!(a["through_seq"].as_u64() >= asked["seq"].as_u64());
    let b = of("b");
    assert_eq!(
        (&b["why"], &b["outcome"], &b["why_not"], &b["may_pass"]),
        (&json!("polled"), &json!("passed"), &json!("passed"), &json!(true))
    );
    let c = of("c");
    assert_eq!(
        (&c["id"], &c["why_not"], &c["outcome"]),
        (&Value::Null, &json!("muted"), &Value::Null)
    );
    let d = of("d");
    assert_eq!((&d["outcome"], &d["fault"]["code"]), (&json!("failed"), &json!("exit_status")));
    let error = server
        .events(&thread, "")
        .await
        .into_iter()
        .find(|event| event["meta"]["tags"] == json!(["coordinator", "error"]))
        .unwrap();
    assert_eq!(
        (&error["type"], &error["from"], &error["meta"]["error"]["code"]),
        (&json!("message"), &json!("moothall"), &json!("exit_status"))
    );
    assert!(server.events(&thread, "").await.iter().all(|event| event["content"] != "[PASS]"));
    assert_eq!(server.turns(&thread, "?limit=1").await.len(), 1);
    let (status, _) =
        server.get(&format!("/threads/{thread}/turns?message={}", "0".repeat(36))).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn reading_as_a_participant_shows_less_and_never_more() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    server.invite(&thread, "a", "echo").await;
    server.invite(&thread, "b", "quiet").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "hello").await;
    stream.until(|event| event["content"]["event"] == "round_closed").await;
    let all = server.events(&thread, "").await;
    let own = server.events(&thread, "?as=a").await;
    assert!(own.len() < all.len() && own.iter().all(|event| all.contains(event)));
    assert!(
        own.iter().all(|event| event["type"] != "turn" || event["content"]["participant"] == "a")
    );
    assert!(own.iter().any(|event| event["content"]["event"] == "granted"));
    // Reasons are visible to every reader, and name the same turns. (Ruling 19.)
    let ids = |turns: Vec<Value>| turns.into_iter().map(|turn| turn["id"].clone());
    let (whole, read) = (server.turns(&thread, "").await, server.turns(&thread, "?as=a").await);
    assert!(ids(whole).eq(ids(read)));
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream?as=a&after=0")).await;
    for expected in own {
        assert_eq!(stream.event().await, expected);
    }
}

#[tokio::test]
async fn a_person_cancels_a_turn_and_stops_everything() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "s", "stuck").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "@s go").await;
    let started = stream.until(|event| event["content"]["event"] == "started").await;
    let turn = started["content"]["turn"].as_str().unwrap().to_owned();
    let state = server.state(&thread).await;
    assert_eq!(
        (&state["turns"][0]["id"], &state["turns"][0]["state"]),
        (&json!(turn), &json!("running"))
    );
    let (status, answer) =
        server.post(&format!("/turns/{turn}/cancel"), json!({"from": "bot"})).await;
    assert_eq!((status, &answer["error"]["code"]), (403, &json!("humans_only")));
    let (status, answer) = server.post(&format!("/turns/{turn}/cancel"), json!({})).await;
    assert_eq!((status, &answer["event"]["content"]["outcome"]), (200, &json!("cancelled")));
    let (status, answer) = server.post(&format!("/turns/{turn}/cancel"), json!({})).await;
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("turn_ended")));
    for unknown in
        [format!("{thread}.99"), format!("{thread}.x"), "nothing".into(), format!("{thread}.")]
    {
        assert_eq!(
            server.post(&format!("/turns/{unknown}/cancel"), json!({})).await.0,
            404,
            "{unknown}"
        );
    }
    server.say(&thread, "user", "@s again").await;
    stream.until(|event| event["content"]["event"] == "started").await;
    let response =
        server.client.post(server.url(&format!("/threads/{thread}/stop"))).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(server.state(&thread).await["turns"], json!([]));
    let stopped = stream.until(|event| event["type"] == "notice").await;
    assert_eq!(
        (&stopped["content"]["code"], &stopped["from"]),
        (&json!("stopped"), &json!("user"))
    );
}

#[tokio::test]
async fn a_remote_agent_is_told_of_its_turn_and_answers_or_passes() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "far", "elsewhere").await;
    server.say(&thread, "user", "@far are you there?").await;
    let away = server.turns(&thread, "").await;
    assert_eq!((&away[0]["participant"], &away[0]["why_not"]), (&json!("far"), &json!("offline")));
    let mut own = server.stream(&format!("/threads/{thread}/events/stream?as=far&turns=1")).await;
    let asked = server.say(&thread, "user", "@far and now?").await;
    let granted = own.until(|event| event["content"]["event"] == "granted").await;
    assert_eq!(
        (&granted["type"], &granted["to"], &granted["content"]["cause"]["id"]),
        (&json!("turn"), &json!("far"), &asked["id"])
    );
    let reply = server.say(&thread, "far", "Here I am.").await;
    assert_eq!(
        (&reply["meta"]["turn"], &reply["meta"]["reply_to"]),
        (&granted["content"]["turn"], &asked["id"])
    );
    server.say(&thread, "user", "@far anything else?").await;
    own.until(|event| event["content"]["event"] == "granted").await;
    let passed = server
        .take(&thread, json!({"type": "turn", "from": "far", "content": {"pass": true}}))
        .await;
    assert_eq!(passed["event"]["content"]["outcome"], "passed");
    let (status, error) = server
        .refuse(&thread, json!({"type": "turn", "from": "far", "content": {"pass": true}}))
        .await;
    assert_eq!((status, &error["code"]), (409, &json!("no_open_turn")));
    for content in [
        json!({}),
        json!({"pass": false}),
        json!("[PASS]"),
        json!({"pass": true, "event": "granted"}),
    ] {
        assert_eq!(
            server
                .refuse(&thread, json!({"type": "turn", "from": "far", "content": content}))
                .await
                .0,
            422
        );
    }
}

#[tokio::test]
async fn a_person_who_types_pass_has_said_something() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    assert_eq!(server.say(&thread, "user", "[PASS]").await["content"], "[PASS]");
}

#[tokio::test]
async fn five_hundred_mentions_make_one_turn_and_everyone_makes_none() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "bob", "stuck").await;
    server.say(&thread, "user", &"@bob ".repeat(500)).await;
    assert_eq!(server.turns(&thread, "").await.len(), 1);
    server.post(&format!("/threads/{thread}/stop"), json!({})).await;
    server.say(&thread, "user", "@all look at `@bob`, https://x.example/@bob and me@bob").await;
    assert_eq!(server.turns(&thread, "").await.len(), 1);
    // The answer to the speaker gives the reason, so the server posts no notice in the
    // conversation.
    let last = server.events(&thread, "").await.pop().unwrap();
    assert_eq!((&last["type"], &last["from"]), (&json!("message"), &json!("user")));
}

#[tokio::test]
async fn a_turn_about_several_messages_is_told_with_each_of_them() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "bob", "stuck").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "@bob first").await;
    stream.until(|event| event["content"]["event"] == "started").await;
    let second = server.say(&thread, "user", "@bob second").await;
    let third = server.say(&thread, "user", "@bob third").await;
    server.control(&thread, json!({"prod": ["bob"]})).await;
    let about = async |message: &Value| {
        let turns =
            server.turns(&thread, &format!("?message={}", message["id"].as_str().unwrap())).await;
        turns.iter().map(|turn| turn["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(about(&second).await, [format!("{thread}.2")]);
    assert_eq!(about(&third).await, [format!("{thread}.2")]);
    let turn = server.turns(&thread, "").await.pop().unwrap();
    assert_eq!(
        (&turn["cause"]["id"], &turn["message"]),
        (&third["id"], &third["id"]),
        "a prod says nothing to answer"
    );
    let (_, why) =
        server.post(&format!("/threads/{thread}/commands"), json!({"text": "/why"})).await;
    assert_eq!(why["text"], "bob: asked (forced), waits or runs\n");
}

#[tokio::test]
async fn what_people_say_during_a_pause_is_answered_once_and_in_order_after_it() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "a", "echo").await;
    server.control(&thread, json!({"pause": {"on": true}})).await;
    let mut asked = Vec::new();
    for n in 0..100 {
        asked.push(server.say(&thread, "user", &format!("@a {n}")).await["id"].clone());
    }
    assert_eq!(server.state(&thread).await["queue"].as_array().unwrap().len(), 100);
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.control(&thread, json!({"resume": {}})).await;
    let mut answered = Vec::new();
    while answered.last() != asked.last() {
        answered.push(
            stream.until(|event| event["type"] == "message" && event["from"] == "a").await["meta"]
                ["reply_to"]
                .clone(),
        );
    }
    assert!(answered.is_sorted_by_key(|id| asked.iter().position(|asked| asked == id)));
    answered.dedup();
    assert!(!answered.is_empty() && answered.len() <= 100);
}

#[tokio::test]
async fn an_agent_that_addresses_itself_wakes_nobody() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "far", "elsewhere").await;
    server.control(&thread, json!({"discussion": {"on": true}})).await;
    let _present = server.stream(&format!("/threads/{thread}/events/stream?as=far&turns=1")).await;
    server.take(&thread, json!({"from": "far", "to": "far", "content": "@far note to self"})).await;
    assert!(server.turns(&thread, "").await.iter().all(|turn| turn["id"].is_null()));
}

#[tokio::test]
async fn two_agents_that_address_each_other_for_ever_are_stopped_and_people_are_told() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "ping", "ping").await;
    server.invite(&thread, "pong", "pong").await;
    let control =
        json!({"discussion": {"on": true}, "config": {"cooldown_seconds": 0, "max_depth": 10}});
    let control = json!({"type": "control", "content": control});
    assert_eq!(
        server.as_operator(Method::POST, &format!("/threads/{thread}/events"), control).await.0,
        200,
        "limits are raised by proof"
    );
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "@ping begin").await;
    let stopped = stream
        .until(|event| event["type"] == "notice" || event["content"]["event"] == "skipped")
        .await;
    assert!(
        stopped["content"]["text"].is_string() || stopped["content"]["why_not"] == "capped",
        "{stopped}"
    );
    assert_eq!(server.state(&thread).await["turns"], json!([]));
    let said =
        server.events(&thread, "").await.iter().filter(|event| event["type"] == "message").count();
    assert!((3..=21).contains(&said), "{said}");
}

#[tokio::test]
async fn inviting_and_uninviting_a_hundred_times_leaves_one_or_none() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for _ in 0..100 {
        server.invite(&thread, "a", "echo").await;
        server.control(&thread, json!({"uninvite": {"participant_id": "a"}})).await;
    }
    assert_eq!(server.state(&thread).await["participants"]["invited"], json!([]));
    let (status, error) =
        server.refuse(&thread, json!({"type": "control", "from": "user", "content": {"uninvite": {"participant_id": "a"}}})).await;
    assert_eq!((status, &error["code"]), (404, &json!("not_invited")));
}

#[tokio::test]
async fn everything_that_is_sent_reads_as_the_wire_types_and_writes_back() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    for (id, client) in [("a", "echo"), ("b", "quiet"), ("d", "broken")] {
        server.invite(&thread, id, client).await;
    }
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "@a, what do you think?").await;
    stream.until(|event| event["content"]["event"] == "round_closed").await;
    let mut kinds = std::collections::BTreeSet::new();
    for event in server.events(&thread, "").await {
        let envelope: Envelope = serde_json::from_value(event.clone()).unwrap();
        assert_eq!(serde_json::to_value(&envelope).unwrap(), event);
        if envelope.kind == "turn" {
            let turn: TurnEvent = serde_json::from_value(envelope.content.clone()).unwrap();
            assert_eq!(serde_json::to_value(&turn).unwrap(), envelope.content);
            kinds.insert(envelope.content["event"].as_str().unwrap().to_owned());
        }
    }
    let expected = ["ended", "granted", "round_closed", "round_opened", "started"];
    assert!(expected.iter().all(|kind| kinds.contains(*kind)), "{kinds:?}");
    let (_, state) = server.get(&format!("/threads/{thread}/state")).await;
    let read: ThreadStateAnswer = serde_json::from_value(state.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), state);
    let (_, turns) = server.get(&format!("/threads/{thread}/turns")).await;
    let read: TurnList = serde_json::from_value(turns.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), turns);
}

/// Ruling 19: a message beyond the queue is kept. Every way of asking gives the reason why it asked
/// no agent.
#[tokio::test]
async fn a_message_without_a_place_in_the_queue_is_kept_and_says_why_it_asks_no_agent() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "a", "echo").await;
    server.control(&thread, json!({"config": {"max_queued_messages": 8}})).await;
    server.control(&thread, json!({"pause": {"on": true}})).await;
    let path = format!("/threads/{thread}/events");
    let said = |words: &str| json!({"from": "user", "content": format!("@a {words}")});
    for place in ["first", "second"] {
        let (status, taken) = server.post(&path, said(place)).await;
        assert_eq!((status, &taken["warnings"]), (200, &Value::Null), "{taken}");
        assert_eq!(taken["event"]["meta"]["queued"], true);
    }
    let (_, preview) = server
        .post(&format!("/threads/{thread}/preview"), json!({"from": "user", "content": "@a more"}))
        .await;
    assert!(preview.to_string().contains("queue_full"), "{preview}");
    let (status, beyond) = server.post(&path, said("beyond")).await;
    assert_eq!((status, &beyond["warnings"][0]), (200, &json!("queue_full")), "{beyond}");
    let event = &beyond["event"];
    assert_eq!(
        (&event["meta"]["queue_full"], &event["meta"]["queued"]),
        (&json!(true), &Value::Null)
    );
    let turns = server.turns(&thread, &format!("?message={}", event["id"].as_str().unwrap())).await;
    assert_eq!(
        turns.iter().map(|turn| (&turn["participant"], &turn["why_not"])).collect::<Vec<_>>(),
        [(&json!("a"), &json!("queue_full"))]
    );
    let queue = server.state(&thread).await["queue"].as_array().unwrap().len();
    assert_eq!(queue, 2);
    assert_eq!(
        server
            .events(&thread, "")
            .await
            .iter()
            .filter(|said| said["content"] == "@a beyond")
            .count(),
        1
    );
    let (_, asked) = server
        .post(
            &format!("/threads/{thread}/commands"),
            json!({"from": "user", "text": "/ask a anyway"}),
        )
        .await;
    assert!(asked["text"].as_str().unwrap().contains("queue_full"), "{asked}");
}

#[tokio::test]
async fn an_ended_session_is_told_of_once_and_asked_only_by_name() {
    let (server, _stage) = Server::with_terminals().await;
    server.session("planner").await;
    let thread = server.introduce(&["planner"]).await;
    let hybrid = json!({"from": "user", "text": "/policy hybrid"});
    assert_eq!(server.post(&format!("/threads/{thread}/commands"), hybrid).await.0, 200);
    assert_eq!(server.post("/sessions/planner/end", json!({})).await.0, 200);
    let told = async || {
        let events = server.events(&thread, "").await;
        let is_told = |event: &&Value| event["content"]["code"] == "session_ended";
        events.iter().filter(is_told).cloned().collect::<Vec<_>>()
    };
    for words in ["hello", "anybody?"] {
        let said = server.say(&thread, "user", words).await;
        let query = format!("?message={}", said["id"].as_str().unwrap());
        let asked = server.turns(&thread, &query).await;
        assert_eq!((asked.len(), &asked[0]["why_not"]), (1, &json!("ended")), "{asked:?}");
        assert!(told().await[0].to_string().contains("moothall resume planner"));
        assert_eq!(told().await.len(), 1, "it is told once");
    }
    // A question to the agent is answered, if only by the way to bring it back.
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "@planner are you there?").await;
    let failed = stream.until(|event| event["content"]["outcome"] == "failed").await;
    assert!(failed.to_string().contains("moothall resume planner"), "{failed}");
    assert_eq!(told().await.len(), 1, "{failed}");
}
