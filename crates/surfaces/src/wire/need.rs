//! Needs on the wire: what waits for one reader.

use moothall_engine::door::{NeedSubject, PendingNeed};
use moothall_kernel::event::Event;
use moothall_kernel::permission::PermissionOption;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;

/// Answer of `GET /needs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NeedsAnswer {
    /// Entries that wait for the reader, oldest first.
    pub needs: Vec<NeedEntry>,
}

/// The `needs` signal of `GET /events/stream`: all that waits for the reader in one thread now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NeedsSignal {
    /// Id of the thread.
    pub thread: String,
    /// Entries that wait for the reader there, oldest first. They replace the thread's earlier
    /// ones.
    pub needs: Vec<NeedEntry>,
}

/// Something that waits for the reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NeedEntry {
    /// Id of the entry. It stays the same for as long as the entry waits.
    pub id: String,
    /// Kind of the entry: `permission`, `question`, `guard`, `piece`, `harvest`, `failure`,
    /// `mention` or `missed`.
    pub kind: String,
    /// Id of the thread.
    pub thread: String,
    /// Title of the thread.
    pub title: String,
    /// Id of the participant that asks, failed or wrote; absent for a guard and the piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// Name of that participant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Start of the wait; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Id of the permission by which a question is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    /// Guard that holds the floor: `exchanges`, `pair`, `repeat` or `stopped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// Number of earlier unseen messages to the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<usize>,
    /// The event: the question, the failure, or the newest message to the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Envelope>,
    /// Position with which the reader's mark passes the entry; absent if it waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_at: Option<u64>,
}

impl NeedEntry {
    /// Returns a need for the wire.
    pub fn of(need: &PendingNeed) -> Self {
        let (mut permission, mut guard, mut earlier) = (None, None, None);
        match &need.subject {
            NeedSubject::Card(id) | NeedSubject::Missed(id) => {
                permission = Some(id.to_string());
            }
            NeedSubject::Guard(held) => guard = Some(held.to_string()),
            NeedSubject::Mention { earlier: count } => earlier = Some(*count),
            NeedSubject::Piece | NeedSubject::Harvest | NeedSubject::Failure => {}
        }
        let (kind, thread) = (kind_of(need), need.thread.to_string());
        let event = need.event.as_ref().map(|event| Envelope::of(&need.thread, event));
        let since = need.since.map(|since| since.to_string());
        let subject = permission.clone().or_else(|| event.as_ref().map(|event| event.id.clone()));
        let own = subject.or_else(|| since.clone()).unwrap_or_default();
        Self {
            id: format!("{kind}:{thread}:{own}"),
            kind: kind.to_owned(),
            thread,
            title: need.title.clone(),
            participant: need.participant.as_ref().map(ToString::to_string),
            name: need.name.clone(),
            since,
            permission,
            guard,
            earlier,
            event,
            passed_at: need.passed_at.map(|at| at.0),
        }
    }
}

/// Returns the word for a need. A question that is answered in own words or by several options asks
/// for more than permission; the reason of a refusal does not.
fn kind_of(need: &PendingNeed) -> &'static str {
    match &need.subject {
        NeedSubject::Card(_) => {
            let asks_more = |options: &[PermissionOption]| {
                let is_more = |option: &PermissionOption| {
                    option.with_others || (option.takes_text && !option.kind.refuses())
                };
                options.iter().any(is_more)
            };
            match need.event.as_ref().map(|recorded| &recorded.event) {
                Some(
                    Event::PermissionRequested { options, .. }
                    | Event::QuestionAsked { options, .. },
                ) if asks_more(options) => "question",
                _ => "permission",
            }
        }
        NeedSubject::Guard(_) => "guard",
        NeedSubject::Piece => "piece",
        NeedSubject::Harvest => "harvest",
        NeedSubject::Failure => "failure",
        NeedSubject::Mention { .. } => "mention",
        NeedSubject::Missed(_) => "missed",
    }
}
