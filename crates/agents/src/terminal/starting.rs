//! Starting a program in a terminal, and ending it.

use std::path::Path;
use std::time::Duration;

use moothall_engine::sessions::{HostFault, LastWords, Launch, Pane, SessionId};
use moothall_kernel::text::clean;

use super::control::link;
use super::place::{HUB, TmuxServer};
use super::program::{ProcessParts, Program, bare};
use super::tmux_command::{TmuxCommand, literal_format};
use super::{Environment, TmuxHost, is_program, run_of};
use crate::run_as::Account;

/// Number and interval of the looks for the exit status of a program that closed its terminal.
const STATUS_LOOKS: u32 = 20;
const STATUS_EVERY: Duration = Duration::from_millis(100);
/// Most lines of a dead program that are shown to people.
const LAST_LINES: usize = 5;
/// First line of the capture in which a program's last words are looked for, above the screen: tmux
/// scrolls a line out when it reports the pane dead.
const ABOVE: &str = "-60";

/// Starts the program only if its working directory is the allowed one. A user who may write above
/// that folder could replace it by a link before tmux enters it; once a process is inside, a new
/// link has no effect.
const IN_THIS_VERY_FOLDER: &str = r#"if [ "$(pwd -P)" != "$1" ]; then
  echo "moothall: this is not $1 any more, so nothing was started" >&2
  exit 126
fi
shift
exec "$@""#;

const NAME_CHARS_MAX: usize = 40;

impl TmuxHost {
    /// Starts a program in a tmux session of its own, links its window into the hub, and returns
    /// the pane. Refuses an unknown client, a folder that does not exist, and a program whose user
    /// is not the announced one any more.
    pub(super) async fn start_program(&self, launch: &Launch) -> Result<Pane, HostFault> {
        let programs = self.known();
        let program = programs.get(&launch.client).ok_or_else(|| unknown(self, &launch.client))?;
        if !launch.cwd.is_absolute() || !launch.cwd.is_dir() {
            return Err(HostFault::Refused(format!(
                "The folder {} does not exist.",
                launch.cwd.display()
            )));
        }
        let account = as_promised(program, launch)?;
        let parts =
            self.injector.launch_parts(program, launch, bare(program, launch, account)?).await?;
        let command = new_session(launch, &parts, &find(program, &parts, &launch.cwd)?)?;
        let control = self.control(&self.own);
        let lines = control.run(&command).await?;
        let mut words = lines.first().map(String::as_str).unwrap_or_default().split(' ');
        let (Some(id), Some(pid), Some(window)) =
            (words.next(), words.next().and_then(|pid| pid.parse().ok()), words.next())
        else {
            return Err(HostFault::Failed(format!(
                "tmux did not report the pane in which it started {}.",
                launch.client
            )));
        };
        control.run(&link(window)).await?;
        let server = self.server().await?;
        let pane = Pane { socket: String::new(), id: id.to_owned(), pid, server };
        // The pane's client is stored here, so that a key pressed later without a client is read
        // with the right vendor.
        drop(control.panes.drawn(&run_of(&pane), Some(&launch.client)));
        Ok(pane)
    }

    /// Returns the identity of the own tmux server, which differs from that of an earlier or later
    /// one.
    pub(super) async fn server(&self) -> Result<String, HostFault> {
        let command = TmuxCommand::of("display-message -p '#{pid} #{start_time}'");
        let lines = self.control(&self.own).run(&command).await?;
        Ok(lines.into_iter().next().unwrap_or_default())
    }

