//! The second source of a turn's last words, for reports that do not hold them: what the program
//! itself has recorded of its session.
//!
//! It is the hook that reads here, as a child of the program and with no more rights than that has,
//! so naming a file gives a program nothing that it could not put into its report anyway; the
//! server never opens one. Even so a record counts only as a plain file whose name holds the id of
//! the program's own session, and only its end is read. Lines that are no JSON are passed over.
//! Looked at are the lines after the newest prompt alone: the words of an earlier turn are never
//! those of this one, and words before a tool was used are not the last ones.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

/// How much of a record is looked at, from its end, in bytes.
pub(super) const END_BYTES_MAX: u64 = 1024 * 1024;

/// The end of a plain file.
pub(super) fn end_of(record: &Path) -> Option<String> {
    let about = fs::symlink_metadata(record).ok().filter(fs::Metadata::is_file)?;
    let mut file = File::open(record).ok()?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(END_BYTES_MAX))).ok()?;
    let mut end = Vec::new();
    file.take(END_BYTES_MAX).read_to_end(&mut end).ok()?;
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

pub(super) fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// A field's words; nothing where it is missing, empty or no text.
pub(super) fn text(payload: &Value, field: &str) -> Option<String> {
    payload
        .get(field)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}
