//! Conversations through the door: beginning, reading, listening, searching and speaking.

use std::path::Path;

use moothall_kernel::Conversation;
use moothall_kernel::budget::{BudgetOwner, Raise};
use moothall_kernel::chat::Chat;
use moothall_kernel::command::Actor;
use moothall_kernel::control::needs_gathering;
use moothall_kernel::event::{Cause, Event};
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::preview::{Draft, Preview};
use moothall_kernel::search::Query;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::{Viewer, visible};
use serde_json::{Map, Value};
use tokio::sync::OwnedMutexGuard;

use super::{Action, Door};
use crate::access::{AccessDenial, AccessError};
use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::Hall;
use crate::hall::context::Context;
use crate::hall::inner::ConversationDraft;
use crate::hall::presence::Presence;
use crate::hall::search::SearchError;
use crate::ports::{Hits, ListFilter, ListPage, ListedStream, Page, UnreadCount};
use crate::sessions::{SessionError, check_working_folder};
use crate::stream::idempotency::claim_key;

impl Door {
    /// Lists the conversations within reach. Reads further pages until the answer is full or the
    /// list ends.
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

    /// Returns the conversation within reach that is bound to a chat. There is at most one, because
    /// no other open conversation can be bound to the same chat.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn thread_of_chat(
        &self,
        chat: &Chat,
        archived: Option<bool>,
    ) -> Result<ListPage, AccessError> {
        self.may(Action::ListThreads)?;
        let Some(stream) = self.hall.bound_to(chat).await? else { return Ok(ListPage::default()) };
        if !self.caller.reach.includes(&stream) {
            return Ok(ListPage::default());
        }
        let listed = self.hall.find(&stream).await?;
        let is_wanted = archived.is_none_or(|archived| archived == listed.catalog.archived);
        Ok(ListPage { streams: Vec::from_iter(is_wanted.then_some(listed)), next: None })
    }

    /// Returns the conversations within reach with this title, if the caller may do `action`.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn titled(
        &self,
        action: Action,
        title: &str,
    ) -> Result<Vec<ListedStream>, AccessError> {
        self.may(action)?;
        let mut all = self.hall.list(ListFilter::of_conversations()).await?.streams;
        all.retain(|listed| {
            listed.catalog.title == title && self.caller.reach.includes(&listed.stream)
        });
        Ok(all)
    }

    /// Returns the read mark and the number of unread messages of a reader for each of these
    /// conversations.
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

    /// Begins a conversation. The number of conversations that an agent may begin within an hour is
    /// limited. Only people with the right to start programs may choose the conversation's folder.
    /// The programs read the files of this folder, and an agent could have written files there that
    /// the programs run.
    ///
    /// # Errors
    /// [`AccessError`]. Nothing was created then, but after [`HallError::Failed`] the outcome is
    /// unknown.
    pub async fn begin(
        &self,
        new: ConversationDraft,
        by: Actor,
        key: Option<Idempotency>,
    ) -> Result<Answer, AccessError> {
        self.may(Action::BeginThread)?;
        if let Some(folder) = &new.folder {
            self.may(Action::StartSession)?;
            if self.caller.is_agent() {
                return Err(AccessDenial::Person("choose the folder of a conversation").into());
            }
            check_working_folder(Path::new(folder))?;
        }
        self.hall.permit_name(&self.caller, &by.id).await?;
        if new.policy.is_of_gatherings() {
            return Err(HallError::Rejected(Box::new(needs_gathering())).into());
        }
        let _alone = self.count_begun(key.as_ref()).await?;
        Ok(self.hall.create_from(new, by, key).await?)
    }

    /// Counts a conversation that the caller begins, unless a request with this key began it
    /// before. An agent's other requests with the key wait for the returned guard, so that a
    /// repetition does not count while the first request runs.
    async fn count_begun(
        &self,
        key: Option<&Idempotency>,
    ) -> Result<Option<OwnedMutexGuard<()>>, AccessError> {
        let Some(key) = key.filter(|_| self.caller.is_agent()) else {
            self.hall.may_begin(&self.caller)?;
            return Ok(None);
        };
        let alone = self.hall.inner.keyed_locks.of(&claim_key(key)).lock_owned().await;
        if self.hall.event_of_key(key).await?.is_none() {
            self.hall.may_begin(&self.caller)?;
        }
        Ok(Some(alone))
    }

    /// Returns a conversation's row, if the caller may do `action` in the conversation.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller.
    pub async fn find(
        &self,
        action: Action,
        stream: &StreamId,
    ) -> Result<ListedStream, AccessError> {
        self.enter(action, stream)?;
        Ok(self.hall.find(stream).await?)
    }

    /// Evaluates a function of a conversation's state, if the caller may do `action` in the
    /// conversation.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller.
    pub async fn view<T: Send + 'static>(
        &self,
        action: Action,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, AccessError> {
        self.enter(action, stream)?;
        Ok(self.hall.view(stream, question).await?)
    }

    /// Returns one page of events after a position, without the events that the viewer may not see.
    /// [`Page::through`] is the end of the whole page.
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

    /// Returns the event of this id as a cause for a reply; `None` if the event does not exist or
    /// has no author.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn cause(
        &self,
        stream: &StreamId,
        id: EventId,
    ) -> Result<Option<Cause>, AccessError> {
        self.enter(Action::Post, stream)?;
        Ok(self.hall.cause(stream, id).await?)
    }

    /// Returns the newest position whose time is not later than `since`. Uses a binary search,
    /// because times rise with positions.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
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

    /// Returns the presences of all participants.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller.
    pub async fn presence(&self, stream: &StreamId) -> Result<Vec<Presence>, AccessError> {
        self.enter(Action::ReadPresence, stream)?;
        Ok(self.hall.presence(stream).await?)
    }

    /// Sets the presence of a participant.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller, or has too many
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

    /// Records the position up to which a reader has read.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller, or the mark cannot be
    /// stored.
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

    /// Returns the agents that would be asked if the speaker sent this draft now.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn preview(
        &self,
        stream: &StreamId,
        speaker: ParticipantId,
        draft: Draft,
    ) -> Result<Preview, AccessError> {
        self.enter(Action::Preview, stream)?;
        Ok(self.hall.preview(stream, speaker, draft).await?)
    }

    /// Returns the context of an open turn. Only the turn's participant and operators get it.
    /// `None` for other viewers, and if the turn is not open.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn context(
        &self,
        stream: &StreamId,
        turn: TurnNo,
        viewer: &Viewer,
    ) -> Result<Option<Context>, AccessError> {
        self.enter(Action::ReadContext, stream)?;
        Ok(self.hall.context(stream, turn).await?.filter(|context| is_of(context, viewer)))
    }

    /// Returns the context that a turn has, or had at its last start. Only the turn's participant
    /// and operators get it.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn past_context(
        &self,
        stream: &StreamId,
        turn: TurnNo,
        viewer: &Viewer,
    ) -> Result<Option<Context>, AccessError> {
        let open = self.context(stream, turn, viewer).await?;
        if open.is_some() || *viewer == Viewer::Guest {
            return Ok(open);
        }
        Ok(self.hall.past_context(stream, turn).await?.filter(|context| is_of(context, viewer)))
    }

    /// Returns the contexts of the open turns of a remote client that have a number above `after`.
    pub(super) async fn own_contexts(
        &self,
        stream: &StreamId,
        reader: &ParticipantId,
        after: TurnNo,
    ) -> Result<Vec<Context>, AccessError> {
        self.enter(Action::ReadContext, stream)?;
        Ok(self.hall.remote_contexts(stream, reader, after).await?)
    }

    /// Searches the conversations within reach.
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

    /// Publishes words that the trace holds.
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

    /// Erases the words of an event. The event stays.
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

    /// Deletes a conversation with its whole content. Returns true if the content is erased from
    /// the log. If the disk prevented that, a repeated call or the next start erases the rest.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was deleted then.
    pub async fn delete(&self, stream: &StreamId, by: Actor) -> Result<bool, AccessError> {
        self.enter(Action::Delete, stream)?;
        if let Some(why) = self.hall.inner.residents.deletion_obstacle(stream) {
            return Err(SessionError::Conflict(why).into());
        }
        Ok(self.hall.delete(stream, by).await?)
    }

    /// Raises a budget of the hall, of an agent, or of a principal that causes turns.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn raise_budget(
        &self,
        owner: &BudgetOwner,
        turns: u64,
        micros: u64,
        within: Millis,
    ) -> Result<Raise, AccessError> {
        self.may(Action::RaiseBudget)?;
        Ok(self.hall.raise_budget(&self.caller, owner, turns, micros, within).await?)
    }
}

