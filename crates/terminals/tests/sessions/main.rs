//! Sessions: typing into terminals, and delivery of the answers. The terminals are in-memory fakes;
//! end-to-end tests use real ones.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use moothall_engine::MemoryLog;
use moothall_engine::hall::{Hall, HallError, HallParts, Idempotency};
use moothall_engine::ports::{Clock, Deliveries, DeliveryState, Store};
use moothall_engine::registry::Registry;
use moothall_engine::sessions::{
    AdoptRequest, Asker, Dialog, Hook, HookNews, HostFault, Key, LastWords, Launch, LinkState,
    Member, Message, NewLink, NewSession, Pane, PaneNews, PaneState, Paste, PasteReport, Permit,
    Picture, ProgramOffer, ReportOutcome, ReportedQuestion, Reports, ResumeArgs, SendResult,
    SessionError, SessionHost, SessionId, View,
};
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::{Event, Outcome, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use moothall_terminals::{SessionParts, Sessions};
use tokio::sync::broadcast;
use tokio::time::Instant;

mod convene;
mod links;
mod questions;
mod reach;
mod resume;
mod time;
mod faults;
mod turns;
mod unread;

/// In-memory terminals, each with a program that takes typed prompts and answers on request.
#[derive(Default)]
struct Bench {
    screens: Mutex<BTreeMap<String, Screen>>,
    /// True while the terminals are unreachable.
    away: AtomicBool,
    /// Number of failed attempts to watch a terminal.
    tries: AtomicUsize,
    /// True if typing fails.
    broken: AtomicBool,
    /// True if dialogs change between a look and a key.
    hasty: AtomicBool,
    /// The kinds of reports that programs send.
    reports: Mutex<Reports>,
    /// Sessions that the host was told to forget.
    forgotten: Mutex<Vec<String>>,
    /// Arguments of the started programs.
    args: Mutex<Vec<Vec<String>>>,
    /// The last words of programs.
    last: Mutex<Option<String>>,
    /// True if the earlier terminals are lost.
    lost: AtomicBool,
    /// The outcome of starts, by program name.
    fates: Mutex<BTreeMap<String, Fate>>,
}

/// The outcome of a start.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// The start fails.
    Fails,
    /// The start never finishes.
    Hangs,
}

struct Screen {
    state: PaneState,
    /// The text above the composer.
    drawn: String,
    composer: String,
    taken: Vec<String>,
    escapes: usize,
    dialog: Option<Dialog>,
    /// The chosen options, each after the action of its dialog.
    chosen: Vec<String>,
    /// True if the program ignores Enter.
    stuck: bool,
    token: String,
    news: broadcast::Sender<PaneNews>,
}

impl Bench {
    fn with<T>(&self, pane: &str, change: impl FnOnce(&mut Screen) -> T) -> T {
        change(self.screens.lock().unwrap().get_mut(pane).unwrap())
    }

    fn reach(&self) -> Result<(), HostFault> {
        if self.away.load(Relaxed) {
            Err(HostFault::Unavailable("the connection was lost".into()))
        } else {
            Ok(())
        }
    }

    /// Cuts the connection, which fails until the terminals are reachable again.
    fn go_away(&self, pane: &str) {
        self.away.store(true, Relaxed);
        self.with(pane, |screen| screen.news = broadcast::channel(64).0);
    }

    fn show(&self, pane: &str, state: PaneState) {
        self.with(pane, |screen| {
            screen.state = state;
            let _ = screen.news.send(PaneNews::Drawn);
        });
    }
}

