//! Other computers in the HTTP API: their list, and the lines that pair them.

use moothall_engine::computers::{
    ComputerStatus, ComputersStatus, JoinOutcome, NewComputer, PostStatus,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `GET /computers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComputerList {
    /// This computer first, then those that are paired with it, in the order of their names. Empty
    /// until an invitation is made or accepted here.
    pub computers: Vec<ComputerEntry>,
    /// The post by which they reach each other; `null` until then, and for callers who may not
    /// administer the server.
    pub post: Option<PostEntry>,
}

/// A computer: this one, or one that is paired with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComputerEntry {
    /// Name of the computer here. Another computer may call it otherwise.
    pub name: String,
    /// Id of the computer, for good.
    pub id: String,
    /// True for this computer itself.
    pub this: bool,
    /// `up`, `away`, `refused`, or `off` after a restore.
    pub state: String,
    /// Version of its program; `null` if it has not introduced itself since this server started.
    pub version: Option<String>,
    /// Time at which it was last seen; `null` if it was not since this server started.
    pub last_seen: Option<String>,
    /// Milliseconds by which its clock is ahead of the one here; negative if it is behind. It is
    /// shown, and nothing is judged by it.
    pub clock_ahead_ms: Option<i64>,
    /// Number of messages and other rows that this computer owes it.
    pub owed_to: u64,
    /// Number of rows that it owes this computer, as far as it has said; `null` if it has said
    /// nothing since this server started.
    pub owed_by: Option<u64>,
    /// Number of living sessions there; `null` if it is not there, or does not tell.
    pub sessions: Option<u64>,
    /// The next step for people, if the state needs one.
    pub cure: Option<String>,
}

/// The post by which computers reach each other: a Redis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PostEntry {
    /// Its address, without a password.
    pub address: String,
    /// The reason for which it cannot be reached; `null` if it can.
    pub fault: Option<String>,
    /// Time of one round trip, in milliseconds.
    pub round_trip_ms: Option<u64>,
    /// Its `maxmemory-policy`, if it tells it.
    pub eviction: Option<String>,
    /// The part of its memory that it keeps over a restart: `commands` (all of it), `snapshots` or
    /// `nothing`; `null` if it does not tell. Nothing here depends on it.
    pub persistence: Option<String>,
    /// The next step for people, if there is one.
    pub cure: Option<String>,
}

/// Body of `POST /computers/invitations`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputerInvitation {
    /// Name of this computer for others: 1 to 32 of `a-z 0-9 -`. That of the machine by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Address of the Redis at which the computers meet, such as `redis://host`. Needed the first
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redis: Option<String>,
    /// The share of time in which this computer is up: 1 for always, 9 for rarely; 5 by default. It
    /// is part of the id, so only the first request sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 9)]
    pub up: Option<u8>,
}

// The address may hold a password, and a log has readers.
impl std::fmt::Debug for ComputerInvitation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ComputerInvitation {{ name: {:?}, up: {:?}, redis: … }}", self.name, self.up)
    }
}

impl From<ComputerInvitation> for NewComputer {
    fn from(given: ComputerInvitation) -> Self {
        let ComputerInvitation { name, redis, up } = given;
        Self { name, redis, up }
    }
}

/// Answer of `POST /computers/invitations`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComputerInvited {
    /// The line to join on the other computer. It is a secret, and is worth one use for ten
    /// minutes.
    pub line: String,
}

impl std::fmt::Debug for ComputerInvited {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ComputerInvited { line: … }")
    }
}

/// Body of `POST /computers/join`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ComputerJoin {
    /// The line that another computer printed: an invitation, or the answer to one of this
    /// computer.
    pub line: String,
    /// Name of this computer for others, as for an invitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Address of the Redis as this computer reaches it; that of the invitation by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redis: Option<String>,
    /// The share of time in which this computer is up, as for an invitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 9)]
    pub up: Option<u8>,
}

impl std::fmt::Debug for ComputerJoin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ComputerJoin {{ line: …, name: {:?}, up: {:?} }}", self.name, self.up)
    }
}

impl ComputerJoin {
    /// Returns the line, and what is said of this computer.
    pub fn into_parts(self) -> (String, NewComputer) {
        let Self { line, name, redis, up } = self;
        (line, NewComputer { name, redis, up })
    }
}

/// Answer of `POST /computers/join`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComputerJoined {
    /// Name of the other computer here.
    pub computer: String,
    /// The line to join on the inviter; `null` if the line was an answer, so that both know each
    /// other now.
    pub answer: Option<String>,
}

/// Answer of `DELETE /computers/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComputerForgotten {
    /// False if no computer has this name here.
    pub forgotten: bool,
}

/// Answer of `POST /computers/resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComputersResumed {
    /// False if they were on already.
    pub resumed: bool,
}

impl From<&ComputersStatus> for ComputerList {
    fn from(status: &ComputersStatus) -> Self {
        Self {
            computers: status.computers.iter().map(ComputerEntry::from).collect(),
            post: status.post.as_ref().map(PostEntry::from),
        }
    }
}

impl From<&ComputerStatus> for ComputerEntry {
    fn from(status: &ComputerStatus) -> Self {
        Self {
            name: status.name.clone(),
            id: status.id.clone(),
            this: status.is_this,
            state: status.state.to_string(),
            version: status.version.clone(),
            last_seen: status.seen_at.map(|at| at.to_string()),
            clock_ahead_ms: status.clock_ahead,
            owed_to: status.owed_to,
            owed_by: status.owed_by,
            sessions: status.sessions.and_then(|count| count.try_into().ok()),
            cure: status.cure.clone(),
        }
    }
}

impl From<&PostStatus> for PostEntry {
    fn from(status: &PostStatus) -> Self {
        Self {
            address: status.address.clone(),
            fault: status.fault.clone(),
            round_trip_ms: status.round_trip.map(|time| time.0),
            eviction: status.eviction.clone(),
            persistence: status.persistence.map(|kind| kind.to_string()),
            cure: status.cure.clone(),
        }
    }
}

impl From<JoinOutcome> for ComputerJoined {
    fn from(outcome: JoinOutcome) -> Self {
        match outcome {
            JoinOutcome::Accepted { computer, answer } => Self { computer, answer: Some(answer) },
            JoinOutcome::Paired { computer } => Self { computer, answer: None },
        }
    }
}
