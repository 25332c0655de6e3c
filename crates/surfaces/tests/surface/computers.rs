//! Other computers: the right to pair them, its record, and words that name a session of one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use moothall_engine::computers::{
    ComputerDirectory, ComputerError, ComputerPlace, ComputerState, ComputerStatus,
    ComputersStatus, JoinOutcome, NewComputer, PairedComputer, PostPersistence, PostStatus,
    RemoteAnswer, RemoteQuestion, RemoteRefusal, RemoteRefusalKind, RemoteSession, RemoteWords,
};
use moothall_engine::ports::Upkeep;
use moothall_kernel::ids::ComputerId;
use moothall_kernel::time::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

/// A laptop that is paired with a workstation and a server.
#[derive(Default)]
struct Laptop {
    /// True after a restore.
    off: AtomicBool,
    /// Number of requests that reached it.
    requests: AtomicUsize,
}

#[async_trait]
impl ComputerDirectory for Laptop {
    fn place_of(&self, name: &str) -> Option<ComputerPlace> {
        match name {
            "laptop" => Some(ComputerPlace::Here),
            "workstation" => Some(ComputerPlace::Elsewhere(workstation())),
            _ => None,
        }
    }

    fn own(&self) -> Option<PairedComputer> {
        Some(PairedComputer { id: ComputerId::new("own"), name: "laptop".into() })
    }

    fn with_id(&self, id: &ComputerId) -> Option<PairedComputer> {
        Some(workstation()).filter(|workstation| workstation.id == *id)
    }

    fn paired(&self) -> Vec<PairedComputer> {
        let away = PairedComputer { id: ComputerId::new("away"), name: "server".into() };
        vec![away, workstation()]
    }

    fn presence(&self, _: &PairedComputer) -> (ComputerState, Option<Timestamp>) {
        (ComputerState::Away, Some(Timestamp::default()))
    }

    fn must_be_on(&self) -> Result<(), ComputerError> {
        if self.off.load(Ordering::Relaxed) { Err(ComputerError::Off) } else { Ok(()) }
    }

    async fn resume(&self) -> Result<bool, ComputerError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Ok(self.off.swap(false, Ordering::Relaxed))
    }

    async fn ask(
        &self,
        computer: &PairedComputer,
        question: RemoteQuestion,
    ) -> Result<RemoteAnswer, ComputerError> {
        self.must_be_on()?;
        if computer.name == "server" {
            return Err(ComputerError::Away { name: "server".into(), since: None });
        }
        let session = RemoteSession {
            id: "ses_far".into(),
            name: "builder".into(),
            client: "demo".into(),
            state: "idle".into(),
            waiting: 0,
            origin: "started".into(),
            started_at: Timestamp::default(),
        };
        match question {
            RemoteQuestion::Find { session: word, .. } if word == "gone" => {
                Err(ComputerError::Refused {
                    name: "workstation".into(),
                    refusal: RemoteRefusal {
                        kind: RemoteRefusalKind::SessionNotFound,
                        message: "session gone was not found".into(),
                    },
                })
            }
            RemoteQuestion::Propose(_) => {
                Ok(RemoteAnswer::Linked { stream: "link".into(), created: true })
            }
            RemoteQuestion::List | RemoteQuestion::Find { .. } => {
                Ok(RemoteAnswer::Sessions(vec![session]))
            }
            RemoteQuestion::Read(read) if read.session == "gone" => Err(ComputerError::Refused {
                name: "workstation".into(),
                refusal: RemoteRefusal {
                    kind: RemoteRefusalKind::SessionNotFound,
                    message: "session gone was not found".into(),
                },
            }),
            RemoteQuestion::Read(read) => Ok(RemoteAnswer::Words(RemoteWords {
                session,
                // The computer has words for the owner alone.
                text: if read.reader == "user" { "user: hello".into() } else { String::new() },
                truncated: false,
                tail_chars: 2_000,
            })),
        }
    }

    async fn computers(&self) -> ComputersStatus {
        let post = PostStatus {
            address: "redis://host".into(),
            fault: None,
            round_trip: None,
            eviction: None,
            persistence: Some(PostPersistence::Nothing),
            cure: None,
        };
        let status = |id: &str, name: &str, state, is_this| ComputerStatus {
            name: name.into(),
            id: id.into(),
            is_this,
            state,
            version: None,
            seen_at: None,
            clock_ahead: None,
            cure: None,
            owed_to: 3,
            owed_by: Some(2),
            sessions: None,
        };
        let computers = vec![
            status("own", "laptop", ComputerState::Up, true),
            status("away", "server", ComputerState::Away, false),
            status("far", "workstation", ComputerState::Up, false),
        ];
        ComputersStatus { computers, post: Some(post) }
    }

    async fn invite(&self, _: NewComputer) -> Result<String, ComputerError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Ok("moothall-join-1:secret".into())
    }

    fn name_in(&self, line: &str) -> Result<String, ComputerError> {
        match line {
            "good" => Ok("workstation".into()),
            _ => Err(ComputerError::BadLine("it is not a line".into())),
        }
    }

    async fn join(&self, line: &str, _: NewComputer) -> Result<JoinOutcome, ComputerError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        match line {
            "good" => Ok(JoinOutcome::Paired { computer: "workstation".into() }),
            _ => Err(ComputerError::BadLine("it was used".into())),
        }
    }

    async fn forget(&self, name: &str) -> Result<bool, ComputerError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Ok(name == "workstation")
    }
}

