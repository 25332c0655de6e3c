//! What a stream owes outside itself: a command, and how many commands lie before it.

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Post};
use moothall_kernel::event::To;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::Address;
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
}

impl StreamCommand {
    /// The command in a conversation as it is now; nothing where the one it is about is not there.
    pub(super) fn in_conversation(self, state: &Conversation) -> Option<ClientCommand> {
        let id_at = |at: &Address| {
            state
                .participants()
                .iter()
                .find(|one| one.address.as_ref() == Some(at))
                .map(|one| one.id.clone())
        };
        Some(match self {
            StreamCommand::Say { at, text, typed: false } => {
                ClientCommand::Post(Post::new(Actor::named(id_at(&at)?), text))
            }
            StreamCommand::Say { at, text, typed: true } => {
                let by = Actor::unproven(ParticipantId::USER);
                ClientCommand::Post(Post { typed_at: Some(id_at(&at)?), ..Post::new(by, text) })
            }
            StreamCommand::Tell { from, to, text } => {
                ClientCommand::Post(Post { to: To::One(to), ..Post::new(Actor::named(from), text) })
            }
            StreamCommand::Leave { at } => {
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
pub struct Owed {
    /// The target of the delivery; what stands before its colon says who carries it there.
    pub target: String,
    /// What is to be done there.
    pub command: Value,
}

impl Owed {
    /// A command for a stream of this hall.
    pub fn to_stream(stream: &StreamId, command: &StreamCommand) -> Self {
        Self { target: format!("{STREAM}:{stream}"), command: json!(command) }
    }

    /// Its delivery, which names the event that caused it. `hops` commands lie before that one.
    pub(crate) fn delivery(&self, hops: u8, through_seq: Seq) -> NewDelivery {
        let command = json!(Carried { hops: hops + 1, command: &self.command }).to_string();
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
    pub(super) fn in_chain<T: DeserializeOwned>(&self) -> Result<Carried<T>, serde_json::Error> {
        serde_json::from_str(self.command.as_deref().unwrap_or_default())
    }
}

/// A command as a delivery carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Carried<T> {
    /// Which link of a chain of commands this is, from 1.
    pub(super) hops: u8,
    pub(super) command: T,
}
