//! Requests of agents: asked, answered by a person, carried out by the engine, and reported to
//! their asker.

use crate::decide::Decider;
use crate::model::command::{Actor, Refusal, Rejection};
use crate::model::event::{Cause, Event, TurnKind, TurnReason, WhyNot};
use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::permission::{CARDS_MAX, OpenPermission, OptionKind, Question};
use crate::model::request::{OpenRequest, Request, Stage};
use crate::model::start::{StartOutcome, StartRequest};
use crate::model::state::Conversation;
use crate::model::talk::{REFUSAL_LASTS, REFUSALS_MAX, TalkOutcome, TalkRefusal, TalkRequest};
use crate::model::time::{Millis, Timestamp};

/// The end of a request that was not allowed.
#[derive(Clone)]
enum RequestFailure {
    Refused(ParticipantId),
    Expired,
}

impl Conversation {
    /// Returns the permission of an open, equal request of this participant, if any.
    pub fn request_asked(
        &self,
        participant: &ParticipantId,
        request: &Request,
    ) -> Option<&PermissionId> {
        let same =
            |open: &OpenRequest| open.participant == *participant && open.request.is_same(request);
        self.floor.requests.iter().find(|(_, open)| same(open)).map(|(permission, _)| permission)
    }

    /// Returns the requests that wait for a person: the permission, the position of the requesting
    /// event, and the asker.
    pub fn requests_asked(&self) -> impl Iterator<Item = (&PermissionId, Seq, &ParticipantId)> {
        let asked = self.floor.requests.iter().filter(|(_, open)| open.waiting().is_some());
        asked.map(|(permission, open)| (permission, open.at, &open.participant))
    }

    /// Returns the allowed requests without an outcome yet, with their askers.
    pub(crate) fn requests_allowed(
        &self,
    ) -> impl Iterator<Item = (&PermissionId, &ParticipantId, &Request)> {
        let allowed = self.floor.requests.iter().filter(|(_, open)| open.stage == Stage::Allowed);
        allowed.map(|(permission, open)| (permission, &open.participant, &open.request))
    }

    /// Returns the outcome of a start in words, for its asker and the other participants.
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

    /// Returns the outcome of a request to talk in words.
    pub(crate) fn account_of_talk(
        &self,
        talk: &TalkRequest,
        asker: &ParticipantId,
        outcome: &TalkOutcome,
    ) -> String {
        let what = format!("{} asked to talk to {}", self.name_of(asker), talk.to);
        let came = match outcome {
            TalkOutcome::Linked { link, unsaid: None } => {
                format!("The two are linked (link {link}), and its first message was sent there.")
            }
            TalkOutcome::Linked { link, unsaid: Some(why) } => {
                format!(
                    "The two are linked (link {link}), but its first message was not said: {why}"
                )
            }
            TalkOutcome::Told => {
                "A person allowed it, and the message is on its way. A notice follows when the \
                 other session has finished its turn."
                    .into()
            }
            TalkOutcome::Failed { why } => {
                format!("A person allowed it, and it could not be done: {why}")
            }
            TalkOutcome::Refused { by } => {
                format!("{} refused it. Do not ask again within an hour.", self.name_of(by))
            }
            TalkOutcome::Expired => "The time to answer ran out.".into(),
        };
        format!("{what}. {came}")
    }

    /// Adds a request that waits for a person's answer.
    pub(crate) fn apply_requested(
        &mut self,
        permission: &PermissionId,
        participant: &ParticipantId,
        request: Request,
        waiting: OpenPermission,
        at: Seq,
    ) {
        let (participant, stage) = (participant.clone(), Stage::Asked(waiting));
        let open = OpenRequest { at, participant, request, stage };
        self.floor.requests.insert(permission.clone(), open);
    }

