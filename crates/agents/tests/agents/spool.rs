//! The way of reports from a program's hook to the server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use moothall_agents::terminal::hooks::{HookSink, Spool, SpoolFolder, Surroundings, report};
use moothall_engine::sessions::{Hook, HookNews, Permit, ReportOutcome, SessionError, SessionId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

/// Longest wait; only a broken test reaches it.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST: &str = "01980000-0000-7000-8000-000000000001";
const SECOND: &str = "01980000-0000-7000-8000-000000000002";
const NOBODY: &str = "01980000-0000-7000-8000-00000000000f";

/// A listener that stores the reports.
struct Ear {
    heard: mpsc::UnboundedSender<Hook>,
    /// True if it can store consequences.
    disk: watch::Sender<bool>,
    /// A person's answer, once given.
    permit: watch::Sender<Option<Permit>>,
    /// Number of open questions.
    asking: watch::Sender<usize>,
    refuses: Mutex<BTreeMap<String, ReportOutcome>>,
}

struct AskerCount<'a>(&'a watch::Sender<usize>);

impl Drop for AskerCount<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[async_trait]
impl HookSink for Ear {
    async fn handle_report(&self, hook: Hook) -> Result<ReportOutcome, SessionError> {
        if !*self.disk.borrow() {
            return Err(SessionError::Host("the disk is full".into()));
        }
        let heard = self
            .refuses
            .lock()
            .unwrap()
            .get(hook.session.as_str())
            .copied()
            .unwrap_or(ReportOutcome::Yes);
        self.heard.send(hook).unwrap();
        Ok(heard)
    }

    async fn ask(&self, _hook: Hook) -> Permit {
        self.asking.send_modify(|count| *count += 1);
        let _asking = AskerCount(&self.asking);
        let answered =
            self.permit.subscribe().wait_for(Option::is_some).await.map(|permit| (*permit).clone());
        answered.ok().flatten().unwrap()
    }
}

struct World {
    _folder: TempDir,
    root: PathBuf,
    ear: Arc<Ear>,
    heard: mpsc::UnboundedReceiver<Hook>,
}

impl World {
    fn new() -> Self {
        Self::below("spool")
    }

    fn below(path: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, heard) = mpsc::unbounded_channel();
        let ear = Ear {
            heard: sender,
            disk: watch::Sender::new(true),
            permit: watch::Sender::new(None),
            asking: watch::Sender::new(0),
            refuses: Mutex::default(),
        };
        Self { root: folder.path().join(path), _folder: folder, ear: Arc::new(ear), heard }
    }

    fn spool(&self) -> SpoolFolder {
        SpoolFolder::new(&self.root)
    }

    fn sink(&self) -> Arc<dyn HookSink> {
        self.ear.clone()
    }

    /// Starts a reader, which ends with the guard.
    fn reader(&self) -> Reader {
        let (spool, sink) = (Spool::open(self.spool()).unwrap(), self.sink());
        Reader(tokio::spawn(async move { spool.run(sink).await }))
    }

    fn here(&self, session: &str) -> Surroundings {
        let folder = self.spool().of(&SessionId::new(session)).unwrap();
        let variables = BTreeMap::from([
            ("MOOTHALL_SESSION", OsString::from(session)),
            ("MOOTHALL_SESSION_TOKEN", OsString::from("CANARY-token")),
            ("MOOTHALL_SPOOL", folder.into_os_string()),
        ]);
        Surroundings::of(|name| variables.get(name).cloned()).unwrap()
    }

    fn say(&self, session: &str, text: &str) {
        let payload = json!({"session_id": "n", "last_assistant_message": text}).to_string();
        let (answer, kept) =
            report(Some(&self.here(session)), "claude", "Stop", payload.as_bytes());
        assert_eq!(answer, "");
        kept.unwrap();
    }

    async fn next(&mut self) -> (String, String) {
        let hook = tokio::time::timeout(PATIENCE, self.heard.recv())
            .await
            .expect("a report, and none came")
            .unwrap();
        let HookNews::Stopped { text, .. } = hook.news else { panic!("{hook:?}") };
        (hook.session.to_string(), text.unwrap_or_default())
    }

    /// Asks for a permission like a program's hook.
    fn ask(&self, session: &str, payload: Value) -> tokio::task::JoinHandle<String> {
        let here = self.here(session);
        tokio::task::spawn_blocking(move || {
            report(Some(&here), "claude", "PermissionRequest", payload.to_string().as_bytes()).0
        })
    }

    async fn questions(&self, count: usize) {
        let mut asking = self.ear.asking.subscribe();
        tokio::time::timeout(PATIENCE, asking.wait_for(|open| *open == count))
            .await
            .expect("questions")
            .unwrap();
    }

    /// Waits until a session's folder has no report. The listener may store one before its file is
    /// removed.
    async fn empty(&self, session: &str) {
        let sink = self.sink();
        // The call returns once a pass has found the folder empty.
        Spool::open(self.spool()).unwrap().catch_up(&sink).await;
        assert_eq!(files(&self.root.join(session)), Vec::<PathBuf>::new());
    }
}

