//! The calls: each passes its request to the door and returns the response.

use std::net::IpAddr;
use std::sync::Arc;

use moothall_engine::access::Caller;
use moothall_engine::door::{
    ConversationWish, Door, MANAGER_ANSWERS_WITHIN, OutgoingMessage, stray_name,
};
use moothall_engine::tasks::{
    AgentLine, AppManifest, MESSAGES_A_MINUTE, ManagerHooks, REQUESTS_A_MINUTE, TaskError,
};
use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::control::PARTICIPANTS_MAX;
use moothall_kernel::event::Event;
use moothall_kernel::ids::{EventId, StreamId};
use tokio::sync::mpsc;

use super::code::{RpcCode, RpcError};
use super::convert::{agent_id, agent_of, agents_of, given_parts, message, presence, stream_of};
use super::frame;
use super::manager::{PendingCall, RemoteManager};
use super::methods::{Call, Method};
use crate::http::App;
use crate::next_steps::Reader;
use crate::wire::rpc;

/// The protocol version of this server.
pub(super) const PROTOCOL: &str = "2026.525.0";
/// Maximum size of a call's frame, in bytes.
pub(super) const FRAME_BYTES_MAX: usize = 65_536;
/// Interval between heartbeats, in milliseconds.
pub(super) const HEARTBEAT_MS: u32 = 30_000;
/// Default number of rows per page.
const ROWS: usize = 50;

/// An authenticated agent at the other end, as its calls need it.
#[derive(Clone)]
pub(super) struct ConnectedAgent {
    pub(super) door: Door,
    pub(super) own: AgentLine,
    pub(super) asked: mpsc::Sender<PendingCall>,
}

/// The result of a call: the response, and the message that was sent.
pub(super) struct CallOutcome {
    pub(super) text: String,
    /// The conversation of a `messages/send`, even if the message was refused.
    pub(super) sent_to: Option<StreamId>,
    /// The message's id, if the message was posted.
    pub(super) sent: Option<EventId>,
}

fn rows(limit: Option<rpc::Limit>) -> usize {
    limit.map_or(ROWS, |limit| limit.get() as usize)
}

/// Returns the response to `network/connect`.
pub(super) fn hello(own: &AgentLine) -> rpc::HelloOk {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    rpc::HelloOk {
        protocol_version: PROTOCOL.into(),
        agent_id: agent_id(own.agent()),
        policy: rpc::Policy {
            max_message_bytes: number(FRAME_BYTES_MAX),
            max_parts_per_message: number(rpc::Parts::ITEMS_MAX),
            max_text_length: number(rpc::MessageText::CHARS_MAX),
            max_group_participants: number(PARTICIPANTS_MAX),
            heartbeat_interval_ms: HEARTBEAT_MS,
            rate_limits: rpc::RateLimits {
                messages_per_minute: number(MESSAGES_A_MINUTE),
                requests_per_minute: number(REQUESTS_A_MINUTE),
            },
        },
    }
}

/// Checks that the client's version range includes this server's version. Versions are numbers with
/// dots. A missing number is 0.
pub(super) fn check_versions(min: &str, max: &str) -> Result<(), RpcError> {
    let (server, min_of, max_of) = (numbers(PROTOCOL), numbers(min), numbers(max));
    let (Some(server), Some(low), Some(high)) = (server, min_of, max_of) else {
        return Err(RpcError::invalid_params(
            Method::NetworkConnect.word(),
            "'minProtocol' and 'maxProtocol' take numbers with dots",
        ));
    };
    let reason = if server > high {
        "server-above-client-max"
    } else if server < low {
        "server-below-client-min"
    } else {
        return Ok(());
    };
    Err(RpcError::plain(RpcCode::ProtocolMismatch).with_data(serde_json::json!({
        "reason": reason,
        "serverVersion": PROTOCOL,
        "clientMinProtocol": min,
        "clientMaxProtocol": max,
    })))
}

