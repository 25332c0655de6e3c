//! The reach of a session's program, and its rights over other sessions.

use moothall_engine::access::Mode;
use moothall_engine::sessions::ClientRights;
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Frames, Server, soon};

/// Returns the status and the code of an error.
fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or_default())
}

fn names(list: &Value, of: &str) -> Vec<String> {
    list[of]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect()
}

fn invite(session: &str) -> Value {
    json!({"type": "control", "from": "user", "content": {"invite": {"profile": {"session": session}}}})
}

#[tokio::test]
async fn a_session_reaches_its_home_and_where_it_is_invited_until_it_is_taken_out() {
    let (server, stage) = Server::with_terminals().await;
    let home = server.session("ada").await["id"].as_str().unwrap().to_owned();
    server.session("bob").await;
    let token = stage.token("ada");
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "a secret plan").await;
    let get = async |path: &str| server.with(&token, Method::GET, path, json!(null)).await;
    let (state, events) = (format!("/threads/{thread}/state"), format!("/threads/{thread}/events"));
    let seen = get("/threads").await.1["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["id"].clone())
        .collect::<Vec<_>>();
    assert_eq!(seen, [json!(home)]);
    for path in [&state, &events] {
        assert_eq!(code(&get(path).await), (404, "thread_not_found"), "{path}");
    }
    let hidden = server.post_as(&token, &events, json!({"content": "hello"})).await;
    assert_eq!(code(&hidden), (404, "thread_not_found"));
    assert_eq!(get("/search?q=secret").await.1["hits"], json!([]));
    assert_eq!(
        names(&get("/sessions").await.1, "sessions"),
        ["ada"],
        "it does not know of the other"
    );
    assert_eq!(get(&format!("/threads/{home}/state")).await.0, 200);

    for session in ["ada", "bob"] {
        server.take(&thread, invite(session)).await;
    }
    assert_eq!(
        (get(&state).await.0, get("/search?q=secret").await.1["hits"].as_array().unwrap().len()),
        (200, 1)
    );
    assert_eq!(names(&get("/sessions").await.1, "sessions"), ["ada", "bob"]);
    let response =
        soon(server.client.get(server.url(&format!("{events}/stream"))).bearer_auth(&token).send())
            .await
            .unwrap();
    let mut frames = Frames::of(response);
    server.control(&thread, json!({"uninvite": {"participant_id": "ada"}})).await;
    while frames.next().await.is_some() {}
    assert_eq!(code(&get(&state).await), (404, "thread_not_found"));
    assert_eq!(names(&get("/sessions").await.1, "sessions"), ["ada"]);
}