#[async_trait]
impl SessionHost for Bench {
    fn programs(&self) -> Vec<ProgramOffer> {
        vec![ProgramOffer { client: "claude".into(), ..ProgramOffer::default() }]
    }
    fn reports(&self, _client: &str) -> Reports {
        *self.reports.lock().unwrap()
    }
    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault> {
        let fate = self.fates.lock().unwrap().get(&launch.name).copied();
        match fate {
            Some(Fate::Fails) => return Err(HostFault::Failed("it fell over".into())),
            Some(Fate::Hangs) => std::future::pending().await,
            None => {}
        }
        self.args.lock().unwrap().push(launch.args.clone());
        let id = launch.session.to_string();
        let token = launch.env["MOOTHALL_SESSION_TOKEN"].clone();
        let news = broadcast::channel(64).0;
        let (drawn, composer, taken, chosen) =
            (String::new(), String::new(), Vec::new(), Vec::new());
        let screen = Screen {
            state: PaneState::Idle,
            drawn,
            composer,
            taken,
            escapes: 0,
            dialog: None,
            chosen,
            stuck: false,
            token,
            news,
        };
        self.screens.lock().unwrap().insert(id.clone(), screen);
        Ok(Pane { socket: String::new(), id, pid: 1, server: String::new() })
    }
    async fn adopt(&self, _adopt: &AdoptRequest) -> Result<Pane, HostFault> {
        Err(HostFault::Gone("there is none".into()))
    }
    async fn watch(
        &self,
        pane: &Pane,
        _client: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault> {
        if let Err(fault) = self.reach() {
            self.tries.fetch_add(1, Relaxed);
            return Err(fault);
        }
        Ok(self.with(&pane.id, |screen| screen.news.subscribe()))
    }
    async fn view(&self, pane: &Pane, _client: &str) -> Result<View, HostFault> {
        self.reach()?;
        Ok(self.with(&pane.id, |screen| View {
            state: screen.state,
            composer: Some(screen.composer.clone()),
            dialog: screen.dialog.clone().filter(|_| screen.state == PaneState::Asking),
            text: format!("{}{}", screen.drawn, screen.composer),
            picture: Picture::default(),
        }))
    }
    async fn paste(&self, pane: &Pane, _: &str, paste: &Paste) -> Result<PasteReport, HostFault> {
        if self.broken.load(Relaxed) {
            return Err(HostFault::Failed("it did not take the paste".into()));
        }
        self.with(&pane.id, |screen| screen.composer.push_str(&paste.text));
        Ok(PasteReport::default())
    }
    async fn press(&self, pane: &Pane, key: Key) -> Result<(), HostFault> {
        self.with(&pane.id, |screen| match key {
            Key::Enter if screen.stuck => Err(HostFault::Failed("It does not take it.".into())),
            Key::Enter => {
                let text = std::mem::take(&mut screen.composer);
                screen.taken.push(text);
                screen.state = PaneState::Busy;
                Ok(())
            }
            Key::Escape => {
                screen.escapes += 1;
                Ok(())
            }
        })
    }
    async fn choose(
        &self,
        pane: &Pane,
        _client: &str,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault> {
        let hasty = self.hasty.load(Relaxed);
        let stands = |state: PaneState, shown: &Dialog| {
            !hasty && state == PaneState::Asking && shown.is_same(dialog)
        };
        self.with(&pane.id, |screen| {
            match screen.dialog.take_if(|shown| stands(screen.state, shown)) {
                Some(shown) => {
                    let words = text.map(|text| format!(" {text}")).unwrap_or_default();
                    let labels: Vec<_> =
                        chosen.iter().map(|at| shown.options[*at].label.as_str()).collect();
                    let labels = labels.join(" + ");
                    screen.chosen.push(format!("{}: {labels}{words}", shown.action));
                    screen.state = PaneState::Busy;
                    Ok(())
                }
                None => Err(HostFault::Refused("something else stands there".into())),
            }
        })
    }
    async fn tail(&self, pane: &Pane, _lines: usize) -> Result<String, HostFault> {
        self.reach()?;
        Ok(self.with(&pane.id, |screen| screen.taken.join("\n") + &screen.composer))
    }
    async fn end(&self, pane: &Pane) -> Result<(), HostFault> {
        self.show(&pane.id, PaneState::Gone);
        Ok(())
    }
    async fn last_words(&self, _pane: &Pane) -> Option<LastWords> {
        let how = self.last.lock().unwrap().clone()?;
        Some(LastWords { how, shown: String::new() })
    }
    fn has_forgotten(&self, _client: &str, words: &str) -> bool {
        words.contains("who?")
    }
    async fn is_lost(&self, _pane: &Pane) -> bool {
        self.lost.load(Relaxed)
    }
    fn resume_args(&self, _client: &str, args: &[String], native: Option<&str>) -> ResumeArgs {
        let own = native.into_iter().flat_map(|native| ["--resume".to_owned(), native.to_owned()]);
        let args = args.iter().cloned().chain(own).collect();
        ResumeArgs { args, resumes: native.is_some(), left_out: Vec::new() }
    }
    async fn forget(&self, session: &SessionId) {
        self.forgotten.lock().unwrap().push(session.to_string());
    }
    async fn attach(&self, _pane: &Pane) -> Result<Vec<String>, HostFault> {
        Ok(vec!["true".into()])
    }
}

struct Room {
    log: Arc<MemoryLog>,
    bench: Arc<Bench>,
    hall: Hall,
    sessions: Sessions,
    clock: Arc<TestClock>,
    hooks: Mutex<u32>,
}

impl Room {
    async fn new() -> Self {
        Self::with(Registry::default()).await
    }

    async fn with(registry: Registry) -> Self {
        let (log, bench) = (
            Arc::new(MemoryLog::new()),
            Arc::new(Bench { reports: Mutex::new(Reports::ALL), ..Bench::default() }),
        );
        let clock = TestClock::new();
        let (hall, sessions) = open(&log, &bench, &clock, registry).await;
        Self { log, bench, hall, sessions, clock, hooks: Mutex::new(0) }
    }

    /// Restarts the server with the same log and terminals.
    async fn restart(&mut self) {
        (self.hall, self.sessions) =
            open(&self.log, &self.bench, &self.clock, Registry::default()).await;
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn new_session(&self) -> NewSession {
        NewSession {
            client: "claude".into(),
            cwd: "/".into(),
            args: Vec::new(),
            name: None,
            by: Actor::human("user"),
            session: None,
            place: None,
        }
    }

    async fn start(&self) -> SessionId {
        self.sessions().start(self.new_session()).await.unwrap().session.id
    }

    async fn hook(&self, session: &SessionId, news: HookNews) -> ReportOutcome {
        let token = self.bench.with(session.as_str(), |screen| screen.token.clone());
        let id = {
            let mut hooks = self.hooks.lock().unwrap();
            *hooks += 1;
            format!("hook-{hooks}")
        };
        self.sessions()
            .handle_report(Hook {
                id,
                session: session.clone(),
                token,
                native: Some(format!("native-{session}")),
                news,
            })
            .await
            .unwrap()
    }

    fn taken(&self, session: &SessionId) -> Vec<String> {
        self.bench.with(session.as_str(), |screen| screen.taken.clone())
    }

    /// Waits until `count` prompts were sent, and reports that the program took the last one.
    async fn takes(&self, session: &SessionId, count: usize) -> String {
        let taken =
            eventually(async || Some(self.taken(session)).filter(|taken| taken.len() >= count))
                .await;
        assert_eq!(taken.len(), count, "{taken:?}");
        let prompt = taken[count - 1].clone();
        self.hook(session, HookNews::Prompt { text: prompt.clone() }).await;
        prompt
    }

    async fn types(&self, session: &SessionId, text: &str) {
        self.hook(session, HookNews::Prompt { text: text.into() }).await;
    }

    async fn says(&self, session: &SessionId, text: &str) {
        let text = Some(text.to_owned()).filter(|text| !text.is_empty());
        self.bench.show(session.as_str(), PaneState::Idle);
        self.hook(session, HookNews::Stopped { text, inputs: None, interrupted: false }).await;
    }

    async fn send(&self, from: &SessionId, to: &SessionId, text: &str, direct: bool) -> SendResult {
        let message = Message {
            from: Asker::Session(from.clone()),
            to: to.clone(),
            text: text.into(),
            direct,
            close_link: false,
        };
        self.sessions().send(message).await.unwrap()
    }

    async fn said(&self, stream: &StreamId) -> Vec<(String, String)> {
        self.hall
            .read(stream, moothall_kernel::ids::Seq(0), None)
            .await
            .unwrap()
            .events
            .iter()
            .filter_map(words)
            .collect()
    }
}

async fn open(
    log: &Arc<MemoryLog>,
    bench: &Arc<Bench>,
    clock: &Arc<TestClock>,
    registry: Registry,
) -> (Hall, Sessions) {
    let defaults = Policy::default();
    let parts = HallParts {
        store: Store::of(log.clone()),
        clock: clock.clone(),
        registry,
        defaults,
        budgets: Default::default(),
        owner: "test".into(),
    };
    let sessions = Sessions::new(Some(SessionParts::new(bench.clone())));
    (Hall::open_with(parts, Arc::new(sessions.clone())).await.unwrap(), sessions)
}

/// The hall's clock, driven by Tokio's paused time.
struct TestClock(Instant);

impl TestClock {
    fn new() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_763_000_000_000 + self.0.elapsed().as_millis() as i64)
    }
}

/// Polls until there is an answer, within a limit that only a broken test reaches.
async fn eventually<T>(ask: impl AsyncFn() -> Option<T>) -> T {
    let patience = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(3600), patience)
        .await
        .expect("it never came about")
}

