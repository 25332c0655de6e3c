//! The round of a message: agents to ask, replies, and limits.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::model::event::Cause;
use crate::model::ids::{ParticipantId, TurnNo};
use crate::model::state::Turn;
use crate::model::time::{Millis, Timestamp};
use crate::planted::{self, Bug};

/// The round of one message of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub(crate) cause: Cause,
    pub(crate) forced: VecDeque<ParticipantId>,
    pub(crate) polled: VecDeque<ParticipantId>,
    pub(crate) polls: u32,
    pub(crate) volunteers: u32,
    pub(crate) replies: Vec<Reply>,
    /// Number of agents that the person named. The cap is not lowered below it. (Ruling 9.)
    pub(crate) named: u32,
    pub(crate) reacting: bool,
    pub(crate) targeted: bool,
    /// True if the person said which agents answer.
    pub(crate) asked: bool,
    /// Agents that are not asked again for this message, because their turn for it failed, ran out
    /// of time or was cancelled by a person, or because the cap refused them a turn.
    pub(crate) left_out: Vec<ParticipantId>,
    /// Agents that were asked to react. Each is asked once, even if the round is reopened.
    pub(crate) reacted: Vec<ParticipantId>,
    /// Habitual passers and volunteers that were not asked about the message. They are asked about
    /// replies to it only if a reply names them. (Ruling 12.)
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) spared: Vec<ParticipantId>,
    /// The turn that the round waits for.
    pub(crate) current: Option<TurnNo>,
    /// The time of its first grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) began_at: Option<Timestamp>,
    /// The time at which another message of a person began to wait for the end of this round.
    /// `None` if one waited before it opened, or none waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaited_at: Option<Timestamp>,
}

impl Round {
    /// Asks an agent again: its turn began with an older cause than this round's. The poll is not
    /// counted.
    pub(crate) fn ask_again(&mut self, participant: ParticipantId, may_pass: bool) {
        self.current = None;
        if may_pass {
            self.polls = self.polls.saturating_sub(1);
            self.polled.push_front(participant);
        } else {
            self.forced.push_front(participant);
        }
    }

    /// Returns the start of the round's patience, which counts while another message waits. `None`
    /// before its first grant. (Ruling 12.)
    pub(crate) fn waited_from(&self) -> Option<Timestamp> {
        self.began_at.map(|began_at| self.awaited_at.map_or(began_at, |at| at.max(began_at)))
    }

    /// Moves the start of the round's patience by the time for which the clock stood still.
    pub(crate) fn shift(&mut self, downtime: Millis) {
        self.began_at = self.began_at.map(|at| at + downtime);
        self.awaited_at = self.awaited_at.map(|at| at + downtime);
    }

    /// Counts replies reserved for agents: for the one that has the turn, and for those that a
    /// person asked.
    pub(crate) fn promised(&self) -> u32 {
        let asked = if self.asked { self.forced.len() } else { 0 };
        u32::from(self.current.is_some()) + u32::try_from(asked).unwrap_or(u32::MAX)
    }

    /// True if the turn answers the round's message or a reply to it, alone or with other causes.
    pub(crate) fn is_worked_on_in(&self, turn: &Turn) -> bool {
        let asked = || {
            !planted::has(Bug::OlderCauseAskedAgain)
                && turn.answers().any(|cause| self.is_about(cause))
        };
        turn.message == Some(self.cause.seq) || self.is_about(&turn.cause) || asked()
    }

    /// True if a cause is the round's message or a reply to it.
    pub(crate) fn is_about(&self, cause: &Cause) -> bool {
        self.cause.seq == cause.seq || self.replies.iter().any(|reply| reply.cause.seq == cause.seq)
    }
}

/// A closed round that a turn still works on, or for which a late answer waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClosedRound {
    pub(crate) round: Round,
    /// Number of visible replies to its message.
    pub(crate) spent: u32,
    /// Maximum of `spent`.
    pub(crate) cap: u32,
}

/// An agent's visible reply within a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub(crate) cause: Cause,
    /// The participants that the reply addresses and names, in order.
    pub(crate) mentions: Vec<ParticipantId>,
}
