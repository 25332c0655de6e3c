//! The rights of other computers, each in one place, and the answers to their questions.
//!
//! A computer that is paired with this one is a caller of its own kind: it has no token, and what
//! it may do stands in the configuration under its name.

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
    /// To list the sessions here: names, programs and states.
    List,
    /// To send a message to a session here.
    Message,
    /// To link a session here with others.
    Link,
    /// To read what it said to a session here, and what was answered.
    Read,
    /// To invite a session here into conversations there, which then ask it for turns.
    Invite,
    /// To answer what programs here ask people in turns for conversations there.
    Permissions,
}

/// The rights of a computer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RemoteRights(BTreeSet<RemoteRight>);

impl Default for RemoteRights {
    fn default() -> Self {
        // An invitation makes everyone who writes there ask a session here, for good, and an answer
        // to a question lets a program here act. Both are given by name.
        let is_named =
            |right: &RemoteRight| matches!(right, RemoteRight::Invite | RemoteRight::Permissions);
        Self(RemoteRight::VARIANTS.iter().copied().filter(|right| !is_named(right)).collect())
    }
}

/// A computer that asks or tells this one something. Its key has proved that it is the one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteCaller {
    /// Its id.
    pub computer: ComputerId,
    /// Its name here.
    pub name: String,
    /// Its rights here.
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

    /// Checks the right to bring a session here into a conversation: a link, or another one.
    fn must_join(&self, is_link: bool) -> Result<(), RemoteRefusal> {
        self.must(if is_link { RemoteRight::Link } else { RemoteRight::Invite })
    }

    /// Returns the origin of words that a session of that computer said.
    pub fn origin(&self, session: Option<SessionId>) -> FarOrigin {
        FarOrigin { computer: self.computer.clone(), label: self.name.clone(), session }
    }

    /// Returns the name that a participant of that computer bears here.
    pub fn name_of(&self, id: &str) -> ParticipantId {
        ParticipantId::new(names::id_at(id, &self.name))
    }
}

impl Hall {
    /// Answers a question of another computer.
    ///
    /// # Errors
    /// The refusal for that computer. Nothing is revealed then of what is here.
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
        // It stands in the name under which the waiting session is kept here.
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

    /// Returns the conversation of another computer in which a session here is to take part. `own`
    /// is the id of this computer.
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

    /// Returns the turn that another computer offers to a session here, with its prompt. `is_link`
    /// is the kind of conversation that the session has joined, if that is known.
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

    /// Returns the words between a session here and a participant of another computer.
    async fn read_remote(
        &self,
        caller: &RemoteCaller,
        read: RemoteRead,
    ) -> Result<RemoteWords, RemoteRefusal> {
        let sessions = self.sessions()?;
        let found = sessions.find(&read.session)?;
        let name = caller.name_of(&read.reader);
        // A link of this computer that both are in was said to all its members.
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
