//! Commands of rows for other computers, in the form that the log has until the receiver has the
//! rows.

use moothall_kernel::hosted::HostedKey;
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::link::PartReason;
use moothall_kernel::participant::Address;
use moothall_kernel::permission::WithdrawalReason;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::OutboxEntry;
use crate::computers::{HostedState, RefusedRow, RemoteMessage, RemoteWait};
use crate::ports::Target;
use crate::sessions::SessionId;

/// The command of a row for another computer. It refers to events for its words. It has words
/// itself only if no event has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "post", rename_all = "snake_case")]
pub enum PostCommand {
    /// A message to a session of the receiver. Only the receiver has an event for it, so the words
    /// are here.
    Say(RemoteMessage),
    /// A session of the sender finished the turn that a session of the receiver waits for.
    Finished(RemoteWait),
    /// The refusal of a row of the receiver.
    Refused {
        /// The number of that row in the receiver's channel.
        number: u64,
        /// Stable code.
        code: String,
        /// One sentence for people.
        message: String,
        /// The content of that row, if its refusal has an effect at the receiver.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<RefusedRow>,
    },
    /// The membership of a session of the receiver in the conversation of this delivery, as it is
    /// when the row is sent.
    Placed {
        /// The id of the session in the conversation.
        participant: ParticipantId,
        /// The session.
        session: SessionId,
    },
    /// The end of the membership of a session of the receiver in the conversation of this delivery.
    Left {
        /// The session.
        session: SessionId,
        /// The reason.
        why: PartReason,
    },
    /// Words of a session of the sender, for a link that lives on the receiver.
    Words {
        /// The link.
        link: StreamId,
        /// The session.
        session: SessionId,
        /// The words.
        text: String,
        /// True if a person typed them at the session's terminal.
        typed: bool,
        /// The members that read the words in another conversation. An address without a computer
        /// belongs to the sender.
        elsewhere: Vec<Address>,
    },
    /// A session of the sender ends a link that lives on the receiver, for all its members.
    Close {
        /// The link.
        link: StreamId,
        /// The session.
        session: SessionId,
    },
    /// A session of the sender leaves a link that lives on the receiver.
    Leave {
        /// The link.
        link: StreamId,
        /// The session.
        session: SessionId,
    },
    /// An offer of a turn in the conversation of this delivery. Its prompt is made when the row is
    /// sent.
    Turn {
        /// The number of the turn.
        turn: TurnNo,
        /// Number of the attempt.
        attempt: u32,
        /// The session of the receiver to which the turn is offered.
        session: SessionId,
    },
    /// The end of an offered turn, decided by the conversation of this delivery.
    Off {
        /// The number of the turn.
        turn: TurnNo,
        /// Number of the attempt.
        attempt: u32,
        /// The session of the receiver that took it.
        session: SessionId,
        /// True if its time ran out. Its program may go on then.
        lapse: bool,
    },
    /// The question for the state of an offered turn.
    Probe {
        /// The number of the turn.
        turn: TurnNo,
        /// Number of the attempt.
        attempt: u32,
        /// The session of the receiver that should have it.
        session: SessionId,
    },
    /// A session of the sender began a turn of the receiver.
    Begun {
        /// The turn.
        hosted: HostedKey,
        /// The event of the sender's log that has the prompt of the turn. It determines the newest
        /// event of the receiver's conversation that the prompt covers.
        asked: Seq,
    },
    /// A session of the sender ended a turn of the receiver, as the event of this delivery says.
    Ended {
        /// The turn.
        hosted: HostedKey,
        /// The event that has the answer, if there is one.
        said: Option<Seq>,
        /// True if the session had left the conversation. Its answer is not sent then. (Ruling 27.)
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parted: bool,
    },
    /// The program of a session of the sender asks people a question in a turn of the receiver, as
    /// the event of this delivery says.
    Asked {
        /// The turn.
        hosted: HostedKey,
    },
    /// A question of [`PostCommand::Asked`] is over.
    AskOver {
        /// The turn.
        hosted: HostedKey,
        /// The question.
        permission: PermissionId,
        /// The reason.
        because: WithdrawalReason,
    },
    /// The answer of people to a question of a session of the receiver, as the event of this
    /// delivery says.
    Answer {
        /// The number of the turn.
        turn: TurnNo,
        /// Number of the attempt.
        attempt: u32,
        /// The session of the receiver.
        session: SessionId,
    },
    /// The state of a turn of the receiver, in answer to [`PostCommand::Probe`].
    State {
        /// The turn.
        hosted: HostedKey,
        /// The state of the turn.
        state: HostedState,
    },
    /// No command. Only the number of the row has to arrive.
    Void,
}

impl PostCommand {
    /// Makes the row for a computer. Marks a command without words, so that it survives the
    /// deletion of its stream ([`keeps_command`](crate::ports::keeps_command)).
    pub fn entry(&self, to: &ComputerId) -> OutboxEntry {
        let mut command = json!(self);
        if let Value::Object(fields) = &mut command
            && !self.has_words()
        {
            fields.insert("keep".to_owned(), true.into());
        }
        OutboxEntry { target: Target::Computer(to.clone()), command }
    }

    /// True if the command has words that a deletion of its stream has to remove.
    fn has_words(&self) -> bool {
        match self {
            PostCommand::Say(_) | PostCommand::Words { .. } => true,
            // The message is the server's own sentence about the receiver's row.
            PostCommand::Refused { .. } => false,
            PostCommand::Finished(_)
            | PostCommand::Placed { .. }
            | PostCommand::Left { .. }
            | PostCommand::Close { .. }
            | PostCommand::Leave { .. }
            | PostCommand::Turn { .. }
            | PostCommand::Off { .. }
            | PostCommand::Probe { .. }
            | PostCommand::Begun { .. }
            | PostCommand::Ended { .. }
            | PostCommand::Asked { .. }
            | PostCommand::AskOver { .. }
            | PostCommand::Answer { .. }
            | PostCommand::State { .. }
            | PostCommand::Void => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use moothall_kernel::ids::Seq;

    use super::*;
    use crate::ports::keeps_command;

    #[test]
    fn a_command_without_words_outlives_its_stream_and_is_read_as_it_was_written() {
        let refused = PostCommand::Refused {
            number: 7,
            code: "thread_not_found".into(),
            message: "conversation x was not found".into(),
            about: None,
        };
        for command in [refused, PostCommand::Void] {
            let delivery = command.entry(&ComputerId::new("2abc")).delivery(0, Seq(1));
            let stored = delivery.command.expect("a command");
            assert!(keeps_command(&stored), "{stored}");
            let read: serde_json::Value = serde_json::from_str(&stored).expect("JSON");
            let read: PostCommand = serde_json::from_value(read["command"].clone()).expect("known");
            assert_eq!(read, command);
            assert_eq!(delivery.target.to_string(), "computer:2abc");
        }
    }
}
