//! The tool that Codex uses now, by the calls in its record. A call is recorded when it begins.

use std::collections::BTreeSet;

use moothall_kernel::occupation::ToolUse;
use serde_json::{Value, json};

use super::super::details;
use super::super::records::{lines, word};

/// The beginnings of a patch's lines that name a file.
const PATCHED: [&str; 3] = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];

/// Returns the newest call without an answer in the turn that runs at the end of a record.
pub(super) fn open_call(end: &str) -> Option<ToolUse> {
    let mut answered = BTreeSet::new();
    for line in lines(end) {
        let noted = &line["payload"];
        let call = word(noted, "call_id");
        match (word(&line, "type"), word(noted, "type")) {
            ("event_msg", "task_started" | "task_complete" | "turn_aborted") => return None,
            ("response_item", kind) if kind.ends_with("_output") => {
                answered.insert(call.to_owned());
            }
            // A search of the web has no id and no answer: it is recorded when it is over, so it is
            // never open.
            ("response_item", kind)
                if kind.ends_with("_call") && !call.is_empty() && !answered.contains(call) =>
            {
                return Some(details::tool_use(word(noted, "name"), &input(noted)));
            }
            _ => {}
        }
    }
    None
}

/// Returns the input of a call. A function has its arguments as JSON in a string. Another tool has
/// a text, of which only the path of the first patched file is returned.
fn input(noted: &Value) -> Value {
    if let Ok(arguments) = serde_json::from_str(word(noted, "arguments")) {
        return arguments;
    }
    let text = word(noted, "input");
    let path = text.lines().find_map(|line| PATCHED.iter().find_map(|at| line.strip_prefix(at)));
    json!({"path": path.unwrap_or_default()})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a record of Codex 0.169.
    const STARTED: &str =
        r#"{"ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}"#;
    const CALLED: &str = r#"{"ordinal":9,"type":"response_item","payload":{"type":"function_call","id":"fc1","name":"exec_command","arguments":"{\"cmd\":\"sleep 15 && echo hi\",\"yield_time_ms\":20000}","call_id":"call1"}}"#;
    const COUNTED: &str =
        r#"{"ordinal":10,"type":"token_usage_record","payload":{"thread_id":"s","turn_id":"t"}}"#;
    const ANSWERED: &str = r#"{"ordinal":12,"type":"response_item","payload":{"type":"function_call_output","call_id":"call1","output":"hi"}}"#;
    const PATCH: &str = r#"{"ordinal":13,"type":"response_item","payload":{"type":"custom_tool_call","call_id":"call2","name":"apply_patch","input":"*** Begin Patch\n*** Update File: src/a.rs\n@@"}}"#;
    const COMPLETE: &str =
        r#"{"ordinal":18,"type":"event_msg","payload":{"type":"task_complete","turn_id":"t"}}"#;

    fn open(lines: &[&str]) -> Option<(String, Option<String>)> {
        open_call(&lines.join("\n")).map(|used| (used.tool.unwrap_or_default(), used.line))
    }

    #[test]
    fn a_call_is_open_from_its_record_to_its_answer() {
        let command = Some(("exec_command".to_owned(), Some("sleep 15 && echo hi".to_owned())));
        assert_eq!(open(&[STARTED, CALLED, COUNTED]), command);
        assert_eq!(open(&[STARTED, CALLED, COUNTED, ANSWERED]), None);
        let patch = Some(("apply_patch".to_owned(), Some("src/a.rs".to_owned())));
        assert_eq!(open(&[STARTED, CALLED, ANSWERED, PATCH]), patch);
        assert_eq!(open(&[STARTED, CALLED, PATCH, ANSWERED]), patch);
        assert_eq!(open(&[CALLED, COMPLETE]), None, "a call without an answer ends with its turn");
        assert_eq!(open(&[CALLED, COMPLETE, STARTED]), None);
        let search = r#"{"type":"response_item","payload":{"type":"web_search_call"}}"#;
        assert_eq!(open(&[STARTED, search]), None);
        assert_eq!(open(&["{", "[]", ""]), None);
    }
}
