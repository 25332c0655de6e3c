//! The second source of a turn's last words, for reports that do not hold them: what the program
//! itself has recorded of its session.
//!
//! The hook reads here, as a child of the program and with no more rights than the program has, so
//! naming a file gives a program nothing that it could not put into its report anyway. If no report
//! comes, [`Search`](super::Search) finds the record, as the user of the program. Even so a record
//! counts only as a plain file whose name holds the id of the program's own session, and only its
//! end is read. Lines that are no JSON are passed over. Looked at are the lines after the newest
//! prompt alone: the words of an earlier turn are never those of this one, and words before a tool
//! was used are not the last ones.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use serde_json::Value;

/// How much of a record is looked at, from its end, in bytes.
pub(super) const END_BYTES_MAX: u64 = 1024 * 1024;

/// The end of a plain file.
pub(super) fn end_of(record: &Path) -> Option<String> {
    last_bytes(record, END_BYTES_MAX)
}

/// Reads at most this much of the end of a plain file. A link is not followed.
pub(super) fn last_bytes(record: &Path, bytes_max: u64) -> Option<String> {
    let no_link = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let mut file = File::options().read(true).custom_flags(no_link.bits()).open(record).ok()?;
    let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(bytes_max))).ok()?;
    let mut end = Vec::new();
    file.take(bytes_max).read_to_end(&mut end).ok()?;
    Some(String::from_utf8_lossy(&end).into_owned())
}

/// Its lines, the newest first; what is no object, such as the rest of a line that was cut, is
/// passed over.
pub(super) fn lines(end: &str) -> impl Iterator<Item = Value> + '_ {
    end.lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(Value::is_object)
}

/// Returns the objects of the lines behind one, in their order.
pub(super) fn behind<'a>(lines: &'a [&str], at: usize) -> impl Iterator<Item = Value> + 'a {
    lines[at + 1..]
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(Value::is_object)
}

pub(super) fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Returns the message of an error without the response of the server around it.
pub(super) fn trouble(note: String) -> String {
    let body = note.trim_start_matches("[API Error: ").trim_end_matches(']');
    let told = serde_json::from_str::<Value>(body).ok();
    let message = told.as_ref().and_then(|told| told["error"]["message"].as_str());
    message.filter(|message| !message.trim().is_empty()).map(str::to_owned).unwrap_or(note)
}

/// A field's words; nothing where it is missing, empty or no text.
pub(super) fn text(payload: &Value, field: &str) -> Option<String> {
    payload
        .get(field)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}
