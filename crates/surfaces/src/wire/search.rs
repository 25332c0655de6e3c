//! What a search answers: threads, messages, and the pieces that matched.

use moothall_engine::ports::Hit;
use moothall_kernel::search::Piece;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `GET /search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer {
    /// The messages found, the newest first.
    pub hits: Vec<SearchHit>,
    /// Pass it as `cursor` for the next page; missing on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// Events that are not indexed yet, and so were not searched; 0 when nothing is missing.
    pub lag_events: u64,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchHit {
    /// The id of the thread in which it was said.
    pub thread: String,
    /// The title of that thread.
    pub thread_name: String,
    /// The id of the event that is the message.
    pub id: String,
    /// Its position in the thread.
    pub seq: u64,
    /// When it was said.
    pub ts: String,
    /// The id of the participant who said it.
    pub from: String,
    /// The words around the first match, on one line. Text, not markup: escape it as any other
    /// text.
    pub snippet: Vec<SnippetPiece>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SnippetPiece {
    /// The text of the piece.
    pub text: String,
    /// Whether they were searched for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub matched: bool,
}

impl SearchHit {
    /// A hit as it travels.
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
