//! Needs: the questions and duties that wait for one reader, and the results that it has not seen.
//!
//! Questions, guards and the talking piece are in the state of their conversation. They wait until
//! they are answered. Failures, mentions and missed questions wait until the reader's mark passes
//! them. They are found in the log after the mark, among the newest events.

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::Conversation;
use moothall_kernel::cards::OpenCard;
use moothall_kernel::event::{Event, Guard, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::mentions::is_to;
use moothall_kernel::permission::WithdrawalReason;
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::{Viewer, visible};

use super::{Action, Door};
use crate::access::AccessError;
use crate::answers::HallError;
use crate::ports::{ListFilter, ListedStream, Scope};

/// Maximum number of the newest events of a conversation that are searched.
const EVENTS_MAX: u64 = 600;
/// Maximum number of conversations that are searched for unseen events: the unread ones with the
/// newest events.
const UNSEEN_MAX: usize = 100;

/// Something that waits for one reader.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingNeed {
    /// The conversation.
    pub thread: StreamId,
    /// The title of the conversation.
    pub title: String,
    /// The subject.
    pub subject: NeedSubject,
    /// The participant that asked, failed or wrote; `None` for a guard and for the piece.
    pub participant: Option<ParticipantId>,
    /// The name of the participant.
    pub name: Option<String>,
    /// Start of the wait, if known.
    pub since: Option<Timestamp>,
    /// The event of the need, if it has one.
    pub event: Option<RecordedEvent>,
    /// The position with which the reader's mark passes the need; `None` if the need waits for an
    /// answer.
    pub passed_at: Option<Seq>,
}

/// The subject of a need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeedSubject {
    /// An agent asks. The event has its question.
    Card(PermissionId),
    /// A guard holds the floor until a person continues.
    Guard(Guard),
    /// The reader holds the talking piece.
    Piece,
    /// The reader is asked for the harvest.
    Harvest,
    /// A turn failed. The event has the cause.
    Failure,
    /// A message is to the reader, or names the reader. The event is the newest of them.
    Mention {
        /// Number of earlier unseen messages of that kind.
        earlier: usize,
    },
    /// A question ended without an answer: its asker gave up, or its time ran out. The event has
    /// the question.
    Missed(PermissionId),
}

