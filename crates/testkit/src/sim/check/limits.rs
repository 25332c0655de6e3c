//! Limits of replies, polls, depth and exchanges are never exceeded.

use std::collections::BTreeSet;

use moothall_kernel::event::{Cause, Event, Outcome, Posted, RecordedEvent, TurnReason};
use moothall_kernel::ids::{ParticipantId, TurnNo};
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Millis;

use super::{Checker, ConversationModel, Scene, Verdict, owed};

/// Maximum number of holds that words without proof lift within an hour.
const LIFTS_AN_HOUR: usize = 6;
const HOUR: Millis = Millis::from_secs(3600);

/// The answering of one human message. The first entry is for events before any message.
#[derive(Default)]
pub(super) struct Limits {
    rounds: Vec<Round>,
}

#[derive(Default)]
struct Round {
    allowed: u32,
    replies: u32,
    polls: usize,
    agents: usize,
    /// Agents whose turn for the message failed, expired or was cancelled by a person.
    over: BTreeSet<ParticipantId>,
    /// Agents that were asked to react.
    reacted: BTreeSet<ParticipantId>,
}

impl Checker for Limits {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        if let Some(round) = self.rounds.get_mut(room.round as usize) {
            round.agents = round.agents.max(room.agents().count());
        }
        match &recorded.event {
            Event::Created { policy, .. } => {
                self.rounds.push(Round {
                    allowed: policy.max_agent_turns_per_message,
                    ..Round::default()
                });
                Ok(())
            }
            Event::RoundOpened { cause, cap, .. } => self.opened(room, cause, *cap),
            Event::TurnGranted { turn, participant, why, cause, may_pass, .. } => {
                self.polled(room, cause, *may_pass)?;
                self.has_room(room, *turn, *why, cause)?;
                self.asked(room, participant, *why, cause)?;
                woken(room, scene, participant, cause)
            }
            Event::TurnWidened { turn, why, cause, .. } => {
                self.has_room(room, *turn, *why, cause)?;
                match room.turns.get(turn) {
                    Some(open) if open.cause.seq != cause.seq => {
                        woken(room, scene, &open.participant, cause)
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Event::TurnEnded { turn, participant, outcome, fault, .. } => {
                let by_person = *outcome == Outcome::Cancelled
                    && fault.as_ref().is_some_and(|fault| fault.code == "cancelled");
                let broke_off = by_person || matches!(outcome, Outcome::Failed | Outcome::Expired);
                let rounds =
                    room.turns.get(turn).filter(|_| broke_off).map(|open| room.rounds_of(open));
                for at in rounds.into_iter().flatten() {
                    if let Some(round) = self.rounds.get_mut(at as usize) {
                        round.over.insert(participant.clone());
                    }
                }
                Ok(())
            }
            Event::Posted(posted) if posted.kind == Kind::Human => lifts(room, recorded, posted),
            Event::Posted(posted) if posted.published.is_none() => {
                by_itself(room, posted)?;
                self.said(room, posted)
            }
            _ => Ok(()),
        }
    }
}

impl Limits {
    fn opened(&mut self, room: &ConversationModel, cause: &Cause, cap: u32) -> Verdict {
        let config = room.policy.max_agent_turns_per_message;
        let allowed = match room.said.get(&cause.seq) {
            Some(posted) if !posted.asks.is_empty() => config.max(posted.asks.len() as u32),
            Some(posted) if room.promise().raises_cap => {
                config.max(owed::named(room, posted).len() as u32)
            }
            Some(_) | None => config,
        };
        if cap > allowed {
            return Err(format!("the round for {} allows {cap} replies, not {allowed}", cause.seq));
        }
        self.rounds.push(Round { allowed, agents: room.agents().count(), ..Round::default() });
        Ok(())
    }

    fn polled(&mut self, room: &ConversationModel, cause: &Cause, may_pass: bool) -> Verdict {
        let asked = may_pass && room.is_of_round(cause);
        let Some(round) = self.rounds.get_mut(room.round as usize).filter(|_| asked) else {
            return Ok(());
        };
        round.polls += 1;
        if round.polls > round.agents * 2 {
            return Err(format!("{} polls for {} agents", round.polls, round.agents));
        }
        Ok(())
    }

    /// Checks that a granted turn may still answer, even if all released turns for the same message
    /// do.
    fn has_room(
        &self,
        room: &ConversationModel,
        turn: TurnNo,
        why: TurnReason,
        cause: &Cause,
    ) -> Verdict {
        let counts = why != TurnReason::Prod && room.counts_replies() && room.is_of_round(cause);
        let Some(round) = self.rounds.get(room.round as usize).filter(|_| counts) else {
            return Ok(());
        };
        let others = room.turns.iter().filter(|(no, open)| {
            **no != turn && open.released && room.may_answer(open, room.round)
        });
        let promised = others.count() as u32;
        if round.replies + promised >= round.allowed {
            return Err(format!(
                "turn {turn} for {}, although {} of {} replies were said and {promised} are promised",
                cause.seq, round.replies, round.allowed
            ));
        }
        Ok(())
    }

    /// Checks that an agent is not asked again for a message for which its turn broke off, and not
    /// asked twice to react.
    fn asked(
        &mut self,
        room: &ConversationModel,
        participant: &ParticipantId,
        why: TurnReason,
        cause: &Cause,
    ) -> Verdict {
        let counts = why != TurnReason::Prod && room.counts_replies() && room.is_of_round(cause);
        let Some(round) = self.rounds.get_mut(room.round as usize).filter(|_| counts) else {
            return Ok(());
        };
        if round.over.contains(participant) {
            return Err(format!(
                "{participant} is asked again, although its turn for the message broke off"
            ));
        }
        if why == TurnReason::Reaction && !round.reacted.insert(participant.clone()) {
            return Err(format!("{participant} is asked twice to react to one message"));
        }
        Ok(())
    }

    fn said(&mut self, room: &ConversationModel, posted: &Posted) -> Verdict {
        if posted.from.as_str() == ParticipantId::MOOTHALL {
            return Ok(());
        }
        let turn = posted.turn.and_then(|no| room.turns.get(&no));
        if let Some(turn) = turn
            && posted.depth != turn.cause.depth + 1
        {
            return Err(format!(
                "{} answers {} at depth {}",
                posted.from, turn.cause.seq, posted.depth
            ));
        }
        let round = match turn {
            Some(turn) => turn.round.filter(|_| room.counts_replies()),
            None if room.counts_replies() && !room.gathering => {
                if posted.depth > room.policy.max_depth {
                    return Err(format!(
                        "{} speaks unasked at depth {}",
                        posted.from, posted.depth
                    ));
                }
                Some(room.round)
            }
            None => None,
        };
        let Some(round) = round.and_then(|at| self.rounds.get_mut(at as usize)) else {
            return Ok(());
        };
        round.replies += 1;
        if round.replies > round.allowed {
            return Err(format!("reply {} of {} to one message", round.replies, round.allowed));
        }
        Ok(())
    }
}

/// Checks that an agent's own words are not shown while a guard or a Stop holds.
fn by_itself(room: &ConversationModel, posted: &Posted) -> Verdict {
    if posted.own.is_none() {
        return Ok(());
    }
    if let Some(guard) = room.held {
        return Err(format!("{} speaks by itself although {guard} holds the floor", posted.from));
    }
    if room.stopped && !room.excused.contains(&posted.from) {
        return Err(format!("{} speaks by itself after a stop", posted.from));
    }
    Ok(())
}

/// Checks that words without proof lift a hold at most six times within an hour.
fn lifts(room: &ConversationModel, recorded: &RecordedEvent, posted: &Posted) -> Verdict {
    let recent = room.lifts.iter().filter(|at| recorded.ts.since(**at) < HOUR).count();
    if posted.resets && room.held.is_some() && recent >= LIFTS_AN_HOUR {
        return Err(format!("words without proof lift a hold {recent} times within an hour"));
    }
    Ok(())
}

/// Checks that these words may wake an agent.
fn woken(
    room: &ConversationModel,
    scene: &Scene<'_>,
    participant: &ParticipantId,
    cause: &Cause,
) -> Verdict {
    let depth = room.depths.get(&cause.seq).copied().unwrap_or(0);
    if cause.depth != depth {
        return Err(format!("{} has depth {depth}, not {}", cause.seq, cause.depth));
    }
    // A granted turn's cause may move to another turn, even if the conditions have changed.
    if scene.carries_over(participant, room) {
        return Ok(());
    }
    let promise = room.promise();
    if promise.counts_depth && depth >= room.policy.max_depth {
        return Err(format!(
            "words of depth {depth} wake somebody; the limit is {}",
            room.policy.max_depth
        ));
    }
    let by_agent = room.said.get(&cause.seq).is_some_and(|posted| posted.kind == Kind::Agent);
    if by_agent && promise.guarded && room.exchanges >= room.policy.max_exchanges_without_human {
        return Err(format!("an agent's words wake somebody after {} exchanges", room.exchanges));
    }
    let unproven = room.said.get(&cause.seq).is_some_and(|posted| posted.unproven);
    if (by_agent || unproven) && promise.guarded && room.held.is_some() {
        return Err(format!(
            "words of an agent, or without proof, wake somebody although {:?} holds the floor",
            room.held
        ));
    }
    Ok(())
}
