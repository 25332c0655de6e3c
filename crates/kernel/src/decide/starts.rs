//! An agent's wish to have a program started: asked, answered by a person, carried out by the
//! engine, told to whoever asked.

use crate::decide::Decider;
use crate::model::command::{Actor, Refusal, Rejection};
use crate::model::event::{Cause, Event, TurnKind, Why, WhyNot};
use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::permission::{OptionKind, Question};
use crate::model::start::{OpenStart, Stage, StartOutcome, StartRequest};
use crate::model::state::Conversation;
use crate::model::time::Millis;

/// Most requests of one conversation that wait at a time.
const STARTS_MAX: usize = 8;

impl Conversation {
    /// The open permission with which a participant asks to have just this started.
    pub fn start_asked(
        &self,
        participant: &ParticipantId,
        start: &StartRequest,
    ) -> Option<&PermissionId> {
        let same = |open: &OpenStart| open.participant == *participant && open.start == *start;
        self.floor.starts.iter().find(|(_, open)| same(open)).map(|(permission, _)| permission)
    }

    /// The starts that agents asked for and that wait for a person: the permission, the event that
    /// asks, and who asks.
    pub fn starts_asked(&self) -> impl Iterator<Item = (&PermissionId, Seq, &ParticipantId)> {
        let asked = self.floor.starts.iter().filter(|(_, open)| open.waiting().is_some());
        asked.map(|(permission, open)| (permission, open.at, &open.participant))
    }

    /// The starts that people allowed and that nothing came of yet, with whoever asked for each.
    pub(crate) fn starts_allowed(
        &self,
    ) -> impl Iterator<Item = (&PermissionId, &ParticipantId, &StartRequest)> {
        let allowed = self.floor.starts.iter().filter(|(_, open)| open.stage == Stage::Allowed);
        allowed.map(|(permission, open)| (permission, &open.participant, &open.start))
    }

    /// What came of it, in words for whoever asked and for everybody else who is there.
    pub(crate) fn account_of_start(
        &self,
        start: &StartRequest,
        asker: &ParticipantId,
        outcome: &StartOutcome,
    ) -> String {
        let what =
            format!("{} asked to start {} in {}", self.name_of(asker), start.client, start.folder);
        let came = match outcome {
            StartOutcome::Started { session, name, unsaid: None } => {
                format!("It runs as {name} (session {session}).")
            }
            StartOutcome::Started { session, name, unsaid: Some(why) } => {
                format!(
                    "It runs as {name} (session {session}), but its first message did not reach it: {why}"
                )
            }
            StartOutcome::Failed { why } => {
                format!("A person allowed it, and it could not be started: {why}")
            }
            StartOutcome::Refused { by } => {
                format!("{} refused it. Do not ask for the same again.", self.name_of(by))
            }
            StartOutcome::Expired => "Nobody answered in time, so it was not started.".into(),
        };
        format!("{what}. {came}")
    }

    pub(crate) fn apply_start_answered(&mut self, permission: &PermissionId, option: &str) {
        let Some(open) = self.floor.starts.get_mut(permission) else { return };
        let Some(chosen) = open
            .waiting()
            .and_then(|waiting| waiting.options.iter().find(|offered| offered.id == option))
        else {
            return;
        };
        if chosen.kind == OptionKind::AllowOnce {
            open.stage = Stage::Allowed;
        }
    }
}

impl Decider<'_> {
    /// An agent asks to have a program started. What it asks already is not asked twice.
    pub(crate) fn ask_start(
        &mut self,
        permission: PermissionId,
        by: &Actor,
        start: StartRequest,
        within: Millis,
    ) -> Result<(), Rejection> {
        if !self.state.participant(&by.id).is_some_and(|asker| asker.takes_turns()) {
            let message = format!(
                "{} is no agent of this conversation. Name one in which it takes part.",
                by.id
            );
            return Err(
                Rejection::new(Refusal::Conflict, "not_a_participant", message).about(&by.id)
            );
        }
        if let Some((_, code, message)) = self.silence_of(&by.id) {
            return Err(Rejection::new(Refusal::Conflict, code, message).about(&by.id));
        }
        if self.state.start_asked(&by.id, &start).is_some() {
            return Ok(());
        }
        if self.state.floor.starts.len() >= STARTS_MAX {
            let message = format!(
                "{STARTS_MAX} requests to start something wait here already. Wait for a person to answer them."
            );
            return Err(Rejection::new(Refusal::Conflict, "too_many_starts", message).about(&by.id));
        }
        let Question { action, partial, options, folder, .. } = start.question().shown();
        if partial {
            let message = "All of this cannot be shown to a person at once. Give fewer arguments, or a shorter message.";
            return Err(Rejection::new(Refusal::TooLarge, "start_too_large", message).about(&by.id));
        }
        let (participant, expires) = (by.id.clone(), self.now + within);
        self.emit(Event::StartRequested {
            permission,
            participant,
            start,
            action,
            options,
            expires,
            folder,
        });
        Ok(())
    }

    /// What follows from an answer that refuses, or from none.
    pub(crate) fn settle_refused_start(
        &mut self,
        permission: &PermissionId,
        by: Option<&ParticipantId>,
    ) {
        let refused =
            self.state.floor.starts.get(permission).filter(|open| open.stage != Stage::Allowed);
        if refused.is_some() {
            self.settle_start(
                permission,
                by.map_or(StartOutcome::Expired, |by| StartOutcome::Refused { by: by.clone() }),
            );
        }
    }

    /// The engine did what a person allowed, or could not.
    pub(crate) fn start_done(&mut self, permission: &PermissionId, outcome: StartOutcome) {
        let allowed =
            self.state.floor.starts.get(permission).filter(|open| open.stage == Stage::Allowed);
        if allowed.is_some() {
            self.settle_start(permission, outcome);
        }
    }

    fn settle_start(&mut self, permission: &PermissionId, outcome: StartOutcome) {
        let Some(open) = self.state.floor.starts.get(permission) else { return };
        let (asker, start) = (open.participant.clone(), open.start.clone());
        let settled = Event::StartSettled {
            permission: permission.clone(),
            participant: asker.clone(),
            start,
            outcome,
        };
        let cause = self.emit(settled);
        // What comes of it is the asker's own doing, and is charged to it.
        self.tell_asker(&asker, &Cause { from: asker.clone(), ..cause });
    }

    /// Whoever asked hears of it at once, unless nobody may be woken here now: it stands in what
    /// its next turn is told then.
    fn tell_asker(&mut self, asker: &ParticipantId, cause: &Cause) {
        if self.state.archived || !self.state.rules().tells_outcomes {
            return;
        }
        if self.state.guards.held.is_some() {
            return self.skip(asker, WhyNot::Held, cause, None);
        }
        if self.can_take_turns(asker, cause) {
            self.grant(asker, Why::Outcome, TurnKind::Reply, true, cause);
        }
    }
}
