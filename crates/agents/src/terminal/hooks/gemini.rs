//! Gemini CLI's hooks. Each turn ends with an `AfterAgent`, an interrupted one too; every hook has to print an object.
//!
//! What `AfterAgent` gives as the answer is the pieces of the stream put together with spaces, some of them twice. The words as they
//! are stand in the program's record of the session, which the report names.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use moothall_engine::sessions::HookNews;
use serde_json::Value;

use super::vendor::text;

/// The events that its sessions report.
pub const EVENTS: [&str; 5] = ["SessionStart", "BeforeAgent", "AfterAgent", "Notification", "SessionEnd"];

/// How much of a record is looked at, from its end, in bytes.
const RECORD_BYTES_MAX: u64 = 1024 * 1024;

/// What stands for the answer of a turn that had none.
const NO_ANSWER: &str = "[no response text]";

/// What an event means.
pub fn news(event: &str, payload: &Value, recorded: Option<&str>) -> Option<HookNews> {
    match event {
        "SessionStart" => Some(HookNews::Began),
        "BeforeAgent" => text(payload, "prompt").map(|text| HookNews::Prompt { text }),
        "AfterAgent" => {
            let text = text(payload, "prompt_response").filter(|text| text.trim() != NO_ANSWER).map(|text| ungarbled(text, recorded));
            Some(HookNews::Stopped { text, inputs: None, interrupted: false })
        }
        "Notification" => asks(payload),
        "SessionEnd" => (payload.get("reason").and_then(Value::as_str) != Some("clear")).then_some(HookNews::Ended),
        _ => None,
    }
}

/// The recorded words where they are those of the answer, whatever became of its blanks.
fn ungarbled(answer: String, recorded: Option<&str>) -> String {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    match recorded {
        Some(words) if bare(&answer).contains(&bare(words)) => words.to_owned(),
        Some(_) | None => answer,
    }
}

/// The last words of the turn that an event ends, from the program's record.
pub fn recorded(event: &str, payload: &Value) -> Option<String> {
    let record = text(payload, "transcript_path").filter(|path| event == "AfterAgent" && Path::new(path).is_absolute())?;
    let mut file = File::open(record).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(RECORD_BYTES_MAX))).ok()?;
    let mut end = Vec::new();
    file.take(RECORD_BYTES_MAX).read_to_end(&mut end).ok()?;
    last_words(&String::from_utf8_lossy(&end))
}

/// The newest words of the agent after the newest prompt; records are lines of JSON, and the first may lack its beginning.
fn last_words(record: &str) -> Option<String> {
    let lines = record.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in lines {
        let content = line.get("content").map(words).unwrap_or_default();
        match line.get("type").and_then(Value::as_str) {
            Some("gemini") if !content.trim().is_empty() => return Some(content),
            // What a tool answered is recorded as the user's, without a text.
            Some("user") if !content.trim().is_empty() => return None,
            Some(_) | None => {}
        }
    }
    None
}

/// The words of a content: a text, or parts that may hold one.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// It waits for a person's permission; the details are exact, the message is a title.
fn asks(payload: &Value) -> Option<HookNews> {
    if payload.get("notification_type").and_then(Value::as_str) != Some("ToolPermission") {
        return None;
    }
    let details = payload.get("details").filter(|details| !details.is_null());
    // Of a tool of others it gives the name alone.
    let nameless = |details: &Value| details.get("type").and_then(Value::as_str) == Some("mcp") && details.get("toolArgs").is_none();
    let partial = details.is_none_or(nameless);
    let action = details.map(Value::to_string).or_else(|| text(payload, "message")).unwrap_or_default();
    Some(HookNews::Asks { action, partial })
}
