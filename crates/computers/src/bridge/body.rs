//! The bodies of rows between computers, as JSON.

use moothall_engine::computers::{
    HostedState, RefusedRow, RemoteEnd, RemoteMessage, RemoteOffer, RemotePermission, RemotePlace,
    RemoteTurn, RemoteWait,
};
use moothall_engine::sessions::SessionId;
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::link::PartReason;
use moothall_kernel::participant::Address;
use moothall_kernel::permission::WithdrawalReason;
use serde::{Deserialize, Serialize};

/// Longest kind of a body that is repeated in a report, in characters.
const KIND_CHARS_MAX: usize = 64;

/// The body of a row. Fields of newer programs are passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub(super) enum Body {
    /// A message to a session of the receiver.
    Say(RemoteMessage),
    /// A session of the sender finished the turn for which one of the receiver waits.
    Finished(RemoteWait),
    /// The sender refused a row of the receiver.
    Refused {
        /// The number of that row.
        number: u64,
        /// Stable code.
        code: String,
        /// One sentence for people.
        message: String,
        /// The content of that row, if its refusal has an effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<RefusedRow>,
    },
    /// A session of the receiver takes part in a conversation of the sender.
    Placed(RemotePlace),
    /// A session of the receiver takes part in a conversation of the sender no more.
    Left {
        /// The conversation.
        stream: StreamId,
        /// The session.
        session: SessionId,
        /// The reason.
        why: PartReason,
    },
    /// Words of a session of the sender, for a link that lives on the receiver.
    Words {
        /// The link.
        stream: StreamId,
        /// The session.
        session: SessionId,
        /// The words.
        text: String,
        /// True if a person typed them at the session's terminal.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        typed: bool,
        /// The members that read the words in another conversation. Each address names its
        /// computer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        elsewhere: Vec<Address>,
    },
    /// A session of the sender ends a link that lives on the receiver, for all its members.
    Close {
        /// The link.
        stream: StreamId,
        /// The session.
        session: SessionId,
    },
    /// A session of the sender leaves a link that lives on the receiver.
    Leave {
        /// The link.
        stream: StreamId,
        /// The session.
        session: SessionId,
    },
    /// An offer of a turn to a session of the receiver.
    Turn(RemoteOffer),
    /// The sender ended a turn that it had offered.
    Off {
        /// The turn.
        #[serde(flatten)]
        turn: RemoteTurn,
        /// The session.
        session: SessionId,
        /// True if the time of the turn ran out: its program may go on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lapse: bool,
    },
    /// A question of the sender about the state of a turn that it had offered.
    Probe {
        /// The turn.
        #[serde(flatten)]
        turn: RemoteTurn,
        /// The session.
        session: SessionId,
    },
    /// A session of the sender began a turn of the receiver.
    Begun {
        /// The turn.
        #[serde(flatten)]
        turn: RemoteTurn,
        /// The newest event of the receiver's conversation that the prompt of the turn covers.
        through: Seq,
    },
    /// A session of the sender ended a turn of the receiver.
    Ended(RemoteEnd),
    /// A program of the sender asks people something in a turn of the receiver.
    Asked(RemotePermission),
    /// A question that the sender had asked with [`Body::Asked`] is over.
    AskOver {
        /// The turn.
        #[serde(flatten)]
        turn: RemoteTurn,
        /// The question, as the sender names it.
        permission: PermissionId,
        /// The reason.
        because: WithdrawalReason,
    },
    /// The answer of people to a question of the receiver.
    Answer {
        /// The turn.
        #[serde(flatten)]
        turn: RemoteTurn,
        /// The session.
        session: SessionId,
        /// The question, as the receiver names it.
        permission: PermissionId,
        /// The chosen answer.
        option: String,
        /// The words of the person who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The state of a turn for which the receiver asked.
    State {
        /// The turn.
        #[serde(flatten)]
        turn: RemoteTurn,
        /// The state of the turn.
        state: HostedState,
    },
    /// Nothing. The content of the row is gone, but its number has to arrive.
    Void,
}

/// The reason for which bytes are not a body. Their row is refused and counts as taken, so that it
/// does not hold up the rows after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    /// A kind of a newer program.
    #[error("This computer does not know rows of the kind `{0}`: update Moothall there.")]
    Unknown(String),
    /// Not JSON, or a known kind with other fields.
    #[error("This computer cannot read the row: {0}.")]
    Malformed(String),
}

impl BodyError {
    /// Returns the code that reports the error to the sender.
    pub(super) fn code(&self) -> &'static str {
        match self {
            BodyError::Unknown(_) => "unknown_body",
            BodyError::Malformed(_) => "malformed_body",
        }
    }
}

impl Body {
    /// Returns the bytes of a row.
    pub(super) fn encode(&self) -> Vec<u8> {
        // Strings and numbers are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a body from the bytes of a row, which may be anything.
    ///
    /// # Errors
    /// [`BodyError`] if the kind is unknown, or the body is not as its kind demands.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, BodyError> {
        const KINDS: [&str; 18] = [
            "say", "finished", "refused", "placed", "left", "words", "close", "leave", "turn",
            "off", "probe", "begun", "ended", "asked", "ask_over", "answer", "state", "void",
        ];
        #[derive(Deserialize)]
        struct BodyKind {
            t: String,
        }
        let malformed = |error: serde_json::Error| {
            // The place of the fault, without a word of the content.
            BodyError::Malformed(format!("line {}, column {}", error.line(), error.column()))
        };
        let BodyKind { t } = serde_json::from_slice(bytes).map_err(malformed)?;
        if !KINDS.contains(&t.as_str()) {
            return Err(BodyError::Unknown(t.chars().take(KIND_CHARS_MAX).collect()));
        }
        serde_json::from_slice(bytes).map_err(malformed)
    }
}

