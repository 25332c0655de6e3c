//! What an agent's program asks in no turn: asked, answered by a person, and withdrawn when it is
//! not asked any more.

use crate::decide::Decider;
use crate::model::command::{Refusal, Rejection};
use crate::model::event::Event;
use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::permission::{OpenQuestion, Question, Withdrawn};
use crate::model::request::OpenRequest;
use crate::model::state::Conversation;

/// Most questions of no turn that wait in one conversation at a time.
const QUESTIONS_MAX: usize = 8;

impl Conversation {
    /// The questions of no turn that wait for a person: the permission, the event that asks, and
    /// whose program asks.
    pub fn questions_asked(&self) -> impl Iterator<Item = (&PermissionId, Seq, &ParticipantId)> {
        self.floor
            .questions
            .iter()
            .map(|(permission, open)| (permission, open.at, &open.participant))
    }
}

impl Decider<'_> {
    /// An agent's program asks something in no turn. What it asks already is not asked twice.
    pub(crate) fn ask_question(
        &mut self,
        permission: PermissionId,
        participant: ParticipantId,
        question: &Question,
    ) -> Result<(), Rejection> {
        self.check_open()?;
        if !self.state.participant(&participant).is_some_and(|asker| asker.takes_turns()) {
            let message =
                format!("{participant} is no agent of this conversation, so it asks nothing here.");
            return Err(
                Rejection::new(Refusal::Conflict, "not_a_participant", message).about(&participant)
            );
        }
        if self.state.floor.questions.contains_key(&permission) {
            return Ok(());
        }
        if self.state.floor.settled.iter().any(|settled| settled.permission == permission) {
            return Err(self.settled(&permission));
        }
        if self.state.floor.questions.len() >= QUESTIONS_MAX {
            let message = format!(
                "{QUESTIONS_MAX} questions wait here already. Wait for a person to answer them."
            );
            return Err(Rejection::new(Refusal::Conflict, "too_many_questions", message)
                .about(&participant));
        }
        let Question { action, partial, options, folder, look, stands: _ } = question.shown();
        self.emit(Event::QuestionAsked {
            permission,
            participant,
            action,
            options,
            partial,
            folder,
            look,
        });
        Ok(())
    }

    /// What a participant asked in no turn is not asked any more when it has left; of all of them
    /// when nobody is named.
    pub(crate) fn withdraw_asked(&mut self, of: Option<&ParticipantId>) {
        let is_theirs = |participant: &ParticipantId| of.is_none_or(|id| participant == id);
        let waits = |open: &OpenRequest| open.waiting().is_some() && is_theirs(&open.participant);
        let floor = &self.state.floor;
        let requests =
            floor.requests.iter().filter(|(_, open)| waits(open)).map(|(permission, _)| permission);
        let is_asked = |open: &OpenQuestion| is_theirs(&open.participant);
        let questions = floor
            .questions
            .iter()
            .filter(|(_, open)| is_asked(open))
            .map(|(permission, _)| permission);
        let gone: Vec<_> = requests.chain(questions).cloned().collect();
        for permission in gone {
            self.emit(Event::PermissionWithdrawn { permission, because: Withdrawn::Gone });
        }
    }
}
