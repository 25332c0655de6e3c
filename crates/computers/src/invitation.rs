//! The two printed lines by which two computers come to share a key, and the book of open ones.
//!
//! A person carries the invitation to the other computer, which stores the key. The person carries
//! the answer of that computer back. The invitation is a secret. The answer is not, and is
//! authenticated with the key.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::id::{ComputerId, ComputerName, InvitationId};
use crate::keys::PairKey;
use crate::redis_post::RedisAddress;

/// Beginning of an invitation.
pub const JOIN: &str = "moothall-join-1:";
/// Beginning of an answer.
pub const JOINED: &str = "moothall-joined-1:";
/// Time for which an invitation may be answered, by the clock of the inviter: enough to walk to
/// the other computer, too short for a line that was left in a chat.
pub const OPEN_FOR: Duration = Duration::from_secs(600);
/// Time after its making for which an invitation is remembered, so that its refusal says the
/// reason.
const REMEMBERED_FOR: Duration = Duration::from_secs(24 * 3_600);
/// Longest content of a line that is read, in bytes. The longest part is an address.
const LINE_LEN_MAX: usize = 8_192;

/// An invitation of one computer to another. It holds the key of the pair and, maybe, the password
/// of the Redis; its `Debug` text holds neither.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invitation {
    /// Names the invitation.
    pub id: InvitationId,
    /// Computer that invites.
    pub inviter: ComputerId,
    /// Name that it has for itself.
    pub name: ComputerName,
    /// Redis at which both meet.
    pub redis: RedisAddress,
    /// Key of the pair.
    pub key: PairKey,
}

/// The reason for which a line is not read, with the way forward.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is an answer, and an invitation was wanted, or the other way around.
    #[error("this is {0}: give the line that begins with `{1}`")]
    Swapped(&'static str, &'static str),
    /// The line is of a newer program.
    #[error("this line is of a newer version of Moothall: update it on this computer")]
    Newer,
    /// The line is something else.
    #[error("this is not such a line: it begins with `{0}`, and is one line without spaces")]
    Other(&'static str),
    /// The line begins as it should, and the rest is not whole.
    #[error("the line is not whole: copy all of it, from `{0}` to its end")]
    Broken(&'static str),
}

impl Invitation {
    /// Makes an invitation with a new key.
    pub fn new(inviter: ComputerId, name: ComputerName, redis: RedisAddress) -> Self {
        Self { id: InvitationId::random(), inviter, name, redis, key: PairKey::random() }
    }

    /// Returns the line to show to the person who invites. It is a secret.
    pub fn line(&self) -> String {
        write_line(JOIN, self)
    }

    /// Answers the invitation in the name of a computer.
    pub fn answer(&self, joiner: ComputerId, name: ComputerName) -> InvitationAnswer {
        let mut answer = InvitationAnswer { id: self.id, joiner, name, tag: String::new() };
        if let Ok(key) = self.key.answering(self.id) {
            answer.tag = URL_SAFE_NO_PAD.encode(hmac::sign(&key, &answer.signed()));
        }
        answer
    }
}

impl FromStr for Invitation {
    type Err = LineError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        read_line(line, JOIN, ("an answer to an invitation", JOINED))
    }
}

/// The answer of the computer that was invited. It contains no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvitationAnswer {
    id: InvitationId,
    joiner: ComputerId,
    name: ComputerName,
    /// HMAC-SHA256 of the fields above, in base64url.
    tag: String,
}

impl InvitationAnswer {
    /// Returns the name that the computer which answers has for itself.
    pub fn name(&self) -> &ComputerName {
        &self.name
    }

    /// Returns the line to carry back to the inviter.
    pub fn line(&self) -> String {
        write_line(JOINED, self)
    }

    /// Returns the bytes that the tag authenticates. All but the last part have a fixed length.
    fn signed(&self) -> Vec<u8> {
        let name = self.name.as_str().as_bytes();
        [&self.id.as_bytes()[..], self.joiner.as_bytes(), name].concat()
    }

    /// Returns the computer that answers.
    pub fn joiner(&self) -> ComputerId {
        self.joiner
    }

    /// True if the answer was made with this key.
    pub fn is_of(&self, key: &PairKey) -> bool {
        let Ok(key) = key.answering(self.id) else { return false };
        let tag = URL_SAFE_NO_PAD.decode(&self.tag);
        tag.is_ok_and(|tag| hmac::verify(&key, &self.signed(), &tag).is_ok())
    }
}