#[cfg(test)]
mod tests {
    use moothall_engine::computers::RemoteSpeaker;
    use moothall_kernel::event::{Fault, TurnKind, Usage};
    use moothall_kernel::ids::TurnNo;
    use moothall_kernel::message_part::Span;
    use moothall_kernel::time::Millis;

    use super::*;
    use crate::bridge::tests::allow;

    #[test]
    fn bodies_are_read_as_they_are_written() {
        let wait = RemoteWait { waiter: "ses_1".into(), word: "builder".into() };
        let (code, message) = ("not_invited".into(), "No.".into());
        let about = Some(RefusedRow::Wait(wait.clone()));
        let refused = Body::Refused { number: 7, code, message, about };
        let from = RemoteSpeaker { name: "ann".into(), session: None };
        let say = Body::Say(RemoteMessage { to: "builder".into(), from, text: "hi".into() });
        for body in [say, Body::Finished(wait), refused, Body::Void] {
            assert_eq!(Body::decode(&body.encode()), Ok(body));
        }
    }

    fn turn() -> RemoteTurn {
        RemoteTurn { stream: "t".into(), turn: TurnNo(3), attempt: 1 }
    }

    #[test]
    fn bodies_about_turns_are_read_as_they_are_written() {
        let (turn, session) = (turn(), SessionId::new("ses_1"));
        let offer = RemoteOffer {
            turn: turn.clone(),
            session: session.clone(),
            through: Seq(7),
            kind: TurnKind::Reply,
            may_pass: true,
            text: "ann:\n\nhello".into(),
            bodies: vec![Span::of(6..11)],
        };
        let ask = RemotePermission {
            turn: turn.clone(),
            permission: PermissionId::new("p"),
            action: "rm -r build".into(),
            detail: None,
            partial: false,
            options: vec![allow()],
            folder: Some("/work".into()),
            session: "builder".into(),
            within: Millis(u64::MAX / 2),
            stands: true,
        };
        let fault = Some(Fault::new("timeout", "late"));
        let usage = Usage { ms: 5, ..Usage::default() };
        let (text, permission) = (Some("done".to_owned()), PermissionId::new("p"));
        let about = Some(RefusedRow::Turn(turn.clone()));
        let (code, message) = ("not_joined".to_owned(), "No.".to_owned());
        let place = RefusedRow::Place { stream: "t".into(), session: session.clone() };
        let refused = |about| Body::Refused {
            number: 7,
            code: code.clone(),
            message: message.clone(),
            about,
        };
        let bodies = [
            Body::Turn(offer),
            Body::Off { turn: turn.clone(), session: session.clone(), lapse: true },
            Body::Probe { turn: turn.clone(), session: session.clone() },
            Body::Begun { turn: turn.clone(), through: Seq(7) },
            Body::Ended(RemoteEnd { turn: turn.clone(), text: text.clone(), fault: None, usage }),
            Body::Ended(RemoteEnd { turn: turn.clone(), text: None, fault, usage }),
            Body::Asked(ask),
            Body::AskOver {
                turn: turn.clone(),
                permission: permission.clone(),
                because: WithdrawalReason::Gone,
            },
            Body::Answer {
                turn: turn.clone(),
                session: session.clone(),
                permission,
                option: "allow".into(),
                text,
            },
            Body::State { turn, state: HostedState::Unknown },
            refused(about),
            refused(Some(place)),
            Body::Left { stream: "t".into(), session: session.clone(), why: PartReason::Closed },
            Body::Close { stream: "t".into(), session: session.clone() },
            Body::Leave { stream: "t".into(), session },
        ];
        for body in bodies {
            assert_eq!(Body::decode(&body.encode()), Ok(body));
        }
    }

    #[test]
    fn the_form_of_bodies_is_that_of_earlier_programs() {
        let (waiter, word) = ("ses_1".into(), "builder".into());
        let from = RemoteSpeaker { name: "ann".into(), session: Some("ses_1".into()) };
        let say = Body::Say(RemoteMessage { to: "builder".into(), from, text: "hi".into() });
        let forms = [
            (
                say,
                r#"{"t":"say","to":"builder","from":{"name":"ann","session":"ses_1"},"text":"hi"}"#,
            ),
            (
                Body::Finished(RemoteWait { waiter, word }),
                r#"{"t":"finished","waiter":"ses_1","word":"builder"}"#,
            ),
            (Body::Void, r#"{"t":"void"}"#),
        ];
        for (body, form) in forms {
            assert_eq!(String::from_utf8(body.encode()).as_deref(), Ok(form));
        }
    }

    #[test]
    fn an_unknown_kind_is_named_and_other_bytes_are_malformed() {
        assert_eq!(Body::decode(br#"{"t":"void","urgent":true}"#), Ok(Body::Void));
        let unknown = Body::decode(br#"{"t":"sing","song":1}"#);
        assert_eq!(unknown, Err(BodyError::Unknown("sing".into())));
        for bytes in [&b""[..], b"\xff", b"[]", br#"{"t":1}"#, br#"{"t":"refused","number":-1}"#] {
            assert!(matches!(Body::decode(bytes), Err(BodyError::Malformed(_))), "{bytes:?}");
        }
    }
}
