//! The details of a session's state, for each kind of reader.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;
use crate::sessions::rung;

/// The last line on the screen of a dead program.
const SHOWN: &str = "password: hunter2";

/// Returns a token of its own for a principal.
async fn token(server: &Server, wanted: Value) -> String {
    let (status, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    assert_eq!(status, 200, "{made}");
    made["token"].as_str().unwrap().into()
}

/// Returns the details of all states visible to a reader: of waiting turns and of sessions.
async fn details(server: &Server, reader: Option<&str>, thread: &str) -> Vec<String> {
    let mut details = Vec::new();
    let (_, turns) = get(server, reader, &format!("/threads/{thread}/turns")).await;
    let turns = turns["turns"].as_array().unwrap_or_else(|| panic!("{reader:?}: {turns}"));
    details.extend(turns.iter().filter_map(|turn| turn["detail"].as_str().map(str::to_owned)));
    let (_, sessions) = get(server, reader, "/sessions?ended=true").await;
    let sessions = sessions["sessions"].as_array().into_iter().flatten();
    details
        .extend(sessions.filter_map(|session| session["ended"]["why"].as_str().map(str::to_owned)));
    details
}

async fn get(server: &Server, reader: Option<&str>, path: &str) -> (u16, Value) {
    match reader {
        Some(token) => server.with(token, Method::GET, path, Value::Null).await,
        None => server.unproven(Method::GET, path, Value::Null).await,
    }
}

#[tokio::test]
async fn the_details_of_sessions_name_what_their_reader_may_see() {
    let (server, stage) = Server::with_terminals_in(Mode::Local).await;
    let mut changes = server.stream("/events/stream").await;
    let ended = server.session("relic").await["id"].as_str().unwrap().to_owned();
    stage.die_showing(SHOWN);
    for name in ["neighbour", "planner"] {
        server.session(name).await;
    }
    let thread = server.introduce(&["neighbour"]).await;
    let member = json!({"participant_id": "worker", "profile": {"session": "planner"}});
    let events = format!("/threads/{thread}/events");
    let invite = json!({"type": "control", "from": "user", "content": {"invite": member}});
    let (status, invited) = server.post_as(&server.key, &events, invite).await;
    assert_eq!(status, 200, "{invited}");
    stage.draft("half a line");
    let go = json!({"from": "user", "content": "@worker go"});
    let (status, said) = server.post_as(&server.key, &events, go).await;
    assert_eq!(status, 200, "{said}");
    for (path, state) in [("planner", "drafting"), (&ended, "ended")] {
        let path = format!("/sessions/{path}");
        let is_so = async || get(&server, Some(&server.key), &path).await.1["state"] == state;
        rung(&mut changes, state, is_so).await;
    }
    let readers = [
        ("the owner", Some(server.key.clone())),
        ("a member", Some(token(&server, json!({"principal": "ann", "kind": "human", "scopes": ["threads:read"]})).await)),
        ("a guest of one thread", Some(token(&server, json!({"principal": "gus", "kind": "human", "scopes": ["threads:read"], "threads": [thread]})).await)),
        ("a reader without a credential", None),
        ("an agent", Some(token(&server, json!({"principal": "echo", "kind": "agent", "scopes": ["threads:read", "sessions:drive"]})).await)),
        ("the session itself", Some(stage.token("planner"))),
        ("a session beside it", Some(stage.token("neighbour"))),
    ];
    for (reader, credential) in &readers {
        let may = async |path: &str| get(&server, credential.as_deref(), path).await.0 == 200;
        let (attaches, sees, looks) = (
            may("/sessions/planner/attach").await,
            may("/sessions/planner").await,
            may(&format!("/sessions/{ended}/screen")).await || *reader == "the owner",
        );
        let texts = details(&server, credential.as_deref(), &thread).await;
        assert!(texts.iter().any(|detail| detail.contains("draft")), "{reader}: {texts:?}");
        for detail in &texts {
            assert!(attaches || !detail.contains("moothall attach"), "{reader}: {detail}");
            assert!(sees || !detail.contains("planner"), "{reader}: {detail}");
            assert!(looks || !detail.contains(SHOWN), "{reader}: {detail}");
        }
        if *reader == "the owner" {
            assert!(texts.iter().any(|detail| detail.contains("moothall attach planner")));
            assert!(texts.iter().any(|detail| detail.contains(SHOWN)), "{texts:?}");
        }
    }
    // An owner who reads as another participant sees no more than that participant.
    let (_, turns) =
        get(&server, Some(&server.key), &format!("/threads/{thread}/turns?as=neighbour")).await;
    let detail = turns["turns"][0]["detail"].as_str().unwrap_or_else(|| panic!("{turns}"));
    assert!(!detail.contains("planner"), "{detail}");
}