    /// Ends a program by closing its pane, if the pane still exists. A pane on another tmux server
    /// is not closed: this server only stops watching it.
    pub(super) async fn end_program(&self, pane: &Pane) -> Result<(), HostFault> {
        if !pane.socket.is_empty() {
            // The tmux user who started the program ends it. Only stop watching it.
            let place =
                self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(pane);
            if let Some(place) = place {
                self.control(&place).panes.forget(&run_of(pane));
            }
            return Ok(());
        }
        let control = match self.same(pane).await {
            Err(HostFault::Gone(_)) => return Ok(()),
            same => same?,
        };
        match control.run(&TmuxCommand::of("kill-pane -t").word(&pane.id)).await {
            Ok(_) | Err(HostFault::Failed(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Ends the tmux server of this data folder if no program lives in it. Call it when this server
    /// shuts down and starts no further program.
    pub async fn leave(&self) {
        if self.sessions().await.as_deref() != Some(HUB) {
            return;
        }
        let _ = TmuxServer::tmux(self.own.socket()).arg("kill-server").status().await;
        // The tmux server still accepts connections for a moment; the next Moothall must not get
        // one.
        for _ in 0..STATUS_LOOKS {
            if self.sessions().await.is_none() {
                return;
            }
            tokio::time::sleep(STATUS_EVERY).await;
        }
    }

    /// Finds the pane of a session on this data folder's own tmux server, by the name of its tmux
    /// session.
    pub(super) async fn left_by_a_crash(&self, session: &SessionId) -> Option<Pane> {
        let mut list = TmuxServer::tmux(self.own.socket());
        list.args(["list-panes", "-a", "-F", "#{session_name} #{pane_id} #{pane_pid}"]);
        let listed = list.output().await.ok()?;
        let name = session_name(session);
        String::from_utf8_lossy(&listed.stdout).lines().find_map(|line| {
            let mut words = line.split(' ');
            let is_its = words.next()? == name;
            let (id, pid) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
            is_its.then(|| Pane { socket: String::new(), id, pid, server: String::new() })
        })
    }

    /// Returns the names of the sessions of this data folder's own tmux server, one per line.
    /// `None` if that tmux server does not run.
    async fn sessions(&self) -> Option<String> {
        let mut list = TmuxServer::tmux(self.own.socket());
        let listed = list.args(["list-sessions", "-F", "#{session_name}"]).output().await.ok()?;
        let names = String::from_utf8_lossy(&listed.stdout).trim().to_owned();
        listed.status.success().then_some(names)
    }

    /// Returns the exit of a dead pane's program, and its last lines. `None` if the pane is not
    /// dead, or if its exit does not become known.
    pub(super) async fn words_of_the_dead(
        &self,
        pane: &Pane,
    ) -> Result<Option<LastWords>, HostFault> {
        let control = self.same(pane).await?;
        let facts = TmuxCommand::of("display-message -p -t")
            .words([pane.id.as_str(), "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}"]);
        let capture =
            TmuxCommand::of("capture-pane -p -J").words(["-S", ABOVE, "-t", pane.id.as_str()]);
        let mut looks = 0;
        let (how, lines) = loop {
            let (facts, lines) = control.run_both(&facts, &capture).await?;
            match facts
                .first()
                .map(String::as_str)
                .unwrap_or_default()
                .split('/')
                .collect::<Vec<_>>()[..]
            {
                ["1", status, ""] if !status.is_empty() => {
                    break (format!("with exit status {status}"), lines);
                }
                ["1", _, signal] if !signal.is_empty() => {
                    break (format!("by signal {signal}"), lines);
                }
                // The terminal is closed, but the status is not known yet: the program exits soon,
                // or tmux missed its exit. In the second case tmux notices it when another child
                // exits.
                ["1", ..] if looks < STATUS_LOOKS => {
                    tokio::time::sleep(STATUS_EVERY).await;
                    control.run(&TmuxCommand::of("run-shell -b true")).await?;
                }
                _ => return Ok(None),
            }
            looks += 1;
        };
        Ok(Some(last_words(how, &lines)))
    }
}

/// Returns the last words of a dead program: its error and the lines after it, or else its last
/// lines. If a killed program shows no error, no line is returned, because its screen shows an
/// ordinary drawing and not a reason.
fn last_words(how: String, lines: &[String]) -> LastWords {
    let shown: Vec<String> =
        lines.iter().map(|line| clean(line.trim())).filter(|line| is_shown(line)).collect();
    let is_error = |line: &String| ERRORS.iter().any(|word| line.starts_with(word));
    let was_killed = how.starts_with("by signal");
    let joined = |lines: &[String]| {
        lines.iter().take(LAST_LINES).map(String::as_str).collect::<Vec<_>>().join(" / ")
    };
    match shown.iter().rposition(is_error) {
        Some(at) => {
            LastWords { how: format!("{how}: {}", shown[at]), shown: joined(&shown[at + 1..]) }
        }
        None if was_killed => LastWords { how, shown: String::new() },
        None => LastWords { how, shown: joined(&shown[shown.len().saturating_sub(LAST_LINES)..]) },
    }
}

/// Beginnings of a line in which a program names its error.
const ERRORS: [&str; 9] = [
    "error:",
    "Error:",
    "ERROR:",
    "error ",
    "Error ",
    "fatal:",
    "Fatal",
    "panic",
    "Unknown argument",
];

/// Returns the user that a program runs as. Refuses if it is not the one that was announced before.
fn as_promised(program: &Program, launch: &Launch) -> Result<Option<Account>, HostFault> {
    let account = program.account().map_err(HostFault::Refused)?;
    let (now, promised) =
        (account.as_ref().map(Account::uid), launch.run_as.as_ref().map(|user| user.uid));
    if now == promised {
        Ok(account)
    } else {
        Err(HostFault::Refused("The configuration has just changed; start it again.".to_owned()))
    }
}

/// True if a line of a dead pane comes from the program. tmux adds a line of its own.
fn is_shown(line: &str) -> bool {
    line.contains(char::is_alphanumeric) && !line.starts_with("Pane is dead")
}

/// Returns the fault for a client without a program, with the known clients.
fn unknown(host: &TmuxHost, client: &str) -> HostFault {
    let programs = host.known();
    let known: Vec<&str> = programs.keys().map(String::as_str).collect();
    HostFault::UnknownProgram(format!(
        "Unknown program {client}. Programs for terminals are: {}.",
        known.join(", ")
    ))
}

/// Returns the path of the file to start. It is looked up in the program's own search path.
fn find(program: &Program, parts: &ProcessParts, cwd: &Path) -> Result<String, HostFault> {
    let name = parts.argv.first().map(String::as_str).unwrap_or_default();
    // For another user's program, its own variables hold all that it inherits.
    let environment =
        Environment::of(if parts.account.is_some() { &parts.env } else { &program.env });
    let file = environment.find(name, cwd).filter(|file| is_program(file));
    let file = file.and_then(|file| file.into_os_string().into_string().ok());
    match file {
        // `env` would take such a path for a variable.
        Some(file) if !file.contains('=') => Ok(file),
        Some(file) => Err(HostFault::UnknownProgram(format!(
            "The path {file} contains an equals sign; start the program by another path."
        ))),
        None => Err(HostFault::UnknownProgram(format!(
            "The program {name:?} is not installed: it is in none of {}.",
            environment.path()
        ))),
    }
}

/// Returns the command that starts the program. tmux executes several words directly; a single one
/// would go through a shell.
fn new_session(
    launch: &Launch,
    parts: &ProcessParts,
    file: &str,
) -> Result<TmuxCommand, HostFault> {
    let cwd = launch
        .cwd
        .to_str()
        .ok_or_else(|| HostFault::Refused("The folder's path is not valid UTF-8.".to_owned()))?;
    let mut words =
        TmuxCommand::of("new-session -d -P -F '#{pane_id} #{pane_pid} #{window_id}' -x 200 -y 50");
    words = words.words([
        "-s",
        &session_name(&launch.session),
        "-n",
        &title(&launch.name),
        "-c",
        &literal_format(cwd),
    ]);
    for variable in variables(parts)? {
        words = words.words(["-e", &variable]);
    }
    // The part with the server's rights comes first, by absolute paths, so that the program's
    // `PATH` cannot replace it.
    words = words.word("--").words(parts.before.iter().map(String::as_str));
    // Hide tmux from the program: a command that it runs there could end all other sessions by
    // accident.
    words = words.words(["env", "-u", "TMUX", "-u", "TMUX_PANE"]);
    let hidden = parts.account.as_ref().map_or(&[][..], Account::hidden);
    for name in hidden.iter().filter(|name| !parts.env.contains_key(**name)) {
        words = words.words(["-u", name]);
    }
    words = words.word("--");
    if launch.exact {
        words = words.words(["/bin/sh", "-c", IN_THIS_VERY_FOLDER, "sh", cwd]);
    }
    words = words.word(file);
    Ok(words.words(parts.argv.iter().skip(1).map(String::as_str)))
}

/// Returns the variables of the program: those in `parts`, and the inherited ones that `parts` does
/// not replace. If the program runs as another user, `parts` has all of them.
fn variables(parts: &ProcessParts) -> Result<Vec<String>, HostFault> {
    let mut all = Vec::new();
    for (name, value) in Environment::of(&std::collections::BTreeMap::new()).pairs() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && parts.account.is_none()
            && !parts.env.contains_key(name)
            && name != "TERM"
        {
            all.push(format!("{name}={value}"));
        }
    }
    all.push("COLORTERM=truecolor".to_owned());
    for (name, value) in &parts.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(HostFault::Refused(format!("The variable {name:?} cannot be set.")));
        }
        all.push(format!("{name}={value}"));
    }
    Ok(all)
}

/// Returns tmux's name of a session: letters, digits and hyphens.
fn session_name(session: &SessionId) -> String {
    format!("moothall-{}", plain(session.as_str()))
}

fn title(name: &str) -> String {
    let title = plain(name);
    if title.is_empty() { "agent".to_owned() } else { title }
}

/// Returns the ASCII letters, digits and hyphens of a text in lower case, without hyphens at the
/// start and at most [`NAME_CHARS_MAX`] long.
fn plain(text: &str) -> String {
    let kept = text
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-');
    kept.skip_while(|c| *c == '-').take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(how: &str, lines: &[&str]) -> (String, String) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let LastWords { how, shown } = last_words(how.to_owned(), &lines);
        (how, shown)
    }

