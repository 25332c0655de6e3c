//! Decides whose words reach the terminal that an invitation brings along.

use crate::decide::Decider;
use crate::model::command::{Invite, Refusal, Rejection};
use crate::model::ids::ParticipantId;
use crate::model::participant::{Participant, TerminalReach};

impl Decider<'_> {
    /// Returns the [`TerminalReach`] of the invited participant's terminal: that of the invitation,
    /// else the former one, else `Writers`. Without a terminal, returns `None`, and rejects an
    /// invitation that gives a reach.
    pub(super) fn reach(
        &self,
        id: &ParticipantId,
        invite: &Invite,
        known: Option<&Participant>,
    ) -> Result<Option<TerminalReach>, Rejection> {
        let has_address =
            invite.address.is_some() || known.is_some_and(|one| one.address.is_some());
        if has_address || invite.facts.abilities.lives_in_session {
            let before = known.and_then(|one| one.reach);
            return Ok(invite.reach.or(before).or(Some(TerminalReach::Writers)));
        }
        if invite.reach.is_none() {
            return Ok(None);
        }
        let message = format!(
            "{id} has no terminal, so `reach` has no effect. Leave it out, or invite a session."
        );
        Err(Rejection::new(Refusal::Invalid, "no_terminal", message).about(id))
    }
}
