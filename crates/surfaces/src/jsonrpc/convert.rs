//! Conversions between the engine's types and the JSON-RPC wire types.

use moothall_engine::door::{AgentView, ConversationView};
use moothall_engine::tasks::{Notice, TaskView, wire_id};
use moothall_kernel::event::{Event, Posted, RecordedEvent};
use moothall_kernel::ids::{EventId, ParticipantId, StreamId};
use moothall_kernel::message_part::{MessagePart, parts_of};
use moothall_kernel::task::TaskStatus;

use super::frame;
use super::methods::Notification;
use crate::wire::rpc;

/// Returns the id of a task or a conversation. All of them are UUIDs.
pub(super) fn id_of(stream: &StreamId) -> rpc::Uuid {
    rpc::Uuid(uuid::Uuid::try_parse(stream.as_str()).unwrap_or_default())
}

pub(super) fn stream_of(id: rpc::Uuid) -> StreamId {
    StreamId::new(id.to_string())
}

pub(super) fn agent_id(participant: &ParticipantId) -> rpc::Uuid {
    rpc::Uuid(wire_id(participant))
}

pub(super) fn agent_of(id: rpc::Uuid) -> ParticipantId {
    ParticipantId::new(id.to_string())
}

pub(super) fn agents_of(ids: &[rpc::Uuid]) -> Vec<ParticipantId> {
    ids.iter().copied().map(agent_of).collect()
}

fn agent_ids(participants: &[ParticipantId]) -> Vec<rpc::Uuid> {
    participants.iter().map(agent_id).collect()
}

fn event_id(id: EventId) -> rpc::Uuid {
    rpc::Uuid(uuid::Uuid::try_parse(&id.to_string()).unwrap_or_default())
}

fn name_of(name: &Option<String>) -> Option<rpc::Name> {
    name.as_deref().and_then(rpc::Name::shortened)
}

impl From<TaskView> for rpc::Task {
    fn from(task: TaskView) -> Self {
        Self {
            id: id_of(&task.id),
            app_id: rpc::Uuid(uuid::Uuid::try_parse(&task.app).unwrap_or_default()),
            initiator_agent_id: agent_id(&task.initiator),
            status: match task.status {
                TaskStatus::Waiting => rpc::TaskStatus::Waiting,
                TaskStatus::Active => rpc::TaskStatus::Active,
                TaskStatus::Failed => rpc::TaskStatus::Failed,
                TaskStatus::Closed => rpc::TaskStatus::Closed,
            },
            started_at: task.started_at.map(Into::into),
            ended_at: task.ended_at.map(Into::into),
            created_at: task.created_at.into(),
        }
    }
}

impl From<&ConversationView> for rpc::Conversation {
    fn from(view: &ConversationView) -> Self {
        Self {
            id: id_of(&view.id),
            name: name_of(&view.name),
            created_by: agent_id(&view.created_by),
            metadata: None,
            last_message_timestamp: None,
            created_at: view.created_at.into(),
            updated_at: view.updated_at.into(),
            archived_at: view.archived_at.map(Into::into),
        }
    }
}

impl From<ConversationView> for rpc::ConversationEntry {
    fn from(view: ConversationView) -> Self {
        Self {
            task_id: id_of(&view.task),
            conversation: (&view).into(),
            participants: agent_ids(&view.participants),
        }
    }
}

impl From<AgentView> for rpc::AgentCard {
    fn from(view: AgentView) -> Self {
        let registered = view.registered_at.is_some();
        let owner = view.owner.as_deref().and_then(|owner| uuid::Uuid::try_parse(owner).ok());
        Self {
            id: rpc::Uuid(view.id),
            owner_user_id: owner.map(rpc::Uuid),
            // People and this server's agents are not in the lookup by name.
            display_name: (!registered).then(|| view.name.clone()),
            name: view.name,
            description: view.description,
            agent_type: None,
            metadata: None,
            status: rpc::AgentStatus::Active,
        }
    }
}