impl Door {
    /// Returns the needs of a reader in all conversations within reach, oldest first. Questions are
    /// returned only to a caller that may answer them, and holding guards only to one that may
    /// resume the floor. Agents get nothing.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn needs(&self, reader: &ParticipantId) -> Result<Vec<PendingNeed>, AccessError> {
        self.may(Action::ReadNeeds)?;
        let mut needs = Vec::new();
        for stream in self.streams_of_need(reader).await? {
            match self.needs_in(&stream, reader).await {
                Ok(found) => needs.extend(found),
                // A conversation that was deleted in the meantime, or cannot be read, must not hide
                // the others.
                Err(error) => tracing::debug!(%stream, %error, "needs are not shown"),
            }
        }
        needs.sort_by_key(|need| need.since);
        Ok(needs)
    }

    /// Returns the needs of a reader in one conversation, oldest first. An archived conversation
    /// has none. Agents get nothing.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller.
    pub async fn needs_in(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
    ) -> Result<Vec<PendingNeed>, AccessError> {
        self.enter(Action::ReadNeeds, stream)?;
        if self.caller.is_agent() {
            return Ok(Vec::new());
        }
        let unseen = self.unseen(stream, reader).await?;
        let listed = self.hall.find(stream).await?;
        if listed.catalog.archived {
            return Ok(Vec::new());
        }
        // Without open items the state is not needed, so a quiet conversation is not loaded.
        let is_open = listed.catalog.waits_for_people.is_none_or(|count| count > 0);
        let mut needs = if is_open || !unseen.is_empty() {
            self.needs_of_state(stream, reader, unseen).await?
        } else {
            Vec::new()
        };
        needs.sort_by_key(|need| need.since);
        Ok(needs)
    }

    /// Returns the conversations within reach to look at, without the archived ones: all those that
    /// wait for people, and those with the newest events that the reader has not read.
    async fn streams_of_need(
        &self,
        reader: &ParticipantId,
    ) -> Result<BTreeSet<StreamId>, HallError> {
        let filter = ListFilter { archived: Some(false), ..ListFilter::of_conversations() };
        let mut rows = self.hall.list(filter).await?.streams;
        rows.retain(|row| self.caller.reach.includes(&row.stream));
        let waits = |row: &&ListedStream| row.catalog.waits_for_people.is_none_or(|n| n > 0);
        let waiting: Vec<StreamId> =
            rows.iter().filter(waits).map(|row| row.stream.clone()).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.last_ts));
        let ids: Vec<StreamId> = rows.iter().map(|row| row.stream.clone()).collect();
        let marks = self.hall.unread(reader, &ids).await?;
        let unread = rows.into_iter().zip(marks).filter(|(row, mark)| row.head > mark.read);
        let newest = unread.map(|(row, _)| row.stream).take(UNSEEN_MAX);
        Ok(waiting.into_iter().chain(newest).collect())
    }

    /// Returns the needs among the events that the reader has not read, of the newest 600 events.
    async fn unseen(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
    ) -> Result<UnseenEvents, AccessError> {
        let mark = self.hall.unread(reader, std::slice::from_ref(stream)).await?;
        let read = mark.first().map_or(Seq(0), |mark| mark.read);
        let head = self.hall.find(stream).await?.head;
        let after = Seq(read.0.max(head.0.saturating_sub(EVENTS_MAX)));
        if head <= after {
            return Ok(UnseenEvents::default());
        }
        let span = usize::try_from(head.0 - after.0).unwrap_or(usize::MAX);
        let page = self.hall.read(stream, after, Some(span)).await?;
        let mut unseen = UnseenEvents { has_read: read > Seq(0), ..UnseenEvents::default() };
        for recorded in page.events {
            unseen.note(recorded, reader);
        }
        let ended = std::mem::take(&mut unseen.ended);
        for (permission, (at, ended_at)) in ended.into_iter().filter(|_| self.answers_permissions())
        {
            let asked = self.asking_event(stream, &permission, at).await?;
            let missed = |asked| MissedQuestion { permission, asked, at, ended_at };
            unseen.missed.extend(asked.map(missed));
        }
        Ok(unseen)
    }

    /// Returns the needs of a conversation: the open needs of its state, and the needs in the
    /// events that the reader has not seen.
    async fn needs_of_state(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
        unseen: UnseenEvents,
    ) -> Result<Vec<PendingNeed>, AccessError> {
        let (own, answers, resumes) =
            (reader.clone(), self.answers_permissions(), self.resumes_floors());
        let asked = move |state: &Conversation| {
            let mut needs = unseen.needs(state, &own);
            needs.extend(guard_need(state).filter(|_| resumes));
            needs.extend(piece_need(state, &own));
            let cards = if answers { state.open_cards() } else { Vec::new() };
            let named = |card: OpenCard| {
                let name = state.name_of(&card.participant).to_owned();
                (card, name)
            };
            (state.name().to_owned(), needs, cards.into_iter().map(named).collect::<Vec<_>>())
        };
        let (title, mut needs, cards) = self.hall.view(stream, asked).await?;
        for (card, name) in cards {
            needs.push(PendingNeed {
                since: Some(card.asked_at),
                event: self.event_of(stream, card.at).await?,
                participant: Some(card.participant),
                name: Some(name),
                ..PendingNeed::in_thread(stream, NeedSubject::Card(card.permission))
            });
        }
        Ok(needs.into_iter().map(|need| PendingNeed { title: title.clone(), ..need }).collect())
    }

    /// True if the caller may let a held floor go on.
    fn resumes_floors(&self) -> bool {
        !self.caller.is_agent() && self.caller.must_prove(Scope::TurnsControl).is_ok()
    }

    /// Returns the event at a position; `None` if the log has none there.
    async fn event_of(
        &self,
        stream: &StreamId,
        at: Seq,
    ) -> Result<Option<RecordedEvent>, HallError> {
        let page = self.hall.read(stream, Seq(at.0.saturating_sub(1)), Some(1)).await?;
        Ok(page.events.into_iter().find(|recorded| recorded.seq == at))
    }

    /// Returns the event of the question that ended at `ended_at`; `None` if the question was asked
    /// more than 600 events earlier.
    async fn asking_event(
        &self,
        stream: &StreamId,
        permission: &PermissionId,
        ended_at: Seq,
    ) -> Result<Option<RecordedEvent>, HallError> {
        let after = Seq(ended_at.0.saturating_sub(EVENTS_MAX));
        let span = usize::try_from(ended_at.0 - after.0).unwrap_or(usize::MAX);
        let page = self.hall.read(stream, after, Some(span)).await?;
        let asks = |recorded: &RecordedEvent| {
            recorded.event.asks().is_some_and(|(asked, _)| asked == permission)
        };
        Ok(page.events.into_iter().rev().find(asks))
    }
}

impl PendingNeed {
    /// Returns an empty need of a conversation, to be filled in.
    fn in_thread(thread: &StreamId, subject: NeedSubject) -> Self {
        Self {
            thread: thread.clone(),
            title: String::new(),
            subject,
            participant: None,
            name: None,
            since: None,
            event: None,
            passed_at: None,
        }
    }
}

/// A question that ended without an answer.
#[derive(Clone, Debug)]
struct MissedQuestion {
    permission: PermissionId,
    /// The event that asked.
    asked: RecordedEvent,
    /// Position and time of its end.
    at: Seq,
    ended_at: Timestamp,
}

/// The needs among the events that one reader has not seen.
#[derive(Clone, Debug, Default)]
struct UnseenEvents {
    /// True if the reader has read the conversation before.
    has_read: bool,
    /// The failures, by the turn that failed.
    failures: BTreeMap<TurnNo, RecordedEvent>,
    mentions: Vec<RecordedEvent>,
    /// The positions and times at which questions ended without an answer.
    ended: BTreeMap<PermissionId, (Seq, Timestamp)>,
    /// The questions that ended without an answer.
    missed: Vec<MissedQuestion>,
    /// The owners of the turns that failed.
    owners: BTreeMap<TurnNo, ParticipantId>,
}

