//! The changes that events make to a conversation, all through [`Conversation::apply`].

use std::collections::BTreeSet;

use crate::model::contribution::{Aside, Contribution};
use crate::model::event::{
    Cause, Change, Event, Fault, Posted, RecordedEvent, TaskOrigin, TurnKind, TurnReason, WhyNot,
};
use crate::model::fold::{FINGERPRINTS_KEPT, LOST_WAITS};
use crate::model::gathering::Gathering;
use crate::model::ids::{ParticipantId, Seq, TurnNo};
use crate::model::own::Stop;
use crate::model::participant::{Kind, Participant};
use crate::model::permission::Settlement;
use crate::model::state::{
    Conversation, Discussion, Guards, Owner, Reply, Round, RunningTurn, Tombstone, WakingWords,
};
use crate::model::summary::Summary;
use crate::model::time::Timestamp;

mod downtime;
mod permissions;
mod queue;
mod turns;

impl Conversation {
    /// Applies an event. Never fails: an unexpected event changes as little as possible.
    pub fn apply(&mut self, recorded: &RecordedEvent) {
        self.head = recorded.seq;
        self.last_ts = recorded.ts;
        let ts = recorded.ts;
        self.apply_charge(recorded);
        match &recorded.event {
            Event::Created { name, policy, task, folder, by } => {
                self.name.clone_from(name);
                let owner = |origin: &TaskOrigin| Owner {
                    task: origin.task.clone(),
                    titled: origin.titled,
                    by: by.clone(),
                };
                self.owner = task.as_ref().map(owner);
                self.policy = policy.clone();
                self.folder.clone_from(folder);
                self.created_at = ts;
                self.floor.cap = policy.max_agent_turns_per_message;
            }
            Event::Renamed { name, .. } => {
                self.name.clone_from(name);
                self.owner.iter_mut().for_each(|owner| owner.titled = true);
            }
            Event::Archived { .. } => {
                self.archived = true;
                self.archived_at = Some(ts);
                self.empty_queue(recorded.seq);
                self.floor.round = None;
                self.floor.drop_earlier();
            }
            Event::Unarchived { .. } => {
                self.archived = false;
                self.archived_at = None;
            }
            Event::Deleted { .. } => self.deleted = true,
            Event::Controlled { by, changes, unproven } => {
                for change in changes {
                    self.apply_change(by, change, !unproven, ts);
                }
            }
            Event::Posted(posted) => self.apply_posted(posted, recorded),
            Event::Taken { cause } => {
                self.floor.queue.retain(|waiting| waiting.cause.seq != cause.seq);
                self.floor.taken = Some((cause.seq, recorded.seq));
                self.leaves_queue([cause.seq], recorded.seq);
            }
            Event::RoundOpened { cause, cap, forced, polled, targeted, asked } => {
                (self.floor.message, self.floor.spent, self.floor.cap) = (Some(cause.seq), 0, *cap);
                self.floor.round = Some(Round {
                    cause: cause.clone(),
                    forced: forced.iter().cloned().collect(),
                    polled: polled.iter().cloned().collect(),
                    polls: 0,
                    volunteers: 0,
                    replies: Vec::new(),
                    named: u32::try_from(forced.len()).unwrap_or(u32::MAX),
                    reacting: false,
                    targeted: *targeted,
                    asked: *asked,
                    left_out: Vec::new(),
                    reacted: Vec::new(),
                    spared: Vec::new(),
                    current: None,
                    began_at: None,
                    awaited_at: None,
                });
                self.floor.passed_over.retain(|id| !forced.contains(id) && !polled.contains(id));
            }
            Event::ReactionOpened { forced, polled } => {
                if let Some(round) = &mut self.floor.round {
                    round.reacting = true;
                    round.forced = forced.iter().cloned().collect();
                    round.polled = polled.iter().cloned().collect();
                }
            }
            Event::RoundClosed => self.floor.close_round(),
            Event::RoundReopened { cause, reply } => self.floor.reopen_round(cause.seq, *reply),
            Event::Skipped { hosted: Some(_), .. } => {}
            Event::Skipped { participant, why_not, cause, .. } => {
                self.apply_skipped(participant, *why_not, cause)
            }
            Event::TurnGranted { .. } | Event::TurnWidened { .. } => {
                self.apply_granted(&recorded.event, ts)
            }
            Event::TurnReleased { turn } => self.apply_released(*turn),
            Event::TurnStarted { turn, attempt, from_seq, through_seq, deadline, .. } => {
                self.apply_started(
                    *turn,
                    *attempt,
                    RunningTurn { from_seq: *from_seq, through_seq: *through_seq, started_at: ts },
                    *deadline,
                );
                self.begin_first_beat(*turn, *attempt, ts);
            }
            Event::TurnLost { turn, attempt, expires } => {
                self.apply_lost(*turn, *attempt, expires.unwrap_or(ts + LOST_WAITS), ts);
            }
            Event::TurnEnded { turn, outcome, fault, .. } => {
                self.thaw(*turn, ts);
                self.settle_all(*turn, ts);
                self.apply_ended(*turn, *outcome, fault.as_ref());
            }
            Event::PermissionRequested { .. }
            | Event::QuestionAsked { .. }
            | Event::StartRequested { .. }
            | Event::TalkRequested { .. } => self.apply_asked(recorded),
            Event::StartSettled { permission, .. } => drop(self.floor.requests.remove(permission)),
            Event::TalkSettled { permission, participant, talk, outcome } => {
                self.floor.requests.remove(permission);
                self.apply_talk_settled(participant, talk, outcome, ts);
            }
            Event::PermissionAnswered { permission, by, option, label, .. } => {
                self.apply_request_answered(permission, option);
                let label = label.as_ref().unwrap_or(option).clone();
                self.apply_permission_closed(
                    permission,
                    ts,
                    Settlement::Answered {
                        by: by.clone(),
                        option: option.clone(),
                        label,
                        at: recorded.seq,
                    },
                );
            }
            Event::PermissionExpired { permission } => {
                self.apply_permission_closed(permission, ts, Settlement::Expired)
            }
            Event::PermissionWithdrawn { permission, because } => {
                self.floor.requests.remove(permission);
                self.apply_permission_closed(permission, ts, Settlement::Withdrawn(*because));
            }
            Event::Stopped { by, holds } => {
                self.restraint.stop =
                    holds.then(|| Stop { by: by.clone(), at: Some(ts), excused: BTreeSet::new() });
                self.empty_queue(recorded.seq);
                self.floor.round = None;
                self.floor.drop_earlier();
                self.mark_all_shown();
            }
            Event::BudgetSpent { spent, .. } => self.apply_spent(spent, ts),
            Event::GuardTripped { guard } => {
                (self.guards.held, self.guards.held_since) = (Some(*guard), Some(ts));
            }
            Event::ClockShifted { downtime } => self.shift(*downtime),
            Event::FactsChanged { participant, facts } => {
                if let Some(participant) = self.participant_mut(participant) {
                    participant.facts = participant.kind.facts(facts);
                }
            }
            // Tasks have streams of their own.
            Event::Task(_) => {}
            Event::Gathering(step) => {
                self.gathering = Gathering::applied(self.gathering.take(), step, ts)
            }
            Event::Redacted { seq, message, summaries, edited, .. } => {
                if *edited {
                    self.floor.queue.retain(|waiting| waiting.cause.seq != *seq);
                }
                self.summaries.apply_redacted(recorded.seq, *seq, summaries);
                self.said.apply_redacted(*seq, *message);
            }
            Event::Summarised { participant, turn, through_seq, replaces, usage, .. } => {
                if let Some(turn) = self.floor.turns.get_mut(turn) {
                    turn.summed = turn.summed.with(usage);
                }
                let summary = Summary { seq: recorded.seq, through: *through_seq };
                self.summaries.apply_summarised(participant, summary, *replaces);
            }
            Event::Suppressed { participant, counted, .. } => {
                self.refused.apply_kept(participant, *counted, ts)
            }
            Event::Discarded { participant, until, .. } => {
                self.refused.apply_unkept(participant, *until)
            }
            Event::Joined(joined) => {
                self.part_from(&joined.computer, &joined.stream);
                self.joined.push((**joined).clone());
            }
            Event::Parted { computer, stream, .. } => self.part_from(computer, stream),
            Event::Noticed { code, about: Some(id), .. } if code == Fault::SESSION_ENDED => {
                if let Some(participant) = self.participant_mut(id) {
                    participant.told_ended = true;
                }
            }
            Event::Custom { .. } | Event::Noticed { .. } | Event::Overheard { .. } => {}
        }
    }

