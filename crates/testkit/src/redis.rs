//! A private Redis in a temporary folder, which tests kill, freeze and start again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::needs;

/// The program, as its package is called too.
const PROGRAM: &str = "redis-server";
/// Longest time until a server says that it is ready.
const READY_MAX: Duration = Duration::from_secs(30);

/// A server of one test, on a socket in its folder, without persistence.
pub struct RedisServer {
    folder: TempDir,
    arguments: Vec<String>,
    child: Child,
}

impl RedisServer {
    /// Starts a server with more arguments, and waits until it is ready. Returns `None` if the
    /// program is missing and the tests that need it are to be skipped.
    ///
    /// # Panics
    /// The server cannot be started.
    #[expect(clippy::unwrap_used, reason = "a test cannot go on without its server")]
    pub fn start(arguments: &[&str]) -> Option<Self> {
        if !needs::has(PROGRAM) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let child = spawn(folder.path(), &arguments);
        Some(Self { folder, arguments, child })
    }

    /// Returns the address.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", socket(self.folder.path()).display())
    }

    /// Returns the socket on which the server listens.
    pub fn socket(&self) -> PathBuf {
        socket(self.folder.path())
    }

    /// Kills the server, which loses everything.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the server again after [`RedisServer::kill`].
    pub fn restart(&mut self) {
        self.child = spawn(self.folder.path(), &self.arguments);
    }

    /// Freezes the server.
    pub fn freeze(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets the server answer again.
    pub fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(id), signal);
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("redis.sock")
}

fn spawn(folder: &Path, arguments: &[String]) -> Child {
    let started = Command::new(PROGRAM)
        .args(["--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no"])
        .arg("--unixsocket")
        .arg(socket(folder))
        .arg("--dir")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => panic!("{PROGRAM} cannot be started: {error}"),
    };
    let (ready, is_ready) = mpsc::channel();
    let output = child.stdout.take().map(BufReader::new);
    // Read to its end, so that the server never waits for its own output.
    std::thread::spawn(move || {
        let mut read = String::new();
        for line in output.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
            read = read + &line + "\n";
            if line.to_lowercase().contains("ready to accept connections") {
                let _ = ready.send(Ok(()));
            }
        }
        let _ = ready.send(Err(read));
    });
    match is_ready.recv_timeout(READY_MAX) {
        Ok(Ok(())) => child,
        other => {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{PROGRAM} is not ready: {other:?}");
        }
    }
}