struct Reader(tokio::task::JoinHandle<()>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Reader {
    async fn end(mut self) {
        self.0.abort();
        let _ = (&mut self.0).await;
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn bash() -> Value {
    json!({"session_id": "n", "tool_name": "Bash", "tool_input": {"command": "ls"}})
}

#[tokio::test]
async fn reports_arrive_in_order_and_are_gone_when_they_are_kept() {
    let mut world = World::new();
    for text in ["one", "two"] {
        world.say(FIRST, text);
    }
    let waiting = files(&world.root.join(FIRST));
    assert_eq!(waiting.len(), 2);
    assert_eq!(fs::metadata(&waiting[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let reader = world.reader();
    for text in ["one", "two"] {
        assert_eq!(world.next().await, (FIRST.into(), text.into()));
    }
    // Each hook notifies from here on.
    for number in 0..20 {
        world.say(FIRST, &number.to_string());
    }
    for number in 0..20 {
        assert_eq!(world.next().await.1, number.to_string());
    }
    reader.end().await;
    world.empty(FIRST).await;
    assert_eq!(files(&world.root.join("refused")), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn what_cannot_be_kept_waits_and_holds_up_no_other_session() {
    let mut world = World::new();
    let sink = world.sink();
    world.ear.disk.send_replace(false);
    world.say(FIRST, "one");
    world.say(FIRST, "two");
    let spool = Spool::open(world.spool()).unwrap();
    spool.catch_up(&sink).await;
    assert_eq!(files(&world.root.join(FIRST)).len(), 2);
    world.ear.disk.send_replace(true);
    world.say(SECOND, "other");
    spool.catch_up(&sink).await;
    let mut all = [world.next().await, world.next().await, world.next().await];
    all.sort();
    assert_eq!(all.map(|(_, text)| text), ["one", "two", "other"]);
}

#[tokio::test]
async fn what_is_not_believed_is_put_aside() {
    let mut world = World::new();
    world.ear.refuses.lock().unwrap().extend([
        (SECOND.to_owned(), ReportOutcome::Forged),
        (NOBODY.to_owned(), ReportOutcome::Unknown),
    ]);
    world.say(SECOND, "forged");
    world.say(NOBODY, "late");
    world.say(FIRST, "true");
    let (_, kept) = report(Some(&world.here(FIRST)), "claude", "Stop", b"no JSON at all");
    kept.unwrap();
    fs::write(world.root.join(FIRST).join("settings.json"), "{}").unwrap();
    fs::write(
        world.root.join(FIRST).join("01980000-0000-7000-8000-0000000000ff.json"),
        "half a fi",
    )
    .unwrap();
    let sink = world.sink();
    Spool::open(world.spool()).unwrap().catch_up(&sink).await;
    let mut heard = [world.next().await.1, world.next().await.1, world.next().await.1];
    heard.sort();
    assert_eq!(heard, ["forged", "late", "true"]);
    assert_eq!(files(&world.root.join(FIRST)), [world.root.join(FIRST).join("settings.json")]);
    assert_eq!(files(&world.root.join("refused")).len(), 4);
}

#[tokio::test]
async fn not_more_than_so_many_are_kept_aside() {
    let world = World::new();
    world.ear.refuses.lock().unwrap().insert(NOBODY.to_owned(), ReportOutcome::Unknown);
    (0..110).for_each(|number| world.say(NOBODY, &number.to_string()));
    let sink = world.sink();
    Spool::open(world.spool()).unwrap().catch_up(&sink).await;
    let aside = files(&world.root.join("refused"));
    assert_eq!(aside.len(), 100);
    assert!(fs::read_to_string(&aside[0]).unwrap().contains(r#"\"10\""#), "the oldest were let go");
}

#[tokio::test]
async fn an_answer_reaches_the_program_that_waits_for_it() {
    let world = World::new();
    let _reader = world.reader();
    let asked = world.ask(FIRST, bash());
    world.questions(1).await;
    world.ear.permit.send_replace(Some(Permit::Deny));
    let answer: Value = serde_json::from_str(&asked.await.unwrap()).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["decision"]["behavior"], "deny");
    world.questions(0).await;
    world.ear.permit.send_replace(Some(Permit::Undecided));
    assert_eq!(world.ask(FIRST, bash()).await.unwrap(), "");
}

#[tokio::test]
async fn a_question_outlives_a_restart_of_the_server() {
    let world = World::new();
    let reader = world.reader();
    let asked = world.ask(FIRST, bash());
    world.questions(1).await;
    reader.end().await;
    world.questions(0).await;
    let _reader = world.reader();
    world.questions(1).await;
    world.ear.permit.send_replace(Some(Permit::Allow));
    assert!(asked.await.unwrap().contains(r#""behavior":"allow""#));
}

#[tokio::test]
async fn the_use_of_a_tool_is_told_once_and_kept_nowhere() {
    let mut world = World::new();
    let here = world.here(FIRST);
    let used = |event| {
        report(Some(&here), "claude", event, bash().to_string().as_bytes()).1.unwrap();
    };
    used("PreToolUse");
    let reader = world.reader();
    used("PostToolUse");
    let hook = tokio::time::timeout(PATIENCE, world.heard.recv()).await.unwrap().unwrap();
    assert_eq!(hook.news, HookNews::Uses(None), "the use before the server's start is not kept");
    used("PreToolUse");
    let hook = tokio::time::timeout(PATIENCE, world.heard.recv()).await.unwrap().unwrap();
    let HookNews::Uses(Some(tool)) = hook.news else { panic!("{hook:?}") };
    assert_eq!(tool.tool.as_deref(), Some("Bash"));
    // A report that must not be lost does not pass.
    let note = json!({"id": NOBODY, "session": FIRST, "token": "t", "program": "claude", "event": "Stop",
        "payload": "{}"});
    let mut line = std::os::unix::net::UnixStream::connect(world.root.join("bell")).unwrap();
    std::io::Write::write_all(&mut line, format!("{}\n", json!({"passing": note})).as_bytes())
        .unwrap();
    world.say(FIRST, "the end");
    assert_eq!(world.next().await.1, "the end");
    reader.end().await;
}

#[tokio::test]
async fn without_a_server_nobody_waits() {
    let world = World::new();
    assert_eq!(world.ask(FIRST, bash()).await.unwrap(), "");
}

#[tokio::test]
async fn a_question_that_a_yes_does_not_answer_is_left_to_the_person_there() {
    let mut world = World::new();
    let _reader = world.reader();
    let payload =
        json!({"session_id": "n", "tool_name": "AskUserQuestion", "tool_input": {"questions": []}});
    assert_eq!(world.ask(FIRST, payload).await.unwrap(), "");
    assert_eq!(world.ask(FIRST, json!("no object")).await.unwrap(), "");
    let hook = tokio::time::timeout(PATIENCE, world.heard.recv()).await.unwrap().unwrap();
    assert!(matches!(hook.news, HookNews::Asks(_)), "{hook:?}");
}

#[tokio::test]
async fn a_program_that_waits_no_longer_takes_its_question_back() {
    use std::io::Write;
    let world = World::new();
    let _reader = world.reader();
    let mut hook = std::os::unix::net::UnixStream::connect(world.root.join("bell")).unwrap();
    let note = json!({"id": NOBODY, "session": FIRST, "token": "t", "program": "claude", "event": "PermissionRequest",
        "payload": bash().to_string()});
    writeln!(hook, "{}", json!({"ask": note})).unwrap();
    world.questions(1).await;
    drop(hook);
    world.questions(0).await;
}

#[tokio::test]
async fn a_spool_may_lie_deeper_than_a_socket_can() {
    let mut world = World::below(&format!("{}/spool", "deep".repeat(30)));
    let _reader = world.reader();
    world.say(FIRST, "heard");
    assert_eq!(world.next().await.1, "heard");
    world.ear.permit.send_replace(Some(Permit::Allow));
    assert!(world.ask(FIRST, bash()).await.unwrap().contains("allow"));
}

#[tokio::test]
async fn the_record_of_gemini_is_read_while_it_waits() {
    let mut world = World::new();
    let record = world.root.with_file_name("record.jsonl");
    let lines = [
        r#"lf of a line that was cut"}"#,
        r#"{"type": "gemini", "content": "Of the turn before."}"#,
        r#"{"type": "user", "content": [{"text": "Say it."}]}"#,
        r#"{"type": "gemini", "content": "It is\nsaid."}"#,
        r#"{"type": "user", "content": [{"functionResponse": {"name": "look"}}]}"#,
        r#"{"$set": {"summary": "said"}}"#,
    ];
    let answers = |lines: &[&str]| {
        fs::write(&record, lines.join("\n")).unwrap();
        let payload = json!({"session_id": "g", "transcript_path": record, "prompt_response": "It is\nsaid. is\n said. "});
        let (answer, kept) = report(
            Some(&world.here(FIRST)),
            "gemini",
            "AfterAgent",
            payload.to_string().as_bytes(),
        );
        kept.unwrap();
        assert_eq!(answer, "{}");
    };
    answers(&lines);
    answers(&lines[..3]);
    let _reader = world.reader();
    assert_eq!(world.next().await.1, "It is\nsaid.");
    assert_eq!(
        world.next().await.1,
        "It is\nsaid. is\n said. ",
        "nothing is recorded of this turn"
    );
}

#[test]
fn outside_of_a_session_nothing_is_reported() {
    assert!(Surroundings::of(|_| None).is_none());
    assert!(Surroundings::of(|_| Some("relative".into())).is_none());
    assert_eq!(report(None, "gemini", "AfterAgent", b"{}").0, "{}");
    assert_eq!(report(None, "claude", "Stop", b"{}").0, "");
}
