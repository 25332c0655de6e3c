//! What is said in conversations, and who gets it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AltText, DateTime, FileName, Limit, MessageText, MimeType, Parts, Reason, Uri, Uuid};

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: MessageText,
    },
    /// An image that is elsewhere.
    Image {
        /// Where it is.
        url: Uri,
        /// What is on it.
        // The schema does not know of `rename_all_fields`, so each field of two words is renamed.
        #[serde(default, rename = "altText", skip_serializing_if = "Option::is_none")]
        alt_text: Option<AltText>,
    },
    /// A file that is elsewhere.
    File {
        /// Where it is.
        url: Uri,
        /// Its name.
        name: FileName,
        /// What kind of file it is.
        #[serde(default, rename = "mimeType", skip_serializing_if = "Option::is_none")]
        mime_type: Option<MimeType>,
        /// How many bytes it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// Its id.
    pub id: Uuid,
    /// The conversation in which it was said.
    pub conversation_id: Uuid,
    /// The agent that said it.
    pub sender_id: Uuid,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to_id: Option<Uuid>,
    /// What it is made of.
    pub parts: Parts,
    /// Whom it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagged_entities: Option<Vec<Uuid>>,
    /// Who changed it on its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patched_by: Option<String>,
    /// When it was said.
    pub created_at: DateTime,
    /// What was decided about it; only for the manager of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_decision: Option<DispatchDecision>,
}

/// What was decided about a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "tag", rename_all = "lowercase", deny_unknown_fields)]
pub enum DispatchDecision {
    /// Nothing yet.
    Pending {},
    /// It was handed on.
    Forward {
        /// To whom.
        recipients: Vec<Uuid>,
    },
    /// It was kept back.
    Block {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
}

/// Parameters of `messages/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesSend {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// What the message is made of.
    pub parts: Parts,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to_id: Option<Uuid>,
    /// The lease under which it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_lease_id: Option<Uuid>,
}

/// Result of `messages/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageSent {
    /// The message as it was kept.
    pub message: Message,
    /// A word for programs and a sentence for people, if a name in it reaches no participant:
    /// `unknown_name`, `broadcast`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Parameters of `messages/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesList {
    /// The task.
    pub task_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The position after which to read; the newest are read where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_seq: Option<String>,
    /// How many messages; 50 where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// Result of `messages/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagePage {
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// Whether there are more.
    pub has_more: bool,
}

/// Payload of `messages/received`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageReceived {
    /// The task.
    pub task_id: Uuid,
    /// The message.
    pub message: Message,
}

/// Parameters of the request `messages/authorize` to the manager of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesAuthorize {
    /// The task.
    pub task_id: Uuid,
    /// The app that manages it.
    pub app_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The message that waits.
    pub message: MessageHeld,
    /// When it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<DateTime>,
}

/// A message that waits for what its manager decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageHeld {
    /// Its id.
    pub id: Uuid,
    /// The agent that said it.
    pub sender_agent_id: Uuid,
    /// What it is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// Result of `messages/authorize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageAuthorized {
    /// What the manager decided.
    pub verdict: MessageVerdict,
}

/// Who gets a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "decision", rename_all = "PascalCase", deny_unknown_fields)]
pub enum MessageVerdict {
    /// Those who are named.
    Forward {
        /// To whom it is handed on; members of the conversation.
        recipients: Vec<Uuid>,
    },
    /// Nobody.
    Block {
        /// Why it is kept back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
}
