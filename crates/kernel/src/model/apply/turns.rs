//! The changes that the events of turns make to a conversation.

use std::collections::BTreeMap;

use crate::model::event::{Cause, Event, Fault, Outcome, TurnKind, Usage};
use crate::model::fold::{ENDED_KEPT, WOKEN_KEPT};
use crate::model::ids::{ParticipantId, TurnNo};
use crate::model::state::{Conversation, EndedTurn, RunningTurn, Turn, TurnCause};
use crate::model::time::Timestamp;
use crate::planted::{self, Bug};

impl Conversation {
    /// Adds a granted turn, or updates a waiting one that was widened: given another cause or
    /// reason. Ignores other events.
    pub(super) fn apply_granted(&mut self, event: &Event, ts: Timestamp) {
        match event {
            Event::TurnGranted {
                turn,
                participant,
                why,
                kind,
                may_pass,
                cause,
                expires,
                patience,
                hosted,
            } => {
                self.floor.last_turn = *turn;
                let account = self.account_of(participant, cause);
                let granted = Turn {
                    no: *turn,
                    participant: participant.clone(),
                    why: *why,
                    kind: *kind,
                    may_pass: *may_pass,
                    cause: cause.clone(),
                    causes: [TurnCause { cause: cause.clone(), at: self.floor.effect_of(cause) }]
                        .into(),
                    message: self.floor.message_of(cause),
                    patience: *patience,
                    released: false,
                    stopped: false,
                    cause_at: self.floor.effect_of(cause),
                    asked_at: self.head,
                    attempt: 1,
                    granted_at: ts,
                    deadline: *expires,
                    running: None,
                    frozen_since: None,
                    permissions: BTreeMap::new(),
                    account,
                    summed: Usage::default(),
                    hosted: hosted.clone(),
                };
                self.floor.turns.insert(*turn, granted);
                if hosted.is_some() {
                    return;
                }
                self.note_woken(cause, participant, ts);
                self.ask_in_round(*turn, participant, *may_pass, cause, ts);
                if *may_pass && let Some(participant) = self.participant_mut(participant) {
                    participant.polls_skipped = 0;
                }
            }
            Event::TurnWidened { turn: no, why, kind, may_pass, cause } => {
                let (head, cause_at, message) =
                    (self.head, self.floor.effect_of(cause), self.floor.message_of(cause));
                let Some(turn) = self.floor.turns.get_mut(no) else { return };
                turn.why = *why;
                turn.kind = *kind;
                turn.may_pass = *may_pass;
                // With the same cause, only the reason, the purpose or the offer of `[PASS]`
                // changes.
                let asks_more = turn.cause.seq != cause.seq;
                if asks_more {
                    turn.cause = cause.clone();
                    turn.ask(TurnCause { cause: cause.clone(), at: cause_at });
                }
                turn.message = message.or(turn.message);
                turn.cause_at = cause_at;
                turn.asked_at = head;
                let woken = turn.participant.clone();
                if asks_more {
                    self.note_woken(cause, &woken, ts);
                }
                self.ask_in_round(*no, &woken, *may_pass, cause, ts);
            }
            _ => {}
        }
    }

    /// Makes the round wait for a turn if the turn asks an agent on its list about its message or a
    /// reply to it. A turn that a person's prod grants, or that is left from an earlier policy, is
    /// not part of the round.
    fn ask_in_round(
        &mut self,
        no: TurnNo,
        participant: &ParticipantId,
        may_pass: bool,
        cause: &Cause,
        ts: Timestamp,
    ) {
        let Some(round) = self.floor.round.as_mut().filter(|round| round.asks(participant, cause))
        else {
            return;
        };
        round.began_at.get_or_insert(ts);
        round.current = Some(no);
        round.polls += u32::from(may_pass);
        round.forced.retain(|id| id != participant);
        round.polled.retain(|id| id != participant);
        if round.reacting && !planted::has(Bug::ReactsTwice) {
            round.reacted.push(participant.clone());
        }
    }

    /// Lets the floor move on without a turn. The cap still reserves the turn's reply.
    pub(super) fn apply_released(&mut self, no: TurnNo) {
        if let Some(turn) = self.floor.turns.get_mut(&no) {
            turn.released = true;
        }
        if let Some(round) = &mut self.floor.round {
            round.current.take_if(|current| *current == no);
        }
    }

    /// Notes for the pair guard that words of an agent gave another one a turn. Own words that
    /// concern the woken agent were counted when they were said.
    fn note_woken(&mut self, cause: &Cause, woken: &ParticipantId, ts: Timestamp) {
        let by = &cause.from;
        let of_agent = !self.is_human(by) && by.as_str() != ParticipantId::MOOTHALL;
        if of_agent && !self.restraint.counted(cause.seq, woken) {
            self.note_pair(by, woken, ts);
        }
    }

    /// Counts for the pair guard that words of `by` woke or concern `woken`.
    pub(super) fn note_pair(&mut self, by: &ParticipantId, woken: &ParticipantId, ts: Timestamp) {
        let times = self.guards.pairs.entry((by.clone(), woken.clone())).or_default();
        times.push_back(ts);
        if times.len() > WOKEN_KEPT {
            times.pop_front();
        }
    }