/// Converts a message for agents. Returns `None` for an event that is not a message, and for a
/// message whose content was erased. With `with_readers`, includes the recipients, for the manager
/// of the app.
pub(super) fn message(
    conversation: &StreamId,
    recorded: &RecordedEvent,
    with_readers: bool,
) -> Option<rpc::Message> {
    let Event::Posted(posted) = &recorded.event else { return None };
    let named: Vec<_> = posted.mentions.iter().map(agent_id).collect();
    let readers = posted.only_for.as_ref().filter(|_| with_readers);
    Some(rpc::Message {
        id: event_id(recorded.id(conversation)),
        conversation_id: id_of(conversation),
        sender_id: agent_id(&posted.from),
        reply_to_id: posted.reply_to.as_ref().map(|cause| event_id(cause.id)),
        parts: parts(posted)?,
        tagged_entities: Some(named).filter(|named| !named.is_empty()),
        patched_by: None,
        created_at: recorded.ts.into(),
        dispatch_decision: readers
            .map(|readers| rpc::DispatchDecision::Forward { recipients: agent_ids(readers) }),
    })
}

/// Returns the parts of a message. A text of people and other agents may exceed the size of a part,
/// so it is split. Parts beyond the maximum number are left out. Returns `None` if no part is left.
fn parts(posted: &Posted) -> Option<rpc::Parts> {
    let mut out = Vec::new();
    for part in parts_of(&posted.body, &posted.parts) {
        match part {
            MessagePart::Text(text) => out.extend(texts(&text)),
            part => out.extend(wire_part(part)),
        }
    }
    out.truncate(rpc::Parts::ITEMS_MAX);
    rpc::Parts::try_from(out).ok()
}

fn texts(text: &str) -> Vec<rpc::Part> {
    let chars: Vec<char> = text.chars().collect();
    let pieces = chars.chunks(rpc::MessageText::CHARS_MAX).map(|piece| piece.iter().collect());
    let pieces = pieces.filter_map(|piece: String| rpc::MessageText::try_from(piece).ok());
    pieces.map(|text| rpc::Part::Text { text }).collect()
}

/// Converts a part. Returns `None` if it exceeds the limits of the protocol.
fn wire_part(part: MessagePart) -> Option<rpc::Part> {
    Some(match part {
        MessagePart::Text(text) => rpc::Part::Text { text: text.try_into().ok()? },
        MessagePart::Image { url, alt } => rpc::Part::Image {
            url: url.try_into().ok()?,
            alt_text: alt.and_then(|alt| alt.try_into().ok()),
        },
        MessagePart::File { url, name, mime, size } => rpc::Part::File {
            url: url.try_into().ok()?,
            name: name.try_into().ok()?,
            mime_type: mime.and_then(|mime| mime.try_into().ok()),
            size,
        },
    })
}

/// Converts the parts that a client sends.
pub(super) fn given_parts(parts: rpc::Parts) -> Vec<MessagePart> {
    let given = |part: rpc::Part| match part {
        rpc::Part::Text { text } => MessagePart::Text(text.into()),
        rpc::Part::Image { url, alt_text } => {
            MessagePart::Image { url: url.into(), alt: alt_text.map(Into::into) }
        }
        rpc::Part::File { url, name, mime_type, size } => MessagePart::File {
            url: url.into(),
            name: name.into(),
            mime: mime_type.map(Into::into),
            size,
        },
    };
    Vec::from(parts).into_iter().map(given).collect()
}

/// Converts the parts of a message for the request to a manager. Parts that exceed the limits are
/// left out. Returns `None` if the rest is not a valid list.
pub(super) fn asked_parts(parts: Vec<MessagePart>) -> Option<rpc::Parts> {
    parts.into_iter().filter_map(wire_part).collect::<Vec<_>>().try_into().ok()
}

pub(super) fn presence(agent: &ParticipantId, online: bool) -> rpc::Presence {
    let status = if online { rpc::PresenceStatus::Online } else { rpc::PresenceStatus::Offline };
    rpc::Presence { agent_id: agent_id(agent), status }
}

/// Encodes a notice as a frame. Returns an empty text for a message whose content was erased.
pub(super) fn written(notice: &Notice) -> String {
    match notification(notice) {
        Some(notification) => frame::notification(notification.word(), &notification),
        None => String::new(),
    }
}

