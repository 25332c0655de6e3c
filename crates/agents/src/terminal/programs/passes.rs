//! The words before a pass of the talking piece.
//!
//! The text of a turn is its last words: anything written before a tool call is only on the way
//! there. A pass by tool is different. The holder has finished its contribution, passes the piece,
//! and ends with a remark or with nothing, so the words right before the call belong to the
//! contribution. Reports hold the last words alone, so the words before a pass come from the
//! program's record.

use serde_json::Value;

/// The end of each name that programs give the tool.
const TOOL: &str = "pass_piece";

/// A step of a turn, from a line of a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Words of the agent.
    Words(String),
    /// A call of the tool of this name.
    Call(String),
    /// The result of a tool.
    ToolResult,
}

/// Returns the words between the last result of a tool and a call of `pass_piece`. If several calls
/// have such words, the newest call counts. `None` if no call has any.
pub(super) fn before_pass(steps: impl Iterator<Item = Step>) -> Option<String> {
    let (mut before, mut found) = (Vec::<String>::new(), None);
    for step in steps {
        match step {
            // A record may repeat a message.
            Step::Words(words) if words.trim().is_empty() || before.last() == Some(&words) => {}
            Step::Words(words) => before.push(words),
            Step::Call(tool) if tool.ends_with(TOOL) && !before.is_empty() => {
                found = Some(before.join("\n\n"));
            }
            Step::Call(_) => {}
            Step::ToolResult => before.clear(),
        }
    }
    found
}

/// Returns the words of [`before_pass`] for the turn of the newest prompt in the end of a record.
pub(super) fn before_pass_in(
    end: &str,
    prompt: fn(&Value) -> Option<String>,
    steps: fn(&Value) -> Vec<Step>,
) -> Option<String> {
    if !end.contains(TOOL) {
        return None;
    }
    let newest_first = super::records::lines(end).take_while(|line| prompt(line).is_none());
    let lines: Vec<Value> = newest_first.collect();
    before_pass(lines.iter().rev().flat_map(steps))
}

/// Joins the words before a pass and the last words of a turn. If the last words contain the words
/// before, only the last words are returned.
pub(crate) fn whole(before: Option<&str>, last: Option<String>) -> Option<String> {
    match (before, last) {
        (Some(before), Some(last)) if last.contains(before.trim()) => Some(last),
        (Some(before), Some(last)) if !last.trim().is_empty() => {
            Some(format!("{before}\n\n{last}"))
        }
        (Some(before), _) => Some(before.to_owned()),
        (None, last) => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(steps: &[&str]) -> Option<String> {
        let read = |step: &&str| match (step.strip_prefix('!'), *step) {
            (Some(tool), _) => Step::Call(tool.to_owned()),
            (None, "=") => Step::ToolResult,
            (None, words) => Step::Words(words.to_owned()),
        };
        before_pass(steps.iter().map(read))
    }

    #[test]
    fn only_the_words_right_before_a_pass_belong_to_a_contribution() {
        let pass = "!mcp__moothall__pass_piece";
        for (steps, words) in [
            (&["what I say", pass, "=", "passed"][..], Some("what I say")),
            (&["one", "two", pass, "=", ""], Some("one\n\ntwo")),
            (&["let me look", "!Read", "=", "what I say", pass, "="], Some("what I say")),
            (&["what I say", "!Read", pass, "=", "="], Some("what I say")),
            (&["let me look", "!Read", "=", pass, "=", "the end"], None),
            (&["let me look", "!Read", "=", "the end"], None),
            (&["a", pass, "=", "again", pass, "="], Some("again")),
            (&[pass, "=", "the end"], None),
        ] {
            assert_eq!(of(steps).as_deref(), words, "{steps:?}");
        }
    }

    #[test]
    fn what_is_said_again_at_the_end_is_said_once() {
        let whole = |before, last: Option<&str>| whole(before, last.map(str::to_owned));
        assert_eq!(whole(Some("a"), Some("b")).as_deref(), Some("a\n\nb"));
        assert_eq!(whole(Some("a"), Some("well, a")).as_deref(), Some("well, a"));
        assert_eq!(whole(Some("a"), Some(" ")).as_deref(), Some("a"));
        assert_eq!(whole(Some("a"), None).as_deref(), Some("a"));
        assert_eq!(whole(None, Some("b")).as_deref(), Some("b"));
        assert_eq!(whole(None, None), None);
    }
}