    /// Marks a turn as running. If its prompt lacks the newest causes, the turn is about the newest
    /// one in the prompt, and the round asks its agent again.
    pub(super) fn apply_started(
        &mut self,
        no: TurnNo,
        attempt: u32,
        running: RunningTurn,
        deadline: Timestamp,
    ) {
        let Some(turn) = self.floor.turns.get(&no) else { return };
        // A turn that starts without its newest cause is about the newest one in its prompt.
        let parts = turn.is_widened_after(running.through_seq);
        let shown = turn.shown_by(running.through_seq).filter(|_| parts).cloned();
        let message = shown.as_ref().and_then(|asked| self.floor.message_of(&asked.cause));
        let Some(turn) = self.floor.turns.get_mut(&no) else { return };
        turn.attempt = attempt;
        turn.running = Some(running);
        let (id, may_pass) = (turn.participant.clone(), turn.may_pass);
        let is_hosted = turn.is_hosted();
        if let Some(TurnCause { cause, at }) = shown {
            (turn.cause, turn.cause_at, turn.message) = (cause, at, message);
        }
        turn.deadline = deadline;
        let about = turn.cause.clone();
        if let Some(round) = self
            .floor
            .round
            .as_mut()
            .filter(|round| parts && round.current == Some(no) && !round.is_about(&about))
        {
            round.ask_again(id.clone(), may_pass);
        }
        if is_hosted {
            return;
        }
        if let Some(participant) = self.participant_mut(&id) {
            participant.shown = participant.shown.max(running.through_seq);
        }
    }

    /// Removes a turn. The cursor of its participant moves if the participant answered, or if the
    /// prompt was delivered for good. An agent whose turn failed, expired or was cancelled by a
    /// person is not asked again in the round.
    pub(super) fn apply_ended(&mut self, no: TurnNo, outcome: Outcome, fault: Option<&Fault>) {
        let Some(turn) = self.floor.turns.remove(&no) else { return };
        self.floor.forget_earlier();
        let by_person = outcome == Outcome::Cancelled
            && fault.is_some_and(|fault| fault.code == Fault::CANCELLED);
        let causes = turn.causes.iter().map(|asked| asked.cause.seq);
        self.floor.ended.push_back(EndedTurn {
            turn: no,
            participant: turn.participant.clone(),
            stopped: turn.stopped,
            cancelled: causes.filter(|_| by_person).collect(),
        });
        if self.floor.ended.len() > ENDED_KEPT {
            self.floor.ended.pop_front();
        }
        // The other conversation counts the result. Here nothing was answered or shown.
        if turn.is_hosted() {
            return;
        }
        let finished = turn.stopped || matches!(outcome, Outcome::Spoke | Outcome::Passed);
        let in_round = self
            .floor
            .round
            .as_mut()
            .is_some_and(|round| round.current.take_if(|current| *current == no).is_some());
        if outcome == Outcome::Spoke && turn.kind == TurnKind::Reply && in_round {
            self.floor.last_speaker = Some(turn.participant.clone());
        }
        let by_person = by_person && !planted::has(Bug::CancelledIsAskedAgain);
        let broke_off = matches!(outcome, Outcome::Failed | Outcome::Expired) || by_person;
        let round =
            self.floor.round.as_mut().filter(|round| in_round || round.is_worked_on_in(&turn));
        let earlier = self
            .floor
            .earlier
            .iter_mut()
            .map(|earlier| &mut earlier.round)
            .filter(|round| round.is_worked_on_in(&turn));
        for round in round.into_iter().chain(earlier).filter(|_| broke_off) {
            round.left_out.push(turn.participant.clone());
        }
        let Some(participant) = self.participant_mut(&turn.participant) else { return };
        participant.answered |= finished;
        participant.told_ended &= !finished;
        // A turn that ended before its start counts as asked too. Otherwise a link would ask again
        // for the same words.
        participant.shown = participant.shown.max(turn.cause.seq);
        let delivered = fault.is_some_and(|fault| fault.prompt_delivered);
        if let (true, Some(running)) = (finished || delivered, turn.running) {
            participant.cursor = participant.cursor.max(running.through_seq);
        }
        if outcome == Outcome::Passed && turn.kind == TurnKind::Reply {
            participant.passes_in_a_row += 1;
        }
    }

    /// Puts a lost turn back to waiting. Its deadline is the full limit of waiting, because a
    /// waiting turn does not use its time to answer.
    pub(super) fn apply_lost(
        &mut self,
        no: TurnNo,
        attempt: u32,
        expires: Timestamp,
        ts: Timestamp,
    ) {
        self.thaw(no, ts);
        self.settle_all(no, ts);
        let Some(turn) = self.floor.turns.get_mut(&no) else { return };
        turn.attempt = attempt + 1;
        // The charge of this loss has counted these amounts, and a second loss must not count them
        // again.
        turn.summed = Usage::default();
        turn.running = None;
        turn.deadline = expires;
    }
}
