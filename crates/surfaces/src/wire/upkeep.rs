//! What people do to a conversation beside speaking: erasing words, and noting how far they have
//! read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;

/// Answer of `POST /threads/{id}/events/{event}/redact`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Redacted {
    /// Always `true`: the words are gone.
    pub redacted: bool,
    /// The event that says so; `null` when they were gone already.
    pub event: Option<Envelope>,
}

/// Answer of `DELETE /threads/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadDeleted {
    /// Always `true`: the thread is gone for everybody.
    pub deleted: bool,
    /// Whether nothing of it is left in the data folder. Where a full disk was in the way, the rest
    /// goes when the request is repeated, or when the server starts again.
    pub erased: bool,
    /// What still holds it, in a sentence for people.
    pub backups: String,
}

impl ThreadDeleted {
    /// What is said of backups.
    pub const BACKUPS: &str = "Backups that were made before still hold it.";
}

/// Body of `PUT /threads/{id}/read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReadMark {
    /// Who has read; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Everything up to and with this position.
    #[schema(maximum = 9007199254740991_i64)]
    pub seq: u64,
}

/// Answer of `PUT /threads/{id}/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadMark {
    /// The id of the thread.
    pub thread: String,
    /// Whose mark it is.
    pub reader: String,
    /// Where it is now: it never goes back, and never past the thread's newest event.
    pub read: u64,
    /// Messages of others after it; 100 stands for 100 or more.
    pub unread: u64,
}
