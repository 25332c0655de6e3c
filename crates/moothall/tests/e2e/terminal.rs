//! A real terminal for tests: a private tmux server with one pane.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{PATIENCE, Server};

/// Interval between looks at the screen.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// A terminal. Dropping it ends it.
pub struct Terminal {
    folder: PathBuf,
    /// Name of a socket of its own. An ending tmux server still accepts connections for a moment,
    /// and a new terminal would end with it.
    socket: String,
}

/// True if tmux is available; tests without it skip.
pub fn is_possible() -> bool {
    moothall_testkit::needs::has("tmux")
}

impl Terminal {
    /// Runs the program against this server, in a terminal of this size. At its end, the exit code
    /// and the terminal's mode stay on the screen.
    pub fn start(server: &Server<'_>, args: &str, columns: u32, rows: u32) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let folder = server.home().path().to_owned();
        // Clipboard access is allowed here, so that the tests detect a program that uses it.
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

    /// Types text literally.
    pub fn write(&self, text: &str) -> &Self {
        assert!(self.tmux(&["send-keys", "-l", "--", text]).status.success());
        self
    }

    /// Presses keys, by tmux's names.
    pub fn press(&self, keys: &[&str]) -> &Self {
        assert!(self.tmux(&[&["send-keys"], keys].concat()).status.success());
        self
    }

    /// Pastes text, as a bracketed paste if the program enabled it.
    pub fn paste(&self, text: &str) {
        assert!(self.tmux(&["set-buffer", "-b", "mine", text]).status.success());
        assert!(self.tmux(&["paste-buffer", "-p", "-r", "-d", "-b", "mine"]).status.success());
    }

    /// Changes the size of the terminal.
    pub fn resize(&self, columns: u32, rows: u32) {
        assert!(
            self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()])
                .status
                .success()
        );
    }

    /// Returns the clipboard as programs set it.
    pub fn clipboard(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["list-buffers"]).stdout).into_owned()
    }

    /// Returns the screen with its scrollback.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-S", "-"]).stdout)
            .trim_end()
            .to_owned()
    }

    /// Returns the screen with its scrollback and colours.
    pub fn colours(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-e", "-S", "-"]).stdout)
            .into_owned()
    }

    /// Waits until the screen meets a condition; returns it.
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

    /// Waits until the screen contains a text; returns it.
    pub fn see(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Returns the row of a screen that contains a text.
pub fn row<'a>(screen: &'a str, text: &str) -> &'a str {
    screen
        .lines()
        .find(|row| row.contains(text))
        .unwrap_or_else(|| panic!("no {text:?} in:\n{screen}"))
}

/// Returns the permission bits of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