impl Hall {
    /// Returns the event of this id as a cause for a reply; `None` if the event does not exist or
    /// has no author.
    pub(super) async fn cause(
        &self,
        stream: &StreamId,
        id: EventId,
    ) -> Result<Option<Cause>, HallError> {
        let found = self.cause_at(stream, id.seq()).await?;
        Ok(found.filter(|cause| cause.id == id))
    }

    /// Returns the event at this position as a cause for a reply; `None` if the event does not
    /// exist or has no author.
    ///
    /// # Errors
    /// [`HallError`] if the conversation cannot be read.
    pub async fn cause_at(&self, stream: &StreamId, seq: Seq) -> Result<Option<Cause>, HallError> {
        let Some(before) = seq.0.checked_sub(1) else { return Ok(None) };
        let page = self.read(stream, Seq(before), Some(1)).await?;
        let found = page.events.first().filter(|recorded| recorded.seq == seq);
        Ok(found.and_then(|recorded| {
            let depth = if let Event::Posted(posted) = &recorded.event { posted.depth } else { 0 };
            let from = recorded.event.from()?.clone();
            let unproven = recorded.event.lacks_person();
            Some(Cause { seq, id: recorded.id(stream), from, depth, unproven })
        }))
    }
}

/// True if a viewer may read a turn's context. Only its participant and operators may.
fn is_of(context: &Context, viewer: &Viewer) -> bool {
    match viewer {
        Viewer::Operator => true,
        Viewer::Participant(id) => *id == context.participant,
        Viewer::Guest => false,
    }
}