impl MissedQuestion {
    /// Returns the question as a need; `None` if its agent asks again.
    fn need(&self, state: &Conversation) -> Option<PendingNeed> {
        let (_, asker) = self.asked.event.asks()?;
        let asks_again = state.open_cards().iter().any(|card| card.participant == *asker);
        let subject = NeedSubject::Missed(self.permission.clone());
        (!asks_again).then(|| PendingNeed {
            participant: Some(asker.clone()),
            name: Some(state.name_of(asker).to_owned()),
            since: Some(self.ended_at),
            event: Some(self.asked.clone()),
            passed_at: Some(self.at),
            ..PendingNeed::in_thread(state.stream(), subject)
        })
    }
}

impl UnseenEvents {
    fn is_empty(&self) -> bool {
        self.failures.is_empty() && self.mentions.is_empty() && self.missed.is_empty()
    }

    /// Notes an event if it is a failure, a message to the reader, or the end of a question without
    /// an answer. Later words of an agent remove its earlier failures.
    fn note(&mut self, recorded: RecordedEvent, reader: &ParticipantId) {
        let (seq, ts) = (recorded.seq, recorded.ts);
        match &recorded.event {
            Event::TurnEnded { turn, participant, fault: Some(_), .. } => {
                self.owners.insert(*turn, participant.clone());
            }
            Event::Posted(posted) if posted.error.is_some() => {
                if let Some(turn) = posted.turn {
                    self.failures.insert(turn, recorded);
                }
            }
            Event::Posted(posted) => {
                let owners = &self.owners;
                self.failures.retain(|turn, _| owners.get(turn) != Some(&posted.from));
                let is_seen = visible(&recorded.event, &Viewer::Participant(reader.clone()));
                if is_seen && is_to(posted, reader) {
                    self.mentions.push(recorded);
                }
            }
            Event::PermissionExpired { permission }
            | Event::PermissionWithdrawn { permission, because: WithdrawalReason::GaveUp } => {
                self.ended.insert(permission.clone(), (seq, ts));
            }
            _ => {}
        }
    }

    /// Returns the noted events as needs. A failure is a need only of a reader that takes part in
    /// the conversation or has read it, or whose words caused the turn.
    fn needs(&self, state: &Conversation, reader: &ParticipantId) -> Vec<PendingNeed> {
        let takes_part = self.has_read || state.participant(reader).is_some();
        let is_own = |event: &RecordedEvent| takes_part || is_caused_by(event, reader);
        let own = self.failures.iter().filter(|(_, event)| is_own(event));
        let failures = own.map(|(turn, event)| {
            let owner = self.owners.get(turn).cloned().or_else(|| state.turn_owner(*turn));
            PendingNeed {
                name: owner.as_ref().map(|id| state.name_of(id).to_owned()),
                participant: owner,
                since: Some(event.ts),
                event: Some(event.clone()),
                passed_at: Some(event.seq),
                ..PendingNeed::in_thread(state.stream(), NeedSubject::Failure)
            }
        });
        let missed = self.missed.iter().filter_map(|missed| missed.need(state));
        failures.chain(missed).chain(self.mention(state)).collect()
    }

    /// Returns the newest message to the reader, with the number of the earlier ones.
    fn mention(&self, state: &Conversation) -> Option<PendingNeed> {
        let newest = self.mentions.last()?;
        let from = newest.event.from()?;
        let subject = NeedSubject::Mention { earlier: self.mentions.len() - 1 };
        Some(PendingNeed {
            participant: Some(from.clone()),
            name: Some(state.name_of(from).to_owned()),
            since: Some(newest.ts),
            event: Some(newest.clone()),
            passed_at: Some(newest.seq),
            ..PendingNeed::in_thread(state.stream(), subject)
        })
    }
}

/// True if the event is the failure of a turn about the reader's own words.
fn is_caused_by(event: &RecordedEvent, reader: &ParticipantId) -> bool {
    let Event::Posted(posted) = &event.event else { return false };
    posted.reply_to.as_ref().is_some_and(|cause| cause.from == *reader)
}

/// Returns the guard that holds the floor, as a need.
fn guard_need(state: &Conversation) -> Option<PendingNeed> {
    let guard = state.holding_guard()?;
    let since = state.held_since();
    Some(PendingNeed { since, ..PendingNeed::in_thread(state.stream(), NeedSubject::Guard(guard)) })
}

/// Returns the reader's part in a gathering, if the gathering waits for it.
fn piece_need(state: &Conversation, reader: &ParticipantId) -> Option<PendingNeed> {
    let gathering = state.gathering()?;
    state.awaited_in_gathering().filter(|awaited| *awaited == reader)?;
    let since = gathering.tenure.as_ref().map(|tenure| tenure.since);
    let subject = if since.is_some() { NeedSubject::Piece } else { NeedSubject::Harvest };
    Some(PendingNeed { since, ..PendingNeed::in_thread(state.stream(), subject) })
}
