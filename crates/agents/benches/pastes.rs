//! The cost of delivering one message to ten terminals, beside ten bare pastes without checks; and
//! the cost of idle sessions.
//!
//! Prints numbers without judging them. `cargo bench -p moothall-agents --bench pastes`; needs
//! tmux.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use moothall_agents::terminal::{NoHooks, Program, TmuxHost, Vendor};
use moothall_engine::MemoryLog;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::sessions::{
    Activity, AdoptRequest, Asker, Dialog, HostFault, Key, Launch, Member, NewLink, NewSession,
    Pane, PaneNews, Paste, PasteReport, ProgramOffer, SessionHost, SessionId, View,
};
use moothall_kernel::command::{Actor, ClientCommand as Order, Post};
use moothall_kernel::policy::Policy;
use moothall_terminals::{SessionParts, Sessions};
use moothall_testkit::fake_tui;
use tokio::sync::broadcast;

const TERMINALS: usize = 10;
const IDLE_TERMINALS: usize = 50;
const ROUNDS: usize = 10;
const IDLE_FOR: Duration = Duration::from_secs(60);
/// Duration of a turn of the stand-in; long enough for its work to be seen.
const WORK_MS: &str = "300";
const TEXT: &str = "What do you make of this? Three lines,\nas they are pasted,\nand no more.";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    // Within a terminal this program is the stand-in.
    fake_tui::act();
    if Command::new("tmux").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("tmux is not installed; nothing was measured");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("tmux.sock").to_string_lossy().into_owned();
    let measured = tokio::runtime::Runtime::new()?.block_on(measure(folder.path(), &socket));
    tmux(&socket, &["kill-server"])?;
    measured
}

async fn measure(folder: &Path, socket: &str) -> Result<(), Failure> {
    let host = Arc::new(WatchedHost { host: terminals(folder)?, pasted: Mutex::default() });
    let parts = HallParts {
        store: Store::of(Arc::new(MemoryLog::new())),
        clock: Arc::new(SystemClock),
        registry: Default::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "bench".into(),
    };
    let own = Sessions::new(Some(SessionParts::new(host.clone())));
    let hall = Hall::open_with(parts, Arc::new(own.clone())).await?;
    let mut sessions = Vec::new();
    for _ in 0..IDLE_TERMINALS {
        let new = NewSession {
            client: "fake".into(),
            cwd: folder.into(),
            args: Vec::new(),
            name: None,
            by: Actor::human("user"),
            session: None,
            place: None,
        };
        sessions.push(own.start(new).await?.session.id);
    }
    all_idle(&hall).await?;
    idle(socket).await?;
    let members = sessions[..TERMINALS].iter().map(member).collect();
    let link = NewLink {
        elsewhere: Vec::new(),
        members,
        title: None,
        by: Asker::Actor(Actor::human("user")),
        exchanges_max: None,
    };
    let link = own.link(link).await?.0.id;
    let (mut last, mut floors) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        host.pasted().clear();
        let said = Instant::now();
        hall.submit(&link, Order::Post(Post::new(Actor::human("user"), TEXT)), None).await?;
        until(|| host.pasted().len() == TERMINALS).await?;
        let pasted =
            host.pasted().iter().map(|(_, at)| at.duration_since(said)).max().unwrap_or_default();
        all_idle(&hall).await?;
        let panes: Vec<String> = host.pasted().iter().map(|(pane, _)| pane.id.clone()).collect();
        let floor = bare_pastes(socket, &panes)?;
        clear(socket, &panes)?;
        all_empty(&host).await?;
        all_idle(&hall).await?;
        // The first round only warms up.
        if round > 0 {
            last.push(pasted);
            floors.push(floor);
        }
    }
    println!(
        "one message, said in a link, until the last of {TERMINALS} terminals shows it: {}",
        spread(&mut last)
    );
    println!(
        "the floor, {TERMINALS} times load-buffer and paste-buffer on the same server, a process each: {}",
        spread(&mut floors)
    );
    Ok(())
}

fn terminals(folder: &Path) -> std::io::Result<TmuxHost> {
    let (argv, env) = fake_tui::within("none", &["--quiet", "--work", WORK_MS]);
    let program = Program { env, vendor: Vendor::Claude, ..Program::new(argv) };
    TmuxHost::new(folder, BTreeMap::from([("fake".to_owned(), program)]), Arc::new(NoHooks))
}

fn member(session: &SessionId) -> Member {
    Member {
        session: session.clone(),
        computer: String::new(),
        name: None,
        number: None,
        role: None,
    }
}