#[tokio::test]
async fn a_session_talks_to_those_it_shares_a_conversation_with_and_reads_what_is_between_them() {
    let (server, stage) = Server::with_terminals().await;
    server.session("ada").await;
    server.session("bob").await;
    let (ada, bob) = (stage.token("ada"), stage.token("bob"));
    let say = json!({"message": "Are you there?"});
    let thread = server.thread("mention_only").await;
    let smuggled = server.post_as(&ada, "/threads", json!({"name": "mine"})).await.1["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let invitation =
        json!({"type": "control", "content": {"invite": {"profile": {"session": "bob"}}}});
    let smuggled = server.post_as(&ada, &format!("/threads/{smuggled}/events"), invitation).await;
    assert_eq!(
        code(&smuggled),
        (404, "session_not_found"),
        "it invites nobody whom it does not know: {}",
        smuggled.1
    );
    for session in ["ada", "bob"] {
        server.take(&thread, invite(session)).await;
    }
    server.post("/sessions/bob/messages", json!({"message": "What a person told him."})).await;
    assert_eq!(server.post_as(&ada, "/sessions/bob/messages", say).await.0, 200);
    let data = server
        .with(&ada, Method::GET, "/sessions/bob/data?tail_chars=0", json!(null))
        .await
        .1["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(data.contains("Are you there?") && !data.contains("What a person told him."), "{data}");
    for (method, path) in [
        (Method::GET, "screen"),
        (Method::POST, "interrupt"),
        (Method::POST, "end"),
        (Method::POST, "keys"),
        (Method::GET, "attach"),
    ] {
        let refused = server.with(&ada, method, &format!("/sessions/bob/{path}"), json!({})).await;
        assert_eq!(code(&refused), (403, "forbidden"), "{path}");
    }
    assert_eq!(
        server.with(&bob, Method::GET, "/sessions/bob/screen", json!(null)).await.0,
        200,
        "its own it may see"
    );
}

#[tokio::test]
async fn an_agent_starts_others_only_where_the_operator_lets_it_and_without_arguments() {
    let work = tempfile::tempdir().unwrap();
    let (server, stage) = Server::with_startable(Mode::Local, work.path()).await;
    server.session("ada").await;
    let ada = stage.token("ada");
    let (inside, outside) = (work.path().join("inside"), tempfile::tempdir().unwrap());
    std::fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(outside.path(), work.path().join("link")).unwrap();
    let count = stage.count();
    let asked = [
        json!({"client": "demo", "cwd": outside.path()}),
        json!({"client": "demo", "cwd": work.path().join("link")}),
        json!({"client": "demo", "cwd": work.path().join("inside/../..")}),
        json!({"client": "demo", "cwd": inside, "args": ["--dangerously-skip-permissions"]}),
    ];
    for body in asked {
        let answer = server.post_as(&ada, "/sessions", body.clone()).await;
        assert_eq!((answer.0, &answer.1["state"]), (202, &json!("asked")), "{body}: {}", answer.1);
    }
    let adopted = json!({"client": "demo", "adopt": {"socket": "default", "pane": "%7"}});
    assert_eq!(code(&server.post_as(&ada, "/sessions", adopted).await), (403, "forbidden"));
    assert_eq!(stage.count(), count);
    let started = server
        .post_as(&ada, "/sessions", json!({"client": "demo", "name": "helper", "cwd": inside}))
        .await;
    assert_eq!(
        (started.0, stage.launched().cwd),
        (200, inside.canonicalize().unwrap()),
        "{}",
        started.1
    );
    // A session that the program started is its own: the program looks at it, steers it and reads
    // its home.
    let home = started.1["id"].as_str().unwrap();
    assert_eq!(
        server.with(&ada, Method::GET, &format!("/threads/{home}/events"), json!(null)).await.0,
        200
    );
    assert_eq!(server.with(&ada, Method::GET, "/sessions/helper/screen", json!(null)).await.0, 200);
    // A session and all its helpers share one limit on their number.
    let mut last = (200, json!(null));
    for number in 0..8 {
        let parent = if number % 2 == 0 { ada.clone() } else { stage.token("helper") };
        last = server.post_as(&parent, "/sessions", json!({"client": "demo", "cwd": inside})).await;
    }
    assert_eq!(code(&last), (409, "session_conflict"), "{}", last.1);
    assert_eq!(server.post_as(&ada, "/sessions/helper/end", json!({})).await.0, 200);
    assert_eq!(
        server.post_as(&ada, "/sessions", json!({"client": "demo", "cwd": inside})).await.0,
        200,
        "there is room again"
    );
    assert_eq!(
        server.post("/sessions", json!({"client": "demo"})).await.0,
        403,
        "nobody starts anything without a credential"
    );
}

#[tokio::test]
async fn what_an_agent_may_not_start_a_person_is_asked_about_and_it_is_started_once() {
    let (server, stage) = Server::with_terminals().await;
    let home = server.session("ada").await["id"].as_str().unwrap().to_owned();
    let (ada, work) = (stage.token("ada"), tempfile::tempdir().unwrap());
    let folder = work.path().canonicalize().unwrap();
    let before = stage.count();
    let wanted = json!({"client": "demo", "name": "helper", "cwd": work.path(), "args": ["--model", "x\u{202e}"]});
    let (status, asked) = server.post_as(&ada, "/sessions", wanted.clone()).await;
    assert_eq!((status, &asked["thread"]), (202, &json!(home)), "{asked}");
    let same = server.post_as(&ada, "/sessions", wanted.clone()).await;
    assert_eq!(same, (202, asked.clone()), "the same wish is the same question");
    let permission = asked["permission"].as_str().unwrap();
    let card = server.event(&home, "permission", "requested").await;
    assert_eq!(
        (&card["turn"], &card["participant"], &card["folder"]),
        (&json!(null), &json!("ada"), &json!(folder))
    );
    assert_eq!(
        card["action"], "Start demo \"--model\" \"x\\u{202e}\"\nCall it helper",
        "nothing is hidden"
    );
    let waits = &server.get(&format!("/threads/{home}/state")).await.1["state"]["starts"];
    assert_eq!(
        (&waits[0]["permission"], &waits[0]["participant"]),
        (&json!(permission), &json!("ada"))
    );

    let answer = format!("/permissions/{permission}/answer");
    let allow = json!({"thread": home, "option": "allow"});
    assert_eq!(server.post_as(&ada, &answer, allow.clone()).await.0, 403, "not by itself");
    assert_eq!(stage.count(), before);
    assert_eq!(server.as_operator(Method::POST, &answer, allow.clone()).await.0, 200);
    let done = server.event(&home, "permission", "settled").await;
    assert_eq!((&done["outcome"], &done["name"]), (&json!("started"), &json!("helper")), "{done}");
    let launched = stage.launched();
    assert_eq!(
        (stage.count(), launched.cwd, launched.args),
        (before + 1, folder, vec!["--model".to_owned(), "x\u{202e}".to_owned()])
    );
    assert_eq!(
        server.with(&ada, Method::GET, "/sessions/helper/screen", json!(null)).await.0,
        200,
        "it steers what it had started"
    );
    let late = server.as_operator(Method::POST, &answer, allow).await;
    assert_eq!(code(&late), (409, "permission_closed"));
    assert_eq!(stage.count(), before + 1);
}

#[tokio::test]
async fn an_agent_without_a_terminal_says_where_a_person_is_asked_and_hears_a_refusal() {
    let (server, stage) = Server::with_terminals().await;
    let made = server
        .as_operator(
            Method::POST,
            "/tokens",
            json!({"principal": "planner", "kind": "agent",
        "scopes": ["threads:read", "threads:write", "sessions:drive"]}),
        )
        .await
        .1;
    let (token, wanted) = (made["token"].as_str().unwrap(), json!({"client": "demo", "cwd": "/"}));
    let unsaid = server.post_as(token, "/sessions", wanted.clone()).await;
    assert_eq!(code(&unsaid), (422, "invalid_session"), "{}", unsaid.1);
    let thread = server.thread("mention_only").await;
    let there = json!({"client": "demo", "cwd": "/", "thread": thread});
    let outside = server.post_as(token, "/sessions", there.clone()).await;
    assert_eq!(code(&outside), (409, "not_a_participant"), "{}", outside.1);
    server.invite(&thread, "planner", "bot").await;
    let (status, asked) = server.post_as(token, "/sessions", there).await;
    assert_eq!((status, &asked["thread"]), (202, &json!(thread)), "{asked}");
    let answer = format!("/permissions/{}/answer", asked["permission"].as_str().unwrap());
    assert_eq!(
        server
            .as_operator(Method::POST, &answer, json!({"thread": thread, "option": "deny"}))
            .await
            .0,
        200
    );
    let refused = server.event(&thread, "permission", "settled").await;
    assert_eq!(
        (&refused["outcome"], &refused["participant"]),
        (&json!("refused"), &json!("planner"))
    );
    assert_eq!(stage.count(), 0);
}

#[tokio::test]
async fn a_session_takes_nobodys_name_and_nobody_takes_a_sessions() {
    let (server, stage) = Server::with_terminals().await;
    let token = async |wanted: Value| server.as_operator(Method::POST, "/tokens", wanted).await;
    for wanted in [
        json!({"principal": "ann"}),
        json!({"principal": "critic", "kind": "agent"}),
        json!({"principal": "demo"}),
    ] {
        assert_eq!(token(wanted).await.0, 200);
    }
    for name in ["ann", "critic", "ANN"] {
        let refused = server.post("/sessions", json!({"client": "demo", "name": name})).await;
        assert_eq!(code(&refused), (409, "session_conflict"), "{name}: {}", refused.1);
    }
    assert_eq!(stage.count(), 0);
    assert_eq!(
        server.post("/sessions", json!({"client": "demo"})).await.1["name"],
        "demo-2",
        "nor by itself"
    );
    server.session("ada").await;
    server.post("/sessions/ada/end", json!({})).await;
    for principal in ["ada", "demo-2"] {
        assert_eq!(
            code(&token(json!({"principal": principal})).await),
            (409, "principal_taken"),
            "{principal}"
        );
        let thread = server.thread("mention_only").await;
        let invited = server
            .post(
                &format!("/threads/{thread}/invitations"),
                json!({"principal": principal, "kind": "agent"}),
            )
            .await;
        assert_eq!(code(&invited), (409, "principal_taken"), "{principal}");
    }
}

#[tokio::test]
async fn an_agent_does_not_begin_conversations_without_end() {
    let (server, stage) = Server::with_terminals().await;
    server.session("ada").await;
    let ada = stage.token("ada");
    for number in 0..20 {
        assert_eq!(
            server.post_as(&ada, "/threads", json!({"name": "one more"})).await.0,
            200,
            "{number}"
        );
    }
    let refused = server.post_as(&ada, "/threads", json!({"name": "one more"})).await;
    assert_eq!(code(&refused), (403, "forbidden"), "{}", refused.1);
    assert_eq!(server.post("/threads", json!({"name": "a person's"})).await.0, 200);
}

#[tokio::test]
async fn an_operator_lets_the_sessions_of_a_client_reach_everything() {
    let demo = ClientRights { reaches_all: true, ..ClientRights::default() };
    let (server, stage) =
        Server::with_rights(Mode::Token, demo, std::path::Path::new("/nowhere")).await;
    server.session("ada").await;
    server.session("bob").await;
    let thread = server.introduce(&["bob"]).await;
    let ada = stage.token("ada");
    assert_eq!(
        server.with(&ada, Method::GET, &format!("/threads/{thread}/events"), json!(null)).await.0,
        200
    );
    assert_eq!(
        server
            .post_as(&ada, "/sessions/bob/messages", json!({"message": "Are you there?"}))
            .await
            .0,
        200
    );
    for (method, path) in [(Method::GET, "screen"), (Method::POST, "end")] {
        let refused = server.with(&ada, method, &format!("/sessions/bob/{path}"), json!({})).await;
        assert_eq!(
            code(&refused),
            (403, "forbidden"),
            "{path}: what it did not start it does not steer"
        );
    }
}

#[tokio::test]
async fn a_session_asks_people_if_it_may_talk_to_a_name_whether_there_is_such_a_session_or_not() {
    let (server, stage) = Server::with_terminals().await;
    let home = server.session("ada").await;
    server.session("bob").await;
    let ada = stage.token("ada");
    let say = |to: &str, text: &str| {
        (format!("/sessions/{to}/messages"), json!({"message": text, "direct": true}))
    };
    let ask = async |to: &str, text: &str| {
        let (path, body) = say(to, text);
        server.post_as(&ada, &path, body).await
    };
    let (bob, nobody) = (ask("bob", "Are you there?").await, ask("nowhere", "And you?").await);
    assert_eq!((bob.0, nobody.0), (202, 202), "{} {}", bob.1, nobody.1);
    let shown = |answer: &Value| (answer["state"].clone(), answer["message"].clone());
    assert_eq!(shown(&bob.1), shown(&nobody.1));
    assert_eq!(bob.1["thread"], home["id"]);
    let again = ask("bob", "Hello?").await.1;
    assert_eq!(again["permission"], bob.1["permission"], "one wish for a pair is open");
    assert_eq!(
        names(&server.with(&ada, Method::GET, "/sessions", json!(null)).await.1, "sessions"),
        ["ada"]
    );
    let home = home["id"].as_str().unwrap();
    let answer = async |asked: &Value, option: &str| {
        let permission = asked["permission"].as_str().unwrap();
        let path = format!("/permissions/{permission}/answer");
        let body = json!({"thread": home, "option": option});
        server.as_operator(Method::POST, &path, body).await
    };
    assert_eq!(answer(&nobody.1, "deny").await.0, 200);
    let refused = ask("nowhere", "Please.").await;
    assert_eq!(code(&refused), (409, "talk_refused"));
    assert_eq!(answer(&bob.1, "allow").await.0, 200);
    let linked = until_linked(&server, home).await;
    let said = ask("bob", "Thanks.").await;
    assert_eq!((said.0, &said.1["link_state"]), (200, &json!("reused")), "{}", said.1);
    assert_eq!(said.1["link_id"], linked);

    // The rights from a link end with the link.
    let path = format!("/links/{}/close", linked.as_str().unwrap());
    assert_eq!(server.as_operator(Method::POST, &path, json!({})).await.0, 200);
    assert_eq!(
        names(&server.with(&ada, Method::GET, "/sessions", json!(null)).await.1, "sessions"),
        ["ada"]
    );
    let asked = ask("bob", "One more thing.").await;
    assert_eq!(asked.0, 202, "{}", asked.1);
    assert_eq!(answer(&asked.1, "allow").await.0, 200);
}

/// Waits until an allowed request to talk is carried out. Returns the link.
async fn until_linked(server: &Server, home: &str) -> Value {
    let mut frames = server.stream(&format!("/threads/{home}/events/stream?after=0")).await;
    let done = frames.until(|event| event["content"]["outcome"] == "linked").await;
    done["content"]["link"].clone()
}

/// A session gets one and the same answer for an unmet session, by its name, its id or a part of
/// it, and for a missing one.
#[tokio::test]
async fn a_session_learns_of_no_other_by_a_link_or_by_the_beginning_of_an_id() {
    let (server, stage) = Server::with_terminals().await;
    let home = server.session("ada").await;
    let hidden = server.session("bob").await;
    let ada = stage.token("ada");
    let [own, id] = [&home, &hidden].map(|one| one["id"].as_str().unwrap().to_owned());
    let answer_to = async |method: Method, path: &str, body: Value, word: &str| {
        let (status, answer) = server.with(&ada, method, path, body).await;
        (status, answer.to_string().replace(word, "WORD"))
    };
    let link = async |word: &str| {
        let members = json!([{"session": own}, {"session": word, "number": 0}]);
        let title = json!({"members": members});
        answer_to(Method::POST, "/links", title, word).await
    };
    let look = async |word: &str| {
        answer_to(Method::GET, &format!("/sessions/{word}"), json!(null), word).await
    };
    for word in ["bob", &id, &id[..30]] {
        assert_eq!(link(word).await, link("nowhere").await, "{word}");
        assert_eq!(look(word).await, look("nowhere").await, "{word}");
    }
    // Both sessions began in the same moment, so their ids begin alike.
    let shared = own.chars().zip(id.chars()).take_while(|(one, other)| one == other).count();
    let (status, found) = look(&own[..shared.max(6)]).await;
    assert_eq!(status, 200, "{found}");
}
