//! The shift of deadlines and beats by the time in which no server ran.

use crate::model::request::Stage;
use crate::model::state::Conversation;
use crate::model::time::Millis;

impl Conversation {
    /// Moves all open deadlines and beats by the time for which the clock stood still. Moves the
    /// start of running turns too, because they were not worked on meanwhile.
    pub(super) fn shift(&mut self, downtime: Millis) {
        for turn in self.floor.turns.values_mut() {
            turn.deadline = turn.deadline + downtime;
            if let Some(running) = &mut turn.running {
                running.started_at = running.started_at + downtime;
            }
            turn.patience = turn.patience.map(|until| until + downtime);
            // Otherwise the end of the freeze would count the downtime twice.
            turn.frozen_since = turn.frozen_since.map(|since| since + downtime);
            for waiting in turn.permissions.values_mut() {
                waiting.expires = waiting.expires + downtime;
            }
        }
        self.floor.round.iter_mut().for_each(|round| round.shift(downtime));
        for open in self.floor.requests.values_mut() {
            if let Stage::Asked(waiting) = &mut open.stage {
                waiting.expires = waiting.expires + downtime;
            }
        }
        if let Some(gathering) = &mut self.gathering {
            gathering.harvest_until = gathering.harvest_until.map(|until| until + downtime);
            if let Some(tenure) = &mut gathering.tenure {
                tenure.next_at = tenure.next_at + downtime;
            }
        }
    }
}
