//! The states of participants, as one reader sees them.

use moothall_kernel::ids::StreamId;
use moothall_kernel::occupation::StateWord;

use super::{Action, Door};
use crate::access::AccessError;
use crate::hall::occupation::ShownOccupation;

/// The state of a participant, as one reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenOccupation {
    /// The conversation of the participant.
    pub thread: StreamId,
    /// The state, without what the reader may not see.
    pub shown: ShownOccupation,
    /// True if the participant asks, and the reader may answer.
    pub asks_reader: bool,
    /// True if the state comes from a conversation out of the reader's reach.
    pub is_elsewhere: bool,
}

impl Door {
    /// Returns the states of all participants of one conversation.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller.
    pub async fn states_in(&self, stream: &StreamId) -> Result<Vec<SeenOccupation>, AccessError> {
        self.enter(Action::ReadThread, stream)?;
        let shown = self.hall.inner.states_in(stream).await?;
        Ok(shown.into_iter().map(|one| self.seen(stream, one)).collect())
    }

    /// Returns the states of the participants that do something, or are about to, in all
    /// conversations within reach. The other participants are ready, muted or away.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn states(&self) -> Result<Vec<SeenOccupation>, AccessError> {
        self.may(Action::ReadStates)?;
        let shown = self.hall.inner.states_at_work(|stream| self.caller.reach.includes(stream));
        let mut seen = Vec::new();
        for (stream, states) in shown.await? {
            let of_note = states.into_iter().filter(|one| is_of_note(one.occupation.word));
            seen.extend(of_note.map(|one| self.seen(&stream, one)));
        }
        Ok(seen)
    }

    /// Returns a state as the caller sees it. If the state comes from a conversation out of reach,
    /// that conversation and the tool are left out, and the word says only that the participant
    /// works or waits. The input of a session's tool is shown only to people that may read the
    /// screen.
    pub fn seen(&self, thread: &StreamId, mut shown: ShownOccupation) -> SeenOccupation {
        let is_elsewhere = shown.at.as_ref().is_some_and(|at| !self.caller.reach.includes(at));
        let occupation = &mut shown.occupation;
        if is_elsewhere {
            (shown.at, occupation.tool) = (None, None);
            occupation.word = match occupation.word {
                StateWord::Asks => StateWord::Waits,
                StateWord::Writing | StateWord::Thinking => StateWord::Working,
                other => other,
            };
        }
        if shown.session.is_some() && !self.reads_screens() {
            occupation.tool.iter_mut().for_each(|tool| tool.line = None);
        }
        let asks_reader = occupation.word == StateWord::Asks && self.answers_permissions();
        SeenOccupation { thread: thread.clone(), shown, asks_reader, is_elsewhere }
    }

    fn reads_screens(&self) -> bool {
        !self.caller.is_agent() && self.may(Action::ReadScreen).is_ok()
    }

    /// True if the caller may answer the questions of agents within its reach.
    pub(super) fn answers_permissions(&self) -> bool {
        !self.caller.is_agent() && self.may(Action::AnswerPermission).is_ok()
    }
}

/// True if a state is listed for the whole hall.
fn is_of_note(word: StateWord) -> bool {
    match word {
        StateWord::Asks
        | StateWord::Writing
        | StateWord::Working
        | StateWord::Thinking
        | StateWord::Paused
        | StateWord::Waits
        | StateWord::Queued => true,
        StateWord::Ended | StateWord::Muted | StateWord::Ready | StateWord::Away => false,
    }
}
