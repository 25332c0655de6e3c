//! Refusals, in the service's words.

use serde_json::{Value, json};

/// A request that the service refuses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) description: String,
    pub(super) parameters: Option<Value>,
}

impl Refusal {
    pub(super) fn new(code: u16, description: &str) -> Self {
        Self { code, description: description.to_owned(), parameters: None }
    }

    pub(super) fn bad(description: &str) -> Self {
        Self::new(400, &format!("Bad Request: {description}"))
    }

    pub(super) fn forbidden(description: &str) -> Self {
        Self::new(403, &format!("Forbidden: {description}"))
    }

    pub(super) fn conflict(description: &str) -> Self {
        Self::new(409, &format!("Conflict: {description}"))
    }

    /// Refuses because of too many requests. The seconds may be any number, as seen in the wild.
    pub(super) fn too_many(retry_after: Value) -> Self {
        let description = format!("Too Many Requests: retry after {retry_after}");
        let parameters = Some(json!({"retry_after": retry_after}));
        Self { parameters, ..Self::new(429, &description) }
    }

    pub(super) fn migrated(to: i64) -> Self {
        let refusal = Self::bad("group chat was upgraded to a supergroup chat");
        Self { parameters: Some(json!({"migrate_to_chat_id": to})), ..refusal }
    }

    /// Returns the body of the answer.
    pub(super) fn body(&self) -> Value {
        let mut body =
            json!({"ok": false, "error_code": self.code, "description": self.description});
        if let Some(parameters) = &self.parameters {
            body["parameters"] = parameters.clone();
        }
        body
    }
}
