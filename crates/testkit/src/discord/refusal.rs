//! Refusals of calls, in the service's words.

use serde_json::{Value, json};

/// A call that the service refuses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RestRefusal {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl RestRefusal {
    pub(super) fn new(status: u16, code: u64, message: &str) -> Self {
        Self { status, body: json!({"message": message, "code": code}) }
    }

    /// Refuses something that does not exist.
    pub(super) fn unknown(code: u64, message: &str) -> Self {
        Self::new(404, code, message)
    }

    pub(super) fn forbidden(code: u64, message: &str) -> Self {
        Self::new(403, code, message)
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, 0, "401: Unauthorized")
    }

    pub(super) fn no_route() -> Self {
        Self::new(404, 0, "404: Not Found")
    }

    /// Refuses a field of a body.
    pub(super) fn field(path: &str, code: &str, message: &str) -> Self {
        let mut errors = json!({"_errors": [{"code": code, "message": message}]});
        for name in path.rsplit('.') {
            errors = json!({ name: errors });
        }
        let body = json!({"message": "Invalid Form Body", "code": 50_035, "errors": errors});
        Self { status: 400, body }
    }

    /// Refuses a field whose length does not fit.
    pub(super) fn length(path: &str, most: usize) -> Self {
        let message = format!("Must be between 1 and {most} in length.");
        Self::field(path, "BASE_TYPE_BAD_LENGTH", &message)
    }

    pub(super) fn code(&self) -> u64 {
        self.body["code"].as_u64().unwrap_or_default()
    }

    pub(super) fn message(&self) -> String {
        self.body["message"].as_str().unwrap_or_default().to_owned()
    }
}
