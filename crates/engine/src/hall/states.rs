//! The task that sends the states of participants to the listeners of a hall, and the states on
//! demand.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use moothall_kernel::ids::StreamId;
use moothall_kernel::occupation::{LiveFacts, SessionActivity, SessionWork};
use tokio::time::sleep;

use crate::answers::{HallChange, HallError};
use crate::hall::inner::Inner;
use crate::hall::occupation::ShownOccupation;
use crate::hall::occupations::{OccupationBook, OwnOccupation, SessionWorks};
use crate::ports::ListFilter;
use crate::sessions::{Activity, Status};

/// Pause between two rounds: a participant's state is sent at most four times a second.
const PAUSE: Duration = Duration::from_millis(250);

impl Inner {
    /// Sends each change of a participant's state to the listeners of the hall, until the hall is
    /// dropped.
    pub(crate) async fn tell_states(hall: Weak<Inner>) {
        let Some(book) = hall.upgrade().map(|hall| hall.occupations.clone()) else { return };
        loop {
            book.wait_for_change().await;
            let Some(hall) = hall.upgrade() else { return };
            hall.tell_changed_states(&book).await;
            drop(hall);
            sleep(PAUSE).await;
        }
    }

    /// Sends the listeners the states that changed since the last round, of live conversations
    /// only.
    async fn tell_changed_states(self: &Arc<Self>, book: &OccupationBook) {
        let (changed, sessions_changed) = book.take_changed();
        book.keep_live(|| self.directory.live());
        // Without a listener no states are computed, so the signs of ended turns would stay.
        if self.changes.receiver_count() == 0 {
            return book.drop_progress(&changed);
        }
        for stream in &changed {
            self.learn_states_if_live(stream).await;
        }
        // Perhaps an earlier round has sent the change already. Then there is nothing to send.
        if changed.is_empty() && !sessions_changed {
            return;
        }
        for (stream, states) in book.news(&changed, &self.session_works()) {
            let _ = self.changes.send(HallChange::States { stream, states: states.into() });
        }
    }

    /// Computes the states of a conversation if it is live. Telling loads no conversation.
    async fn learn_states_if_live(self: &Arc<Self>, stream: &StreamId) {
        if self.directory.live_flags(stream).is_some()
            && let Err(error) = self.learn_states(stream).await
        {
            tracing::debug!(%stream, %error, "the states of a conversation are not shown");
        }
    }

    /// Computes the states of a conversation, and stores them in the book.
    async fn learn_states(self: &Arc<Self>, stream: &StreamId) -> Result<(), HallError> {
        let (inner, now) = (self.clone(), self.now());
        let own = self.view(stream, move |state| {
            let live = LiveFacts {
                progress: inner.occupations.progress(state),
                present: inner.presences.words(state.stream(), now),
            };
            OwnOccupation::all(state, &live)
        });
        self.occupations.keep(stream, own.await?);
        Ok(())
    }

    /// Returns the states of a conversation's participants.
    pub(crate) async fn states_in(
        self: &Arc<Self>,
        stream: &StreamId,
    ) -> Result<Vec<ShownOccupation>, HallError> {
        self.learn_states(stream).await?;
        Ok(self.occupations.shown(stream, &self.session_works()))
    }

    /// Returns the states of the participants of conversations within `reach`: those in which
    /// something runs or waits for a person, and the homes of busy sessions.
    pub(crate) async fn states_at_work(
        self: &Arc<Self>,
        reach: impl Fn(&StreamId) -> bool,
    ) -> Result<Vec<(StreamId, Vec<ShownOccupation>)>, HallError> {
        let filter = ListFilter { marked: true, ..ListFilter::of_conversations() };
        let marked = self.store.log.list(filter).await?.streams.into_iter().map(|row| row.stream);
        let works = self.session_works();
        let homes = works.iter().filter(|(_, one)| is_busy(one.work)).map(|(id, _)| id.clone());
        let streams: BTreeSet<StreamId> = marked.chain(homes).filter(|one| reach(one)).collect();
        for stream in &streams {
            // A conversation that was deleted in the meantime must not hide the others.
            if let Err(error) = self.learn_states(stream).await {
                tracing::debug!(%stream, %error, "the states of a conversation are not shown");
            }
        }
        let shown = |stream: StreamId| {
            let states = self.occupations.shown(&stream, &works);
            (stream, states)
        };
        Ok(streams.into_iter().map(shown).collect())
    }

    /// Returns the activities of the sessions that live.
    fn session_works(&self) -> SessionWorks {
        let Some(sessions) = self.residents.directory() else { return SessionWorks::new() };
        let activity = |status: Status| {
            let activity = SessionActivity { work: work_of(status.doing), tool: status.tool };
            (status.session.id, activity)
        };
        sessions.list(false).into_iter().map(activity).collect()
    }
}

/// True if the program of a session works or asks.
fn is_busy(work: SessionWork) -> bool {
    match work {
        SessionWork::Starting | SessionWork::Busy | SessionWork::Asking => true,
        SessionWork::Idle | SessionWork::Drafting | SessionWork::Ended => false,
    }
}

const fn work_of(activity: Activity) -> SessionWork {
    match activity {
        Activity::Starting => SessionWork::Starting,
        Activity::Idle => SessionWork::Idle,
        Activity::Drafting => SessionWork::Drafting,
        Activity::Busy => SessionWork::Busy,
        Activity::Asking => SessionWork::Asking,
        Activity::Ended => SessionWork::Ended,
    }
}