    /// Marks a waiting request as allowed if the chosen option allows it once. Any other option
    /// changes nothing here: the decision settles the request as refused.
    pub(crate) fn apply_request_answered(&mut self, permission: &PermissionId, option: &str) {
        let Some(open) = self.floor.requests.get_mut(permission) else { return };
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

    /// Remembers a refusal for [`REFUSAL_LASTS`], and forgets the expired ones.
    pub(crate) fn apply_talk_settled(
        &mut self,
        participant: &ParticipantId,
        talk: &TalkRequest,
        outcome: &TalkOutcome,
        at: Timestamp,
    ) {
        self.floor.refusals.retain(|refusal| refusal.until > at);
        if matches!(outcome, TalkOutcome::Refused { .. }) {
            let (participant, to) = (participant.clone(), talk.to.clone());
            let until = at + REFUSAL_LASTS;
            self.floor.refusals.push(TalkRefusal { participant, to, until });
        }
    }
}

impl Decider<'_> {
    /// Opens a request of an agent. An equal open request is not opened twice.
    pub(crate) fn ask_request(
        &mut self,
        permission: PermissionId,
        by: &Actor,
        request: Request,
        within: Millis,
    ) -> Result<(), Rejection> {
        if !self.state.participant(&by.id).is_some_and(|asker| asker.takes_turns()) {
            let message = format!(
                "{} is not an agent of this conversation. Name a conversation in which it takes \
                 part.",
                by.id
            );
            return Err(
                Rejection::new(Refusal::Conflict, "not_a_participant", message).about(&by.id)
            );
        }
        if let Some((_, code, message)) = self.silence_of(&by.id) {
            return Err(Rejection::new(Refusal::Conflict, code, message).about(&by.id));
        }
        if self.state.request_asked(&by.id, &request).is_some() {
            return Ok(());
        }
        self.check_refused(by, &request)?;
        let requests = self.state.floor.requests.values();
        if requests.filter(|open| open.participant == by.id).count() >= CARDS_MAX {
            let message = format!(
                "{CARDS_MAX} of your requests are already waiting here. Wait for a person to \
                 answer them."
            );
            return Err(Rejection::new(Refusal::Conflict, "too_many_starts", message).about(&by.id));
        }
        let Question { action, partial, options, folder, .. } = request.question().for_display();
        if partial {
            let message = "The request is too long to be shown to a person. Give fewer arguments, \
                           or a shorter message.";
            return Err(Rejection::new(Refusal::TooLarge, "start_too_large", message).about(&by.id));
        }
        let (participant, expires) = (by.id.clone(), self.now + within);
        self.emit(match request {
            Request::Start(start) => Event::StartRequested {
                permission,
                participant,
                start,
                action,
                options,
                expires,
                folder,
            },
            Request::Talk(talk) => {
                Event::TalkRequested { permission, participant, talk, action, options, expires }
            }
        });
        Ok(())
    }

    /// Rejects a request to talk to a name refused within the last hour, or to any name after
    /// [`REFUSALS_MAX`] refusals.
    fn check_refused(&self, by: &Actor, request: &Request) -> Result<(), Rejection> {
        let Request::Talk(talk) = request else { return Ok(()) };
        let now = self.now;
        let refusals = self.state.floor.refusals.iter();
        let own: Vec<&TalkRefusal> = refusals
            .filter(|refusal| refusal.participant == by.id && refusal.until > now)
            .collect();
        let same = own.iter().find(|refusal| talk.is_to_the_same(&refusal.to));
        let first = own.first().filter(|_| own.len() >= REFUSALS_MAX);
        let Some(refusal) = same.or(first) else { return Ok(()) };
        let minutes = refusal.until.since(now).as_secs_f64().max(60.0) / 60.0;
        let message = format!(
            "A person refused this request. Ask again in {minutes:.0} minutes, or tell a person \
             why you need {}.",
            talk.to
        );
        Err(Rejection::new(Refusal::Conflict, "talk_refused", message).about(&by.id))
    }

    /// Settles a request that a person refused.
    pub(crate) fn settle_refused(&mut self, permission: &PermissionId, by: &ParticipantId) {
        self.settle_unmet(permission, RequestFailure::Refused(by.clone()));
    }

