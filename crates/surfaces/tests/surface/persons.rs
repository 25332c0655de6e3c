//! People and their proofs, and the acts that need one.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, answer, soon};

const MODES: [Mode; 2] = [Mode::Local, Mode::Token];

/// Creates a conversation of the operator.
async fn thread(server: &Server, policy: Value) -> String {
    let (status, made) = server
        .as_operator(Method::POST, "/threads", json!({"name": "test", "policy": policy}))
        .await;
    assert_eq!(status, 200, "{made}");
    made["id"].as_str().unwrap().into()
}

async fn token(server: &Server, wanted: Value) -> String {
    let (status, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    assert_eq!(status, 200, "{made}");
    made["token"].as_str().unwrap().into()
}

/// Sends a control; returns its status and code.
async fn control(
    server: &Server,
    credential: Option<&str>,
    thread: &str,
    from: &str,
    content: Value,
) -> (u16, String) {
    let body = json!({"type": "control", "from": from, "content": content});
    let path = format!("/threads/{thread}/events");
    let (status, answer) = match credential {
        Some(credential) => server.with(credential, Method::POST, &path, body).await,
        None => server.post(&path, body).await,
    };
    (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
}

fn invited(id: &str, profile: Value) -> Value {
    json!({"invite": {"participant_id": id, "profile": profile}})
}

fn refused(code: &str) -> (u16, String) {
    (403, code.to_owned())
}

fn taken() -> (u16, String) {
    (200, String::new())
}

async fn kind_of(server: &Server, thread: &str, id: &str) -> Value {
    let (_, answer) =
        server.as_operator(Method::GET, &format!("/threads/{thread}/state"), Value::Null).await;
    let all =
        answer["state"]["participants"]["invited"].as_array().unwrap_or_else(|| panic!("{answer}"));
    all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{id} in {answer}"))["kind"]
        .clone()
}

#[tokio::test]
async fn an_agent_neither_gives_nor_takes_what_makes_a_person() {
    for mode in MODES {
        let server = Server::start_in(mode).await;
        let thread = thread(&server, json!("mention_only")).await;
        let scopes = json!(["threads:read", "threads:write", "participants:invite"]);
        let evil =
            token(&server, json!({"principal": "evil", "kind": "agent", "scopes": scopes})).await;
        let ann = token(&server, json!({"principal": "ann", "kind": "human"})).await;
        for (id, profile) in [
            ("evil", json!({"client": "echo", "model": "m"})),
            ("ann", json!({})),
            ("echo", json!({"client": "echo", "model": "m"})),
        ] {
            assert_eq!(
                control(&server, Some(&server.key), &thread, "user", invited(id, profile)).await,
                taken(),
                "{id}"
            );
        }
        assert_eq!(
            (kind_of(&server, &thread, "ann").await, kind_of(&server, &thread, "evil").await),
            (json!("human"), json!("agent"))
        );
        let evils =
            async |content: Value| control(&server, Some(&evil), &thread, "evil", content).await;
        assert_eq!(
            evils(invited("evil", json!({"client": "human"}))).await,
            refused("kind_is_the_servers")
        );
        assert_eq!(
            evils(invited("ann", json!({"client": "echo"}))).await,
            refused("kind_is_the_servers")
        );
        assert_eq!(
            evils(invited("echo", json!({"client": "human"}))).await,
            refused("kind_is_the_servers")
        );
        assert_eq!(
            evils(invited("new", json!({"client": "human"}))).await,
            refused("kind_is_the_servers")
        );
        assert_eq!(
            evils(invited("echo", json!({"client": "quiet"}))).await,
            refused("humans_only")
        );
        assert_eq!(
            evils(invited("ann", json!({"nickname": "Evil"}))).await,
            refused("humans_only")
        );
        assert_eq!(
            evils(json!({"uninvite": {"participant_id": "ann"}})).await,
            refused("humans_only")
        );
        // A person cannot change the kind of a principal either.
        let operators = async |content: Value| {
            control(&server, Some(&server.key), &thread, "user", content).await
        };
        assert_eq!(
            operators(invited("evil", json!({"client": "human"}))).await,
            refused("kind_is_the_servers")
        );
        assert_eq!(
            operators(invited("ann", json!({"client": "echo"}))).await,
            refused("kind_is_the_servers")
        );
        // A mute holds, and only people may rename.
        assert_eq!(operators(json!({"mute": {"targets": ["evil"]}})).await, taken());
        let path = format!("/threads/{thread}/events");
        let (status, answer) =
            server.with(&evil, Method::POST, &path, json!({"content": "I am a person"})).await;
        assert_eq!((status, &answer["error"]["code"]), (409, &json!("participant_muted")));
        let renamed = server
            .with(&evil, Method::POST, &path, json!({"type": "thread.renamed", "content": "mine"}))
            .await;
        assert_eq!((renamed.0, &renamed.1["error"]["code"]), (403, &json!("humans_only")));
        assert_eq!(
            server.with(&ann, Method::POST, &path, json!({"content": "I am one"})).await.0,
            200
        );
    }
}

#[tokio::test]
async fn mcp_gives_nobody_the_kind_of_a_person_either() {
    let server = Server::start_in(Mode::Token).await;
    let thread = thread(&server, json!("mention_only")).await;
    let scopes = json!(["threads:read", "threads:write", "participants:invite"]);
    let evil =
        token(&server, json!({"principal": "evil", "kind": "agent", "scopes": scopes})).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "invite", "arguments": {
        "thread": thread, "client": "human", "participant": "evil", "model": "human"}}});
    let request = server
        .client
        .post(server.url("/mcp"))
        .bearer_auth(&evil)
        .header("accept", "application/json, text/event-stream");
    let text = request.json(&call).send().await.unwrap().text().await.unwrap();
    assert!(
        text.contains("kind_is_the_servers") || text.contains("Only people can invite people"),
        "{text}"
    );
    let (_, state) =
        server.as_operator(Method::GET, &format!("/threads/{thread}/state"), Value::Null).await;
    assert_eq!(state["state"]["participants"]["invited"], json!([]));
}

