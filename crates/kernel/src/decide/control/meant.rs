//! Resolves the words of controls to participants, by id or nickname. (Ruling 15.)

use crate::decide::Decider;
use crate::model::command::{Refusal, Rejection};
use crate::model::event::Change;
use crate::model::ids::ParticipantId;
use crate::text::mentions;

impl Decider<'_> {
    /// Returns the participant that a word means, by id or else by nickname. An unknown word is
    /// returned as an id.
    fn id_of(&self, word: &str) -> ParticipantId {
        let id = ParticipantId::new(word.trim());
        let known = self.state.participant(&id).is_some() || self.state.muted.contains(&id);
        let called = || mentions::called(word, &self.state.participants);
        if known { id } else { called().unwrap_or(id) }
    }

    /// Returns the participant that a word means, if it takes part or a change in `before` invites
    /// it. Rejects any other.
    pub(super) fn invited(&self, id: &str, before: &[Change]) -> Result<ParticipantId, Rejection> {
        let id = self.id_of(id);
        let just_now = before.iter().any(
            |change| matches!(change, Change::Invited { participant, .. } if *participant == id),
        );
        if just_now || self.state.participant(&id).is_some() {
            return Ok(id);
        }
        Err(Rejection::new(
            Refusal::NotFound,
            "not_invited",
            format!("{id} is not a participant here."),
        )
        .about(&id))
    }

    /// Returns the participants to mute (`silencing`) or to unmute; they need not take part here.
    /// Rejects an empty list, an invalid id, and a person to be muted.
    pub(super) fn targets(
        &self,
        ids: Vec<String>,
        silencing: bool,
    ) -> Result<Vec<ParticipantId>, Rejection> {
        let mut targets = Vec::with_capacity(ids.len());
        for id in ids {
            let id = self.id_of(&id);
            if silencing && self.state.is_human(&id) {
                return Err(Rejection::new(
                    Refusal::Invalid,
                    "cannot_mute_human",
                    "People cannot be muted.",
                )
                .about(&id));
            }
            self.check_named(&id, true)?;
            targets.push(id);
        }
        if targets.is_empty() {
            return Err(Rejection::new(
                Refusal::Invalid,
                "no_targets",
                "`targets` must name at least one participant.",
            ));
        }
        Ok(targets)
    }
}
