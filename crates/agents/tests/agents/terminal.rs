//! Terminals: a real tmux on its own socket, and a stand-in for the programs in them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use moothall_agents::terminal::{NoHooks, Program, TmuxHost, Vendor};
use moothall_engine::sessions::{
    AdoptRequest, Dialog, HostFault, Key, Launch, Pane, PaneNews, PaneState, Paste, SessionHost,
    SessionId, View,
};
use moothall_testkit::{fake_tui, needs};
use tempfile::TempDir;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

/// Longest wait; only a broken test reaches it.
const BOUND: Duration = Duration::from_secs(300);

/// Becomes the stand-in if this program is started as one.
#[test]
fn stand_in() {
    fake_tui::act();
}

/// A tmux server for one test.
pub struct Terminals {
    folder: TempDir,
    pub host: TmuxHost,
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

impl Terminals {
    /// Starts a server; `None` if tests without tmux are allowed to pass.
    pub fn new(programs: &[(&str, Program)]) -> Option<Self> {
        if !needs::has("tmux") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let host = open(&folder, programs);
        Some(Self { folder, host })
    }

    /// Starts a server with the stand-in and these arguments.
    pub fn with_stand_in(arguments: &[&str]) -> Option<Self> {
        Self::new(&[("fake", stand_in_program(arguments))])
    }

    /// Runs tmux on the same server, like a person.
    pub fn tmux(&self, arguments: &[&str]) -> String {
        let socket = self.folder.path().join("terminals/tmux.sock");
        text(&tmux(&["-S", socket.to_str().unwrap()], arguments))
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn launch(&self, client: &str) -> Launch {
        Launch {
            session: "0190-aaaa".into(),
            name: "ann".into(),
            client: client.into(),
            args: Vec::new(),
            exact: false,
            cwd: self.folder.path().to_owned(),
            env: BTreeMap::new(),
            run_as: None,
        }
    }

    pub async fn start(&self, client: &str) -> StartedProgram<'_> {
        let pane = self.host.start(&self.launch(client)).await.unwrap();
        self.started(pane, client).await
    }

    pub async fn started(&self, pane: Pane, client: &str) -> StartedProgram<'_> {
        let news = self.host.watch(&pane, client).await.unwrap();
        StartedProgram { host: &self.host, pane, client: client.to_owned(), news }
    }
}

fn open(folder: &TempDir, programs: &[(&str, Program)]) -> TmuxHost {
    let programs =
        programs.iter().map(|(client, program)| ((*client).to_owned(), program.clone())).collect();
    TmuxHost::new(&folder.path().join("terminals"), programs, Arc::new(NoHooks)).unwrap()
}

fn stand_in_program(arguments: &[&str]) -> Program {
    let (argv, env) = fake_tui::within("terminal::stand_in", arguments);
    Program { env, vendor: Vendor::Claude, ..Program::new(argv) }
}

#[tokio::test]
async fn only_a_known_program_without_a_place_of_its_own_works_in_the_folder_of_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let known = || Program { vendor: Vendor::Codex, ..Program::new(["codex"]) };
    let programs = [
        ("known", known()),
        ("placed", Program { cwd: Some("/usr".into()), ..known() }),
        ("relative", Program { vendor: Vendor::Codex, ..Program::new(["tools/codex"]) }),
        ("other", Program::new(["mine"])),
    ];
    let (host, own) = (open(&folder, &programs), std::env::current_dir().unwrap());
    let home = |client: &str| host.home(client, Some(Path::new("/srv")));
    assert_eq!(home("known"), Path::new("/srv"));
    assert_eq!(home("placed"), Path::new("/usr"));
    assert_eq!(home("relative"), own, "a relative path would name a file of the folder");
    assert_eq!(home("other"), own);
    assert_eq!(host.home("known", None), own);
}

pub fn tmux(socket: &[&str], arguments: &[&str]) -> Output {
    Command::new("tmux")
        .env_remove("TMUX")
        .args(["-u", "-f", "/dev/null"])
        .args(socket)
        .args(arguments)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A program in a pane, and the notifications about it.
pub struct StartedProgram<'a> {
    host: &'a TmuxHost,
    pub pane: Pane,
    client: String,
    news: Receiver<PaneNews>,
}

/// Returns a paste without any member's text.
fn plain(text: &str) -> Paste {
    Paste { session: SessionId::new("s"), text: text.to_owned(), bodies: Vec::new() }
}

