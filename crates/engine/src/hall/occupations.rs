//! The states of participants in all conversations: the signs of work that runtimes give, and the
//! states that were sent to readers last.
//!
//! Nothing is computed when a conversation changes. The change is noted, and one task of the hall
//! (`hall/states.rs`) computes the states of all changed conversations, at most four times a
//! second.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use moothall_kernel::Conversation;
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};
use moothall_kernel::occupation::{
    LiveFacts, Occupation, SessionActivity, SessionWork, TurnProgress, of_session,
};
use tokio::sync::Notify;

use crate::hall::occupation::ShownOccupation;
use crate::ports::SessionId;
use crate::sessions::session_of;

/// Number of known conversations above which those are dropped that are not live.
const KNOWN_MAX: usize = 1024;

/// The activities of sessions, by their ids.
pub(crate) type SessionWorks = BTreeMap<SessionId, SessionActivity>;

/// The book of states.
#[derive(Default)]
pub(crate) struct OccupationBook {
    pages: Mutex<BookPages>,
    woken: Notify,
}

#[derive(Default)]
struct BookPages {
    progress: HashMap<StreamId, BTreeMap<TurnNo, TurnProgress>>,
    /// Conversations that changed since the last round of telling.
    changed: BTreeSet<StreamId>,
    /// True if a session changed since the last round of telling.
    sessions_changed: bool,
    known: BTreeMap<StreamId, KnownStates>,
}

/// The states in one conversation.
#[derive(Default)]
struct KnownStates {
    own: Vec<OwnOccupation>,
    /// The states that were sent to readers last.
    told: Vec<ShownOccupation>,
}

/// A state as its conversation alone knows it.
#[derive(Clone)]
pub(crate) struct OwnOccupation {
    occupation: Occupation,
    name: String,
    waits_for_name: Option<String>,
    session: Option<SessionId>,
}

impl OccupationBook {
    fn lock(&self) -> MutexGuard<'_, BookPages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a conversation changed.
    pub(crate) fn note_change(&self, stream: &StreamId) {
        self.lock().changed.insert(stream.clone());
        self.woken.notify_one();
    }

    /// Notes that a session changed.
    pub(crate) fn note_sessions(&self) {
        self.lock().sessions_changed = true;
        self.woken.notify_one();
    }

    /// Notes a sign of work on a turn.
    pub(crate) fn note_progress(&self, stream: &StreamId, turn: TurnNo, progress: TurnProgress) {
        let mut pages = self.lock();
        // Most pieces of an answer follow another piece, and change nothing.
        let known = pages.progress.get(stream).and_then(|turns| turns.get(&turn));
        if known == Some(&progress) {
            return;
        }
        pages.progress.entry(stream.clone()).or_default().insert(turn, progress);
        pages.changed.insert(stream.clone());
        drop(pages);
        self.woken.notify_one();
    }

    /// Resolves when something has changed.
    pub(crate) async fn wait_for_change(&self) {
        self.woken.notified().await;
    }

    /// Drops the signs of work in these conversations. The next sign is noted again.
    pub(crate) fn drop_progress(&self, streams: &BTreeSet<StreamId>) {
        let mut pages = self.lock();
        streams.iter().for_each(|stream| drop(pages.progress.remove(stream)));
    }

    /// Drops the states and signs of work of a deleted conversation.
    pub(crate) fn forget(&self, stream: &StreamId) {
        let mut pages = self.lock();
        pages.progress.remove(stream);
        pages.known.remove(stream);
    }

    /// Returns the signs of work on the running turns of a conversation, and drops all other signs.
    pub(crate) fn progress(&self, state: &Conversation) -> BTreeMap<TurnNo, TurnProgress> {
        let mut pages = self.lock();
        let Some(turns) = pages.progress.get_mut(state.stream()) else { return BTreeMap::new() };
        turns.retain(|no, _| state.turn(*no).is_some_and(|turn| turn.running.is_some()));
        let turns = turns.clone();
        if turns.is_empty() {
            pages.progress.remove(state.stream());
        }
        turns
    }

    /// Stores the states of a conversation.
    pub(crate) fn keep(&self, stream: &StreamId, own: Vec<OwnOccupation>) {
        self.lock().known.entry(stream.clone()).or_default().own = own;
    }

