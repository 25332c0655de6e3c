//! Programs that agents ask to start: the requests, and the part of the engine that starts the
//! programs.

use moothall_kernel::command::{Actor, EngineCommand};
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::ids::PermissionId;
use moothall_kernel::permission::{PermissionOption, Question, WithdrawalReason};
use moothall_kernel::request::Request;
use moothall_kernel::start::{StartOutcome, StartRequest};
use moothall_kernel::talk::{TalkOutcome, TalkRequest};
use moothall_kernel::time::Millis;

use super::check::Objection;
use super::server::{self, HostInput};
use super::world::{World, object};

/// Pause before an unsaved outcome is reported again, in milliseconds.
const RETRY: i64 = 1_000;

/// A program that this process is starting.
#[derive(Clone, Debug)]
pub(crate) struct PendingStart {
    room: usize,
    permission: PermissionId,
    done: EngineCommand,
    /// Time at which the outcome is reported, first or again.
    pub(crate) due: i64,
}

impl World {
    /// Requests the start of a program, by an agent or by a participant without that right.
    pub(crate) fn ask_for_start(&mut self, room: usize) {
        self.last_permission += 1;
        let permission = PermissionId::new(format!("p{}", self.last_permission));
        if self.rng.chance(40) {
            return self.ask_in_no_turn(room, permission);
        }
        let number = self.rng.below(3);
        let request = if self.rng.chance(30) {
            Request::Talk(TalkRequest {
                to: format!("s{number}").as_str().into(),
                message: "hi".into(),
            })
        } else {
            Request::Start(StartRequest {
                client: "codex".into(),
                args: Vec::new(),
                folder: format!("/srv/{number}"),
                name: None,
                message: (number > 0).then(|| "begin".to_owned()),
                direct: number > 1,
            })
        };
        let within = Millis(self.rng.between(1_000, 9_000_000));
        let by = Actor::named(self.somebody(room));
        let request = Box::new(request);
        self.client(room, EngineCommand::Ask { permission, by, request, within });
    }

    /// Asks a program's question outside a turn, perhaps a second time, or withdraws it.
    fn ask_in_no_turn(&mut self, room: usize, permission: PermissionId) {
        let asked = self.benches[room].room.questions.keys().next().cloned();
        let command = match (asked, self.rng.below(4)) {
            (Some(permission), 0) => {
                EngineCommand::WithdrawPermission { permission, because: WithdrawalReason::Gone }
            }
            (asked, chance) => {
                let permission = asked.filter(|_| chance == 1).unwrap_or(permission);
                let question = Box::new(Question::new(
                    "Is this folder trusted?",
                    PermissionOption::allow_or_deny(),
                ));
                EngineCommand::AskQuestion {
                    permission,
                    participant: self.somebody(room),
                    question,
                }
            }
        };
        self.client(room, command);
    }

    /// Carries out a request of the host, once even if asked repeatedly.
    pub(crate) fn begin_request(
        &mut self,
        room: usize,
        request: &AllowedRequest,
    ) -> Result<(), Objection> {
        let permission = &request.permission;
        // A replaced host may have settled the request. The newer one notices with its next append.
        if self.servers[room].host.committed().head() < self.benches[room].room.head {
            return Ok(());
        }
        let allowed = self.benches[room].room.starts.get(permission) == Some(&true);
        object(
            "starts",
            if allowed {
                Ok(())
            } else {
                Err(format!("{permission} of room {room} was begun, and nobody allowed it"))
            },
        )?;
        if !self
            .beginnings
            .iter()
            .any(|known| known.room == room && known.permission == *permission)
        {
            let done = self.done(request);
            let due = self.time + self.rng.between(1, 20_000) as i64;
            self.beginnings.push(PendingStart { room, permission: permission.clone(), done, due });
        }
        Ok(())
    }

    /// Returns the outcome of a request: carried out or failed.
    fn done(&mut self, request: &AllowedRequest) -> EngineCommand {
        let permission = request.permission.clone();
        let fails = self.rng.below(3) == 0;
        match &request.request {
            Request::Start(_) => {
                let outcome = if fails {
                    StartOutcome::Failed { why: "no such program".into() }
                } else {
                    let (session, name) = (permission.to_string(), "codex-1".into());
                    StartOutcome::Started { session, name, unsaid: None }
                };
                EngineCommand::StartDone { permission, outcome }
            }
            Request::Talk(_) => {
                let outcome = if fails {
                    TalkOutcome::Failed { why: "no such session".into() }
                } else {
                    TalkOutcome::Linked {
                        link: permission.to_string().as_str().into(),
                        unsaid: None,
                    }
                };
                EngineCommand::TalkDone { permission, outcome }
            }
        }
    }

    /// Reports the outcomes of starts until they are saved.
    pub(crate) fn tell_of_starts(&mut self) {
        let (now, servers, benches) = (self.time, &mut self.servers, &self.benches);
        self.beginnings.retain_mut(|known| {
            let owed = benches[known.room].room.starts.contains_key(&known.permission);
            if owed && known.due <= now {
                let command = known.done.clone();
                let key = Some(format!("start {}", known.permission));
                servers[known.room]
                    .queue
                    .push_back(HostInput::Asked(server::ClientRequest::new(command, key)));
                known.due = now + RETRY;
            }
            owed
        });
    }
}
