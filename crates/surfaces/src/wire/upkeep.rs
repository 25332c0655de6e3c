//! Upkeep of a conversation by people: erasing words, deleting a thread, and marking events as
//! read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;

/// Answer of `POST /threads/{id}/events/{event}/redact`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Redacted {
    /// Always `true`: the words are erased.
    pub redacted: bool,
    /// The event of the redaction; `null` if the words were erased already.
    pub event: Option<Envelope>,
}

/// Answer of `DELETE /threads/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadDeleted {
    /// Always `true`: the thread is deleted for all participants.
    pub deleted: bool,
    /// True if the data folder has nothing of the thread any more. If a full disk prevented this,
    /// the rest is erased when the request is repeated or the server restarts.
    pub erased: bool,
    /// Note for people about backups that still hold the thread.
    pub backups: String,
}

impl ThreadDeleted {
    /// The note about backups.
    pub const BACKUPS: &str = "Earlier backups still contain it.";
}

/// Body of `PUT /threads/{id}/read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReadMark {
    /// Id of the reader; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Position of the last event that was read, inclusive.
    #[schema(maximum = 9007199254740991_i64)]
    pub seq: u64,
}

/// Answer of `PUT /threads/{id}/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadMark {
    /// Id of the thread.
    pub thread: String,
    /// Id of the reader.
    pub reader: String,
    /// Position of the mark now. A mark never moves back, nor past the thread's newest event.
    pub read: u64,
    /// Number of messages of others after the mark; 100 stands for 100 or more.
    pub unread: u64,
}