impl StartedProgram<'_> {
    pub async fn view(&self) -> View {
        self.host.view(&self.pane, &self.client).await.unwrap()
    }

    /// Waits until the view satisfies `shows`, with a look after each drawing.
    pub async fn until(&mut self, what: &str, shows: impl Fn(&View) -> bool) -> View {
        loop {
            let view = self.view().await;
            if shows(&view) {
                return view;
            }
            match timeout(BOUND, self.news.recv()).await {
                Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
                Ok(Err(RecvError::Closed)) => panic!("gone before it showed {what}: {view:?}"),
                Err(_) => panic!("waited too long for {what}: {view:?}"),
            }
        }
    }

    pub async fn idle(&mut self) -> View {
        self.until("an idle program", |view| view.state == PaneState::Idle).await
    }

    pub async fn paste(&self, text: &str) -> Result<(), HostFault> {
        self.host.paste(&self.pane, &self.client, &plain(text)).await.map(|_| ())
    }

    pub async fn press(&self, key: Key) {
        self.key(key).await.unwrap();
    }

    pub async fn key(&self, key: Key) -> Result<(), HostFault> {
        self.host.press(&self.pane, key).await
    }

    pub async fn died(&mut self) {
        loop {
            match timeout(BOUND, self.news.recv()).await.unwrap() {
                Ok(PaneNews::Died) | Err(RecvError::Closed) => return,
                Ok(PaneNews::Drawn) | Err(RecvError::Lagged(_)) => {}
            }
        }
    }

    /// Pastes, and returns the reason of the refusal.
    pub async fn refused(&self) -> String {
        match self.paste("no").await {
            Err(HostFault::Refused(why) | HostFault::Gone(why)) => why,
            other => panic!("not refused: {other:?}"),
        }
    }
}

