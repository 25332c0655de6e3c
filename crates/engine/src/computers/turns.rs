//! The content of rows about conversations that have members on several computers: turns, and
//! memberships.

use moothall_kernel::event::{Event, Fault, Outcome, RecordedEvent, TurnKind, Usage};
use moothall_kernel::hosted::{HostedKey, HostedTurn};
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::link::{FarMember, JoinedConversation};
use moothall_kernel::message_part::Span;
use moothall_kernel::pass::PASS;
use moothall_kernel::permission::{ActionDetail, PermissionOption, Question};
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::{names, text};
use serde::{Deserialize, Serialize};

use super::RemoteWait;
use crate::runtime::agent::Job;
use crate::sessions::SessionId;

/// Longest sentence of a fault from another computer, in bytes.
const FAULT_BYTES_MAX: usize = 500;
/// Longest code of a fault from another computer, in bytes.
const CODE_BYTES_MAX: usize = 64;

/// The name of a turn in rows between the computer of its conversation and the computer of its
/// participant. It does not name the computer of the conversation, because only the channel proves
/// that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RemoteTurn {
    /// The conversation.
    pub stream: StreamId,
    /// The number of the turn in the conversation.
    pub turn: TurnNo,
    /// Number of the attempt, from 1.
    pub attempt: u32,
}

impl RemoteTurn {
    /// Returns the turn in the form that the computer of its participant uses. `home` is the
    /// computer of the conversation.
    pub fn hosted(&self, home: &ComputerId) -> HostedKey {
        let Self { stream, turn, attempt } = self.clone();
        HostedKey { computer: home.clone(), stream, turn, attempt }
    }

    /// Returns the turn in the form that the computer of its conversation uses.
    pub fn of(key: &HostedKey) -> Self {
        Self { stream: key.stream.clone(), turn: key.turn, attempt: key.attempt }
    }
}

/// An offer of a turn to a session of the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteOffer {
    /// The turn.
    #[serde(flatten)]
    pub turn: RemoteTurn,
    /// The session.
    pub session: SessionId,
    /// The newest event that the prompt covers.
    pub through: Seq,
    /// The purpose of the turn.
    #[serde(default)]
    pub kind: TurnKind,
    /// True if the prompt offers `[PASS]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_pass: bool,
    /// The prompt.
    pub text: String,
    /// The places of the prompt at which members' words stand, in order. Each place has the words
    /// of one member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Span>,
}

impl RemoteOffer {
    /// Returns the offer of a job to a session of another computer.
    pub fn of(turn: RemoteTurn, session: SessionId, job: &Job) -> Self {
        Self {
            turn,
            session,
            through: job.through,
            kind: job.kind,
            may_pass: job.may_pass,
            text: job.prompt.text.clone(),
            bodies: job.prompt.bodies.iter().cloned().map(Span::of).collect(),
        }
    }

    /// Returns the turn as the session's own conversation records it, and the prompt. `home` is the
    /// computer that offers the turn, as the channel proved it. `label` is the name that this
    /// computer has for `home`.
    pub fn taken_from(self, home: &ComputerId, label: &str) -> (HostedTurn, String) {
        let hosted = HostedTurn {
            key: self.turn.hosted(home),
            through: self.through,
            label: label.to_owned(),
            kind: self.kind,
            may_pass: self.may_pass,
            bodies: self.bodies.into(),
        };
        (hosted, self.text)
    }
}

/// The end of a turn that a session of the sender took for a conversation of the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteEnd {
    /// The turn.
    #[serde(flatten)]
    pub turn: RemoteTurn,
    /// The answer, which is `[PASS]` for a pass; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The fault of the turn, if the turn has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Time, tokens and money that the turn used.
    #[serde(default)]
    pub usage: Usage,
}

impl RemoteEnd {
    /// Returns the end that an event records. `said` is the event of the answer. The text of a turn
    /// that passed is [`PASS`]. The end has the fault `erased` if the answer was erased, and
    /// another fault if the turn has no answer.
    pub fn of(key: &HostedKey, event: &Event, said: Option<&Event>) -> Self {
        let turn = RemoteTurn::of(key);
        let erased = || Fault::new("erased", "its answer was erased before it was sent");
        let (text, fault, usage) = match event {
            Event::TurnEnded { outcome: Outcome::Spoke, usage, .. } => {
                let words = said.and_then(Event::body);
                // Erased words leave an empty body.
                let text = words.filter(|words| !words.is_empty()).map(str::to_owned);
                let fault = text.is_none().then(erased);
                (text, fault, *usage)
            }
            Event::TurnEnded { outcome: Outcome::Passed, usage, .. } => {
                (Some(PASS.to_owned()), None, *usage)
            }
            Event::TurnEnded { fault, usage, .. } => (None, fault.clone(), *usage),
            Event::Skipped { detail, .. } => {
                let why = detail.as_deref().unwrap_or("its computer gives it no turn now");
                (None, Some(Fault::new("over_budget", why)), Usage::default())
            }
            _ => (None, Some(erased()), Usage::default()),
        };
        let fault = fault.or_else(|| {
            text.is_none().then(|| Fault::new("ended_there", "its turn ended without an answer"))
        });
        Self { turn, text, fault, usage }
    }

    /// Returns the end of a turn whose record was deleted at the computer of its participant.
    pub fn gone(key: &HostedKey) -> Self {
        Self::failed(key, Fault::new("erased", "what it said was deleted before it was sent"))
    }

    /// Returns the end of a turn in a conversation that the session had left.
    pub fn parted(key: &HostedKey) -> Self {
        Self::failed(key, Fault::new("closed", "the session left the conversation"))
    }

