//! The port to posts between computers: the numbers of rows for them, and the marks of rows taken
//! from them.

use async_trait::async_trait;
use moothall_kernel::ids::ComputerId;
use serde_json::Value;

use super::error::LogError;
use super::post_marks::PostChannel;

/// The evidence of the rows of a computer that was forgotten.
pub const COMPUTER_FORGOTTEN: &str = "this computer was forgotten";

/// The numbers and marks that appends have moved. A channel's mark moves only in the append that
/// takes its rows ([`StreamBatch::marks`](super::StreamBatch::marks)).
#[async_trait]
pub trait PostBook: Send + Sync + 'static {
    /// Returns the mark of a channel: the number of the newest row that was taken from it, or 0.
    async fn through(&self, channel: &PostChannel) -> Result<u64, LogError>;
    /// Returns the marks of all channels of a computer, in the order of their logs.
    async fn marks(&self, sender: &ComputerId) -> Result<Vec<(PostChannel, u64)>, LogError>;
    /// Returns the number of the newest row for a computer; 0 if there is none.
    async fn last_number(&self, computer: &ComputerId) -> Result<u64, LogError>;
    /// Forgets a computer, in one write. The open rows for it fail ([`COMPUTER_FORGOTTEN`]) and
    /// lose their commands, its marks are removed, and its numbers begin again at 1. Returns the
    /// number of rows that failed.
    async fn forget(&self, computer: &ComputerId) -> Result<u64, LogError>;
    /// Marks all open rows of a restored log as doubtful, in one write, because they may have
    /// arrived before. They become `unknown` with this evidence and lose their commands. All
    /// numbers begin again at 1: the log has another id now, so its channels are new. The marks
    /// stay.
    async fn doubt_all(&self, why: &str) -> Result<(), LogError>;
}

/// True if an open row for a computer keeps its command when its stream is deleted. The command, or
/// the record around it, has `"keep": true` then. Without its command a row carries only its
/// number.
///
/// The log cannot distinguish words from references in a command. It removes the command unless its
/// author says with `keep` that it has no words. If an author forgets `keep`, an effect is lost. If
/// the log kept words by default, an author's mistake would break the promise of a deletion.
pub fn keeps_command(command: &str) -> bool {
    let command: Value = serde_json::from_str(command).unwrap_or_default();
    command["keep"] == true || command["command"]["keep"] == true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_kept_only_if_it_says_so() {
        for (command, keeps) in [
            (r#"{"post":"ended","keep":true}"#, true),
            (r#"{"hops":1,"command":{"post":"ended","keep":true}}"#, true),
            (r#"{"post":"say","text":"\"keep\":true"}"#, false),
            (r#"{"post":"say","keep":"true"}"#, false),
            (r#"{"post":"say","to":{"keep":true}}"#, false),
            (r#"{"post":"say","keep":false}"#, false),
            (r#"{"post":"ended","keep":true"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(keeps_command(command), keeps, "{command}");
        }
    }
}
