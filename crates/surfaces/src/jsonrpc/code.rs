//! Every way in which a call can fail, in one table of numbers, and the error that a client gets.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ways::Reader;

/// Longest part of what a client sent that an error repeats, in characters.
const REPEATED_CHARS_MAX: usize = 256;

macro_rules! codes {
    ($($name:ident = $number:literal $tag:literal $message:literal;)*) => {
        /// Why a call failed. Clients tell errors apart by the number alone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[derive(strum::IntoStaticStr, strum::VariantArray)]
        pub enum RpcCode {
            $(#[doc = $message] #[strum(serialize = $tag)] $name,)*
        }

        impl RpcCode {
            /// Its number on the wire.
            pub const fn number(self) -> i64 {
                match self { $(RpcCode::$name => $number,)* }
            }

            /// What is said where the occasion has no words of its own.
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

/// What the rules of tasks refuse, by their own words, and what that is on the wire.
pub const TASK_CODES: &[(&str, RpcCode, &str)] = &[
    ("unknown_task", RpcCode::NotFound, "There is no such task, conversation or message."),
    ("unknown_lease", RpcCode::NotFound, "This server hands out no leases."),
    ("task_over", RpcCode::Forbidden, "The task failed, is over or about to end, or waits."),
    ("not_manager", RpcCode::Forbidden, "The caller does not manage the task."),
    ("not_of_task", RpcCode::Forbidden, "It belongs to another task, or the caller is not in it."),
    ("built_in_app", RpcCode::Forbidden, "The app is built in, and nobody registers for it."),
    ("app_taken", RpcCode::Conflict, "Another agent has the app; a person can transfer it."),
    ("too_many_apps", RpcCode::Conflict, "The agent has 8 apps; a person can free one."),
    ("not_admitted", RpcCode::ParticipantNotAdmitted, "The agent is not admitted to the task."),
    ("task_closed", RpcCode::TaskClosed, "Nothing is said in the conversations of the task."),
    (
        "conversation_full",
        RpcCode::ConversationFull,
        "A conversation has 200 participants at most.",
    ),
    ("task_full", RpcCode::Conflict, "The task admits no more agents, or has no room for more."),
];

impl RpcCode {
    /// The name by which clients know the class of the error. It is not on the wire.
    pub fn tag(self) -> &'static str {
        self.into()
    }
}

/// An error as it stands in a response.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// Why the call failed.
    pub code: RpcCode,
    /// What happened, for people.
    pub message: String,
    /// What programs may want to know beside the code.
    pub data: Option<Value>,
}

impl RpcError {
    /// One of the table, in the words of this occasion.
    pub fn new(code: RpcCode, message: impl Into<String>) -> Self {
        Self { code, message: Reader::Rpc.told(&message.into()), data: None }
    }

    /// One of the table, in the table's words.
    pub fn plain(code: RpcCode) -> Self {
        Self::new(code, code.message())
    }

    /// The same with something for programs.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The same with the reason as its data.
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        self.with_data(json!({"reason": Reader::Rpc.told(&shortened(reason))}))
    }

    /// There is no method with this name.
    pub fn method_not_found(method: &str) -> Self {
        let method = shortened(method);
        Self::new(RpcCode::MethodNotFound, format!("Method not found: {method}"))
    }

    /// The parameters are not what the method takes; the reason names the field.
    pub fn invalid_params(method: &str, reason: &str) -> Self {
        let method = shortened(method);
        Self::new(RpcCode::InvalidParams, format!("Invalid params for method: {method}"))
            .because(reason)
    }

    /// The error as the object that stands in a frame.
    pub fn to_value(&self) -> Value {
        let mut object = json!({"code": self.code.number(), "message": self.message});
        if let Some(data) = &self.data {
            object["data"] = data.clone();
        }
        object
    }
}

/// As much of a text as an error repeats of what a client sent.
fn shortened(text: &str) -> String {
    text.chars().take(REPEATED_CHARS_MAX).collect()
}

/// An error that a client answers a request of the server with: any number may come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RpcFault {
    /// Its number, which may be in no table.
    pub code: i64,
    /// What happened, in the client's words.
    pub message: String,
    /// What else the client said of it.
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
