//! What a conversation remembers. [`Conversation::apply`] is the only way it changes, and it cannot
//! fail.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::model::budget::{SpentBudget, WindowTotals};
use crate::model::contribution::{Asides, Contribution};
use crate::model::event::{Cause, Guard, Posted, RecordedEvent, Recipient};
use crate::model::fold::{FINGERPRINTS_KEPT, WOKEN_KEPT};
use crate::model::gathering::Gathering;
use crate::model::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::own::Restraint;
use crate::model::participant::{Kind, SeatRole, Participant, TerminalReach};
use crate::model::permission::{OpenQuestion, SettledPermission, Settlement};
use crate::model::refused::Refusals;
use crate::model::request::OpenRequest;
use crate::model::said::MessageCounters;
use crate::model::settings::Policy;
use crate::model::summary::{Summaries, Summary};
use crate::model::talk::TalkRefusal;
use crate::model::time::{Millis, Timestamp};
use crate::planted::{self, Bug};

mod owner;
mod round;
mod tombstone;
mod turn;

pub use owner::Owner;
pub(crate) use round::ClosedRound;
pub use round::{Reply, Round};
pub(crate) use tombstone::Tombstone;
pub(crate) use turn::{TurnCause, EndedTurn};
pub use turn::{RunningTurn, Turn};

/// How far back the repeat detector looks, in contributions. (Ruling 18.)
pub const REPEAT_WINDOW: usize = 8;
/// Contributions of one agent to another within [`PAIR_WINDOW`] that trip the pair guard.
pub const PAIR_MAX: usize = 20;
/// The pair guard's window.
pub const PAIR_WINDOW: Millis = Millis::from_secs(60);

// What is not remembered cannot be counted.
const _: () = assert!(PAIR_MAX <= WOKEN_KEPT && REPEAT_WINDOW <= FINGERPRINTS_KEPT);

/// A conversation's state: participants, floor, guards and cursors, never its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub(crate) stream: StreamId,
    pub(crate) head: Seq,
    pub(crate) last_ts: Timestamp,
    pub(crate) name: String,
    pub(crate) created_at: Timestamp,
    pub(crate) policy: Policy,
    pub(crate) archived: bool,
    /// Since when it is.
    pub(crate) archived_at: Option<Timestamp>,
    /// It is gone. No such state is ever kept, so nothing is written of what it is for all others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deleted: bool,
    pub(crate) paused: bool,
    /// Since when it is; nothing in states from before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paused_since: Option<Timestamp>,
    pub(crate) discussion: Discussion,
    pub(crate) invited_auto: bool,
    pub(crate) muted: BTreeSet<ParticipantId>,
    /// Those of them whom a proven person muted.
    pub(crate) muted_by_proof: BTreeSet<ParticipantId>,
    /// Whether a proven person paused it.
    pub(crate) paused_by_proof: bool,
    /// Everybody who ever took part as a person: an id that was a person's stays one's.
    pub(crate) people: BTreeSet<ParticipantId>,
    /// In invitation order.
    pub(crate) participants: Vec<Participant>,
    /// Names of those who left, so that history can still be read.
    pub(crate) tombstones: BTreeMap<ParticipantId, Tombstone>,
    pub(crate) bindings: BTreeSet<String>,
    pub(crate) floor: Floor,
    pub(crate) guards: Guards,
    /// Agents' own words, and those that set them free.
    pub(crate) restraint: Restraint,
    pub(crate) spending: Spending,
    /// The gathering that goes on, or the last one.
    pub(crate) gathering: Option<Gathering>,
    /// What participants that rebuild their memory keep of what no longer fits into it.
    pub(crate) summaries: Summaries,
    /// Who was refused again and again, and what of it is kept.
    pub(crate) refused: Refusals,
    /// How much was said.
    pub(crate) said: MessageCounters,
    /// The task that owns it, where one does.
    pub(crate) owner: Option<Owner>,
    /// The newest contribution.
    pub(crate) latest: Option<Contribution>,
    /// The newest contribution by somebody else than the author of `latest`.
    pub(crate) latest_other: Option<Contribution>,
    /// Contributions that some participants hear in another conversation.
    pub(crate) asides: Asides,
    /// Kept words that were published, with the messages that show them.
    pub(crate) published: BTreeMap<Seq, EventId>,
}

/// Who set off a contribution that is not the beginning of anything. Whether a proven person stands
/// there is another thing, and stands in the contribution and in its cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) seq: Seq,
    pub(crate) by: ParticipantId,
}

/// What a conversation remembers of its budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spending {
    pub(crate) standing: WindowTotals,
    /// Budgets of which people were told that they are used up.
    pub(crate) told: Vec<SpentBudget>,
    /// Who set off the latest contributions that answered a turn.
    pub(crate) origins: VecDeque<Origin>,
}