#[tokio::test]
async fn limits_are_lowered_by_anybody_and_raised_by_a_person_who_proves_it() {
    let server = Server::start().await;
    let thread = thread(&server, json!({"name": "hybrid", "max_depth": 1})).await;
    let anybody = async |content: Value| control(&server, None, &thread, "user", content).await;
    for raise in [
        json!({"config": {"max_depth": 2}}),
        json!({"config": {"max_exchanges_without_human": 10_000}}),
        json!({"config": {"agent_reply_timeout": 3600}}),
        json!({"policy": {"name": "hybrid", "max_agent_turns_per_message": 50}}),
    ] {
        assert_eq!(anybody(raise.clone()).await, refused("needs_proof"), "{raise}");
    }
    let commands = format!("/threads/{thread}/commands");
    let (status, answer) =
        server.post(&commands, json!({"text": "/group config max_depth 3"})).await;
    assert_eq!((status, &answer["error"]["code"]), (403, &json!("needs_proof")));
    assert_eq!(
        anybody(json!({"config": {"max_agent_turns_per_message": 2, "cooldown_seconds": 0}})).await,
        taken()
    );
    // A new policy keeps the earlier settings.
    assert_eq!(anybody(json!({"policy": "round_robin"})).await, taken());
    let policy = server.state(&thread).await["policy"].clone();
    assert_eq!(
        (&policy["name"], &policy["max_depth"], &policy["max_agent_turns_per_message"]),
        (&json!("round_robin"), &json!(1), &json!(2))
    );
    assert_eq!(
        control(&server, Some(&server.key), &thread, "user", json!({"config": {"max_depth": 3}}))
            .await,
        taken()
    );
}

#[tokio::test]
async fn what_a_proven_person_stopped_goes_on_by_proof_alone() {
    let server = Server::start().await;
    let thread = thread(&server, json!("mention_only")).await;
    server.invite(&thread, "echo", "echo").await;
    let key = server.key.clone();
    let operators =
        async |content: Value| control(&server, Some(&key), &thread, "user", content).await;
    let anybody = async |content: Value| control(&server, None, &thread, "user", content).await;
    let (mute, unmute) =
        (json!({"mute": {"targets": ["echo"]}}), json!({"unmute": {"targets": ["echo"]}}));
    let (pause, go_on) = (json!({"pause": {"on": true}}), json!({"pause": {"on": false}}));
    assert_eq!(operators(mute.clone()).await, taken());
    assert_eq!(anybody(unmute.clone()).await, refused("needs_proof"));
    assert_eq!(operators(unmute.clone()).await, taken());
    assert_eq!(anybody(mute).await, taken());
    assert_eq!(anybody(unmute).await, taken());
    assert_eq!(operators(pause.clone()).await, taken());
    assert_eq!(anybody(go_on.clone()).await, refused("needs_proof"));
    assert_eq!(anybody(json!({"resume": true})).await, refused("needs_proof"));
    assert_eq!(operators(go_on.clone()).await, taken());
    assert_eq!(anybody(pause).await, taken());
    assert_eq!(anybody(go_on).await, taken());
}

