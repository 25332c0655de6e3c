//! The patience of a round, computed from the log. The round ends when another person's message has
//! waited for the permitted time, and not before.

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::event::{Event, RecordedEvent, WhyNot};
use moothall_kernel::ids::Seq;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;

use super::{ConversationModel, Verdict};

#[derive(Default)]
pub(super) struct RoundPatience {
    /// Persons' waiting messages, with the start of their wait.
    waiting: BTreeMap<Seq, Timestamp>,
    /// Messages for which a person chose who answers.
    asked: BTreeSet<Seq>,
    round: Option<PatienceClock>,
}

struct PatienceClock {
    message: Seq,
    opened_at: Timestamp,
    /// Time at which the round first waited for a turn.
    granted_at: Option<Timestamp>,
}

impl RoundPatience {
    /// Reads an event and updates the end of the round. Rejects an end that comes too soon.
    pub(super) fn observe(
        &mut self,
        room: &ConversationModel,
        recorded: &RecordedEvent,
    ) -> Verdict {
        let ts = recorded.ts;
        match &recorded.event {
            Event::Posted(posted) if posted.queued && posted.kind == Kind::Human => {
                self.waiting.insert(recorded.seq, ts);
            }
            Event::Taken { cause } => drop(self.waiting.remove(&cause.seq)),
            Event::RoundOpened { cause, asked, .. } => {
                self.asked.extend(asked.then_some(cause.seq));
                self.round = Some(PatienceClock::new(cause.seq, ts));
            }
            Event::RoundReopened { cause, .. } => {
                self.round = Some(PatienceClock::new(cause.seq, ts))
            }
            Event::RoundClosed => self.round = None,
            Event::Stopped { .. } | Event::Archived { .. } => {
                self.waiting.clear();
                self.round = None;
            }
            Event::TurnGranted { patience: Some(_), .. } => {
                if let Some(round) = &mut self.round {
                    round.granted_at.get_or_insert(ts);
                }
            }
            Event::Skipped { participant, why_not: WhyNot::RoundOver, .. }
                if !self.is_over(room, ts) =>
            {
                return Err(format!("{participant} is not asked, and the round is not over"));
            }
            Event::ClockShifted { downtime } => {
                self.waiting.values_mut().for_each(|at| *at = *at + *downtime);
                for round in self.round.iter_mut() {
                    round.opened_at = round.opened_at + *downtime;
                    round.granted_at = round.granted_at.map(|at| at + *downtime);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// True if a message can have waited long enough. The first grant comes after the round opened.
    pub(super) fn is_over(&self, room: &ConversationModel, now: Timestamp) -> bool {
        self.ends_at(room, |round| Some(round.opened_at)).is_some_and(|end| end <= now)
    }

    /// Returns the latest end of the round.
    pub(super) fn end(&self, room: &ConversationModel) -> Option<Timestamp> {
        self.ends_at(room, |round| round.granted_at)
    }

    fn ends_at(
        &self,
        room: &ConversationModel,
        from: impl Fn(&PatienceClock) -> Option<Timestamp>,
    ) -> Option<Timestamp> {
        let round = self.round.as_ref().filter(|round| !self.asked.contains(&round.message))?;
        let (_, waits_since) = self.waiting.first_key_value()?;
        from(round).map(|from| from.max(*waits_since) + room.policy.patience)
    }
}

impl PatienceClock {
    fn new(message: Seq, opened_at: Timestamp) -> Self {
        Self { message, opened_at, granted_at: None }
    }
}
