//! A control client: one connection to a tmux server that carries every command and every
//! notification.
//!
//! A task holds the connection. It connects when first needed, and again after the connection is
//! lost. Commands that waited for an answer fail then: a command that may have been executed is not
//! sent again.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use moothall_engine::sessions::HostFault;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::panes::{Panes, Run};
use super::place::{HUB, TmuxServer, unavailable};
use super::protocol::{ControlEvent, Protocol};
use super::tmux_command::TmuxCommand;

/// Longest wait for an answer, after which the connection is given up and made again.
const ANSWER: Duration = Duration::from_secs(60);

/// Longest wait between attempts to connect.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
const BACKOFF_MIN: Duration = Duration::from_millis(50);

/// Most commands that wait to be sent.
const ASKS_MAX: usize = 256;

/// The command that lists all panes of a server and their state.
const LIST: &str =
    "list-panes -a -F '#{pane_id} #{pane_pid} #{pane_dead} #{window_id} #{session_name}'";

/// Subscribes to the death of panes, which tmux checks once a second. The hook for it is quicker,
/// but waits for the exit of the process, which tmux misses now and then under load.
const DEATHS: &str = "refresh-client -B 'deaths:%*:#{pane_dead}'";

type TmuxReply = Result<Vec<String>, HostFault>;

/// A command, and the receiver of its answer.
struct Ask {
    line: String,
    reply: oneshot::Sender<TmuxReply>,
}

/// The purpose of an answer.
enum AnswerTarget {
    Asker(oneshot::Sender<TmuxReply>),
    /// The list of panes; `missed` is true if notifications may have been lost.
    Census {
        missed: bool,
    },
    Nobody,
}

/// A connection that is made again whenever it is lost.
#[derive(Clone, Debug)]
pub(super) struct Control {
    asks: mpsc::Sender<Ask>,
    pub(super) panes: Arc<Panes>,
}

impl Control {
    /// Makes the connection to a place. It closes when its last handle is dropped.
    pub(super) fn to(place: TmuxServer) -> Self {
        let (asks, asked) = mpsc::channel(ASKS_MAX);
        let panes = Arc::<Panes>::default();
        tokio::spawn(keep(place, panes.clone(), asked));
        Self { asks, panes }
    }

    /// Runs a command.
    ///
    /// # Errors
    /// [`HostFault::Failed`] with tmux's words if it refuses, [`HostFault::Unavailable`] if it
    /// cannot be reached.
    pub(super) async fn run(&self, command: &TmuxCommand) -> TmuxReply {
        let waiting = self.send(command).await?;
        // `serve` gives up a connection only if it is silent. Drawings of other panes may keep it
        // busy, so this wait has a limit too.
        match timeout(ANSWER * 2, waiting).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(lost()),
        }
    }

    /// Sends the second command without a wait for the answer to the first, and then waits for both
    /// answers. A command of another caller may come between the two.
    pub(super) async fn run_both(
        &self,
        first: &TmuxCommand,
        second: &TmuxCommand,
    ) -> Result<(Vec<String>, Vec<String>), HostFault> {
        let first = self.send(first).await?;
        let second = self.run(second).await;
        let first = first.await.map_err(|_| lost())?;
        Ok((first?, second?))
    }

    async fn send(&self, command: &TmuxCommand) -> Result<oneshot::Receiver<TmuxReply>, HostFault> {
        let (reply, waiting) = oneshot::channel();
        self.asks.send(Ask { line: command.line().to_owned(), reply }).await.map_err(|_| lost())?;
        Ok(waiting)
    }
}

fn lost() -> HostFault {
    HostFault::Unavailable("The connection to tmux was lost; try again.".to_owned())
}

