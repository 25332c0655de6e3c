//! Turns: granted, started and ended once. Also the permissions that stop a turn's clock.

use crate::decide::Decider;
use crate::model::command::{Actor, Refusal, Rejection};
use crate::model::event::{
    Cause, Event, Fault, Outcome, Posted, Recipient, TurnKind, TurnReason, Usage, WhyNot,
};
use crate::model::hosted::HOSTED_MAX;
use crate::model::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use crate::model::participant::{Memory, Participant};
use crate::model::permission::{
    ChoiceFault, ChosenOptions, Question, SettledPermission, Settlement, WithdrawalReason, answered,
};
use crate::model::state::{Conversation, Turn};
use crate::model::time::Millis;
use crate::planted::{self, Bug};
use crate::text;

/// Longest time that a turn waits for a runtime to accept it, unless the participant is of another
/// computer. A busy terminal accepts late, so this is generous.
const WAIT_MAX: Millis = Millis::from_secs(3600);

impl Conversation {
    /// Returns the time for which a turn of this participant waits for its runtime.
    fn wait_of_turns(&self, id: &ParticipantId) -> Millis {
        self.participant(id).and_then(|participant| participant.facts.waits).unwrap_or(WAIT_MAX)
    }

    /// Returns the time for which a turn waits for the computer of its participant; `None` if it
    /// runs, or its computer is this one.
    fn waits_for_computer(&self, turn: &Turn) -> Option<Millis> {
        let waits = turn.running.is_none() && !turn.is_hosted();
        self.participant(&turn.participant)?.facts.waits.filter(|_| waits)
    }
}