    /// Settles a request whose time to answer ran out.
    pub(crate) fn settle_expired(&mut self, permission: &PermissionId) {
        self.settle_unmet(permission, RequestFailure::Expired);
    }

    /// Settles a request that was refused or expired. Changes nothing if it is unknown or allowed.
    fn settle_unmet(&mut self, permission: &PermissionId, unmet: RequestFailure) {
        let requests = &self.state.floor.requests;
        let Some(open) = requests.get(permission).filter(|open| open.stage != Stage::Allowed)
        else {
            return;
        };
        match (&open.request, unmet) {
            (Request::Start(_), RequestFailure::Refused(by)) => {
                self.settle_start(permission, StartOutcome::Refused { by })
            }
            (Request::Start(_), RequestFailure::Expired) => {
                self.settle_start(permission, StartOutcome::Expired)
            }
            (Request::Talk(_), RequestFailure::Refused(by)) => {
                self.settle_talk(permission, TalkOutcome::Refused { by })
            }
            (Request::Talk(_), RequestFailure::Expired) => {
                self.settle_talk(permission, TalkOutcome::Expired)
            }
        }
    }

    /// Settles an allowed start with the engine's outcome.
    pub(crate) fn start_done(&mut self, permission: &PermissionId, outcome: StartOutcome) {
        if self.is_allowed(permission) {
            self.settle_start(permission, outcome);
        }
    }

    /// Settles an allowed request to talk with the engine's outcome.
    pub(crate) fn talk_done(&mut self, permission: &PermissionId, outcome: TalkOutcome) {
        if self.is_allowed(permission) {
            self.settle_talk(permission, outcome);
        }
    }

    fn is_allowed(&self, permission: &PermissionId) -> bool {
        let open = self.state.floor.requests.get(permission);
        open.is_some_and(|open| open.stage == Stage::Allowed)
    }

    /// Ends a request to start with its outcome, for which its asker may get a turn. Ignores other
    /// permissions.
    fn settle_start(&mut self, permission: &PermissionId, outcome: StartOutcome) {
        let Some(OpenRequest { participant, request: Request::Start(start), .. }) =
            self.state.floor.requests.get(permission)
        else {
            return;
        };
        let (asker, start) = (participant.clone(), start.clone());
        self.settle_request(
            &asker,
            Event::StartSettled {
                permission: permission.clone(),
                participant: asker.clone(),
                start,
                outcome,
            },
        );
    }

    /// Ends a request to talk with its outcome, for which its asker may get a turn. Ignores other
    /// permissions.
    fn settle_talk(&mut self, permission: &PermissionId, outcome: TalkOutcome) {
        let Some(OpenRequest { participant, request: Request::Talk(talk), .. }) =
            self.state.floor.requests.get(permission)
        else {
            return;
        };
        let (asker, talk) = (participant.clone(), talk.clone());
        self.settle_request(
            &asker,
            Event::TalkSettled {
                permission: permission.clone(),
                participant: asker.clone(),
                talk,
                outcome,
            },
        );
    }

    fn settle_request(&mut self, asker: &ParticipantId, settled: Event) {
        let cause = self.emit(settled);
        // The asker caused the outcome, so the turn is charged to the asker.
        self.tell_asker(asker, &Cause { from: asker.clone(), ..cause });
    }

    /// Grants the asker of a settled request a turn about the outcome, outside of a round. If a
    /// guard holds, the asker reads the outcome in its next turn. Does nothing in an archived
    /// conversation, or under a policy that tells no outcomes.
    fn tell_asker(&mut self, asker: &ParticipantId, cause: &Cause) {
        if self.state.archived || !self.state.rules().tells_outcomes {
            return;
        }
        if self.state.guards.held.is_some() {
            return self.skip(asker, WhyNot::Held, cause, None);
        }
        if self.can_take_turns(asker, cause) {
            self.grant(asker, TurnReason::Outcome, TurnKind::Reply, true, cause);
        }
    }
}
