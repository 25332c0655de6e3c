//! A report as a file in the spool: its session, and the program's exact words.

use serde::{Deserialize, Serialize};

/// Longest payload that is stored, in bytes. Agents' messages are far shorter; a longer payload is
/// cut and marked as such.
pub const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;

/// A report of a program, not interpreted yet.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// A unique id that rises with time; the name of the file.
    pub id: String,
    /// The session, from the program's environment.
    pub session: String,
    /// The session's secret, from the program's environment.
    pub token: String,
    /// The program: `claude`, `codex`, `gemini`, or another.
    pub program: String,
    /// The program's name of the event.
    pub event: String,
    /// The program's exact payload for the event.
    pub payload: String,
    /// True if the payload was longer and lost its end.
    #[serde(default)]
    pub cut: bool,
    /// The agent's last words from the program's own record, for programs whose report garbles
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// The error that ended the turn, from that record, for programs whose report does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The words before a pass of the talking piece, from that record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_pass: Option<String>,
}

impl std::fmt::Debug for Note {
    /// Leaves out the secret and all words.
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

/// Returns a payload of any bytes as text, and true if it was cut.
pub fn payload(bytes: &[u8]) -> (String, bool) {
    let kept = &bytes[..bytes.len().min(PAYLOAD_BYTES_MAX)];
    (String::from_utf8_lossy(kept).into_owned(), kept.len() < bytes.len())
}