/// Measures the CPU time of this process and tmux without activity.
async fn idle(socket: &str) -> std::io::Result<()> {
    let server = tmux(socket, &["display-message", "-p", "#{pid}"])?;
    let (before, own) = (cpu(&server), cpu("self"));
    tokio::time::sleep(IDLE_FOR).await;
    let (tmux_ms, own_ms) = (cpu(&server) - before, cpu("self") - own);
    println!(
        "{IDLE_TERMINALS} idle sessions for a minute: {own_ms} ms of CPU here, {tmux_ms} ms in tmux"
    );
    Ok(())
}

async fn all_idle(hall: &Hall) -> Result<(), Failure> {
    let sessions = hall.sessions()?;
    until(|| {
        sessions
            .list(false)
            .iter()
            .all(|status| status.doing == Activity::Idle && status.waiting == 0)
    })
    .await?;
    Ok(())
}

/// Waits until all composers are empty: before that, further prompts would not be pasted.
async fn all_empty(host: &WatchedHost) -> Result<(), Failure> {
    let panes: Vec<Pane> = host.pasted().iter().map(|(pane, _)| pane.clone()).collect();
    for pane in &panes {
        while host.view(pane, "fake").await?.composer.is_none_or(|text| !text.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    Ok(())
}

/// Checks a condition every few milliseconds, outside of the measured work.
async fn until(holds: impl Fn() -> bool) -> Result<(), tokio::time::error::Elapsed> {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), waiting).await
}

/// Runs `load-buffer` and `paste-buffer` as processes, one after another.
fn bare_pastes(socket: &str, panes: &[String]) -> std::io::Result<Duration> {
    let file = format!("{socket}.text");
    std::fs::write(&file, TEXT)?;
    let started = Instant::now();
    for pane in panes {
        tmux(socket, &["load-buffer", "-b", "bare", &file])?;
        tmux(socket, &["paste-buffer", "-p", "-d", "-b", "bare", "-t", pane])?;
    }
    Ok(started.elapsed())
}

/// Removes the bare pastes: the stand-in deletes one character at a time.
fn clear(socket: &str, panes: &[String]) -> std::io::Result<()> {
    let count = TEXT.chars().count().to_string();
    panes.iter().try_for_each(|pane| {
        tmux(socket, &["send-keys", "-N", &count, "-t", pane, "BSpace"]).map(drop)
    })
}

fn tmux(socket: &str, arguments: &[&str]) -> std::io::Result<String> {
    let output =
        Command::new("tmux").env_remove("TMUX").args(["-S", socket]).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn spread(times: &mut [Duration]) -> String {
    times.sort();
    format!("p50 {:.0?}, max {:.0?}", times[times.len() / 2], times[times.len() - 1])
}

/// Returns the CPU time of a process in milliseconds. Linux counts hundredths of a second.
fn cpu(process: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum::<u64>()
        * 10
}

/// Terminals that record the time of each paste.
struct WatchedHost {
    host: TmuxHost,
    pasted: Mutex<Vec<(Pane, Instant)>>,
}

impl WatchedHost {
    fn pasted(&self) -> std::sync::MutexGuard<'_, Vec<(Pane, Instant)>> {
        self.pasted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionHost for WatchedHost {
    fn programs(&self) -> Vec<ProgramOffer> {
        self.host.programs()
    }
    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault> {
        self.host.start(launch).await
    }
    async fn adopt(&self, adopt: &AdoptRequest) -> Result<Pane, HostFault> {
        self.host.adopt(adopt).await
    }
    async fn watch(
        &self,
        pane: &Pane,
        client: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault> {
        self.host.watch(pane, client).await
    }
    async fn view(&self, pane: &Pane, client: &str) -> Result<View, HostFault> {
        self.host.view(pane, client).await
    }
    async fn paste(
        &self,
        pane: &Pane,
        client: &str,
        paste: &Paste,
    ) -> Result<PasteReport, HostFault> {
        let pasted = self.host.paste(pane, client, paste).await;
        if pasted.is_ok() {
            self.pasted().push((pane.clone(), Instant::now()));
        }
        pasted
    }
    async fn press(&self, pane: &Pane, key: Key) -> Result<(), HostFault> {
        self.host.press(pane, key).await
    }
    async fn choose(
        &self,
        pane: &Pane,
        client: &str,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault> {
        self.host.choose(pane, client, dialog, chosen, text).await
    }
    async fn tail(&self, pane: &Pane, lines: usize) -> Result<String, HostFault> {
        self.host.tail(pane, lines).await
    }
    async fn end(&self, pane: &Pane) -> Result<(), HostFault> {
        self.host.end(pane).await
    }
    async fn attach(&self, pane: &Pane) -> Result<Vec<String>, HostFault> {
        self.host.attach(pane).await
    }
}
