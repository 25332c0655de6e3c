//! The three pipes of a program, fed and read without blocking each other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::Notify;

/// Longest output without structure, and most words in structured output. An agent's message has
/// the same limit.
pub(super) const STDOUT_BYTES_MAX: usize = 256 * 1024;
/// Longest structured output, of which the words are only a part.
const STRUCTURED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes at the end of stderr that are stored.
const STDERR_BYTES_KEPT: usize = 4 * 1024;
/// Time that other processes may hold the pipes after the program exited.
pub(super) const GRACE: Duration = Duration::from_millis(250);

/// The error that a program wrote more than is accepted.
pub(super) struct TooLarge;

/// A program's output so far. It stays readable after reading was stopped.
pub(super) struct Output {
    pub(super) stdout: Arc<Stdout>,
    pub(super) stderr: Arc<Stderr>,
    from: Option<(ChildStdout, ChildStderr)>,
}

impl Output {
    /// Takes the pipes of a program. `keeps` selects the lines of structured output that are
    /// needed; it is `None` for an output without structure.
    pub(super) fn of(child: &mut Child, keeps: Option<fn(&str) -> bool>) -> Self {
        let grew = Arc::<Notify>::default();
        Self {
            stdout: Arc::new(Stdout { keeps, grew: grew.clone(), ..Stdout::default() }),
            stderr: Arc::new(Stderr { grew, ..Stderr::default() }),
            from: child.stdout.take().zip(child.stderr.take()),
        }
    }

    /// Reads both pipes to their ends. Fails as soon as the standard output is too long.
    pub(super) async fn read(&mut self) -> Result<(), TooLarge> {
        let Some((stdout, stderr)) = &mut self.from else { return Ok(()) };
        tokio::try_join!(read_all(stdout, &self.stdout), read_tail(stderr, &self.stderr))
            .map(|_| ())
    }
}

/// The standard output so far, readable while more arrives.
#[derive(Default)]
pub(super) struct Stdout {
    bytes: Mutex<Vec<u8>>,
    /// Shared with the standard error.
    grew: Arc<Notify>,
    /// The lines that are needed, if the output is structured.
    keeps: Option<fn(&str) -> bool>,
}

impl Stdout {
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lock().clone()
    }

    /// Waits until one of both outputs has grown since the last wait.
    pub(super) async fn grown(&self) {
        self.grew.notified().await;
    }

    /// Adds bytes of the output. If a structured output would get too long, its lines that are not
    /// needed are dropped first. Fails, and adds nothing, if the output would still be too long.
    fn push(&self, bytes: &[u8]) -> Result<(), TooLarge> {
        let mut all = self.lock();
        let limit = self.keeps.map_or(STDOUT_BYTES_MAX, |_| STRUCTURED_BYTES_MAX);
        if let Some(keeps) = self.keeps.filter(|_| all.len() + bytes.len() > limit) {
            *all = needed_lines(&all, keeps);
        }
        if all.len() + bytes.len() > limit {
            return Err(TooLarge);
        }
        all.extend_from_slice(bytes);
        self.grew.notify_one();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the whole lines that are needed, and the last one, which may be unfinished.
fn needed_lines(output: &[u8], keeps: fn(&str) -> bool) -> Vec<u8> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    let is_needed = |line: &&[u8]| !line.ends_with(b"\n") || keeps(&String::from_utf8_lossy(line));
    lines.filter(is_needed).flatten().copied().collect()
}

/// The end of the standard error so far, readable while more arrives.
#[derive(Default)]
pub(super) struct Stderr {
    tail: Mutex<Tail>,
    grew: Arc<Notify>,
}

impl Stderr {
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes()
    }

    fn push(&self, bytes: &[u8]) {
        self.lock().push(bytes);
        self.grew.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a stream.
#[derive(Default)]
struct Tail(VecDeque<u8>);

impl Tail {
    /// Adds bytes and removes the oldest ones beyond [`STDERR_BYTES_KEPT`].
    fn push(&mut self, bytes: &[u8]) {
        let fresh = &bytes[bytes.len().saturating_sub(STDERR_BYTES_KEPT)..];
        let over = (self.0.len() + fresh.len()).saturating_sub(STDERR_BYTES_KEPT);
        self.0.drain(..over);
        self.0.extend(fresh);
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().copied().collect()
    }
}

/// Writes everything and closes the pipe. A program may close it early, so errors are ignored.
pub(super) async fn feed(stdin: Option<ChildStdin>, document: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(document).await;
    }
}

async fn read_all(mut from: impl AsyncRead + Unpin, into: &Stdout) -> Result<(), TooLarge> {
    let mut chunk = vec![0; 16 * 1024];
    loop {
        // A pipe that can no longer be read counts as ended.
        let n = from.read(&mut chunk).await.unwrap_or(0);
        if n == 0 {
            return Ok(());
        }
        into.push(&chunk[..n])?;
    }
}

/// Reads a pipe to its end and stores its last bytes. It never fails; it has the error type of
/// [`read_all`] because both are joined.
async fn read_tail(mut from: impl AsyncRead + Unpin, into: &Stderr) -> Result<(), TooLarge> {
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let n = from.read(&mut chunk).await.unwrap_or(0);
        if n == 0 {
            return Ok(());
        }
        into.push(&chunk[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_end() {
        let mut tail = Tail::default();
        tail.push(b"start");
        for _ in 0..3 {
            tail.push(&[b'x'; 3000]);
        }
        tail.push(b"end");
        assert_eq!(tail.bytes().len(), STDERR_BYTES_KEPT);
        assert!(tail.bytes().ends_with(b"xend"));
    }
    #[test]
    fn structured_output_is_shortened_to_the_lines_that_are_needed() {
        let structured = Stdout { keeps: Some(|line| line.contains("need")), ..Stdout::default() };
        structured.push(b"need this\n").ok().unwrap();
        let long = [vec![b'x'; STRUCTURED_BYTES_MAX / 2], b"\n".to_vec()].concat();
        for _ in 0..5 {
            structured.push(&long).ok().unwrap();
        }
        structured.push(b"need that").ok().unwrap();
        let left = String::from_utf8(structured.bytes()).unwrap();
        assert!(left.starts_with("need this\n") && left.ends_with("\nneed that"));
        assert!(structured.push(&vec![b'x'; STRUCTURED_BYTES_MAX]).is_err());
        assert!(Stdout::default().push(&vec![b'x'; STDOUT_BYTES_MAX + 1]).is_err());
    }
}
