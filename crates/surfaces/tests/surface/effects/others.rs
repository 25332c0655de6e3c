//! The other effects by which authority is lost: becoming a person, reading private content,
//! speaking as another, spending, and coming back after being thrown out.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::server::{Server, soon};

/// A request that must be refused, with its sender.
struct Attempt {
    effect: &'static str,
    token: Option<String>,
    method: Method,
    path: String,
    body: Value,
}

/// A server with an open and a private conversation.
struct Stand {
    server: Server,
    thread: String,
    private: String,
}

impl Stand {
    async fn set(mode: Mode) -> Self {
        let server = Server::start_in(mode).await;
        let thread = async |name: &str| {
            let made = server.as_operator(Method::POST, "/threads", json!({"name": name})).await.1;
            made["id"].as_str().unwrap().to_owned()
        };
        let (thread, private) = (thread("open").await, thread("private").await);
        Self { server, thread, private }
    }

    async fn posts(&self, thread: &str, body: Value) {
        let path = format!("/threads/{thread}/events");
        let (status, answer) = self.server.as_operator(Method::POST, &path, body).await;
        assert_eq!(status, 200, "{answer}");
    }

    async fn of(&self, wanted: Value) -> (String, String) {
        token(&self.server, wanted).await
    }

    /// Returns the attempts that succeeded although they must be refused.
    async fn let_through(&self, attempts: Vec<Attempt>) -> Vec<String> {
        let mut wrong = Vec::new();
        for Attempt { effect, token, method, path, body } in attempts {
            let request = self.server.client.request(method.clone(), self.server.url(&path));
            let request = if method == Method::GET { request } else { request.json(&body) };
            let request = match &token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let status = soon(request.send()).await.unwrap().status().as_u16();
            if !(400..500).contains(&status) {
                wrong.push(format!("{effect}: {path}: {status}"));
            }
        }
        wrong
    }
}

/// Plays every row. Returns those that succeeded.
pub async fn play(mode: Mode) -> Vec<String> {
    let mut wrong = becoming_a_person(mode).await;
    wrong.extend(reading(mode).await);
    wrong.extend(speaking(mode).await);
    wrong.extend(coming_back(mode).await);
    wrong.extend(spending().await);
    wrong
}

/// An agent makes itself or another participant a person.
async fn becoming_a_person(mode: Mode) -> Vec<String> {
    let stand = Stand::set(mode).await;
    let scopes = ["threads:read", "threads:write", "participants:invite", "turns:control"];
    let evil = json!({"principal": "evil", "kind": "agent", "scopes": scopes});
    let (_, evil) = stand.of(evil).await;
    let (_, _) = stand.of(json!({"principal": "ann"})).await;
    let events = format!("/threads/{}/events", stand.thread);
    let invite = |id: &str, profile: Value| json!({"type": "control", "content": {"invite": {"participant_id": id, "profile": profile}}});
    let human = json!({"client": "human", "model": "human"});
    stand.posts(&stand.thread, invite("mia", human.clone())).await;
    let member = |id: Value| {
        let member = |name: &str, number: u32, role: &str| json!({"name": name, "number": number, "role": role, "kind": "agent", "client": "echo"});
        let person = json!({"name": "Guest", "number": 1, "role": "speaker", "kind": "human", "participant_id": id});
        json!({
            "rhythm": "daily", "breath": "minimal", "opening_question": "So?",
            "participants": [person, member("Two", 2, "speaker"), member("Three", 3, "harvester")],
        })
    };
    let rows = [
        ("by its own profile", events.clone(), invite("evil", human.clone())),
        ("by an invite", events.clone(), invite("ghost", human.clone())),
        ("by an invite of a principal", events.clone(), invite("ann", json!({}))),
        ("by the id of the person here", events.clone(), invite("user", json!({}))),
        (
            "by an invitation",
            format!("/threads/{}/invitations", stand.thread),
            json!({"principal": "ghost", "kind": "human"}),
        ),
        (
            "by an invitation of a person",
            format!("/threads/{}/invitations", stand.thread),
            json!({"principal": "ann", "kind": "agent"}),
        ),
        ("by a gathering", "/gatherings".into(), member(json!("ghost"))),
        (
            "by an invitation of a person who is here",
            format!("/threads/{}/invitations", stand.thread),
            json!({"principal": "mia", "kind": "agent"}),
        ),
        ("by a token", "/tokens".into(), json!({"principal": "ghost", "kind": "human"})),
        (
            "by taking a person out",
            events.clone(),
            json!({"type": "control", "content": {"uninvite": {"participant_id": "user"}}}),
        ),
    ];
    let attempts = rows.map(|(effect, path, body)| Attempt {
        effect,
        token: Some(evil.clone()),
        method: Method::POST,
        path,
        body,
    });
    stand.let_through(attempts.into()).await
}

