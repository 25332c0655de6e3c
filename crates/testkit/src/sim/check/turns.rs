//! Every granted turn ends exactly once, and no event counts after its end. A participant has at
//! most one running and one waiting turn.

use std::collections::BTreeSet;

use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, Outcome, RecordedEvent, TurnKind};
use moothall_kernel::ids::{ParticipantId, TurnNo};

use super::{Checker, ConversationModel, Scene, Verdict};

pub(super) struct Turns;

impl Checker for Turns {
    fn name(&self) -> &'static str {
        "turns"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::TurnGranted { turn, participant, .. } => granted(room, *turn, participant),
            Event::TurnWidened { turn, .. } => match room.turns.get(turn) {
                Some(open) if open.running.is_none() => Ok(()),
                other => {
                    Err(format!("turn {turn} was widened although it does not wait: {other:?}"))
                }
            },
            Event::TurnStarted { turn, attempt, .. } => started(room, *turn, *attempt),
            Event::TurnLost { turn, attempt, .. } => match room.turns.get(turn) {
                Some(open) if open.running.is_some() && open.attempt == *attempt => Ok(()),
                other => Err(format!(
                    "attempt {attempt} of turn {turn} was lost although it did not run: {other:?}"
                )),
            },
            Event::TurnEnded { turn, participant, attempt, outcome, .. } => {
                ended(room, *turn, participant, *attempt, *outcome)
            }
            Event::Posted(posted) => match posted.turn {
                Some(no) if posted.published.is_none() && posted.error.is_none() => {
                    answered(room, scene, no, &posted.from)
                }
                Some(no) if posted.error.is_some() && room.turns.contains_key(&no) => {
                    Err(format!("an error is shown for turn {no}, which goes on"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn step(&mut self, room: &ConversationModel, state: &Conversation) -> Verdict {
        if let Some(turn) = state.open_turns().find(|turn| !room.is_agent(&turn.participant)) {
            return Err(format!(
                "turn {} of {}, who is no agent, goes on",
                turn.no, turn.participant
            ));
        }
        let mut busy = BTreeSet::new();
        for run in state.duties().run {
            if !busy.insert(run.participant.clone()) {
                return Err(format!("{} should run two turns at once", run.participant));
            }
            let Some(open) = room.turns.get(&run.turn) else {
                return Err(format!("turn {} should run although it is over", run.turn));
            };
            if open.attempt != run.attempt || open.running.is_some() != run.started {
                return Err(format!("what should run is {run:?}, but it is {open:?}"));
            }
        }
        Ok(())
    }

    fn rest(&mut self, room: &ConversationModel, _offline: &BTreeSet<ParticipantId>) -> Verdict {
        if room.turns.is_empty() {
            Ok(())
        } else {
            Err(format!("nothing is going on, yet these turns are open: {:?}", room.turns))
        }
    }
}

fn granted(room: &ConversationModel, no: TurnNo, participant: &ParticipantId) -> Verdict {
    if no != room.last_turn.next() {
        return Err(format!("turn {no} was granted after turn {}", room.last_turn));
    }
    let open: Vec<_> = room.open_of(participant).collect();
    if open.len() > 1 || open.first().is_some_and(|turn| turn.running.is_none()) {
        return Err(format!("{participant} got turn {no} beside {open:?}"));
    }
    Ok(())
}

fn started(room: &ConversationModel, no: TurnNo, attempt: u32) -> Verdict {
    let Some(open) = room.turns.get(&no) else {
        return Err(format!("turn {no} started although it is over"));
    };
    if open.attempt != attempt || open.running.is_some() {
        return Err(format!("attempt {attempt} of turn {no} started, but it is {open:?}"));
    }
    if room.open_of(&open.participant).any(|other| other.running.is_some()) {
        return Err(format!("{} runs two turns at once", open.participant));
    }
    Ok(())
}

fn ended(
    room: &ConversationModel,
    no: TurnNo,
    participant: &ParticipantId,
    attempt: u32,
    outcome: Outcome,
) -> Verdict {
    let Some(open) = room.turns.get(&no) else {
        return Err(format!("turn {no} ended although it was over"));
    };
    if open.participant != *participant || open.attempt != attempt {
        return Err(format!(
            "the end of turn {no} names attempt {attempt} of {participant}, but it is {open:?}"
        ));
    }
    let finished = matches!(outcome, Outcome::Spoke | Outcome::Passed);
    if finished && open.running.is_none() {
        return Err(format!("turn {no} ended {outcome:?} without having started"));
    }
    let spoke = outcome == Outcome::Spoke && open.kind == TurnKind::Reply;
    if open.stopped && outcome != Outcome::Cancelled {
        return Err(format!("turn {no} was stopped while it spoke, and ended {outcome:?}"));
    }
    if (spoke || open.stopped) != (open.replies == 1) {
        return Err(format!("turn {no} ended {outcome:?} with {} visible replies", open.replies));
    }
    Ok(())
}

fn answered(
    room: &ConversationModel,
    scene: &Scene<'_>,
    no: TurnNo,
    from: &ParticipantId,
) -> Verdict {
    let Some(open) = room.turns.get(&no) else {
        return Err(format!("{from} answers turn {no}, which is over"));
    };
    if open.participant != *from || open.replies > 0 || open.running.is_none() {
        return Err(format!("{from} answers turn {no}, which is {open:?}"));
    }
    let next = scene.decision.get(scene.place + 1).map(|next| &next.event);
    if !matches!(next, Some(Event::TurnEnded { turn, .. }) if *turn == no) {
        return Err(format!("the answer to turn {no} does not end it at once"));
    }
    Ok(())
}
