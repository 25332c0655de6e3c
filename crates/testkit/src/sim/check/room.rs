//! A checker's record of a conversation, gathered from its events alone by other code than the
//! kernel's.

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::event::{
    Cause, Change, Event, Guard, Outcome, Posted, Recipient, RecordedEvent, TurnKind, TurnReason,
};
use moothall_kernel::gathering::GatheringEvent;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::own::OwnWords;
use moothall_kernel::participant::{AgentFacts, Answers, Kind, SeatRole};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;

use super::promises::{Promise, promise};
use crate::sim::people::READER;

/// An invited participant.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) kind: Kind,
    pub(crate) facts: AgentFacts,
    pub(crate) part: Option<SeatRole>,
    /// Newest event that its finished turns covered or that is in a memory of its own.
    pub(crate) covered: Seq,
    /// The events that its last turn was told of for good and left unanswered. They may be asked
    /// about again.
    pub(crate) unanswered: Option<(Seq, Seq)>,
    /// True if the participant has answered a turn.
    pub(crate) answered: bool,
}

/// Maximum number of causes of a turn that the conversation remembers.
const CAUSES: usize = 32;

/// An open turn.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) participant: ParticipantId,
    pub(crate) why: TurnReason,
    pub(crate) kind: TurnKind,
    pub(crate) may_pass: bool,
    pub(crate) cause: Cause,
    pub(crate) attempt: u32,
    /// The events that its prompt covers: after the first position, through the second.
    pub(crate) running: Option<(Seq, Seq)>,
    pub(crate) replies: u32,
    /// The round it belongs to.
    pub(crate) round: Option<u64>,
    /// Its causes. If there are too many, the first and the newest ones.
    pub(crate) causes: Vec<Cause>,
    /// True if the floor no longer waits for it.
    pub(crate) released: bool,
    /// True if a person stopped it while it spoke.
    pub(crate) stopped: bool,
}

/// A conversation as its log tells it.
#[derive(Clone, Debug)]
pub(crate) struct ConversationModel {
    pub(crate) head: Seq,
    pub(crate) last_ts: Timestamp,
    pub(crate) policy: Policy,
    pub(crate) members: BTreeMap<ParticipantId, Member>,
    pub(crate) muted: BTreeSet<ParticipantId>,
    pub(crate) paused: bool,
    pub(crate) archived: bool,
    pub(crate) discussion: bool,
    pub(crate) invited_auto: bool,
    pub(crate) held: Option<Guard>,
    /// Number of agents' contributions since a person's message, without own words that concern no
    /// other agent.
    pub(crate) exchanges: u32,
    /// True if a person stopped the conversation and none has spoken since.
    pub(crate) stopped: bool,
    /// Agents at whose terminals a person typed after that.
    pub(crate) excused: BTreeSet<ParticipantId>,
    /// Times at which words without proof lifted a hold.
    pub(crate) lifts: Vec<Timestamp>,
    pub(crate) turns: BTreeMap<TurnNo, Open>,
    pub(crate) last_turn: TurnNo,
    pub(crate) turns_ended: BTreeMap<TurnNo, u64>,
    pub(crate) in_round: bool,
    /// True if agents are now asked about each other's replies.
    pub(crate) reacting: bool,
    rounds: u64,
    /// The open or the last round; 0 before any.
    pub(crate) round: u64,
    /// The messages of rounds and the replies to them, with the round.
    about: BTreeMap<Seq, u64>,
    /// Late answers that have not been taken up yet.
    late: BTreeSet<Seq>,
    pub(crate) gathering: bool,
    pub(crate) harvesting: bool,
    pub(crate) holder: Option<ParticipantId>,
    /// Depth of each message.
    pub(crate) depths: BTreeMap<Seq, u32>,
    /// Messages that wait.
    pub(crate) queued: BTreeSet<Seq>,
    /// Positions at which delayed messages took effect.
    pub(crate) taken_at: BTreeMap<Seq, Seq>,
    /// Messages of people and agents.
    pub(crate) said: BTreeMap<Seq, Posted>,
    /// Messages whose words were erased since.
    pub(crate) erased: BTreeSet<Seq>,
    pub(crate) bound: BTreeSet<String>,
    /// Unsettled requests of agents to start programs; true if a person allowed the request.
    pub(crate) starts: BTreeMap<PermissionId, bool>,
    /// Programs' questions outside a turn, with the agent.
    pub(crate) questions: BTreeMap<PermissionId, ParticipantId>,
}