#[tokio::test]
async fn words_without_proof_are_marked_and_lift_a_guard_a_few_times() {
    let server = Server::start().await;
    let thread = thread(&server, json!({"name": "open", "max_exchanges_without_human": 2})).await;
    server.invite(&thread, "ping", "ping").await;
    server.invite(&thread, "pong", "pong").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
    let said = server.say(&thread, "user", "begin").await;
    assert_eq!(said["meta"]["unproven"], true);
    stream.until(|event| event["type"] == "notice").await;
    let spoken =
        server.events(&thread, "").await.iter().filter(|event| event["type"] == "message").count();
    for _ in 0..6 {
        server.say(&thread, "user", "I am the user: go on").await;
        stream.until(|event| event["type"] == "notice").await;
    }
    server.say(&thread, "user", "I am the user: go on").await;
    assert!(server.state(&thread).await["held"].is_string());
    let spoken = server
        .events(&thread, "")
        .await
        .iter()
        .filter(|event| event["type"] == "message")
        .count()
        .max(spoken);
    let (status, proven) = server
        .as_operator(
            Method::POST,
            &format!("/threads/{thread}/events"),
            json!({"content": "Go on."}),
        )
        .await;
    assert_eq!((status, &proven["event"]["meta"]["unproven"]), (200, &Value::Null), "{proven}");
    stream.until(|event| event["type"] == "notice").await;
    let events = server.events(&thread, "").await;
    assert!(events.iter().filter(|event| event["type"] == "message").count() > spoken + 2);
    // Only the server sets the mark.
    for key in ["unproven", "typed_at"] {
        let (status, error) = server
            .refuse(&thread, json!({"from": "user", "content": "x", "meta": {key: false}}))
            .await;
        assert_eq!((status, &error["code"]), (422, &json!("server_field")), "{key}");
    }
}

#[tokio::test]
async fn names_that_deceive_are_refused_and_harmless_ones_are_not() {
    let server = Server::start().await;
    let thread = thread(&server, json!("mention_only")).await;
    server.invite(&thread, "alice", "echo").await;
    let named = async |id: &str, nickname: Value| {
        let mut profile = json!({"client": "echo", "model": "m"});
        profile["nickname"] = nickname;
        control(&server, None, &thread, "user", invited(id, profile)).await
    };
    for (nickname, status, code) in [
        ("You", 422, "reserved_name"),
        ("Human", 422, "reserved_name"),
        ("0perator", 422, "reserved_name"),
        ("AIice", 409, "name_taken"),
        ("\u{3164}", 422, "invalid_name"),
    ] {
        assert_eq!(named("b", json!(nickname)).await, (status, code.to_owned()), "{nickname:?}");
    }
    assert_eq!(named("null", Value::Null).await, (422, "reserved_name".into()));
    assert_eq!(named("a11", Value::Null).await, taken());
    let (_, error) = server
        .refuse(&thread, json!({"type": "control", "from": "user", "content": invited("AIice", json!({"client": "echo", "model": "m"}))}))
        .await;
    assert!(error["message"].as_str().unwrap().contains("alice"), "{error}");
    for empty in ["\u{200b}", "\u{202e}", "\u{2800}"] {
        let (status, error) =
            server.refuse(&thread, json!({"from": "user", "content": empty})).await;
        assert_eq!((status, &error["code"]), (422, &json!("empty_message")));
    }
    let (_, made) = server.post("/threads", json!({"name": "a\u{202e}gnp.exe"})).await;
    assert_eq!(made["name"], "agnp.exe");
}

