//! The end of a gathering, by a person or by another policy, and the harvest before it.
//! (Ruling 28.)

use crate::decide::Decider;
use crate::model::command::{Actor, Refusal, Rejection};
use crate::model::event::{Change, Event, Guard, TurnKind, TurnReason};
use crate::model::gathering::{GatheringEvent, HoldEnd, MEMBER_KEY};
use crate::model::ids::ParticipantId;
use crate::model::participant::SeatRole;
use crate::model::settings::Policy;
use crate::model::time::Millis;

/// Longest time that a person has for the harvest.
const HARVEST_MAX: Millis = Millis::from_secs(3600);

impl Decider<'_> {
    /// Rejects unconfirmed changes that would end the open gathering or remove its harvester,
    /// unless the harvester leaves by itself. The server itself needs no confirmation. Returns true
    /// if the changes replace the gathering's policy.
    pub(crate) fn check_gathering(
        &self,
        by: &Actor,
        changes: &[Change],
        confirmed: bool,
    ) -> Result<bool, Rejection> {
        if self.state.gathering().is_none() {
            return Ok(false);
        }
        let replaces = |change: &Change| match change {
            Change::PolicySet { policy, patch } => patch.is_none() || !policy.is_of_gatherings(),
            _ => false,
        };
        let harvests = |id: &ParticipantId| {
            self.state.participant(id).is_some_and(|known| known.part == Some(SeatRole::Harvester))
        };
        let removes = |change: &Change| match change {
            Change::Uninvited { participant, .. } => harvests(participant) && by.id != *participant,
            _ => false,
        };
        let replaced = changes.iter().any(replaces);
        if confirmed || by.id.as_str() == ParticipantId::MOOTHALL {
            return Ok(replaced);
        }
        if replaced {
            return Err(gathering_open(
                "Another policy ends the gathering. The policy changes after the harvest is \
                 written.",
            ));
        }
        if changes.iter().any(removes) {
            return Err(gathering_open("Without its harvester the gathering has no harvest."));
        }
        Ok(false)
    }

    /// Ends the gathering for a person: asks for the harvest, or closes without one if it was asked
    /// for already or cannot be written now.
    pub(crate) fn close_gathering(&mut self, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        let Some(gathering) = self.state.gathering() else {
            return Err(Rejection::new(
                Refusal::Conflict,
                "no_gathering",
                "This conversation has no open gathering.",
            ));
        };
        let nobody_may = self.state.is_paused() || self.state.is_archived();
        if gathering.harvesting.is_some() || nobody_may {
            self.end_gathering("ended");
            return Ok(());
        }
        self.ask_for_harvest(by, None);
        Ok(())
    }

    /// Begins the harvest on behalf of a person. The policy `after` comes into force when the
    /// gathering closes.
    fn ask_for_harvest(&mut self, by: &Actor, after: Option<Policy>) {
        if self.state.guards.held == Some(Guard::Stopped) {
            self.emit(Event::Controlled {
                by: by.id.clone(),
                changes: vec![Change::GuardLifted],
                unproven: !by.proven,
            });
        }
        self.begin_harvest_before("ended", after);
    }

    /// Ends a gathering for the policy that a person chose in its place, with a harvest if one can
    /// be written. Returns the policy if it comes into force immediately.
    pub(crate) fn end_gathering_for(&mut self, by: &Actor, policy: Policy) -> Option<Policy> {
        let harvests = self.state.harvester().is_some() && !self.state.is_paused();
        let begun = self.state.gathering().is_some_and(|gathering| gathering.harvesting.is_some());
        if begun || !harvests {
            self.end_gathering("ended");
            return Some(policy);
        }
        self.ask_for_harvest(by, Some(policy));
        None
    }

    /// Closes the gathering, cancels the open turns except those that ask a person, and releases
    /// the members for other gatherings. A policy that waited for the harvest takes effect.
    pub(crate) fn end_gathering(&mut self, because: &str) {
        self.emit(Event::Gathering(GatheringEvent::Closed { because: because.into() }));
        self.end_all_but_asking("gathering_closed", "the gathering was closed");
        self.let_go_of_members();
        // The gathering is closed by now, so only `newest_gathering` still returns it.
        let after = self.state.newest_gathering().and_then(|gathering| gathering.after.clone());
        if let Some(policy) = after {
            let by = ParticipantId::moothall();
            let changes = vec![Change::PolicySet { policy: *policy, patch: None }];
            self.emit(Event::Controlled { by, changes, unproven: false });
        }
    }

    /// Releases the keys that keep members out of other gatherings.
    fn let_go_of_members(&mut self) {
        let keys = self.state.bindings().filter(|target| target.starts_with(MEMBER_KEY));
        let changes: Vec<_> =
            keys.map(|target| Change::Unbound { target: target.to_owned() }).collect();
        if !changes.is_empty() {
            let by = ParticipantId::moothall();
            self.emit(Event::Controlled { by, changes, unproven: false });
        }
    }

    pub(super) fn begin_harvest(&mut self, because: &str) -> bool {
        self.begin_harvest_before(because, None)
    }

    /// Ends the hold and asks the harvester for the harvest. The policy `after` comes into force
    /// when the gathering closes. Without a harvester, the gathering closes immediately. Always
    /// returns true.
    fn begin_harvest_before(&mut self, because: &str, after: Option<Policy>) -> bool {
        self.release_piece(HoldEnd::Stopped, None, None);
        let Some((harvester, agent)) =
            self.state.harvester().map(|p| (p.id.clone(), p.takes_turns()))
        else {
            self.end_gathering(because);
            return true;
        };
        self.end_all_but_asking("harvest", "the harvest began");
        let asked = self.emit(Event::Gathering(GatheringEvent::HarvestAsked {
            harvester: harvester.clone(),
            because: because.into(),
            until: (!agent).then(|| self.now + HARVEST_MAX),
            after: after.map(Box::new),
        }));
        if agent && self.can_take_turns(&harvester, &asked) {
            self.grant(&harvester, TurnReason::Piece, TurnKind::Reply, false, &asked);
        }
        true
    }
}

/// Returns the rejection that asks to confirm the end of a gathering.
fn gathering_open(consequence: &str) -> Rejection {
    let message = format!(
        "A gathering is open here. {consequence} Send it again with `\"confirm\": true` (`/policy \
         NAME confirm`), or end the gathering first."
    );
    Rejection::new(Refusal::Conflict, "gathering_open", message)
}
