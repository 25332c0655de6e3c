//! Sessions, links and permissions from the command line, with in-memory terminals. Other tests
//! cover real terminals.

use std::process::Output;
use std::sync::Arc;

use moothall_engine::MemoryLog;
use moothall_engine::access::{Secret, TokenKind};
use moothall_engine::hall::{Hall, HallParts, Update};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::sessions::{Hook, HookNews, Permit, ReportedQuestion, SessionId};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::policy::Policy;
use moothall_surfaces::{HttpOptions, serve};
use moothall_terminals::{SessionParts, Sessions};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::{Home, PATIENCE, stderr};
use crate::stage::FakeHost;

/// A server in this process, and its command line.
struct House {
    home: Home,
    url: String,
    /// Start-up credential.
    key: String,
    hall: Hall,
    sessions: Sessions,
    stage: Arc<FakeHost>,
}

impl House {
    async fn open() -> Self {
        let stage = Arc::<FakeHost>::default();
        let parts = HallParts {
            store: Store::of(Arc::new(MemoryLog::new())),
            clock: Arc::new(SystemClock),
            registry: Default::default(),
            defaults: Policy::default(),
            budgets: Default::default(),
            owner: "test".into(),
        };
        let sessions = Sessions::new(Some(SessionParts::new(stage.clone())));
        let hall = Hall::open_with(parts, Arc::new(sessions.clone())).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let secret = Secret::fresh(TokenKind::Startup).unwrap();
        let key = secret.reveal().to_owned();
        let options = HttpOptions { startup: Some(secret), ..HttpOptions::new(address) };
        tokio::spawn(serve(listener, hall.clone(), options, std::future::pending()));
        Self { home: Home::new(), url: format!("http://{address}"), key, hall, sessions, stage }
    }