fn workstation() -> PairedComputer {
    PairedComputer { id: ComputerId::new("far"), name: "workstation".into() }
}

/// Serves the laptop, as long as the returned directory lives.
fn serve(server: &Server) -> Arc<Laptop> {
    let laptop = Arc::new(Laptop::default());
    let directory: Arc<dyn ComputerDirectory> = laptop.clone();
    server.hall.serve_computers(Arc::downgrade(&directory));
    laptop
}

#[tokio::test]
async fn a_word_with_a_computer_means_the_session_there() {
    let (server, _stage) = Server::with_terminals().await;
    let body = json!({"client": "demo", "name": "planner", "cwd": std::env::temp_dir()});
    let (_, session) = server.post("/sessions", body).await;
    let code = async |word: &str| {
        let (status, answer) = server.get(&format!("/sessions/{word}")).await;
        (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned(), answer)
    };
    assert_eq!(code("planner@laptop").await.1, "invalid_session", "there are no computers");
    let _laptop = serve(&server);
    assert_eq!(code("planner@laptop").await.2["id"], session["id"]);
    let (status, elsewhere, answer) = code("planner@workstation").await;
    assert_eq!((status, elsewhere.as_str()), (409, "elsewhere"), "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("ssh workstation moothall attach planner"), "{message}");
    let (status, unknown, answer) = code("planner@nowhere").await;
    assert_eq!((status, unknown.as_str()), (422, "invalid_session"), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("nowhere"), "{answer}");
    // All ways to a session read its word in one place.
    let sent =
        server.post("/sessions/planner@workstation/messages", json!({"message": "hi"})).await;
    assert_eq!((sent.0, &sent.1["delivered_to"]), (200, &json!(["planner@workstation"])));
    assert_eq!(sent.1["away"]["name"], "workstation", "it is kept until the computer is there");
    let members = json!([{"session": "planner"}, {"session": "builder@workstation"}]);
    // The workstation makes the link, but the session here never joins it.
    let linked = server.post("/links", json!({"members": members})).await;
    assert_eq!((linked.0, &linked.1["error"]["code"]), (503, &json!("away")), "{linked:?}");
    let gone = json!([{"session": "planner"}, {"session": "gone@workstation"}]);
    let refused = server.post("/links", json!({"members": gone})).await;
    assert_eq!((refused.0, &refused.1["error"]["code"]), (404, &json!("session_not_found")));
}

#[tokio::test]
async fn people_alone_invite_sessions_of_other_computers_and_under_their_names() {
    let (server, stage) = Server::with_terminals().await;
    let body = json!({"client": "demo", "name": "planner", "cwd": std::env::temp_dir()});
    server.post("/sessions", body).await;
    let _laptop = serve(&server);
    let (_, made) = server.post("/threads", json!({"name": "talk"})).await;
    let thread = made["id"].as_str().unwrap();
    let path = format!("/threads/{thread}/events");
    let invite = |id: Option<&str>, word: &str| {
        let invite = json!({"participant_id": id, "profile": {"session": word}});
        json!({"type": "control", "from": "user", "to": "all", "content": {"invite": invite}})
    };
    let (status, invited) = server.post(&path, invite(None, "builder@workstation")).await;
    assert_eq!(status, 200, "{invited}");
    let state = server.state(thread).await;
    let member = state["participants"]["invited"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&member["id"], &member["full_name"]),
        (&json!("builder.workstation"), &json!("builder@workstation"))
    );
    // A session here with the other name would speak as that participant.
    let (status, refused) =
        server.post(&path, invite(Some("planner"), "builder@workstation")).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid_session")), "{refused}");
    let (status, gone) = server.post(&path, invite(None, "gone@workstation")).await;
    assert_eq!((status, &gone["error"]["code"]), (404, &json!("session_not_found")), "{gone}");
    // To an agent, one that exists is like one that does not.
    let wanted = json!({"principal": "critic", "kind": "agent", "scopes": ["sessions:drive", "threads:write"]});
    let (_, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    for token in [made["token"].as_str().unwrap(), stage.token("planner").as_str()] {
        for word in ["builder@workstation", "gone@workstation"] {
            let (status, answer) =
                server.with(token, Method::POST, &path, invite(None, word)).await;
            assert!(matches!(status, 403 | 404), "{word}: {answer}");
            let members = json!([{"session": "planner"}, {"session": word}]);
            let link = json!({"members": members});
            let (status, answer) = server.with(token, Method::POST, "/links", link).await;
            assert!(matches!(status, 403 | 404), "{word}: {answer}");
            assert_ne!(answer["error"]["code"], "session_not_found", "{word}: {answer}");
        }
    }
}

#[tokio::test]
async fn sessions_of_other_computers_are_listed_and_read_by_asking_them() {
    let (server, stage) = Server::with_terminals().await;
    let body = json!({"client": "demo", "name": "planner", "cwd": std::env::temp_dir()});
    server.post("/sessions", body).await;
    let _laptop = serve(&server);
    let names = |list: &Value| -> Vec<String> {
        let all = list["sessions"].as_array().unwrap().iter();
        let name = |one: &Value| format!("{}@{}", one["name"], one["computer"]).replace('"', "");
        all.map(name).collect()
    };
    let list = async |query: &str| server.get(&format!("/sessions{query}")).await;
    assert_eq!(names(&list("").await.1), ["planner@null"]);
    assert_eq!(names(&list("?computer=laptop").await.1), ["planner@null"]);
    let there = list("?computer=workstation").await.1;
    assert_eq!(names(&there), ["builder@workstation"]);
    assert_eq!(there["sessions"][0]["cwd"], "", "folders stay there");
    let all = list("?computer=all").await.1;
    assert_eq!(names(&all), ["planner@null", "builder@workstation"]);
    assert_eq!(all["silent"][0]["name"], "server");
    assert!(all["silent"][0]["reason"].as_str().unwrap().contains("server is away"), "{all}");
    let (status, unknown) = list("?computer=nowhere").await;
    assert_eq!((status, &unknown["error"]["code"]), (422, &json!("invalid_session")));

    let data = async |word: &str| server.get(&format!("/sessions/{word}/data")).await;
    let (_, read) = data("builder@workstation").await;
    assert_eq!(
        (&read["text"], &read["session"]["computer"]),
        (&json!("user: hello"), &json!("workstation"))
    );
    let (status, gone) = data("gone@workstation").await;
    assert_eq!((status, &gone["error"]["code"]), (404, &json!("session_not_found")));
    let (status, away) = data("builder@server").await;
    assert_eq!((status, &away["error"]["code"]), (422, &json!("invalid_session")), "{away}");

    // An agent with a token has met none of them either, and no person is asked for it.
    let wanted = json!({"principal": "critic", "kind": "agent", "scopes": ["sessions:drive"]});
    let (_, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    let agent = made["token"].as_str().unwrap();
    for to in ["builder@workstation", "planner"] {
        let path = format!("/sessions/{to}/messages");
        let (status, refused) =
            server.with(agent, Method::POST, &path, json!({"message": "hi"})).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{refused}");
    }

    // A session that has met none of them learns nothing.
    let token = stage.token("planner");
    let by_session = async |path: &str| server.with(&token, Method::GET, path, json!(null)).await;
    assert_eq!(names(&by_session("/sessions?computer=all").await.1), ["planner@null"]);
    let (status, unseen) = by_session("/sessions/builder@workstation/data").await;
    assert_eq!((status, &unseen["error"]["code"]), (404, &json!("session_not_found")), "{unseen}");
}

#[tokio::test]
async fn computers_are_paired_by_operators_alone_and_it_is_recorded() {
    let server = Server::start().await;
    let (_, none) = server.as_operator(Method::GET, "/computers", json!(null)).await;
    assert_eq!(none, json!({"computers": [], "post": null}));
    let absent = server.as_operator(Method::POST, "/computers/invitations", json!({})).await;
    assert_eq!((absent.0, &absent.1["error"]["code"]), (409, &json!("no_computers")));
    let _laptop = serve(&server);
    let pairing: [(Method, &str, Value); 3] = [
        (Method::POST, "/computers/invitations", json!({"redis": "redis://:secret@host"})),
        (Method::POST, "/computers/join", json!({"line": "good"})),
        (Method::DELETE, "/computers/workstation", json!(null)),
    ];
    for (method, path, body) in pairing {
        let (status, refused) = server.unproven(method.clone(), path, body.clone()).await;
        assert!(matches!(status, 401 | 403), "{path}: {refused}");
        let (status, answer) = server.as_operator(method, path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
    }
    let used = server.as_operator(Method::POST, "/computers/join", json!({"line": "used"})).await;
    assert_eq!((used.0, &used.1["error"]["code"]), (422, &json!("bad_line")));
    // The address of the post is for operators.
    let (_, list) = server.unproven(Method::GET, "/computers", json!(null)).await;
    assert_eq!(list["post"], json!(null));
    let (_, list) = server.as_operator(Method::GET, "/computers", json!(null)).await;
    assert_eq!(list["post"]["address"], "redis://host");
    assert_eq!(list["post"]["persistence"], "nothing");
    let (_, audit) = server.as_operator(Method::GET, "/audit?limit=20", json!(null)).await;
    let rows = audit["rows"].as_array().unwrap().iter().filter_map(|row| row["deed"].as_str());
    let rows: Vec<&str> = rows.filter(|deed| deed.starts_with("computer_")).collect();
    assert_eq!(rows, ["computer_forgotten", "computer_paired", "computer_invited"]);
    assert!(!audit.to_string().contains("secret"), "{audit}");
}

#[tokio::test]
async fn nothing_happens_to_the_pairs_that_cannot_be_recorded() {
    let server = Server::start().await;
    let laptop = serve(&server);
    server.log.close().await.unwrap();
    let requests: [(Method, &str, Value); 4] = [
        (Method::POST, "/computers/invitations", json!({"redis": "redis://host"})),
        (Method::POST, "/computers/join", json!({"line": "good"})),
        (Method::DELETE, "/computers/workstation", json!(null)),
        (Method::POST, "/computers/resume", json!({})),
    ];
    for (method, path, body) in requests {
        laptop.off.store(path.ends_with("resume"), Ordering::Relaxed);
        let (status, answer) = server.as_operator(method, path, body).await;
        assert!(status >= 500 && answer["error"]["code"] != "computers_off", "{path}: {answer}");
    }
    assert_eq!(laptop.requests.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_list_has_what_is_owed_and_the_number_of_sessions() {
    let (server, stage) = Server::with_terminals().await;
    let body = json!({"client": "demo", "name": "planner", "cwd": std::env::temp_dir()});
    server.post("/sessions", body).await;
    let _laptop = serve(&server);
    let sessions = |list: &Value| -> Vec<Value> {
        let all = list["computers"].as_array().unwrap().iter();
        all.map(|one| one["sessions"].clone()).collect()
    };
    let (_, list) = server.get("/computers").await;
    // One that is away is not asked.
    assert_eq!(sessions(&list), [json!(1), json!(null), json!(1)], "{list}");
    let owed = &list["computers"][2];
    assert_eq!((&owed["owed_to"], &owed["owed_by"]), (&json!(3), &json!(2)));
    // A session that has met none of them learns nothing.
    let token = stage.token("planner");
    let (status, refused) = server.with(&token, Method::GET, "/computers", json!(null)).await;
    assert_eq!(status, 403, "{refused}");
}

#[tokio::test]
async fn computers_that_are_off_are_told_with_the_way_forward_and_resumed_by_operators() {
    let (server, _stage) = Server::with_terminals().await;
    let body = json!({"client": "demo", "name": "planner", "cwd": std::env::temp_dir()});
    server.post("/sessions", body).await;
    let laptop = serve(&server);
    laptop.off.store(true, Ordering::Relaxed);
    let (_, made) = server.post("/threads", json!({"name": "talk"})).await;
    let thread = format!("/threads/{}/events", made["id"].as_str().unwrap());
    let members = json!([{"session": "planner"}, {"session": "builder@workstation"}]);
    let content = json!({"invite": {"profile": {"session": "builder@workstation"}}});
    let invite = json!({"type": "control", "from": "user", "to": "all", "content": content});
    let wanted = [
        ("/sessions/builder@workstation/messages", json!({"message": "hi"})),
        ("/links", json!({"members": members})),
        (thread.as_str(), invite),
    ];
    for (path, body) in wanted.clone() {
        let (status, off) = server.post(path, body).await;
        assert_eq!((status, &off["error"]["code"]), (503, &json!("computers_off")), "{path}");
        let message = off["error"]["message"].as_str().unwrap();
        assert!(message.contains("moothall computers resume"), "{message}");
    }
    let (_, list) = server.get("/sessions?computer=all").await;
    let reason = list["silent"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("moothall computers resume"), "{list}");

    let (status, refused) = server.unproven(Method::POST, "/computers/resume", json!({})).await;
    assert!(matches!(status, 401 | 403), "{refused}");
    for resumed in [true, false] {
        let answer = server.as_operator(Method::POST, "/computers/resume", json!({})).await;
        assert_eq!(answer, (200, json!({"resumed": resumed})));
    }
    let (_, sent) = server.post(wanted[0].0, wanted[0].1.clone()).await;
    assert_eq!(sent["delivered_to"], json!(["builder@workstation"]), "{sent}");
    let (_, audit) = server.as_operator(Method::GET, "/audit?limit=20", json!(null)).await;
    let rows = audit["rows"].as_array().unwrap().iter();
    let resumed = rows.filter(|row| row["deed"] == "computers_resumed").count();
    assert_eq!(resumed, 1, "only what was done is recorded: {audit}");
}
