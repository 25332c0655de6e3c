//! Patience: the floor waits so long for a turn and then goes on without it. Here is what is
//! remembered of messages whose rounds are over while somebody still works on them.
//! (Rulings 9 and 12.)

use crate::decide::Decider;
use crate::model::event::{Cause, Event, TurnKind};
use crate::model::ids::{ParticipantId, Seq, TurnNo};
use crate::model::settings::Policy;
use crate::model::state::{Conversation, ClosedRound, Floor, Reply, Round, Turn};
use crate::model::time::Timestamp;
use crate::planted::{self, Bug};

/// Agents that a round asks side by side at its end.
const SIDE_BY_SIDE_MAX: usize = 3;

impl Floor {
    /// The message that something is about: that message itself, or one with a reply to it.
    pub(crate) fn message_of(&self, cause: &Cause) -> Option<Seq> {
        self.rounds().find(|round| round.is_about(cause)).map(|round| round.cause.seq)
    }

    /// The round that goes on, and those that are over while somebody still works on their
    /// message.
    fn rounds(&self) -> impl Iterator<Item = &Round> {
        self.round.iter().chain(self.earlier.iter().map(|earlier| &earlier.round))
    }

    /// Whether the replies to the newest message are used up, counting those that are spoken for by
    /// turns that the floor does not wait for.
    pub(crate) fn is_used_up(&self) -> bool {
        self.spent + self.reserved() >= self.cap
    }

    /// The same of a message that somebody still works on.
    pub(crate) fn is_used_up_for(&self, message: Seq) -> bool {
        let earlier = self.earlier.iter().find(|earlier| earlier.round.cause.seq == message);
        let (spent, cap) =
            earlier.map_or((self.spent, self.cap), |earlier| (earlier.spent, earlier.cap));
        spent + self.reserved_for(Some(message)) >= cap
    }

    /// Replies to the newest message that are spoken for.
    pub(crate) fn reserved(&self) -> u32 {
        self.reserved_for(self.message)
    }

    /// One reply for each turn that was released and is, or may yet be, about a message.
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

    /// Counts a reply to its message; to the newest one where it belongs to none that is
    /// remembered.
    pub(crate) fn charge(&mut self, message: Option<Seq>) {
        let known = message.filter(|message| {
            self.message == Some(*message)
                || self.earlier.iter().any(|e| e.round.cause.seq == *message)
        });
        let message =
            known.filter(|_| !planted::has(Bug::LateAnswerChargedToNewest)).or(self.message);
        if message == self.message {
            self.spent += 1;
        }
        let earlier =
            self.earlier.iter_mut().find(|earlier| Some(earlier.round.cause.seq) == message);
        earlier.into_iter().for_each(|earlier| earlier.spent += 1);
    }

    /// Where a reply counts among the others: in the round of its message, or in the one that goes
    /// on.
    pub(crate) fn round_of(&mut self, message: Option<Seq>) -> Option<&mut Round> {
        let is_earlier = |earlier: &&mut ClosedRound| Some(earlier.round.cause.seq) == message;
        self.earlier
            .iter_mut()
            .find(is_earlier)
            .map(|earlier| &mut earlier.round)
            .or(self.round.as_mut())
    }

    /// The round is over. It is remembered while there is somebody who still works on its message.
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

    /// The time of a late answer has come: those who have not reacted to its message may.
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

    /// Forgets the messages for which nothing is open any more.
    pub(crate) fn forget_earlier(&mut self) {
        let (turns, queue) = (&self.turns, &self.queue);
        let is_open = |round: &Round| {
            let message = Some(round.cause.seq);
            turns.values().any(|turn| turn.message == message || turn.may_fall_back_to(round))
                || queue.iter().any(|waiting| waiting.late == message)
        };
        self.earlier.retain(|earlier| is_open(&earlier.round));
    }

    /// What was said earlier is dealt with: its late answers wait for nothing.
    pub(crate) fn drop_earlier(&mut self) {
        self.earlier.clear();
        self.queue.retain(|waiting| waiting.late.is_none());
    }
}

