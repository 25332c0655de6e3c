//! The state of a conversation. Only [`Conversation::apply`] changes it, and applying cannot fail.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::model::budget::{SpentBudget, WindowTotals};
use crate::model::chat::Chat;
use crate::model::contribution::{Asides, Contribution};
use crate::model::event::{Cause, Guard, RecordedEvent};
use crate::model::fold::{FINGERPRINTS_KEPT, WOKEN_KEPT};
use crate::model::gathering::Gathering;
use crate::model::ids::{ComputerId, EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::link::JoinedConversation;
use crate::model::message_count::MessageCounters;
use crate::model::own::Restraint;
use crate::model::participant::{Kind, Participant, SeatRole, TerminalReach};
use crate::model::permission::{OpenQuestion, SettledPermission, Settlement};
use crate::model::refused::Refusals;
use crate::model::request::OpenRequest;
use crate::model::settings::Policy;
use crate::model::summary::{Summaries, Summary};
use crate::model::talk::TalkRefusal;
use crate::model::time::{Millis, Timestamp};

mod owner;
mod round;
mod tombstone;
mod turn;
mod waking;

pub use owner::Owner;
pub(crate) use round::ClosedRound;
pub use round::{Reply, Round};
pub(crate) use tombstone::Tombstone;
pub(crate) use turn::{EndedTurn, TurnCause};
pub use turn::{RunningTurn, Turn};
pub use waking::WakingWords;

/// Number of contributions that the repeat detector compares. (Ruling 18.)
pub const REPEAT_WINDOW: usize = 8;
/// Contributions of one agent to another within [`PAIR_WINDOW`] that trip the pair guard.
pub const PAIR_MAX: usize = 20;
/// Window of the pair guard.
pub const PAIR_WINDOW: Millis = Millis::from_secs(60);

// The buffers must be at least as long as the limits counted in them.
const _: () = assert!(PAIR_MAX <= WOKEN_KEPT && REPEAT_WINDOW <= FINGERPRINTS_KEPT);

/// The state of a conversation: participants, floor, guards and cursors, but not its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub(crate) stream: StreamId,
    pub(crate) head: Seq,
    pub(crate) last_ts: Timestamp,
    pub(crate) name: String,
    pub(crate) created_at: Timestamp,
    pub(crate) policy: Policy,
    pub(crate) folder: Option<String>,
    pub(crate) archived: bool,
    pub(crate) archived_at: Option<Timestamp>,
    /// True if the conversation was deleted. Deleted states are never stored, so the field is left
    /// out while false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deleted: bool,
    pub(crate) paused: bool,
    /// Start of the pause; `None` in paused states of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paused_since: Option<Timestamp>,
    pub(crate) discussion: Discussion,
    pub(crate) invited_auto: bool,
    pub(crate) muted: BTreeSet<ParticipantId>,
    /// Muted participants whom a proven person muted.
    pub(crate) muted_by_proof: BTreeSet<ParticipantId>,
    /// True if a proven person paused the conversation.
    pub(crate) paused_by_proof: bool,
    /// Ids that ever belonged to a person here. They stay a person's after leaving.
    pub(crate) people: BTreeSet<ParticipantId>,
    /// In invitation order.
    pub(crate) participants: Vec<Participant>,
    /// Names of participants who left, so that history can still be read.
    pub(crate) tombstones: BTreeMap<ParticipantId, Tombstone>,
    pub(crate) bindings: BTreeSet<String>,
    pub(crate) floor: Floor,
    pub(crate) guards: Guards,
    /// The memory of agents' own words, and the Stop that holds them back.
    pub(crate) restraint: Restraint,
    pub(crate) spending: Spending,
    /// The current gathering, or the last one.
    pub(crate) gathering: Option<Gathering>,
    /// Summaries of older messages, for participants whose memory is rebuilt from the log.
    pub(crate) summaries: Summaries,
    /// Participants whose words were refused lately, and the amount of these words that was stored.
    pub(crate) refused: Refusals,
    /// Number of messages.
    pub(crate) said: MessageCounters,
    /// The task that owns the conversation, if any.
    pub(crate) owner: Option<Owner>,
    /// The newest contribution.
    pub(crate) latest: Option<Contribution>,
    /// The newest contribution by another author than that of `latest`.
    pub(crate) latest_other: Option<Contribution>,
    /// Contributions that some participants hear in another conversation.
    pub(crate) asides: Asides,
    /// Positions of words in the trace that were published, with the messages that show them.
    pub(crate) published: BTreeMap<Seq, EventId>,
    /// If this is the home of a session: the conversations of other computers that the session has
    /// joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) joined: Vec<JoinedConversation>,
}

