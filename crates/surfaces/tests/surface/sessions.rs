//! Sessions over HTTP: started, prompted, watched, interrupted, ended.

use moothall_engine::sessions::{Keystroke, NamedKey};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Frames, Server, answer, soon};

fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn a_session_is_started_listed_looked_at_and_ended() {
    let (server, stage) = Server::with_terminals().await;
    let body = json!({"client": "demo", "name": "planner", "cwd": std::env::temp_dir(), "args": ["--quick"]});
    let (status, session) = server.post("/sessions", body).await;
    assert_eq!(status, 200, "{session}");
    assert_eq!(
        (&session["name"], &session["client"], &session["origin"]),
        (&json!("planner"), &json!("demo"), &json!("started"))
    );
    let launched = stage.launched();
    assert_eq!((launched.args, launched.cwd), (vec!["--quick".to_owned()], std::env::temp_dir()));

    let (_, list) = server.get("/sessions").await;
    assert_eq!(list["sessions"][0]["id"], session["id"]);
    assert_eq!(list["programs"][1], json!({"client": "demo", "summary": "A program for tests"}));
    assert_eq!(
        list["programs"][0]["missing"],
        "absent is not installed. Install it with `get it`."
    );
    let id = session["id"].as_str().unwrap();
    for word in [id, &id[..13], "planner"] {
        assert_eq!(server.get(&format!("/sessions/{word}")).await.1["id"], session["id"], "{word}");
    }
    let (_, screen) = server.get("/sessions/planner/screen").await;
    assert_eq!(
        (&screen["session"], &screen["state"], &screen["text"]),
        (&session["id"], &json!("idle"), &json!("Ready."))
    );
    assert_eq!(server.get("/sessions/planner/attach").await.1["argv"], json!(["look-at", "%0"]));
    assert_eq!(server.post("/sessions/planner/interrupt", json!({})).await.0, 200);

    let (status, ended) = server.post("/sessions/planner/end", json!({})).await;
    assert_eq!((status, &ended["session"]["state"]), (200, &json!("ended")), "{ended}");
    assert_eq!(server.get("/sessions").await.1["sessions"], json!([]));
    assert_eq!(server.get("/sessions?ended=true").await.1["sessions"][0]["id"], session["id"]);
    assert_eq!(server.get(&format!("/sessions/{id}")).await.0, 200);
    let refused =
        server.post(&format!("/sessions/{id}/messages"), json!({"message": "hello"})).await;
    assert_eq!(code(&refused), (409, "session_ended"));
    let thread = server.thread("hybrid").await;
    let (status, refused) =
        server.refuse(&thread, json!({"type": "control", "from": "user", "content": {"invite": {"profile": {"session": id}}}})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("session_ended")));
}

#[tokio::test]
async fn a_start_that_fails_leaves_nothing_behind() {
    let (server, stage) = Server::with_terminals().await;
    stage.has_room_for(0);
    let lists = async || {
        let (_, open) = server.get("/threads").await;
        let (_, archived) = server.get("/threads?archived=true").await;
        let (_, sessions) = server.get("/sessions?ended=true").await;
        [open["threads"].clone(), archived["threads"].clone(), sessions["sessions"].clone()]
    };
    let before = lists().await;
    let refused = server.post("/sessions", json!({"client": "demo", "name": "ada"})).await;
    assert_eq!(refused.0, 409, "{}", refused.1);
    let refused = server.post("/sessions", json!({"client": "absent"})).await;
    assert_eq!(code(&refused), (422, "invalid_session"));
    assert!(refused.1["error"]["message"].as_str().unwrap().contains("Install it with `get it`"));
    assert_eq!(lists().await, before);
    stage.has_room_for(1);
    let again = server.post("/sessions", json!({"client": "demo", "name": "ada"})).await;
    assert_eq!((again.0, &again.1["name"]), (200, &json!("ada")), "the name is free");
}

