//! The parts of an action, read from the input of a tool.

use moothall_engine::sessions::ReportedChoice;
use moothall_kernel::occupation::ToolUse;
use moothall_kernel::permission::{ActionDetail, ActionPart, PartRole};
use moothall_kernel::text::{for_terminal, shortened};
use serde_json::Value;

/// The roles of parts by their names, for the tools of all programs. Each other part is
/// [`PartRole::Other`].
const ROLES: [(&str, PartRole); 15] = [
    ("command", PartRole::Command),
    ("cmd", PartRole::Command),
    ("file_path", PartRole::Path),
    ("notebook_path", PartRole::Path),
    ("path", PartRole::Path),
    ("filePath", PartRole::Path),
    ("old_string", PartRole::Before),
    ("originalContent", PartRole::Before),
    ("new_string", PartRole::After),
    ("newContent", PartRole::After),
    ("new_source", PartRole::Content),
    ("content", PartRole::Content),
    ("url", PartRole::Address),
    ("urls", PartRole::Address),
    ("description", PartRole::Claim),
];
/// The list of single edits within a tool's input.
const EDITS: &str = "edits";

/// Returns the detail of a tool's use, with each part of its input. `None` for an input without
/// parts.
pub(super) fn detail(tool: &str, input: &Value) -> Option<ActionDetail> {
    let mut parts = Vec::new();
    for (name, value) in input.as_object()? {
        match value.as_array() {
            Some(edits) if name == EDITS && edits.iter().all(Value::is_object) => {
                let edits = edits.iter().filter_map(Value::as_object).flatten();
                parts.extend(edits.map(|(name, value)| part(name, value)));
            }
            _ => parts.push(part(name, value)),
        }
    }
    // The place of a change is read before the change. Several edits keep their order.
    parts.sort_by_key(|part| match part.role {
        PartRole::Command | PartRole::Path | PartRole::Address => 0,
        PartRole::Before | PartRole::After | PartRole::Content => 1,
        PartRole::Question | PartRole::Other => 2,
        PartRole::Claim => 3,
    });
    (!parts.is_empty()).then(|| ActionDetail {
        tool: tool.to_owned(),
        parts,
        screen: None,
        step: None,
    })
}

/// Returns the questions to the person in a tool's input. If one of them is not understood, none is
/// returned, because the rest of them could mislead.
pub(super) fn choices(input: &Value) -> Vec<ReportedChoice> {
    let words = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    let choice = |asked: &Value| {
        let options = asked.get("options").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let described = |option: &Value| (words(option, "label"), words(option, "description"));
        let choice = ReportedChoice {
            header: words(asked, "header"),
            question: words(asked, "question"),
            options: options.iter().map(described).collect(),
        };
        let has_labels = choice.options.iter().all(|(label, _)| !label.trim().is_empty());
        (has_labels && !choice.question.trim().is_empty()).then_some(choice)
    };
    let asked = input.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    asked.iter().map(choice).collect::<Option<_>>().unwrap_or_default()
}

fn part(name: &str, value: &Value) -> ActionPart {
    let known = ROLES.iter().find(|(known, _)| *known == name);
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let role = known.map_or(PartRole::Other, |(_, role)| *role);
    ActionPart { role, name: name.to_owned(), text }
}

/// Most bytes of the line that describes the use of a tool.
const LINE_BYTES_MAX: usize = 160;

/// Returns the use of a tool: its name, and one line with the command, the path or the address in
/// its input, if there is one.
pub(super) fn tool_use(tool: &str, input: &Value) -> ToolUse {
    let parts = detail(tool, input).map(|detail| detail.parts).unwrap_or_default();
    let line = parts.iter().find_map(|part| match part.role {
        PartRole::Command | PartRole::Path | PartRole::Address => one_line(&part.text),
        PartRole::Before
        | PartRole::After
        | PartRole::Content
        | PartRole::Question
        | PartRole::Other
        | PartRole::Claim => None,
    });
    ToolUse { tool: one_line(tool), line }
}

/// Returns the first line of a text that is not empty, shortened and without characters that a
/// terminal would interpret.
fn one_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shortened(&for_terminal(line), LINE_BYTES_MAX).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn roles(input: &Value) -> Vec<(PartRole, String)> {
        let parts = detail("T", input).unwrap().parts;
        parts.into_iter().map(|part| (part.role, part.text)).collect()
    }

    #[test]
    fn the_use_of_a_tool_is_one_short_line() {
        let used = |tool: &str, input: Value| {
            let used = tool_use(tool, &input);
            (used.tool.unwrap_or_default(), used.line)
        };
        let bash = json!({"description": "Build it", "command": "\n  make \u{1b}[31mall\nls"});
        let (tool, line) = used("Bash", bash);
        assert_eq!(tool, "Bash");
        assert!(line.as_ref().is_some_and(|line| line.starts_with("make") && !line.contains('\n')));
        assert!(!line.unwrap().contains('\u{1b}'));
        let edit = json!({"old_string": "a", "new_string": "b", "file_path": "/x/y.rs"});
        assert_eq!(used("Edit", edit), ("Edit".into(), Some("/x/y.rs".into())));
        assert_eq!(used("TodoWrite", json!({"todos": []})), ("TodoWrite".into(), None));
        let long = used("Bash", json!({"command": "x".repeat(10_000)})).1.unwrap();
        assert!(long.len() <= LINE_BYTES_MAX + 3, "{}", long.len());
        assert_eq!(tool_use("", &json!(["x"])), ToolUse::default());
    }

    #[test]
    fn questions_to_a_person_are_read_all_or_not_at_all() {
        let asked = json!({"question": "Which one?", "header": "DB", "options":
            [{"label": "SQLite", "description": "One file"}, {"label": "Postgres"}]});
        let read = choices(&json!({"questions": [asked.clone()]}));
        let expected = ReportedChoice {
            header: "DB".into(),
            question: "Which one?".into(),
            options: vec![("SQLite".into(), "One file".into()), ("Postgres".into(), String::new())],
        };
        assert_eq!(read, [expected]);
        let nameless = json!({"question": "And?", "options": [{"description": "x"}]});
        for odd in [json!({"question": 7}), json!("x"), nameless] {
            assert_eq!(choices(&json!({"questions": [asked.clone(), odd]})), []);
        }
        assert_eq!(choices(&json!({"command": "ls"})), []);
    }

    #[test]
    fn each_part_of_an_input_is_in_the_detail() {
        use PartRole::{After, Before, Claim, Command, Other, Path};
        let bash = json!({"description": "List", "command": "ls", "run_in_background": true});
        let expected = [(Command, "ls"), (Other, "true"), (Claim, "List")];
        assert_eq!(roles(&bash), expected.map(|(role, text)| (role, text.to_owned())));
        let edits = json!({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c",
            "new_string": "d"}], "file_path": "/x"});
        let expected = [(Path, "/x"), (Before, "a"), (After, "b"), (Before, "c"), (After, "d")];
        assert_eq!(roles(&edits), expected.map(|(role, text)| (role, text.to_owned())));
        assert_eq!(detail("T", &json!("x")), None);
        assert_eq!(detail("T", &json!({})), None);
    }
}