    #[test]
    fn a_program_that_died_says_its_error() {
        let codex = [
            "error: unexpected argument '--no-such-flag' found",
            "",
            "  tip: to pass '--no-such-flag' as a value, use '-- --no-such-flag'",
            "Usage: codex [OPTIONS] [PROMPT]",
            "       codex [OPTIONS] <COMMAND> [ARGS]",
            "For more information, try '--help'.",
            "Pane is dead (status 2, Wed Nov 25 15:00:47 2026)",
        ];
        let (how, shown) = said("with exit status 2", &codex);
        assert_eq!(how, format!("with exit status 2: {}", codex[0]));
        assert!(shown.contains("Usage: codex") && !shown.contains("Pane is dead"), "{shown}");
        let gemini = ["  -h, --help   Show help   [boolean]", "", "Unknown arguments: such-flag"];
        let how = "with exit status 1: Unknown arguments: such-flag".to_owned();
        assert_eq!(said("with exit status 1", &gemini), (how, String::new()));
        let lines = ("with exit status 1".to_owned(), "one / two".to_owned());
        assert_eq!(said("with exit status 1", &["one", "two"]), lines, "without an error");
    }

    #[test]
    fn what_a_killed_program_had_drawn_is_not_why_it_went() {
        let bar = "▄".repeat(200);
        let screen =
            [&bar, " >   Type your message or @path/to/file", &bar, " ~/work    no sandbox"];
        assert_eq!(said("by signal 9", &screen), ("by signal 9".to_owned(), String::new()));
        let panicked = ["panicked at main.rs:1:", "index out of bounds", &bar];
        let how = "by signal 6: panicked at main.rs:1:".to_owned();
        assert_eq!(said("by signal 6", &panicked), (how, "index out of bounds".to_owned()));
    }
}
