//! The hook's side: writes a report and notifies the server, without waiting for the outcome.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use moothall_engine::sessions::Permit;
use uuid::{ContextV7, Timestamp, Uuid};

use super::folder::{SpoolFolder, write_private};
use super::note::{Note, payload};
use super::socket::{self, HookCall};
use super::{lenient_json, vendor, wait};
use crate::terminal::Vendor;

/// Longest wait for a notification. A server that is down or busy finds the report later.
const RING_WITHIN: Duration = Duration::from_millis(200);

/// A session's identity, from the environment of its programs.
#[derive(Clone, PartialEq, Eq)]
pub struct Surroundings {
    session: String,
    token: String,
    spool: PathBuf,
}

impl Surroundings {
    /// Reads the identity; `None` outside of a session, where no report is made.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let word = |name: &str| set(name).and_then(|value| value.into_string().ok());
        Some(Self {
            session: word("MOOTHALL_SESSION")?,
            token: word("MOOTHALL_SESSION_TOKEN")?,
            spool: set("MOOTHALL_SPOOL").map(PathBuf::from).filter(|path| path.is_absolute())?,
        })
    }

    /// Returns the report of an event. `said` is the hook's input; at the end of a turn, the
    /// program's own record adds the parts that the input lacks.
    fn note(&self, program: &str, event: &str, said: &[u8]) -> Note {
        let (payload, cut) = payload(said);
        let recorded = vendor::recorded(program, event, &payload, cut);
        let (program, event) = (program.to_owned(), event.to_owned());
        Note {
            id: rising_id(),
            session: self.session.clone(),
            token: self.token.clone(),
            program,
            event,
            payload,
            cut,
            recorded: recorded.words,
            trouble: recorded.trouble,
            before_pass: recorded.before_pass,
        }
    }
}

/// Returns a unique id that sorts by time, with the resolution of the clock.
fn rising_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let context = ContextV7::new().with_additional_precision();
    Uuid::new_v7(Timestamp::from_unix(context, now.as_secs(), now.subsec_nanos())).to_string()
}

/// Leaves a report in the spool for the server. Two kinds go through the server's socket instead,
/// without a file: a question, for whose decision the program waits, and the use of a tool. Outside
/// of a session, nothing is reported. Returns the text for the hook's standard output, and an error
/// that must not reach the program.
pub fn report(
    here: Option<&Surroundings>,
    program: &str,
    event: &str,
    said: &[u8],
) -> (String, io::Result<()>) {
    let vendor = Vendor::of(program);
    let acknowledged =
        vendor.table().report.as_ref().map_or("", |report| report.acknowledgement).to_owned();
    let Some(here) = here else { return (acknowledged, Ok(())) };
    let note = here.note(program, event, said);
    if let Some(decides) = vendor.decides(event) {
        let payload = lenient_json::object(&note.payload, note.cut).unwrap_or_default();
        return match wait::ask(&here.spool, note) {
            Ok(permit) => ((decides.words)(permit, &payload), Ok(())),
            Err(error) => ((decides.words)(Permit::Undecided, &payload), Err(error)),
        };
    }
    if vendor.passes(event) {
        ring_with(here, HookCall::Passing(note));
        return (acknowledged, Ok(()));
    }
    (acknowledged, leave(here, &note))
}

/// Writes the report into the session's folder, and notifies the server if it can be reached.
fn leave(here: &Surroundings, note: &Note) -> io::Result<()> {
    let bytes = serde_json::to_vec(note)?;
    write_private(&here.spool, &format!("{}.json", note.id), &bytes)?;
    ring_with(here, HookCall::Ring { session: note.session.clone() });
    Ok(())
}

/// Calls the server if it can be reached.
fn ring_with(here: &Surroundings, call: HookCall) {
    if let Some(spool) = SpoolFolder::around(&here.spool) {
        socket::ring(&spool, call, RING_WITHIN);
    }
}
