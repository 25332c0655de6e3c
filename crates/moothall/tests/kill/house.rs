//! A data folder, its configuration, and a sequence of server processes on it.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moothall_engine::ports::Upkeep;
use moothall_store::SqliteLog;
use moothall_testkit::model_server::ModelServer;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;

/// Longer than any step takes, even on a busy computer; only a broken test waits this long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// No caller here proves to be a person, and the tests trigger more turns per minute than the
/// default allows per hour.
const BUDGETS: &str = r#"
[budgets]
hall = { unattended_turns_per_hour = 1000000 }
principal = { unattended_turns_per_hour = 1000000 }
"#;

/// Agents that answer at once, agents that pass, programs, and one that waits for its gate.
const AGENTS: &str = r#"
[agents.ann]
replies = ["I heard: {message}"]

[agents.ben]
replies = ["[PASS]", "Seen: {message}", "[PASS]"]

[agents.cat]
replies = [{ text = "After a while: {message}", delay_ms = 5 }]

[agents.sh]
command = ["/bin/sh", "-c", "read -r document; echo done"]
"#;

/// A data folder for servers.
pub struct House {
    folder: TempDir,
    /// Model server. Its agent's context is so small that the conversation is summarised again and
    /// again.
    _models: ModelServer,
    /// Address of the server; `None` while there is none.
    pub address: watch::Sender<Option<String>>,
    crashes: AtomicU64,
}

impl House {
    pub async fn new() -> Self {
        Self::with("").await
    }

    /// Makes a folder whose configuration has more.
    pub async fn with(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = ModelServer::start().await.unwrap();
        let path = folder.path().display();
        let gate = format!("read -r document; [ -e {path}/open ] && echo opened || exec sleep 600");
        let gated = format!("[agents.gated]\ncommand = [\"/bin/sh\", \"-c\", {gate:?}]\n");
        let model = format!(
            "[agents.mod]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = {:?}\ncontext_tokens = 900\n",
            models.url()
        );
        fs::write(
            folder.path().join("moothall.toml"),
            format!("{BUDGETS}\n{AGENTS}\n{gated}\n{model}\n{more}"),
        )
        .unwrap();
        Self {
            folder,
            _models: models,
            address: watch::channel(None).0,
            crashes: AtomicU64::new(0),
        }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the start-up credential of the running server.
    pub fn key(&self) -> String {
        key_in(&self.data()).unwrap()
    }

    /// Lets the gated agent answer.
    pub fn open_gate(&self) {
        fs::write(self.folder.path().join("open"), "").unwrap();
    }

    /// Starts a server that must succeed.
    pub async fn start(&self) -> Server {
        self.start_until(None).await.unwrap_or_else(|status| {
            panic!("the server ended at its start: {status}; {}", self.said())
        })
    }

    /// Starts a server that may die at a point, `name:count`, before it prints its address.
    pub async fn start_until(&self, point: Option<&str>) -> Result<Server, ExitStatus> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_moothall"));
        let data = self.data();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args([
            "serve",
            "--json",
            "--bind",
            "127.0.0.1:0",
            "--data",
            data.to_str().unwrap(),
        ]);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("MOOTHALL_DEMO_PACE", "instant")
            // Telegram would take a day for the messages of a minute.
            .env("MOOTHALL_UNLIMITED", "1");
        command.envs(point.map(|point| ("MOOTHALL_CRASH_AT", point)));
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("stderr"))
            .unwrap();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let Some(first) = timeout(PATIENCE, lines.next_line())
            .await
            .expect("a first line, and none came")
            .unwrap()
        else {
            let status =
                timeout(PATIENCE, child.wait()).await.expect("an end, and none came").unwrap();
            self.count(status);
            return Err(status);
        };
        let first: Value = serde_json::from_str(&first).unwrap();
        self.address.send_replace(Some(first["listening"].as_str().unwrap().to_owned()));
        Ok(Server { child, _lines: lines })
    }

    /// Waits until the server's process has ended, by itself or after a signal.
    pub async fn ended(&self, server: &mut Server) -> ExitStatus {
        let status = server.child.wait().await.unwrap();
        self.address.send_replace(None);
        self.count(status);
        status
    }

    fn count(&self, status: ExitStatus) {
        self.crashes.fetch_add(u64::from(crashed(status)), Ordering::Relaxed);
    }

    /// Returns the number of servers that died at a point.
    pub fn crashes(&self) -> u64 {
        self.crashes.load(Ordering::Relaxed)
    }

    /// Kills the server with SIGKILL.
    pub async fn kill(&self, mut server: Server) {
        server.signal(Signal::SIGKILL);
        let status =
            timeout(PATIENCE, self.ended(&mut server)).await.expect("an end, and none came");
        assert_eq!(
            status.signal(),
            Some(Signal::SIGKILL as i32),
            "the server ended by itself: {status}; {}",
            self.said()
        );
    }

    /// Stops the server with SIGTERM, as an operator does.
    pub async fn stop(&self, mut server: Server) {
        server.signal(Signal::SIGTERM);
        let status =
            timeout(PATIENCE, self.ended(&mut server)).await.expect("an end, and none came");
        assert!(status.success(), "{status}; {}", self.said());
    }

    /// Returns the damage in the data folder, while no server uses it.
    pub async fn damage(&self) -> Vec<String> {
        let log = SqliteLog::open(&self.data()).unwrap();
        let verified = log.verify().await;
        log.close().await.unwrap();
        let empty = (verified.events == 0).then(|| "there are no events".to_owned());
        verified.faults.iter().map(ToString::to_string).chain(empty).collect()
    }

    /// Returns the servers' standard error.
    pub fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }
}

/// Returns the start-up credential in a data folder; `None` if no server has written it yet.
pub fn key_in(data: &Path) -> Option<String> {
    let key = fs::read_to_string(data.join("startup.key")).ok()?;
    let key: Value = serde_json::from_str(&key).ok()?;
    key["key"].as_str().map(str::to_owned)
}

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    _lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    pub fn signal(&self, signal: Signal) {
        let id = self.child.id().expect("it has not been waited for");
        kill(Pid::from_raw(id.try_into().unwrap()), signal).unwrap();
    }

    /// Waits until the server ends by itself.
    pub async fn wait(&mut self) -> ExitStatus {
        self.child.wait().await.unwrap()
    }
}

/// True if a process ended at a crash point.
pub fn crashed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::SIGABRT as i32)
}

/// Returns a client without TLS. reqwest still needs an installed TLS provider.
pub fn plain() -> reqwest::ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}