/// Converts a notice. `None` for a message whose content was erased.
fn notification(notice: &Notice) -> Option<Notification> {
    Some(match notice {
        Notice::TaskCreated(task) => {
            Notification::TaskCreated(rpc::TaskCreated { task: task.clone().into() })
        }
        Notice::TaskClosed(task) => {
            Notification::TaskClosed(rpc::TaskClosed { task: task.clone().into() })
        }
        Notice::TaskFailed { task, reason } => {
            let reason = reason.as_deref().and_then(rpc::Reason::shortened);
            Notification::TaskFailed(rpc::TaskFailed { task_id: id_of(task), reason })
        }
        Notice::ConversationCreated { task, conversation, name, participants } => {
            Notification::ConversationCreated(rpc::ConversationCreated {
                task_id: id_of(task),
                conversation_id: id_of(conversation),
                name: name_of(name),
                participants: agent_ids(participants),
            })
        }
        Notice::ConversationArchived { task, conversation, at } => {
            Notification::ConversationArchived(rpc::ConversationArchived {
                task_id: id_of(task),
                conversation_id: id_of(conversation),
                archived_at: (*at).into(),
            })
        }
        Notice::ConversationUnarchived { task, conversation } => {
            Notification::ConversationUnarchived(rpc::ConversationUnarchived {
                task_id: id_of(task),
                conversation_id: id_of(conversation),
            })
        }
        Notice::ConversationHeld { task, conversation, guard } => {
            Notification::ConversationHeld(rpc::ConversationHeld {
                task_id: id_of(task),
                conversation_id: id_of(conversation),
                guard: guard.to_string(),
            })
        }
        Notice::ParticipantAdded { task, conversation, agent } => {
            Notification::ParticipantAdded(rpc::ParticipantAdded {
                task_id: id_of(task),
                conversation_id: id_of(conversation),
                added_agent_id: agent_id(agent),
                by_agent_or_tm: rpc::TaskManager::Tm,
            })
        }
        Notice::ParticipantRemoved { task, conversation, agent, left } => {
            let reason = match left {
                true => rpc::RemovalReason::TaskLeave,
                false => rpc::RemovalReason::TmRemove,
            };
            Notification::ParticipantRemoved(rpc::ParticipantRemoved {
                task_id: id_of(task),
                conversation_id: id_of(conversation),
                removed_agent_id: agent_id(agent),
                reason,
            })
        }
        Notice::Received { task, conversation, message: said } => {
            Notification::MessageReceived(rpc::MessageReceived {
                task_id: id_of(task),
                message: message(conversation, said, false)?,
            })
        }
        Notice::Presence { agent, online } => {
            Notification::PresenceChanged(presence(agent, *online))
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use moothall_kernel::Conversation;
    use moothall_kernel::command::{Actor, ClientCommand, Facts, Post};
    use moothall_kernel::policy::Policy;
    use moothall_kernel::time::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    /// Returns a person's message as it is sent to agents.
    fn said(body: String) -> Value {
        let mut state = Conversation::new("0190a5f0-1111-7222-8333-444455556666".into());
        let (now, facts, user) =
            (Timestamp::from_millis(0), Facts::default(), Actor::human("user"));
        let create = ClientCommand::Create {
            name: "t".into(),
            policy: Policy::default(),
            folder: None,
            by: user.clone(),
        };
        state.decide(now, create, &facts);
        let said = state.decide(now, ClientCommand::Post(Post::new(user, body)), &facts);
        json!(message(state.stream(), &said.events[0], false).unwrap())
    }

    #[test]
    fn what_a_person_says_in_one_piece_goes_out_in_parts_that_are_short_enough() {
        let message = said("é".repeat(40_000).chars().take(32_000).collect());
        assert_eq!(message["parts"].as_array().unwrap().len(), 1);
        let long = said("a".repeat(40_000));
        let parts = long["parts"].as_array().unwrap();
        let lengths: Vec<_> =
            parts.iter().map(|part| part["text"].as_str().unwrap().len()).collect();
        assert_eq!(lengths, [32_768, 7_232]);
        assert_eq!(long["senderId"], json!(agent_id(&"user".into())));
    }
}
