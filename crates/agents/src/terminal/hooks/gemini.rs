//! Gemini CLI's hooks. Each turn ends with an `AfterAgent`, an interrupted one too; every hook has to print an object.

use moothall_engine::sessions::HookNews;
use serde_json::Value;

use super::vendor::text;

/// The events that its sessions report.
pub const EVENTS: [&str; 5] = ["SessionStart", "BeforeAgent", "AfterAgent", "Notification", "SessionEnd"];

/// What stands for the answer of a turn that had none.
const NO_ANSWER: &str = "[no response text]";

/// What an event means.
pub fn news(event: &str, payload: &Value) -> Option<HookNews> {
    match event {
        "SessionStart" => Some(HookNews::Began),
        "BeforeAgent" => text(payload, "prompt").map(|text| HookNews::Prompt { text }),
        "AfterAgent" => {
            let text = text(payload, "prompt_response").filter(|text| text.trim() != NO_ANSWER);
            Some(HookNews::Stopped { text, inputs: None, interrupted: false })
        }
        "Notification" => asks(payload),
        "SessionEnd" => (payload.get("reason").and_then(Value::as_str) != Some("clear")).then_some(HookNews::Ended),
        _ => None,
    }
}

/// It waits for a person's permission; the details are exact, the message is a title.
fn asks(payload: &Value) -> Option<HookNews> {
    if payload.get("notification_type").and_then(Value::as_str) != Some("ToolPermission") {
        return None;
    }
    let details = payload.get("details").filter(|details| !details.is_null()).map(Value::to_string);
    Some(HookNews::Asks { action: details.or_else(|| text(payload, "message")).unwrap_or_default() })
}
