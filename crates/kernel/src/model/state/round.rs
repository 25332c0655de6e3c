//! What a conversation remembers of the answering of a message: who is asked, and what came of it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::model::event::Cause;
use crate::model::ids::{ParticipantId, TurnNo};
use crate::model::state::Turn;
use crate::model::time::{Millis, Timestamp};
use crate::planted::{self, Bug};

/// The answering of one human message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub(crate) cause: Cause,
    pub(crate) forced: VecDeque<ParticipantId>,
    pub(crate) polled: VecDeque<ParticipantId>,
    pub(crate) polls: u32,
    pub(crate) volunteers: u32,
    pub(crate) replies: Vec<Reply>,
    /// So many the person named; the cap is not lowered below it. (Ruling 9.)
    pub(crate) named: u32,
    pub(crate) reacting: bool,
    pub(crate) targeted: bool,
    /// A person said who answers.
    pub(crate) asked: bool,
    /// Who is not asked again for this message: a turn for it failed, ran out of time or was
    /// cancelled by a person, or the limit of replies refused one.
    pub(crate) left_out: Vec<ParticipantId>,
    /// Who was asked to react: each is once, however often the round is opened again.
    pub(crate) reacted: Vec<ParticipantId>,
    /// Habitual passers and volunteers that were not asked about its message. They are not asked
    /// about replies to it either, unless a reply names them. (Ruling 12.)
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) spared: Vec<ParticipantId>,
    /// The turn that the round waits for.
    pub(crate) current: Option<TurnNo>,
    /// The time of its first grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) began_at: Option<Timestamp>,
    /// The time at which a person's message began to wait for its end; nothing if one waited when
    /// it opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaited_at: Option<Timestamp>,
}

impl Round {
    /// What its turn ran for was asked earlier and by somebody else: whoever has it is asked again.
    pub(crate) fn ask_again(&mut self, participant: ParticipantId, may_pass: bool) {
        self.current = None;
        if may_pass {
            self.polls = self.polls.saturating_sub(1);
            self.polled.push_front(participant);
        } else {
            self.forced.push_front(participant);
        }
    }

    /// The time from which its patience counts while another message waits; nothing before its
    /// first grant. (Ruling 12.)
    pub(crate) fn waited_from(&self) -> Option<Timestamp> {
        self.began_at.map(|began_at| self.awaited_at.map_or(began_at, |at| at.max(began_at)))
    }

    /// Moves what it counts from by the time that stood still.
    pub(crate) fn shift(&mut self, downtime: Millis) {
        self.began_at = self.began_at.map(|at| at + downtime);
        self.awaited_at = self.awaited_at.map(|at| at + downtime);
    }

    /// Replies that are spoken for: of whoever has the turn, and of those whom a person has answer.
    pub(crate) fn promised(&self) -> u32 {
        let asked = if self.asked { self.forced.len() } else { 0 };
        u32::from(self.current.is_some()) + u32::try_from(asked).unwrap_or(u32::MAX)
    }

    /// Whether a turn is to answer its message or a reply to it, alone or with whatever else it was
    /// asked about.
    pub(crate) fn is_worked_on_in(&self, turn: &Turn) -> bool {
        let asked = || {
            !planted::has(Bug::OlderCauseAskedAgain)
                && turn.answers().any(|cause| self.is_about(cause))
        };
        turn.message == Some(self.cause.seq) || self.is_about(&turn.cause) || asked()
    }

    /// Whether a cause is its message or one of the replies to it.
    pub(crate) fn is_about(&self, cause: &Cause) -> bool {
        self.cause.seq == cause.seq || self.replies.iter().any(|reply| reply.cause.seq == cause.seq)
    }
}

/// A message whose round is over, and that somebody still works on, or whose late answer waits for
/// its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClosedRound {
    pub(crate) round: Round,
    /// Visible replies to it.
    pub(crate) spent: u32,
    /// Most of them.
    pub(crate) cap: u32,
}

/// An agent's visible reply within a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub(crate) cause: Cause,
    /// Whom it addresses and names, in order.
    pub(crate) mentions: Vec<ParticipantId>,
}
