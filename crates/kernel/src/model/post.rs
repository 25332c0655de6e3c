//! Posts: messages that are not decided yet.

use crate::model::actor::Actor;
use crate::model::chat::PostOrigin;
use crate::model::event::{Cause, Recipient};
use crate::model::hosted::FarOrigin;
use crate::model::ids::ParticipantId;
use crate::model::message_part::{MessagePart, PartPlace, compose};

/// A message to be posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// The speaker.
    pub by: Actor,
    /// The addressee.
    pub to: Recipient,
    /// The text as given, in UTF-8.
    pub body: String,
    /// The event that the message replies to. The host has looked it up.
    pub reply_to: Option<Cause>,
    /// Labels that the client gave.
    pub tags: Vec<String>,
    /// The participant at whose own terminal a person typed the words.
    pub typed_at: Option<ParticipantId>,
    /// Participants who hear the same words in another conversation. (Ruling 24.)
    pub elsewhere: Vec<ParticipantId>,
    /// Agents that a person asks to answer, one after the other. No other agent is asked. (Ruling
    /// 17.)
    pub asks: Vec<ParticipantId>,
    /// Places of the message's parts in its body, if it has several.
    pub parts: Vec<PartPlace>,
    /// Readers besides the speaker; `None` means all participants.
    pub only_for: Option<Vec<ParticipantId>>,
    /// Public id of the credential that the message came with.
    pub credential: Option<String>,
    /// The place outside of the server from which the message came.
    pub origin: Option<Box<PostOrigin>>,
    /// The speaker's earlier message that the words replace. The host has looked it up.
    pub replaces: Option<Box<Cause>>,
    /// The computer from which the words came, if it is another one.
    pub far: Option<Box<FarOrigin>>,
}

impl Post {
    /// Returns a message of several parts to all.
    pub fn of_parts(by: Actor, given: &[MessagePart]) -> Self {
        let (body, parts) = compose(given);
        Self { parts, ..Self::new(by, body) }
    }

    /// Returns a plain message to all.
    pub fn new(by: Actor, body: impl Into<String>) -> Self {
        Self {
            by,
            to: Recipient::All,
            body: body.into(),
            reply_to: None,
            tags: Vec::new(),
            typed_at: None,
            elsewhere: Vec::new(),
            asks: Vec::new(),
            parts: Vec::new(),
            only_for: None,
            credential: None,
            origin: None,
            replaces: None,
            far: None,
        }
    }
}
