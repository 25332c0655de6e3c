//! The answers to a message that are still to come.

use crate::model::event::TurnKind;
use crate::model::ids::{ParticipantId, Seq};
use crate::model::state::{Conversation, Round, Turn};

/// The answers to a message that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedAnswers {
    /// True if the message waits for earlier ones.
    pub waits: bool,
    /// Agents that have to answer the message.
    pub must: Vec<ParticipantId>,
    /// Agents that may answer the message.
    pub may: Vec<ParticipantId>,
}

impl ExpectedAnswers {
    /// True if all answers have come.
    pub fn is_over(&self) -> bool {
        !self.waits && self.must.is_empty() && self.may.is_empty()
    }

    fn list(&mut self, participant: &ParticipantId, may_pass: bool) {
        let list = if may_pass { &mut self.may } else { &mut self.must };
        if !list.contains(participant) {
            list.push(participant.clone());
        }
    }
}

impl Conversation {
    /// Returns the answers to a message that are still to come, without reactions to its answers.
    /// During a pause only open turns count.
    pub fn pending(&self, message: Seq) -> ExpectedAnswers {
        let mut pending = ExpectedAnswers::default();
        let asks = |turn: &&Turn| {
            turn.kind == TurnKind::Reply && turn.answers().any(|cause| cause.seq == message)
        };
        for turn in self.open_turns().filter(asks) {
            pending.list(&turn.participant, turn.may_pass);
        }
        if self.paused {
            return pending;
        }
        pending.waits = self.queued().any(|cause| cause.seq == message);
        let is_asked = |round: &&Round| round.cause.seq == message && !round.reacting;
        if let Some(round) = self.floor.round.as_ref().filter(is_asked) {
            round.forced.iter().for_each(|id| pending.list(id, false));
            round.polled.iter().for_each(|id| pending.list(id, true));
        }
        pending
    }
}
