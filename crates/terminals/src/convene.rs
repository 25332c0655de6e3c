//! Bringing sessions into a conversation, some of which must be started first: either all of them
//! come, or none does and the started programs end.
//!
//! This takes several appends and several programs, so it is a saga. Before any program is started,
//! the conversation owes the undoing, as a delivery. One append that brings all sessions settles
//! it. After a crash the saga is undone when the server is back; after a failure it is undone at
//! once: started programs end, and a conversation created for the saga is deleted.

use async_trait::async_trait;
use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::outbox::{CrashRule, DeliveryHandler, DeliveryNotes, OutboxEntry, Outcome};
use moothall_engine::ports::{Delivery, Session, Target};
use moothall_engine::sessions::{
    ConversationPlan, JoiningSession, SessionError, SessionSource, session_of,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::gathering::{GatheringPlan, MEMBER_KEY};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::directory::Sessions;
use crate::faults::log_error;
use crate::sagas::Sagas;

/// The principal of the keys of starts.
const PRINCIPAL: &str = "moothall:saga";

/// The content of the one append that brings all sessions.
#[derive(Default)]
struct MemberBatch {
    joining: Vec<JoiningSession>,
    others: Vec<Invite>,
    claims: Vec<String>,
    gathering: Option<GatheringPlan>,
    keep: bool,
}

/// The data for undoing a saga, as its delivery carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UndoRecord {
    /// The id of the saga, and the prefix of the keys of its starts.
    saga: String,
    /// Number of programs to start.
    starts: usize,
    /// True if the conversation was created for the saga.
    fresh: bool,
    /// The start of the saga, by the hall's clock.
    at: Timestamp,
}

impl UndoRecord {
    fn outbox_entry(&self) -> OutboxEntry {
        OutboxEntry { target: Target::Saga(self.saga.clone()), command: json!(self) }
    }

    fn key(&self, start: usize) -> Idempotency {
        Idempotency {
            principal: PRINCIPAL.into(),
            key: format!("{}/{start}", self.saga),
            fingerprint: self.saga.clone(),
        }
    }
}

/// A guard that marks a saga as in progress in this process. Its drop ends the mark, also if the
/// caller cancels.
struct SagaGuard<'a> {
    sagas: &'a Sagas,
    undoing: UndoRecord,
}

impl Drop for SagaGuard<'_> {
    fn drop(&mut self) {
        self.sagas.end(&self.undoing.saga);
    }
}

impl Sessions {
    /// Creates a conversation with all invited sessions. If one cannot come, the programs started
    /// for it are ended.
    ///
    /// # Errors
    /// [`SessionError`]. All steps are undone then. If the undoing failed too, it is retried later.
    pub async fn convene(&self, new: ConversationPlan) -> Result<StreamId, SessionError> {
        let ConversationPlan { title, policy, by, joining, others, claims, gathering, keep } = new;
        let under_way = self.begin_saga(&joining, true)?;
        let owed = vec![under_way.undoing.outbox_entry()];
        let stream = self.hall()?.create_owing(title, policy, by.clone(), None, owed).await?.stream;
        self.bring(
            &under_way,
            &stream,
            by,
            MemberBatch { joining, others, claims, gathering, keep },
        )
        .await?;
        Ok(stream)
    }

    /// Brings all invited sessions into a conversation, or none. Returns them in their order.
    ///
    /// # Errors
    /// [`SessionError`]. All steps are undone then. If the undoing failed too, it is retried later.
    pub(crate) async fn bring_in(
        &self,
        stream: &StreamId,
        by: Actor,
        joining: Vec<JoiningSession>,
    ) -> Result<Vec<Session>, SessionError> {
        let under_way = self.begin_saga(&joining, false)?;
        let once = Idempotency {
            principal: PRINCIPAL.into(),
            key: under_way.undoing.saga.clone(),
            fingerprint: String::new(),
        };
        self.hall()?.owe(stream, vec![under_way.undoing.outbox_entry()], once).await?;
        let coming = MemberBatch { joining, ..MemberBatch::default() };
        self.bring(&under_way, stream, by, coming).await
    }

