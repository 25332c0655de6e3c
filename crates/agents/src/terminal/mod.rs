//! Agents in terminals: [`SessionHost`] on tmux.
//!
//! Each data folder has its own tmux server, which outlives Moothall, so that agents continue
//! across a restart. Each agent has its own tmux session, which people can attach to, and its
//! window is linked into one hub. One control client on the hub carries every command and is
//! notified of every drawing, so that polling and a process for each command are not needed.
//!
//! Reading order: [`protocol`] the lines of a control client, [`control`] the connection, [`panes`]
//! notifications about panes, [`screen`] reading a screen, [`typing`] entering text, [`hooks`]
//! reports of the programs themselves.

mod tmux_command;
mod protocol;
mod place;
mod panes;
mod control;
mod program;
mod programs;
mod section;
pub mod screen;
mod hygiene;
mod keystrokes;
mod obeyed;
mod wording;
mod starting;
mod folders;
mod recorded;
mod strays;
mod typing;
mod answering;
pub mod hooks;

pub(crate) use section::RUNTIME;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use moothall_engine::sessions::{
    AdoptRequest, CursorCell, Dialog, FolderEntry, HostFault, Key, Keystroke, LastWords, Launch,
    Pane, PaneNews, PaneState, Paste, PasteReport, Picture, ProgramOffer, Record, RecordQuery,
    Reports, ResumeArgs, SessionHost, SessionId, UnixUser, View,
};
use tokio::sync::broadcast;

use crate::command::{Environment, is_program};
use control::Control;
pub(crate) use obeyed::{Places, as_plain_json, as_plain_words};
use panes::Run;
use place::{HUB, TmuxServer, unavailable};
pub use program::{Injector, NoHooks, ProcessParts, Program};
pub(crate) use programs::{PrintedSpec, PrintedTurn};
pub use programs::{Search, Vendor};
use screen::Screen;
use tmux_command::TmuxCommand;

/// Most lines of history in a tail.
const TAIL_LINES_MAX: usize = 10_000;

/// Terminals on this computer, through tmux.
pub struct TmuxHost {
    own: TmuxServer,
    folder: PathBuf,
    programs: RwLock<Arc<BTreeMap<String, Program>>>,
    injector: Arc<dyn Injector>,
    controls: Mutex<BTreeMap<TmuxServer, Control>>,
    /// The places of the panes on other sockets.
    found: Mutex<BTreeMap<Pane, TmuxServer>>,
}

/// The facts about a pane other than its screen.
struct Facts {
    pid: u32,
    dead: bool,
    columns: u16,
    /// The cell of the cursor, if the program shows one.
    cursor: Option<CursorCell>,
    command: String,
}

/// The format that [`Facts::of`] reads.
const FACTS: &str = "#{pane_pid} #{pane_dead} #{pane_width} #{cursor_flag} #{cursor_y} \
                     #{cursor_x} #{pane_current_command}";

