//! The current state of a thread: participants, turns, queue and policy.

use moothall_kernel::Conversation;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq};
use moothall_kernel::participant::{Kind, Participant};
use moothall_kernel::state::Turn;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::control::WireProfile;
use super::envelope::CauseRef;
use super::occupation::OccupationEntry;
use super::turn::turn_id;

/// Answer of `GET /threads/{id}/state`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadStateAnswer {
    /// Id of the thread.
    pub thread: String,
    /// Title of the thread.
    pub name: String,
    /// Position of the thread's newest event. The state includes that event.
    pub head: u64,
    /// Further state of the thread.
    pub state: ThreadState,
}

/// The current state of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadState {
    /// True if the thread is paused: no agent gets a turn.
    pub paused: bool,
    /// True if the thread takes no more messages.
    pub archived: bool,
    /// Guard that holds the floor: `exchanges`, `pair`, `repeat` or `stopped`; `null` if there is
    /// none.
    pub held: Option<String>,
    /// Ids of muted participants, sorted.
    pub muted: Vec<String>,
    /// Switches that let agents' mentions trigger other agents under `mention_only`.
    pub discussion: DiscussionState,
    /// Switch that asks every invited agent about unaddressed human messages under `mention_only`.
    pub invited_auto: SwitchState,
    /// The policy with all its settings.
    #[schema(value_type = Object)]
    pub policy: Value,
    /// The participants of the thread, present and past.
    pub participants: ParticipantsState,
    /// Chats outside of the server to which the thread is bound, such as `telegram:-100123`.
    #[serde(default)]
    pub chats: Vec<String>,
    /// Human messages that wait until earlier ones are answered, in order.
    pub queue: Vec<CauseRef>,
    /// Turns that were granted and have not ended.
    pub turns: Vec<OpenTurn>,
    /// Agents' requests to start a program or to talk to a session, each of which waits for a
    /// person's answer.
    pub starts: Vec<AskedRef>,
    /// Questions of agents' programs outside of a turn, such as trust in a folder, each of which
    /// waits for a person's answer.
    pub questions: Vec<AskedRef>,
    /// Agents still to be asked about the current message.
    pub upcoming: Vec<UpcomingEntry>,
    /// Number of visible agent replies to the current message.
    pub replies: u32,
    /// Maximum of `replies`.
    pub replies_max: u32,
}

/// A permission outside of a turn, which waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskedRef {
    /// Id of the permission.
    pub permission: String,
    /// Position of the asking event.
    pub seq: u64,
    /// Id of the asking participant.
    pub participant: String,
}

impl From<(&PermissionId, Seq, &ParticipantId)> for AskedRef {
    fn from((permission, seq, participant): (&PermissionId, Seq, &ParticipantId)) -> Self {
        Self {
            permission: permission.to_string(),
            seq: seq.0,
            participant: participant.to_string(),
        }
    }
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SwitchState {
    /// True if the setting is on.
    pub on: bool,
}

/// The two switches for agents' mentions. Both have to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiscussionState {
    /// True if `discussion` is on.
    pub on: bool,
    /// True if agents may mention agents.
    pub allow_agent_mentions: bool,
}

/// The participants of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ParticipantsState {
    /// The present participants, ordered by id.
    pub invited: Vec<InvitedEntry>,
    /// The participants who left, ordered by id. The history keeps their names.
    #[serde(default)]
    pub left: Vec<LeftEntry>,
}

/// A participant who left a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftEntry {
    /// Id that the participant had.
    pub id: String,
    /// Name for people.
    pub name: String,
}

/// A participant of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InvitedEntry {
    /// Id of the participant.
    pub id: String,
    /// Profile according to the participant's invites.
    pub profile: WireProfile,
    /// Id of the participant that invited this one first.
    pub invited_by: String,
    /// Time of the first invite.
    pub invited_at: String,
    /// The name by which people write a session of another computer, such as
    /// `builder@workstation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// `human` or `agent`.
    pub kind: String,
    /// Runtime of the agent; `null` for people.
    pub runtime: Option<String>,
    /// True if the registry knows the participant's client; always `true` for people.
    pub known: bool,
    /// Group whose words reach the participant's terminal: `writers`, or `drivers` alone. Absent
    /// without a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<String>,
    /// Index in the order of invitations, from 0. Views choose a colour by it.
    pub color: usize,
    /// State of the participant in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<OccupationEntry>,
}

