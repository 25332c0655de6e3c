//! Messages in conversations, and their recipients.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AltText, DateTime, FileName, Limit, MessageText, MimeType, Parts, Reason, Uri, Uuid};

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Part {
    /// A text.
    Text {
        /// The text.
        text: MessageText,
    },
    /// An image outside the message.
    Image {
        /// Address of the image.
        url: Uri,
        /// Description of the image; absent if there is none.
        // utoipa ignores `rename_all_fields`, so each field of two words is renamed by hand.
        #[serde(default, rename = "altText", skip_serializing_if = "Option::is_none")]
        alt_text: Option<AltText>,
    },
    /// A file outside the message.
    File {
        /// Address of the file.
        url: Uri,
        /// Name of the file.
        name: FileName,
        /// Media type of the file; absent if not known.
        #[serde(default, rename = "mimeType", skip_serializing_if = "Option::is_none")]
        mime_type: Option<MimeType>,
        /// Size of the file in bytes; absent if not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// Id of the message.
    pub id: Uuid,
    /// Id of the message's conversation.
    pub conversation_id: Uuid,
    /// Id of the agent that sent the message.
    pub sender_id: Uuid,
    /// Id of the message that this one replies to; absent if it replies to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to_id: Option<Uuid>,
    /// The parts of the message.
    pub parts: Parts,
    /// Ids of the agents that the message names; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagged_entities: Option<Vec<Uuid>>,
    /// Author of a change made before the delivery; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patched_by: Option<String>,
    /// Time of the message.
    pub created_at: DateTime,
    /// Decision about the message; only for the task's manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_decision: Option<DispatchDecision>,
}

/// A decision about a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "tag", rename_all = "lowercase", deny_unknown_fields)]
pub enum DispatchDecision {
    /// Not decided yet.
    Pending {},
    /// The message was delivered.
    Forward {
        /// Ids of the recipients.
        recipients: Vec<Uuid>,
    },
    /// The message was blocked.
    Block {
        /// Reason of the block; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
}

/// Parameters of `messages/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesSend {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// The parts of the message.
    pub parts: Parts,
    /// Id of the message that this one replies to; absent if it replies to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to_id: Option<Uuid>,
    /// Id of the lease under which the message is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_lease_id: Option<Uuid>,
}

/// Result of `messages/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageSent {
    /// The message as stored.
    pub message: Message,
    /// A code (`unknown_name`, `broadcast`) and a sentence for people, if a name in the message
    /// reaches no participant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Parameters of `messages/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesList {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// Position after which messages are read; the newest messages if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_seq: Option<String>,
    /// Maximum number of messages, 1 to 200; 50 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// Result of `messages/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagePage {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// True if more messages follow.
    pub has_more: bool,
}

/// Payload of `messages/received`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageReceived {
    /// Id of the task.
    pub task_id: Uuid,
    /// The message.
    pub message: Message,
}

/// Parameters of the request `messages/authorize` to the manager of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesAuthorize {
    /// Id of the task.
    pub task_id: Uuid,
    /// Id of the app that manages the task.
    pub app_id: Uuid,
    /// Id of the conversation.
    pub conversation_id: Uuid,
    /// The waiting message.
    pub message: MessageHeld,
    /// Time at which the server received the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<DateTime>,
}

/// A message that waits for its manager's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageHeld {
    /// Id of the message.
    pub id: Uuid,
    /// Id of the agent that sent the message.
    pub sender_agent_id: Uuid,
    /// The parts of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// Result of `messages/authorize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageAuthorized {
    /// The manager's decision.
    pub verdict: MessageVerdict,
}

/// A decision about a message's recipients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "PascalCase", deny_unknown_fields)]
pub enum MessageVerdict {
    /// Deliver the message to the named agents.
    Forward {
        /// Ids of the recipients, all members of the conversation.
        recipients: Vec<Uuid>,
    },
    /// Deliver the message to no agent.
    Block {
        /// Reason of the block; absent if none is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
}
