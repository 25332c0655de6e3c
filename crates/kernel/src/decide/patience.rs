//! Patience: the time that the floor waits for a turn before it moves on. Closed rounds are
//! remembered while a turn still works on their message. (Rulings 9 and 12.)

use crate::decide::Decider;
use crate::model::event::{Cause, Event, TurnKind};
use crate::model::ids::{ParticipantId, Seq, TurnNo};
use crate::model::settings::Policy;
use crate::model::state::{ClosedRound, Conversation, Floor, Reply, Round, Turn};
use crate::model::time::Timestamp;
use crate::planted::{self, Bug};

/// Most agents that work at the same time for a round whose patience is used up.
const SIDE_BY_SIDE_MAX: usize = 3;

impl Floor {
    /// Returns the message that a cause is about: the message itself, or the one it replies to.
    pub(crate) fn message_of(&self, cause: &Cause) -> Option<Seq> {
        self.rounds().find(|round| round.is_about(cause)).map(|round| round.cause.seq)
    }

    /// Returns the open round, and the closed ones whose message a turn still works on.
    fn rounds(&self) -> impl Iterator<Item = &Round> {
        self.round.iter().chain(self.earlier.iter().map(|earlier| &earlier.round))
    }

    /// True if the cap of the newest message is used up. Replies reserved for released turns count.
    pub(crate) fn is_used_up(&self) -> bool {
        self.spent + self.reserved() >= self.cap
    }

    /// True if the cap of this message is used up, including its reserved replies.
    pub(crate) fn is_used_up_for(&self, message: Seq) -> bool {
        let earlier = self.earlier.iter().find(|earlier| earlier.round.cause.seq == message);
        let (spent, cap) =
            earlier.map_or((self.spent, self.cap), |earlier| (earlier.spent, earlier.cap));
        spent + self.reserved_for(Some(message)) >= cap
    }

    /// Returns the number of replies reserved for the newest message.
    pub(crate) fn reserved(&self) -> u32 {
        self.reserved_for(self.message)
    }

    /// Counts one reply for each released turn that is, or may still be, about the message.
    fn reserved_for(&self, message: Option<Seq>) -> u32 {
        let Some(message) = message else { return 0 };
        let round = self.rounds().find(|round| round.cause.seq == message);
        let reserves = |turn: &&Turn| {
            let may_answer = turn.message == Some(message)
                || round.is_some_and(|round| turn.may_fall_back_to(round));
            turn.released && turn.kind == TurnKind::Reply && may_answer
        };
        u32::try_from(self.turns.values().filter(reserves).count()).unwrap_or(u32::MAX)
    }

    /// Counts a reply to its message, or to the newest message if its own is not remembered.
    pub(crate) fn charge(&mut self, message: Option<Seq>) {
        let known = message.filter(|message| {
            self.message == Some(*message)
                || self.earlier.iter().any(|e| e.round.cause.seq == *message)
        });
        let message =
            known.filter(|_| !planted::has(Bug::LateAnswerChargedToNewest)).or(self.message);
        // Both counts rise: the round of the newest message may be closed and remembered.
        if message == self.message {
            self.spent += 1;
        }
        let earlier =
            self.earlier.iter_mut().find(|earlier| Some(earlier.round.cause.seq) == message);
        earlier.into_iter().for_each(|earlier| earlier.spent += 1);
    }

    /// Returns the remembered round of a message, or else the open round.
    pub(crate) fn round_of(&mut self, message: Option<Seq>) -> Option<&mut Round> {
        let is_earlier = |earlier: &&mut ClosedRound| Some(earlier.round.cause.seq) == message;
        self.earlier
            .iter_mut()
            .find(is_earlier)
            .map(|earlier| &mut earlier.round)
            .or(self.round.as_mut())
    }

    /// Closes the round. It is remembered while a turn still works on its message.
    pub(crate) fn close_round(&mut self) {
        if let Some(round) = self.round.take() {
            self.earlier.push(ClosedRound {
                round: Round { current: None, ..round },
                spent: self.spent,
                cap: self.cap,
            });
            self.forget_earlier();
        }
    }

    /// Reopens the round of a late answer, so that the agents that have not reacted to its message
    /// can react.
    pub(crate) fn reopen_round(&mut self, message: Seq, reply: Seq) {
        self.queue.retain(|waiting| waiting.cause.seq != reply);
        let Some(at) = self.earlier.iter().position(|earlier| earlier.round.cause.seq == message)
        else {
            return;
        };
        let ClosedRound { round, spent, cap } = self.earlier.remove(at);
        (self.message, self.spent, self.cap) = (Some(message), spent, cap);
        self.round = Some(Round {
            forced: [].into(),
            polled: [].into(),
            reacting: false,
            began_at: None,
            awaited_at: None,
            ..round
        });
    }

    /// Forgets the closed rounds without an open turn or a queued late answer.
    pub(crate) fn forget_earlier(&mut self) {
        let (turns, queue) = (&self.turns, &self.queue);
        let is_open = |round: &Round| {
            let message = Some(round.cause.seq);
            turns.values().any(|turn| turn.message == message || turn.may_fall_back_to(round))
                || queue.iter().any(|waiting| waiting.late == message)
        };
        self.earlier.retain(|earlier| is_open(&earlier.round));
    }

