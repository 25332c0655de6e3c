//! The hook that waits: a question for a permission, until a person answers it here, or nobody
//! does.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use moothall_engine::sessions::Permit;

use super::bell::{HookCall, HookReply, connect, line};
use super::folder::SpoolFolder;
use super::note::Note;

/// How long a hook waits for an answer, in seconds.
pub const PERMISSION_SECONDS: u64 = 600;
/// How long a server that took the question may be away before its hook gives up: time for a
/// restart.
const AWAY_WITHIN: Duration = Duration::from_secs(60);
const TRY_EVERY: Duration = Duration::from_millis(250);

/// Asks the server, and waits. A server that is away from the beginning decides nothing.
pub(super) fn ask(spool: &Path, note: Note) -> io::Result<Permit> {
    let Some(spool) = SpoolFolder::around(spool) else { return Ok(Permit::Undecided) };
    let call = line(&HookCall::Ask(note))?;
    let until = Instant::now() + Duration::from_secs(PERMISSION_SECONDS);
    let mut seen = None;
    loop {
        match once(&spool, &call, until, &mut seen) {
            Ok(Some(answer)) => return Ok(answer.into()),
            Err(error) if seen.is_none() => return Err(error),
            // It went away over the question. After its restart it has to be asked again.
            Ok(None) | Err(_) => {}
        }
        let lost = seen.is_none_or(|seen: Instant| seen.elapsed() > AWAY_WITHIN);
        if lost || Instant::now() > until {
            return Ok(Permit::Undecided);
        }
        std::thread::sleep(TRY_EVERY);
    }
}

/// Asks once; nothing when the server ended before it answered.
fn once(
    spool: &SpoolFolder,
    call: &[u8],
    until: Instant,
    seen: &mut Option<Instant>,
) -> io::Result<Option<HookReply>> {
    let mut stream = connect(spool)?;
    *seen = Some(Instant::now());
    stream.write_all(call)?;
    let left = until.saturating_duration_since(Instant::now());
    // A wait of no length would be refused.
    stream.set_read_timeout(Some(left.max(TRY_EVERY)))?;
    let mut answer = String::new();
    let read = BufReader::new(stream).read_line(&mut answer);
    *seen = Some(Instant::now());
    match read? {
        0 => Ok(None),
        _ => Ok(serde_json::from_str(&answer).ok()),
    }
}
