//! What a conversation remembers. [`Conversation::apply`] is the only way it changes, and it cannot fail.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::event::{Cause, Change, Event, Guard, Outcome, Posted, Recorded, To, TurnKind, Why, WhyNot};
use crate::gathering::Gathering;
use crate::ids::{ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::participant::{Kind, Participant};
use crate::policy::Policy;
use crate::time::{Millis, Timestamp};

/// How far back the repeat detector looks, in contributions. (Ruling 18.)
pub const REPEAT_WINDOW: usize = 8;
/// Contributions of one agent to another within [`PAIR_WINDOW`] that trip the pair guard.
pub const PAIR_MAX: usize = 20;
/// The pair guard's window.
pub const PAIR_WINDOW: Millis = Millis::from_secs(60);

/// A conversation's state: participants, floor, guards and cursors, never its history.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub(crate) stream: StreamId,
    pub(crate) head: Seq,
    pub(crate) last_ts: Timestamp,
    pub(crate) name: String,
    pub(crate) created_at: Timestamp,
    pub(crate) policy: Policy,
    pub(crate) archived: bool,
    pub(crate) paused: bool,
    pub(crate) discussion: Discussion,
    pub(crate) invited_auto: bool,
    pub(crate) muted: BTreeSet<ParticipantId>,
    /// In invitation order.
    pub(crate) participants: Vec<Participant>,
    /// Names of those who left, so that history can still be read.
    pub(crate) tombstones: BTreeMap<ParticipantId, String>,
    pub(crate) bindings: BTreeSet<String>,
    pub(crate) floor: Floor,
    pub(crate) guards: Guards,
    pub(crate) gathering: Option<Gathering>,
    /// The newest message.
    pub(crate) latest: Option<Cause>,
}

/// The two switches of agents' mentions under `mention_only`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discussion {
    /// The first.
    pub on: bool,
    /// The second; both are needed.
    pub allow_agent_mentions: bool,
}

/// Who may speak now, and what is still owed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floor {
    /// Open turns only.
    pub(crate) turns: BTreeMap<TurnNo, Turn>,
    pub(crate) last_turn: TurnNo,
    /// Human messages that wait for their time.
    pub(crate) queue: VecDeque<Waiting>,
    pub(crate) round: Option<Round>,
    /// Visible agent replies since the last human message was taken up.
    pub(crate) spent: u32,
    /// Most of them.
    pub(crate) cap: u32,
    /// Who spoke last in a round, for `round_robin`.
    pub(crate) last_speaker: Option<ParticipantId>,
}

/// A human message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub(crate) cause: Cause,
    pub(crate) to: To,
    pub(crate) mentions: Vec<ParticipantId>,
}

/// The answering of one human message.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    pub(crate) cause: Cause,
    pub(crate) forced: VecDeque<ParticipantId>,
    pub(crate) polled: VecDeque<ParticipantId>,
    pub(crate) polls: u32,
    pub(crate) volunteers: u32,
    pub(crate) replies: Vec<Reply>,
    pub(crate) reacting: bool,
    pub(crate) targeted: bool,
}

/// An agent's visible reply within a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub(crate) cause: Cause,
    pub(crate) mentions: Vec<ParticipantId>,
}

/// One prompting of one participant.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its number.
    pub no: TurnNo,
    /// Whose it is.
    pub participant: ParticipantId,
    /// Why it was granted.
    pub why: Why,
    /// What for.
    pub kind: TurnKind,
    /// Whether `[PASS]` is offered.
    pub may_pass: bool,
    /// The newest cause.
    pub cause: Cause,
    /// Which try comes next, or is running.
    pub attempt: u32,
    /// When it was granted.
    pub granted_at: Timestamp,
    /// When it ends by itself.
    pub deadline: Timestamp,
    /// Its range and start, once it runs.
    pub running: Option<Running>,
    /// Since when a permission keeps its clock still.
    pub frozen_since: Option<Timestamp>,
    pub(crate) permissions: BTreeMap<PermissionId, Timestamp>,
}

/// A turn that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// It covers what comes after this.
    pub from_seq: Seq,
    /// Up to and with this.
    pub through_seq: Seq,
    /// When it started.
    pub started_at: Timestamp,
}