/// Names of folders tell about the computer: only persons who may start programs read them.
#[tokio::test]
async fn folders_are_listed_for_those_who_may_start_there() {
    let (server, stage) = Server::with_terminals().await;
    let new = json!({"client": "demo", "cwd": "/tmp", "name": "ada"});
    let (_, ada) = server.post("/sessions", new).await;
    let (status, listed) = server.get("/folders?client=demo&path=/srv").await;
    assert_eq!(status, 200, "{listed}");
    let shop = json!({"name": "shop", "path": "/srv/shop", "project": true});
    let notes = json!({"name": "notes", "path": "/srv/notes"});
    assert_eq!(
        listed,
        json!({"path": "/srv", "parent": "/", "folders": [notes, shop], "recent": [ada["cwd"]]})
    );
    for (query, wrong) in [
        ("client=none", (422, "invalid_session")),
        ("path=/srv", (422, "invalid_parameter")),
        ("client=demo&path=/secret", (422, "invalid_session")),
    ] {
        assert_eq!(code(&server.get(&format!("/folders?{query}")).await), wrong, "{query}");
    }
    let unproven = server.unproven(Method::GET, "/folders?client=demo", json!({})).await;
    assert_eq!(code(&unproven), (403, "forbidden"));
    for (kind, scopes) in [
        ("agent", json!(["threads:read", "sessions:drive"])),
        ("human", json!(["threads:read", "threads:write"])),
    ] {
        let new = json!({"principal": kind, "kind": kind, "scopes": scopes});
        let (_, made) = server.post("/tokens", new).await;
        let token = made["token"].as_str().unwrap();
        let refused = server.with(token, Method::GET, "/folders?client=demo", Value::Null).await;
        assert_eq!(code(&refused), (403, "forbidden"), "{kind}");
    }
    let of_session = stage.token("ada");
    let refused = server.with(&of_session, Method::GET, "/folders?client=demo", Value::Null).await;
    assert_eq!(code(&refused), (403, "forbidden"));
}

#[tokio::test]
async fn a_person_takes_over_a_terminal_and_words_wait() {
    let (server, stage) = Server::with_terminals().await;
    let id = server.session("planner").await["id"].as_str().unwrap().to_owned();
    let keys = json!({"keys": [{"text": "ls"}, {"key": "enter"}, {"paste": "a\nb"}]});
    let (status, typed) = server.post("/sessions/planner/keys", keys).await;
    assert_eq!((status, &typed["typist"]), (200, &json!("user")), "{typed}");
    assert!(typed["until"].is_string(), "{typed}");
    let expected = [
        Keystroke::Text("ls".into()),
        Keystroke::Named(NamedKey::Enter),
        Keystroke::Paste("a\nb".into()),
    ];
    assert_eq!(stage.typed(), expected);
    assert_eq!(server.get("/sessions/planner").await.1["typist"], "user");
    server.post("/sessions/planner/keys", json!({})).await;
    let notices = server.events(&id, "").await;
    let notices = notices.iter().filter(|event| event["content"].to_string().contains("types in"));
    assert_eq!(notices.count(), 1);

    // A second person, and a repeated request.
    let other = json!({"keys": [{"text": "x"}], "from": "mo"});
    assert_eq!(
        code(&server.post("/sessions/planner/keys", other).await),
        (409, "session_conflict")
    );
    let once = json!({"keys": [{"text": "y"}]});
    for _ in 0..2 {
        let (status, _) = server.post_with_key("/sessions/planner/keys", "k", once.clone()).await;
        assert_eq!(status, 200);
    }
    assert_eq!(stage.typed().len(), expected.len() + 1);

    let words = json!({"message": "How far are you?"});
    assert_eq!(server.post("/sessions/planner/messages", words).await.0, 200);
    let (_, released) = server.post("/sessions/planner/keys", json!({"release": true})).await;
    assert_eq!(released, json!({"session": id}));
    assert!(soon(stage.taken(0)).await.contains("How far are you?"));

    let (_, audit) = server.as_operator(Method::GET, "/audit", Value::Null).await;
    let rows = audit["rows"].as_array().unwrap();
    let taken: Vec<_> = rows.iter().filter(|row| row["deed"] == "terminal_taken").collect();
    assert_eq!(taken.len(), 1, "{audit}");
    assert!(!audit.to_string().contains("ls"), "{audit}");
}