/// The participant who set off a contribution that answers a turn. The contribution and its cause,
/// and not this entry, say if a proven person is behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) seq: Seq,
    pub(crate) by: ParticipantId,
}

/// The conversation's memory of its budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spending {
    pub(crate) standing: WindowTotals,
    /// Used-up budgets that people were notified of.
    #[serde(rename = "told")]
    pub(crate) announced: Vec<SpentBudget>,
    /// Origins of the latest contributions that answered a turn.
    pub(crate) origins: VecDeque<Origin>,
}

/// Prefix of a link's key. A hash of the members' ids follows.
pub const LINK_KEY: &str = "link:";

/// The two switches of agents' mentions under `mention_only`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discussion {
    /// True if agents' mentions count; `allow_agent_mentions` is needed too.
    pub on: bool,
    /// The second switch; both are needed.
    pub allow_agent_mentions: bool,
}

/// Open turns, the round, the queue, and requests that wait for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Open turns only.
    pub(crate) turns: BTreeMap<TurnNo, Turn>,
    pub(crate) last_turn: TurnNo,
    /// People's messages that wait for their time, and agents' answers that came after their round
    /// ended.
    pub(crate) queue: VecDeque<WakingWords>,
    /// The position of the message last taken from the queue, and the position of the event that
    /// took it.
    pub(crate) taken: Option<(Seq, Seq)>,
    /// Messages that left the queue after some participant's turns had passed the place where they
    /// were said. The next prompt of that participant must show them, even if its events begin
    /// after `left`.
    pub(crate) waited: VecDeque<QueuedMessage>,
    pub(crate) round: Option<Round>,
    /// The person's message whose replies are counted: the one whose round was opened last.
    pub(crate) message: Option<Seq>,
    /// Visible agent replies to it.
    pub(crate) spent: u32,
    /// Maximum of `spent`.
    pub(crate) cap: u32,
    /// Messages whose rounds ended while a turn still works on them or a late answer waits.
    pub(crate) earlier: Vec<ClosedRound>,
    /// Owners of the latest ended turns, so that late results find their author.
    pub(crate) ended: VecDeque<EndedTurn>,
    /// Outcomes of the latest permissions, so that late answers learn of them.
    pub(crate) settled: VecDeque<SettledPermission>,
    /// Requests of agents without an outcome yet.
    pub(crate) requests: BTreeMap<PermissionId, OpenRequest>,
    /// Refusals of requests to talk. Those older than an hour have no effect.
    pub(crate) refusals: Vec<TalkRefusal>,
    /// Open questions of agents' programs outside of turns.
    pub(crate) questions: BTreeMap<PermissionId, OpenQuestion>,
    /// The last speaker of a round, for `round_robin`.
    pub(crate) last_speaker: Option<ParticipantId>,
    /// Agents that may answer but were not asked before their round ended. The next round polls
    /// them first. (Ruling 12.)
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) passed_over: Vec<ParticipantId>,
    /// True if people were notified, since a person last spoke, that a provider takes no more
    /// requests.
    #[serde(default, rename = "limits_told", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) limits_announced: bool,
}

/// A message that waited in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedMessage {
    /// The position at which the message was said.
    pub said: Seq,
    /// The position of the event that took the message out of the queue: its time came, or a Stop
    /// or the archiving emptied the queue.
    pub left: Seq,
}

impl Floor {
    /// Returns the position at which a cause took effect. For the queued message handled now, that
    /// is the event that took it from the queue; for other causes, their own position.
    pub(crate) fn effect_of(&self, cause: &Cause) -> Seq {
        self.taken.filter(|(taken, _)| *taken == cause.seq).map_or(cause.seq, |(_, at)| at)
    }
}

