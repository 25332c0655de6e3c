//! The rights of other computers, each in one place, and the answers to their questions.
//!
//! A computer that is paired with this one is a special kind of caller: it has no token, and the
//! configuration lists its rights under its name.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_kernel::command::{Actor, Post};
use moothall_kernel::event::Recipient;
use moothall_kernel::hosted::{FarOrigin, HostedTurn};
use moothall_kernel::ids::{ComputerId, ParticipantId};
use moothall_kernel::link::JoinedConversation;
use moothall_kernel::names;
use moothall_kernel::text::{self, is_empty_looking};
use serde::Deserialize;
use strum::VariantArray;

use super::reach::Reach;
use super::unsuitable::MESSAGE_BYTES_MAX;
use super::warrant::{SessionAction, Warrant};
use crate::computers::{
    RemoteAnswer, RemoteMessage, RemoteOffer, RemotePlace, RemoteQuestion, RemoteRead,
    RemoteRefusal, RemoteRefusalKind, RemoteSession, RemoteWords,
};
use crate::hall::Hall;
use crate::sessions::{Member, MessageReader, Session, SessionError, SessionId, Status};

/// Longest part of an unknown name that is repeated, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Most sessions in one answer to another computer.
const LISTED_MAX: usize = 500;

/// A right that this computer gives to another.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Deserialize,
    strum::Display,
    strum::VariantArray
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RemoteRight {
    /// To list this computer's sessions: names, programs and states.
    List,
    /// To send a message to a session of this computer.
    Message,
    /// To link a session of this computer with others.
    Link,
    /// To read the words that the other computer's speakers sent to a session of this computer, and
    /// the answers.
    Read,
    /// To invite a session of this computer into conversations of the other one, which then ask it
    /// for turns.
    Invite,
    /// To answer the questions that a program of this computer asks people in a turn for a
    /// conversation of the other one.
    Permissions,
}

/// The rights of a computer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RemoteRights(BTreeSet<RemoteRight>);

impl Default for RemoteRights {
    /// Returns all rights but those to invite and to answer permissions.
    fn default() -> Self {
        // After an invitation, every writer of that conversation can ask the session for turns, for
        // good. An answer to a question lets a program act. The configuration has to name these two
        // rights.
        let is_named =
            |right: &RemoteRight| matches!(right, RemoteRight::Invite | RemoteRight::Permissions);
        Self(RemoteRight::VARIANTS.iter().copied().filter(|right| !is_named(right)).collect())
    }
}

/// A computer that sends this one a question or a message. Its key has proved its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteCaller {
    /// The computer's id.
    pub computer: ComputerId,
    /// The name that this computer has for it.
    pub name: String,
    /// The rights of the caller at this computer.
    pub rights: RemoteRights,
}

impl RemoteCaller {
    /// Checks a right.
    ///
    /// # Errors
    /// The refusal, with the line of the configuration that gives the right.
    pub fn must(&self, right: RemoteRight) -> Result<(), RemoteRefusal> {
        if self.rights.0.contains(&right) {
            return Ok(());
        }
        Err(RemoteRefusal {
            kind: RemoteRefusalKind::NotAllowed,
            message: format!(
                "This computer does not allow `{right}` to {name}. Its configuration allows it by \
                 `allow` under `[computers.{name}]`.",
                name = self.name
            ),
        })
    }

    /// Checks the right to bring a session of this computer into a link, or into another
    /// conversation.
    fn must_join(&self, is_link: bool) -> Result<(), RemoteRefusal> {
        self.must(if is_link { RemoteRight::Link } else { RemoteRight::Invite })
    }

    /// Returns the origin of words that a session of that computer said.
    pub fn origin(&self, session: Option<SessionId>) -> FarOrigin {
        FarOrigin { computer: self.computer.clone(), label: self.name.clone(), session }
    }

    /// Returns the id that a participant of that computer has on this computer.
    pub fn name_of(&self, id: &str) -> ParticipantId {
        ParticipantId::new(names::id_at(id, &self.name))
    }
}

impl Hall {
    /// Answers a question of another computer.
    ///
    /// # Errors
    /// The refusal for that computer. A computer without the right learns nothing about the
    /// sessions.
    pub async fn answer_remote(
        &self,
        caller: &RemoteCaller,
        question: RemoteQuestion,
    ) -> Result<RemoteAnswer, RemoteRefusal> {
        match question {
            RemoteQuestion::List => {
                caller.must(RemoteRight::List)?;
                let living = self.sessions()?.list(false);
                let sessions = living.iter().take(LISTED_MAX).map(RemoteSession::from).collect();
                Ok(RemoteAnswer::Sessions(sessions))
            }
            RemoteQuestion::Find { session, link } => {
                caller.must_join(link)?;
                let found = self.living_for_remote(&session)?;
                Ok(RemoteAnswer::Sessions(vec![RemoteSession::from(&found)]))
            }
            RemoteQuestion::Propose(link) => {
                let (stream, created) = self.link_for_remote(caller, link).await?;
                Ok(RemoteAnswer::Linked { stream, created })
            }
            RemoteQuestion::Read(read) => {
                caller.must(RemoteRight::Read)?;
                Ok(RemoteAnswer::Words(self.read_remote(caller, read).await?))
            }
        }
    }