    /// Applies one change of a control. With `proven`, mutes and pauses are remembered as a proven
    /// person's.
    fn apply_change(&mut self, by: &ParticipantId, change: &Change, proven: bool, ts: Timestamp) {
        match change {
            Change::Invited { .. } => self.apply_invited(by, change, ts),
            Change::Uninvited { participant, .. } => {
                self.floor.passed_over.retain(|id| id != participant);
                if let Some(at) = self.participants.iter().position(|p| p.id == *participant) {
                    let gone = self.participants.remove(at);
                    self.tombstones.insert(gone.id.clone(), Tombstone::of(&gone, ts));
                }
                if let Some(round) = &mut self.floor.round {
                    round.forced.retain(|id| id != participant);
                    round.polled.retain(|id| id != participant);
                }
            }
            Change::Muted { targets } => {
                self.muted.extend(targets.iter().cloned());
                self.muted_by_proof.extend(targets.iter().filter(|_| proven).cloned());
            }
            Change::Unmuted { targets } => {
                self.muted.retain(|id| !targets.contains(id));
                self.muted_by_proof.retain(|id| !targets.contains(id));
            }
            Change::Paused { on } => {
                if !on {
                    self.restraint.stop = None;
                }
                self.paused_since = on.then(|| self.paused_since.unwrap_or(ts));
                self.paused = *on;
                // A second pause without proof must not let others lift that of a proven person.
                self.paused_by_proof = *on && (proven || self.paused_by_proof);
            }
            Change::Discussion { on, allow_agent_mentions } => {
                self.discussion =
                    Discussion { on: *on, allow_agent_mentions: *allow_agent_mentions };
            }
            Change::InvitedAuto { on } => self.invited_auto = *on,
            // A prod ends a Stop as a person's words do. (Ruling 14.)
            Change::Prodded { .. } => self.restraint.stop = None,
            Change::PolicySet { policy, .. } => {
                // Words said under one policy must not give turns under another.
                if policy.name != self.policy.name {
                    self.floor.round = None;
                    self.floor.drop_earlier();
                    self.mark_all_shown();
                }
                self.policy = policy.clone();
                // A lower cap applies immediately, but not below the number of named agents.
                let named = self.floor.round.as_ref().map_or(0, |round| round.named);
                self.floor.cap = self.floor.cap.min(policy.max_agent_turns_per_message.max(named));
            }
            Change::GuardLifted => {
                self.guards = Guards::default();
                self.restraint.stop = None;
            }
            Change::Bound { target } => {
                self.bindings.insert(target.clone());
            }
            Change::Unbound { target } => {
                self.bindings.remove(target);
            }
            Change::BudgetRaised(raise) => self.spending.standing.raise = *raise,
        }
    }

