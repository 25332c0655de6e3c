//! A real terminal: a private tmux server with one pane, typed into and looked at.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{PATIENCE, Server};

/// How long between two looks at the screen.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// A terminal that ends with its test.
pub struct Terminal {
    folder: PathBuf,
    /// The name of its own socket: a server of tmux that was told to end still takes connections
    /// for a moment, and one made then ends with it.
    socket: String,
}

/// Whether there is a terminal to test in: `false` only where the tests go on without tmux.
pub fn is_possible() -> bool {
    moothall_testkit::needs::has("tmux")
}

impl Terminal {
    /// Runs the program against this server, in a terminal of this size. When it ends, its exit
    /// code and what became of the terminal's mode stay on the screen.
    pub fn start(server: &Server<'_>, args: &str, columns: u32, rows: u32) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let folder = server.home().path().to_owned();
        // Programs may set the clipboard here, so that one that does is found out.
        std::fs::write(folder.join("tmux.conf"), "set -g set-clipboard on\nset -g escape-time 0\n")
            .unwrap();
        let program = env!("CARGO_BIN_EXE_moothall");
        let script = format!(
            "'{program}' {args}; echo left with $?; stty -a | grep -oE -e '-?icanon|-?isig'; exec cat"
        );
        let terminal =
            Self { folder, socket: format!("chat-{}", STARTED.fetch_add(1, Ordering::Relaxed)) };
        let size = [columns.to_string(), rows.to_string()];
        let mut command = terminal.command(&[
            "-f",
            "tmux.conf",
            "new-session",
            "-d",
            "-x",
            &size[0],
            "-y",
            &size[1],
            &script,
        ]);
        let output = command.env("MOOTHALL_SERVER", &server.url).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(["-u", "-L", &self.socket]).args(args).current_dir(&self.folder).env_clear();
        command
            .env("PATH", path)
            .env("HOME", &self.folder)
            .env("TMUX_TMPDIR", &self.folder)
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh");
        command
    }

    fn tmux(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Types words as they are.
    pub fn write(&self, text: &str) -> &Self {
        assert!(self.tmux(&["send-keys", "-l", "--", text]).status.success());
        self
    }

    /// Presses keys by tmux's names for them.
    pub fn press(&self, keys: &[&str]) -> &Self {
        assert!(self.tmux(&[&["send-keys"], keys].concat()).status.success());
        self
    }

    /// Pastes, in the marks that the program asked for.
    pub fn paste(&self, text: &str) {
        assert!(self.tmux(&["set-buffer", "-b", "mine", text]).status.success());
        assert!(self.tmux(&["paste-buffer", "-p", "-r", "-d", "-b", "mine"]).status.success());
    }

    /// Makes it wider or narrower.
    pub fn resize(&self, columns: u32, rows: u32) {
        assert!(
            self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()])
                .status
                .success()
        );
    }

    /// What a program put into the clipboard.
    pub fn clipboard(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["list-buffers"]).stdout).into_owned()
    }

    /// Everything on it, what has scrolled away too.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-S", "-"]).stdout)
            .trim_end()
            .to_owned()
    }

    /// The same with its colours.
    pub fn colours(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-e", "-S", "-"]).stdout)
            .into_owned()
    }

    /// The screen, once it is as wanted.
    pub fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(began.elapsed() < PATIENCE, "waited for {what}, and saw:\n{screen}");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// The screen, once this is on it.
    pub fn see(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// The row of a screen that holds some text.
pub fn row<'a>(screen: &'a str, text: &str) -> &'a str {
    screen
        .lines()
        .find(|row| row.contains(text))
        .unwrap_or_else(|| panic!("no {text:?} in:\n{screen}"))
}

/// The mode of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
