//! Words on their way into a conversation: who says them, to whom, and what they answer.

use crate::model::actor::Actor;
use crate::model::event::{Cause, Recipient};
use crate::model::ids::ParticipantId;
use crate::model::message_part::{MessagePart, PartPlace, compose};

/// Something to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Who says it.
    pub by: Actor,
    /// Whom it addresses.
    pub to: Recipient,
    /// The text as it was given, in UTF-8.
    pub body: String,
    /// What it replies to, looked up by the host.
    pub reply_to: Option<Cause>,
    /// Labels of the client.
    pub tags: Vec<String>,
    /// The participant in whose own terminal a person typed it.
    pub typed_at: Option<ParticipantId>,
    /// Participants who hear the same words in another conversation. (Ruling 24.)
    pub elsewhere: Vec<ParticipantId>,
    /// Agents whom a person has answer it, one after the other, and nobody else. (Ruling 17.)
    pub asks: Vec<ParticipantId>,
    /// Where the parts of its body stand, where it has several.
    pub parts: Vec<PartPlace>,
    /// Who may see it beside its speaker, and nobody else; everybody where nothing is said.
    pub only_for: Option<Vec<ParticipantId>>,
    /// The public id of the credential that it came with.
    pub credential: Option<String>,
}

impl Post {
    /// Words, pictures and files to everyone.
    pub fn of_parts(by: Actor, given: &[MessagePart]) -> Self {
        let (body, parts) = compose(given);
        Self { parts, ..Self::new(by, body) }
    }

    /// Plain words to everyone.
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
        }
    }
}