    /// Adds an invited participant, or updates a known one and keeps its progress.
    fn apply_invited(&mut self, by: &ParticipantId, change: &Change, ts: Timestamp) {
        let Change::Invited {
            participant,
            kind,
            profile,
            facts,
            skeleton,
            address,
            full_name,
            number,
            part,
            reach,
            ..
        } = change
        else {
            return;
        };
        self.tombstones.remove(participant);
        if *kind == Kind::Human {
            self.people.insert(participant.clone());
        }
        if let Some(known) = self.participant_mut(participant) {
            known.kind = *kind;
            known.profile = profile.clone();
            known.facts = kind.facts(facts);
            known.skeleton.clone_from(skeleton);
            known.address = address.clone().or_else(|| known.address.take());
            known.full_name = full_name.clone().or_else(|| known.full_name.take());
            known.number = number.or(known.number);
            known.part = part.or(known.part);
            known.reach = reach.or(known.reach);
            return;
        }
        self.participants.push(Participant {
            id: participant.clone(),
            kind: *kind,
            profile: profile.clone(),
            facts: kind.facts(facts),
            address: address.clone(),
            full_name: full_name.clone(),
            number: *number,
            part: *part,
            reach: *reach,
            skeleton: skeleton.clone(),
            invited_by: by.clone(),
            invited_at: ts,
            cursor: Seq(0),
            // Earlier words give a new participant no turn, but its first prompt has them.
            shown: self.head,
            spoke_at: None,
            passes_in_a_row: 0,
            polls_skipped: 0,
            answered: false,
            told_ended: false,
        });
    }