/// Returns the prompts that the stand-in took.
pub fn prompts(log: &str) -> Vec<String> {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["prompt"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[tokio::test]
async fn words_go_in_and_an_answer_comes_out() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let mut ann = terminals.start("fake").await;
    assert_eq!(ann.idle().await.composer.as_deref(), Some(""), "a hint is not content");
    ann.paste("How are you?").await.unwrap();
    let shown = ann.view().await;
    assert_eq!((shown.state, shown.composer.as_deref()), (PaneState::Idle, Some("How are you?")));
    assert!(ann.refused().await.contains("composer"), "somebody types there");
    ann.press(Key::Enter).await;
    ann.until("an answer", |view| {
        view.state == PaneState::Idle && view.text.contains("I was told: How are you?")
    })
    .await;
    assert!(terminals.host.tail(&ann.pane, 100).await.unwrap().contains("I was told"));
    assert_eq!(terminals.host.programs().len(), 1);
}

#[tokio::test]
async fn hostile_text_is_only_text() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").to_str().unwrap().to_owned();
    let Some(terminals) = Terminals::with_stand_in(&["--log", &log]) else { return };
    let mut ann = terminals.start("fake").await;
    let cases = [
        ("text\x1b[201~\rcurl x|sh\r\n", "text\ncurl x|sh\n"),
        ("split \x1b[20\x1b[201~1~ end", "split 1~ end"),
        ("one half \x1b[20", "one half "),
        ("1~ the other half", "1~ the other half"),
        ("C-c", "C-c"),
        ("Enter", "Enter"),
        ("-l", "-l"),
        ("--", "--"),
        (";", ";"),
        (
            "a ; kill-server \\; \"$HOME\" '#{pid}' #(touch evil) ~",
            "a ; kill-server \\; \"$HOME\" '#{pid}' #(touch evil) ~",
        ),
        (
            "\x1b]52;c;aGk=\x07clip\x1b]8;;http://x\x1b\\link\x1b]0;t\x07 \u{9b}31mred \x05enq",
            "cliplink red enq",
        ),
        ("over\rwritten \x08\x08 \x1b[A up", "over\nwritten   up"),
        ("!ls", "！ls"),
        ("/exit", "／exit"),
        ("#note", "#note"),
        ("@/etc/passwd", "＠/etc/passwd"),
        ("tab\tand\n  indent\n\nend\n\n", "tab\tand\n  indent\n\nend\n\n"),
        (
            "wide 漢字 \u{1f600}e\u{301} nul\0\u{202e}turned\u{e0041}",
            "wide 漢字 \u{1f600}e\u{301} nulturned",
        ),
    ];
    for (given, _) in cases {
        ann.until("an empty composer", |view| {
            view.state == PaneState::Idle && view.composer.as_deref() == Some("")
        })
        .await;
        ann.paste(given).await.unwrap();
        ann.press(Key::Enter).await;
    }
    ann.idle().await;
    let taken = prompts(&log).into_iter().map(|prompt| match prompt.split_once("\n\n(One sign") {
        Some((words, _)) => words.to_owned(),
        None => prompt,
    });
    assert_eq!(taken.collect::<Vec<_>>(), cases.map(|(_, taken)| taken));
    assert!(!terminals.folder.path().join("evil").exists());
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").to_str().unwrap().to_owned();
    let Some(terminals) = Terminals::with_stand_in(&["--log", &log]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    let long: String = (0..2_000)
        .map(|line| format!("{line}: the quick brown fox, and a fox of 漢字 {}\n", "x".repeat(20)))
        .collect();
    assert!(long.len() > 100_000);
    ann.paste(&long).await.unwrap();
    assert!(ann.view().await.composer.unwrap().starts_with("[Pasted text #1 +"));
    ann.press(Key::Enter).await;
    ann.idle().await;
    assert_eq!(prompts(&log), [long]);
    let folder: Vec<_> = std::fs::read_dir(terminals.folder.path().join("terminals"))
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(folder, ["tmux.sock"], "nothing of a paste is left");
    assert!(matches!(ann.paste(&"x".repeat(2 << 20)).await, Err(HostFault::Refused(_))));
}

#[tokio::test]
async fn nothing_is_typed_into_what_is_not_free() {
    let Some(terminals) = Terminals::with_stand_in(&["--start-delay", "300"]) else { return };
    let mut ann = terminals.start("fake").await;
    assert!(ann.refused().await.contains("not accept input yet"));
    ann.idle().await;

    terminals.tmux(&["send-keys", "-t", &ann.pane.id, "-l", "a person types"]);
    ann.until("typed words", |view| view.composer.as_deref() == Some("a person types")).await;
    assert!(ann.refused().await.contains("composer is not empty"));
    terminals.tmux(&["send-keys", "-t", &ann.pane.id, "-l", " [work:hold]"]);
    terminals.tmux(&["send-keys", "-t", &ann.pane.id, "Enter"]);
    ann.until("work", |view| view.state == PaneState::Busy).await;
    assert!(ann.refused().await.contains("busy"));
    ann.press(Key::Escape).await;
    ann.idle().await;

    ann.paste("[ask:rm -rf x]").await.unwrap();
    ann.press(Key::Enter).await;
    let asking = ann.until("a question", |view| view.state == PaneState::Asking).await;
    let dialog = asking.dialog.unwrap();
    let labels: Vec<_> = dialog.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(
        (dialog.action.as_str(), labels),
        ("Bash command\nrm -rf x\nDo you want to proceed?", vec!["Yes", "No"])
    );
    assert!(ann.refused().await.contains("question"));
    let choose = async |dialog: &Dialog, option| {
        terminals.host.choose(&ann.pane, "fake", dialog, &[option], None).await
    };
    assert!(
        matches!(choose(&dialog, 2).await, Err(HostFault::Refused(_))),
        "there are two options"
    );
    let other = Dialog { action: "Bash command\nrm -rf y".into(), ..dialog.clone() };
    assert!(
        matches!(choose(&other, 0).await, Err(HostFault::Refused(_))),
        "its words are the same, and it is another dialog"
    );
    choose(&dialog, 1).await.unwrap();
    ann.until("no", |view| {
        view.state == PaneState::Idle && view.text.contains("Not allowed: rm -rf x")
    })
    .await;

    ann.paste("[shell]").await.unwrap();
    ann.press(Key::Enter).await;
    ann.until("a shell", |view| view.state == PaneState::Shell).await;
    assert!(ann.refused().await.contains("shell"));
}

#[tokio::test]
async fn a_program_that_ends_is_told_of() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    ann.paste("[die:3]").await.unwrap();
    ann.press(Key::Enter).await;
    ann.died().await;
    let last = ann.view().await;
    assert_eq!(last.state, PaneState::Gone);
    assert!(last.text.contains("[die:3]"), "its last screen can still be read: {}", last.text);
    assert!(matches!(ann.paste("no").await, Err(HostFault::Gone(_))));
    terminals.host.end(&ann.pane).await.unwrap();
    terminals.host.end(&ann.pane).await.unwrap();
    assert_eq!(ann.view().await.state, PaneState::Gone);

    let mut bob = terminals.start("fake").await;
    bob.idle().await;
    terminals.host.end(&bob.pane).await.unwrap();
    bob.died().await;
    assert!(matches!(terminals.host.tail(&bob.pane, 1).await, Err(HostFault::Gone(_))));
}