impl FromStr for InvitationAnswer {
    type Err = LineError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        read_line(line, JOINED, ("an invitation, which is for the other computer", JOIN))
    }
}

fn write_line<T: Serialize>(begin: &str, content: &T) -> String {
    // Strings are always JSON.
    format!("{begin}{}", URL_SAFE_NO_PAD.encode(serde_json::to_vec(content).unwrap_or_default()))
}

/// Reads the content of a line that begins with `begin`. `other` is the name and the beginning of
/// the line that a person may have given in its place.
fn read_line<T: DeserializeOwned>(
    line: &str,
    begin: &'static str,
    other: (&'static str, &'static str),
) -> Result<T, LineError> {
    let line = line.trim();
    let Some(content) = line.strip_prefix(begin) else {
        let kind = begin.trim_end_matches("1:");
        let newer = line
            .strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        return Err(match line {
            line if line.starts_with(other.1) => LineError::Swapped(other.0, begin),
            _ if newer => LineError::Newer,
            _ => LineError::Other(begin),
        });
    };
    let broken = LineError::Broken(begin);
    if content.len() > LINE_LEN_MAX {
        return Err(broken);
    }
    let json = URL_SAFE_NO_PAD.decode(content).map_err(|_| broken.clone())?;
    // The reason that JSON gives may repeat the key or the address.
    serde_json::from_slice(&json).map_err(|_| broken)
}

/// Another computer with the key that both share.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The other computer.
    pub id: ComputerId,
    /// Its name on this side.
    pub name: ComputerName,
    /// The key.
    pub key: PairKey,
}

/// The reason for which an answer makes no pair, with the way forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The invitation is unknown.
    #[error("this server has not made that invitation since its start: invite again")]
    Unknown,
    /// The invitation was used.
    #[error("that invitation was used: invite again, once for each computer")]
    Used,
    /// The invitation is too old.
    #[error("that invitation is older than ten minutes: invite again")]
    Over,
    /// The answer was altered, or is not of the computer that has the invitation.
    #[error("the answer was altered on its way: copy it again from the computer that joined")]
    Altered,
    /// The invitation was answered by the computer that made it.
    #[error("this computer answered its own invitation: run `join` on the other one")]
    OwnComputer,
}

/// The invitations of one server since its start.
#[derive(Default)]
pub struct OpenInvitations(BTreeMap<InvitationId, OpenInvitation>);

struct OpenInvitation {
    made: Instant,
    inviter: ComputerId,
    /// The key, until the invitation is used.
    key: Option<PairKey>,
}

impl fmt::Debug for OpenInvitations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl OpenInvitations {
    /// Notes an invitation that is about to be shown.
    pub fn add(&mut self, invitation: &Invitation, now: Instant) {
        self.0.retain(|_, open| now.saturating_duration_since(open.made) < REMEMBERED_FOR);
        let (inviter, key) = (invitation.inviter, Some(invitation.key.clone()));
        self.0.insert(invitation.id, OpenInvitation { made: now, inviter, key });
    }

    /// Returns the pair that an answer makes. Its invitation stays open until [`Self::use_up`], so
    /// that the answer can be given again if the pair cannot be stored.
    ///
    /// # Errors
    /// [`AnswerError`].
    pub fn pair(&self, answer: &InvitationAnswer, now: Instant) -> Result<Pair, AnswerError> {
        let open = self.0.get(&answer.id).ok_or(AnswerError::Unknown)?;
        let key = open.key.as_ref().ok_or(AnswerError::Used)?;
        if now.saturating_duration_since(open.made) >= OPEN_FOR {
            return Err(AnswerError::Over);
        }
        if !answer.is_of(key) {
            return Err(AnswerError::Altered);
        }
        if answer.joiner == open.inviter {
            return Err(AnswerError::OwnComputer);
        }
        Ok(Pair { id: answer.joiner, name: answer.name.clone(), key: key.clone() })
    }

    /// Notes that the pair of an answer was stored. From then on its invitation counts as used.
    pub fn use_up(&mut self, answer: &InvitationAnswer) {
        if let Some(open) = self.0.get_mut(&answer.id) {
            open.key = None;
        }
    }
}

#[cfg(test)]
mod tests;