fn post(body: &str) -> ClientCommand {
    ClientCommand::Post(Post::new(Actor::human("user"), body))
}

fn words(recorded: &RecordedEvent) -> Option<(String, String)> {
    match &recorded.event {
        Event::Posted(posted) => Some((posted.from.to_string(), posted.body.clone())),
        _ => None,
    }
}

fn has(events: &[RecordedEvent], wanted: impl Fn(&Event) -> bool) -> bool {
    events.iter().any(|recorded| wanted(&recorded.event))
}

fn pair(from: &str, text: &str) -> (String, String) {
    (from.to_owned(), text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_persons_words_and_the_answer_cross_the_link_once_and_checkpoints_do_not() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let sent = room.send(&a, &b, "shall we?", true).await;
    assert_eq!(sent.state, LinkState::Created);
    let link = sent.link.unwrap();
    let first = room.takes(&b, 1).await;
    let expected = "You are claude-2 (2) in a link with claude (1).";
    assert!(first.starts_with(expected) && first.contains("\n\nclaude (1):\n\n"), "{first}");
    room.says(&b, "yes").await;
    room.takes(&a, 1).await;
    room.says(&a, "").await;
    room.types(&a, "look at main.rs").await;
    room.says(&a, "looked").await;
    room.types(&a, "[Checkpoint] go on if needed").await;
    room.says(&a, "nothing to do").await;
    assert_eq!(
        room.said(&link).await,
        [
            pair("claude", "shall we?"),
            pair("claude-2", "yes"),
            pair("user", "look at main.rs"),
            pair("claude", "looked")
        ]
    );
    assert!(
        room.takes(&b, 2)
            .await
            .starts_with("User (typed at claude's terminal):\n\nlook at main.rs\n\n[moothall:")
    );
    room.says(&b, "").await;
    assert!(room.takes(&b, 3).await.starts_with("claude (1):\n\nlooked\n\n[moothall:"));
}

#[tokio::test(start_paused = true)]
async fn a_worker_tells_its_caller_once_and_not_over_a_link() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    assert_eq!(room.send(&a, &b, "please do it", false).await.state, LinkState::None);
    room.takes(&b, 1).await;
    room.says(&b, "done").await;
    let notice = room.takes(&a, 1).await;
    assert!(
        notice.contains("\"claude-2\" finished its turn. Use get_session_data(session_id="),
        "{notice}"
    );
    room.says(&a, "").await;
    room.send(&a, &b, "and more", false).await;
    room.takes(&b, 2).await;
    assert_eq!(room.send(&a, &b, "talk to me", true).await.state, LinkState::Created);
    room.says(&b, "more is done").await;
    room.takes(&b, 3).await;
    room.says(&b, "hello").await;
    let heard = room.takes(&a, 2).await;
    assert!(heard.contains("\n\nclaude-2 (2):\n\nhello\n"), "{heard}");
}

