//! A real server on a real folder, with every write and sync of its files as system calls.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use moothall_kernel::ids::StreamId;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::house::plain;

/// Files that a power loss can affect. The index of the write-ahead log is only a memory map, and
/// is rebuilt.
pub const FILES: [&str; 4] = ["moothall.db", "moothall.db-wal", "search.db", "search.db-wal"];

const WRITERS: usize = 4;
/// Messages per writer: enough for a few checkpoints.
const MESSAGES: usize = 90;
const WORDS: usize = 9000;

/// One operation on a file.
pub struct Step {
    /// Index in [`FILES`].
    pub file: usize,
    /// Start time, in microseconds of the wall clock.
    pub at: u64,
    pub change: FileChange,
}

pub enum FileChange {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { length: usize },
    Sync,
}

/// An acknowledged message.
pub struct AcknowledgedMessage {
    pub at: u64,
    pub seq: u64,
    pub words: String,
}

pub struct Recording {
    pub thread: StreamId,
    /// Files before the first step.
    pub before: Vec<Vec<u8>>,
    pub steps: Vec<Step>,
    pub acknowledged: Vec<AcknowledgedMessage>,
}

impl Recording {
    /// Runs one server to a clean end, and then one that is recorded and killed.
    pub async fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let server = RecordedServer::start(&folder, None);
        let thread = server.post("/threads", json!({"name": "room"})).await;
        let thread = thread["id"].as_str().unwrap().to_owned();
        server.end(Signal::SIGTERM);
        let before = FILES.map(|file| fs::read(data.join(file)).unwrap_or_default()).to_vec();

        let server = RecordedServer::start(&folder, Some(&data));
        let writers = (0..WRITERS).map(|writer| write(&server, &thread, writer));
        let acknowledged = join_all(writers).await.into_iter().flatten().collect();
        server.end(Signal::SIGKILL);
        let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
        let steps = trace.lines().filter_map(|line| read(line, &data)).collect();
        Self { thread: StreamId::new(thread), before, steps, acknowledged }
    }

    /// Returns the number of syncs.
    pub fn syncs(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.change, FileChange::Sync)).count()
    }
}

/// Sends messages in sequence, and records the acknowledged ones.
async fn write(server: &RecordedServer, thread: &str, writer: usize) -> Vec<AcknowledgedMessage> {
    let mut acknowledged = Vec::new();
    for message in 0..MESSAGES {
        let words = format!("{writer}-{message} {}", "some words ".repeat(WORDS / 11));
        let words = words.trim_end().to_owned();
        let said = server
            .post(&format!("/threads/{thread}/events"), json!({"from": "user", "content": words}))
            .await;
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
        let seq = said["event"]["seq"].as_u64().unwrap();
        acknowledged.push(AcknowledgedMessage { at: at as u64, seq, words });
    }
    acknowledged
}

/// Reads a line of `strace -f -ttt -y -xx`; `None` for the end of an earlier line.
fn read(line: &str, data: &Path) -> Option<Step> {
    let (_, line) = line.split_once(' ')?;
    let (time, call) = line.trim_start().split_once(' ')?;
    let (seconds, micros) = time.split_once('.')?;
    let at = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
    let (name, arguments) = call.split_once('(')?;
    let path = unescape(arguments.split_once('<')?.1.split_once('>')?.0);
    let path = Path::new(std::str::from_utf8(&path).ok()?).strip_prefix(data).ok()?.to_owned();
    let file = FILES.iter().position(|file| Path::new(file) == path)?;
    let rest = arguments.split_once('>')?.1.trim_start_matches(", ");
    let change = match name {
        "pwrite64" => {
            let (bytes, numbers) = rest.strip_prefix('"')?.split_once('"')?;
            let offset = number(numbers.trim_start_matches(", ").split_once(", ")?.1)?;
            FileChange::Write { offset, bytes: unescape(bytes) }
        }
        "ftruncate" => FileChange::Truncate { length: number(rest)? },
        "fdatasync" | "fsync" => FileChange::Sync,
        other => panic!("{other} is not replayed"),
    };
    Some(Step { file, at, change })
}

fn number(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

/// Returns the bytes of `\x2f\x74`.
fn unescape(text: &str) -> Vec<u8> {
    let hex = text.split("\\x").skip(1);
    hex.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

struct RecordedServer {
    /// The server, or the `strace` that records it.
    child: Child,
    pid: Pid,
    url: String,
    http: reqwest::Client,
}

impl RecordedServer {
    fn start(folder: &TempDir, recorded: Option<&Path>) -> Self {
        let mut command = match recorded {
            None => Command::new(env!("CARGO_BIN_EXE_moothall")),
            Some(data) => {
                let mut command = Command::new("strace");
                command.args(["-f", "-ttt", "-y", "-xx", "-s", "1000000", "-e", "signal=none"]);
                command.args(["-e", "trace=write,pwritev,pwrite64,ftruncate,fdatasync,fsync"]);
                command.args(["-e", "quiet=all", "-o"]).arg(folder.path().join("trace"));
                for file in FILES {
                    command.arg("-P").arg(data.join(file));
                }
                command.arg(env!("CARGO_BIN_EXE_moothall"));
                command
            }
        };
        let data = folder.path().join("data");
        command.args(["serve", "--json", "--bind", "127.0.0.1:0", "--data"]).arg(data);
        command
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("MOOTHALL_DEMO_PACE", "instant");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut first).unwrap();
        let first: Value = serde_json::from_str(&first).unwrap();
        let own = child.id();
        let children = || fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
        let pid = if recorded.is_some() { children().trim().parse().unwrap() } else { own };
        let url = first["listening"].as_str().unwrap().to_owned();
        Self { child, pid: Pid::from_raw(pid as i32), url, http: plain().build().unwrap() }
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let answer =
            self.http.post(format!("{}{path}", self.url)).json(&body).send().await.unwrap();
        let (status, body) = (answer.status(), answer.json::<Value>().await.unwrap());
        assert!(status.is_success(), "{status}: {body}");
        body
    }

    fn end(mut self, signal: Signal) {
        kill(self.pid, signal).unwrap();
        self.child.wait().unwrap();
    }
}