    /// Applies a message: counts it, puts it into the queue if it waits, and updates the guards,
    /// the participants' counters and the open round.
    fn apply_posted(&mut self, posted: &Posted, recorded: &RecordedEvent) {
        self.said.apply_posted(posted);
        let (from, unproven) = (posted.from.clone(), posted.lacks_person());
        let (seq, id) = (recorded.seq, recorded.id(&self.stream));
        let cause = Cause { seq, id, from, depth: posted.depth, unproven };
        if let Some(kept) = posted.published {
            self.published.entry(kept).or_insert(cause.id);
        }
        let of_limits = posted.error.as_deref().is_some_and(Fault::is_of_limits);
        self.floor.limits_announced =
            (self.floor.limits_announced && posted.kind != Kind::Human) || of_limits;
        if posted.hosted.is_some() {
            return self.apply_hosted(posted);
        }
        // The server's own and published words give no agent a turn and count for no guard.
        if posted.from.as_str() == ParticipantId::MOOTHALL || posted.published.is_some() {
            return;
        }
        self.note_origin(recorded);
        if posted.stopped {
            return self.apply_stopped_speaking(posted, recorded.ts);
        }
        let author = posted.author();
        // Under `open` the newest words give all others turns. Words without a place in the queue
        // ask no agent, so they do not count as newest.
        if !posted.queue_full && !posted.elsewhere.is_empty() {
            let said = Contribution { cause: cause.clone(), author: author.clone() };
            let agents = self.agents().map(|agent| agent.id.clone()).collect();
            self.asides.note(Aside { said, heard: posted.elsewhere.clone() }, agents);
        } else if !posted.queue_full {
            if self.latest.as_ref().is_some_and(|latest| latest.author != *author) {
                // Two messages of one author in a row must not push out the newest one of another
                // author.
                self.latest_other = self.latest.take();
            }
            self.latest = Some(Contribution { cause: cause.clone(), author: author.clone() });
        }
        for named in &posted.mentions {
            if let Some(participant) = self.participant_mut(named) {
                participant.passes_in_a_row = 0;
                participant.polls_skipped = 0;
            }
        }
        if posted.kind == Kind::Human {
            self.apply_person_spoke(posted, recorded.ts);
            if posted.queued {
                let is_first = self.queued().next().is_none();
                self.floor.queue.push_back(WakingWords::of(posted, cause));
                if let Some(round) = self.floor.round.as_mut().filter(|_| is_first) {
                    round.awaited_at = Some(recorded.ts);
                }
            }
            return;
        }
        self.apply_agent_spoke(posted, cause, recorded.ts);
    }

    /// Resets the guards, unless the words lack proof and `resets` is false, and ends a Stop. Words
    /// typed at a terminal only excuse its session from the Stop.
    fn apply_person_spoke(&mut self, posted: &Posted, ts: Timestamp) {
        if posted.resets && self.guards.held.is_some() {
            self.restraint.record_lift(ts);
        }
        if posted.resets || !posted.lacks_person() {
            self.guards = Guards::default();
        }
        match &posted.typed_at {
            Some(terminal) => self.restraint.person_typed(terminal),
            None => self.restraint.person_spoke(),
        }
    }

    /// Applies words of a hosted turn. They count in their own conversation: here they are not
    /// news, give no agent a turn and count for no guard. (Ruling 35.)
    fn apply_hosted(&mut self, posted: &Posted) {
        let stopped = posted.turn.filter(|_| posted.stopped);
        if let Some(turn) = stopped.and_then(|no| self.floor.turns.get_mut(&no)) {
            turn.stopped = true;
        }
    }

    /// Counts the words of a stopped agent as a reply to its message. They give no agent a turn.
    fn apply_stopped_speaking(&mut self, posted: &Posted, ts: Timestamp) {
        self.guards.exchanges += 1;
        if let Some(participant) = self.participant_mut(&posted.from) {
            participant.spoke_at = Some(ts);
            participant.passes_in_a_row = 0;
        }
        let Some(turn) = posted.turn.and_then(|no| self.floor.turns.get_mut(&no)) else { return };
        turn.stopped = true;
        let message = turn.message;
        self.floor.charge(message);
    }

