//! The consequences of committed events for the turns that run in this process.

use std::collections::BTreeMap;

use moothall_kernel::event::{Event, Outcome, RecordedEvent};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Participant;
use moothall_kernel::permission::WithdrawalReason;
use serde_json::{Map, Value};

use super::host::Host;
use super::io::Output;
use crate::runtime::agent::PermissionAnswer;

impl Host {
    /// Sends the consequences of committed events for agents that run in this process: their
    /// presence, and the answers to their permission requests. Notes the turns that ended because
    /// their time passed.
    pub(super) fn on_committed(&mut self, events: &[RecordedEvent]) {
        let mut states: BTreeMap<ParticipantId, &'static str> = BTreeMap::new();
        for recorded in events {
            match &recorded.event {
                Event::TurnStarted { turn, .. } => {
                    let run_here = self.runs.going.get(turn).filter(|going| going.runner.is_some());
                    states.extend(run_here.map(|going| (going.participant.clone(), "thinking")));
                }
                Event::TurnEnded { turn, participant, outcome, .. } => {
                    if let Some(going) = self.runs.going.get_mut(turn) {
                        going.lapsed = *outcome == Outcome::Expired;
                        states.extend(
                            going.runner.is_some().then(|| (participant.clone(), "listening")),
                        );
                    }
                }
                Event::PermissionAnswered { permission, option, text, .. } => {
                    let given = PermissionAnswer { option: option.clone(), text: text.clone() };
                    self.out.extend(self.runs.permit(&self.stream, permission, Some(&given)));
                }
                Event::PermissionExpired { permission }
                | Event::PermissionWithdrawn { permission, because: WithdrawalReason::GaveUp } => {
                    self.out.extend(self.runs.permit(&self.stream, permission, None))
                }
                _ => {}
            }
        }
        for (participant, state) in states {
            let details =
                self.conversation().and_then(|state| state.participant(&participant)).map(details);
            self.out.push(Output::Presence { participant, state, details });
        }
    }
}

/// Returns the presence details of a participant that the server runs.
fn details(participant: &Participant) -> Map<String, Value> {
    let profile = serde_json::to_value(&participant.profile).unwrap_or_default();
    match profile {
        Value::Object(details) => details,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