    /// Creates the undo record of a saga and marks the saga as in progress until the guard is
    /// dropped. `fresh` is true if the conversation is created for the saga, so that undoing it
    /// deletes the conversation.
    fn begin_saga(
        &self,
        joining: &[JoiningSession],
        fresh: bool,
    ) -> Result<SagaGuard<'_>, SessionError> {
        let starts = joining
            .iter()
            .filter(|session| matches!(session.who, SessionSource::Started(_)))
            .count();
        let undoing = UndoRecord {
            saga: Uuid::new_v4().simple().to_string(),
            starts,
            fresh,
            at: self.hall()?.now(),
        };
        let sagas = &self.shared.sagas;
        sagas.begin(&undoing.saga);
        Ok(SagaGuard { sagas, undoing })
    }

    /// Brings all sessions in, as [`Sessions::try_to_bring`] does, and undoes the saga immediately
    /// if that fails. If the undoing fails too, its error is returned, and the delivery that the
    /// conversation owes undoes the saga later.
    async fn bring(
        &self,
        under_way: &SagaGuard<'_>,
        stream: &StreamId,
        by: Actor,
        coming: MemberBatch,
    ) -> Result<Vec<Session>, SessionError> {
        let brought = self.try_to_bring(&under_way.undoing, stream, by, coming).await;
        if brought.is_err() {
            self.undo(stream, &under_way.undoing).await?;
        }
        brought
    }

    /// Starts the programs one after another, then makes all invitations and claims in one append.
    /// Returns the sessions in the order of the invitations. After an error the started programs
    /// still run. A session started for a gathering ends with it, unless `keep` is true.
    async fn try_to_bring(
        &self,
        undoing: &UndoRecord,
        stream: &StreamId,
        by: Actor,
        coming: MemberBatch,
    ) -> Result<Vec<Session>, SessionError> {
        let MemberBatch { joining, others, claims, gathering, keep } = coming;
        let (mut sessions, mut controls, mut starts) = (Vec::new(), Vec::new(), 0);
        for JoiningSession { who, invite } in joining {
            let session = match who {
                SessionSource::Living(id) => self.living(&id)?.session(),
                SessionSource::Started(mut new) => {
                    let ends = new.place.as_mut().filter(|_| gathering.is_some() && !keep);
                    if let Some(place) = ends {
                        place.until = Some(stream.clone());
                    }
                    starts += 1;
                    self.start_once(new, Some(undoing.key(starts - 1))).await?.session
                }
            };
            controls.push(Control::Invite(invite(&session)));
            if gathering.is_some() {
                controls.push(Control::Hold(format!("{MEMBER_KEY}{}", session.id)));
            }
            sessions.push(session);
        }
        controls.extend(others.into_iter().map(Control::Invite));
        controls.extend(claims.into_iter().map(Control::Hold));
        let command = match gathering {
            Some(plan) => ClientCommand::Gather { by, plan, controls },
            None => ClientCommand::Control {
                // The server invites them. The conversation's creation records the caller on whose
                // behalf.
                by: if undoing.fresh { Actor::human(by.id) } else { by },
                controls,
            },
        };
        self.hall()?.submit(stream, command, None).await?;
        Ok(sessions)
    }

    /// Undoes a saga unless it was completed.
    async fn undo(&self, stream: &StreamId, undoing: &UndoRecord) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let mut started = Vec::new();
        for start in 0..undoing.starts {
            // Looked up as of the saga's start: the key may have expired since.
            let claim =
                hall.claimed_at(&undoing.key(start), undoing.at).await.map_err(log_error)?;
            started.extend(claim.map(|claim| claim.stream));
        }
        let (own, fresh) = (started.clone(), undoing.fresh);
        let came = move |state: &Conversation| {
            let mut sessions = state.participants().iter().filter_map(session_of);
            // Only the saga brings sessions into a new conversation. An older conversation may have
            // sessions already.
            sessions.any(|session| fresh || own.contains(&session))
        };
        match hall.view(stream, came).await {
            Ok(true) => return Ok(()),
            // The conversation was deleted, so its sessions are ended.
            Ok(false) | Err(HallError::Deleted(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let by = Actor::human(ParticipantId::moothall());
        for session in started {
            self.withdraw(&session, &by).await?;
        }
        if undoing.fresh {
            hall.delete(stream).await?;
        }
        Ok(())
    }
}

/// A delivery handler that undoes abandoned sagas.
pub(crate) struct UndoHandler(pub(crate) Sessions);

#[async_trait]
impl DeliveryHandler for UndoHandler {
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Repeats
    }

    /// Waits until the saga is not in progress in this process any more, and then undoes it, unless
    /// it was completed. The delivery is done if its conversation does not exist, and is retried
    /// after any other error of the undoing.
    async fn carry(&self, delivery: &Delivery, _: &DeliveryNotes<'_>) -> Outcome {
        let undoing: UndoRecord = match delivery.carried() {
            Ok(undoing) => undoing,
            Err(error) => return Outcome::Failed(format!("this version cannot read it: {error}")),
        };
        self.0.shared.sagas.wait_for_end(&undoing.saga).await;
        match self.0.undo(&delivery.stream, &undoing).await {
            Ok(()) => Outcome::Done(String::new()),
            Err(SessionError::Hall(HallError::NotFound(_) | HallError::Deleted(_))) => {
                Outcome::Done("it never began".into())
            }
            Err(error) => Outcome::later(error.to_string()),
        }
    }
}