impl Decider<'_> {
    /// Grants a turn, or widens the waiting one: adds the cause to it. With `may_pass` the agent is
    /// offered `[PASS]`. A refusal by the depth limit or the budgets is recorded. Both are checked
    /// here, because every grant except that of a hosted turn passes here.
    pub(crate) fn grant(
        &mut self,
        participant: &ParticipantId,
        why: TurnReason,
        kind: TurnKind,
        may_pass: bool,
        cause: &Cause,
    ) {
        if self.too_deep(cause) {
            return self.skip(
                participant,
                WhyNot::Capped,
                cause,
                Some("the depth limit is reached"),
            );
        }
        // A waiting turn was charged when it was granted.
        if self.state.waiting_turn(participant).is_none() && !self.can_afford(participant, cause) {
            return;
        }
        let event = match self.state.waiting_turn(participant) {
            None => Event::TurnGranted {
                turn: self.state.floor.last_turn.next(),
                participant: participant.clone(),
                why,
                kind,
                may_pass,
                cause: cause.clone(),
                expires: self.now + self.state.wait_of_turns(participant),
                patience: self.state.patience_for(participant, cause, self.now),
                hosted: None,
            },
            // A prod has no words, so a waiting turn keeps its cause.
            Some(waiting) if why == TurnReason::Prod && waiting.kind == TurnKind::Reply => {
                if !waiting.may_pass {
                    return;
                }
                Event::TurnWidened {
                    turn: waiting.no,
                    why,
                    kind,
                    may_pass,
                    cause: waiting.cause.clone(),
                }
            }
            // A turn that must be answered does not become one that may pass.
            Some(waiting) if waiting.kind == TurnKind::Reply && !waiting.may_pass => {
                Event::TurnWidened {
                    turn: waiting.no,
                    why: waiting.why,
                    kind: TurnKind::Reply,
                    may_pass: false,
                    cause: cause.clone(),
                }
            }
            Some(waiting) if waiting.kind == TurnKind::Reply && kind == TurnKind::Listen => {
                Event::TurnWidened {
                    turn: waiting.no,
                    why: waiting.why,
                    kind: TurnKind::Reply,
                    may_pass: waiting.may_pass,
                    cause: cause.clone(),
                }
            }
            Some(waiting) => {
                Event::TurnWidened { turn: waiting.no, why, kind, may_pass, cause: cause.clone() }
            }
        };
        self.emit(event);
    }

    /// True if the cause has reached the depth limit. Links and gatherings have limits of their
    /// own. (Ruling 10.)
    fn too_deep(&self, cause: &Cause) -> bool {
        self.state.rules().counts_depth && cause.depth >= self.state.policy.max_depth
    }

    /// Records that a participant gets no turn for a cause, with the reason.
    pub(crate) fn skip(
        &mut self,
        participant: &ParticipantId,
        why_not: WhyNot,
        cause: &Cause,
        detail: Option<&str>,
    ) {
        self.emit(Event::Skipped {
            participant: participant.clone(),
            why_not,
            cause: cause.clone(),
            detail: detail.map(str::to_owned),
            hosted: None,
        });
    }

    /// Starts the waiting turn that its runtime has taken, with a prompt up to `through`. Causes
    /// after that get another turn. Ignores a report of another attempt, of a running turn, or of a
    /// turn whose participant has an older open turn.
    pub(crate) fn started(&mut self, no: TurnNo, attempt: u32, through: Seq) {
        let Some(turn) = self.state.turn(no) else { return };
        if turn.attempt != attempt || turn.running.is_some() || !self.state.is_front(turn) {
            return;
        }
        let through = through.min(self.state.head);
        let widened = turn.is_widened_after(through).then(|| turn.clone());
        self.start(no, through);
        if let Some(turn) = widened {
            self.ask_about_the_rest(&turn);
        }
    }

    /// Grants another turn for causes that came too late for a started turn, if their message has a
    /// reply left.
    fn ask_about_the_rest(&mut self, turn: &Turn) {
        let message = self
            .state
            .floor
            .message_of(&turn.cause)
            .filter(|_| turn.released && self.state.counts_replies());
        if message.is_some_and(|message| self.state.floor.is_used_up_for(message)) {
            return self.skip(
                &turn.participant,
                WhyNot::Capped,
                &turn.cause,
                Some("its other turn has the last reply to the message"),
            );
        }
        self.grant(&turn.participant, turn.why, turn.kind, turn.may_pass, &turn.cause);
        let next = self
            .state
            .waiting_turn(&turn.participant)
            .filter(|_| turn.released)
            .map(|next| next.no);
        next.into_iter().for_each(|turn| drop(self.emit(Event::TurnReleased { turn })));
    }

    /// Emits the start of an open turn, with the range of its prompt and its deadline.
    fn start(&mut self, no: TurnNo, through: Seq) {
        let Some(turn) = self.state.turn(no) else { return };
        let cursor = self.state.participant(&turn.participant).map_or(Seq(0), |p| p.cursor);
        let from_seq = if planted::has(Bug::CauseCoveredTwice) { Seq(0) } else { cursor };
        // The runtime chooses `through`, and a range must not end before it begins.
        let range = (from_seq.min(through), through);
        let (from_seq, through_seq) = turn.own_range().unwrap_or(range);
        let deadline = self.now + self.state.limit_of(turn);
        let (attempt, hosted) = (turn.attempt, turn.hosted.clone());
        self.emit(Event::TurnStarted {
            turn: no,
            attempt,
            from_seq,
            through_seq,
            deadline,
            hosted,
        });
    }

    /// Starts a waiting turn whose result overtook the report of its start. The turn covers events
    /// up to `asked_at`, because a queued cause takes effect later than it was said.
    pub(crate) fn ensure_started(&mut self, no: TurnNo) {
        let waiting = self.state.turn(no).filter(|turn| turn.running.is_none());
        if let Some(through) = waiting.map(|turn| turn.asked_at) {
            self.start(no, through);
        }
    }

    pub(crate) fn elapsed(&self, no: TurnNo) -> Usage {
        let worked = self.state.turn(no).map_or(Millis(0), |turn| turn.worked(self.now));
        Usage { ms: worked.0, ..Usage::default() }
    }

    /// Ends an open turn with its outcome. A reply or a pass also cancels the waiting turn of the
    /// same participant whose causes it has covered. A hosted turn covers no other.
    pub(crate) fn end(&mut self, no: TurnNo, outcome: Outcome, fault: Option<Fault>, usage: Usage) {
        let Some(turn) = self.state.turn(no) else { return };
        let (participant, attempt) = (turn.participant.clone(), turn.attempt);
        let (speaks_here, hosted) = (turn.speaks_here(), turn.hosted.clone());
        let delivered = matches!(outcome, Outcome::Cancelled | Outcome::Expired)
            && self.prompt_was_delivered(turn);
        let fault = fault
            .map(|fault| Fault { prompt_delivered: fault.prompt_delivered || delivered, ..fault });
        let usage = bounded(usage);
        let ended = self.shown_answer(no).and_then(|brought| brought.ended);
        self.emit(Event::TurnEnded {
            turn: no,
            participant: participant.clone(),
            attempt,
            outcome,
            fault,
            usage,
            ended,
            hosted,
        });
        if speaks_here && matches!(outcome, Outcome::Spoke | Outcome::Passed) {
            self.end_covered(&participant);
        }
    }

    /// True if a started turn delivered its prompt for good. Only participants with a memory of
    /// their own remember a prompt; the others are prompted anew with all that they have not
    /// answered. A listening turn may be delivered twice without harm.
    fn prompt_was_delivered(&self, turn: &Turn) -> bool {
        let remembers =
            |participant: &Participant| participant.facts.abilities.memory == Memory::Own;
        turn.kind == TurnKind::Reply
            && turn.running.is_some()
            && self.state.participant(&turn.participant).is_some_and(remembers)
    }

    /// Cancels a waiting turn whose causes were just answered: each cause is covered once.
    fn end_covered(&mut self, id: &ParticipantId) {
        let Some(cursor) = self.state.participant(id).map(|participant| participant.cursor) else {
            return;
        };
        let covered =
            self.next_to_cover(id).filter(|turn| turn.cause_at <= cursor).map(|turn| turn.no);
        if let Some(no) = covered {
            let fault = Fault::new("covered", "the turn before it has covered this already");
            self.end(no, Outcome::Cancelled, Some(fault), Usage::default());
        }
    }

    /// Returns the waiting turn of a participant, which another of its turns may cover, or which
    /// may cover another. Hosted turns are left out, except by a planted bug.
    fn next_to_cover(&self, id: &ParticipantId) -> Option<&Turn> {
        let waits = |turn: &&Turn| turn.participant == *id && turn.running.is_none();
        let mut newest_first = self.state.floor.turns.values().rev();
        match planted::has(Bug::HostedMerged) {
            true => newest_first.find(waits),
            false => self.state.waiting_turn(id),
        }
    }

    /// Ends a turn that failed, so that the next agent is asked. (Ruling 13.) The failure is
    /// posted, except of a listening or hosted turn, in an archived conversation, for limits
    /// announced already, or if `fails_unseen`.
    pub(crate) fn fail(&mut self, no: TurnNo, outcome: Outcome, fault: Fault, usage: Usage) {
        let Some(turn) = self.state.turn(no).cloned() else { return };
        let fault =
            Fault { message: text::cut(&text::clean(&fault.message), 4096).to_owned(), ..fault };
        self.end(no, outcome, Some(fault.clone()), usage);
        let was_announced = fault.is_of_limits() && self.state.floor.limits_announced;
        if !turn.speaks_here() || self.state.archived || was_announced || self.fails_unseen(&turn) {
            return;
        }
        let body = format!("[{} {}]", self.state.name_of(&turn.participant), fault.outcome());
        let words = self.server_words(
            body,
            Recipient::All,
            &turn.cause,
            vec!["coordinator".into(), "error".into()],
        );
        self.emit(Event::Posted(Posted { turn: Some(no), error: Some(Box::new(fault)), ..words }));
    }

    /// Fails the turns of remote clients that have gone. (Ruling 5.)
    pub(crate) fn end_turns_of_the_gone(&mut self) {
        let gone = |turn: &&Turn| self.facts.gone.contains(&turn.participant);
        let comes_itself = |turn: &&Turn| {
            self.state.participant(&turn.participant).is_some_and(Participant::answers_by_posting)
        };
        let left: Vec<_> =
            self.state.open_turns().filter(gone).filter(comes_itself).map(|turn| turn.no).collect();
        for turn in left {
            let usage = self.elapsed(turn);
            self.fail(
                turn,
                Outcome::Failed,
                Fault::new("offline", "its client went away before it answered"),
                usage,
            );
        }
    }

    /// True if the failure of a turn is not shown: the turn could pass, and the floor had released
    /// it or its remote client never started it.
    fn fails_unseen(&self, turn: &Turn) -> bool {
        let comes_itself =
            self.state.participant(&turn.participant).is_some_and(Participant::answers_by_posting);
        turn.may_pass && (turn.released || (comes_itself && turn.running.is_none()))
    }

    /// Ends a turn whose deadline has passed: it was not started or not answered in time. A turn
    /// that waited for another computer fails, because its participant was away.
    pub(crate) fn expire(&mut self, no: TurnNo) {
        let Some(turn) = self.state.turn(no) else { return };
        if let Some(waited) = self.state.waits_for_computer(turn) {
            let away = waited.for_people();
            let fault = Fault::new("offline", format!("its computer was away for {away}"));
            return self.fail(no, Outcome::Failed, fault, Usage::default());
        }
        let fault = if turn.running.is_some() {
            let limit = self.state.limit_of(turn).for_people();
            let printed = self.shown_answer(no).filter(|shown| !shown.last_lines.is_empty());
            let printed = printed.map(|shown| format!("; it printed last:\n{}", shown.last_lines));
            let message = format!("no answer for {limit}{}", printed.unwrap_or_default());
            Fault::new("timeout", message)
        } else {
            Fault::new("never_started", "the turn was not started in time")
        };
        let usage = self.keep_unfinished(no, self.elapsed(no));
        self.fail(no, Outcome::Expired, fault, usage);
    }

    /// Puts a running turn that a restart lost back to waiting, or fails it if the budgets do not
    /// allow another run. If another turn of its participant waits already, that turn takes over
    /// its causes and obligations. A participant never has two waiting turns, and each cause is
    /// answered once. A hosted turn is not merged with another turn.
    pub(crate) fn requeue_lost(&mut self, no: TurnNo, attempt: u32) {
        let running =
            self.state.turn(no).filter(|turn| turn.attempt == attempt && turn.running.is_some());
        let Some(turn) = running.cloned() else { return };
        let usage = self.elapsed(no);
        let behind = self
            .next_to_cover(&turn.participant)
            .filter(|_| !turn.is_hosted() || planted::has(Bug::HostedMerged))
            .cloned();
        if behind.is_none()
            && let Some(message) = self.cannot_rerun(&turn.account, &turn.participant, &turn.cause)
        {
            return self.fail(no, Outcome::Failed, Fault::new("over_budget", message), usage);
        }
        let own = self.state.wait_of_turns(&turn.participant);
        let waits = if turn.is_hosted() { HOSTED_MAX } else { own };
        let expires = Some(self.now + waits);
        self.emit(Event::TurnLost { turn: no, attempt, expires });
        let Some(behind) = behind else { return };
        let owes_more = turn.kind == TurnKind::Reply
            && (behind.kind == TurnKind::Listen || (behind.may_pass && !turn.may_pass));
        if owes_more {
            let (why, kind, may_pass) = (turn.why, turn.kind, turn.may_pass);
            self.emit(Event::TurnWidened {
                turn: behind.no,
                why,
                kind,
                may_pass,
                cause: behind.cause,
            });
        }
        let message = format!("a restart lost it, and turn {} covers what it was asked", behind.no);
        self.end(no, Outcome::Cancelled, Some(Fault::new("merged", message)), usage);
    }

    /// Cancels one open turn for a person. The shown part of its answer is posted, and a notice
    /// names the person. Rejects an ended or unknown turn.
    pub(crate) fn cancel(&mut self, no: TurnNo, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        let Some(turn) = self.state.turn(no).cloned() else {
            let known = no <= self.state.floor.last_turn && no > TurnNo(0);
            return Err(if known {
                Rejection::new(Refusal::Conflict, "turn_ended", "This turn has already ended.")
            } else {
                Rejection::new(
                    Refusal::NotFound,
                    "unknown_turn",
                    "This conversation has no such turn.",
                )
            });
        };
        let usage = self.keep_shown(no);
        let message = format!("{} cancelled it", by.id);
        let participant = turn.participant.clone();
        let verb = if turn.running.is_some() { "interrupted" } else { "cancelled the turn of" };
        let name = self.state.name_of(&participant);
        let text = format!("{} {verb} {name}.", self.state.name_of(&by.id));
        self.end(no, Outcome::Cancelled, Some(Fault::new(Fault::CANCELLED, message)), usage);
        self.notice(Fault::CANCELLED, text, Some(&participant), None);
        Ok(())
    }

    /// Opens a question of a running turn, which stops the turn's clock; the round moves on. An
    /// open question is not asked twice. Rejects a question that was settled already, and a
    /// question beyond [`CARDS_MAX`] of the agent.
    pub(crate) fn ask_permission(
        &mut self,
        permission: PermissionId,
        turn: TurnNo,
        question: &Question,
        within: Millis,
    ) -> Result<(), Rejection> {
        let Some(open) = self.state.turn(turn).filter(|turn| turn.running.is_some()) else {
            return Err(Rejection::new(
                Refusal::Conflict,
                "no_open_turn",
                "Only a running turn can request a permission.",
            ));
        };
        // A restarted runtime asks an open question again, under the same id.
        if open.permissions.contains_key(&permission) {
            return Ok(());
        }
        if self.state.floor.settled.iter().any(|settled| settled.permission == permission) {
            return Err(self.late_answer_rejection(&permission));
        }
        let participant = open.participant.clone();
        self.check_questions(&participant)?;
        let Question { action, partial, detail, options, folder, look, stands } =
            question.for_display();
        let expires = self.now + within;
        self.emit(Event::PermissionRequested {
            permission,
            turn,
            participant,
            action,
            options,
            expires,
            partial,
            detail,
            folder,
            look,
            stands,
        });
        self.release_asking();
        Ok(())
    }

    /// Answers a permission with the option that a person's words mean. Only the first answer
    /// counts. If the answer does not allow a request, the request is settled as refused.
    pub(crate) fn answer_permission(
        &mut self,
        permission: &PermissionId,
        given: &str,
        text: Option<&str>,
        by: &Actor,
    ) -> Result<(), Rejection> {
        self.check_human(by)?;
        let asking = self.state.open_turns().find(|turn| turn.permissions.contains_key(permission));
        let of_turn = asking.and_then(|turn| turn.permissions.get(permission));
        let of_request = self.state.floor.requests.get(permission).and_then(|open| open.waiting());
        let of_none = self.state.floor.questions.get(permission).map(|open| &open.options);
        let options = of_turn.or(of_request).map(|waiting| &waiting.options).or(of_none);
        let Some(options) = options else { return Err(self.late_answer_rejection(permission)) };
        let (chosen, text) = answered(options, given, text).map_err(|fault| no_answer(&fault))?;
        // Refusing needs no budget: it is the way out for an agent without money. A question
        // without a refusing option can always be answered.
        let can_be_refused = options.iter().any(|option| option.kind.refuses());
        if let Some(turn) = asking.filter(|_| can_be_refused && !chosen.refuses) {
            self.check_money(turn)?;
        }
        let ChosenOptions { option, label, .. } = chosen;
        // The fold falls back to the option, so an equal label is left out of the log.
        let label = Some(label).filter(|label| *label != option);
        self.emit(Event::PermissionAnswered {
            permission: permission.clone(),
            by: by.id.clone(),
            option,
            label,
            text,
        });
        self.settle_refused(permission, &by.id);
        Ok(())
    }

    /// Returns the rejection of a late answer, which says how the question ended.
    pub(crate) fn late_answer_rejection(&self, permission: &PermissionId) -> Rejection {
        let known =
            self.state.floor.settled.iter().rev().find(|settled| settled.permission == *permission);
        let closed =
            |message: String| Rejection::new(Refusal::Conflict, "permission_closed", message);
        let withdrawn =
            |message: &str| Rejection::new(Refusal::Conflict, "permission_withdrawn", message);
        let Some(SettledPermission { at, how, .. }) = known else {
            return closed(
                "This permission is not open here. It was already answered, or it expired."
                    .to_owned(),
            );
        };
        match how {
            Settlement::Answered { by, label, .. } => {
                closed(format!("{} already answered “{label}”, at {at}.", self.state.name_of(by)))
            }
            Settlement::Expired => {
                closed(format!("The permission expired without an answer at {at}."))
            }
            Settlement::TurnOver => closed(format!("The turn that asked ended at {at}.")),
            Settlement::Withdrawn(WithdrawalReason::GaveUp) => closed(format!(
                "The agent got no answer in time and gave up at {at}. It may ask again."
            )),
            Settlement::Withdrawn(WithdrawalReason::Left) => withdrawn(
                "This request was withdrawn: the agent left, or the conversation was archived.",
            ),
            Settlement::Withdrawn(WithdrawalReason::Gone) => withdrawn(
                "This request was withdrawn: it was answered at the agent's own terminal, or \
                 given up. Your answer had no effect.",
            ),
            Settlement::Withdrawn(WithdrawalReason::Replaced | WithdrawalReason::NotGiven) => {
                withdrawn(
                    "This request was replaced by another one. Your answer had no effect; look at \
                     the new request.",
                )
            }
        }
    }

    /// Withdraws an open permission. `NotGiven` also applies to an answered one: its answer never
    /// reached the program.
    pub(crate) fn withdraw_permission(
        &mut self,
        permission: &PermissionId,
        because: WithdrawalReason,
    ) {
        let of_turn = self.state.open_turns().any(|turn| turn.permissions.contains_key(permission));
        let request = self.state.floor.requests.get(permission);
        let open = of_turn
            || self.state.floor.questions.contains_key(permission)
            || request.is_some_and(|open| open.waiting().is_some());
        let answered = |settled: &&SettledPermission| settled.permission == *permission;
        let latest = self.state.floor.settled.iter().rev().find(answered);
        let given =
            latest.is_some_and(|settled| matches!(settled.how, Settlement::Answered { .. }));
        if open || (given && because == WithdrawalReason::NotGiven) {
            self.emit(Event::PermissionWithdrawn { permission: permission.clone(), because });
        }
    }
}

/// Returns the rejection of an answer that does not fit its question.
fn no_answer(fault: &ChoiceFault) -> Rejection {
    let kind = match fault {
        ChoiceFault::TextTooLong { .. } => Refusal::TooLarge,
        ChoiceFault::Unknown { .. }
        | ChoiceFault::Ambiguous { .. }
        | ChoiceFault::OnlyBeginning { .. }
        | ChoiceFault::NotTogether { .. }
        | ChoiceFault::TakesNoText { .. }
        | ChoiceFault::TextMissing { .. } => Refusal::Invalid,
    };
    Rejection::new(kind, fault.code(), format!("{fault}."))
}

/// Limits tokens and cost to more than a real turn can reach, so that wrong figures of a provider
/// cannot break a ledger.
pub(crate) fn bounded(usage: Usage) -> Usage {
    const TOKENS_MAX: u64 = 1_000_000_000;
    const MICROS_MAX: u64 = 1_000_000_000_000;
    Usage {
        ms: usage.ms,
        input_tokens: usage.input_tokens.min(TOKENS_MAX),
        output_tokens: usage.output_tokens.min(TOKENS_MAX),
        cost_micros: usage.cost_micros.min(MICROS_MAX),
    }
}