#[tokio::test(start_paused = true)]
async fn a_permission_is_answered_by_a_person_and_reaches_the_program() {
    let room = Arc::new(Room::new().await);
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    room.takes(&a, 1).await;
    let token = room.bench.with(a.as_str(), |screen| screen.token.clone());
    let news = HookNews::Asks(ReportedQuestion::new("Bash: rm -rf build", false));
    let hook = Hook { id: "p".into(), session: a.clone(), token, native: None, news };
    let asking = tokio::spawn({
        let room = room.clone();
        async move { room.sessions().ask(hook).await }
    });
    let asked = eventually(async || {
        let events = room.hall.read(&a, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
        events.iter().find_map(|recorded| match &recorded.event {
            Event::PermissionRequested { permission, action, .. }
                if action == "Bash: rm -rf build" =>
            {
                Some(permission.clone())
            }
            _ => None,
        })
    })
    .await;
    let answer = |by: Actor| moothall_kernel::command::ClientCommand::AnswerPermission {
        permission: asked.clone(),
        option: "allow".into(),
        text: None,
        by,
    };
    let own = Actor::named(ParticipantId::new("claude"));
    assert!(room.hall.submit(&a, answer(own), None).await.is_err(), "an agent never answers");
    room.hall.submit(&a, answer(Actor::human("user")), None).await.unwrap();
    assert_eq!(asking.await.unwrap(), Permit::Allow);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_leaves_its_links_and_its_turns_end() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&a, &b, "hello", true).await.link.unwrap();
    room.takes(&b, 1).await;
    room.sessions().end(&b, &Actor::human("user")).await.unwrap();
    eventually(async || (!room.sessions().link_of(&link).await.unwrap().active).then_some(()))
        .await;
    assert_eq!(room.sessions().links(Some(&a)).await.unwrap(), []);
    let again = Message {
        from: Asker::Session(a.clone()),
        to: b.clone(),
        text: "still there?".into(),
        direct: true,
        close_link: false,
    };
    assert!(matches!(room.sessions().send(again).await, Err(SessionError::Ended { .. })));
    assert_eq!(room.taken(&a), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_link_of_three_has_names_numbers_and_roles_and_loses_one_member_at_a_time() {
    let room = Room::new().await;
    let all = [room.start().await, room.start().await, room.start().await];
    let member = |(at, session): (usize, &SessionId)| Member {
        session: session.clone(),
        computer: String::new(),
        name: Some(["Ada", "Bob", "Cy"][at].to_owned()),
        number: Some(at as u32 + 1),
        role: Some("peer".into()),
    };
    let members: Vec<Member> = all.iter().enumerate().map(member).collect();
    let new = NewLink {
        elsewhere: Vec::new(),
        members: members.clone(),
        title: None,
        by: Asker::Actor(Actor::human("user")),
        exchanges_max: None,
    };
    let (link, state) = room.sessions().link(new.clone()).await.unwrap();
    assert_eq!((state, &link.members), (LinkState::Created, &members));
    let backwards = NewLink { members: members.iter().rev().cloned().collect(), ..new };
    assert_eq!(room.sessions().link(backwards).await.unwrap(), (link.clone(), LinkState::Reused));
    room.sessions().end(&all[2], &Actor::human("user")).await.unwrap();
    let left = eventually(async || {
        Some(room.sessions().link_of(&link.id).await.unwrap())
            .filter(|link| link.members.len() == 2)
    })
    .await;
    assert!(left.active);
    let two = link.title.rsplit_once(" ↔ ").unwrap().0;
    eventually(async || {
        (room.sessions().link_of(&link.id).await.unwrap().title == two).then_some(())
    })
    .await;
}