impl TmuxHost {
    /// Makes the terminals of a data folder. `folder` holds the files of pastes, and the socket if
    /// its path is short enough. It is created if missing.
    ///
    /// # Errors
    /// The folder cannot be created with access for its owner only.
    pub fn new(
        folder: &Path,
        programs: BTreeMap<String, Program>,
        injector: Arc<dyn Injector>,
    ) -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let folder = std::path::absolute(folder)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let (controls, found) = (Mutex::default(), Mutex::default());
        let programs = RwLock::new(Arc::new(programs));
        Ok(Self { own: TmuxServer::own(&folder), folder, programs, injector, controls, found })
    }

    /// Replaces the programs that can be started; running ones continue.
    pub fn replace(&self, programs: BTreeMap<String, Program>) {
        *self.programs.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(programs);
    }

    fn known(&self) -> Arc<BTreeMap<String, Program>> {
        self.programs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks that tmux is installed.
    ///
    /// # Errors
    /// [`HostFault::Unavailable`], with what to do.
    pub fn check(&self) -> Result<(), HostFault> {
        match Environment::of(&BTreeMap::new()).find("tmux", Path::new("/")) {
            Some(_) => Ok(()),
            None => Err(unavailable(&std::io::ErrorKind::NotFound.into())),
        }
    }

    fn control(&self, place: &TmuxServer) -> Control {
        let mut controls = self.controls.lock().unwrap_or_else(PoisonError::into_inner);
        controls.entry(place.clone()).or_insert_with(|| Control::to(place.clone())).clone()
    }

    /// Returns the connection to the tmux server of a pane.
    async fn at(&self, pane: &Pane) -> Result<Control, HostFault> {
        if !is_pane_id(&pane.id) {
            return Err(HostFault::Gone(format!("{:?} is not a pane.", pane.id)));
        }
        if pane.socket.is_empty() {
            return Ok(self.control(&self.own));
        }
        let known = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(pane).cloned();
        let place = match known {
            Some(place) => place,
            None => self.look_for(&pane.socket, &pane.id).await?.1,
        };
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(pane.clone(), place.clone());
        Ok(self.control(&place))
    }

    /// Finds a pane on another tmux server, and the session that a control client must attach to.
    /// Runs a separate tmux process for that, because this server is not yet connected to that tmux
    /// server.
    async fn look_for(&self, socket: &str, target: &str) -> Result<(Pane, TmuxServer), HostFault> {
        let arguments = TmuxServer::socket_of(socket);
        let mut command = TmuxServer::tmux(&arguments);
        // `display-message` takes another pane if this one does not exist. The command before it
        // fails then, and ends both.
        command.args(["capture-pane", "-p", "-S", "0", "-E", "0", "-t", target, ";"]);
        command.args(["display-message", "-p", "-t", target]);
        command.arg("#{pane_id} #{pane_pid} #{session_id}");
        let output = command.output().await.map_err(|error| unavailable(&error))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = text.lines().next_back().unwrap_or_default().split_whitespace();
        match (words.next(), words.next().and_then(|pid| pid.parse().ok()), words.next()) {
            (Some(id), Some(pid), Some(session)) if output.status.success() => {
                let pane = Pane {
                    socket: socket.to_owned(),
                    id: id.to_owned(),
                    pid,
                    server: String::new(),
                };
                Ok((pane, TmuxServer::Foreign { socket: arguments, session: session.to_owned() }))
            }
            _ => Err(HostFault::Gone(format!("The tmux socket {socket} has no pane {target}."))),
        }
    }

    fn vendor(&self, client: &str) -> Vendor {
        self.known().get(client).map_or(Vendor::Other, |program| program.vendor)
    }

    /// Returns the view of a pane if it still runs the same process. The check and the screen are
    /// from nearly the same moment.
    async fn look(
        &self,
        control: &Control,
        pane: &Pane,
        vendor: Vendor,
    ) -> Result<View, HostFault> {
        let facts = TmuxCommand::of("display-message -p -t").words([pane.id.as_str(), FACTS]);
        let capture = TmuxCommand::of("capture-pane -p -e -N -t").word(&pane.id);
        let (facts, lines) = match control.run_both(&facts, &capture).await {
            Ok(answers) => answers,
            Err(HostFault::Failed(why)) => {
                return Err(HostFault::Gone(format!("The pane does not exist any more: {why}.")));
            }
            Err(fault) => return Err(fault),
        };
        let Some(facts) = Facts::of(&facts).filter(|facts| facts.pid == pane.pid) else {
            return Err(HostFault::Gone(format!(
                "Pane {} now belongs to another process.",
                pane.id
            )));
        };
        let mut view = Screen { lines, command: facts.command }.read(vendor);
        view.picture.columns = facts.columns;
        view.picture.cursor = facts.cursor;
        if facts.dead {
            view = View { state: PaneState::Gone, composer: None, dialog: None, ..view };
        }
        Ok(view)
    }

    /// Returns the connection to a pane if it still runs the same process; otherwise fails with
    /// [`HostFault::Gone`].
    async fn same(&self, pane: &Pane) -> Result<Control, HostFault> {
        let control = self.at(pane).await?;
        let pid = TmuxCommand::of("display-message -p -t").words([pane.id.as_str(), "#{pane_pid}"]);
        match control.run(&pid).await {
            Ok(lines) if lines.first().is_some_and(|line| *line == pane.pid.to_string()) => {
                Ok(control)
            }
            Ok(_) | Err(HostFault::Failed(_)) => {
                Err(HostFault::Gone(format!("Pane {} does not exist any more.", pane.id)))
            }
            Err(fault) => Err(fault),
        }
    }
}