/// Invites a client over MCP; returns the code of the refusal, or an empty text if there was none.
async fn invited_by_tool(
    server: &Server,
    credential: Option<&str>,
    thread: &str,
    client: &str,
) -> String {
    let arguments =
        json!({"thread": thread, "client": client, "participant": "dot", "from": "desk"});
    let arguments = match credential {
        Some(_) => json!({"thread": thread, "client": client, "participant": "dot"}),
        None => arguments,
    };
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "invite", "arguments": arguments}});
    let request = server
        .client
        .post(server.url("/mcp"))
        .header("accept", "application/json, text/event-stream")
        .json(&call);
    let request = credential.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
    let (_, said) = answer(soon(request.send()).await.unwrap()).await;
    let code = said["result"]["structuredContent"]["error"]["code"]
        .as_str()
        .or(said["error"]["code"].as_str());
    code.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_client_that_is_started_with_its_first_turn_is_a_persons_to_invite() {
    for mode in MODES {
        let (server, stage) = Server::with_terminals_in(mode).await;
        let thread = thread(&server, json!("mention_only")).await;
        server.session("inside").await;
        let scopes = json!([
            "threads:read",
            "threads:write",
            "participants:invite",
            "agents:run",
            "sessions:drive"
        ]);
        let robot =
            token(&server, json!({"principal": "robot", "kind": "agent", "scopes": scopes})).await;
        let session = stage.token("inside");
        let home = server.as_operator(Method::GET, "/sessions/inside", Value::Null).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let started = stage.count();
        let wish = || invited("dot", json!({"client": "demo", "model": "m"}));
        for (credential, thread) in
            [(None, &thread), (Some(&*robot), &thread), (Some(&*session), &home)]
        {
            let nobody = if mode == Mode::Token {
                (401, "unauthenticated".to_owned())
            } else {
                refused("forbidden")
            };
            let expected = if credential.is_none() { nobody } else { refused("forbidden") };
            let from = if credential.is_none() { "user" } else { "" };
            let body = match from {
                "" => json!({"type": "control", "content": wish()}),
                from => json!({"type": "control", "from": from, "content": wish()}),
            };
            let path = format!("/threads/{thread}/events");
            let (status, answered) = match credential {
                Some(credential) => server.with(credential, Method::POST, &path, body).await,
                None => server.post(&path, body).await,
            };
            let code = answered["error"]["code"].as_str().unwrap_or_default().to_owned();
            assert_eq!((status, code), expected, "{mode:?} over HTTP: {answered}");
            assert_eq!(
                invited_by_tool(&server, credential, thread, "demo").await,
                expected.1,
                "{mode:?} over MCP"
            );
        }
        assert_eq!(stage.count(), started, "nothing was started for anybody who was refused");

        let ann = token(&server, json!({"principal": "ann", "scopes": scopes})).await;
        // A call of a tool comes from a program, even with a person's credential.
        assert_eq!(invited_by_tool(&server, Some(&ann), &thread, "demo").await, "wrong_speaker");
        let path = format!("/threads/{thread}/events");
        let (status, made) = server
            .with(&ann, Method::POST, &path, json!({"type": "control", "content": wish()}))
            .await;
        assert_eq!(status, 200, "{made}");
        let said = json!({"content": "@dot are you there?"});
        assert_eq!(server.with(&ann, Method::POST, &path, said).await.0, 200);
        soon(stage.taken(0)).await;
        assert_eq!(stage.count(), started + 1, "its first turn started it");
    }
}

/// A message under a name that is not known here is posted with a warning about the name.
#[tokio::test]
async fn words_under_a_name_that_means_nobody_come_with_a_warning() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    let said = async |from: &str| {
        let (status, answer) = server
            .post(
                &format!("/threads/{thread}/events"),
                json!({"from": from, "content": format!("{from} is here")}),
            )
            .await;
        assert_eq!(status, 200, "{answer}");
        answer["warnings"].to_string()
    };
    let warned = said("anna").await;
    assert!(
        warned.contains("anna is not known as a person here") && warned.contains("human"),
        "{warned}"
    );
    assert_eq!(said("user").await, "null");
    let words = json!({"from": "bea", "content": "with the operator's credential"});
    let (_, proven) =
        server.as_operator(Method::POST, &format!("/threads/{thread}/events"), words).await;
    assert!(proven["warnings"].to_string().contains("bea is not known"), "{proven}");
    server.control(&thread, json!({"invite": {"participant_id": "anna", "profile": {"client": "human", "model": "human"}}})).await;
    server.control(&thread, json!({"invite": {"participant_id": "bot", "profile": {"client": "outside", "model": "m"}}})).await;
    assert_eq!(said("anna").await, "null");
    assert_eq!(said("bot").await, "null", "an agent that was invited is meant to be one");
}

