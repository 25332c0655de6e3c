//! A terminal of one program, on a tmux server of its own. It uses plain tmux commands, to observe
//! programs without the host.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::PATIENCE;

const LOOK_EVERY: Duration = Duration::from_millis(150);
/// A screen without changes for this time is complete.
const QUIET: Duration = Duration::from_millis(1200);
/// Text on the screen for this time has been accepted: input right after a paste would count as a
/// part of it.
const TAKEN: Duration = Duration::from_millis(700);

/// A terminal. Dropping it ends everything in it.
pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// Starts a program with exactly these variables.
    pub fn start(argv: &[String], env: &BTreeMap<String, String>, cwd: &Path) -> Self {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: format!("moothall-real-{}-{number}", std::process::id()) };
        let mut words = vec![
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            "160",
            "-y",
            "50",
            "-c",
            cwd.to_str().unwrap(),
        ];
        let variables: Vec<String> =
            env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        variables.iter().for_each(|variable| words.extend(["-e", variable]));
        words.push("--");
        words.extend(argv.iter().map(String::as_str));
        terminal.tmux(&words, "");
        terminal
    }

    /// Runs tmux with a cleared environment: its server passes its environment on, and Gemini CLI
    /// takes `CI` for the absence of a person.
    fn tmux(&self, words: &[&str], input: &str) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().envs(std::env::vars().filter(|(name, _)| name == "PATH"));
        command.args(["-L", &self.socket]).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("tmux");
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
    }

    /// Returns the screen's text.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"], "")
    }

    /// Waits until the screen shows one of these words and is quiet.
    pub fn drawn(&self, words: &[&str]) {
        self.watch(words, QUIET, |before, now| before == now);
    }

    /// Waits until the screen has shown one of these words for a while, even if other parts change.
    pub fn shows(&self, words: &[&str]) {
        self.watch(words, TAKEN, |_, _| true);
    }

    fn watch(&self, words: &[&str], length: Duration, same: impl Fn(&str, &str) -> bool) {
        let (began, mut since, mut shown) = (Instant::now(), Instant::now(), String::new());
        loop {
            let screen = self.screen();
            if !words.iter().any(|word| screen.contains(word)) || !same(&shown, &screen) {
                since = Instant::now();
            }
            if since.elapsed() > length {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "none of {words:?} showed:\n{screen}");
            shown = screen;
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Returns the name of the tmux socket, for `tmux -L`.
    pub fn socket(&self) -> &str {
        &self.socket
    }

    /// Types a line, as a person does.
    pub fn typed(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line], "");
        self.key("Enter");
    }

    /// Pastes a prompt and submits it.
    pub fn prompt(&self, text: &str) {
        self.tmux(&["load-buffer", "-b", "prompt", "-"], text);
        self.tmux(&["paste-buffer", "-p", "-d", "-b", "prompt"], "");
        self.shows(&[text.lines().last().unwrap()]);
        self.key("Enter");
    }

    pub fn key(&self, key: &str) {
        self.tmux(&["send-keys", key], "");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the terminal shows:\n{}", self.screen());
        }
        self.tmux(&["kill-server"], "");
    }
}
