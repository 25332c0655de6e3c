//! `GET /states` and `GET /needs`: the state of each participant, and what waits for each reader.

use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::server::{Frames, Server, soon};

/// Returns the state of a participant, as a caller sees it.
async fn state_of(server: &Server, credential: &str, participant: &str) -> Value {
    let (status, answer) = server.with(credential, Method::GET, "/states", Value::Null).await;
    assert_eq!(status, 200, "{answer}");
    let mut all = answer["states"].as_array().unwrap().iter();
    all.find(|state| state["participant"] == participant).cloned().unwrap_or_default()
}

/// Waits until the stream of changes gives a participant this word.
async fn until_word(changes: &mut Frames, participant: &str, word: &str) -> Value {
    loop {
        let frame = changes.next().await.unwrap();
        if frame.name.as_deref() != Some("states") {
            continue;
        }
        let states = frame.data["states"].as_array().unwrap().iter();
        let mut own = states.filter(|state| state["participant"] == participant);
        if let Some(found) = own.find(|state| state["word"] == word) {
            return found.clone();
        }
    }
}

#[tokio::test]
async fn a_state_is_one_word_for_the_list_the_room_and_the_stream() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    for agent in ["stuck", "echo", "teller"] {
        server.invite(&thread, agent, agent).await;
    }
    let mut changes = server.stream("/events/stream").await;
    server.say(&thread, "user", "@stuck @echo what now?").await;
    let told = until_word(&mut changes, "stuck", "thinking").await;
    let listed = state_of(&server, &server.key, "stuck").await;
    assert_eq!(told, listed);
    assert_eq!((&listed["says"], &listed["thread"]), (&json!("thinking"), &json!(thread)));
    assert!(listed["since"].is_string() && listed["turn"].is_string(), "{listed}");
    let waits = state_of(&server, &server.key, "echo").await;
    assert_eq!(
        (&waits["word"], &waits["waits_for"], &waits["says"], &waits["place"]),
        (&json!("waits"), &json!("stuck"), &json!("waits for stuck"), &json!(1)),
        "{waits}"
    );
    let (_, state) = server.get(&format!("/threads/{thread}/state")).await;
    let invited = state["state"]["participants"]["invited"].as_array().unwrap();
    let words: Vec<&Value> = invited.iter().map(|entry| &entry["doing"]["word"]).collect();
    assert_eq!(words, ["waits", "thinking", "queued"], "{state}");

    server.control(&thread, json!({"pause": true})).await;
    let paused = until_word(&mut changes, "stuck", "paused").await;
    assert!(paused["since"].is_string(), "{paused}");
}

#[tokio::test]
async fn a_tool_is_told_and_words_after_it_are_writing() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "teller", "teller").await;
    let mut changes = server.stream("/events/stream").await;
    server.say(&thread, "user", "@teller when?").await;
    let works = until_word(&mut changes, "teller", "working").await;
    assert_eq!(works["line"], "thinking of a place");
}

#[tokio::test]
async fn who_may_answer_is_asked_and_for_others_the_owner_is() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "careful", "careful").await;
    let mut changes = server.stream("/events/stream").await;
    server.say(&thread, "user", "@careful clean up").await;
    let unproven = until_word(&mut changes, "careful", "asks").await;
    assert_eq!((&unproven["says"], &unproven["asks_you"]), (&json!("asks user"), &Value::Null));
    let (_, ann) = token(&server, json!({"principal": "ann"})).await;
    let (_, eve) = token(
        &server,
        json!({"principal": "eve", "scopes": ["threads:read", "permissions:answer"]}),
    )
    .await;
    let (_, bound) = token(
        &server,
        json!({"principal": "kim", "scopes": ["threads:read"], "threads": [server.thread("open").await]}),
    )
    .await;
    for (credential, says) in [(&server.key, "asks you"), (&eve, "asks you"), (&ann, "asks user")] {
        assert_eq!(state_of(&server, credential, "careful").await["says"], says);
    }
    assert_eq!(state_of(&server, &bound, "careful").await, Value::Null);
}

