//! The waiting hook: it asks for a permission and waits until a person answers in Moothall, or the
//! time is over.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use moothall_engine::sessions::Permit;

use super::folder::SpoolFolder;
use super::note::Note;
use super::socket::{HookCall, connect, line};

/// Longest wait of a hook for an answer, in seconds.
pub const PERMISSION_SECONDS: u64 = 600;
/// Longest absence of a server that took the question, after which its hook gives up: time for a
/// restart.
const AWAY_WITHIN: Duration = Duration::from_secs(60);
const TRY_EVERY: Duration = Duration::from_millis(250);

/// Asks the server, and waits for the answer. If the server exits before it answers, asks again
/// after its restart. Returns [`Permit::Undecided`] if the server stays away for [`AWAY_WITHIN`] or
/// the time is over. Fails if the server cannot be reached at the beginning.
pub(super) fn ask(spool: &Path, note: Note) -> io::Result<Permit> {
    let Some(spool) = SpoolFolder::around(spool) else { return Ok(Permit::Undecided) };
    let call = line(&HookCall::Ask(note))?;
    let until = Instant::now() + Duration::from_secs(PERMISSION_SECONDS);
    let mut seen = None;
    loop {
        match once(&spool, &call, until, &mut seen) {
            Ok(Some(answer)) => return Ok(answer),
            Err(error) if seen.is_none() => return Err(error),
            // The server exited before it answered. Ask again after its restart.
            Ok(None) | Err(_) => {}
        }
        let lost = seen.is_none_or(|seen: Instant| seen.elapsed() > AWAY_WITHIN);
        if lost || Instant::now() > until {
            return Ok(Permit::Undecided);
        }
        std::thread::sleep(TRY_EVERY);
    }
}

/// Asks one time. Returns `None` if the server exited before it answered, or if its answer cannot
/// be read. `seen` becomes the time at which the server was last connected.
fn once(
    spool: &SpoolFolder,
    call: &[u8],
    until: Instant,
    seen: &mut Option<Instant>,
) -> io::Result<Option<Permit>> {
    let mut stream = connect(spool)?;
    *seen = Some(Instant::now());
    stream.write_all(call)?;
    let left = until.saturating_duration_since(Instant::now());
    // A timeout of zero would be an error.
    stream.set_read_timeout(Some(left.max(TRY_EVERY)))?;
    let mut answer = String::new();
    let read = BufReader::new(stream).read_line(&mut answer);
    // The connection was open until now, so the absence of the server counts from here.
    *seen = Some(Instant::now());
    match read? {
        0 => Ok(None),
        _ => Ok(serde_json::from_str(&answer).ok()),
    }
}