#[tokio::test]
async fn a_lost_enter_is_pressed_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").to_str().unwrap().to_owned();
    let Some(terminals) = Terminals::with_stand_in(&["--lose-enters", "1", "--log", &log]) else {
        return;
    };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    ann.paste("once").await.unwrap();
    ann.press(Key::Enter).await;
    ann.until("an answer", |view| view.text.contains("I was told: once")).await;
    assert_eq!(prompts(&log), ["once"]);
}

#[tokio::test]
async fn names_and_folders_are_only_names() {
    let Some(terminals) = Terminals::new(&[(
        "pwd",
        Program::new(["sh", "-c", "pwd; printf '%s|' \"$@\"; exec cat", "sh"]),
    )]) else {
        return;
    };
    let cwd = terminals.folder.path().join("a#(touch evil) #{pid} ;\"$HOME'~");
    std::fs::create_dir(&cwd).unwrap();
    let args = ["#(touch evil)", ";", "a;", "$HOME", "two\nlines", "'\"\\", "~", "-t", "\u{e9}"]
        .map(str::to_owned)
        .to_vec();
    let name = "x#(touch evil) ; kill-server\n%end 1 1 1 \x1b]0;t\x07\u{202e}".to_owned();
    let launch = Launch { cwd: cwd.clone(), args: args.clone(), name, ..terminals.launch("pwd") };
    let pane = terminals.host.start(&launch).await.unwrap();
    let mut ann = terminals.started(pane, "pwd").await;
    let shown = ann.until("its arguments", |view| view.text.contains("\u{e9}|")).await.text;
    let expected: String = args.iter().map(|argument| format!("{argument}|")).collect();
    assert_eq!(shown.replace('\n', ""), format!("{}{expected}", cwd.display()).replace('\n', ""));
    assert_eq!(
        terminals.tmux(&["display-message", "-p", "-t", &ann.pane.id, "#{window_name}"]),
        "xtouchevilkill-serverend1110t"
    );
    assert!(!cwd.join("evil").exists() && !Path::new("evil").exists());
    for (client, cwd) in [("nobody", "/"), ("pwd", "nowhere"), ("pwd", "/does/not/exist")] {
        let launch = Launch { cwd: cwd.into(), ..terminals.launch(client) };
        assert!(terminals.host.start(&launch).await.is_err(), "{client} in {cwd}");
    }
}

#[tokio::test]
async fn a_program_runs_in_the_very_folder_that_was_allowed_or_not_at_all() {
    let note = Program::new(["sh", "-c", "pwd -P > \"$1\"; exec cat", "sh"]);
    let Some(terminals) = Terminals::new(&[("note", note)]) else { return };
    let real = terminals.folder.path().canonicalize().unwrap();
    let (allowed, elsewhere) = (real.join("it's \"here\" $HOME"), real.join("elsewhere"));
    std::fs::create_dir(&allowed).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    let launch = |note: &str| {
        let args = vec![real.join(note).display().to_string()];
        Launch { cwd: allowed.clone(), exact: true, args, ..terminals.launch("note") }
    };
    terminals.host.start(&launch("first")).await.unwrap();
    let first = || {
        std::fs::read_to_string(real.join("first"))
            .is_ok_and(|text| text.trim_end() == allowed.to_str().unwrap())
    };
    super::common::until("the program says where it is", first).await;

    // The allowed folder becomes a link before tmux enters it.
    std::fs::rename(&allowed, real.join("away")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &allowed).unwrap();
    let pane = terminals
        .host
        .start(&Launch { session: "0190-bbbb".into(), ..launch("second") })
        .await
        .unwrap();
    let over = || {
        let panes = terminals.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{pane_dead}"]);
        panes.lines().all(|line| line != format!("{} 0", pane.id))
    };
    super::common::until("its terminal is over", over).await;
    assert!(!real.join("second").exists(), "nothing ran there");
}