#[tokio::test]
async fn keystrokes_are_a_closed_list() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    for keys in [
        json!([{"key": "C-c"}]),
        json!([{"key": "ctrl+cc"}]),
        json!([{}]),
        json!([{"text": "a", "key": "enter"}]),
        json!([{"text": 3}]),
        json!(vec![json!({"key": "up"}); 257]),
        json!([{"paste": "x".repeat(64 * 1024 + 1)}]),
    ] {
        let refused = server.post("/sessions/planner/keys", json!({"keys": keys})).await;
        assert_eq!(code(&refused), (422, "invalid_field"), "{refused:?}");
    }
    assert_eq!(stage.typed(), []);
    assert!(server.get("/sessions/planner").await.1["typist"].is_null());
}

#[tokio::test]
async fn the_last_screen_of_an_ended_session_is_kept_until_words_are_erased() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    stage.show("It was done.");
    assert_eq!(server.post("/sessions/planner/end", json!({})).await.0, 200);
    let (status, screen) = server.get("/sessions/planner/screen").await;
    assert_eq!((status, &screen["state"]), (200, &json!("gone")), "{screen}");
    assert_eq!(screen["text"], "It was done.");
    // A caller without the right to look at a terminal gets no last screen either.
    let refused = server.unproven(Method::GET, "/sessions/planner/screen", Value::Null).await;
    assert_ne!(refused.0, 200, "{refused:?}");
    let thread = server.thread("mention_only").await;
    let said = server.say(&thread, "user", "A secret.").await;
    let event = said["id"].as_str().unwrap();
    let path = format!("/threads/{thread}/events/{event}/redact");
    assert_eq!(server.post(&path, json!({})).await.0, 200);
    let gone = server.get("/sessions/planner/screen").await;
    assert_eq!(code(&gone), (409, "session_ended"));
}

#[tokio::test]
async fn requests_that_make_no_sense_start_nothing() {
    let (server, _stage) = Server::with_terminals().await;
    let cases = [
        (json!({}), "invalid_field"),
        (json!({"client": 3}), "invalid_field"),
        (json!({"client": "demo", "cwd": "relative"}), "invalid_field"),
        (json!({"client": "demo", "cwd": "/nowhere/at/all"}), "invalid_field"),
        (json!({"client": "demo", "args": "x"}), "invalid_field"),
        (json!({"client": "demo", "args": ["a\u{0}b"]}), "invalid_field"),
        (json!({"client": "demo", "args": vec!["x"; 65]}), "invalid_field"),
        (json!({"client": "demo", "command": ["sh"]}), "unknown_field"),
        (json!({"client": "demo", "adopt": "%7"}), "invalid_field"),
        (
            json!({"client": "demo", "adopt": {"socket": "default", "pane": "%7", "pid": 1}}),
            "unknown_field",
        ),
        (
            json!({"client": "demo", "adopt": {"socket": "default", "pane": "%7"}, "args": ["x"]}),
            "invalid_field",
        ),
    ];
    for (body, expected) in cases {
        let refused = server.post("/sessions", body.clone()).await;
        assert_eq!(code(&refused), (422, expected), "{body}");
    }
    let unknown = server.post("/sessions", json!({"client": "nothing"})).await;
    assert!((400..500).contains(&unknown.0), "{unknown:?}");
    let elsewhere = json!({"client": "demo", "adopt": {"socket": "default", "pane": "%8"}});
    let (status, refused) = server.post("/sessions", elsewhere).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("pane_not_found")));
    assert_eq!(server.get("/sessions").await.1["sessions"], json!([]));
    let (status, adopted) = server
        .post("/sessions", json!({"client": "demo", "adopt": {"socket": "default", "pane": "%7"}}))
        .await;
    assert_eq!((status, &adopted["origin"]), (200, &json!("observed")), "{adopted}");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let (server, _stage) = Server::with_terminals().await;
    for path in [
        "/sessions/nobody",
        "/sessions/nobody/screen",
        "/sessions/nobody/screen/stream",
        "/sessions/%00/data",
    ] {
        assert_eq!(code(&server.get(path).await), (404, "session_not_found"), "{path}");
    }
    let refused = server.post("/sessions/nobody/messages", json!({"message": "x"})).await;
    assert_eq!(code(&refused), (404, "session_not_found"));
    let server = Server::start().await;
    assert_eq!(code(&server.get("/sessions").await), (501, "no_terminals"));
    assert_eq!(
        code(&server.as_operator(Method::POST, "/sessions", json!({"client": "demo"})).await),
        (501, "no_terminals")
    );
}