/// What the keys of links begin with: `link:` and the members' session ids in order.
pub const LINK_KEY: &str = "link:";

/// The two switches of agents' mentions under `mention_only`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discussion {
    /// Whether agents' mentions count at all; `allow_agent_mentions` is needed too.
    pub on: bool,
    /// The second; both are needed.
    pub allow_agent_mentions: bool,
}

/// Who may speak now, and what is still owed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Open turns only.
    pub(crate) turns: BTreeMap<TurnNo, Turn>,
    pub(crate) last_turn: TurnNo,
    /// Human messages that wait for their time, and agents' answers that were late for their round.
    pub(crate) queue: VecDeque<WakingWords>,
    /// The position of the message that was taken from the queue last, and that of the event that
    /// took it.
    pub(crate) taken: Option<(Seq, Seq)>,
    /// Messages that left the queue after somebody's turns had come past the place where they were
    /// said: who is told of them next may look no further back for events than to where they left.
    pub(crate) waited: VecDeque<QueuedMessage>,
    pub(crate) round: Option<Round>,
    /// The human message whose replies are counted: the one whose round was opened last.
    pub(crate) message: Option<Seq>,
    /// Visible agent replies to it.
    pub(crate) spent: u32,
    /// Most of them.
    pub(crate) cap: u32,
    /// Messages whose rounds are over, and that somebody still works on.
    pub(crate) earlier: Vec<ClosedRound>,
    /// Whose the latest ended turns were, so that late results find their author.
    pub(crate) ended: VecDeque<EndedTurn>,
    /// What came of the latest permissions, so that late answers hear of it.
    pub(crate) settled: VecDeque<SettledPermission>,
    /// Requests of agents that have no outcome yet.
    pub(crate) requests: BTreeMap<PermissionId, OpenRequest>,
    /// Wishes to talk that people refused within the last hour.
    pub(crate) refusals: Vec<TalkRefusal>,
    /// What agents' programs ask in no turn.
    pub(crate) questions: BTreeMap<PermissionId, OpenQuestion>,
    /// Who spoke last in a round, for `round_robin`.
    pub(crate) last_speaker: Option<ParticipantId>,
    /// Volunteers whose round was over before they were asked: the next round polls them first.
    /// (Ruling 12.)
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) passed_over: Vec<ParticipantId>,
    /// People were told, since a person spoke last, that a provider takes no more requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) limits_told: bool,
}

/// A message that waited in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedMessage {
    /// Where it was said.
    pub said: Seq,
    /// Where its time came, or a stop took it out of the queue.
    pub left: Seq,
}

impl Floor {
    /// The position at which a cause took effect: for the queued message that is handled now, where
    /// it was taken from the queue; otherwise its own.
    pub(crate) fn effect_of(&self, cause: &Cause) -> Seq {
        self.taken.filter(|(taken, _)| *taken == cause.seq).map_or(cause.seq, |(_, at)| at)
    }

    /// Whose turn this was, if it ended lately.
    pub(crate) fn recent_owner(&self, no: TurnNo) -> Option<ParticipantId> {
        self.recent(no).map(|ended| ended.participant.clone())
    }

    /// Whether this turn was stopped lately, when people had been shown a part of its answer.
    pub(crate) fn was_stopped(&self, no: TurnNo) -> bool {
        self.recent(no).is_some_and(|ended| ended.stopped)
    }

    fn recent(&self, no: TurnNo) -> Option<&EndedTurn> {
        self.ended.iter().rev().find(|ended| ended.turn == no)
    }
}

/// Words that may wake somebody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WakingWords {
    pub(crate) cause: Cause,
    /// Who need not be told of it.
    pub(crate) author: ParticipantId,
    pub(crate) to: Recipient,
    pub(crate) mentions: Vec<ParticipantId>,
    /// The members that are told of it in another conversation.
    pub(crate) elsewhere: Vec<ParticipantId>,
    /// Whose message a person replies to with them.
    pub(crate) replies_to: Option<ParticipantId>,
    /// Whom a person has answer, one after the other, and nobody else.
    pub(crate) asks: Vec<ParticipantId>,
    pub(crate) human: bool,
    /// The message that they answer, where its round was over.
    pub(crate) late: Option<Seq>,
}

impl WakingWords {
    /// Words that were said, from where they stand.
    pub(crate) fn of(posted: &Posted, cause: Cause) -> Self {
        let human = posted.is_persons();
        // An agent's reply wakes nobody by being one. (Ruling 15.)
        let addresses = human && !planted::has(Bug::ReplyAddressesNobody);
        let replies_to =
            posted.reply_to.as_ref().filter(|_| addresses).map(|replied| replied.from.clone());
        let (author, to, mentions) =
            (posted.author().clone(), posted.to.clone(), posted.mentions.clone());
        Self {
            cause,
            author,
            to,
            mentions,
            elsewhere: posted.elsewhere.clone(),
            replies_to,
            asks: posted.asks.clone(),
            human,
            late: posted.late,
        }
    }
}