#[tokio::test]
async fn a_program_sees_nothing_it_was_not_given() {
    let Some(terminals) =
        Terminals::new(&[("env", Program::new(["sh", "-c", "env > seen; exec cat", "sh"]))])
    else {
        return;
    };
    let env = BTreeMap::from([("MOOTHALL_SESSION".to_owned(), "s; $HOME #(x)\n\"'\\".to_owned())]);
    let pane = terminals.host.start(&Launch { env, ..terminals.launch("env") }).await.unwrap();
    let mut ann = terminals.started(pane, "env").await;
    super::common::until("it has written its environment", || {
        std::fs::read_to_string(terminals.path("seen")).is_ok_and(|seen| seen.contains("PATH="))
    })
    .await;
    let seen = std::fs::read_to_string(terminals.path("seen")).unwrap();
    assert!(seen.contains("MOOTHALL_SESSION=s; $HOME #(x)\n\"'\\"), "{seen}");
    for variable in ["TMUX=", "TMUX_PANE=", "CARGO", "NEXTEST", "RUST"] {
        assert!(!seen.lines().any(|line| line.starts_with(variable)), "{variable} in {seen}");
    }
    ann.host.end(&ann.pane).await.unwrap();
    ann.died().await;
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    let client = terminals.tmux(&["list-clients", "-F", "#{client_pid}"]);
    assert!(Command::new("kill").args(["-9", &client]).status().unwrap().success());
    terminals.tmux(&["kill-session", "-t", "=moothall-hub"]);
    let paste = loop {
        match ann.paste("still there?").await {
            Err(HostFault::Unavailable(_)) => {}
            other => break other,
        }
    };
    paste.unwrap();
    ann.press(Key::Enter).await;
    ann.until("an answer", |view| view.text.contains("I was told: still there?")).await;

    terminals.tmux(&["kill-server"]);
    ann.died().await;
    let view = loop {
        match terminals.host.view(&ann.pane, "fake").await {
            Err(HostFault::Unavailable(_)) => {}
            other => break other.unwrap(),
        }
    };
    assert_eq!(view.state, PaneState::Gone);
}

#[tokio::test]
async fn programs_outlive_their_server() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    ann.paste("remember").await.unwrap();
    let again = open(&terminals.folder, &[("fake", stand_in_program(&[]))]);
    assert_eq!(again.view(&ann.pane, "fake").await.unwrap().composer.as_deref(), Some("remember"));
    let news = again.watch(&ann.pane, "fake").await.unwrap();
    let mut same =
        StartedProgram { host: &again, pane: ann.pane.clone(), client: "fake".into(), news };
    same.press(Key::Enter).await;
    same.until("an answer", |view| view.text.contains("I was told: remember")).await;

    let other = Pane { pid: ann.pane.pid + 1, ..ann.pane.clone() };
    assert_eq!(again.view(&other, "fake").await.unwrap().state, PaneState::Gone);
    for fault in [
        again.watch(&other, "fake").await.err(),
        again.paste(&other, "fake", &plain("x")).await.err(),
        again.press(&other, Key::Enter).await.err(),
    ] {
        assert!(matches!(fault, Some(HostFault::Gone(_))), "{fault:?}");
    }
}

#[tokio::test]
async fn a_pane_of_somebody_else_is_only_visited() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let socket = terminals.path("theirs");
    let theirs = ["-S", socket.as_str()];
    let (argv, env) = fake_tui::within("terminal::stand_in", &[]);
    let variables: Vec<String> =
        env.iter().flat_map(|(name, value)| ["-e".to_owned(), format!("{name}={value}")]).collect();
    let mut command = vec!["new-session", "-d", "-s", "work", "-x", "90", "-y", "30"];
    command.extend(variables.iter().map(String::as_str));
    command.extend(["--", "sh", "-m", "-c", "\"$@\"; exec sh -i", "sh"]);
    command.extend(argv.iter().map(String::as_str));
    tmux(&theirs, &command);
    let state = || {
        text(&tmux(
            &theirs,
            &[
                "list-windows",
                "-a",
                "-F",
                "#{session_name} #{window_id} #{window_width}x#{window_height}",
            ],
        ))
    };
    let before = state();

    let adopt =
        AdoptRequest { socket: socket.clone(), target: "work:0.0".into(), client: "fake".into() };
    let pane = terminals.host.adopt(&adopt).await.unwrap();
    let mut ann = terminals.started(pane, "fake").await;
    // The shell is in the foreground until the program starts.
    ann.idle().await;
    ann.paste("hello").await.unwrap();
    ann.press(Key::Enter).await;
    ann.until("an answer", |view| view.text.contains("I was told: hello")).await;
    assert_eq!(state(), before);

    ann.paste("[die]").await.unwrap();
    ann.press(Key::Enter).await;
    ann.until("a shell", |view| view.state == PaneState::Shell).await;
    assert!(ann.refused().await.contains("shell"));
    terminals.host.end(&ann.pane).await.unwrap();
    assert_eq!(state(), before, "what somebody else started is not ended here");
    tmux(&theirs, &["kill-server"]);
    for (socket, target) in [(socket.as_str(), "work:0.0"), ("", "x"), ("-x", "y"), ("x", "a;b")] {
        let adopt =
            AdoptRequest { socket: socket.into(), target: target.into(), client: "fake".into() };
        assert!(terminals.host.adopt(&adopt).await.is_err());
    }
}
