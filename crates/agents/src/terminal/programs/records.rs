//! The second source of a turn's last words, for reports without them: the program's own record of
//! its session.
//!
//! The hook reads the record as a child of the program and with the same rights, so a program that
//! names a file only gets at contents that it could report anyway. Without a report,
//! [`Search`](super::Search) finds the record, as the user of the program. Even so, a record counts
//! only if it is a plain file, and only its end is read. For a report of Claude Code or Codex, the
//! name of the file must also hold the id of the program's own session. Lines that are not JSON are
//! skipped. Only lines after the newest prompt count: earlier ones belong to another turn.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use serde_json::Value;

/// Most bytes read from the end of a record.
pub(super) const END_BYTES_MAX: u64 = 1024 * 1024;

/// Returns the end of a plain file.
pub(super) fn end_of(record: &Path) -> Option<String> {
    last_bytes(record, END_BYTES_MAX)
}

/// Returns at most `bytes_max` bytes of the end of a plain file. A link is not followed.
pub(super) fn last_bytes(record: &Path, bytes_max: u64) -> Option<String> {
    let no_link = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let mut file = File::options().read(true).custom_flags(no_link.bits()).open(record).ok()?;
    let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(bytes_max))).ok()?;
    let mut end = Vec::new();
    file.take(bytes_max).read_to_end(&mut end).ok()?;
    Some(String::from_utf8_lossy(&end).into_owned())
}

/// Returns the objects in the lines of a record's end, the newest first. Other lines, such as the
/// rest of a cut one, are skipped.
pub(super) fn lines(end: &str) -> impl Iterator<Item = Value> + '_ {
    end.lines()
        .rev()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(Value::is_object)
}

/// Returns the objects of the lines after `at`, in their order.
pub(super) fn behind<'a>(lines: &'a [&str], at: usize) -> impl Iterator<Item = Value> + 'a {
    lines[at + 1..]
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(Value::is_object)
}

pub(super) fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Returns the message of an error without the server's response around it.
pub(super) fn trouble(note: String) -> String {
    let body = note.trim_start_matches("[API Error: ").trim_end_matches(']');
    let parsed = serde_json::from_str::<Value>(body).ok();
    let message = parsed.as_ref().and_then(|parsed| parsed["error"]["message"].as_str());
    message.filter(|message| !message.trim().is_empty()).map(str::to_owned).unwrap_or(note)
}

/// Returns the text of a field; `None` if missing, blank or not a string.
pub(super) fn text(payload: &Value, field: &str) -> Option<String> {
    payload
        .get(field)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}