/// Makes the connection, and makes it again whenever it is lost, until all its handles are dropped.
/// If tmux cannot be run, or a foreign server does not answer, it tries again only after the next
/// command.
async fn keep(place: TmuxServer, panes: Arc<Panes>, mut asked: mpsc::Receiver<Ask>) {
    let mut backoff = BACKOFF_MIN;
    loop {
        let wanted = match ControlConnection::connect(&place, &panes) {
            Ok(mut line) => {
                if line.serve(&mut asked).await {
                    return;
                }
                line.fail_all();
                if line.greeted {
                    backoff = BACKOFF_MIN;
                }
                match place {
                    // A foreign server must not be started again: if its session has gone, so have
                    // its panes.
                    TmuxServer::Foreign { .. } if !line.greeted => {
                        panes.alive(&BTreeSet::new(), true);
                        refuse_next(&mut asked, lost()).await
                    }
                    TmuxServer::Foreign { .. } | TmuxServer::Own { .. } => {
                        // Commands that were sent before the last handle was dropped are still
                        // carried out.
                        !(asked.is_closed() && asked.is_empty())
                    }
                }
            }
            Err(error) => refuse_next(&mut asked, unavailable(&error)).await,
        };
        if !wanted {
            return;
        }
        sleep(backoff).await;
        backoff = (backoff * 2).min(BACKOFF_MAX);
    }
}

/// Waits for the next command and answers it with the fault, because a connection before that
/// command would fail in the same way. Returns false if no handle is left.
async fn refuse_next(asked: &mut mpsc::Receiver<Ask>, fault: HostFault) -> bool {
    let Some(ask) = asked.recv().await else { return false };
    // The caller may have gone.
    let _ = ask.reply.send(Err(fault));
    true
}

/// One connection, until it is lost.
struct ControlConnection<'a> {
    place: &'a TmuxServer,
    panes: &'a Panes,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The client exits with this connection.
    _child: Child,
    protocol: Protocol,
    awaiting: VecDeque<AnswerTarget>,
    greeted: bool,
}

