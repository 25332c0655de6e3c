//! The socket of hooks: they notify the server of a new report, tell it of the use of a tool, and
//! ask for permissions.

use std::io::{self, Write};
use std::os::unix::net::UnixStream as BlockingStream;
use std::time::Duration;

use moothall_engine::sessions::Permit;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::folder::{SpoolFolder, reachable};
use super::note::Note;

/// Longest call that is read, in bytes: the longest payload and record, with every byte escaped.
pub(super) const CALL_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A hook's request, one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HookCall {
    /// A new report of this session.
    Ring {
        /// The name of the session's folder.
        session: String,
    },
    /// A report that is sent one time and is not stored.
    Passing(Note),
    /// A question whose answer, a [`Permit`] on one line, the hook waits for.
    Ask(Note),
}

/// Returns a value as one line of JSON.
pub(super) fn line<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Connects as a hook.
pub(super) fn connect(spool: &SpoolFolder) -> io::Result<BlockingStream> {
    let (path, _open) = reachable(&spool.socket())?;
    BlockingStream::connect(path)
}

/// Calls the server, but returns after `within` at the latest: a server that no longer accepts must
/// not block the hook.
pub(super) fn ring(spool: &SpoolFolder, call: HookCall, within: Duration) {
    let (rung, heard) = std::sync::mpsc::channel();
    let spool = spool.clone();
    std::thread::spawn(move || {
        // Without a server the call fails. A report in the spool stays there for the server's next
        // start.
        let _ = connect(&spool).and_then(|mut stream| stream.write_all(&line(&call)?));
        let _ = rung.send(());
    });
    let _ = heard.recv_timeout(within);
}

/// A connected hook.
pub(super) struct Caller(BufReader<UnixStream>);

impl Caller {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self(BufReader::new(stream))
    }

    /// Reads the hook's request; `None` if it is not a valid call.
    pub(super) async fn call(&mut self) -> Option<HookCall> {
        let mut text = Vec::new();
        (&mut self.0).take(CALL_BYTES_MAX).read_until(b'\n', &mut text).await.ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Waits until the hook disconnects. A hook sends nothing after its call.
    pub(super) async fn gone(&mut self) {
        let mut more = [0; 64];
        while matches!(self.0.read(&mut more).await, Ok(1..)) {}
    }

    pub(super) async fn answer(mut self, answer: Permit) -> io::Result<()> {
        self.0.write_all(&line(&answer)?).await?;
        self.0.shutdown().await
    }
}
