//! Programs that agents ask to have started: who asks, and the part of the engine that starts them.

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

/// Pause before an outcome that was not kept is told again, in milliseconds.
const RETRY: i64 = 1_000;

/// A program that is being started by this process.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    room: usize,
    permission: PermissionId,
    done: EngineCommand,
    /// When what came of it is told, for the first time or again.
    pub(crate) due: i64,
}

impl World {
    /// Somebody wants something started: an agent, or somebody who may not ask for that.
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

    /// Somebody's program asks something in no turn, perhaps once more, or asks it no longer.
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

    /// The host wants a request carried out, however often it says so.
    pub(crate) fn begin_errand(
        &mut self,
        room: usize,
        errand: &AllowedRequest,
    ) -> Result<(), Objection> {
        let permission = &errand.permission;
        // A host that was replaced may have settled it: the newer one finds that out with its next
        // append.
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
            let done = self.done(errand);
            let due = self.time + self.rng.between(1, 20_000) as i64;
            self.beginnings.push(Beginning { room, permission: permission.clone(), done, due });
        }
        Ok(())
    }

    /// The outcome of a request that was carried out, or could not be.
    fn done(&mut self, errand: &AllowedRequest) -> EngineCommand {
        let permission = errand.permission.clone();
        let fails = self.rng.below(3) == 0;
        match &errand.request {
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

    /// What came of starts is told until it is kept.
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
