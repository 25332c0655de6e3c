//! Links and conversations over several computers: the computer that a link lives on, and the
//! record in a session's home of the conversations that it has joined elsewhere. (Rulings 34 and
//! 35.)

use serde::{Deserialize, Serialize};

use crate::model::ids::{ComputerId, ParticipantId, StreamId};
use crate::model::participant::{Address, SeatRole};
use crate::model::time::Timestamp;
use crate::planted::{self, Bug};

/// Most conversations of other computers that one session takes part in.
pub const JOINED_MAX: usize = 64;

/// A conversation of another computer that the session takes part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedConversation {
    /// The computer on which the conversation lives, as the channel proved it.
    pub computer: ComputerId,
    /// The conversation. Streams of two computers may have one id.
    pub stream: StreamId,
    /// Its title.
    pub title: String,
    /// True if the conversation is a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// Time at which it began.
    #[serde(default)]
    pub created_at: Timestamp,
    /// The id of the session in that conversation.
    pub participant: ParticipantId,
    /// The sessions that take part in it, on every computer.
    pub members: Vec<FarMember>,
}

impl JoinedConversation {
    /// True if this is the conversation with this id on this computer.
    pub fn is(&self, computer: &ComputerId, stream: &StreamId) -> bool {
        self.computer == *computer && self.stream == *stream
    }
}

/// A session in a conversation of another computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarMember {
    /// The address of the session. Its `computer` is empty for a session of this computer.
    pub address: Address,
    /// The name of the session.
    pub name: String,
    /// Its number in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Its part in a gathering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<SeatRole>,
}

/// The reason for which a session left a conversation of another computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PartReason {
    /// The conversation was archived or deleted.
    Closed,
    /// The session was removed from it there.
    Removed,
    /// The session left, or ended.
    Left,
    /// The computer was forgotten here.
    Forgotten,
}

/// Returns the computer that a link of these members lives on, for good: the one with the smallest
/// id. It does not matter which side asks for the link, so two sides never make two links. `own` is
/// the id of this computer. Addresses of its own members have an empty `computer`. (Ruling 34.)
pub fn home_of<'a>(own: &'a str, members: impl Iterator<Item = &'a Address>) -> &'a str {
    if planted::has(Bug::HomeChosenTwice) {
        return own;
    }
    let computer = |address: &'a Address| match address.computer.as_str() {
        "" => own,
        computer => computer,
    };
    members.map(computer).min().unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lives_on_one_computer_whoever_asks() {
        let at = |computer: &str, id: &str| Address {
            computer: computer.into(),
            kind: "session".into(),
            local_id: id.into(),
        };
        let asked_at = |own: &str, all: &[(&str, &str)]| {
            let seen: Vec<Address> = all
                .iter()
                .map(|(computer, id)| at(if *computer == own { "" } else { computer }, id))
                .collect();
            home_of(own, seen.iter()).to_owned()
        };
        let members = [("2b", "s1"), ("1z", "s2"), ("2a", "s3")];
        for own in ["2b", "1z", "2a"] {
            assert_eq!(asked_at(own, &members), "1z");
            assert_eq!(asked_at(own, &members[..1]), "2b");
        }
        // The computer that asks need not have a member.
        assert_eq!(asked_at("0a", &members), "1z");
        assert_eq!(asked_at("2b", &[]), "2b");
    }
}
