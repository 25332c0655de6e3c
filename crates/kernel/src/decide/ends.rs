//! The ends of several open turns in one decision.

use crate::decide::Decider;
use crate::model::event::{Fault, Outcome, Usage};
use crate::model::ids::ParticipantId;
use crate::model::state::Turn;

impl Decider<'_> {
    /// Cancels every open turn of this conversation, except turns that ask a person: a question
    /// stays open with its dialog. Hosted turns are of other conversations.
    pub(crate) fn end_all_but_asking(&mut self, code: &str, message: &str) {
        self.end_turns(|turn| turn.frozen_since.is_none() && !turn.is_hosted(), code, message);
    }

    /// Cancels every open turn.
    pub(crate) fn end_all(&mut self, code: &str, message: &str) {
        self.end_turns(|_| true, code, message);
    }

    /// Cancels the open turns that match a predicate.
    pub(crate) fn end_turns(&mut self, of: impl Fn(&Turn) -> bool, code: &str, message: &str) {
        let open: Vec<_> =
            self.state.open_turns().filter(|turn| of(turn)).map(|turn| turn.no).collect();
        for turn in open {
            let usage = self.keep_unfinished(turn, Usage::default());
            let fault = Fault::new(code, message);
            self.end(turn, Outcome::Cancelled, Some(fault), usage);
        }
    }

    /// Cancels a participant's open turns, or only those that have not started if `waiting_only`.
    pub(crate) fn end_turns_of(
        &mut self,
        participant: &ParticipantId,
        waiting_only: bool,
        code: &str,
        message: &str,
    ) {
        let of = |turn: &Turn| {
            turn.participant == *participant && !(waiting_only && turn.running.is_some())
        };
        self.end_turns(of, code, message);
    }
}