#[tokio::test]
async fn a_session_has_one_state_and_rooms_out_of_reach_stay_unknown() {
    let (server, stage) = Server::with_terminals().await;
    let session = server.session("planner").await;
    let home = session["id"].as_str().unwrap().to_owned();
    let thread = server.introduce(&["planner"]).await;
    let mut changes = server.stream("/events/stream").await;
    stage.ask("rm -r build");
    let asks = until_word(&mut changes, "planner", "asks").await;
    assert_eq!(asks["says"], "asks you");

    let (_, state) = server.get(&format!("/threads/{thread}/state")).await;
    let doing = &state["state"]["participants"]["invited"][0]["doing"];
    assert_eq!(
        (&doing["word"], &doing["at"], &doing["session"]),
        (&json!("asks"), &json!(home), &json!(home)),
        "{state}"
    );
    let (_, bound) = token(
        &server,
        json!({"principal": "kim", "scopes": ["threads:read"], "threads": [thread]}),
    )
    .await;
    let path = format!("/threads/{thread}/state");
    let (_, seen) = server.with(&bound, Method::GET, &path, Value::Null).await;
    let doing = &seen["state"]["participants"]["invited"][0]["doing"];
    assert_eq!(
        (&doing["says"], &doing["at"], &doing["elsewhere"]),
        (&json!("waits elsewhere"), &Value::Null, &json!(true)),
        "{seen}"
    );
    let (_, list) = server.get("/sessions").await;
    assert_eq!(list["sessions"][0]["doing"]["says"], "asks you", "{list}");
}

/// Returns the kinds of what waits for a reader.
async fn kinds(server: &Server, credential: &str, query: &str) -> Vec<String> {
    let path = format!("/needs{query}");
    let (status, answer) = server.with(credential, Method::GET, &path, Value::Null).await;
    assert_eq!(status, 200, "{answer}");
    let needs = answer["needs"].as_array().unwrap().iter();
    needs.map(|need| need["kind"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the stream tells that a thread has these needs.
async fn until_needs(changes: &mut Frames, thread: &str, wanted: &[&str]) -> Value {
    loop {
        let frame = changes.next().await.unwrap();
        let is_about = frame.name.as_deref() == Some("needs") && frame.data["thread"] == thread;
        let kinds = |data: &Value| -> Vec<String> {
            let needs = data["needs"].as_array().unwrap().iter();
            needs.map(|need| need["kind"].as_str().unwrap().to_owned()).collect()
        };
        if is_about && kinds(&frame.data) == wanted {
            return frame.data["needs"].clone();
        }
    }
}

#[tokio::test]
async fn a_reader_gets_only_what_the_reader_may_answer() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "careful", "careful").await;
    let mut changes = server.stream_as(&server.key, "/events/stream").await;
    server.say(&thread, "user", "@careful clean up").await;
    let needs = until_needs(&mut changes, &thread, &["permission"]).await;
    let need = &needs[0];
    assert_eq!(
        (&need["name"], &need["title"], &need["permission"]),
        (&json!("careful"), &json!("test"), &json!("p-1"))
    );
    assert_eq!(need["event"]["content"]["action"], "rm -r build");
    assert!(need["since"].is_string() && need["passed_at"].is_null(), "{need}");

    let (_, ann) = token(&server, json!({"principal": "ann"})).await;
    let (_, eve) = token(
        &server,
        json!({"principal": "eve", "scopes": ["threads:read", "permissions:answer"]}),
    )
    .await;
    let (_, bot) = token(&server, json!({"principal": "bot", "kind": "agent"})).await;
    assert_eq!(kinds(&server, &server.key, "").await, ["permission"]);
    assert_eq!(kinds(&server, &eve, &format!("?thread={thread}")).await, ["permission"]);
    for other in [&ann, &bot] {
        assert_eq!(kinds(&server, other, "").await, <[&str; 0]>::default());
    }
    let (_, open) = server.get("/needs").await;
    assert_eq!(open["needs"], json!([]), "a caller without a credential cannot answer");

    let body = json!({"thread": thread, "option": "allow"});
    assert_eq!(server.as_operator(Method::POST, "/permissions/p-1/answer", body).await.0, 200);
    until_needs(&mut changes, &thread, &[]).await;
    assert_eq!(kinds(&server, &server.key, "").await, <[&str; 0]>::default());
}

#[tokio::test]
async fn failures_and_mentions_wait_until_the_mark_passes_them() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "broken", "broken").await;
    server.invite(&thread, "ada", "elsewhere").await;
    let read = async |seq: u64| {
        let path = format!("/threads/{thread}/read");
        let (status, mark) =
            server.as_operator(Method::PUT, &path, json!({"from": "user", "seq": seq})).await;
        assert_eq!(status, 200, "{mark}");
    };
    let mut changes = server.stream_as(&server.key, "/events/stream").await;
    server.say(&thread, "user", "@broken go").await;
    let needs = until_needs(&mut changes, &thread, &["failure"]).await;
    assert_eq!(needs[0]["name"], "broken");
    assert_eq!(needs[0]["event"]["meta"]["error"]["code"], "exit_status");

    server.say(&thread, "ada", "@user: a first word").await;
    server.say(&thread, "ada", "nothing for `@user`").await;
    server.take(&thread, json!({"from": "ada", "content": "and more", "to": "user"})).await;
    let needs = until_needs(&mut changes, &thread, &["failure", "mention"]).await;
    let newest = until_needs_newest(&server, &needs).await;
    assert_eq!((&newest["earlier"], &newest["event"]["content"]), (&json!(1), &json!("and more")));

    read(newest["passed_at"].as_u64().unwrap()).await;
    assert_eq!(kinds(&server, &server.key, "").await, <[&str; 0]>::default());
}

