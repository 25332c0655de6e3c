//! The agents that a person asks by name to answer, one after the other.

use crate::decide::Decider;
use crate::model::command::{Post, Refusal, Rejection};

impl Decider<'_> {
    /// Rejects `asks` from an agent, in a gathering, or for participants that take no turns.
    pub(super) fn check_asks(&self, post: &Post, human: bool) -> Result<(), Rejection> {
        let Some(first) = post.asks.first() else { return Ok(()) };
        if !human {
            return self.check_human(&post.by);
        }
        if self.state.rules().gathers {
            let message =
                "Only the holder of the piece speaks here. Wait for it, or end the gathering.";
            return Err(Rejection::new(Refusal::Conflict, "piece_rules", message).about(first));
        }
        for id in &post.asks {
            let Some(asked) = self.state.participant(id) else {
                return Err(Rejection::new(
                    Refusal::NotFound,
                    "not_invited",
                    format!("{id} is not a participant here."),
                )
                .about(id));
            };
            if !asked.takes_turns() {
                let message = format!(
                    "{} is a person and takes no turns. Address them with `to`, or by name.",
                    asked.name()
                );
                return Err(Rejection::new(Refusal::Invalid, "takes_no_turns", message).about(id));
            }
        }
        Ok(())
    }
}
