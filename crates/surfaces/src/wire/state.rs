//! What a thread is like now: participants, turns, what waits, its policy.

use moothall_kernel::Conversation;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq};
use moothall_kernel::participant::{Kind, Participant};
use moothall_kernel::state::Turn;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::control::WireProfile;
use super::envelope::CauseRef;
use super::turn::turn_id;

/// Answer of `GET /threads/{id}/state`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadStateAnswer {
    /// The id of the thread.
    pub thread: String,
    /// The title of the thread.
    pub name: String,
    /// The position of its newest event: the state is the one after it.
    pub head: u64,
    /// All else that is known of the thread.
    pub state: ThreadState,
}

/// What a thread is like now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadState {
    /// Whether a pause is on, in which no agent gets a turn.
    pub paused: bool,
    /// It takes no more messages.
    pub archived: bool,
    /// The guard that holds the floor: `exchanges`, `pair`, `repeat`, `stopped`.
    pub held: Option<String>,
    /// Who is muted, sorted.
    pub muted: Vec<String>,
    /// Whether agents' mentions wake other agents under `mention_only`.
    pub discussion: DiscussionState,
    /// Whether unaddressed human messages ask every invited agent under `mention_only`.
    pub invited_auto: SwitchState,
    /// The policy and all its settings.
    #[schema(value_type = Object)]
    pub policy: Value,
    /// Who takes part in the thread.
    pub participants: ParticipantsState,
    /// Human messages that wait until earlier ones are answered, in order.
    pub queue: Vec<CauseRef>,
    /// Turns granted and not ended.
    pub turns: Vec<OpenTurn>,
    /// Programs that agents ask to have started: each waits for a person's answer.
    pub starts: Vec<AskedRef>,
    /// What agents' programs ask in no turn, such as whether a folder is trusted: each waits for a
    /// person's answer.
    pub questions: Vec<AskedRef>,
    /// Who is still to be asked about the current message.
    pub upcoming: Vec<UpcomingEntry>,
    /// Visible agent replies to the current message.
    pub replies: u32,
    /// The most there can be.
    pub replies_max: u32,
}

/// A permission of no turn, which waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskedRef {
    /// The id of the permission.
    pub permission: String,
    /// The position of the event that asks.
    pub seq: u64,
    /// The id of the participant that asks.
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
    /// Whether it is on.
    pub on: bool,
}

/// The two switches of agents' mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiscussionState {
    /// Whether `discussion` is on.
    pub on: bool,
    /// The second; both are needed.
    pub allow_agent_mentions: bool,
}

/// The participants of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ParticipantsState {
    /// All participants, ordered by id.
    pub invited: Vec<InvitedEntry>,
    /// Those who left, ordered by id: history keeps their names.
    #[serde(default)]
    pub left: Vec<LeftEntry>,
}

/// A participant who left a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftEntry {
    /// The id that it had.
    pub id: String,
    /// The name that people read.
    pub name: String,
}

/// A participant of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InvitedEntry {
    /// The id of the participant.
    pub id: String,
    /// What its invites said.
    pub profile: WireProfile,
    /// Who invited it first.
    pub invited_by: String,
    /// When it was invited first.
    pub invited_at: String,
    /// `human` or `agent`.
    pub kind: String,
    /// How it runs; nothing for people.
    pub runtime: Option<String>,
    /// Whether the registry knows its client; `true` for people.
    pub known: bool,
    /// Says whose words reach its terminal, if it has one: `writers`, or `drivers` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<String>,
    /// Its place in the order of invitations, from 0: views choose its colour by it.
    pub color: usize,
}

/// A turn that was granted and has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpenTurn {
    /// The id of the turn: `<thread>.<number>`.
    pub id: String,
    /// The id of the participant whose turn it is.
    pub participant: String,
    /// Why it was granted.
    pub why: String,
    /// The newest event that it is about.
    pub cause: CauseRef,
    /// Whether having nothing to say is offered.
    pub may_pass: bool,
    /// Which try comes next, or is running.
    pub attempt: u32,
    /// `waiting` until the runtime accepts it, `running` from then on.
    pub state: String,
    /// Whether the floor went on without waiting for it.
    #[serde(default)]
    pub released: bool,
    /// When it was granted.
    pub granted_at: String,
    /// Since when it has run, without the time for which a person was asked for a permission: later
    /// than its start by as much. Missing while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works_since: Option<String>,
    /// When it ends by itself.
    pub deadline: String,
}

/// Somebody who is still to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpcomingEntry {
    /// The id of the participant.
    pub participant: String,
    /// It must answer; otherwise it may.
    pub forced: bool,
}

impl ThreadStateAnswer {
    /// What a conversation is like now.
    pub fn of(conversation: &Conversation) -> Self {
        Self {
            thread: conversation.stream().to_string(),
            name: conversation.name().into(),
            head: conversation.head().0,
            state: ThreadState::of(conversation),
        }
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
            held: conversation.held().map(|guard| guard.to_string()),
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
    conversation.left().map(entry).collect()
}

impl InvitedEntry {
    fn of(participant: &Participant, order: usize) -> Self {
        let agent = participant.kind == Kind::Agent;
        Self {
            id: participant.id.to_string(),
            profile: WireProfile::of(&participant.profile, participant.address.as_ref()),
            invited_by: participant.invited_by.to_string(),
            invited_at: participant.invited_at.to_string(),
            kind: participant.kind.to_string(),
            runtime: agent.then(|| participant.facts.runtime.to_string()),
            known: !agent || participant.facts.known,
            reach: participant.reach.map(|reach| reach.to_string()),
            color: order,
        }
    }
}

impl OpenTurn {
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