#[tokio::test]
async fn words_reach_a_session_and_can_be_read_again() {
    let (server, _stage) = Server::with_terminals().await;
    let session = server.session("planner").await;
    let (status, sent) =
        server.post("/sessions/planner/messages", json!({"message": "Make a plan."})).await;
    assert_eq!(status, 200, "{sent}");
    assert_eq!((&sent["link_id"], &sent["link_state"]), (&Value::Null, &json!("none")));
    assert_eq!((&sent["delivered_to"], &sent["thread"]), (&json!([session["id"]]), &session["id"]));
    let (status, data) = server.get("/sessions/planner/data").await;
    assert_eq!(status, 200, "{data}");
    assert!(data["text"].as_str().unwrap().contains("Make a plan."), "{data}");
    assert_eq!((&data["truncated"], &data["tail_chars"]), (&json!(false), &json!(2000)));
    let (_, cut) = server.get("/sessions/planner/data?tail_chars=5").await;
    assert_eq!(
        (&cut["truncated"], cut["text"].as_str().unwrap().chars().count() <= 5),
        (&json!(true), true),
        "{cut}"
    );
    assert!(cut["notice"].as_str().unwrap().contains("until"));
    assert_eq!(server.get("/sessions/planner/data?tail_chars=0").await.1["tail_chars"], 48_000);
    for query in ["tail_chars=-1", "since=yesterday", "until=x"] {
        assert_eq!(
            code(&server.get(&format!("/sessions/planner/data?{query}")).await),
            (422, "invalid_parameter"),
            "{query}"
        );
    }
    let big = "x".repeat(300 * 1024);
    let cases = [
        (json!({"message": big}), 413, "too_large"),
        (json!({"message": "  "}), 400, "missing_content"),
        (json!({"message": 3}), 422, "invalid_field"),
        (json!({"message": "x", "direct": "yes"}), 422, "invalid_field"),
        (json!({"message": "x", "to": "y"}), 422, "unknown_field"),
        (json!({"message": "x", "from": "moothall"}), 403, "reserved_sender"),
        (json!({"message": "x", "direct": true}), 403, "session_required"),
        (json!({"close_link": true}), 403, "session_required"),
    ];
    for (body, status, word) in cases {
        let refused = server.post("/sessions/planner/messages", body).await;
        assert_eq!(code(&refused), (status, word));
    }
}