/// What stops loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guards {
    /// Agent contributions since a human said something.
    pub(crate) exchanges: u32,
    /// Times at which one agent's words woke another.
    #[serde(with = "crate::model::entries")]
    pub(crate) pairs: BTreeMap<(ParticipantId, ParticipantId), VecDeque<Timestamp>>,
    /// Hashes of the latest contributions.
    pub(crate) recent: VecDeque<u32>,
    /// The guard that holds the floor.
    pub(crate) held: Option<Guard>,
    /// Since when it holds; nothing in states from before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held_since: Option<Timestamp>,
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
            archived_at: None,
            deleted: false,
            paused: false,
            paused_since: None,
            discussion: Discussion::default(),
            invited_auto: false,
            muted: BTreeSet::new(),
            muted_by_proof: BTreeSet::new(),
            paused_by_proof: false,
            people: BTreeSet::new(),
            participants: Vec::new(),
            tombstones: BTreeMap::new(),
            bindings: BTreeSet::new(),
            floor: Floor::default(),
            guards: Guards::default(),
            restraint: Restraint::default(),
            spending: Spending::default(),
            gathering: None,
            summaries: Summaries::default(),
            refused: Refusals::default(),
            said: MessageCounters::default(),
            owner: None,
            latest: None,
            latest_other: None,
            asides: Asides::default(),
            published: BTreeMap::new(),
        }
    }

    /// The state after these events, which are a stream from its beginning.
    pub fn fold<'a>(stream: StreamId, events: impl IntoIterator<Item = &'a RecordedEvent>) -> Self {
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

    /// Since when it takes no more messages, where it does not.
    pub fn archived_at(&self) -> Option<Timestamp> {
        self.archived_at
    }

    /// Whether it is gone.
    pub fn is_deleted(&self) -> bool {
        self.deleted
    }

    /// True if agents stand still.
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

    /// The person whose Stop still holds back agents' own words, if one does.
    pub fn stopped_by(&self) -> Option<&ParticipantId> {
        self.restraint.stop.as_ref().map(|stop| &stop.by)
    }

    /// How much waits here for a person: what agents ask permission for, a guard that holds the
    /// floor, and the talking piece in a person's hand.
    pub fn waits_for_people(&self) -> usize {
        let asked: usize = self.open_turns().map(|turn| turn.permissions.len()).sum();
        asked
            + self.requests_asked().count()
            + self.questions_asked().count()
            + usize::from(self.held().is_some())
            + usize::from(self.awaits_person_in_gathering())
    }

    /// Whether a gathering waits for a person's words: who holds the piece, or harvests.
    fn awaits_person_in_gathering(&self) -> bool {
        let Some(gathering) = self.gathering().filter(|_| self.held().is_none()) else {
            return false;
        };
        let harvester = || gathering.members.iter().find(|member| member.part == SeatRole::Harvester);
        let awaited = match (&gathering.tenure, &gathering.harvesting) {
            (Some(tenure), _) => Some(&tenure.holder),
            (None, Some(_)) => harvester().map(|member| &member.id),
            (None, None) => None,
        };
        awaited.is_some_and(|id| self.is_human(id))
    }

    /// The gathering going on, if any.
    pub fn gathering(&self) -> Option<&Gathering> {
        self.gathering.as_ref().filter(|gathering| gathering.closed.is_none())
    }

    /// The gathering that goes on, or the last one that did.
    pub fn newest_gathering(&self) -> Option<&Gathering> {
        self.gathering.as_ref()
    }

    /// The newest summary of a participant's memory that was not erased.
    pub fn summary_of(&self, id: &ParticipantId) -> Option<Summary> {
        self.summaries.newest(id)
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

    /// Messages that waited in the queue and that somebody has not been told of since, oldest
    /// first.
    pub fn waited(&self) -> impl Iterator<Item = QueuedMessage> {
        self.floor.waited.iter().copied()
    }

    /// Messages that took effect so far and have words: what a transcript of all of it would show.
    pub fn messages(&self) -> u64 {
        self.said.messages.saturating_sub(self.floor.queue.len() as u64)
    }

    /// The option that answered a permission, if somebody answered it lately.
    pub fn answer_to(&self, permission: &PermissionId) -> Option<&str> {
        let settled =
            self.floor.settled.iter().rev().find(|settled| settled.permission == *permission)?;
        match &settled.how {
            Settlement::Answered { option, .. } => Some(option),
            Settlement::Expired | Settlement::Withdrawn(_) | Settlement::TurnOver => None,
        }
    }

    /// How many turns were granted so far.
    pub fn last_turn(&self) -> TurnNo {
        self.floor.last_turn
    }

    /// Human messages that wait for their time, in order.
    pub fn queued(&self) -> impl Iterator<Item = &Cause> {
        self.floor
            .queue
            .iter()
            .filter(|waiting| waiting.late.is_none())
            .map(|waiting| &waiting.cause)
    }

    /// Who is still to be asked about the current message: those who must, then those who may.
    pub fn upcoming(&self) -> Vec<(ParticipantId, bool)> {
        let Some(round) = &self.floor.round else { return Vec::new() };
        let named: Vec<ParticipantId> =
            self.named_by_replies().into_iter().map(|(id, _)| id).collect();
        let may =
            round.polled.iter().filter(|id| !named.contains(id)).map(|id| (id.clone(), false));
        round.forced.iter().chain(&named).map(|id| (id.clone(), true)).chain(may).collect()
    }

    /// Visible replies to the current message and the most there can be.
    pub fn budget(&self) -> (u32, u32) {
        (self.floor.spent, self.floor.cap)
    }

    /// What people call this participant, or called it while it was here.
    pub fn name_of<'a>(&'a self, id: &'a ParticipantId) -> &'a str {
        match self.participant(id) {
            Some(participant) => participant.name(),
            None => self.tombstones.get(id).map_or_else(|| id.as_str(), |gone| &gone.name),
        }
    }

    /// Returns the number that a participant has in a link or gathering, or had when it left.
    pub fn number_of(&self, id: &ParticipantId) -> Option<u32> {
        match self.participant(id) {
            Some(participant) => participant.number,
            None => self.tombstones.get(id)?.number,
        }
    }

    /// Returns those who left, with the names that they had.
    pub fn left(&self) -> impl Iterator<Item = (&ParticipantId, &str)> {
        self.tombstones.iter().map(|(id, gone)| (id, gone.name.as_str()))
    }

    /// Whether an id stands for a person here, or did when it left. (Ruling 1.)
    pub fn is_human(&self, id: &ParticipantId) -> bool {
        let here = || {
            self.participant(id).map_or_else(|| self.people.contains(id), |p| p.kind == Kind::Human)
        };
        id.as_str() == ParticipantId::USER || here()
    }

    /// Whether it is a link: it holds the key of its set of members.
    pub fn is_link(&self) -> bool {
        self.bindings.iter().any(|target| target.starts_with(LINK_KEY))
    }

    /// True if words here reach a terminal that only drivers may reach: in a link, and if a
    /// participant was brought with that grant. The home of a session is known to its directory.
    pub fn is_for_drivers(&self) -> bool {
        let drivers = |one: &Participant| one.reach == Some(TerminalReach::Drivers);
        self.is_link() || self.participants.iter().any(drivers)
    }

    /// True if a participant was taken out after a time, or left, and is not here now.
    pub fn left_after(&self, id: &ParticipantId, time: Timestamp) -> bool {
        self.tombstones.get(id).is_some_and(|gone| gone.left_at > time)
    }

    /// The invited to whom turns are given, in invitation order.
    pub fn agents(&self) -> impl Iterator<Item = &Participant> {
        self.participants.iter().filter(|p| p.takes_turns())
    }

    pub(crate) fn participant_mut(&mut self, id: &ParticipantId) -> Option<&mut Participant> {
        self.participants.iter_mut().find(|p| p.id == *id)
    }

    /// Returns the newest contribution by another participant that is to be told here.
    pub(crate) fn newest_not_by(&self, id: &ParticipantId) -> Option<&Cause> {
        let newest = self
            .latest
            .as_ref()
            .filter(|latest| latest.author != *id)
            .or(self.latest_other.as_ref());
        let told = newest.into_iter().chain(self.asides.newest_for(id));
        told.map(|contribution| &contribution.cause).max_by_key(|cause| cause.seq)
    }

    /// The oldest open turn of a participant: the one that runs, or the next to run. One that a
    /// restart interrupted keeps its place before the one that waits behind it.
    pub(crate) fn front_turn(&self, id: &ParticipantId) -> Option<&Turn> {
        self.floor.turns.values().find(|turn| turn.participant == *id)
    }

    /// The turn of a participant that takes further causes: the newest that was not started.
    pub(crate) fn waiting_turn(&self, id: &ParticipantId) -> Option<&Turn> {
        self.floor
            .turns
            .values()
            .rev()
            .find(|turn| turn.participant == *id && turn.running.is_none())
    }

    /// Whether nothing of the same participant comes before this turn.
    pub(crate) fn is_front(&self, turn: &Turn) -> bool {
        self.front_turn(&turn.participant).is_some_and(|front| front.no == turn.no)
    }
}