/// Returns the numbers of a version without zeros at its end. `None` if a part is not a number.
/// Parts after the sixteenth are ignored.
fn numbers(version: &str) -> Option<Vec<u64>> {
    const NUMBERS_MAX: usize = 16;
    let mut numbers: Vec<u64> = version
        .split('.')
        .take(NUMBERS_MAX)
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

/// Returns the caller for a key. A wrong key counts against its address. If the address has sent
/// too many, the error is `RateLimited`.
pub(super) async fn caller_of(
    app: &App,
    address: Option<IpAddr>,
    connect: &rpc::NetworkConnect,
) -> Result<Caller, RpcError> {
    let refused = || match app.rates.wrong_key(address) {
        Some(_) => RpcError::plain(RpcCode::RateLimited),
        None => RpcError::new(RpcCode::Unauthorized, "Authentication failed"),
    };
    let rpc::NetworkConnect::Agent(rpc::AgentConnect { agent_key, .. }) = connect else {
        let message = "Session tokens not supported by this server";
        return Err(RpcError::new(RpcCode::Unauthorized, message));
    };
    let found = app.access.identify(agent_key).await;
    found.map_err(|_| RpcError::plain(RpcCode::InternalError))?.ok_or_else(refused)
}

/// Performs a call. Returns its response as text, which may be an error, and for a message also its
/// conversation and its id.
pub(super) async fn perform(app: &App, at: &ConnectedAgent, id: &str, call: Call) -> CallOutcome {
    let method = call.method();
    let mut sent_to = None;
    let done = match call {
        Call::MessagesSend(send) => {
            sent_to = Some(stream_of(send.conversation_id));
            send_message(at, id, send).await.map(|(text, event)| (text, Some(event)))
        }
        call => answered(app, at, id, call).await.map(|text| (text, None)),
    };
    match done {
        Ok((text, sent)) => CallOutcome { text, sent_to, sent },
        Err(error) => {
            let text = frame::error(Some(id), &RpcError::of(method, error));
            CallOutcome { text, sent_to, sent: None }
        }
    }
}

/// Sends a message, and returns the response and the message's id. The response has a warning if a
/// name in the message does not reach a participant.
async fn send_message(
    at: &ConnectedAgent,
    id: &str,
    send: rpc::MessagesSend,
) -> Result<(String, EventId), TaskError> {
    let rpc::MessagesSend { task_id, conversation_id, parts, reply_to_id, dispatch_lease_id } =
        send;
    // This server gives out no leases, so every lease is unknown.
    if dispatch_lease_id.is_some() {
        let message = "Lease not found";
        return Err(Rejection::new(Refusal::NotFound, "unknown_lease", message).into());
    }
    let conversation = stream_of(conversation_id);
    let sending = OutgoingMessage {
        task: stream_of(task_id),
        conversation: conversation.clone(),
        parts: given_parts(parts),
        reply_to: reply_to_id.and_then(|id| id.to_string().parse().ok()),
    };
    let posted = at.door.say_in_task(&at.own, sending).await?;
    let event = posted.id(&conversation);
    let message = message(&conversation, &posted, false)
        .ok_or_else(|| TaskError::Invalid("'parts' has no visible content".into()))?;
    let mut warnings = Vec::new();
    if let Event::Posted(words) = &posted.event {
        // A member knows the other members, so the warning may name them.
        let stray = stray_name(words, true);
        warnings.extend(stray.iter().map(|warning| Reader::Rpc.reword(warning)));
    }
    Ok((frame::response(id, &rpc::MessageSent { message, warnings }), event))
}

/// Carries out a call and returns its response. [`perform`] does not use this for messages, because
/// it also needs their ids.
async fn answered(
    app: &App,
    at: &ConnectedAgent,
    id: &str,
    call: Call,
) -> Result<String, TaskError> {
    let ConnectedAgent { door, own, .. } = at;
    let done = || frame::response(id, &rpc::Done {});
    Ok(match call {
        Call::NetworkConnect(_) => frame::response(id, &hello(own)),
        Call::NetworkPing(_) => frame::response(id, &rpc::Pong { ts: app.entrance.now().into() }),
        Call::AgentsLookup(rpc::AgentsLookup { agent_ids }) => {
            let ids: Vec<_> = agent_ids.as_slice().iter().map(|id| id.0).collect();
            let agents = door.agents(own, &ids).await?.into_iter().map(Into::into).collect();
            frame::response(id, &rpc::AgentCards { agents })
        }
        Call::AgentsLookupByName(rpc::AgentsLookupByName { names }) => {
            let names: Vec<_> =
                names.as_slice().iter().map(|name| name.as_str().to_owned()).collect();
            let agents = door.agents_named(&names).await?.into_iter().map(Into::into).collect();
            frame::response(id, &rpc::AgentCards { agents })
        }
        Call::AgentsList(_) => {
            let agents = door.own_agents(own).await?.into_iter().map(rpc::AgentCard::from);
            let agents = agents.map(|card| (card.id, card)).collect();
            frame::response(id, &rpc::AgentMap { agents })
        }
        Call::AppsRegister(rpc::AppRegistration { manifest }) => {
            let app_id = manifest.app_id;
            let manager = Arc::new(RemoteManager(at.asked.clone()));
            door.register_app(own, manifest_of(&manifest), manager).await?;
            frame::response(id, &rpc::AppRegistered { app_id })
        }
        Call::TaskRequest(request) => frame::response(id, &requested(app, at, request).await?),
        Call::TaskList(rpc::TaskList { limit, cursor }) => {
            let page = door.tasks(own, rows(limit), cursor.as_deref()).await?;
            let tasks = page.items.into_iter().map(Into::into).collect();
            frame::response(id, &rpc::TaskPage { tasks, next_cursor: page.next })
        }
        Call::TaskLeave(rpc::TaskLeave { task_id }) => {
            door.leave_task(own, &stream_of(task_id)).await?;
            done()
        }
        Call::TaskClose(rpc::TaskClose { task_id }) => {
            let task = door.close_task(own, &stream_of(task_id)).await?.into();
            frame::response(id, &rpc::TaskClosed { task })
        }
        Call::TaskAddParticipant(rpc::TaskAddParticipant { task_id, agent_id }) => {
            let at = door.admit(own, &stream_of(task_id), agent_of(agent_id)).await?;
            let participant =
                rpc::TaskParticipant { task_id, agent_id, admitted_at: Some(at.into()) };
            frame::response(id, &rpc::TaskParticipantAdded { participant })
        }
        Call::TaskRemoveParticipant(rpc::TaskRemoveParticipant { task_id, agent_id }) => {
            door.remove(own, &stream_of(task_id), agent_of(agent_id)).await?;
            done()
        }
        Call::ConversationCreate(rpc::ConversationCreate { task_id, name, participants }) => {
            let wish = ConversationWish {
                name: name.map(Into::into),
                participants: agents_of(participants.as_slice()),
            };
            let view = door.open_conversation(own, &stream_of(task_id), wish).await?;
            frame::response(id, &rpc::ConversationMade { conversation: (&view).into() })
        }
        Call::ConversationList(rpc::ConversationList { limit, cursor }) => {
            let page = door.conversations(own, rows(limit), cursor.as_deref()).await?;
            let items = page.items.into_iter().map(Into::into).collect();
            frame::response(id, &rpc::ConversationPage { items, next_cursor: page.next })
        }
        Call::ConversationArchive(rpc::ConversationArchive { task_id, conversation_id }) => {
            let (task, conversation) = (stream_of(task_id), stream_of(conversation_id));
            door.archive_conversation(own, &task, &conversation, true).await?;
            done()
        }
        Call::ConversationUnarchive(rpc::ConversationUnarchive { task_id, conversation_id }) => {
            let (task, conversation) = (stream_of(task_id), stream_of(conversation_id));
            door.archive_conversation(own, &task, &conversation, false).await?;
            done()
        }
        Call::ParticipantAdd(rpc::ParticipantAdd { task_id, conversation_id, agent_id }) => {
            let (task, conversation) = (stream_of(task_id), stream_of(conversation_id));
            door.add_participant(own, &task, &conversation, agent_of(agent_id)).await?;
            done()
        }
        Call::ParticipantRemove(rpc::ParticipantRemove { task_id, conversation_id, agent_id }) => {
            let (task, conversation) = (stream_of(task_id), stream_of(conversation_id));
            door.remove_participant(own, &task, &conversation, &agent_of(agent_id)).await?;
            done()
        }
        Call::MessagesSend(send) => send_message(at, id, send).await?.0,
        Call::MessagesList(list) => frame::response(id, &listed(at, list).await?),
        Call::PresenceSubscribe(rpc::PresenceSubscribe { agent_ids }) => {
            let now = door.watch_agents(own, agents_of(agent_ids.as_slice()))?;
            let statuses = now.iter().map(|(agent, online)| presence(agent, *online)).collect();
            frame::response(id, &rpc::PresenceStatuses { statuses })
        }
    })
}

/// Requests a task. A first conversation without a list of participants gets all invited agents.
async fn requested(
    app: &App,
    at: &ConnectedAgent,
    request: rpc::TaskRequest,
) -> Result<rpc::TaskRequested, TaskError> {
    let rpc::TaskRequest {
        app_id,
        invited_agent_ids,
        initial_conversation,
        max_exchanges_without_human,
    } = request;
    let exchanges = app.rates.task_exchanges(max_exchanges_without_human).map_err(|ceiling| {
        TaskError::Invalid(format!(
            "'maxExchangesWithoutHuman' takes 1 to {ceiling}, the operator's ceiling"
        ))
    })?;
    let invited = agents_of(invited_agent_ids.as_slice());
    let first = initial_conversation.map(|first| ConversationWish {
        name: first.name.map(Into::into),
        participants: first
            .participants
            .map_or_else(|| invited.clone(), |participants| agents_of(participants.as_slice())),
    });
    let (task, conversation) =
        at.door.request_task(&at.own, &app_id.to_string(), invited, first, exchanges).await?;
    let conversation = conversation.map(|view| (&view).into());
    Ok(rpc::TaskRequested { task: task.into(), conversation })
}

/// Returns a page of messages. Messages whose content was erased are left out.
async fn listed(
    at: &ConnectedAgent,
    list: rpc::MessagesList,
) -> Result<rpc::MessagePage, TaskError> {
    let rpc::MessagesList { task_id, conversation_id, since_seq, limit } = list;
    let (task, conversation) = (stream_of(task_id), stream_of(conversation_id));
    let page = at
        .door
        .task_messages(&at.own, &task, &conversation, since_seq.as_deref(), rows(limit))
        .await?;
    let shown = |recorded| message(&conversation, recorded, page.with_readers);
    Ok(rpc::MessagePage {
        messages: page.messages.iter().filter_map(shown).collect(),
        has_more: page.has_more,
    })
}

/// Converts the parts of an app's manifest that the server uses. A hook without a time limit gets
/// the default one.
fn manifest_of(manifest: &rpc::Manifest) -> AppManifest {
    let within = |hook: &Option<rpc::Hook>| {
        let hook = hook.as_ref()?;
        Some(hook.timeout_ms.map_or(MANAGER_ANSWERS_WITHIN.0, |timeout| timeout.get().into()))
    };
    let hooks = manifest.hooks.as_ref().map_or_else(ManagerHooks::default, |hooks| ManagerHooks {
        task_ms: within(&hooks.task_create),
        message_ms: within(&hooks.message_authorize),
    });
    let most = manifest.limits.as_ref().and_then(|limits| limits.max_participants);
    let (id, name) = (manifest.app_id.to_string(), manifest.name.as_str().to_owned());
    AppManifest { id, name, participants_max: most, hooks }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        for (min, max) in [
            ("2026.523.0", "2026.525.0"),
            ("2026.525", "2026.525"),
            ("0", "9999"),
            ("2026.525.0.0", "2026.525.0"),
        ] {
            assert_eq!(check_versions(min, max), Ok(()), "{min} to {max}");
        }
        let reason = |min: &str, max: &str| {
            let error = check_versions(min, max).unwrap_err();
            (error.code, error.data.unwrap()["reason"].clone())
        };
        let below = reason("2026.526.0", "2026.600.0");
        assert_eq!(below, (RpcCode::ProtocolMismatch, "server-below-client-min".into()));
        let above = reason("2026.1.0", "2026.524.99");
        assert_eq!(above, (RpcCode::ProtocolMismatch, "server-above-client-max".into()));
        assert_eq!(check_versions("", "2026").unwrap_err().code, RpcCode::InvalidParams);
        assert_eq!(check_versions("1", "v2").unwrap_err().code, RpcCode::InvalidParams);
    }
}
