//! Commands and deliveries from one stream to another, with the length of the chain of commands.

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Post};
use moothall_kernel::event::Recipient;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::Address;
use moothall_kernel::task_command::{TaskCommand, TaskOrder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ports::{Delivery, NewDelivery, Target};

/// Maximum length of a chain of commands that cause each other. The last one may not cause another.
pub const HOPS_MAX: u8 = 8;

/// A command for a stream. It takes effect in the stream only one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum StreamCommand {
    /// A post by the participant at this address.
    Say {
        /// The address of the participant.
        at: Address,
        /// The text of the post.
        text: String,
        /// True if a person typed the text at the terminal of this address.
        typed: bool,
        /// The addresses of participants that read the text in another conversation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        elsewhere: Vec<Address>,
    },
    /// A private message from one participant to another.
    Tell {
        /// The sender.
        from: ParticipantId,
        /// The only recipient.
        to: ParticipantId,
        /// The text of the message.
        text: String,
    },
    /// The departure of the participant at this address.
    Leave {
        /// The address of the participant.
        at: Address,
    },
    /// The command to create a conversation of a task.
    Open {
        /// The task.
        task: StreamId,
        /// The new conversation.
        #[serde(flatten)]
        begin: ConversationStart,
    },
    /// The departure of an agent from a task, and so from its conversation.
    Part {
        /// The task.
        task: StreamId,
        /// The agent.
        agent: ParticipantId,
    },
    /// The end of a task. The conversation is archived, and then reports this to the task.
    Retire {
        /// The task.
        task: StreamId,
        /// The manager of the task.
        by: ParticipantId,
    },
    /// A report to a task that is ending that one of its conversations takes no more messages.
    Settle {
        /// The conversation.
        conversation: StreamId,
    },
}

/// A new conversation of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationStart {
    /// The manager of the task, which takes part.
    pub by: ParticipantId,
    /// The title, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The participants, in order.
    pub participants: Vec<ParticipantId>,
    /// True if the conversation begins together with the task.
    pub first: bool,
    /// Maximum number of messages that its agents may exchange before a person has to post, if the
    /// task sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges_max: Option<u32>,
}

/// A command by the kind of stream that receives it.
pub(super) enum CommandTarget {
    /// For a conversation. The command is made from the conversation's state when the delivery
    /// arrives.
    Conversation(ConversationAction),
    /// For a task.
    Task(TaskCommand),
    /// For a new conversation of a task.
    Begin {
        /// The task.
        task: StreamId,
        /// The conversation.
        begin: ConversationStart,
    },
    /// For a conversation of a task.
    Order {
        /// The task.
        task: StreamId,
        /// The order for the conversation.
        order: TaskOrder,
        /// True if the task waits for a report that the order was carried out.
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
            StreamCommand::Leave { at } => {
                CommandTarget::Conversation(ConversationAction::Leave { at })
            }
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

/// A command of a session, or of a participant in it, for a conversation.
pub(super) enum ConversationAction {
    /// A post by the participant at this address, or by a person who typed it at the terminal of
    /// this address.
    Say { at: Address, text: String, typed: bool, elsewhere: Vec<Address> },
    /// A private message from one participant to another.
    Tell { from: ParticipantId, to: ParticipantId, text: String },
    /// The departure of the participant at this address.
    Leave { at: Address },
}

impl ConversationAction {
    /// Returns the command for a conversation in this state. `None` if the participant at the
    /// address is not in the conversation.
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
            ConversationAction::Tell { from, to, text } => ClientCommand::Post(Post {
                to: Recipient::One(to),
                ..Post::new(Actor::named(from), text)
            }),
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

/// A side effect outside a stream. It is inserted as a delivery with the append that caused it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxEntry {
    /// The target of the delivery. Its kind selects the handler.
    pub target: Target,
    /// The command for the target.
    pub command: Value,
}

impl OutboxEntry {
    /// Makes a command for a stream of this hall.
    pub fn to_stream(stream: &StreamId, command: &StreamCommand) -> Self {
        Self { target: Target::Stream(stream.clone()), command: json!(command) }
    }

    /// Returns the delivery. `through_seq` is the event that caused it, and `hops` the number of
    /// commands that led to that event.
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
    /// Returns the command that the delivery carries.
    ///
    /// # Errors
    /// The command cannot be read by this version.
    pub fn carried<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        Ok(self.in_chain()?.command)
    }

    /// Returns the command and its position in a chain of commands.
    pub(super) fn in_chain<T: DeserializeOwned>(
        &self,
    ) -> Result<CommandRecord<T>, serde_json::Error> {
        serde_json::from_str(self.command.as_deref().unwrap_or_default())
    }
}

/// A command as stored in a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CommandRecord<T> {
    /// Position in a chain of commands, from 1.
    pub(super) hops: u8,
    pub(super) command: T,
}
