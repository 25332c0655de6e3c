//! Answers of a search: messages with the matching pieces of their text.

use moothall_engine::ports::Hit;
use moothall_kernel::search::Piece;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `GET /search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer {
    /// The found messages, newest first.
    pub hits: Vec<SearchHit>,
    /// Value of `cursor` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// Number of events that are not indexed yet and were not searched; 0 if the search was
    /// complete.
    pub lag_events: u64,
}

/// A found message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchHit {
    /// Id of the message's thread.
    pub thread: String,
    /// Title of that thread.
    pub thread_name: String,
    /// Id of the message's event.
    pub id: String,
    /// Position of the message in its thread.
    pub seq: u64,
    /// Time of the message.
    pub ts: String,
    /// Id of the participant that wrote the message.
    pub from: String,
    /// Text around the first match, on one line. Plain text, not markup: escape it for display.
    pub snippet: Vec<SnippetPiece>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SnippetPiece {
    /// Text of the piece.
    pub text: String,
    /// True if the piece matches the query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub matched: bool,
}

impl SearchHit {
    /// Returns a hit for the wire.
    pub fn of(hit: Hit, thread_name: String) -> Self {
        let from = hit.recorded.event.from().map(ToString::to_string).unwrap_or_default();
        Self {
            id: hit.recorded.id(&hit.stream).to_string(),
            seq: hit.recorded.seq.0,
            ts: hit.recorded.ts.to_string(),
            thread: hit.stream.to_string(),
            thread_name,
            from,
            snippet: hit
                .snippet
                .into_iter()
                .map(|Piece { text, matched }| SnippetPiece { text, matched })
                .collect(),
        }
    }
}
