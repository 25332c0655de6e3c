//! The table of error codes, and the error of a response.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::next_steps::Reader;

/// Maximum number of characters of client input that an error repeats.
const REPEATED_CHARS_MAX: usize = 256;

macro_rules! codes {
    ($($name:ident = $number:literal $tag:literal $message:literal;)*) => {
        /// The reason why a call failed. Clients distinguish errors by the number only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[derive(strum::IntoStaticStr, strum::VariantArray)]
        pub enum RpcCode {
            $(#[doc = $message] #[strum(serialize = $tag)] $name,)*
        }

        impl RpcCode {
            /// Returns the number on the wire.
            pub const fn number(self) -> i64 {
                match self { $(RpcCode::$name => $number,)* }
            }

            /// Returns the default message.
            pub const fn message(self) -> &'static str {
                match self { $(RpcCode::$name => $message,)* }
            }
        }
    };
}

codes! {
    ParseError = -32700 "ParseError" "Invalid JSON";
    InvalidRequest = -32600 "InvalidRequest" "Invalid request frame";
    MethodNotFound = -32601 "MethodNotFound" "Method not found";
    InvalidParams = -32602 "InvalidParams" "Invalid params";
    InternalError = -32603 "InternalError" "Internal error";
    Unauthorized = -32000 "Unauthorized" "Not authenticated. Send network/connect first.";
    Forbidden = -32001 "Forbidden" "Forbidden";
    NotFound = -32002 "NotFound" "Not found";
    Conflict = -32003 "Conflict" "Conflict";
    RateLimited = -32004 "RateLimited" "Too many requests";
    NotInContacts = -32005 "NotInContacts" "Recipient blocks unsolicited contacts";
    ProtocolMismatch = -32006 "ProtocolMismatchError" "Client protocol version not supported";
    ConversationFull = -32007 "ConversationFull" "Conversation is full";
    AlreadyConnected = -32010 "AlreadyConnected"
        "Principal already has an active connection. Disconnect the prior session first.";
    HookBlocked = -32019 "HookBlocked" "Hook blocked the dispatch";
    TaskClosed = -32020 "TaskClosed" "Task is closed";
    ConversationArchived = -32022 "ConversationArchived" "Conversation is archived";
    ParticipantNotAdmitted = -32023 "ParticipantNotAdmitted" "Agent is not admitted to the task";
    TaskRejected = -32024 "TaskRejected" "Task request was rejected by the task manager";
}

/// Codes of the task rules, with their code on the wire and their meaning.
pub const TASK_CODES: &[(&str, RpcCode, &str)] = &[
    ("unknown_task", RpcCode::NotFound, "The task, conversation or message does not exist."),
    ("unknown_lease", RpcCode::NotFound, "This server does not issue leases."),
    (
        "task_over",
        RpcCode::Forbidden,
        "The task waits for its manager, ends soon, or has ended or failed.",
    ),
    ("not_manager", RpcCode::Forbidden, "The caller does not manage the task."),
    (
        "not_of_task",
        RpcCode::Forbidden,
        "The object is of another task, or the caller is not in it.",
    ),
    ("built_in_app", RpcCode::Forbidden, "The app is built in, so agents cannot register it."),
    ("app_taken", RpcCode::Conflict, "Another agent has the app; a person can transfer it."),
    ("too_many_apps", RpcCode::Conflict, "The agent has 8 apps; a person can free one."),
    ("not_admitted", RpcCode::ParticipantNotAdmitted, "The agent is not admitted to the task."),
    ("task_closed", RpcCode::TaskClosed, "The task is closed; its conversations take no messages."),
    (
        "conversation_full",
        RpcCode::ConversationFull,
        "A conversation has at most 200 participants.",
    ),
    ("task_full", RpcCode::Conflict, "The task cannot admit more agents."),
];

impl RpcCode {
    /// Returns the name by which client libraries know the error. It is not sent.
    pub fn tag(self) -> &'static str {
        self.into()
    }
}

/// An error in a response.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// The code.
    pub code: RpcCode,
    /// The message for people.
    pub message: String,
    /// Further data for programs.
    pub data: Option<Value>,
}

impl RpcError {
    /// Creates an error of this code with its own message. A next step in the message that an agent
    /// cannot take is replaced by a hint to ask a person.
    pub fn new(code: RpcCode, message: impl Into<String>) -> Self {
        Self { code, message: Reader::Rpc.reword(&message.into()), data: None }
    }

    /// Creates an error of this code with the default message.
    pub fn plain(code: RpcCode) -> Self {
        Self::new(code, code.message())
    }

    /// Adds data for programs.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Adds the reason as data, shortened to 256 characters and reworded for agents.
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        self.with_data(json!({"reason": Reader::Rpc.reword(&shortened(reason))}))
    }

    /// Returns the error for an unknown method.
    pub fn method_not_found(method: &str) -> Self {
        let method = shortened(method);
        Self::new(RpcCode::MethodNotFound, format!("Method not found: {method}"))
    }

    /// Returns the error for invalid parameters. The reason names the field.
    pub fn invalid_params(method: &str, reason: &str) -> Self {
        let method = shortened(method);
        Self::new(RpcCode::InvalidParams, format!("Invalid params for method: {method}"))
            .because(reason)
    }

    /// Returns the error as the object in a frame.
    pub fn to_value(&self) -> Value {
        let mut object = json!({"code": self.code.number(), "message": self.message});
        if let Some(data) = &self.data {
            object["data"] = data.clone();
        }
        object
    }
}

/// Returns the part of a text that an error repeats.
fn shortened(text: &str) -> String {
    text.chars().take(REPEATED_CHARS_MAX).collect()
}

/// An error in a client's response to a request of the server. Its code can be any number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RpcFault {
    /// The number.
    pub code: i64,
    /// The client's message.
    pub message: String,
    /// Further data of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use strum::VariantArray;

    use super::*;

    #[test]
    fn every_code_has_a_number_and_a_tag_of_its_own() {
        let numbers: BTreeSet<i64> = RpcCode::VARIANTS.iter().map(|code| code.number()).collect();
        let tags: BTreeSet<&str> = RpcCode::VARIANTS.iter().map(|code| code.tag()).collect();
        assert_eq!((numbers.len(), tags.len()), (RpcCode::VARIANTS.len(), RpcCode::VARIANTS.len()));
        assert_eq!(RpcCode::ParticipantNotAdmitted.number(), -32023);
        assert_eq!(RpcCode::ProtocolMismatch.tag(), "ProtocolMismatchError");
    }

    #[test]
    fn an_error_has_data_only_where_there_is_some_and_repeats_little() {
        let plain = RpcError::plain(RpcCode::TaskClosed).to_value().to_string();
        assert_eq!(plain, r#"{"code":-32020,"message":"Task is closed"}"#);
        let long = RpcError::invalid_params(&"m".repeat(1_000), &"r".repeat(1_000)).to_value();
        assert!(long.to_string().len() < 700, "{long}");
    }
}