    /// Counts an agent's words for the guards, except own words that are not an exchange, and as a
    /// reply. Adds them to their round, and puts a late answer into the queue.
    fn apply_agent_spoke(&mut self, posted: &Posted, cause: Cause, ts: Timestamp) {
        if posted.own.as_ref().is_none_or(|own| own.exchange) {
            self.guards.exchanges += 1;
            self.guards.recent.push_back(posted.fingerprint);
            if self.guards.recent.len() > FINGERPRINTS_KEPT {
                self.guards.recent.pop_front();
            }
        }
        self.restraint.agent_spoke(&posted.from, ts);
        if let Some(own) = &posted.own {
            self.restraint.own_words(&posted.from, own, (cause.seq, ts));
            for other in &own.with {
                self.note_pair(&posted.from, other, ts);
            }
        }
        if let Some(participant) = self.participant_mut(&posted.from) {
            participant.spoke_at = Some(ts);
            participant.passes_in_a_row = 0;
        }
        let turn = posted.turn.and_then(|no| self.floor.turns.get(&no));
        let (voluntary, message) =
            (turn.is_some_and(|turn| turn.may_pass), turn.and_then(|turn| turn.message));
        self.floor.charge(message);
        if posted.late.is_some() {
            self.floor.queue.push_back(WakingWords::of(posted, cause.clone()));
        }
        if let Some(round) = self.floor.round_of(message) {
            round.replied(Reply { cause, mentions: posted.addressees() }, voluntary);
        }
    }

    /// Applies that an agent is not asked: takes it off the lists of the round that the cause
    /// belongs to. Remembers if the agent must not react in that round, or comes first in a later
    /// one.
    fn apply_skipped(&mut self, participant: &ParticipantId, why_not: WhyNot, cause: &Cause) {
        let used_up = why_not == WhyNot::Capped && self.floor.is_used_up();
        let is_spared = why_not == WhyNot::Skipped
            && self.participant(participant).is_some_and(Participant::passes_habitually);
        // Only a refusal about the round's message removes an agent from the round. A refused prod
        // does not.
        if let Some(round) = self.floor.round.as_mut().filter(|round| round.is_about(cause)) {
            round.forced.retain(|id| id != participant);
            round.polled.retain(|id| id != participant);
            if used_up {
                round.left_out.push(participant.clone());
            }
            let is_passed_over = why_not == WhyNot::RoundOver && !round.reacting;
            // Enough other agents volunteered or were polled, and that will not change before the
            // agent could react.
            let is_crowded_out = why_not == WhyNot::Capped && !used_up;
            if ((is_spared || is_crowded_out) && !round.reacting) || is_passed_over {
                round.spared.push(participant.clone());
            }
            if is_passed_over && !self.floor.passed_over.contains(participant) {
                self.floor.passed_over.push(participant.clone());
            }
        }
        // Count the words as shown. Otherwise a link would ask for the same unaffordable turn
        // forever.
        if why_not == WhyNot::OverBudget
            && let Some(participant) = self.participant_mut(participant)
        {
            participant.shown = participant.shown.max(cause.seq);
        }
        if why_not == WhyNot::Skipped
            && let Some(participant) = self.participant_mut(participant)
        {
            participant.polls_skipped += 1;
        }
    }

    /// Marks all words so far as shown, so that they give no agent a turn.
    fn mark_all_shown(&mut self) {
        let head = self.head;
        self.participants.iter_mut().for_each(|participant| participant.shown = head);
    }

    /// Restarts the clock of a turn, and that of the hold it belongs to, after the time for which a
    /// permission stopped them.
    fn thaw(&mut self, no: TurnNo, ts: Timestamp) {
        let Some(turn) = self.floor.turns.get_mut(&no) else { return };
        let Some(since) = turn.frozen_since.take() else { return };
        let stood = ts.since(since);
        turn.deadline = turn.deadline + stood;
        if let Some(running) = &mut turn.running {
            running.started_at = running.started_at + stood;
        }
        let tenure = self.gathering.as_mut().and_then(|gathering| gathering.tenure.as_mut());
        if let Some(tenure) = tenure.filter(|tenure| tenure.holder == turn.participant) {
            // The question may have been asked before this hold began.
            tenure.next_at = tenure.next_at + ts.since(since.max(tenure.since));
        }
    }

    /// Starts the beats of a hold when its holder begins its first turn.
    fn begin_first_beat(&mut self, no: TurnNo, attempt: u32, ts: Timestamp) {
        let (Some(turn), Some(gathering)) = (self.floor.turns.get(&no), &mut self.gathering) else {
            return;
        };
        let first = attempt == 1 && turn.why == TurnReason::Piece && turn.kind == TurnKind::Reply;
        let tenure = gathering.tenure.as_mut();
        if let Some(tenure) =
            tenure.filter(|tenure| first && tenure.holder == turn.participant && tenure.beats == 0)
        {
            tenure.next_at = ts + gathering.plan.beat_interval;
        }
    }
}