/// Counters of the loop guards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guards {
    /// Agent contributions since a person spoke.
    pub(crate) exchanges: u32,
    /// Times at which one agent's words gave another a turn.
    #[serde(with = "crate::model::entries")]
    pub(crate) pairs: BTreeMap<(ParticipantId, ParticipantId), VecDeque<Timestamp>>,
    /// Hashes of the latest contributions.
    pub(crate) recent: VecDeque<u32>,
    /// The guard that holds the floor.
    pub(crate) held: Option<Guard>,
    /// Start of the hold; `None` in held states of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held_since: Option<Timestamp>,
}

impl Conversation {
    /// Returns the state of a stream without events.
    pub fn new(stream: StreamId) -> Self {
        Self {
            stream,
            head: Seq(0),
            last_ts: Timestamp::default(),
            name: String::new(),
            created_at: Timestamp::default(),
            policy: Policy::default(),
            folder: None,
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
            joined: Vec::new(),
        }
    }

    /// Returns the state after all events of a stream, from its beginning.
    pub fn fold<'a>(stream: StreamId, events: impl IntoIterator<Item = &'a RecordedEvent>) -> Self {
        let mut state = Self::new(stream);
        for recorded in events {
            state.apply(recorded);
        }
        state
    }

    /// Returns the conversation's id.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Returns the position of the newest event; 0 before the first.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// Returns the time of the newest event.
    pub fn last_ts(&self) -> Timestamp {
        self.last_ts
    }

    /// Returns the title.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the time of its creation.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// Returns the policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the folder in which known programs work for the conversation, if it has one: an
    /// absolute path.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// True if the conversation takes no more messages.
    pub fn is_archived(&self) -> bool {
        self.archived
    }

    /// Returns the time of the archiving, if the conversation is archived.
    pub fn archived_at(&self) -> Option<Timestamp> {
        self.archived_at
    }

    /// True if the conversation was deleted.
    pub fn is_deleted(&self) -> bool {
        self.deleted
    }

    /// True if agents get no turns until a person resumes.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Returns the discussion switches.
    pub fn discussion(&self) -> Discussion {
        self.discussion
    }

    /// True if unaddressed messages of people ask all agents.
    pub fn invited_auto(&self) -> bool {
        self.invited_auto
    }

    /// Returns the muted participants, sorted.
    pub fn muted(&self) -> impl Iterator<Item = &ParticipantId> {
        self.muted.iter()
    }

    /// Returns the invited participants, in invitation order.
    pub fn participants(&self) -> &[Participant] {
        &self.participants
    }

    /// Returns an invited participant.
    pub fn participant(&self, id: &ParticipantId) -> Option<&Participant> {
        self.participants.iter().find(|p| p.id == *id)
    }

    /// Returns the guard that holds the floor, if one does.
    pub fn holding_guard(&self) -> Option<Guard> {
        self.guards.held
    }

    /// Returns the person whose Stop still holds back agents' own words, if one does.
    pub fn stopped_by(&self) -> Option<&ParticipantId> {
        self.restraint.stop.as_ref().map(|stop| &stop.by)
    }

    /// Counts the things that wait for a person: permissions, requests and questions of agents, a
    /// guard's hold, and a person's part in a gathering.
    pub fn waits_for_people(&self) -> usize {
        let asked: usize = self.open_turns().map(|turn| turn.permissions.len()).sum();
        asked
            + self.requests_asked().count()
            + self.questions_asked().count()
            + usize::from(self.holding_guard().is_some())
            + usize::from(self.awaits_person_in_gathering())
    }

    /// True if a gathering waits for a person who holds the piece or harvests.
    fn awaits_person_in_gathering(&self) -> bool {
        self.awaited_in_gathering().is_some_and(|id| self.is_human(id))
    }

    /// Returns the member whose words the open gathering waits for: the holder of the piece, or
    /// the harvester. `None` while a guard holds the floor.
    pub fn awaited_in_gathering(&self) -> Option<&ParticipantId> {
        let gathering = self.gathering().filter(|_| self.holding_guard().is_none())?;
        if let Some(tenure) = &gathering.tenure {
            return Some(&tenure.holder);
        }
        gathering.harvesting.as_ref()?;
        let harvester = gathering.members.iter().find(|one| one.part == SeatRole::Harvester);
        harvester.map(|member| &member.id)
    }

    /// Returns the open gathering, if there is one.
    pub fn gathering(&self) -> Option<&Gathering> {
        self.gathering.as_ref().filter(|gathering| gathering.closed.is_none())
    }

    /// Returns the open gathering, or the last one.
    pub fn newest_gathering(&self) -> Option<&Gathering> {
        self.gathering.as_ref()
    }

    /// Returns the newest summary of a participant's memory that was not erased.
    pub fn summary_of(&self, id: &ParticipantId) -> Option<Summary> {
        self.summaries.newest(id)
    }

    /// Returns the held keys and the bound chats, sorted.
    pub fn bindings(&self) -> impl Iterator<Item = &str> {
        self.bindings.iter().map(String::as_str)
    }

    /// Returns the bound chats, sorted.
    pub fn chats(&self) -> impl Iterator<Item = Chat> {
        self.bindings().filter_map(Chat::of_target)
    }

    /// Returns the open turns, in the order of their numbers.
    pub fn open_turns(&self) -> impl Iterator<Item = &Turn> {
        self.floor.turns.values()
    }

    /// Returns an open turn.
    pub fn turn(&self, no: TurnNo) -> Option<&Turn> {
        self.floor.turns.get(&no)
    }

    /// Returns the participant of an open turn, or of one that ended recently.
    pub fn turn_owner(&self, no: TurnNo) -> Option<ParticipantId> {
        let open = self.turn(no).map(|turn| turn.participant.clone());
        open.or_else(|| self.floor.recent_owner(no))
    }

    /// Returns messages that left the queue and that some participant has not been shown since,
    /// oldest first.
    pub fn waited(&self) -> impl Iterator<Item = QueuedMessage> {
        self.floor.waited.iter().copied()
    }

    /// Counts the messages that took effect and have words: those that a transcript of the whole
    /// conversation would show.
    pub fn messages(&self) -> u64 {
        self.said.messages.saturating_sub(self.floor.queue.len() as u64)
    }

    /// Returns the chosen option of a permission that a person answered recently, and the position
    /// of the answer, whose event has the person's own words.
    pub fn answer_to(&self, permission: &PermissionId) -> Option<(&str, Seq)> {
        let settled =
            self.floor.settled.iter().rev().find(|settled| settled.permission == *permission)?;
        match &settled.how {
            Settlement::Answered { option, at, .. } => Some((option, *at)),
            Settlement::Expired | Settlement::Withdrawn(_) | Settlement::TurnOver => None,
        }
    }

    /// If this is the home of a session: returns the conversations of other computers that the
    /// session has joined, in the order of their latest
    /// [`Event::Joined`](crate::event::Event::Joined).
    pub fn joined(&self) -> impl Iterator<Item = &JoinedConversation> {
        self.joined.iter()
    }

    /// Returns a conversation of another computer, if the session of this home has joined it.
    pub fn joined_on(
        &self,
        computer: &ComputerId,
        stream: &StreamId,
    ) -> Option<&JoinedConversation> {
        self.joined().find(|joined| joined.is(computer, stream))
    }

    /// Forgets a conversation of another computer.
    pub(crate) fn part_from(&mut self, computer: &ComputerId, stream: &StreamId) {
        self.joined.retain(|joined| !joined.is(computer, stream));
    }

    /// Returns the number of the last turn; it is also the number of turns so far.
    pub fn last_turn(&self) -> TurnNo {
        self.floor.last_turn
    }

    /// Returns people's messages that wait in the queue, in order.
    pub fn queued(&self) -> impl Iterator<Item = &Cause> {
        self.floor
            .queue
            .iter()
            .filter(|waiting| waiting.late.is_none())
            .map(|waiting| &waiting.cause)
    }

    /// Returns the agents still to be asked about the current message, in order: first those that
    /// must answer (`true`), then those that may.
    pub fn upcoming(&self) -> Vec<(ParticipantId, bool)> {
        let Some(round) = &self.floor.round else { return Vec::new() };
        let named: Vec<ParticipantId> =
            self.named_by_replies().into_iter().map(|(id, _)| id).collect();
        let may =
            round.polled.iter().filter(|id| !named.contains(id)).map(|id| (id.clone(), false));
        round.forced.iter().chain(&named).map(|id| (id.clone(), true)).chain(may).collect()
    }

    /// Returns the number of visible replies to the current message, and its maximum.
    pub fn budget(&self) -> (u32, u32) {
        (self.floor.spent, self.floor.cap)
    }

    /// Returns the name of a participant, or the one it had when it left.
    pub fn name_of<'a>(&'a self, id: &'a ParticipantId) -> &'a str {
        match self.participant(id) {
            Some(participant) => participant.name(),
            None => self.tombstones.get(id).map_or_else(|| id.as_str(), |gone| &gone.name),
        }
    }

    /// Returns the number of a participant in a link or gathering, or the one it had when it left.
    pub fn number_of(&self, id: &ParticipantId) -> Option<u32> {
        match self.participant(id) {
            Some(participant) => participant.number,
            None => self.tombstones.get(id)?.number,
        }
    }

    /// Returns the participants who left, with the names that they had.
    pub fn departed(&self) -> impl Iterator<Item = (&ParticipantId, &str)> {
        self.tombstones.iter().map(|(id, gone)| (id, gone.name.as_str()))
    }

    /// True if the participant with this id is a person, or was a person at any time before it
    /// left. The local user is always a person. (Ruling 1.)
    pub fn is_human(&self, id: &ParticipantId) -> bool {
        let here = || {
            self.participant(id).map_or_else(|| self.people.contains(id), |p| p.kind == Kind::Human)
        };
        id.as_str() == ParticipantId::USER || here()
    }

    /// True if the conversation is a link: it holds the key of a set of members.
    pub fn is_link(&self) -> bool {
        self.bindings.iter().any(|target| target.starts_with(LINK_KEY))
    }

    /// True if words here reach a terminal that only drivers may reach: in a link, or if a
    /// participant was invited with that grant. The home of a session is not included: the session
    /// directory knows it.
    pub fn is_for_drivers(&self) -> bool {
        let drivers = |one: &Participant| one.reach == Some(TerminalReach::Drivers);
        self.is_link() || self.participants.iter().any(drivers)
    }

    /// True if a participant left or was removed after this time and has not come back.
    pub fn left_after(&self, id: &ParticipantId, time: Timestamp) -> bool {
        self.tombstones.get(id).is_some_and(|gone| gone.left_at > time)
    }

    /// Returns the participants that get turns, in invitation order.
    pub fn agents(&self) -> impl Iterator<Item = &Participant> {
        self.participants.iter().filter(|p| p.takes_turns())
    }

    pub(crate) fn participant_mut(&mut self, id: &ParticipantId) -> Option<&mut Participant> {
        self.participants.iter_mut().find(|p| p.id == *id)
    }

    /// Returns the newest contribution by another participant that this participant has to read in
    /// this conversation.
    pub(crate) fn newest_not_by(&self, id: &ParticipantId) -> Option<&Cause> {
        let newest = self
            .latest
            .as_ref()
            .filter(|latest| latest.author != *id)
            .or(self.latest_other.as_ref());
        let contributions = newest.into_iter().chain(self.asides.newest_for(id));
        contributions.map(|contribution| &contribution.cause).max_by_key(|cause| cause.seq)
    }

    /// Returns the oldest open turn of a participant: the one that runs, or runs next. A turn lost
    /// in a restart keeps its place before the waiting one.
    pub(crate) fn front_turn(&self, id: &ParticipantId) -> Option<&Turn> {
        self.floor.turns.values().find(|turn| turn.participant == *id)
    }

    /// Returns the turn of a participant that takes further causes: the newest one that has not
    /// started. A hosted turn takes no further causes, because its answer goes to another
    /// conversation.
    pub(crate) fn waiting_turn(&self, id: &ParticipantId) -> Option<&Turn> {
        let is_own = |turn: &&Turn| turn.participant == *id && !turn.is_hosted();
        self.floor.turns.values().rev().filter(is_own).find(|turn| turn.running.is_none())
    }

    /// True if the turn is the oldest open one of its participant.
    pub(crate) fn is_front(&self, turn: &Turn) -> bool {
        self.front_turn(&turn.participant).is_some_and(|front| front.no == turn.no)
    }
}