/// A turn that was granted and has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpenTurn {
    /// Id of the turn: `<thread>.<number>`.
    pub id: String,
    /// Id of the turn's participant.
    pub participant: String,
    /// Reason of the grant.
    pub why: String,
    /// The newest event that the turn is about.
    pub cause: CauseRef,
    /// True if the participant may pass.
    pub may_pass: bool,
    /// Number of the attempt that runs or comes next.
    pub attempt: u32,
    /// `waiting` until the runtime accepts the turn, then `running`.
    pub state: String,
    /// True if the floor no longer waits for the turn.
    #[serde(default)]
    pub released: bool,
    /// Time of the grant.
    pub granted_at: String,
    /// Start of the work, moved later by the time spent waiting for permissions. Absent while the
    /// turn waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works_since: Option<String>,
    /// Time at which the turn ends by itself.
    pub deadline: String,
}

/// An agent still to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpcomingEntry {
    /// Id of the agent.
    pub participant: String,
    /// True if the agent must answer, false if it may.
    pub forced: bool,
}

impl ThreadStateAnswer {
    /// Returns the current state of a conversation.
    pub fn of(conversation: &Conversation) -> Self {
        Self {
            thread: conversation.stream().to_string(),
            name: conversation.name().into(),
            head: conversation.head().0,
            state: ThreadState::of(conversation),
        }
    }

    /// Adds the states of the participants.
    #[must_use]
    pub fn with_states(mut self, states: &[OccupationEntry]) -> Self {
        for entry in &mut self.state.participants.invited {
            entry.doing = states.iter().find(|one| one.participant == entry.id).cloned();
        }
        self
    }
}

impl ThreadState {
    fn of(conversation: &Conversation) -> Self {
        let discussion = conversation.discussion();
        let (replies, replies_max) = conversation.budget();
        let upcoming = conversation
            .upcoming()
            .into_iter()
            .map(|(id, forced)| UpcomingEntry { participant: id.to_string(), forced });
        Self {
            paused: conversation.is_paused(),
            archived: conversation.is_archived(),
            held: conversation.holding_guard().map(|guard| guard.to_string()),
            muted: conversation.muted().map(ToString::to_string).collect(),
            discussion: DiscussionState {
                on: discussion.on,
                allow_agent_mentions: discussion.allow_agent_mentions,
            },
            invited_auto: SwitchState { on: conversation.invited_auto() },
            policy: conversation.policy().to_json(),
            participants: ParticipantsState {
                invited: invited(conversation),
                left: left(conversation),
            },
            chats: conversation.chats().map(|chat| chat.key()).collect(),
            queue: conversation.queued().map(CauseRef::from).collect(),
            turns: conversation.open_turns().map(|turn| OpenTurn::of(conversation, turn)).collect(),
            starts: conversation.requests_asked().map(AskedRef::from).collect(),
            questions: conversation.questions_asked().map(AskedRef::from).collect(),
            upcoming: upcoming.collect(),
            replies,
            replies_max,
        }
    }
}

/// Returns the invited participants, sorted by id.
fn invited(conversation: &Conversation) -> Vec<InvitedEntry> {
    let numbered = conversation.participants().iter().enumerate();
    let mut entries: Vec<InvitedEntry> =
        numbered.map(|(order, participant)| InvitedEntry::of(participant, order)).collect();
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    entries
}

fn left(conversation: &Conversation) -> Vec<LeftEntry> {
    let entry = |(id, name): (&ParticipantId, &str)| LeftEntry {
        id: id.to_string(),
        name: name.to_owned(),
    };
    conversation.departed().map(entry).collect()
}

impl InvitedEntry {
    /// Returns a participant for the wire. `order` is its place among the invited participants,
    /// which sets its color. A person counts as known.
    fn of(participant: &Participant, order: usize) -> Self {
        let agent = participant.kind == Kind::Agent;
        Self {
            id: participant.id.to_string(),
            profile: WireProfile::of(&participant.profile, participant.address.as_ref()),
            invited_by: participant.invited_by.to_string(),
            invited_at: participant.invited_at.to_string(),
            full_name: participant.full_name.clone(),
            kind: participant.kind.to_string(),
            runtime: agent.then(|| participant.facts.runtime.to_string()),
            known: !agent || participant.facts.known,
            reach: participant.reach.map(|reach| reach.to_string()),
            color: order,
            doing: None,
        }
    }
}

impl OpenTurn {
    /// Returns an open turn for the wire. It is `running` once an attempt began and until that
    /// attempt is lost.
    fn of(conversation: &Conversation, turn: &Turn) -> Self {
        Self {
            id: turn_id(conversation.stream(), turn.no),
            participant: turn.participant.to_string(),
            why: turn.why.to_string(),
            cause: (&turn.cause).into(),
            may_pass: turn.may_pass,
            attempt: turn.attempt,
            state: if turn.running.is_some() { "running" } else { "waiting" }.into(),
            released: turn.released,
            granted_at: turn.granted_at.to_string(),
            works_since: turn.running.map(|running| running.started_at.to_string()),
            deadline: turn.deadline.to_string(),
        }
    }
}
