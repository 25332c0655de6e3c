//! Every message that names or asks an agent is taken up by the agent or explained. No wake-up is
//! lost.

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::event::{Cause, Change, Event, Posted, Recipient, RecordedEvent, WhyNot};
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::participant::Kind;

use super::promises::promise;
use super::{Checker, ConversationModel, Scene, Verdict};

#[derive(Default)]
pub(super) struct OwedTurns {
    /// For each message, the agents without a turn or explanation about it yet.
    asked: BTreeMap<Seq, BTreeSet<ParticipantId>>,
}

impl Checker for OwedTurns {
    fn name(&self) -> &'static str {
        "owed"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::Posted(posted)
                if posted.published.is_none() && posted.error.is_none() && !room.gathering =>
            {
                let mut asked = asked(room, posted);
                // In a link, an agent that is offline or read-only gets the message with the next
                // event: the conversation does not learn that a client came back.
                asked.retain(|id| {
                    !room.promise().linked || !(scene.offline.contains(id) || room.only_reads(id))
                });
                if !asked.is_empty() {
                    self.asked.insert(recorded.seq, asked);
                }
            }
            Event::TurnGranted { participant, cause, .. } => self.heard(room, participant, cause),
            Event::TurnWidened { turn, cause, .. } => {
                if let Some(open) = room.turns.get(turn) {
                    self.heard(room, &open.participant, cause);
                }
            }
            Event::TurnStarted { turn, through_seq, .. } => {
                if let Some(open) = room.turns.get(turn) {
                    self.shown(room, &open.participant, *through_seq);
                }
            }
            Event::Skipped { participant, why_not: WhyNot::Cooled, .. } if !room.reacting => {
                return Err(format!(
                    "{participant} is not asked about a person's message because it spoke a moment ago"
                ));
            }
            Event::Skipped { participant, cause, .. } => self.heard(room, participant, cause),
            Event::Stopped { .. } | Event::Archived { .. } => self.asked.clear(),
            // Its author took the message back; the new words ask for themselves.
            Event::Redacted { seq, edited: true, .. } => {
                self.asked.remove(seq);
            }
            Event::Controlled { changes, .. } => {
                changes.iter().for_each(|change| self.changed(room, change))
            }
            _ => {}
        }
        Ok(())
    }

    fn rest(&mut self, room: &ConversationModel, offline: &BTreeSet<ParticipantId>) -> Verdict {
        if room.paused || room.archived {
            return Ok(());
        }
        let linked = room.promise().linked;
        for (seq, agents) in &self.asked {
            let cannot = |id: &ParticipantId| {
                let comes_later = offline.contains(id) || room.only_reads(id);
                linked && (room.held.is_some() || room.muted.contains(id) || comes_later)
            };
            if let Some(agent) = agents.iter().find(|id| room.is_agent(id) && !cannot(id)) {
                return Err(format!(
                    "nothing is going on, yet {agent} neither took up {seq} nor is it said why not"
                ));
            }
        }
        Ok(())
    }
}

impl OwedTurns {
    /// Clears a message for a participant. A turn about later words covers the earlier ones too,
    /// and a turn about a reply also the message replied to.
    fn heard(&mut self, room: &ConversationModel, participant: &ParticipantId, cause: &Cause) {
        let (linked, message) = (room.promise().linked, room.message_of(cause));
        for (seq, agents) in &mut self.asked {
            if *seq == cause.seq || message == Some(*seq) || (linked && *seq <= cause.seq) {
                agents.remove(participant);
            }
        }
        self.asked.retain(|_, agents| !agents.is_empty());
    }

    /// Clears all messages that a turn's prompt shows, whatever the turn was granted for.
    fn shown(&mut self, room: &ConversationModel, participant: &ParticipantId, through: Seq) {
        for (seq, agents) in &mut self.asked {
            if room.effect_of(*seq) <= through && !room.queued.contains(seq) {
                agents.remove(participant);
            }
        }
        self.asked.retain(|_, agents| !agents.is_empty());
    }

    fn changed(&mut self, room: &ConversationModel, change: &Change) {
        match change {
            Change::Uninvited { participant, .. } => {
                for agents in self.asked.values_mut() {
                    agents.remove(participant);
                }
            }
            // Another policy answers queued messages in its own way. Turns in progress stay as they
            // are.
            Change::PolicySet { policy, .. } if policy.name != room.policy.name => {
                self.asked
                    .retain(|seq, _| room.queued.contains(seq) && promise(policy.name).linked);
            }
            _ => {}
        }
    }
}

/// Returns the agents that these words ask.
fn asked(room: &ConversationModel, posted: &Posted) -> BTreeSet<ParticipantId> {
    if posted.from.as_str() == ParticipantId::MOOTHALL {
        return BTreeSet::new();
    }
    if !posted.asks.is_empty() && !room.promise().linked {
        return posted.asks.iter().cloned().collect();
    }
    (room.promise().asks)(room, posted, named(room, posted))
}

/// Returns the agents that some words name: by `to`, by mentions, and for a person also by a reply.
pub(super) fn named(room: &ConversationModel, posted: &Posted) -> Vec<ParticipantId> {
    let to = if let Recipient::One(id) = &posted.to { Some(id) } else { None };
    let replied =
        posted.reply_to.as_ref().filter(|_| posted.kind == Kind::Human).map(|cause| &cause.from);
    let mut named: Vec<ParticipantId> = Vec::new();
    for id in to.into_iter().chain(&posted.mentions).chain(replied) {
        if *id != posted.from && room.is_agent(id) && !named.contains(id) {
            named.push(id.clone());
        }
    }
    named
}