/// What stops loops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guards {
    /// Agent contributions since a human said something.
    pub(crate) exchanges: u32,
    /// Times at which one agent's words woke another.
    pub(crate) pairs: BTreeMap<(ParticipantId, ParticipantId), VecDeque<Timestamp>>,
    /// Hashes of the latest contributions.
    pub(crate) recent: VecDeque<u32>,
    /// The guard that holds the floor.
    pub(crate) held: Option<Guard>,
}

impl Conversation {
    /// A stream in which nothing has happened yet.
    pub fn new(stream: StreamId) -> Self {
        Self {
            stream,
            head: Seq(0),
            last_ts: Timestamp::default(),
            name: String::new(),
            created_at: Timestamp::default(),
            policy: Policy::default(),
            archived: false,
            paused: false,
            discussion: Discussion::default(),
            invited_auto: false,
            muted: BTreeSet::new(),
            participants: Vec::new(),
            tombstones: BTreeMap::new(),
            bindings: BTreeSet::new(),
            floor: Floor::default(),
            guards: Guards::default(),
            gathering: None,
            latest: None,
        }
    }

    /// The state after these events, which are a stream from its beginning.
    pub fn fold<'a>(stream: StreamId, events: impl IntoIterator<Item = &'a Recorded>) -> Self {
        let mut state = Self::new(stream);
        for recorded in events {
            state.apply(recorded);
        }
        state
    }

    /// The conversation's id.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The newest event's position.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// The newest event's time.
    pub fn last_ts(&self) -> Timestamp {
        self.last_ts
    }

    /// The title.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it was created.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// The rules in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether it takes no more messages.
    pub fn is_archived(&self) -> bool {
        self.archived
    }

    /// Whether agents stand still.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// The discussion switches.
    pub fn discussion(&self) -> Discussion {
        self.discussion
    }

    /// Whether unaddressed human messages ask everyone.
    pub fn invited_auto(&self) -> bool {
        self.invited_auto
    }

    /// Who is muted, sorted.
    pub fn muted(&self) -> impl Iterator<Item = &ParticipantId> {
        self.muted.iter()
    }

    /// Who is invited, in invitation order.
    pub fn participants(&self) -> &[Participant] {
        &self.participants
    }

    /// One of the invited.
    pub fn participant(&self, id: &ParticipantId) -> Option<&Participant> {
        self.participants.iter().find(|p| p.id == *id)
    }

    /// The guard that holds the floor, if one does.
    pub fn held(&self) -> Option<Guard> {
        self.guards.held
    }

    /// The gathering going on, if any.
    pub fn gathering(&self) -> Option<&Gathering> {
        self.gathering.as_ref()
    }

    /// Outside targets that what is said goes to, sorted.
    pub fn bindings(&self) -> impl Iterator<Item = &str> {
        self.bindings.iter().map(String::as_str)
    }

    /// Turns granted and not ended, in the order of their numbers.
    pub fn open_turns(&self) -> impl Iterator<Item = &Turn> {
        self.floor.turns.values()
    }

    /// An open turn.
    pub fn turn(&self, no: TurnNo) -> Option<&Turn> {
        self.floor.turns.get(&no)
    }

    /// How many turns were granted so far.
    pub fn last_turn(&self) -> TurnNo {
        self.floor.last_turn
    }

    /// Human messages that wait for their time, in order.
    pub fn queued(&self) -> impl Iterator<Item = &Cause> {
        self.floor.queue.iter().map(|waiting| &waiting.cause)
    }

    /// Who is still to be asked about the current message: those who must, then those who may.
    pub fn upcoming(&self) -> impl Iterator<Item = (&ParticipantId, bool)> {
        self.floor.round.iter().flat_map(|round| {
            round.forced.iter().map(|id| (id, true)).chain(round.polled.iter().map(|id| (id, false)))
        })
    }

    /// Visible replies to the current message and the most there can be.
    pub fn budget(&self) -> (u32, u32) {
        (self.floor.spent, self.floor.cap)
    }

    /// What people call this participant, or called it while it was here.
    pub fn name_of<'a>(&'a self, id: &'a ParticipantId) -> &'a str {
        match self.participant(id) {
            Some(participant) => participant.name(),
            None => self.tombstones.get(id).map_or_else(|| id.as_str(), String::as_str),
        }
    }

    /// Whether an id stands for a person here. (Ruling 1.)
    pub fn is_human(&self, id: &ParticipantId) -> bool {
        id.as_str() == ParticipantId::USER || self.participant(id).is_some_and(|p| p.kind == Kind::Human)
    }

    /// Invited agents, in invitation order.
    pub fn agents(&self) -> impl Iterator<Item = &Participant> {
        self.participants.iter().filter(|p| p.is_agent())
    }

    pub(crate) fn participant_mut(&mut self, id: &ParticipantId) -> Option<&mut Participant> {
        self.participants.iter_mut().find(|p| p.id == *id)
    }

    /// The open turn of a participant that waits to be started.
    pub(crate) fn waiting_turn(&self, id: &ParticipantId) -> Option<&Turn> {
        self.floor.turns.values().find(|t| t.participant == *id && t.running.is_none())
    }

    /// The open turn of a participant that runs.
    pub(crate) fn running_turn(&self, id: &ParticipantId) -> Option<&Turn> {
        self.floor.turns.values().find(|t| t.participant == *id && t.running.is_some())
    }

    /// Lets an event happen. Total: an event that makes no sense here changes as little as it can.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.head = recorded.seq;
        self.last_ts = recorded.ts;
        let ts = recorded.ts;
        match &recorded.event {
            Event::Created { name, policy, .. } => {
                self.name.clone_from(name);
                self.policy = policy.clone();
                self.created_at = ts;
                self.floor.cap = policy.max_agent_turns_per_message;
            }
            Event::Renamed { name, .. } => self.name.clone_from(name),
            Event::Archived { .. } => {
                self.archived = true;
                self.floor.queue.clear();
                self.floor.round = None;
            }
            Event::Unarchived { .. } => self.archived = false,
            Event::Controlled { by, changes } => {
                for change in changes {
                    self.apply_change(by, change, ts);
                }
            }
            Event::Posted(posted) => self.apply_posted(posted, recorded),
            Event::Taken { cause } => self.floor.queue.retain(|waiting| waiting.cause.seq != cause.seq),
            Event::RoundOpened { cause, cap, forced, polled, targeted } => {
                self.floor.spent = 0;
                self.floor.cap = *cap;
                self.floor.round = Some(Round {
                    cause: cause.clone(),
                    forced: forced.iter().cloned().collect(),
                    polled: polled.iter().cloned().collect(),
                    polls: 0,
                    volunteers: 0,
                    replies: Vec::new(),
                    reacting: false,
                    targeted: *targeted,
                });
            }
            Event::ReactionOpened { forced, polled } => {
                if let Some(round) = &mut self.floor.round {
                    round.reacting = true;
                    round.forced = forced.iter().cloned().collect();
                    round.polled = polled.iter().cloned().collect();
                }
            }
            Event::RoundClosed => self.floor.round = None,
            Event::Skipped { participant, why_not, .. } => self.apply_skipped(participant, *why_not),
            Event::TurnGranted { .. } | Event::TurnWidened { .. } => self.apply_granted(&recorded.event, ts),
            Event::TurnStarted { turn, attempt, from_seq, through_seq, deadline } => {
                self.apply_started(*turn, *attempt, Running { from_seq: *from_seq, through_seq: *through_seq, started_at: ts }, *deadline);
            }
            Event::TurnLost { turn, attempt } => {
                if let Some(turn) = self.floor.turns.get_mut(turn) {
                    turn.attempt = attempt + 1;
                    turn.running = None;
                    turn.permissions.clear();
                    turn.frozen_since = None;
                }
            }
            Event::TurnEnded { turn, outcome, .. } => self.apply_ended(*turn, *outcome),
            Event::PermissionRequested { permission, turn, expires, .. } => {
                if let Some(turn) = self.floor.turns.get_mut(turn) {
                    turn.permissions.insert(permission.clone(), *expires);
                    turn.frozen_since.get_or_insert(ts);
                }
            }
            Event::PermissionAnswered { permission, .. } | Event::PermissionExpired { permission } => self.apply_permission_closed(permission, ts),
            Event::Stopped { .. } => {
                self.floor.queue.clear();
                self.floor.round = None;
            }
            Event::Held { guard } => self.guards.held = Some(*guard),
            Event::Resumed { downtime } => self.shift(*downtime),
            Event::FactsChanged { participant, facts } => {
                if let Some(participant) = self.participant_mut(participant) {
                    participant.facts = facts.clone();
                }
            }
            Event::Gathering(step) => self.gathering = Gathering::applied(self.gathering.take(), step, ts),
            Event::Foreign { .. } | Event::Noticed { .. } | Event::Kept { .. } | Event::Redacted { .. } => {}
        }
    }

    fn apply_change(&mut self, by: &ParticipantId, change: &Change, ts: Timestamp) {
        match change {
            Change::Invited { .. } => self.apply_invited(by, change, ts),
            Change::Uninvited { participant } => {
                if let Some(at) = self.participants.iter().position(|p| p.id == *participant) {
                    let gone = self.participants.remove(at);
                    self.tombstones.insert(gone.id.clone(), gone.name().to_owned());
                }
                if let Some(round) = &mut self.floor.round {
                    round.forced.retain(|id| id != participant);
                    round.polled.retain(|id| id != participant);
                }
            }
            Change::Muted { targets } => self.muted.extend(targets.iter().cloned()),
            Change::Unmuted { targets } => self.muted.retain(|id| !targets.contains(id)),
            Change::Paused { on } => self.paused = *on,
            Change::Discussion { on, allow_agent_mentions } => {
                self.discussion = Discussion { on: *on, allow_agent_mentions: *allow_agent_mentions };
            }
            Change::InvitedAuto { on } => self.invited_auto = *on,
            Change::Prodded { .. } => {}
            Change::PolicySet { policy, .. } => {
                if policy.name != self.policy.name {
                    self.floor.round = None;
                }
                self.policy = policy.clone();
            }
            Change::Released => self.guards = Guards::default(),
            Change::Bound { target } => {
                self.bindings.insert(target.clone());
            }
            Change::Unbound { target } => {
                self.bindings.remove(target);
            }
        }
    }

    fn apply_invited(&mut self, by: &ParticipantId, change: &Change, ts: Timestamp) {
        let Change::Invited { participant, kind, profile, facts, skeleton, address, number, part, .. } = change else { return };
        self.tombstones.remove(participant);
        if let Some(known) = self.participant_mut(participant) {
            known.kind = *kind;
            known.profile = profile.clone();
            known.facts = facts.clone();
            known.skeleton.clone_from(skeleton);
            known.address = address.clone().or_else(|| known.address.take());
            known.number = number.or(known.number);
            known.part = part.or(known.part);
            return;
        }
        self.participants.push(Participant {
            id: participant.clone(),
            kind: *kind,
            profile: profile.clone(),
            facts: facts.clone(),
            address: address.clone(),
            number: *number,
            part: *part,
            skeleton: skeleton.clone(),
            invited_by: by.clone(),
            invited_at: ts,
            cursor: Seq(0),
            shown: Seq(0),
            spoke_at: None,
            passes_in_a_row: 0,
            polls_skipped: 0,
        });
    }

    fn apply_posted(&mut self, posted: &Posted, recorded: &Recorded) {
        let cause = Cause { seq: recorded.seq, id: recorded.id(&self.stream), from: posted.from.clone(), depth: posted.depth };
        self.latest = Some(cause.clone());
        if posted.from.as_str() == ParticipantId::MOOTHALL || posted.published.is_some() {
            return;
        }
        for named in &posted.mentions {
            if let Some(participant) = self.participant_mut(named) {
                participant.passes_in_a_row = 0;
                participant.polls_skipped = 0;
            }
        }
        if posted.kind == Kind::Human {
            self.guards = Guards::default();
            if posted.queued {
                self.floor.queue.push_back(Waiting { cause, to: posted.to.clone(), mentions: posted.mentions.clone() });
            }
            return;
        }
        self.apply_agent_spoke(posted, cause, recorded.ts);
    }

    fn apply_agent_spoke(&mut self, posted: &Posted, cause: Cause, ts: Timestamp) {
        self.guards.exchanges += 1;
        self.guards.recent.push_back(posted.fingerprint);
        if self.guards.recent.len() > REPEAT_WINDOW {
            self.guards.recent.pop_front();
        }
        self.floor.spent += 1;
        if let Some(participant) = self.participant_mut(&posted.from) {
            participant.spoke_at = Some(ts);
            participant.passes_in_a_row = 0;
        }
        let voluntary = posted.turn.and_then(|no| self.floor.turns.get(&no)).is_some_and(|turn| turn.may_pass);
        if let Some(round) = &mut self.floor.round {
            round.volunteers += u32::from(voluntary);
            round.replies.push(Reply { cause, mentions: posted.mentions.clone() });
        }
    }

    fn apply_skipped(&mut self, participant: &ParticipantId, why_not: WhyNot) {
        if let Some(round) = &mut self.floor.round {
            round.forced.retain(|id| id != participant);
            round.polled.retain(|id| id != participant);
        }
        if why_not == WhyNot::Skipped
            && let Some(participant) = self.participant_mut(participant)
        {
            participant.polls_skipped += 1;
        }
    }

    fn apply_granted(&mut self, event: &Event, ts: Timestamp) {
        match event {
            Event::TurnGranted { turn, participant, why, kind, may_pass, cause, expires } => {
                self.floor.last_turn = *turn;
                let granted = Turn {
                    no: *turn,
                    participant: participant.clone(),
                    why: *why,
                    kind: *kind,
                    may_pass: *may_pass,
                    cause: cause.clone(),
                    attempt: 1,
                    granted_at: ts,
                    deadline: *expires,
                    running: None,
                    frozen_since: None,
                    permissions: BTreeMap::new(),
                };
                self.floor.turns.insert(*turn, granted);
                self.note_woken(&cause.from, participant, ts);
                if let Some(round) = &mut self.floor.round {
                    round.polls += u32::from(*may_pass);
                    round.forced.retain(|id| id != participant);
                    round.polled.retain(|id| id != participant);
                }
                if *may_pass && let Some(participant) = self.participant_mut(participant) {
                    participant.polls_skipped = 0;
                }
            }
            Event::TurnWidened { turn, why, may_pass, cause } => {
                let Some(turn) = self.floor.turns.get_mut(turn) else { return };
                turn.why = *why;
                turn.may_pass = *may_pass;
                turn.cause = cause.clone();
                let woken = turn.participant.clone();
                self.note_woken(&cause.from, &woken, ts);
            }
            _ => {}
        }
    }

    /// Remembers for the pair guard that one agent's words woke another.
    fn note_woken(&mut self, by: &ParticipantId, woken: &ParticipantId, ts: Timestamp) {
        if self.is_human(by) || by.as_str() == ParticipantId::MOOTHALL {
            return;
        }
        let times = self.guards.pairs.entry((by.clone(), woken.clone())).or_default();
        times.push_back(ts);
        if times.len() > PAIR_MAX {
            times.pop_front();
        }
    }

    fn apply_started(&mut self, no: TurnNo, attempt: u32, running: Running, deadline: Timestamp) {
        let Some(turn) = self.floor.turns.get_mut(&no) else { return };
        turn.attempt = attempt;
        turn.running = Some(running);
        turn.deadline = deadline;
        let id = turn.participant.clone();
        if let Some(participant) = self.participant_mut(&id) {
            participant.shown = participant.shown.max(running.through_seq);
        }
    }

    fn apply_ended(&mut self, no: TurnNo, outcome: Outcome) {
        let Some(turn) = self.floor.turns.remove(&no) else { return };
        let finished = matches!(outcome, Outcome::Spoke | Outcome::Passed);
        let in_round = self.floor.round.is_some();
        if outcome == Outcome::Spoke && turn.kind == TurnKind::Reply && in_round {
            self.floor.last_speaker = Some(turn.participant.clone());
        }
        let Some(participant) = self.participant_mut(&turn.participant) else { return };
        if let (true, Some(running)) = (finished, turn.running) {
            participant.cursor = participant.cursor.max(running.through_seq);
        }
        if outcome == Outcome::Passed && turn.kind == TurnKind::Reply {
            participant.passes_in_a_row += 1;
        }
    }

    fn apply_permission_closed(&mut self, permission: &PermissionId, ts: Timestamp) {
        for turn in self.floor.turns.values_mut() {
            if turn.permissions.remove(permission).is_some() && turn.permissions.is_empty() {
                if let Some(since) = turn.frozen_since.take() {
                    turn.deadline = turn.deadline + ts.since(since);
                }
            }
        }
    }

    /// Moves every open deadline and beat by the time that stood still.
    fn shift(&mut self, downtime: Millis) {
        for turn in self.floor.turns.values_mut() {
            turn.deadline = turn.deadline + downtime;
            for expires in turn.permissions.values_mut() {
                *expires = *expires + downtime;
            }
        }
        if let Some(hold) = self.gathering.as_mut().and_then(|gathering| gathering.hold.as_mut()) {
            hold.next_at = hold.next_at + downtime;
        }
    }
}