impl<'a> ControlConnection<'a> {
    /// Starts a tmux client in control mode. It ends when the connection is dropped.
    fn connect(place: &'a TmuxServer, panes: &'a Panes) -> io::Result<Self> {
        let mut child = place.control().spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("its pipes are missing"));
        };
        let stdout = BufReader::with_capacity(1 << 16, stdout);
        let (protocol, awaiting) = (Protocol::default(), VecDeque::new());
        Ok(Self { place, panes, stdin, stdout, _child: child, protocol, awaiting, greeted: false })
    }

    /// Serves the connection. Returns false when it is lost, and true when the last handle was
    /// dropped.
    async fn serve(&mut self, asked: &mut mpsc::Receiver<Ask>) -> bool {
        if self.greet().await.is_err() {
            return false;
        }
        // A partly read line stays in `bytes` if another branch wins, and is completed later.
        let mut bytes = Vec::new();
        loop {
            let silent = sleep(ANSWER);
            tokio::select! {
                read = self.stdout.read_until(b'\n', &mut bytes) => match read {
                    Ok(1..) => {
                        let line = std::mem::take(&mut bytes);
                        if !self.hear(line.strip_suffix(b"\n").unwrap_or(&line)).await {
                            return false;
                        }
                    }
                    Ok(0) | Err(_) => return false,
                },
                ask = asked.recv() => match ask {
                    None => return true,
                    Some(Ask { line, reply }) => {
                        if self.tell(&line, AnswerTarget::Asker(reply)).await.is_err() {
                            return false;
                        }
                    }
                },
                () = silent, if !self.awaiting.is_empty() => return false,
            }
        }
    }

    /// Sends the settings, the subscription and the request for the list of panes, as the first
    /// commands of a connection.
    async fn greet(&mut self) -> io::Result<()> {
        for setting in self.place.settings() {
            self.tell(setting.line(), AnswerTarget::Nobody).await?;
        }
        self.tell(DEATHS, AnswerTarget::Nobody).await?;
        self.tell(LIST, AnswerTarget::Census { missed: true }).await
    }

    /// Sends a command. The target of its answer waits in the queue `awaiting`, since tmux answers
    /// commands in their order.
    async fn tell(&mut self, line: &str, awaiting: AnswerTarget) -> io::Result<()> {
        self.awaiting.push_back(awaiting);
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        self.stdin.flush().await
    }

    /// Handles a line; returns false if the connection cannot be used further.
    async fn hear(&mut self, line: &[u8]) -> bool {
        match self.protocol.line(line) {
            None => true,
            Some(ControlEvent::Drew(pane)) => {
                self.panes.drew(&pane);
                true
            }
            Some(ControlEvent::Answer(answer)) => self.answered(answer).await,
            Some(ControlEvent::Panes) => {
                self.tell(LIST, AnswerTarget::Census { missed: false }).await.is_ok()
            }
            Some(ControlEvent::Confused | ControlEvent::Exit) => false,
        }
    }

    /// Passes an answer to the oldest command without one. From the first answer on, the connection
    /// counts as made. Returns false if the connection cannot be used further, for instance because
    /// no command waits.
    async fn answered(&mut self, answer: Result<Vec<String>, String>) -> bool {
        self.greeted = true;
        match self.awaiting.pop_front() {
            None => false,
            Some(AnswerTarget::Nobody) => true,
            Some(AnswerTarget::Asker(reply)) => {
                // The caller may have gone.
                let _ = reply.send(answer.map_err(HostFault::Failed));
                true
            }
            Some(AnswerTarget::Census { missed }) => {
                self.count(&answer.unwrap_or_default(), missed).await
            }
        }
    }

    /// Drops the panes that are not live in this list of panes. If notifications may have been
    /// missed, the loose windows of this data folder's own tmux server are linked into the hub
    /// again. Returns false if the commands for that cannot be sent.
    async fn count(&mut self, lines: &[String], missed: bool) -> bool {
        let rows: Vec<PaneRow<'_>> = lines.iter().filter_map(|line| PaneRow::of(line)).collect();
        let alive: BTreeSet<Run> = rows.iter().filter(|row| !row.dead).map(PaneRow::run).collect();
        self.panes.alive(&alive, missed);
        match self.place {
            TmuxServer::Own { .. } if missed => self.link(&rows).await.is_ok(),
            TmuxServer::Own { .. } | TmuxServer::Foreign { .. } => true,
        }
    }

    /// Links all windows that are not in the hub into it, because a person may have ended the hub.
    async fn link(&mut self, rows: &[PaneRow<'_>]) -> io::Result<()> {
        let linked: BTreeSet<&str> =
            rows.iter().filter(|row| row.session == HUB).map(|row| row.window).collect();
        let loose: BTreeSet<&str> =
            rows.iter().map(|row| row.window).filter(|window| !linked.contains(window)).collect();
        for window in loose {
            self.tell(link(window).line(), AnswerTarget::Nobody).await?;
        }
        Ok(())
    }

    /// Answers all waiting commands with an error.
    fn fail_all(&mut self) {
        for awaiting in self.awaiting.drain(..) {
            if let AnswerTarget::Asker(reply) = awaiting {
                // The caller may have gone.
                let _ = reply.send(Err(lost()));
            }
        }
    }
}

/// Returns the command that links a window into the hub.
pub(super) fn link(window: &str) -> TmuxCommand {
    TmuxCommand::of("link-window -d").words(["-s", window, "-t", &format!("={HUB}:")])
}

/// A row of the list of panes.
struct PaneRow<'a> {
    pane: &'a str,
    pid: u32,
    dead: bool,
    window: &'a str,
    session: &'a str,
}

impl<'a> PaneRow<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let (pane, pid, dead) = (words.next()?, words.next()?.parse().ok()?, words.next()? == "1");
        Some(Self { pane, pid, dead, window: words.next()?, session: words.next()? })
    }

    fn run(&self) -> Run {
        (self.pane.to_owned(), self.pid)
    }
}
