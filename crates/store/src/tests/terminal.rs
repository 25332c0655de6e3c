//! Cost of a turn in a terminal: the number of disk syncs from its start to its reply.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Deliveries, DeliveryState, Store, SystemClock};
use moothall_engine::registry::Registry;
use moothall_engine::sessions::{
    AdoptRequest, Dialog, Hook, HookNews, HostFault, Key, Launch, NewSession, Pane, PaneNews,
    PaneState, Paste, PasteReport, Picture, ProgramOffer, Reports, SessionHost, SessionId, View,
};
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_terminals::{SessionParts, Sessions};
use tokio::sync::{broadcast, watch};

use crate::SqliteLog;

/// A terminal whose program accepts typed text and prints nothing by itself.
struct Terminal {
    composer: Mutex<String>,
    taken: watch::Sender<Option<String>>,
    token: Mutex<String>,
    news: broadcast::Sender<PaneNews>,
}

impl Terminal {
    fn new() -> Arc<Self> {
        let (composer, token) = <_>::default();
        Arc::new(Self {
            composer,
            taken: watch::channel(None).0,
            token,
            news: broadcast::channel(16).0,
        })
    }
}

#[async_trait]
impl SessionHost for Terminal {
    fn programs(&self) -> Vec<ProgramOffer> {
        vec![ProgramOffer { client: "claude".into(), ..ProgramOffer::default() }]
    }
    fn reports(&self, _client: &str) -> Reports {
        Reports::ALL
    }
    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault> {
        self.token.lock().unwrap().clone_from(&launch.env["MOOTHALL_SESSION_TOKEN"]);
        Ok(Pane { socket: String::new(), id: "%1".into(), pid: 1, server: String::new() })
    }
    async fn adopt(&self, _adopt: &AdoptRequest) -> Result<Pane, HostFault> {
        Err(HostFault::Gone("there is none".into()))
    }
    async fn watch(
        &self,
        _pane: &Pane,
        _client: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault> {
        Ok(self.news.subscribe())
    }
    async fn view(&self, _pane: &Pane, _client: &str) -> Result<View, HostFault> {
        let state = if self.taken.borrow().is_some() { PaneState::Busy } else { PaneState::Idle };
        Ok(View {
            state,
            composer: Some(self.composer.lock().unwrap().clone()),
            dialog: None,
            text: String::new(),
            picture: Picture::default(),
        })
    }
    async fn paste(&self, _: &Pane, _: &str, paste: &Paste) -> Result<PasteReport, HostFault> {
        self.composer.lock().unwrap().push_str(&paste.text);
        Ok(PasteReport::default())
    }
    async fn press(&self, _pane: &Pane, _key: Key) -> Result<(), HostFault> {
        let text = std::mem::take(&mut *self.composer.lock().unwrap());
        self.taken.send_replace(Some(text));
        Ok(())
    }
    async fn choose(
        &self,
        _pane: &Pane,
        _client: &str,
        _dialog: &Dialog,
        _chosen: &[usize],
        _text: Option<&str>,
    ) -> Result<(), HostFault> {
        Err(HostFault::Refused("nothing is asked".into()))
    }
    async fn tail(&self, _pane: &Pane, _lines: usize) -> Result<String, HostFault> {
        Ok(String::new())
    }
    async fn end(&self, _pane: &Pane) -> Result<(), HostFault> {
        Ok(())
    }
    async fn attach(&self, _pane: &Pane) -> Result<Vec<String>, HostFault> {
        Ok(Vec::new())
    }
}

/// Runs a turn of the session, from a person's message to the program's answer. Returns the number
/// of syncs from the commit of its start to that of its reply, both included.
async fn turn(
    hall: &Hall,
    sessions: &Sessions,
    terminal: &Terminal,
    log: &SqliteLog,
    home: &SessionId,
    number: usize,
) -> u64 {
    let mut taken = terminal.taken.subscribe();
    hall.submit(home, ClientCommand::Post(Post::new(Actor::human("user"), "hello")), None)
        .await
        .unwrap();
    let before = log.synced();
    let prompt = taken.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    let report = async |id: &str, news: HookNews| {
        let token = terminal.token.lock().unwrap().clone();
        let hook = Hook {
            id: format!("{id}-{number}"),
            session: home.clone(),
            token,
            native: Some("own".into()),
            news,
        };
        sessions.handle_report(hook).await.unwrap();
    };
    report("prompt", HookNews::Prompt { text: prompt }).await;
    report(
        "stop",
        HookNews::Stopped { text: Some("hello back".into()), inputs: None, interrupted: false },
    )
    .await;
    let waited = log.synced() - before;
    terminal.taken.send_replace(None);
    answers(hall, home, number).await;
    waited
}

async fn answers(hall: &Hall, home: &StreamId, wanted: usize) {
    let events = hall.read(home, Seq(0), None).await.unwrap().events;
    let said = events.iter().filter(
        |recorded| matches!(&recorded.event, Event::Posted(posted) if posted.body == "hello back"),
    );
    assert_eq!(said.count(), wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_in_a_terminal_waits_for_the_disk_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let (log, terminal) = (Arc::new(SqliteLog::open(folder.path()).unwrap()), Terminal::new());
    let parts = HallParts {
        store: Store::of(log.clone()),
        clock: Arc::new(SystemClock),
        registry: Registry::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "test".into(),
    };
    let sessions = Sessions::new(Some(SessionParts::new(terminal.clone())));
    let hall = Hall::open_with(parts, Arc::new(sessions.clone())).await.unwrap();
    let new = NewSession {
        client: "claude".into(),
        cwd: "/".into(),
        args: Vec::new(),
        name: None,
        by: Actor::human("user"),
        session: None,
        place: None,
    };
    let home = sessions.start(new).await.unwrap().session.id;
    // The first turn also stores the program's own id.
    turn(&hall, &sessions, &terminal, &log, &home, 1).await;
    for number in 2..5 {
        let waited = turn(&hall, &sessions, &terminal, &log, &home, number).await;
        assert!(
            waited <= 3,
            "its start, that it is about to be typed, and its reply; not {waited}"
        );
    }
    let rows = log.of_stream(&home).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [DeliveryState::Done; 4]);
}
