//! Agents' own words: those that answer no turn. What they were found to be when they were said,
//! and what a conversation remembers of them. (Ruling 16.)

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::model::fold::{LIFTS_KEPT, OWN_KEPT};
use crate::model::ids::{ParticipantId, Seq};
use crate::model::time::Timestamp;

/// Findings about an agent's own words, made when they were said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnWords {
    /// They are an exchange with another agent, and count as one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exchange: bool,
    /// The agents that they name, address or answer, and the one whose words came right before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<ParticipantId>,
    /// They repeat what another agent said lately in this hall.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// The public id of the credential that they came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
}

/// A Stop that still holds back agents' own words. (Ruling 14.)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stop {
    /// The person who stopped the conversation.
    pub(crate) by: ParticipantId,
    /// When it came; nothing in states from before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    /// Sessions at whose terminals a person typed since: the next own words of each are taken.
    pub(crate) excused: BTreeSet<ParticipantId>,
}

/// Agent words, and when they were said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentWords {
    pub(crate) agent: ParticipantId,
    pub(crate) at: Timestamp,
}

/// The memory of a conversation of agents' own words, and of those that set them free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Restraint {
    /// The Stop that holds, if one does.
    pub(crate) stop: Option<Stop>,
    /// When words without proof lifted a guard's hold.
    pub(crate) lifts: VecDeque<Timestamp>,
    /// When own words were said since a person spoke.
    pub(crate) said: VecDeque<Timestamp>,
    /// The newest words of an agent since a person spoke.
    pub(crate) newest: Option<AgentWords>,
    /// The newest ones of another agent than that.
    pub(crate) other: Option<AgentWords>,
    /// The newest own words that counted as an exchange, and with whom.
    pub(crate) exchange: Option<(Seq, Vec<ParticipantId>)>,
}

impl Restraint {
    /// A person said something, other than at a session's terminal.
    pub(crate) fn person_spoke(&mut self) {
        *self = Self { lifts: std::mem::take(&mut self.lifts), ..Self::default() };
    }

    /// A person typed at this participant's terminal.
    pub(crate) fn person_typed(&mut self, at: &ParticipantId) {
        if let Some(stop) = &mut self.stop {
            stop.excused.insert(at.clone());
        }
    }

    /// Words without proof lifted a hold.
    pub(crate) fn lifted(&mut self, ts: Timestamp) {
        self.lifts.push_back(ts);
        if self.lifts.len() > LIFTS_KEPT {
            self.lifts.pop_front();
        }
    }

    /// An agent said something.
    pub(crate) fn agent_spoke(&mut self, agent: &ParticipantId, ts: Timestamp) {
        if self.newest.as_ref().is_some_and(|newest| newest.agent != *agent) {
            self.other = self.newest.take();
        }
        self.newest = Some(AgentWords { agent: agent.clone(), at: ts });
    }

    /// An agent said something that answers no turn.
    pub(crate) fn own_words(
        &mut self,
        agent: &ParticipantId,
        own: &OwnWords,
        at: (Seq, Timestamp),
    ) {
        if let Some(stop) = &mut self.stop {
            stop.excused.remove(agent);
        }
        self.said.push_back(at.1);
        if self.said.len() > OWN_KEPT {
            self.said.pop_front();
        }
        if own.exchange {
            self.exchange = Some((at.0, own.with.clone()));
        }
    }

    /// The newest words of another agent.
    pub(crate) fn newest_not_by(&self, agent: &ParticipantId) -> Option<&AgentWords> {
        self.newest.as_ref().filter(|newest| newest.agent != *agent).or(self.other.as_ref())
    }

    /// True if the words at this place were counted for this pair when they were said.
    pub(crate) fn counted(&self, cause: Seq, woken: &ParticipantId) -> bool {
        self.exchange.as_ref().is_some_and(|(seq, with)| *seq == cause && with.contains(woken))
    }
}