#[tokio::test]
async fn the_list_marks_a_thread_that_names_a_reader_who_is_not_invited() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "ada", "elsewhere").await;
    let listed = async || {
        let path = "/threads?as=user&lines=1";
        let (_, list) = server.as_operator(Method::GET, path, Value::Null).await;
        list["threads"][0]["direct"].clone()
    };
    server.say(&thread, "ada", "nothing for `@user`").await;
    assert_eq!(listed().await, false);
    server.say(&thread, "ada", "@user: a first word").await;
    assert_eq!(listed().await, true);
}

/// Returns the newest mention: the stream may have told an earlier one.
async fn until_needs_newest(server: &Server, told: &Value) -> Value {
    let (_, answer) = server.as_operator(Method::GET, "/needs", Value::Null).await;
    let newest = answer["needs"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(newest["thread"], told[0]["thread"]);
    newest
}

#[tokio::test]
async fn a_guard_waits_for_those_who_may_resume() {
    let server = Server::start().await;
    let talk = server.thread("open").await;
    server.control(&talk, json!({"config": {"max_exchanges_without_human": 2}})).await;
    server.invite(&talk, "ping", "ping").await;
    server.invite(&talk, "pong", "pong").await;
    let mut changes = server.stream_as(&server.key, "/events/stream").await;
    server.say(&talk, "user", "begin").await;
    let needs = until_needs(&mut changes, &talk, &["guard"]).await;
    assert_eq!(needs[0]["guard"], "exchanges");
    let (_, reader) = token(&server, json!({"principal": "ann", "scopes": ["threads:read"]})).await;
    assert_eq!(kinds(&server, &reader, "").await, <[&str; 0]>::default());
    let path = format!("/threads/{talk}/events");
    let resume = json!({"type": "control", "content": {"mute": {"targets": ["ping", "pong"]}, "resume": {}}});
    assert_eq!(server.as_operator(Method::POST, &path, resume).await.0, 200);
    soon(until_needs(&mut changes, &talk, &[])).await;
}