    /// Returns the changed conversations, and true if a session changed. Marks all of them as
    /// unchanged.
    pub(crate) fn take_changed(&self) -> (BTreeSet<StreamId>, bool) {
        let mut pages = self.lock();
        (std::mem::take(&mut pages.changed), std::mem::take(&mut pages.sessions_changed))
    }

    /// Returns the states of a conversation as readers see them.
    pub(crate) fn shown(&self, stream: &StreamId, works: &SessionWorks) -> Vec<ShownOccupation> {
        let pages = self.lock();
        let busy = pages.busy_sessions();
        pages.known.get(stream).map_or_else(Vec::new, |known| known.shown(stream, &busy, works))
    }

    /// Returns the states that differ from those that this function returned last, for the readers.
    /// Looks at the conversations of `changed`, and at all conversations with sessions.
    pub(crate) fn news(
        &self,
        changed: &BTreeSet<StreamId>,
        works: &SessionWorks,
    ) -> Vec<(StreamId, Vec<ShownOccupation>)> {
        let mut pages = self.lock();
        let busy = pages.busy_sessions();
        let mut news = Vec::new();
        for (stream, known) in &mut pages.known {
            if !changed.contains(stream) && known.own.iter().all(|own| own.session.is_none()) {
                continue;
            }
            let shown = known.shown(stream, &busy, works);
            let told = std::mem::replace(&mut known.told, shown.clone());
            let new: Vec<_> = shown.into_iter().filter(|state| !told.contains(state)).collect();
            if !new.is_empty() {
                news.push((stream.clone(), new));
            }
        }
        news
    }

    /// Drops the conversations that are not live, if many are known.
    pub(crate) fn keep_live(&self, live: impl FnOnce() -> Vec<StreamId>) {
        if self.lock().known.len() > KNOWN_MAX {
            let live: BTreeSet<StreamId> = live().into_iter().collect();
            self.lock().known.retain(|stream, _| live.contains(stream));
        }
    }
}

/// The states of sessions at work, each with its conversation.
type BusySessions = BTreeMap<SessionId, Vec<(StreamId, Occupation)>>;

impl BookPages {
    /// Returns the states of the sessions that are at work in a conversation, with that
    /// conversation.
    fn busy_sessions(&self) -> BusySessions {
        let mut busy = BusySessions::new();
        for (stream, known) in &self.known {
            for own in known.own.iter().filter(|own| own.occupation.word.is_at_work()) {
                if let Some(session) = &own.session {
                    let at = (stream.clone(), own.occupation.clone());
                    busy.entry(session.clone()).or_default().push(at);
                }
            }
        }
        busy
    }
}

impl KnownStates {
    fn shown(
        &self,
        stream: &StreamId,
        busy: &BusySessions,
        works: &SessionWorks,
    ) -> Vec<ShownOccupation> {
        self.own.iter().map(|own| own.shown(stream, busy, works)).collect()
    }
}

impl OwnOccupation {
    /// Returns the states of a conversation's participants, with their names.
    pub(crate) fn all(state: &Conversation, live: &LiveFacts) -> Vec<Self> {
        let name = |id: &ParticipantId| state.name_of(id).to_owned();
        let own = |(occupation, one): (Occupation, _)| Self {
            name: name(&occupation.participant),
            waits_for_name: occupation.waits_for.as_ref().map(name),
            session: session_of(one),
            occupation,
        };
        state.occupations(live).into_iter().zip(state.participants()).map(own).collect()
    }

    /// Returns the state as readers see it. The state of a session is its strongest state in all of
    /// its conversations. A session that is not known has ended.
    fn shown(
        &self,
        stream: &StreamId,
        busy: &BusySessions,
        works: &SessionWorks,
    ) -> ShownOccupation {
        let Self { occupation, name, waits_for_name, session } = self.clone();
        let shown = ShownOccupation { occupation, name, waits_for_name, session, at: None };
        let Some(session) = &shown.session else { return shown };
        let activity = works.get(session).cloned().unwrap_or_else(|| SessionWork::Ended.into());
        let all = busy.get(session).map_or(&[][..], Vec::as_slice);
        let elsewhere: Vec<_> = all.iter().filter(|(other, _)| other != stream).cloned().collect();
        let of_session = of_session(&shown.occupation, &elsewhere, session, &activity);
        let at = of_session.at.filter(|at| at != stream);
        let waits_for_name =
            shown.waits_for_name.filter(|_| of_session.occupation.waits_for.is_some());
        ShownOccupation { occupation: of_session.occupation, waits_for_name, at, ..shown }
    }
}