/// A credential bound to one conversation reads another.
async fn reading(mode: Mode) -> Vec<String> {
    let stand = Stand::set(mode).await;
    stand.posts(&stand.private, json!({"content": "a secret plan"})).await;
    let (_, bound) = stand.of(json!({"principal": "ann", "threads": [stand.thread]})).await;
    let private = &stand.private;
    let paths = [
        format!("/threads/{private}/events"),
        format!("/threads/{private}/events/stream?after=0"),
        format!("/threads/{private}/state"),
        format!("/threads/{private}/turns"),
        format!("/threads/{private}/presence"),
        format!("/turns/{private}.1/context"),
        format!("/gatherings/{private}"),
        format!("/links/{private}"),
        format!("/search?q=secret&thread={private}"),
    ];
    let attempts = paths.map(|path| Attempt {
        effect: "reading what is for others",
        token: Some(bound.clone()),
        method: Method::GET,
        path,
        body: Value::Null,
    });
    let mut wrong = stand.let_through(attempts.into()).await;
    let hits = stand.server.with(&bound, Method::GET, "/search?q=secret", Value::Null).await.1;
    if hits["hits"] != json!([]) {
        wrong.push(format!("search shows what is for others: {hits}"));
    }
    wrong
}

/// A credential speaks, reads or steers under another's name.
async fn speaking(mode: Mode) -> Vec<String> {
    let stand = Stand::set(mode).await;
    let (_, ann) = stand.of(json!({"principal": "ann"})).await;
    let (_, echo) = stand.of(json!({"principal": "echo", "kind": "agent"})).await;
    let thread = &stand.thread;
    let mut attempts = Vec::new();
    for (token, other) in [(&ann, "bob"), (&ann, "user"), (&echo, "ann"), (&echo, "moothall")] {
        let rows = [
            (format!("/threads/{thread}/events"), json!({"from": other, "content": "hello"})),
            (format!("/threads/{thread}/commands"), json!({"from": other, "text": "/help"})),
            (format!("/threads/{thread}/presence"), json!({"from": other, "state": "typing"})),
            (format!("/threads/{thread}/stop"), json!({"from": other})),
            (format!("/threads/{thread}/preview"), json!({"from": other, "content": "hello"})),
            ("/threads".into(), json!({"from": other, "name": "x"})),
        ];
        attempts.extend(rows.map(|(path, body)| Attempt {
            effect: "speaking as another",
            token: Some(token.clone()),
            method: Method::POST,
            path,
            body,
        }));
    }
    stand.let_through(attempts).await
}

