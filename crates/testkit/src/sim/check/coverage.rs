//! Each cause is covered by at most one finished turn per participant, while the participant is
//! invited.

use moothall_kernel::event::{Event, Outcome, RecordedEvent};

use super::{Checker, ConversationModel, Scene, Verdict};

pub(super) struct Coverage;

impl Checker for Coverage {
    fn name(&self) -> &'static str {
        "coverage"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        _scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::TurnStarted { turn, from_seq, through_seq, .. } => {
                if through_seq > &room.head || from_seq > through_seq {
                    return Err(format!(
                        "turn {turn} covers ({from_seq}, {through_seq}] while the head is {}",
                        room.head
                    ));
                }
                Ok(())
            }
            Event::TurnEnded {
                turn,
                outcome: Outcome::Spoke | Outcome::Passed,
                participant,
                ..
            } => {
                let Some(open) = room.turns.get(turn) else { return Ok(()) };
                let (Some((from, through)), Some(member)) =
                    (open.running, room.members.get(participant))
                else {
                    return Ok(());
                };
                if from < member.covered.min(through) {
                    return Err(format!(
                        "turn {turn} of {participant} covers ({from}, {through}], which goes back behind {}",
                        member.covered
                    ));
                }
                let cause = room.effect_of(open.cause.seq);
                let left =
                    member.unanswered.is_some_and(|(after, last)| cause > after && cause <= last);
                if (cause <= from && !left) || cause > through {
                    return Err(format!(
                        "turn {turn} of {participant} covers ({from}, {through}] and not its cause at {cause}"
                    ));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