    fn failed(key: &HostedKey, fault: Fault) -> Self {
        Self { turn: RemoteTurn::of(key), text: None, fault: Some(fault), usage: Usage::default() }
    }

    /// Returns the answer of the turn, or its fault. The fault has clean words of bounded length,
    /// because another computer wrote them.
    pub fn result(self) -> Result<String, Fault> {
        match (self.text, self.fault) {
            (Some(text), _) => Ok(text),
            (None, fault) => Err(cleaned(
                fault.unwrap_or_else(|| Fault::new("ended_there", "it ended without an answer")),
            )),
        }
    }
}

/// Returns a fault with clean words of bounded length.
fn cleaned(fault: Fault) -> Fault {
    let line = |text: &str, bytes_max: usize| {
        let words = text::clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
        text::cut(&words, bytes_max).to_owned()
    };
    let code = line(&fault.code, CODE_BYTES_MAX);
    Fault { code, message: line(&fault.message, FAULT_BYTES_MAX), ..fault }
}

/// A question that a program of the sender asks in a turn of a conversation of the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemotePermission {
    /// The turn.
    #[serde(flatten)]
    pub turn: RemoteTurn,
    /// The question, as the sender names it.
    pub permission: PermissionId,
    /// The exact action.
    pub action: String,
    /// True if `action` is only a part of the action.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The answers that the program offers. Empty if the sender accepts none from the receiver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<PermissionOption>,
    /// The parts of the action, if the program reports them one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<ActionDetail>,
    /// The folder in which the program would act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The name of the session that asks.
    pub session: String,
    /// The time that people have for an answer.
    pub within: Millis,
    /// True if the question stays open while its dialog is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stands: bool,
}

impl RemotePermission {
    /// Returns the question that an event records; `None` for other events. `session` is the name
    /// of the session that asks.
    pub fn of(key: &HostedKey, recorded: &RecordedEvent, session: String) -> Option<Self> {
        let Event::PermissionRequested {
            permission,
            action,
            options,
            expires,
            partial,
            detail,
            folder,
            stands,
            ..
        } = recorded.event.clone()
        else {
            return None;
        };
        Some(Self {
            turn: RemoteTurn::of(key),
            permission,
            action,
            partial,
            detail,
            options,
            folder,
            session,
            within: expires.since(recorded.ts),
            stands,
        })
    }

    /// Returns the id of the question at the computer of its conversation. It includes the computer
    /// that asks, because two computers may name their questions alike.
    pub fn id_at(permission: &PermissionId, computer: &ComputerId) -> PermissionId {
        PermissionId::new(format!("{permission}.{computer}"))
    }

    /// Returns the id that the asking computer itself has for a question. `None` if `permission` is
    /// not an id of [`RemotePermission::id_at`] for that computer.
    pub fn own_id(permission: &PermissionId, computer: &ComputerId) -> Option<PermissionId> {
        let own = permission.as_str().strip_suffix(computer.as_str())?.strip_suffix('.')?;
        Some(PermissionId::new(own))
    }

    /// Returns the question in the form that the conversation of the turn records. `label` is the
    /// name that this computer has for the computer that asks. The kernel limits the length of the
    /// parts and makes hidden characters visible.
    pub fn question(self, label: &str) -> Question {
        // People copy this line into a shell, and another computer chose the session's name in it.
        let is_name = names::check_id(&self.session).is_ok();
        let look = is_name.then(|| format!("ssh {label} moothall attach {}", self.session));
        Question {
            action: self.action,
            partial: self.partial,
            detail: self.detail,
            options: self.options,
            folder: self.folder,
            look,
            stands: self.stands,
        }
    }
}

/// The state, at the sender, of a turn that one of its sessions may have taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostedState {
    /// The turn waits.
    Waiting,
    /// The turn runs.
    Running,
    /// The turn is not open: it never came, was lost, or has ended. If it has ended, its end was
    /// sent before this state.
    Unknown,
}

/// The membership of a session of the receiver in a conversation of the sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemotePlace {
    /// The conversation.
    pub stream: StreamId,
    /// The title of the conversation.
    pub title: String,
    /// True if it is a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// Time at which it began.
    #[serde(default)]
    pub created_at: Timestamp,
    /// The session.
    pub session: SessionId,
    /// The id of the session in the conversation.
    pub participant: ParticipantId,
    /// The sessions that take part in it. Each address names its computer.
    pub members: Vec<FarMember>,
}

impl RemotePlace {
    /// Returns the id of the session, and the conversation that it has joined. `home` is the
    /// computer of the conversation, as the channel proved it, and `own` the id of this computer.
    ///
    /// An address without a computer gets `home`, and an address of this computer loses its
    /// computer.
    pub fn taken_from(self, home: &ComputerId, own: &str) -> (SessionId, JoinedConversation) {
        let Self { stream, title, link, created_at, session, participant, mut members } = self;
        for member in &mut members {
            let computer = &mut member.address.computer;
            if computer.is_empty() {
                *computer = home.to_string();
            } else if computer == own {
                computer.clear();
            }
        }
        let computer = home.clone();
        let joined =
            JoinedConversation { computer, stream, title, link, created_at, participant, members };
        (session, joined)
    }
}

/// The row of the receiver that the sender refused, if the refusal has an effect at the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RefusedRow {
    /// A message whose answer a session waits for.
    Wait(RemoteWait),
    /// An offer of a turn.
    Turn(RemoteTurn),
    /// A membership.
    Place {
        /// The conversation.
        stream: StreamId,
        /// The session.
        session: SessionId,
    },
}