    /// Forgets all closed rounds, and drops their late answers from the queue.
    pub(crate) fn drop_earlier(&mut self) {
        self.earlier.clear();
        self.queue.retain(|waiting| waiting.late.is_none());
    }
}

impl Round {
    /// True if the round has no current turn and asks this participant about this cause.
    pub(crate) fn asks(&self, participant: &ParticipantId, cause: &Cause) -> bool {
        self.current.is_none()
            && self.is_about(cause)
            && (self.forced.contains(participant) || self.polled.contains(participant))
    }

    /// Records an agent's visible reply.
    pub(crate) fn replied(&mut self, reply: Reply, volunteered: bool) {
        self.volunteers += u32::from(volunteered);
        self.replies.push(reply);
    }
}

impl Turn {
    /// True if the turn may start without its later causes and then answer this round's message.
    fn may_fall_back_to(&self, round: &Round) -> bool {
        self.running.is_none()
            && self.answers().any(|cause| round.is_about(cause))
            && !planted::has(Bug::FirstMessageNotReserved)
    }
}

impl Conversation {
    /// Returns the time until which the floor waits for a turn granted now, or `None` if no round
    /// waits for it.
    pub(crate) fn patience_for(
        &self,
        participant: &ParticipantId,
        cause: &Cause,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let Policy { patience, .. } = self.policy;
        self.floor
            .round
            .as_ref()
            .filter(|round| round.asks(participant, cause))
            .map(|_| now + patience)
    }

    /// Returns the turn that the round waits for, and the end of that wait.
    pub(crate) fn awaited(&self) -> Option<(TurnNo, Timestamp)> {
        let turn = self.turn(self.floor.round.as_ref()?.current?)?;
        let until = turn.patience.into_iter().chain(self.round_ends_at()).min();
        until.map(|until| (turn.no, until))
    }

    /// Returns the end of the round's own patience while another message waits. A round of `/ask`
    /// keeps its order and has no such end.
    pub(crate) fn round_ends_at(&self) -> Option<Timestamp> {
        let waits_on = |round: &&Round| round.asked || planted::has(Bug::RoundWaitsOn);
        let round = self.floor.round.as_ref().filter(|round| !waits_on(round))?;
        self.queued().next()?;
        round.waited_from().map(|from| from + self.policy.patience)
    }

    /// Returns the time until which an overdue round asks no further agent, because
    /// [`SIDE_BY_SIDE_MAX`] agents already work at the same time.
    pub(crate) fn crowded_until(&self) -> Option<Timestamp> {
        let (round, end) = (self.floor.round.as_ref()?, self.round_ends_at()?);
        let beside = |turn: &&Turn| {
            turn.message == Some(round.cause.seq) && turn.granted_at >= end && self.is_front(turn)
        };
        let mut until: Vec<_> =
            self.open_turns().filter(beside).filter_map(|turn| turn.patience).collect();
        // The latest end comes first: after the third of them, only two agents still work side by
        // side.
        until.sort_by_key(|until| std::cmp::Reverse(*until));
        until.get(SIDE_BY_SIDE_MAX - 1).copied()
    }

    /// Returns the message for which an answer is late: its round is closed, or is at the reactions
    /// already while the turn is not the round's current one. Answers are late only under policies
    /// that count replies.
    pub(crate) fn is_late_for(&self, turn: &Turn) -> Option<Seq> {
        let message = turn.message.filter(|_| self.counts_replies())?;
        let is_current = |round: &Round| {
            round.cause.seq == message && (!round.reacting || round.current == Some(turn.no))
        };
        let remembered = || self.floor.rounds().any(|round| round.cause.seq == message);
        (!self.floor.round.as_ref().is_some_and(is_current) && remembered()).then_some(message)
    }
}

impl Decider<'_> {
    /// Releases the awaited turn when its patience is used up: the floor moves on without it.
    pub(crate) fn release_awaited(&mut self) {
        if let Some((turn, _)) = self.state.awaited().filter(|(_, until)| *until <= self.now) {
            self.emit(Event::TurnReleased { turn });
        }
    }

    /// Emits that the round of a late answer is reopened.
    pub(crate) fn reopen_round(&mut self, message: Seq, reply: Seq) {
        let earlier =
            self.state.floor.earlier.iter().find(|earlier| earlier.round.cause.seq == message);
        let waiting = self.state.floor.queue.iter().find(|waiting| waiting.cause.seq == reply);
        // The answer leaves the queue even if its round was forgotten: `settle` would not end
        // otherwise.
        let cause =
            earlier.map(|earlier| &earlier.round.cause).or(waiting.map(|waiting| &waiting.cause));
        if let Some(cause) = cause.cloned() {
            self.emit(Event::RoundReopened { cause, reply });
        }
    }

    /// True if another message has waited for the round's whole patience.
    pub(crate) fn is_round_over(&self) -> bool {
        self.state.round_ends_at().is_some_and(|at| at <= self.now)
    }

    /// Releases the turn just granted, so that the floor does not wait for it.
    pub(crate) fn release_asked(&mut self) {
        if let Some(turn) = self.state.floor.round.as_ref().and_then(|round| round.current) {
            self.emit(Event::TurnReleased { turn });
        }
    }
}
