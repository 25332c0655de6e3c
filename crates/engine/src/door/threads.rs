//! Conversations through the door: beginning, reading, listening, searching, and what is said in
//! them.

use moothall_kernel::Conversation;
use moothall_kernel::budget::{BudgetOwner, Raise};
use moothall_kernel::command::Actor;
use moothall_kernel::control::needs_gathering;
use moothall_kernel::event::{Cause, Event};
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::policy::Policy;
use moothall_kernel::preview::{Draft, Preview};
use moothall_kernel::search::Query;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::{Viewer, visible};
use serde_json::{Map, Value};

use super::{Action, Door, PermittedCommand};
use crate::access::AccessError;
use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::Hall;
use crate::hall::context::Context;
use crate::hall::presence::Presence;
use crate::hall::search::SearchError;
use crate::hall::slash::Step;
use crate::ports::{Hits, ListFilter, ListPage, ListedStream, Page, UnreadCount};
use crate::sessions::SessionError;

/// What a slash command comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum SlashOutcome {
    /// Nothing is done; this is shown to whoever typed it.
    Tell(String),
    /// It tells who was asked about the latest message.
    Why,
    /// It does this, and says so.
    Do(Box<PermittedCommand>, String),
}

impl Door {
    /// Lists the conversations within reach. A page is filled where there is enough to fill it.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn threads(&self, mut filter: ListFilter) -> Result<ListPage, AccessError> {
        self.may(Action::ListThreads)?;
        filter.kind = ListFilter::of_conversations().kind;
        let (mut found, limit) = (ListPage::default(), filter.limit);
        loop {
            let page = self.hall.list(filter.clone()).await?;
            found.next = page.next;
            found.streams.extend(
                page.streams
                    .into_iter()
                    .filter(|listed| self.caller.reach.includes(&listed.stream)),
            );
            filter.limit = limit.map(|limit| limit.saturating_sub(found.streams.len()));
            filter.after = found.next;
            if found.next.is_none() || filter.limit == Some(0) {
                return Ok(found);
            }
        }
    }

    /// The conversations of this title within reach, for whoever does this in one of them.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn titled(&self, action: Action, title: &str) -> Result<Vec<ListedStream>, AccessError> {
        self.may(action)?;
        let mut all = self.hall.list(ListFilter::of_conversations()).await?.streams;
        all.retain(|listed| {
            listed.catalog.title == title && self.caller.reach.includes(&listed.stream)
        });
        Ok(all)
    }

    /// What a reader has before them in each of these.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn unread(
        &self,
        reader: &ParticipantId,
        streams: &[StreamId],
    ) -> Result<Vec<UnreadCount>, AccessError> {
        self.may(Action::ListThreads)?;
        for stream in streams {
            self.reaches(stream)?;
        }
        Ok(self.hall.unread(reader, streams).await?)
    }

    /// Begins a conversation. An agent begins so many within an hour.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was created then.
    pub async fn begin(
        &self,
        name: String,
        policy: Policy,
        by: Actor,
        key: Option<Idempotency>,
    ) -> Result<Answer, AccessError> {
        self.may(Action::BeginThread)?;
        self.hall.permit_name(&self.caller, &by.id).await?;
        self.hall.may_begin(&self.caller)?;
        if policy.is_of_gatherings() {
            return Err(HallError::Rejected(Box::new(needs_gathering())).into());
        }
        Ok(self.hall.create(name, policy, by, key).await?)
    }

    /// A conversation's row, for whoever does this there.
    ///
    /// # Errors
    /// [`AccessError`], when there is none for the caller.
    pub async fn find(&self, action: Action, stream: &StreamId) -> Result<ListedStream, AccessError> {
        self.enter(action, stream)?;
        Ok(self.hall.find(stream).await?)
    }

    /// Asks the state of a conversation a question, for whoever does this there.
    ///
    /// # Errors
    /// [`AccessError`], when there is none for the caller.
    pub async fn view<T: Send + 'static>(
        &self,
        action: Action,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, AccessError> {
        self.enter(action, stream)?;
        Ok(self.hall.view(stream, question).await?)
    }

    /// One page of events after a position, for whoever does this there: of it, what the viewer may
    /// see. Where it ends is [`Page::through`], whatever is seen.
    pub(super) async fn page(
        &self,
        action: Action,
        stream: &StreamId,
        viewer: &Viewer,
        after: Seq,
        limit: usize,
    ) -> Result<Page, AccessError> {
        self.enter(action, stream)?;
        let mut page = self.hall.page(stream, after, limit).await?;
        page.events.retain(|recorded| visible(&recorded.event, viewer));
        Ok(page)
    }

    /// The event of this id, as something that can be replied to: what somebody brought about.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn cause(
        &self,
        stream: &StreamId,
        id: EventId,
    ) -> Result<Option<Cause>, AccessError> {
        self.enter(Action::Post, stream)?;
        Ok(self.hall.cause(stream, id).await?)
    }

    /// The newest position whose time is not later than `since`. Times rise with positions, so
    /// halving finds it.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn position_at(
        &self,
        stream: &StreamId,
        head: Seq,
        since: Timestamp,
    ) -> Result<Seq, AccessError> {
        self.enter(Action::ReadThread, stream)?;
        let (mut low, mut high) = (0, head.0);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let page = self.hall.read(stream, Seq(middle - 1), Some(1)).await?;
            match page.events.first() {
                Some(recorded) if recorded.ts <= since => low = middle,
                Some(_) | None => high = middle - 1,
            }
        }
        Ok(Seq(low))
    }

    /// How everybody is.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller.
    pub async fn presence(&self, stream: &StreamId) -> Result<Vec<Presence>, AccessError> {
        self.enter(Action::ReadPresence, stream)?;
        Ok(self.hall.presence(stream).await?)
    }

    /// Says how somebody is.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it has too many
    /// presences.
    pub async fn set_presence(
        &self,
        stream: &StreamId,
        from: ParticipantId,
        state: String,
        details: Option<Map<String, Value>>,
    ) -> Result<Presence, AccessError> {
        self.enter(Action::TellPresence, stream)?;
        self.hall.permit_name(&self.caller, &from).await?;
        Ok(self.hall.set_presence(stream, from, state, details).await?)
    }

    /// Notes how far somebody has read.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or nothing can be noted.
    pub async fn mark_read(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
        seq: Seq,
    ) -> Result<UnreadCount, AccessError> {
        self.enter(Action::MarkRead, stream)?;
        self.hall.permit_name(&self.caller, reader).await?;
        Ok(self.hall.mark_read(stream, reader, seq).await?)
    }

    /// Who would be asked if somebody said this now.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn preview(
        &self,
        stream: &StreamId,
        speaker: ParticipantId,
        draft: Draft,
    ) -> Result<Preview, AccessError> {
        self.enter(Action::Preview, stream)?;
        Ok(self.hall.preview(stream, speaker, draft).await?)
    }

    /// What the participant of an open turn is to read: for that participant, and for operators.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller, or it cannot be read.
    pub async fn context(
        &self,
        stream: &StreamId,
        turn: TurnNo,
        viewer: &Viewer,
    ) -> Result<Option<Context>, AccessError> {
        self.enter(Action::ReadContext, stream)?;
        Ok(self.hall.context(stream, turn).await?.filter(|context| match viewer {
            Viewer::Operator => true,
            Viewer::Participant(id) => *id == context.participant,
            Viewer::Guest => false,
        }))
    }

    /// The same for every open turn after one of a participant that comes by itself.
    pub(super) async fn own_contexts(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
        after: TurnNo,
    ) -> Result<Vec<Context>, AccessError> {
        self.enter(Action::ReadContext, stream)?;
        Ok(self.hall.remote_contexts(stream, reader, after).await?)
    }

    /// Searches what is within reach.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn search(
        &self,
        query: Query,
        viewer: &Viewer,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, SearchError> {
        self.may(Action::Search)?;
        self.hall.search_within(&self.caller.reach, query, viewer, limit, cursor).await
    }

    /// Reads a slash command, and asks whether the caller may do what it comes to.
    ///
    /// # Errors
    /// [`AccessError`]; `bad_command` when it cannot be understood.
    pub async fn order(
        &self,
        stream: &StreamId,
        by: Actor,
        text: &str,
    ) -> Result<SlashOutcome, AccessError> {
        self.enter(Action::RunCommand, stream)?;
        self.hall.permit_name(&self.caller, &by.id).await?;
        self.hall.find(stream).await?;
        Ok(match self.hall.read_slash(stream, by, text).await? {
            Step::Tell(text) => SlashOutcome::Tell(text),
            Step::Why => SlashOutcome::Why,
            Step::Do(command, text) => {
                SlashOutcome::Do(Box::new(self.permit(stream, *command).await?), text)
            }
        })
    }

    /// Makes words visible that were kept.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn publish(
        &self,
        stream: &StreamId,
        seq: Seq,
        by: Actor,
        key: Option<Idempotency>,
    ) -> Result<Answer, AccessError> {
        self.enter(Action::Publish, stream)?;
        let publish = self.hall.publishing(stream, seq, by).await?;
        let permitted = self.permit(stream, publish).await?;
        Ok(self.submit(permitted, key).await?)
    }

    /// Erases the words of an event.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn erase(
        &self,
        stream: &StreamId,
        event: EventId,
        by: Actor,
        key: Option<Idempotency>,
    ) -> Result<Answer, AccessError> {
        self.enter(Action::Erase, stream)?;
        Ok(self.hall.redact(stream, event, by, key).await?)
    }

    /// Deletes a conversation, with everything that was said in it; again changes nothing. Whether
    /// nothing of it is left in the log: where the disk was in the way, the rest goes when this is
    /// asked again, or at the next start.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was deleted then.
    pub async fn delete(&self, stream: &StreamId, by: Actor) -> Result<bool, AccessError> {
        self.enter(Action::Delete, stream)?;
        if let Some(why) = self.hall.inner.residents.keeps(stream) {
            return Err(SessionError::Conflict(why).into());
        }
        Ok(self.hall.delete(stream, by).await?)
    }

    /// Raises the budget of the hall, of an agent, or of whoever sets turns off.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn raise_budget(
        &self,
        purse: &BudgetOwner,
        turns: u64,
        micros: u64,
        within: Millis,
    ) -> Result<Raise, AccessError> {
        self.may(Action::RaiseBudget)?;
        Ok(self.hall.raise_budget(&self.caller, purse, turns, micros, within).await?)
    }
}

impl Hall {
    /// The event of this id, as something that can be replied to: what somebody brought about.
    pub(super) async fn cause(
        &self,
        stream: &StreamId,
        id: EventId,
    ) -> Result<Option<Cause>, HallError> {
        let Some(before) = id.seq().0.checked_sub(1) else { return Ok(None) };
        let page = self.read(stream, Seq(before), Some(1)).await?;
        let found = page.events.first().filter(|recorded| recorded.id(stream) == id);
        Ok(found.and_then(|recorded| {
            let depth = if let Event::Posted(posted) = &recorded.event { posted.depth } else { 0 };
            let from = recorded.event.from()?.clone();
            let unproven = recorded.event.lacks_person();
            Some(Cause { seq: recorded.seq, id, from, depth, unproven })
        }))
    }
}
