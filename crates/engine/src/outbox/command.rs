//! What a stream owes outside itself: a command, and how many commands lie before it.

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Post};
use moothall_kernel::event::Recipient;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::Address;
use moothall_kernel::task_command::{TaskCommand, TaskOrder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ports::{Delivery, NewDelivery};

/// What the targets begin with that are streams of this hall.
pub const STREAM: &str = "stream";
/// Commands that follow from each other, at most. What is carried out at the end of such a chain
/// owes nothing.
pub const HOPS_MAX: u8 = 8;

/// A command for a stream, decided there once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum StreamCommand {
    /// Whoever is at this address said this.
    Say {
        /// The address of the participant who said it.
        at: Address,
        /// What was said, as text.
        text: String,
        /// A person typed them there.
        typed: bool,
        /// The addresses of members that hear them in another conversation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        elsewhere: Vec<Address>,
    },
    /// One participant tells another something.
    Tell {
        /// The participant who says it.
        from: ParticipantId,
        /// The only participant it goes to.
        to: ParticipantId,
        /// What is told, as text.
        text: String,
    },
    /// Whoever is at this address goes.
    Leave {
        /// The address of the participant who goes.
        at: Address,
    },
    /// Begin, as a conversation of a task.
    Open {
        /// The task.
        task: StreamId,
        /// The conversation that begins.
        #[serde(flatten)]
        begin: ConversationStart,
    },
    /// An agent leaves the task, and so its conversation.
    Part {
        /// The task.
        task: StreamId,
        /// The agent.
        agent: ParticipantId,
    },
    /// The task ends, and its conversation takes no more words. The task is told when that is so.
    Retire {
        /// The task.
        task: StreamId,
        /// Its manager.
        by: ParticipantId,
    },
    /// For a task that ends: one of its conversations takes no more words.
    Settle {
        /// The conversation.
        conversation: StreamId,
    },
}

/// A conversation of a task, as it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationStart {
    /// The manager of the task, who takes part.
    pub by: ParticipantId,
    /// The title, if it was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Those for whom it begins, in order.
    pub participants: Vec<ParticipantId>,
    /// It begins together with the task.
    pub first: bool,
    /// The number of words that its agents may exchange before a person has to go on, if the task
    /// has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges_max: Option<u32>,
}

/// Where a command goes, and as what.
pub(super) enum CommandTarget {
    /// To a conversation, as it is when the command comes.
    Conversation(ConversationAction),
    /// To a task.
    Task(TaskCommand),
    /// To a new conversation of a task.
    Begin {
        /// The task.
        task: StreamId,
        /// The conversation.
        begin: ConversationStart,
    },
    /// To a conversation of a task.
    Order {
        /// The task.
        task: StreamId,
        /// What it wants.
        order: TaskOrder,
        /// Whether the task waits to hear that it is done.
        tells: bool,
    },
}

impl From<StreamCommand> for CommandTarget {
    fn from(command: StreamCommand) -> Self {
        match command {
            StreamCommand::Say { at, text, typed, elsewhere } => {
                CommandTarget::Conversation(ConversationAction::Say { at, text, typed, elsewhere })
            }
            StreamCommand::Tell { from, to, text } => {
                CommandTarget::Conversation(ConversationAction::Tell { from, to, text })
            }
            StreamCommand::Leave { at } => CommandTarget::Conversation(ConversationAction::Leave { at }),
            StreamCommand::Open { task, begin } => CommandTarget::Begin { task, begin },
            StreamCommand::Part { task, agent } => {
                CommandTarget::Order { task, order: TaskOrder::Part { agent }, tells: false }
            }
            StreamCommand::Retire { task, by } => {
                let order = TaskOrder::Archive { by, on: true };
                CommandTarget::Order { task, order, tells: true }
            }
            StreamCommand::Settle { conversation } => {
                CommandTarget::Task(TaskCommand::Settle { conversation })
            }
        }
    }
}

/// What a session, or somebody in it, does in a conversation.
pub(super) enum ConversationAction {
    /// Whoever is at this address said this, or had it typed there.
    Say { at: Address, text: String, typed: bool, elsewhere: Vec<Address> },
    /// One participant tells another something.
    Tell { from: ParticipantId, to: ParticipantId, text: String },
    /// Whoever is at this address goes.
    Leave { at: Address },
}

impl ConversationAction {
    /// The command in a conversation as it is now; nothing where the one it is about is not there.
    pub(super) fn command(self, state: &Conversation) -> Option<ClientCommand> {
        let id_at = |at: &Address| {
            state
                .participants()
                .iter()
                .find(|one| one.address.as_ref() == Some(at))
                .map(|one| one.id.clone())
        };
        Some(match self {
            ConversationAction::Say { at, text, typed, elsewhere } => {
                let own = id_at(&at)?;
                let elsewhere = elsewhere.iter().filter_map(id_at).collect();
                let (by, typed_at) = match typed {
                    true => (Actor::unproven(ParticipantId::USER), Some(own)),
                    false => (Actor::named(own), None),
                };
                ClientCommand::Post(Post { typed_at, elsewhere, ..Post::new(by, text) })
            }
            ConversationAction::Tell { from, to, text } => {
                ClientCommand::Post(Post { to: Recipient::One(to), ..Post::new(Actor::named(from), text) })
            }
            ConversationAction::Leave { at } => {
                let own = id_at(&at)?;
                ClientCommand::Control {
                    controls: vec![Control::Uninvite(own.to_string())],
                    by: Actor::named(own),
                }
            }
        })
    }
}

/// Something that is owed outside a stream: inserted as a delivery with the append that caused it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxEntry {
    /// The target of the delivery; what stands before its colon says who carries it there.
    pub target: String,
    /// What is to be done there.
    pub command: Value,
}

impl OutboxEntry {
    /// A command for a stream of this hall.
    pub fn to_stream(stream: &StreamId, command: &StreamCommand) -> Self {
        Self { target: Self::target_of(stream), command: json!(command) }
    }

    /// Returns the target of what is owed to a stream.
    pub(crate) fn target_of(stream: &StreamId) -> String {
        format!("{STREAM}:{stream}")
    }

    /// Its delivery, which names the event that caused it. `hops` commands lie before that one.
    pub(crate) fn delivery(&self, hops: u8, through_seq: Seq) -> NewDelivery {
        let command = json!(CommandRecord { hops: hops + 1, command: &self.command }).to_string();
        NewDelivery {
            target: self.target.clone(),
            turn: None,
            attempt: 0,
            through_seq,
            command: Some(command),
        }
    }
}

impl Delivery {
    /// The command that it carries.
    ///
    /// # Errors
    /// What is wrong with it, for this version.
    pub fn carried<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        Ok(self.in_chain()?.command)
    }

    /// The same, and which link of a chain of commands it is.
    pub(super) fn in_chain<T: DeserializeOwned>(&self) -> Result<CommandRecord<T>, serde_json::Error> {
        serde_json::from_str(self.command.as_deref().unwrap_or_default())
    }
}

/// A command as a delivery carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CommandRecord<T> {
    /// Which link of a chain of commands this is, from 1.
    pub(super) hops: u8,
    pub(super) command: T,
}
