//! Claude Code's hooks. The final text stands in the payload of `Stop`; no `Stop` comes when a person interrupts a turn.

use moothall_engine::sessions::{HookNews, Permit};
use serde_json::{Value, json};

use super::vendor::text;

/// The event that asks for a permission. Its hook may wait; whoever answers first, it or the person at the terminal, wins.
pub const PERMISSION: &str = "PermissionRequest";

/// The event that ends a turn, and where it says what the agent said at last.
pub const STOP: &str = "Stop";
const LAST_WORDS: &str = "last_assistant_message";

/// The events that its sessions report, each with how long its hook may take, in seconds.
pub const EVENTS: [(&str, u64); 6] = [
    ("SessionStart", QUICK_SECONDS),
    ("UserPromptSubmit", QUICK_SECONDS),
    (PERMISSION, super::wait::PERMISSION_SECONDS + QUICK_SECONDS),
    (STOP, QUICK_SECONDS),
    ("StopFailure", QUICK_SECONDS),
    ("SessionEnd", QUICK_SECONDS),
];

const QUICK_SECONDS: u64 = 30;

/// A question of the program to its user. A hook cannot answer it: allowing it says nothing.
const QUESTION: &str = "AskUserQuestion";

/// What an event means. Whatever is not listed, the end of a helper of its own (`SubagentStop`) among it, is of no interest.
pub fn news(event: &str, payload: &Value) -> Option<HookNews> {
    match event {
        "SessionStart" => (field(payload, "source") != "compact").then_some(HookNews::Began),
        "UserPromptSubmit" => text(payload, "prompt").map(|text| HookNews::Prompt { text }),
        STOP => Some(stopped(text(payload, LAST_WORDS))),
        // What it says then is the text of an error, not the agent's.
        "StopFailure" => Some(HookNews::Failed { message: failure(payload) }),
        PERMISSION => Some(HookNews::Asks { action: action(payload), partial: false }),
        "Notification" => {
            let asks = field(payload, "notification_type") == "permission_prompt";
            asks.then(|| HookNews::Asks { action: field(payload, "message").to_owned(), partial: true })
        }
        // After `/clear` and `/resume` it goes on under another id of its own.
        "SessionEnd" => (!matches!(field(payload, "reason"), "clear" | "resume")).then_some(HookNews::Ended),
        _ => None,
    }
}

/// Whether a report says what the agent said.
pub fn has_words(payload: &Value) -> bool {
    text(payload, LAST_WORDS).is_some()
}

fn failure(payload: &Value) -> String {
    text(payload, LAST_WORDS).or_else(|| text(payload, "error")).unwrap_or_else(|| "It could not go on.".to_owned())
}

fn stopped(text: Option<String>) -> HookNews {
    HookNews::Stopped { text, inputs: None, interrupted: true }
}

fn field<'a>(payload: &'a Value, name: &str) -> &'a str {
    payload.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The exact action: the tool and its whole input, never the title that the agent gave it.
fn action(payload: &Value) -> String {
    format!("{} {}", field(payload, "tool_name"), payload.get("tool_input").unwrap_or(&Value::Null))
}

/// Whether a permission can be given or refused without being there.
pub fn answerable(payload: &Value) -> bool {
    !matches!(field(payload, "tool_name"), "" | QUESTION)
}

/// The words with which a hook decides a permission; none leave it to the person at the terminal.
pub fn decision(permit: Permit) -> String {
    let behavior = match permit {
        Permit::Allow => "allow",
        Permit::Deny => "deny",
        Permit::Undecided => return String::new(),
    };
    json!({"hookSpecificOutput": {"hookEventName": PERMISSION, "decision": {"behavior": behavior}}}).to_string()
}