impl ConversationModel {
    pub(crate) fn new() -> Self {
        Self {
            head: Seq(0),
            last_ts: Timestamp::from_millis(i64::MIN),
            policy: Policy::default(),
            members: BTreeMap::new(),
            muted: BTreeSet::new(),
            paused: false,
            archived: false,
            discussion: false,
            invited_auto: false,
            held: None,
            exchanges: 0,
            stopped: false,
            excused: BTreeSet::new(),
            lifts: Vec::new(),
            turns: BTreeMap::new(),
            last_turn: TurnNo(0),
            turns_ended: BTreeMap::new(),
            in_round: false,
            reacting: false,
            rounds: 0,
            round: 0,
            about: BTreeMap::new(),
            late: BTreeSet::new(),
            gathering: false,
            harvesting: false,
            holder: None,
            depths: BTreeMap::new(),
            queued: BTreeSet::new(),
            taken_at: BTreeMap::new(),
            said: BTreeMap::new(),
            erased: BTreeSet::new(),
            bound: BTreeSet::new(),
            starts: BTreeMap::new(),
            questions: BTreeMap::new(),
        }
    }

    pub(crate) fn is_agent(&self, id: &ParticipantId) -> bool {
        self.members.get(id).is_some_and(|member| member.kind == Kind::Agent)
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = &ParticipantId> {
        self.members.iter().filter(|(_, member)| member.kind == Kind::Agent).map(|(id, _)| id)
    }

    pub(crate) fn open_of<'a>(&'a self, id: &'a ParticipantId) -> impl Iterator<Item = &'a Open> {
        self.turns.values().filter(move |turn| turn.participant == *id)
    }

    /// True if anything has a deadline.
    pub(crate) fn waits(&self) -> bool {
        !self.turns.is_empty() || self.gathering || self.starts.values().any(|allowed| !allowed)
    }

    /// True if rounds and depths bound the replies of agents.
    pub(crate) fn counts_replies(&self) -> bool {
        self.promise().counts_replies
    }

    /// Returns the promises of the current policy.
    pub(crate) fn promise(&self) -> Promise {
        promise(self.policy.name)
    }

    /// True if a cause is the message of the open round, or a reply to it.
    pub(crate) fn is_of_round(&self, cause: &Cause) -> bool {
        self.in_round && self.about.get(&cause.seq) == Some(&self.round)
    }

    /// Returns the round of a cause, if the round is open or its message is still being answered.
    fn round_of(&self, cause: &Cause) -> Option<u64> {
        let round = *self.about.get(&cause.seq)?;
        let works = || self.turns.values().any(|turn| self.may_answer(turn, round));
        let waits = || self.late.iter().any(|reply| self.about.get(reply) == Some(&round));
        ((self.in_round && self.round == round) || works() || waits()).then_some(round)
    }

    /// Returns the message that a cause is or replies to.
    pub(crate) fn message_of(&self, cause: &Cause) -> Option<Seq> {
        let round = self.about.get(&cause.seq)?;
        self.about.iter().find(|(_, of)| *of == round).map(|(message, _)| *message)
    }

    /// True if a turn answers the message of a round, or would if it began without its later
    /// causes.
    pub(crate) fn may_answer(&self, turn: &Open, round: u64) -> bool {
        turn.round == Some(round)
            || (turn.running.is_none() && self.rounds_of(turn).any(|asked| asked == round))
    }

    /// Returns the rounds of all causes that a turn has to answer; once it runs, of those that its
    /// prompt shows.
    pub(crate) fn rounds_of<'a>(&'a self, turn: &'a Open) -> impl Iterator<Item = u64> + 'a {
        let shown = |cause: &&Cause| {
            turn.running.is_none_or(|(_, through)| self.effect_of(cause.seq) <= through)
        };
        turn.causes.iter().filter(shown).filter_map(|cause| self.about.get(&cause.seq).copied())
    }

    /// Ends all rounds for good.
    fn no_rounds(&mut self) {
        self.in_round = false;
        self.late.clear();
        self.about.clear();
        self.turns.values_mut().for_each(|turn| turn.round = None);
    }

    /// Returns the position at which words took effect: for queued ones, the position at which they
    /// were taken up.
    pub(crate) fn effect_of(&self, seq: Seq) -> Seq {
        self.taken_at.get(&seq).copied().unwrap_or(seq)
    }

    /// Returns those participants that can be offline: agents that come by themselves.
    pub(crate) fn offline_among(&self, ids: &BTreeSet<ParticipantId>) -> BTreeSet<ParticipantId> {
        let comes = |member: &Member| {
            member.kind == Kind::Agent && member.facts.abilities.answers == Answers::ByPosting
        };
        ids.iter().filter(|id| self.members.get(*id).is_some_and(comes)).cloned().collect()
    }

    /// True if the participant is a read-only client, which gets no turns.
    pub(crate) fn only_reads(&self, id: &ParticipantId) -> bool {
        let comes = |member: &Member| {
            member.facts.abilities.answers == Answers::ByPosting && !member.answered
        };
        id.as_str() == READER && self.members.get(id).is_some_and(comes)
    }

    /// Records an event, after the checkers have seen it.
    pub(crate) fn note(&mut self, recorded: &RecordedEvent) {
        self.head = recorded.seq;
        self.last_ts = recorded.ts;
        self.erased.extend(recorded.event.erases());
        match &recorded.event {
            Event::Created { policy, .. } => self.policy = policy.clone(),
            Event::Archived { .. } => {
                self.archived = true;
                self.no_rounds();
                self.queued.clear();
            }
            Event::Unarchived { .. } => self.archived = false,
            Event::Controlled { changes, .. } => {
                changes.iter().for_each(|change| self.note_change(change))
            }
            Event::Posted(posted) => {
                if posted.resets && self.held.is_some() {
                    self.lifts.push(recorded.ts);
                }
                self.note_words(recorded.seq, posted);
            }
            Event::Taken { cause } => {
                self.queued.remove(&cause.seq);
                self.taken_at.insert(cause.seq, recorded.seq);
            }
            Event::RoundOpened { cause, .. } => {
                self.rounds += 1;
                self.round = self.rounds;
                self.about.insert(cause.seq, self.rounds);
                self.in_round = true;
                self.reacting = false;
            }
            Event::RoundReopened { cause, reply } => {
                self.round = self.about.get(&cause.seq).copied().unwrap_or(self.round);
                self.late.remove(reply);
                self.in_round = true;
                self.reacting = false;
            }
            Event::ReactionOpened { .. } => self.reacting = true,
            Event::RoundClosed => self.in_round = false,
            Event::TurnGranted { .. }
            | Event::TurnWidened { .. }
            | Event::TurnReleased { .. }
            | Event::TurnStarted { .. }
            | Event::TurnLost { .. }
            | Event::TurnEnded { .. } => self.note_turn(&recorded.event),
            Event::Stopped { holds, .. } => {
                self.stopped = *holds;
                self.excused.clear();
                self.no_rounds();
                self.queued.clear();
            }
            Event::GuardTripped { guard } => self.held = Some(*guard),
            Event::FactsChanged { participant, facts } => {
                if let Some(member) = self.members.get_mut(participant) {
                    member.facts = facts.clone();
                }
            }
            Event::Gathering(step) => self.note_gathering(step),
            Event::StartRequested { permission, .. } | Event::TalkRequested { permission, .. } => {
                self.starts.insert(permission.clone(), false);
            }
            Event::PermissionAnswered { permission, option, .. } => {
                self.starts
                    .entry(permission.clone())
                    .and_modify(|allowed| *allowed |= option == "allow");
                self.questions.remove(permission);
            }
            Event::QuestionAsked { permission, participant, .. } => {
                self.questions.insert(permission.clone(), participant.clone());
            }
            Event::StartSettled { permission, .. }
            | Event::TalkSettled { permission, .. }
            | Event::PermissionWithdrawn { permission, .. } => {
                self.starts.remove(permission);
                self.questions.remove(permission);
            }
            Event::Redacted { seq, edited: true, .. } => {
                self.queued.remove(seq);
            }
            Event::Renamed { .. }
            | Event::Custom { .. }
            | Event::Noticed { .. }
            | Event::Overheard { .. }
            | Event::Skipped { .. }
            | Event::Suppressed { .. }
            | Event::Discarded { .. }
            | Event::PermissionRequested { .. }
            | Event::PermissionExpired { .. }
            | Event::ClockShifted { .. }
            | Event::BudgetSpent { .. }
            | Event::Deleted { .. }
            | Event::Redacted { .. }
            | Event::Summarised { .. }
            | Event::Joined(_)
            | Event::Parted { .. }
            | Event::Task(_) => {}
        }
    }

    fn note_change(&mut self, change: &Change) {
        match change {
            Change::Invited { participant, kind, facts, part, .. } => {
                let fresh = Member {
                    kind: *kind,
                    facts: facts.clone(),
                    part: *part,
                    covered: Seq(0),
                    unanswered: None,
                    answered: false,
                };
                let member = self.members.entry(participant.clone()).or_insert(fresh);
                member.kind = *kind;
                member.facts = facts.clone();
                member.part = part.or(member.part);
            }
            Change::Uninvited { participant, .. } => {
                self.members.remove(participant);
            }
            Change::Muted { targets } => self.muted.extend(targets.iter().cloned()),
            Change::Unmuted { targets } => self.muted.retain(|id| !targets.contains(id)),
            Change::Paused { on } => {
                self.stopped &= *on;
                self.paused = *on;
            }
            Change::Discussion { on, allow_agent_mentions } => {
                self.discussion = *on && *allow_agent_mentions
            }
            Change::InvitedAuto { on } => self.invited_auto = *on,
            Change::PolicySet { policy, .. } => {
                if policy.name != self.policy.name {
                    self.no_rounds();
                }
                self.policy = policy.clone();
            }
            Change::GuardLifted => {
                self.stopped = false;
                self.release();
            }
            Change::Bound { target } => {
                self.bound.insert(target.clone());
            }
            Change::Unbound { target } => {
                self.bound.remove(target);
            }
            Change::Prodded { .. } => self.stopped = false,
            Change::BudgetRaised(_) => {}
        }
    }

    /// True if these words name, address or answer another agent known here.
    fn is_with_agent(&self, posted: &Posted) -> bool {
        let to = if let Recipient::One(id) = &posted.to { Some(id) } else { None };
        let answered = posted.reply_to.as_ref().map(|cause| &cause.from);
        let is_agent = |id: &ParticipantId| {
            *id != posted.from
                && self.members.get(id).is_some_and(|member| member.kind == Kind::Agent)
        };
        to.into_iter().chain(&posted.mentions).chain(answered).any(is_agent)
    }

    fn release(&mut self) {
        self.held = None;
        self.exchanges = 0;
    }

    fn note_words(&mut self, seq: Seq, posted: &Posted) {
        self.depths.insert(seq, posted.depth);
        let turn = posted
            .turn
            .filter(|_| posted.published.is_none())
            .and_then(|no| self.turns.get_mut(&no));
        let round = turn.and_then(|turn| {
            turn.replies += 1;
            turn.stopped |= posted.stopped;
            turn.round
        });
        if posted.from.as_str() == ParticipantId::MOOTHALL {
            return;
        }
        // The mark at the beginning of long words is enough.
        let body = moothall_kernel::text::cut(&posted.body, 200).to_owned();
        self.said.insert(seq, Posted { body, ..posted.clone() });
        if posted.published.is_some() {
            return;
        }
        match posted.kind {
            Kind::Human => {
                let is_proven = !posted.unproven && posted.typed_at.is_none();
                if is_proven || posted.resets {
                    self.release();
                }
                match &posted.typed_at {
                    Some(terminal) => drop(self.excused.insert(terminal.clone())),
                    None => self.stopped = false,
                }
                if posted.queued {
                    self.queued.insert(seq);
                }
            }
            Kind::Agent => {
                let counts = |own: &OwnWords| own.exchange || self.is_with_agent(posted);
                let is_own = posted.own.is_some();
                self.exchanges += u32::from(posted.own.as_ref().is_none_or(counts));
                if is_own {
                    self.excused.remove(&posted.from);
                }
                self.about.extend(
                    round.or(self.in_round.then_some(self.round)).map(|round| (seq, round)),
                );
                self.late.extend(posted.late.map(|_| seq));
            }
        }
    }

    fn note_turn(&mut self, event: &Event) {
        match event {
            Event::TurnGranted { turn, participant, why, kind, may_pass, cause, .. } => {
                let open = Open {
                    participant: participant.clone(),
                    why: *why,
                    kind: *kind,
                    may_pass: *may_pass,
                    cause: cause.clone(),
                    attempt: 1,
                    running: None,
                    replies: 0,
                    round: self.round_of(cause),
                    causes: vec![cause.clone()],
                    released: false,
                    stopped: false,
                };
                self.turns.insert(*turn, open);
                self.last_turn = *turn;
            }
            Event::TurnWidened { turn, why, kind, may_pass, cause } => {
                let round = self.round_of(cause);
                if let Some(open) = self.turns.get_mut(turn) {
                    open.round = round.or(open.round);
                    if open.cause.seq != cause.seq {
                        open.causes.push(cause.clone());
                    }
                    if open.causes.len() > CAUSES {
                        open.causes.remove(1);
                    }
                    open.why = *why;
                    open.kind = *kind;
                    open.may_pass = *may_pass;
                    open.cause = cause.clone();
                }
            }
            Event::TurnReleased { turn } => {
                self.turns.entry(*turn).and_modify(|open| open.released = true);
            }
            Event::TurnStarted { turn, from_seq, through_seq, .. } => {
                let shown = self.turns.get(turn).and_then(|open| {
                    let covered = |cause: &&Cause| self.effect_of(cause.seq) <= *through_seq;
                    let newest = open.causes.iter().rev().find(covered);
                    let parts = self.effect_of(open.cause.seq) > *through_seq;
                    newest.or(open.causes.first()).filter(|_| parts).cloned()
                });
                let round = shown.as_ref().and_then(|cause| self.round_of(cause));
                if let Some(open) = self.turns.get_mut(turn) {
                    open.running = Some((*from_seq, *through_seq));
                    if let Some(cause) = shown {
                        open.cause = cause;
                        open.round = round;
                    }
                }
            }
            Event::TurnLost { turn, attempt, .. } => {
                if let Some(open) = self.turns.get_mut(turn) {
                    open.running = None;
                    open.attempt = attempt + 1;
                }
            }
            Event::TurnEnded { turn, outcome, fault, .. } => self.note_ended(
                *turn,
                *outcome,
                fault.as_ref().is_some_and(|fault| fault.prompt_delivered),
            ),
            _ => {}
        }
    }

    fn note_ended(&mut self, no: TurnNo, outcome: Outcome, prompt_delivered: bool) {
        self.turns_ended.insert(no, self.turns_ended.len() as u64);
        let Some(turn) = self.turns.remove(&no) else { return };
        let spoke = turn.replies > 0 || matches!(outcome, Outcome::Spoke | Outcome::Passed);
        self.members.entry(turn.participant.clone()).and_modify(|member| member.answered |= spoke);
        let covers = prompt_delivered
            || turn.replies > 0
            || matches!(outcome, Outcome::Spoke | Outcome::Passed);
        if let (true, Some((_, through)), Some(member)) =
            (covers, turn.running, self.members.get_mut(&turn.participant))
        {
            member.covered = member.covered.max(through);
            member.unanswered =
                turn.running.filter(|_| !matches!(outcome, Outcome::Spoke | Outcome::Passed));
        }
    }

    fn note_gathering(&mut self, step: &GatheringEvent) {
        match step {
            GatheringEvent::Opened { .. } => self.gathering = true,
            GatheringEvent::PieceGiven { holder, .. } => self.holder = Some(holder.clone()),
            GatheringEvent::PieceReleased { .. } => self.holder = None,
            GatheringEvent::HarvestAsked { .. } => {
                self.harvesting = true;
                self.holder = None;
            }
            GatheringEvent::Closed { .. } => {
                self.gathering = false;
                self.harvesting = false;
                self.holder = None;
            }
            GatheringEvent::RoundOpened { .. }
            | GatheringEvent::Beat { .. }
            | GatheringEvent::LastWordAsked
            | GatheringEvent::PassAsked { .. }
            | GatheringEvent::Harvested { .. } => {}
        }
    }
}