/// A nickname or roles from an invite can be taken away by an empty value, or by `null`.
#[tokio::test]
async fn a_nickname_and_roles_can_be_taken_away() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    let given = json!({"client": "outside", "model": "m", "nickname": "Beth", "roles": ["scribe"]});
    for taken in [json!({"nickname": null, "roles": null}), json!({"nickname": "", "roles": []})] {
        server
            .control(&thread, json!({"invite": {"participant_id": "bot", "profile": given}}))
            .await;
        server
            .control(
                &thread,
                json!({"invite": {"participant_id": "bot", "profile": {"model": "m2"}}}),
            )
            .await;
        let profile =
            async || server.state(&thread).await["participants"]["invited"][0]["profile"].clone();
        let kept = profile().await;
        assert_eq!(
            (&kept["nickname"], &kept["roles"]),
            (&json!("Beth"), &json!(["scribe"])),
            "what is not said stays"
        );
        server
            .control(&thread, json!({"invite": {"participant_id": "bot", "profile": taken}}))
            .await;
        let left = profile().await;
        assert_eq!(
            (left.get("nickname"), left.get("roles"), &left["client"]),
            (None, None, &json!("outside")),
            "{taken}"
        );
    }
}

#[tokio::test]
async fn a_time_without_a_zone_is_one_of_utc() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let said = server.say(&thread, "user", "hello").await;
    let ts = said["ts"].as_str().unwrap();
    let (status, page) =
        server.get(&format!("/threads/{thread}/events?since={}", ts.trim_end_matches('Z'))).await;
    assert_eq!((status, &page["events"]), (200, &json!([])), "{ts}");
    let (_, all) =
        server.get(&format!("/threads/{thread}/events?since=2026-01-21T01:30:49.826991")).await;
    assert!(all["events"].as_array().unwrap().len() >= 2);
    assert_eq!(server.get(&format!("/threads/{thread}/events?since=yesterday")).await.0, 422);
}

/// A reader needs no other scope to read all turns, and the reasons for silence.
#[tokio::test]
async fn a_reader_is_told_every_turn_and_every_silence() {
    let server = Server::start_in(Mode::Token).await;
    let thread = thread(&server, json!("mention_only")).await;
    let events = format!("/threads/{thread}/events");
    let profile = json!({"client": "echo", "model": "demo", "nickname": "Critic"});
    let invite = json!({"invite": {"participant_id": "critic", "profile": profile}});
    let control = json!({"type": "control", "content": invite});
    let say = async |content: Value| {
        let (status, answer) =
            server.with(&server.key, Method::POST, &events, content.clone()).await;
        assert_eq!(status, 200, "{content}: {answer}");
        answer
    };
    say(control).await;
    let reading = token(&server, json!({"principal": "rita", "scopes": ["threads:read"]})).await;
    let path = format!("/threads/{thread}/turns");
    let read = async |credential: &str, more: &str| {
        let path = format!("{path}{more}");
        server.with(credential, Method::GET, &path, json!(null)).await.1
    };
    let wrong = say(json!({"content": "@critc, please look"})).await;
    assert_eq!(wrong["warnings"][0], "unknown_name", "{wrong}");
    let help = wrong["warnings"][1].as_str().unwrap();
    assert!(help.contains("@critc") && help.contains("@critic"), "{help}");
    for (words, reason) in [
        ("hello", "no_agent_named"),
        ("`@critic`", "name_in_code"),
        ("@all", "broadcast"),
        ("@critc, please look", "unknown_name"),
    ] {
        let said = say(json!({"content": words})).await;
        let id = said["event"]["id"].as_str().unwrap();
        let listed = read(&reading, &format!("?message={id}")).await;
        assert_eq!(listed["unasked"][0]["reason"], reason, "{listed}");
        assert_eq!(
            listed["unasked"],
            read(&server.key, &format!("?message={id}")).await["unasked"]
        );
        let draft = json!({"content": words});
        let preview = format!("/threads/{thread}/preview");
        let forecast = server.with(&server.key, Method::POST, &preview, draft).await.1;
        assert_eq!(forecast["unasked"]["text"], listed["unasked"][0]["text"], "{forecast}");
    }
    say(json!({"content": "@critic, please look"})).await;
    let (whole, listed) = (read(&server.key, "").await, read(&reading, "").await);
    assert_eq!((&listed["whole"], &whole["whole"]), (&json!(true), &json!(true)));
    assert_eq!(listed["turns"][0]["why"], "forced", "{listed}");
    assert_eq!(listed["unasked"], whole["unasked"], "{listed}");
}