#[tokio::test]
async fn a_token_says_which_session_asks() {
    let (server, stage) = Server::with_terminals().await;
    let (planner, reviewer) = (server.session("planner").await, server.session("reviewer").await);
    server.introduce(&["planner", "reviewer"]).await;
    let token = stage.token("planner");
    let say = |body: Value| server.post_as(&token, "/sessions/reviewer/messages", body);
    let (status, first) = say(json!({"message": "Shall we?", "direct": true})).await;
    assert_eq!((status, &first["link_state"]), (200, &json!("created")), "{first}");
    let (_, again) = say(json!({"message": "Well?", "direct": true})).await;
    assert_eq!((&again["link_state"], &again["link_id"]), (&json!("reused"), &first["link_id"]));
    let (_, link) = server.get(&format!("/links/{}", first["link_id"].as_str().unwrap())).await;
    let members: Vec<_> = link["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["session"].clone())
        .collect();
    assert_eq!(members, [planner["id"].clone(), reviewer["id"].clone()]);
    let (_, closed) = say(json!({"close_link": true})).await;
    assert_eq!(
        (&closed["link_state"], &closed["link_id"]),
        (&json!("closed"), &first["link_id"]),
        "{closed}"
    );
    let (_, gone) = say(json!({"close_link": true})).await;
    assert_eq!((&gone["link_state"], &gone["link_id"]), (&json!("none"), &Value::Null));

    assert_eq!(code(&say(json!({"message": "x", "from": "user"})).await), (403, "forbidden"));
    assert_eq!(say(json!({"message": "x", "from": "planner"})).await.0, 200);
    assert_eq!(
        code(&say(json!({"message": "x", "direct": true, "close_link": true})).await),
        (422, "invalid_field")
    );
    for forged in ["ses_", "ses_forged", &token[..token.len() - 1], &format!("{token}x")] {
        let refused =
            server.post_as(forged, "/sessions/reviewer/messages", json!({"message": "x"})).await;
        assert_eq!(code(&refused), (401, "unauthenticated"), "{forged}");
    }
    server.post("/sessions/planner/end", json!({})).await;
    assert_eq!(
        code(&say(json!({"message": "x"})).await),
        (401, "unauthenticated"),
        "the token ends with its session"
    );
}

#[tokio::test]
async fn the_screen_is_streamed_as_it_changes() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    let mut frames = server.stream("/sessions/planner/screen/stream").await;
    let first = frames.next().await.unwrap();
    assert_eq!((first.name.as_deref(), &first.data["text"]), (Some("screen"), &json!("Ready.")));
    stage.show("Working…");
    stage.show("Done.");
    // Several changes become one event with the latest screen.
    let mut latest = frames.next().await.unwrap();
    while latest.data["text"] != "Done." {
        latest = frames.next().await.unwrap();
    }
    stage.ask("rm -r build");
    let asking = frames.next().await.unwrap();
    assert_eq!(
        (&asking.data["state"], &asking.data["dialog"]["action"]),
        (&json!("asking"), &json!("rm -r build"))
    );
    stage.die();
    let ended = frames.next().await.unwrap();
    assert_eq!(ended.name.as_deref(), Some("ended"));
    assert!(frames.next().await.is_none());
}

#[tokio::test]
async fn a_session_takes_part_in_a_thread() {
    let (server, _stage) = Server::with_terminals().await;
    let session = server.session("planner").await;
    let thread = server.thread("mention_only").await;
    let accepted = server
        .control(
            &thread,
            json!({"invite": {"profile": {"session": "planner", "nickname": "Plan"}}}),
        )
        .await;
    assert!(accepted.get("warnings").is_none() && accepted.get("join").is_none(), "{accepted}");
    let invited = &server.state(&thread).await["participants"]["invited"][0];
    assert_eq!(
        (&invited["id"], &invited["runtime"], &invited["known"]),
        (&json!("planner"), &json!("terminal"), &json!(true))
    );
    assert_eq!(
        invited["profile"],
        json!({"client": "demo", "model": "demo", "nickname": "Plan", "session": session["id"]})
    );
    assert_eq!(accepted["event"]["content"]["invite"]["profile"]["session"], session["id"]);
    let (status, refused) =
        server.refuse(&thread, json!({"type": "control", "from": "user", "content": {"invite": {"profile": {"session": "nobody"}}}})).await;
    assert_eq!((status, &refused["code"]), (404, &json!("session_not_found")));
}

#[tokio::test]
async fn a_server_that_goes_down_says_so_to_those_who_look_at_a_screen() {
    let (mut server, _stage) = Server::with_terminals().await;
    server.session("planner").await;
    let response = soon(
        server
            .client
            .get(server.url("/sessions/planner/screen/stream"))
            .bearer_auth(&server.key)
            .send(),
    )
    .await
    .unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut frames = server.stream("/sessions/planner/screen/stream").await;
    frames.next().await.unwrap();
    server.shut_down();
    assert_eq!(frames.next().await.unwrap().name.as_deref(), Some("going-away"));
    drop(response);
    let wrong =
        soon(server.client.get(server.url("/sessions/nobody")).bearer_auth(&server.key).send())
            .await;
    // The server may close before it answers. An answer must be a proper one.
    if let Ok(response) = wrong {
        assert_eq!(answer(response).await.0, 404);
    }
}