    /// Returns the message of another computer as a post at the home of the session that it names.
    ///
    /// # Errors
    /// The refusal for that computer.
    pub fn message_from(
        &self,
        caller: &RemoteCaller,
        message: &RemoteMessage,
    ) -> Result<(SessionId, Post), RemoteRefusal> {
        caller.must(RemoteRight::Message)?;
        let text = text::clean(&message.text);
        if is_empty_looking(&text) || text.len() > MESSAGE_BYTES_MAX {
            let why =
                format!("A message has some visible text, and at most {MESSAGE_BYTES_MAX} bytes.");
            return Err(SessionError::Invalid(why).into());
        }
        let speaker = caller.name_of(&message.from.name);
        if let Err(fault) = names::check_id(speaker.as_str()) {
            let why = format!("The speaker's name `{speaker}` {}.", fault.explain());
            return Err(SessionError::Invalid(why).into());
        }
        // The id of the waiting session becomes part of a name on this computer, so it has to be a
        // valid id.
        let waiter = message.from.session.as_ref();
        if waiter.is_some_and(|it| names::check_id(it.as_str()).is_err()) {
            return Err(
                SessionError::NotFound(text::cut(&message.to, NAME_BYTES_MAX).into()).into()
            );
        }
        let Session { id, name, .. } = self.living_for_remote(&message.to)?.session;
        let far = caller.origin(message.from.session.clone());
        let post = Post {
            to: Recipient::One(name),
            far: Some(Box::new(far)),
            ..Post::new(Actor::named(speaker), text)
        };
        Ok((id, post))
    }

    /// Returns the session that another computer takes into one of its conversations, and that
    /// conversation. `own` is the id of this computer.
    ///
    /// # Errors
    /// The refusal for that computer.
    pub fn place_from(
        &self,
        caller: &RemoteCaller,
        place: RemotePlace,
        own: &str,
    ) -> Result<(SessionId, JoinedConversation), RemoteRefusal> {
        caller.must_join(place.link)?;
        let session = self.living_for_remote(place.session.as_str())?.session;
        let (_, joined) = place.taken_from(&caller.computer, own);
        Ok((session.id, joined))
    }

    /// Returns the session to which another computer offers a turn, the turn, and its prompt.
    /// `is_link` is true if the session has joined that conversation as a link; `None` if the
    /// session has not joined it.
    ///
    /// # Errors
    /// The refusal for that computer.
    pub fn offer_from(
        &self,
        caller: &RemoteCaller,
        offer: RemoteOffer,
        is_link: Option<bool>,
    ) -> Result<(SessionId, HostedTurn, String), RemoteRefusal> {
        match is_link {
            Some(is_link) => caller.must_join(is_link)?,
            None => caller.must_join(true).or_else(|_| caller.must_join(false))?,
        }
        let session = self.living_for_remote(offer.session.as_str())?.session;
        let (hosted, text) = offer.taken_from(&caller.computer, &caller.name);
        Ok((session.id, hosted, text))
    }

    /// Returns a living session that another computer names.
    pub(super) fn living_for_remote(&self, word: &str) -> Result<Status, RemoteRefusal> {
        if names::check_id(word).is_err() {
            let cut = text::cut(word, NAME_BYTES_MAX).to_owned();
            return Err(SessionError::NotFound(cut).into());
        }
        let found = self.sessions()?.find(word)?;
        if let Some((_, why)) = &found.session.ended {
            let (name, why) = (found.session.name.clone(), why.clone());
            return Err(SessionError::Ended { name, why }.into());
        }
        Ok(found)
    }

    /// Returns the words that passed between a session of this computer and a participant of
    /// another one.
    async fn read_remote(
        &self,
        caller: &RemoteCaller,
        read: RemoteRead,
    ) -> Result<RemoteWords, RemoteRefusal> {
        let sessions = self.sessions()?;
        let found = sessions.find(&read.session)?;
        let name = caller.name_of(&read.reader);
        // The participant may read all words of a link of this computer that it shares with the
        // session.
        let is_reader = |member: &Member| {
            member.computer == caller.computer.as_str()
                && member.name.as_deref() == Some(name.as_str())
        };
        let links = sessions.links(Some(&found.session.id)).await?.into_iter();
        let shared = links.filter(|link| link.members.iter().any(is_reader)).map(|link| link.id);
        let reach = Reach::Only(Arc::new(shared.collect()));
        let warrant = Warrant::new(SessionAction::Telling, found);
        let eyes =
            MessageReader { name: Some(name), computer: Some(caller.computer.clone()), reach };
        let data = sessions.data(&warrant, read.excerpt(), &eyes).await?;
        Ok(RemoteWords {
            session: RemoteSession::from(&data.status),
            text: data.text,
            truncated: data.truncated,
            tail_chars: data.tail_chars,
        })
    }
}