/// A person who was thrown out comes back by a code that she made, or that was made for her.
async fn coming_back(mode: Mode) -> Vec<String> {
    let mut wrong = Vec::new();
    for throw in ["revoked", "uninvited"] {
        let stand = Stand::set(mode).await;
        let (server, thread) = (&stand.server, &stand.thread);
        let invite = json!({"type": "control", "content": {"invite": {"participant_id": "eve", "profile": {"client": "human", "model": "human"}}}});
        stand.posts(thread, invite).await;
        let scopes = ["threads:read", "threads:write", "participants:invite", "turns:control"];
        let (id, eve) = stand.of(json!({"principal": "eve", "scopes": scopes})).await;
        let path = format!("/threads/{thread}/invitations");
        let code = async |token: &str, principal: &str| {
            let (status, made) =
                server.with(token, Method::POST, &path, json!({"principal": principal})).await;
            assert_eq!(status, 200, "{made}");
            made["code"].clone()
        };
        let mut codes = vec![code(&eve, "eve0").await];
        let done = match throw {
            "revoked" => {
                server.as_operator(Method::POST, &format!("/tokens/{id}/revoke"), json!({})).await
            }
            _ => {
                codes.push(code(&server.key, "eve").await);
                let uninvite =
                    json!({"type": "control", "content": {"uninvite": {"participant_id": "eve"}}});
                server
                    .as_operator(Method::POST, &format!("/threads/{thread}/events"), uninvite)
                    .await
            }
        };
        assert_eq!(done.0, 200, "{}", done.1);
        let attempts = codes.into_iter().map(|code| Attempt {
            effect: "coming back",
            token: None,
            method: Method::POST,
            path: "/invitations/accept".into(),
            body: json!({"code": code}),
        });
        wrong.extend(stand.let_through(attempts.collect()).await);
    }
    wrong
}

/// A caller with an unknown process starts a program.
async fn spending() -> Vec<String> {
    use moothall_engine::access::{AccessDenial, AccessError, Caller, Scope};
    use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post};
    use moothall_kernel::participant::{AgentFacts, Profile, Runtime};

    let stand = Stand::set(Mode::Local).await;
    let hall = &stand.server.hall;
    let thread = stand.thread.as_str().into();
    let facts = AgentFacts::of_runtime(Runtime::COMMAND);
    let profile =
        Profile { client: Some("tool".into()), model: Some("m".into()), ..Profile::default() };
    let invite = Control::Invite(Invite::new("tool", profile, facts));
    let by = Actor::human("user");
    let command = ClientCommand::Control { by, controls: vec![invite] };
    hall.submit(&thread, command, None).await.unwrap();
    let unseen = hall.as_(Caller::anonymous(Mode::Local).unseen());
    let by = || Actor::unproven("user");
    let denied = AccessError::Denied(AccessDenial::Proof(Scope::AgentsRun));
    let mut wrong = Vec::new();
    for command in [
        ClientCommand::Post(Post::new(by(), "@tool run")),
        // The harvester's turn follows from the end.
        ClientCommand::CloseGathering { by: by() },
    ] {
        match unseen.permit(&thread, command).await {
            Err(error) if error == denied => {}
            other => wrong.push(format!("spending: {other:?}")),
        }
    }
    wrong
}

#[tokio::test]
async fn authority_is_not_gained_by_another_way_in_token_mode() {
    let wrong = play(Mode::Token).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn authority_is_not_gained_by_another_way_in_local_mode() {
    let wrong = play(Mode::Local).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn what_came_of_invitations_goes_when_it_is_asked_for_after_a_list() {
    let stand = Stand::set(Mode::Token).await;
    let server = &stand.server;
    let scopes = ["threads:read", "threads:write", "participants:invite"];
    let (id, ann) = stand.of(json!({"principal": "ann", "scopes": scopes})).await;
    let path = format!("/threads/{}/invitations", stand.thread);
    let (_, made) =
        server.with(&ann, Method::POST, &path, json!({"principal": "bob", "kind": "agent"})).await;
    let accept = json!({"code": made["code"]});
    let bob = server.unproven(Method::POST, "/invitations/accept", accept).await.1["token"].clone();
    let bob = bob.as_str().unwrap();
    let reads = async |token: &str| {
        let path = format!("/threads/{}/state", stand.thread);
        server.with(token, Method::GET, &path, Value::Null).await.0
    };
    let revoke = async |body: Value| {
        server.as_operator(Method::POST, &format!("/tokens/{id}/revoke"), body).await.1
    };
    let first = revoke(json!({})).await;
    assert_eq!(first["children"][0]["principal"]["id"], "bob", "{first}");
    assert_eq!((reads(&ann).await, reads(bob).await), (401, 200));
    let second = revoke(json!({"with_children": true})).await;
    assert_eq!((second["children"].clone(), reads(bob).await), (json!([]), 401), "{second}");
}