/// Every request of sessions takes effect once for its key, and its repetition gets the same
/// answer.
#[tokio::test]
async fn a_key_makes_a_request_of_sessions_count_once() {
    let (server, stage) = Server::with_terminals().await;
    let new = json!({"client": "demo", "name": "planner"});
    let (one, other) = tokio::join!(
        server.post_with_key("/sessions", "k1", new.clone()),
        server.post_with_key("/sessions", "k1", new.clone())
    );
    assert_eq!((one.0, &one), (200, &other), "two at a time");
    assert_eq!(stage.count(), 1);
    assert_eq!(server.post_with_key("/sessions", "k1", new).await, one);
    let reused =
        server.post_with_key("/sessions", "k1", json!({"client": "demo", "name": "another"})).await;
    assert_eq!(code(&reused), (422, "idempotency_key_reused"), "{}", reused.1);
    // A refused request may be retried.
    let wrong = json!({"client": "nothing", "name": "x"});
    assert_eq!(
        server.post_with_key("/sessions", "k2", wrong.clone()).await,
        server.post_with_key("/sessions", "k2", wrong).await
    );

    server.session("reviewer").await;
    let link = json!({"members": [{"session": "planner"}, {"session": "reviewer"}]});
    let made = server.post_with_key("/links", "k3", link.clone()).await;
    assert_eq!((made.0, &made.1["link_state"]), (200, &json!("created")), "{}", made.1);
    assert_eq!(
        server.post_with_key("/links", "k3", link.clone()).await,
        made,
        "created, as it was said at first"
    );
    let path = format!("/links/{}/close", made.1["link"]["id"].as_str().unwrap());
    let closed = server.post_with_key(&path, "k4", json!({})).await;
    assert_eq!((closed.0, &closed.1["link_state"]), (200, &json!("closed")));
    assert_eq!(server.post_with_key(&path, "k4", json!({})).await, closed);
    let again = server.post("/links", link).await;
    assert_eq!(again.1["link_state"], "created", "a repeat closes nothing new");

    let words = json!({"message": "How far are you?"});
    let sent = server.post_with_key("/sessions/planner/messages", "k5", words.clone()).await;
    assert_eq!(
        (sent.0, server.post_with_key("/sessions/planner/messages", "k5", words).await),
        (200, sent)
    );
    assert!(soon(stage.taken(0)).await.contains("How far are you?"));
    let home = one.1["id"].as_str().unwrap();
    let said = server.events(home, "").await.into_iter().filter(|event| event["type"] == "message");
    assert_eq!(said.count(), 1);

    let ended = server.post_with_key("/sessions/planner/end", "k6", json!({})).await;
    assert_eq!((ended.0, &ended.1["session"]["state"]), (200, &json!("ended")));
    assert_eq!(server.post_with_key("/sessions/planner/end", "k6", json!({})).await, ended);
}

/// Checks a condition after each notification, and at no other time, until it holds.
pub async fn rung(changes: &mut Frames, what: &str, holds: impl AsyncFn() -> bool) {
    while !holds().await {
        let frame = loop {
            let frame = changes.next().await.unwrap_or_else(|| panic!("{what}: the stream ended"));
            if frame.name.as_deref() == Some("sessions") {
                break frame;
            }
        };
        assert_eq!((frame.id, frame.data), (None, json!({})), "{what}");
    }
}

