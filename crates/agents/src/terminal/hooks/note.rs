//! A report as it lies in the spool: what the program said, word for word, and for which session.

use serde::{Deserialize, Serialize};

/// Longest payload that is kept, in bytes. Agents' messages are far shorter; what is longer is cut
/// and says so.
pub const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;

/// A report of a program, not understood yet.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Unique, and rising with time: the name of its file.
    pub id: String,
    /// The session that its environment names.
    pub session: String,
    /// The secret that its environment holds.
    pub token: String,
    /// Which program: `claude`, `codex`, `gemini`, or another.
    pub program: String,
    /// What the program calls the event.
    pub event: String,
    /// What the program said of it, as it said it.
    pub payload: String,
    /// Whether the payload was longer and lost its end.
    #[serde(default)]
    pub cut: bool,
    /// The agent's last words according to the program's own record, for programs whose report
    /// garbles them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// The error that ended the turn according to that record, for programs whose report does not
    /// tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The words before a pass of the talking piece according to that record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_pass: Option<String>,
}

impl std::fmt::Debug for Note {
    /// Without the secret and without anybody's words.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Note")
            .field("id", &self.id)
            .field("session", &self.session)
            .field("program", &self.program)
            .field("event", &self.event)
            .field("bytes", &self.payload.len())
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

/// A payload of any bytes as text, and whether it had to be cut.
pub fn payload(bytes: &[u8]) -> (String, bool) {
    let kept = &bytes[..bytes.len().min(PAYLOAD_BYTES_MAX)];
    (String::from_utf8_lossy(kept).into_owned(), kept.len() < bytes.len())
}
