//! Questions of agents' programs: those outside a turn, the limit of waiting ones, and the end of
//! questions and requests that were not answered in time.

use crate::decide::Decider;
use crate::model::command::{Refusal, Rejection};
use crate::model::event::Event;
use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::permission::{
    CARDS_MAX, OpenPermission, OpenQuestion, Question, WithdrawalReason,
};
use crate::model::request::OpenRequest;
use crate::model::state::{Conversation, Turn};

impl Conversation {
    /// Returns the questions outside a turn that wait for a person: the permission, the position of
    /// the asking event, and the participant.
    pub fn questions_asked(&self) -> impl Iterator<Item = (&PermissionId, Seq, &ParticipantId)> {
        self.floor
            .questions
            .iter()
            .map(|(permission, open)| (permission, open.at, &open.participant))
    }

    /// True if a question of this participant's program, in or outside a turn, waits for a person.
    pub(crate) fn is_asking(&self, id: &ParticipantId) -> bool {
        self.open_turns().any(|turn| turn.participant == *id && turn.frozen_since.is_some())
            || self.questions_asked().any(|(_, _, asker)| asker == id)
    }
}

impl Decider<'_> {
    /// Opens a question of an agent's program outside a turn. An open question is not asked twice.
    pub(crate) fn ask_question(
        &mut self,
        permission: PermissionId,
        participant: ParticipantId,
        question: &Question,
    ) -> Result<(), Rejection> {
        self.check_open()?;
        if !self.state.participant(&participant).is_some_and(|asker| asker.takes_turns()) {
            let message = format!(
                "{participant} is not an agent of this conversation, so it cannot ask questions \
                 here."
            );
            return Err(
                Rejection::new(Refusal::Conflict, "not_a_participant", message).about(&participant)
            );
        }
        if self.state.floor.questions.contains_key(&permission) {
            return Ok(());
        }
        if self.state.floor.settled.iter().any(|settled| settled.permission == permission) {
            return Err(self.late_answer_rejection(&permission));
        }
        self.check_questions(&participant)?;
        let Question { action, partial, options, folder, look, detail: _, stands: _ } =
            question.for_display();
        self.emit(Event::QuestionAsked {
            permission,
            participant,
            action,
            options,
            partial,
            folder,
            look,
        });
        self.release_asking();
        Ok(())
    }

    /// Rejects another question of an agent with [`CARDS_MAX`] waiting ones. (Ruling 12.)
    pub(crate) fn check_questions(&self, asker: &ParticipantId) -> Result<(), Rejection> {
        let turns = self.state.open_turns().filter(|turn| turn.participant == *asker);
        let in_turns: usize = turns.map(|turn| turn.permissions.len()).sum();
        let in_none = self.state.questions_asked().filter(|(_, _, own)| *own == asker).count();
        if in_turns + in_none < CARDS_MAX {
            return Ok(());
        }
        let name = self.state.name_of(asker);
        let message = format!(
            "{CARDS_MAX} questions of {name} wait for a person already. Ask again when one of them is answered."
        );
        Err(Rejection::new(Refusal::Conflict, "too_many_questions", message).about(asker))
    }

    /// Ends each question of a turn and each waiting request whose time to answer has run out.
    pub(crate) fn end_overdue_cards(&mut self) {
        let now = self.now;
        let is_over = |waiting: &OpenPermission| waiting.expires <= now;
        let asked = self.state.open_turns().flat_map(|turn| &turn.permissions);
        let questions: Vec<_> = asked
            .filter(|(_, waiting)| is_over(waiting))
            .map(|(permission, _)| permission.clone())
            .collect();
        let requests: Vec<_> = self
            .state
            .floor
            .requests
            .iter()
            .filter(|(_, open)| open.waiting().is_some_and(is_over))
            .map(|(permission, _)| permission.clone())
            .collect();
        for permission in questions {
            self.emit(Event::PermissionWithdrawn { permission, because: WithdrawalReason::GaveUp });
        }
        for permission in requests {
            self.emit(Event::PermissionExpired { permission: permission.clone() });
            self.settle_expired(&permission);
        }
    }

    /// Releases the round's current turn if its participant waits for a person. (Ruling 12.)
    pub(crate) fn release_asking(&mut self) {
        let current = self.state.floor.round.as_ref().and_then(|round| round.current);
        let asks = |turn: &&Turn| self.state.is_asking(&turn.participant);
        if let Some(turn) = current.and_then(|no| self.state.turn(no)).filter(asks) {
            let turn = turn.no;
            self.emit(Event::TurnReleased { turn });
        }
    }

    /// Withdraws the waiting requests of one participant and its questions outside a turn. Without
    /// `of`, withdraws those of all participants.
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
            self.emit(Event::PermissionWithdrawn { permission, because: WithdrawalReason::Left });
        }
    }
}