fn is_pane_id(id: &str) -> bool {
    id.strip_prefix('%').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn run_of(pane: &Pane) -> Run {
    (pane.id.clone(), pane.pid)
}

impl Facts {
    fn of(lines: &[String]) -> Option<Self> {
        let mut words = lines.first()?.splitn(7, ' ');
        let pid = words.next()?.parse().ok()?;
        let dead = words.next()? == "1";
        let columns = words.next()?.parse().unwrap_or_default();
        let is_shown = words.next()? == "1";
        let (line, column) = (words.next()?.parse(), words.next()?.parse());
        let cell = line.ok().zip(column.ok()).map(|(line, column)| CursorCell { line, column });
        let command = words.next().unwrap_or_default().to_owned();
        Some(Self { pid, dead, columns, cursor: cell.filter(|_| is_shown), command })
    }
}

#[async_trait]
impl SessionHost for TmuxHost {
    fn programs(&self) -> Vec<ProgramOffer> {
        self.known().iter().map(|(client, program)| program.offer(client)).collect()
    }

    async fn folders(&self, client: &str, folder: &Path) -> Result<Vec<FolderEntry>, HostFault> {
        let account = self
            .known()
            .get(client)
            .map_or(Ok(None), Program::account)
            .map_err(HostFault::Refused)?;
        folders::list(folder, account.as_ref()).await
    }

    fn reports(&self, client: &str) -> Reports {
        self.known().get(client).map(|program| self.injector.reports(program)).unwrap_or_default()
    }

    /// Returns the configured working folder of a program, or else the home of the user that it
    /// runs as. Without both, a known program works in `room`, and any other in the working folder
    /// of this server. So does a program that is named by a relative path: in `room` the path could
    /// name a file that came with the folder.
    fn home(&self, client: &str, room: Option<&Path>) -> PathBuf {
        let programs = self.known();
        let program = programs.get(client);
        let account = || {
            program
                .and_then(|program| program.account().ok().flatten())
                .map(|account| account.home().to_owned())
        };
        let own = program.and_then(|program| program.cwd.clone()).or_else(account);
        let is_known = |program: &Program| {
            program.vendor != Vendor::Other && !program.is_named_by_a_relative_path()
        };
        let room = || room.filter(|_| program.is_some_and(is_known)).map(Path::to_owned);
        own.or_else(room).unwrap_or_else(|| std::env::current_dir().unwrap_or_default())
    }

    fn runs_as(&self, client: &str) -> Result<Option<UnixUser>, HostFault> {
        let account = self
            .known()
            .get(client)
            .map_or(Ok(None), Program::account)
            .map_err(HostFault::Refused)?;
        Ok(account.map(|account| UnixUser { name: account.name().to_owned(), uid: account.uid() }))
    }

    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault> {
        self.start_program(launch).await
    }

    /// Finds the named pane on another tmux server. Refuses a socket or target that tmux could take
    /// for an option or for several commands.
    async fn adopt(&self, adopt: &AdoptRequest) -> Result<Pane, HostFault> {
        let odd = |text: &str| {
            text.is_empty()
                || text.starts_with('-')
                || text.contains(|c: char| c.is_control() || c == ';')
        };
        if odd(&adopt.socket) || odd(&adopt.target) {
            return Err(HostFault::Refused(
                "Name the tmux socket and the pane, e.g. default and work:0.1.".to_owned(),
            ));
        }
        let (pane, place) = self.look_for(&adopt.socket, &adopt.target).await?;
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(pane.clone(), place);
        Ok(pane)
    }

    async fn watch(
        &self,
        pane: &Pane,
        client: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault> {
        let control = self.same(pane).await?;
        Ok(control.panes.news(&run_of(pane), client))
    }

    /// Returns the screen of a pane. Its state is `Gone` if the pane or its process does not exist
    /// any more. A missing pane on another tmux server is an error if the pane was not used since
    /// the start of this server.
    async fn view(&self, pane: &Pane, client: &str) -> Result<View, HostFault> {
        let control = self.at(pane).await?;
        match self.look(&control, pane, self.vendor(client)).await {
            Err(HostFault::Gone(_)) => Ok(View {
                state: PaneState::Gone,
                composer: None,
                dialog: None,
                text: String::new(),
                picture: Picture::default(),
            }),
            looked => looked,
        }
    }

    async fn paste(
        &self,
        pane: &Pane,
        client: &str,
        paste: &Paste,
    ) -> Result<PasteReport, HostFault> {
        self.paste_text(pane, client, paste).await
    }

    async fn press(&self, pane: &Pane, key: Key) -> Result<(), HostFault> {
        self.press_key(pane, key).await
    }

    async fn choose(
        &self,
        pane: &Pane,
        client: &str,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault> {
        self.choose_options(pane, client, dialog, chosen, text).await
    }

    async fn type_keys(&self, pane: &Pane, keys: &[Keystroke]) -> Result<(), HostFault> {
        self.type_keystrokes(pane, keys).await
    }

    /// Returns the last `lines` lines of a pane, at most `TAIL_LINES_MAX`. Wrapped rows count as
    /// one line; empty lines at the end are left out.
    async fn tail(&self, pane: &Pane, lines: usize) -> Result<String, HostFault> {
        let control = self.same(pane).await?;
        let lines = lines.min(TAIL_LINES_MAX);
        let all = control
            .run(&TmuxCommand::of("capture-pane -p -J").words([
                "-S",
                &format!("-{lines}"),
                "-t",
                &pane.id,
            ]))
            .await?;
        let all: Vec<&str> = all.iter().map(|line| line.trim_end()).collect();
        let end = all.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        // The capture begins `lines` lines up in the history, and also has the rows of the screen.
        Ok(all[end.saturating_sub(lines)..end].join("\n"))
    }

    async fn folder(&self, pane: &Pane) -> Option<PathBuf> {
        self.work_of(&self.at(pane).await.ok()?, pane).await.ok()?
    }

    async fn find_record(&self, pane: &Pane, client: &str, query: &RecordQuery) -> Option<Record> {
        self.look_up(pane, client, query).await
    }

    async fn end(&self, pane: &Pane) -> Result<(), HostFault> {
        self.end_program(pane).await
    }

    fn resume_args(&self, client: &str, args: &[String], native: Option<&str>) -> ResumeArgs {
        match self.vendor(client).table().launch.resuming {
            Some(resuming) => resuming.again(args, native),
            None => ResumeArgs { args: args.to_vec(), ..ResumeArgs::default() },
        }
    }

    fn has_forgotten(&self, client: &str, words: &str) -> bool {
        let resuming = self.vendor(client).table().launch.resuming;
        resuming.is_some_and(|one| one.forgets.iter().any(|beginning| words.contains(beginning)))
    }

    async fn is_lost(&self, pane: &Pane) -> bool {
        let server = self.server().await;
        !pane.server.is_empty() && server.is_ok_and(|now| now != pane.server)
    }

    async fn last_words(&self, pane: &Pane) -> Option<LastWords> {
        self.words_of_the_dead(pane).await.ok()?
    }

    async fn find_left_pane(&self, session: &SessionId) -> Option<Pane> {
        self.left_by_a_crash(session).await
    }

    fn reap(&self, left: Vec<(SessionId, Pane)>) {
        tokio::spawn(strays::reap(left));
    }

    async fn forget(&self, session: &SessionId) {
        let (injector, of) = (self.injector.clone(), session.clone());
        let forgotten = tokio::task::spawn_blocking(move || injector.forget(&of)).await;
        if let Err(error) = forgotten.map_err(std::io::Error::other).flatten() {
            tracing::warn!(%session, %error, "the files of a session's program could not be \
                                              removed");
        }
    }

    /// Returns the tmux command that opens the session of this pane alone.
    async fn attach(&self, pane: &Pane) -> Result<Vec<String>, HostFault> {
        let control = self.same(pane).await?;
        let socket = if pane.socket.is_empty() {
            self.own.socket().clone()
        } else {
            TmuxServer::socket_of(&pane.socket)
        };
        let sessions = control
            .run(&TmuxCommand::of("list-panes -a -F").word("#{pane_id} #{session_name}"))
            .await?;
        let mut of_pane =
            sessions.iter().filter_map(|line| line.strip_prefix(&pane.id)?.strip_prefix(' '));
        // Each window is also in the hub, where a person would see all agents.
        let session = of_pane
            .find(|name| *name != HUB)
            .map_or_else(|| pane.id.clone(), |name| format!("={name}"));
        Ok(["tmux", &socket[0], &socket[1], "attach-session", "-t", &session]
            .map(str::to_owned)
            .to_vec())
    }
}