#[tokio::test]
async fn a_notification_comes_when_sessions_or_links_change() {
    let (server, stage) = Server::with_terminals().await;
    let mut changes = server.stream("/events/stream").await;
    let (ada, _) = tokio::join!(server.session("ada"), server.session("bob"));
    let state =
        async |name: &str| server.get(&format!("/sessions/{name}")).await.1["state"].clone();
    rung(&mut changes, "both are ready", async || {
        state("ada").await == "idle" && state("bob").await == "idle"
    })
    .await;
    server.post("/sessions/ada/messages", json!({"message": "a job"})).await;
    soon(stage.taken(0)).await;
    rung(&mut changes, "one works", async || state("ada").await == "busy").await;
    let linked = async |count: usize| {
        server.get("/links").await.1["links"].as_array().unwrap().len() == count
    };
    let members = json!({"members": [{"session": "ada"}, {"session": "bob"}]});
    let (_, made) = tokio::join!(
        rung(&mut changes, "a link", async || linked(1).await),
        server.post("/links", members)
    );
    let path = format!("/links/{}/close", made.1["link"]["id"].as_str().unwrap());
    tokio::join!(
        rung(&mut changes, "no link", async || linked(0).await),
        server.post(&path, json!({}))
    );
    let end = format!("/sessions/{}/end", ada["id"].as_str().unwrap());
    tokio::join!(
        rung(&mut changes, "one is over", async || state("ada").await == "ended"),
        server.post(&end, json!({}))
    );
}

/// In local mode too, a caller without a credential reaches neither a session's own routes nor a
/// conversation that is typed into its terminal.
#[tokio::test]
async fn without_a_credential_nothing_reaches_a_terminal() {
    let (server, stage) = Server::with_terminals().await;
    let home = server.session("ada").await["id"].as_str().unwrap().to_owned();
    server.session("bob").await;
    let link =
        server.post("/links", json!({"members": [{"session": "ada"}, {"session": "bob"}]})).await.1
            ["link"]["id"]
            .clone();
    let (link, thread) = (link.as_str().unwrap(), server.thread("mention_only").await);
    let started = stage.count();
    let events = |thread: &str| format!("/threads/{thread}/events");
    let invite = json!({"type": "control", "from": "user", "content": {"invite": {"profile": {"session": "ada"}}}});
    let go_on = json!({"type": "control", "from": "user", "content": {"resume": true}});
    let words = json!({"from": "user", "content": "@ada run it"});
    let refused = [
        ("/sessions".to_owned(), json!({"client": "demo"})),
        ("/sessions/ada/messages".into(), json!({"message": "run it"})),
        ("/sessions/ada/interrupt".into(), json!({})),
        ("/sessions/ada/keys".into(), json!({"keys": [{"key": "enter"}]})),
        ("/sessions/ada/end".into(), json!({})),
        ("/links".into(), json!({"members": [{"session": "ada"}, {"session": "bob"}]})),
        (format!("/links/{link}/close"), json!({})),
        (events(&home), words.clone()),
        (events(link), words.clone()),
        (events(link), go_on),
        (format!("/threads/{home}/commands"), json!({"from": "user", "text": "/ask ada"})),
        (format!("/threads/{home}/stop"), json!({"from": "user"})),
        (events(&thread), invite.clone()),
    ];
    for (path, body) in refused {
        let refused = server.unproven(Method::POST, &path, body.clone()).await;
        assert_eq!(code(&refused), (403, "forbidden"), "{path} {body}: {}", refused.1);
        assert!(
            refused.1["error"]["message"].as_str().unwrap().contains("moothall token create"),
            "{}",
            refused.1
        );
    }
    for path in ["screen", "screen/stream", "data", "attach"] {
        assert_eq!(
            server.unproven(Method::GET, &format!("/sessions/ada/{path}"), json!({})).await.0,
            403,
            "{path}"
        );
    }
    assert_eq!(stage.count(), started);
    // A caller without a credential still sees the sessions and their conversations.
    let listed = server.unproven(Method::GET, "/sessions", json!({})).await;
    assert_eq!((listed.0, listed.1["sessions"].as_array().unwrap().len()), (200, 2));
    // After a person brings a session into a conversation, the session gets words from there.
    assert_eq!(server.post(&events(&thread), invite).await.0, 200);
    assert_eq!(server.unproven(Method::POST, &events(&thread), words).await.0, 200);
    assert!(soon(stage.taken(0)).await.contains("run it"));
}
