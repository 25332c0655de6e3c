//! Agents' own words, which answer no turn: findings about them, and the conversation's memory of
//! them. (Ruling 16.)

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::model::fold::{LIFTS_KEPT, OWN_KEPT};
use crate::model::ids::{ParticipantId, Seq};
use crate::model::time::Timestamp;

/// Findings about an agent's own words at the time of the message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnWords {
    /// True if the words count as an exchange with another agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exchange: bool,
    /// Agents that the words name, address or answer, and the agent whose words came right before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<ParticipantId>,
    /// True if the words repeat recent words of another agent in this hall.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// Public id of the credential that the words came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
}

/// A Stop that still holds back agents' own words. (Ruling 14.)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stop {
    /// The person who stopped the conversation.
    pub(crate) by: ParticipantId,
    /// Time of the Stop; `None` in states of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    /// Sessions at whose terminals a person has typed since. The Stop does not hold back the next
    /// own words of each.
    pub(crate) excused: BTreeSet<ParticipantId>,
}

/// Time and author of an agent's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentWords {
    pub(crate) agent: ParticipantId,
    pub(crate) at: Timestamp,
}

/// The conversation's memory of agents' own words and of the Stop that holds them back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Restraint {
    /// The Stop that holds, if one does.
    pub(crate) stop: Option<Stop>,
    /// Times at which words without proof lifted a guard's hold.
    pub(crate) lifts: VecDeque<Timestamp>,
    /// Times of own words since a person spoke.
    pub(crate) said: VecDeque<Timestamp>,
    /// The newest words of any agent since a person spoke.
    pub(crate) newest: Option<AgentWords>,
    /// The newest words of another agent than that of `newest`.
    pub(crate) other: Option<AgentWords>,
    /// The newest own words that counted as an exchange, with the other agents.
    pub(crate) exchange: Option<(Seq, Vec<ParticipantId>)>,
}

impl Restraint {
    /// Forgets the Stop and all own words, because a person spoke. Words typed at a session's
    /// terminal do not do that.
    pub(crate) fn person_spoke(&mut self) {
        *self = Self { lifts: std::mem::take(&mut self.lifts), ..Self::default() };
    }

    /// Excuses one session from the Stop, because a person typed at its terminal.
    pub(crate) fn person_typed(&mut self, at: &ParticipantId) {
        if let Some(stop) = &mut self.stop {
            stop.excused.insert(at.clone());
        }
    }

    /// Remembers that words without proof lifted a hold.
    pub(crate) fn record_lift(&mut self, ts: Timestamp) {
        self.lifts.push_back(ts);
        if self.lifts.len() > LIFTS_KEPT {
            self.lifts.pop_front();
        }
    }

    /// Remembers the newest words of an agent.
    pub(crate) fn agent_spoke(&mut self, agent: &ParticipantId, ts: Timestamp) {
        if self.newest.as_ref().is_some_and(|newest| newest.agent != *agent) {
            self.other = self.newest.take();
        }
        self.newest = Some(AgentWords { agent: agent.clone(), at: ts });
    }

    /// Remembers an agent's own words. They use up an excuse from the Stop.
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

    /// Returns the newest words of another agent.
    pub(crate) fn newest_not_by(&self, agent: &ParticipantId) -> Option<&AgentWords> {
        self.newest.as_ref().filter(|newest| newest.agent != *agent).or(self.other.as_ref())
    }

    /// True if the words at this position were counted for this pair when they were said.
    pub(crate) fn counted(&self, cause: Seq, woken: &ParticipantId) -> bool {
        self.exchange.as_ref().is_some_and(|(seq, with)| *seq == cause && with.contains(woken))
    }
}
