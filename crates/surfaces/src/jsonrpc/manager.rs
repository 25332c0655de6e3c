//! Sends requests to the connection that manages an app, and reads its responses.

use async_trait::async_trait;
use moothall_engine::tasks::{Forwarding, TaskManager, TaskProposal, wire_id};
use moothall_kernel::ids::ParticipantId;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::convert::{agent_id, asked_parts, id_of};
use super::methods::{ServerRequest, read_result};
use crate::wire::rpc;

/// The reason for a failed request if a manager did not respond, or responded with something
/// invalid.
const UNREACHABLE: &str = "tm_unreachable";

/// A request on its way to a manager's connection. The response is dropped if its receiver is gone.
pub(super) struct PendingCall {
    pub(super) request: ServerRequest,
    pub(super) answer: oneshot::Sender<Value>,
}

/// The manager at the other end of a connection.
pub(super) struct RemoteManager(pub(super) mpsc::Sender<PendingCall>);

impl RemoteManager {
    /// Returns the manager's result. Returns `None` if the connection has ended, or if the manager
    /// responds with an error.
    async fn ask(&self, request: ServerRequest) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        self.0.send(PendingCall { request, answer }).await.ok()?;
        answered.await.ok()
    }
}

fn unreachable<T>() -> Result<T, Option<String>> {
    Err(Some(UNREACHABLE.into()))
}

#[async_trait]
impl TaskManager for RemoteManager {
    /// Asks the manager to accept a task. A rejection has the manager's reason, if it gave one. The
    /// reason is [`UNREACHABLE`] if the manager is offline, responds with an error, or sends a
    /// response that cannot be read.
    async fn wants(&self, wish: TaskProposal) -> Result<(), Option<String>> {
        let TaskProposal { task, invited, first, exchanges_max } = wish;
        let first = first.map(|first| rpc::InitialConversation {
            name: first.name.as_deref().and_then(rpc::Name::shortened),
            participants: first
                .participants
                .iter()
                .map(agent_id)
                .collect::<Vec<_>>()
                .try_into()
                .ok(),
        });
        let request = ServerRequest::TaskCreate(rpc::TaskCreate {
            task_id: id_of(&task.id),
            initiator_agent_id: agent_id(&task.initiator),
            invited_agent_ids: invited.iter().map(agent_id).collect(),
            initial_conversation: first,
            max_exchanges_without_human: exchanges_max,
            received_at: Some(task.created_at.into()),
        });
        let Some(answer) = self.ask(request).await else { return unreachable() };
        match read_result::<rpc::TaskDecided>(answer) {
            Ok(rpc::TaskDecided { verdict: rpc::TaskVerdict::Accept {} }) => Ok(()),
            Ok(rpc::TaskDecided { verdict: rpc::TaskVerdict::Reject { reason } }) => {
                Err(reason.map(Into::into))
            }
            Err(_) => unreachable(),
        }
    }

    /// Asks the manager for the readers of a message. A refusal has the manager's reason, if it
    /// gave one. The reason is [`UNREACHABLE`] as for a task, and also if the manager names an
    /// agent that is not a member.
    async fn forwards(&self, message: Forwarding) -> Result<Vec<ParticipantId>, Option<String>> {
        let Forwarding { task, app, conversation, draft, sender, parts, at, members } = message;
        let id = |text: &str| rpc::Uuid(uuid::Uuid::try_parse(text).unwrap_or_default());
        let held = rpc::MessageHeld {
            id: id(&draft),
            sender_agent_id: agent_id(&sender),
            parts: asked_parts(parts),
        };
        let request = ServerRequest::MessagesAuthorize(rpc::MessagesAuthorize {
            task_id: id_of(&task),
            app_id: id(&app),
            conversation_id: id_of(&conversation),
            message: held,
            received_at: Some(at.into()),
        });
        let Some(answer) = self.ask(request).await else { return unreachable() };
        match read_result::<rpc::MessageAuthorized>(answer) {
            Ok(rpc::MessageAuthorized { verdict: rpc::MessageVerdict::Forward { recipients } }) => {
                let member = |id: rpc::Uuid| members.iter().find(|one| wire_id(one) == id.0);
                let named: Option<Vec<_>> =
                    recipients.into_iter().map(|id| member(id).cloned()).collect();
                named.map_or_else(unreachable, Ok)
            }
            Ok(rpc::MessageAuthorized { verdict: rpc::MessageVerdict::Block { reason } }) => {
                Err(reason.map(Into::into))
            }
            Err(_) => unreachable(),
        }
    }
}