    /// Runs a command, inside a session if a token is given; otherwise as the server's operator.
    fn run(&self, token: Option<&str>, args: &[&str]) -> Output {
        let mut command = self.home.command(args);
        match token {
            Some(token) => {
                command.env("MOOTHALL_URL", &self.url).env("MOOTHALL_SESSION_TOKEN", token)
            }
            None => command.env("MOOTHALL_SERVER", &self.url).env("MOOTHALL_TOKEN", &self.key),
        };
        tokio::task::block_in_place(|| command.output().unwrap())
    }

    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(None, args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["--json"]].concat())).unwrap()
    }

    /// Makes planner ask a question about its last prompt in a thread. Returns planner's token, and
    /// a handle of the answer.
    async fn question(&self, id: &str, thread: &str) -> (String, JoinHandle<Permit>) {
        let mut heard = self.hall.subscribe(&SessionId::new(thread)).await.unwrap().updates;
        let prompt = tokio::time::timeout(PATIENCE, self.stage.taken(0)).await.unwrap();
        let token = self.stage.token("planner");
        let hook = |hook: &str, news: HookNews| Hook {
            id: hook.into(),
            session: SessionId::new(id),
            token: token.clone(),
            native: None,
            news,
        };
        self.sessions.handle_report(hook("1", HookNews::Prompt { text: prompt })).await.unwrap();
        let asks = hook("2", HookNews::Asks(ReportedQuestion::new("rm -r build", false)));
        let sessions = self.sessions.clone();
        let asked = tokio::spawn(async move { sessions.ask(asks).await });
        let is_question =
            |event: &RecordedEvent| matches!(event.event, Event::PermissionRequested { .. });
        let question = async {
            loop {
                if let Update::Events(batch) = heard.recv().await.unwrap()
                    && batch.iter().any(is_question)
                {
                    return;
                }
            }
        };
        tokio::time::timeout(PATIENCE, question).await.unwrap();
        (token, asked)
    }

    /// Starts a session; returns its id.
    fn session(&self, name: &str) -> String {
        self.json(&["run", "demo", "--name", name])["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_run_told_something_and_ended() {
    let house = House::open().await;
    let id = house
        .ok(&["run", "demo", "--name", "planner", "--detach", "--", "--quick"])
        .trim()
        .to_owned();
    let launched = house.stage.launched();
    assert_eq!(
        (launched.args, launched.cwd),
        (vec!["--quick".to_owned()], house.home.path().canonicalize().unwrap())
    );
    assert!(house.ok(&["sessions"]).contains("planner"));
    assert_eq!(house.json(&["sessions"])["sessions"][0]["id"], json!(id));
    house.ok(&["send", "planner", "Make", "a plan."]);
    let prompt = tokio::time::timeout(PATIENCE, house.stage.taken(0)).await.unwrap();
    assert!(prompt.contains("Make a plan."), "{prompt}");
    assert!(
        house.ok(&["tail", "planner", "--no-follow"]).contains("Make a plan."),
        "its home is found by its name"
    );
    let why = house.ok(&["why", "planner"]);
    assert!(
        why.lines().any(|line| line.contains("planner") && line.contains("  told "))
            && !why.contains("link"),
        "{why}"
    );
    assert_eq!(
        house.json(&["why", "planner"])["messages"][0]["turns"][0]["why"],
        "link",
        "programs read the word of the API"
    );
    assert_eq!(house.json(&["attach", "planner"])["argv"], json!(["look-at", "%0"]));
    let blind = house.run(None, &["attach", "planner"]);
    assert!(
        blind.status.code() == Some(1) && stderr(&blind).contains("--json"),
        "{}",
        stderr(&blind)
    );
    house.ok(&["interrupt", "planner"]);
    assert_eq!(house.json(&["end", "planner"])["session"]["state"], "ended");
    assert_eq!(house.json(&["sessions"])["sessions"], json!([]));
    assert_eq!(house.json(&["sessions", "--ended"])["sessions"][0]["id"], json!(id));
    let over = house.run(None, &["send", &id, "Hello?"]);
    assert!(
        over.status.code() == Some(1) && stderr(&over).contains("session_ended"),
        "{}",
        stderr(&over)
    );
    let unknown = house.run(None, &["run", "nothing"]);
    assert!(
        unknown.status.code() == Some(1) && stderr(&unknown).contains("demo"),
        "{}",
        stderr(&unknown)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_linked_and_talk_from_inside() {
    let house = House::open().await;
    house.session("ann");
    house.session("ben");
    house.session("cal");
    let endless = house.run(None, &["link", "ann", "ben", "--exchanges", "201"]);
    assert!(endless.status.code() == Some(2) && stderr(&endless).contains("1..=200"));
    let made = house.json(&["link", "ann", "ben", "cal", "--title", "All", "--exchanges", "7"]);
    assert_eq!((&made["link_state"], &made["link"]["title"]), (&json!("created"), &json!("All")));
    let token = house.stage.token("ann");
    let sent = house.run(Some(&token), &["send", "ben", "Shall we?", "--direct", "--json"]);
    let sent: Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(sent["link_state"], "created");
    assert!(house.ok(&["link", "list", "--session", "ben"]).contains("ann"));
    assert_eq!(house.json(&["link", "list"])["links"].as_array().unwrap().len(), 2);
    let closed = house.run(Some(&token), &["send", "ben", "--close-link", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&closed.stdout).unwrap()["link_state"], "closed");
    assert_eq!(
        house.json(&["link", "close", made["link"]["id"].as_str().unwrap()])["link_state"],
        "closed"
    );
    assert_eq!(house.json(&["link", "list"])["links"], json!([]));
    // Talking to a session without a shared conversation requires a person's consent.
    house.session("dan");
    let apart = house.run(Some(&token), &["send", "dan", "Are you there?"]);
    assert!(
        apart.status.success() && stderr(&apart).contains("a person is asked"),
        "{}",
        stderr(&apart)
    );
    let outside = house.run(None, &["send", "ben", "x", "--direct"]);
    assert!(
        outside.status.code() == Some(77) && stderr(&outside).contains("moothall link"),
        "{}",
        stderr(&outside)
    );
    let forged = house.run(Some("ses_forged"), &["send", "ben", "x"]);
    assert!(
        forged.status.code() == Some(77) && stderr(&forged).contains("unauthenticated"),
        "{}",
        stderr(&forged)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_what_a_program_asks() {
    let house = House::open().await;
    let id = house.session("planner");
    assert!(house.ok(&["permit", "planner"]).is_empty());
    assert_eq!(house.json(&["permit"]), json!({"threads": []}));
    house.ok(&["send", "planner", "Clean up."]);
    let (token, asked) = house.question(&id, &id).await;
    let listed = house.json(&["permit", "planner"])["permissions"][0].clone();
    assert_eq!(house.json(&["permit"])["threads"][0]["permissions"], json!([listed]), "anywhere");
    assert_eq!(
        (&listed["action"], &listed["options"]),
        (
            &json!("rm -r build"),
            &json!([
                {"id": "allow", "label": "allow", "kind": "allow_once"},
                {"id": "deny", "label": "deny", "kind": "reject_once"},
                {"id": "deny-because", "label": "Deny, and say why", "kind": "reject_once", "takes_text": true},
            ])
        )
    );
    for (args, word) in [
        (["permit", "planner", "maybe", "--as", "user"], "unknown_option"),
        (["permit", "planner", "allow", "--as", "planner"], "humans_only"),
        (["permit", "planner", "allow", "--number", "9999"], "permission request 9999 is not open"),
    ] {
        let refused = house.run(None, &args);
        assert!(
            !refused.status.success() && stderr(&refused).contains(word),
            "{}",
            stderr(&refused)
        );
    }
    let by_program = house.run(Some(&token), &["permit", "planner", "allow"]);
    assert!(
        by_program.status.code() == Some(77) && stderr(&by_program).contains("forbidden"),
        "{}",
        stderr(&by_program)
    );
    house.ok(&["permit", "planner", "deny"]);
    assert_eq!(tokio::time::timeout(PATIENCE, asked).await.unwrap().unwrap(), Permit::Deny);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_s_question_is_found_by_its_name_wherever_it_stands() {
    let house = House::open().await;
    let id = house.session("planner");
    let thread = house.ok(&["new", "Elsewhere"]).trim().to_owned();
    let seat = json!({"type": "control", "from": "user", "content": {"invite": {"participant_id": "helper", "profile": {"session": "planner"}}}});
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let posted = http
        .post(format!("{}/threads/{thread}/events", house.url))
        .bearer_auth(&house.key)
        .json(&seat)
        .send()
        .await
        .unwrap();
    assert_eq!(posted.status(), 200, "{}", posted.text().await.unwrap());
    house.ok(&["say", &thread, "@helper clean up"]);
    let (_, asked) = house.question(&id, &thread).await;
    let listed = house.json(&["permit", "planner"])["permissions"][0].clone();
    assert_eq!((&listed["thread"], &listed["action"]), (&json!(thread), &json!("rm -r build")));
    // The asking agent is `helper` here. Neither a conversation nor a session has that name.
    for words in
        [&["permit"][..], &["permit", "planner"], &["permit", "helper"], &["permit", &thread]]
    {
        let shown = house.ok(words);
        assert!(
            shown.contains("helper") && shown.contains(" s  ") && shown.contains(" --number "),
            "{words:?}: {shown}"
        );
    }
    let output = house.ok(&["tail", &thread, "--no-follow"]);
    let hint = output.lines().find(|line| line.contains("moothall permit ")).unwrap();
    let (typed, _) = hint.trim().split_once('#').unwrap();
    house.ok(&typed.split_whitespace().skip(1).collect::<Vec<_>>());
    assert_eq!(tokio::time::timeout(PATIENCE, asked).await.unwrap().unwrap(), Permit::Allow);
}