impl Round {
    /// Whether it waits for a turn that asks somebody about this.
    pub(crate) fn asks(&self, participant: &ParticipantId, cause: &Cause) -> bool {
        self.current.is_none()
            && self.is_about(cause)
            && (self.forced.contains(participant) || self.polled.contains(participant))
    }

    /// An agent's visible reply.
    pub(crate) fn replied(&mut self, reply: Reply, volunteered: bool) {
        self.volunteers += u32::from(volunteered);
        self.replies.push(reply);
    }
}

impl Turn {
    /// Whether it may begin without what it was asked about since, and answer this round's message
    /// then.
    fn may_fall_back_to(&self, round: &Round) -> bool {
        self.running.is_none()
            && self.answers().any(|cause| round.is_about(cause))
            && !planted::has(Bug::FirstMessageNotReserved)
    }
}

impl Conversation {
    /// Until when the floor waits for a turn that is granted now; nothing where no round waits for
    /// it.
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

    /// The turn that the round waits for, and until when.
    pub(crate) fn awaited(&self) -> Option<(TurnNo, Timestamp)> {
        let turn = self.turn(self.floor.round.as_ref()?.current?)?;
        let until = turn.patience.into_iter().chain(self.round_ends_at()).min();
        until.map(|until| (turn.no, until))
    }

    /// The end of the round's own patience, while another message waits. A round of `/ask` keeps
    /// its order and has none.
    pub(crate) fn round_ends_at(&self) -> Option<Timestamp> {
        let waits_on = |round: &&Round| round.asked || planted::has(Bug::RoundWaitsOn);
        let round = self.floor.round.as_ref().filter(|round| !waits_on(round))?;
        self.queued().next()?;
        round.waited_from().map(|from| from + self.policy.patience)
    }

    /// The time until which a round whose patience is used up asks no more agents side by side.
    pub(crate) fn crowded_until(&self) -> Option<Timestamp> {
        let (round, end) = (self.floor.round.as_ref()?, self.round_ends_at()?);
        let beside = |turn: &&Turn| {
            turn.message == Some(round.cause.seq) && turn.granted_at >= end && self.is_front(turn)
        };
        let mut until: Vec<_> =
            self.open_turns().filter(beside).filter_map(|turn| turn.patience).collect();
        until.sort_by_key(|until| std::cmp::Reverse(*until));
        until.get(SIDE_BY_SIDE_MAX - 1).copied()
    }

    /// The message that an answer comes late for: its round is over, or at a place where nobody is
    /// asked about it any more. Where nobody reacts in rounds, nothing is late.
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
    /// The floor goes on without a turn for which it has waited long enough.
    pub(crate) fn release_awaited(&mut self) {
        if let Some((turn, _)) = self.state.awaited().filter(|(_, until)| *until <= self.now) {
            self.emit(Event::TurnReleased { turn });
        }
    }

    /// The time of a late answer has come.
    pub(crate) fn reopen_round(&mut self, message: Seq, reply: Seq) {
        let earlier =
            self.state.floor.earlier.iter().find(|earlier| earlier.round.cause.seq == message);
        let waiting = self.state.floor.queue.iter().find(|waiting| waiting.cause.seq == reply);
        let cause =
            earlier.map(|earlier| &earlier.round.cause).or(waiting.map(|waiting| &waiting.cause));
        if let Some(cause) = cause.cloned() {
            self.emit(Event::RoundReopened { cause, reply });
        }
    }

    /// True if another message waited for the round as long as it may.
    pub(crate) fn is_round_over(&self) -> bool {
        self.state.round_ends_at().is_some_and(|at| at <= self.now)
    }

    /// The floor does not wait for the turn that it has just granted.
    pub(crate) fn release_asked(&mut self) {
        if let Some(turn) = self.state.floor.round.as_ref().and_then(|round| round.current) {
            self.emit(Event::TurnReleased { turn });
        }
    }
}
