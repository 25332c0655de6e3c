//! The socket at which hooks ring, so that a report is read at once, and at which they ask for a
//! permission.

use std::io::{self, Write};
use std::os::unix::net::UnixStream as BlockingStream;
use std::time::Duration;

use moothall_engine::sessions::Permit;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::folder::{SpoolFolder, reachable};
use super::note::Note;

/// Longest call that is read, in bytes: a payload and a record of the greatest length, however they
/// are escaped.
pub(super) const CALL_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a hook wants. One line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HookCall {
    /// There is a report of this session.
    Ring {
        /// The name of its folder.
        session: String,
    },
    /// It waits for the answer to this.
    Ask(Note),
}

/// The answer to [`Call::Ask`], on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HookReply {
    Allow,
    Deny,
    GaveUp,
    TooMany,
    Undecided,
}

impl From<Permit> for HookReply {
    fn from(permit: Permit) -> Self {
        match permit {
            Permit::Allow => HookReply::Allow,
            Permit::Deny => HookReply::Deny,
            Permit::GaveUp => HookReply::GaveUp,
            Permit::TooMany => HookReply::TooMany,
            Permit::Undecided => HookReply::Undecided,
        }
    }
}

impl From<HookReply> for Permit {
    fn from(answer: HookReply) -> Self {
        match answer {
            HookReply::Allow => Permit::Allow,
            HookReply::Deny => Permit::Deny,
            HookReply::GaveUp => Permit::GaveUp,
            HookReply::TooMany => Permit::TooMany,
            HookReply::Undecided => Permit::Undecided,
        }
    }
}

/// A call as it goes over the socket.
pub(super) fn line<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Connects as a hook.
pub(super) fn connect(spool: &SpoolFolder) -> io::Result<BlockingStream> {
    let (path, _open) = reachable(&spool.bell())?;
    BlockingStream::connect(path)
}

/// Rings, for no longer than this: a server that has stopped to listen would otherwise hold the
/// hook up.
pub(super) fn ring(spool: &SpoolFolder, call: HookCall, within: Duration) {
    let (rung, heard) = std::sync::mpsc::channel();
    let spool = spool.clone();
    std::thread::spawn(move || {
        // Nobody is there to be told when the server is away.
        let _ = connect(&spool).and_then(|mut stream| stream.write_all(&line(&call)?));
        let _ = rung.send(());
    });
    let _ = heard.recv_timeout(within);
}

/// A hook that called.
pub(super) struct Caller(BufReader<UnixStream>);

impl Caller {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self(BufReader::new(stream))
    }

    /// What it wants; nothing when it is no call.
    pub(super) async fn call(&mut self) -> Option<HookCall> {
        let mut text = Vec::new();
        (&mut self.0).take(CALL_BYTES_MAX).read_until(b'\n', &mut text).await.ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Waits until it goes away. It says nothing more after its call.
    pub(super) async fn gone(&mut self) {
        let mut more = [0; 64];
        while matches!(self.0.read(&mut more).await, Ok(1..)) {}
    }

    pub(super) async fn answer(mut self, answer: HookReply) -> io::Result<()> {
        self.0.write_all(&line(&answer)?).await?;
        self.0.shutdown().await
    }
}
