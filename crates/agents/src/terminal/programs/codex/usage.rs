//! The usage of Codex: of a turn in its record, and of a run by its structured output.
//!
//! The record repeats the totals of the thread after each call, so a call is a difference.

use std::path::Path;

use serde_json::Value;

use super::super::printed::{PrintedSpec, PrintedTurn};
use super::super::records::{behind, text, trouble, word};
use crate::spending::{ReportedUsage, tokens};

pub(super) static PRINTED: PrintedSpec = PrintedSpec {
    // A resumed thread prints the totals of all its runs.
    is_asked: |arguments| {
        let has = |word: &str| arguments.iter().any(|argument| argument == word);
        has("--json") && !has("resume")
    },
    // Most of a long output is that of tools.
    keeps: |line| ["agent_message", "\"turn.", "\"error\""].iter().any(|word| line.contains(word)),
    read,
};

/// Reads the events of a run. An error before the end of a turn may be one that was retried.
fn read(documents: &[Value]) -> PrintedTurn {
    let mut turn = PrintedTurn::default();
    for event in documents {
        match word(event, "type") {
            "item.completed" if word(&event["item"], "type") == "agent_message" => {
                turn.words = text(&event["item"], "text").or(turn.words);
            }
            "turn.completed" => {
                turn.usage = turn.usage.with(counts(&event["usage"]));
                turn.words = turn.words.or(Some(String::new()));
                turn.failure = None;
            }
            "error" => turn.failure = text(event, "message").map(trouble),
            "turn.failed" => turn.failure = text(&event["error"], "message").map(trouble),
            _ => {}
        }
    }
    turn
}

/// Returns the tokens of a usage, as runs and records write it.
fn counts(usage: &Value) -> ReportedUsage {
    ReportedUsage {
        input: tokens(usage, &["input_tokens"]),
        cached: tokens(usage, &["cached_input_tokens"]),
        output: tokens(usage, &["output_tokens"]),
        cost_micros: None,
    }
}

/// Returns the usage of the turn whose prompt is in this line of a record.
pub(super) fn of_turn(lines: &[&str], at: usize, _record: &Path) -> ReportedUsage {
    let parsed = |line: &&str| serde_json::from_str::<Value>(line).ok();
    let noted = |line: &&&str| line.contains("token_count");
    let mut before = lines[..at].iter().rev().filter(noted).find_map(|line| totals(&parsed(line)?));
    let mut used = ReportedUsage::default();
    for line in behind(lines, at) {
        if word(&line, "type") == "event_msg"
            && matches!(
                word(&line["payload"], "type"),
                "task_started" | "task_complete" | "turn_aborted"
            )
        {
            break;
        }
        let Some(now) = totals(&line) else { continue };
        used = used.with(match before {
            Some(before) if now.input >= before.input && now.output >= before.output => {
                difference(now, before)
            }
            // The record begins after the totals, or the thread counts anew.
            Some(_) | None => counts(&line["payload"]["info"]["last_token_usage"]),
        });
        before = Some(now);
    }
    used
}

/// Returns the totals of the thread that a line records.
fn totals(line: &Value) -> Option<ReportedUsage> {
    let noted = &line["payload"];
    let is_count = word(line, "type") == "event_msg" && word(noted, "type") == "token_count";
    let totals = &noted["info"]["total_token_usage"];
    (is_count && totals.is_object()).then(|| counts(totals))
}

/// Returns the tokens that were added between two totals of a record.
fn difference(now: ReportedUsage, before: ReportedUsage) -> ReportedUsage {
    ReportedUsage {
        input: now.input.saturating_sub(before.input),
        cached: now.cached.saturating_sub(before.cached),
        output: now.output.saturating_sub(before.output),
        cost_micros: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(payload: Value) -> Value {
        json!({"type": "event_msg", "payload": payload})
    }

    fn count(total: [u64; 3], last: [u64; 3]) -> Value {
        let usage = |[input, cached, output]: [u64; 3]| json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output});
        event(json!({"type": "token_count",
                     "info": {"total_token_usage": usage(total), "last_token_usage": usage(last)}}))
    }

    fn prompt() -> Value {
        json!({"type": "response_item", "payload": {"type": "message", "role": "user"}})
    }

    fn used(lines: &[Value], at: usize) -> (u64, u64, u64) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let used = of_turn(&lines, at, Path::new(""));
        (used.input, used.cached, used.output)
    }

    #[test]
    fn a_turn_is_the_difference_of_the_totals() {
        let lines = [
            prompt(),
            count([100, 0, 10], [100, 0, 10]),
            event(json!({"type": "task_complete"})),
            prompt(),
            // Codex may repeat the limits with the earlier totals.
            count([100, 0, 10], [100, 0, 10]),
            event(json!({"type": "token_count", "info": null})),
            count([250, 80, 15], [150, 80, 5]),
            count([450, 180, 25], [200, 100, 10]),
            count([450, 180, 25], [200, 100, 10]),
            event(json!({"type": "task_complete"})),
            count([900, 180, 95], [450, 0, 70]),
        ];
        assert_eq!(used(&lines, 0), (100, 0, 10));
        assert_eq!(used(&lines, 3), (350, 180, 15));
        assert_eq!(used(&lines[3..], 0), (450, 180, 25), "without the totals of before");
        let anew = [count([900, 0, 90], [1, 0, 1]), prompt(), count([30, 0, 3], [30, 0, 3])];
        assert_eq!(used(&anew, 1), (30, 0, 3), "the thread counts anew");
        assert_eq!(used(&[prompt()], 0), (0, 0, 0));
    }

    #[test]
    fn a_run_ends_with_its_usage() {
        let lines =
            |events: &[Value]| events.iter().map(|event| format!("{event}\n")).collect::<String>();
        let said = |text: &str| json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}});
        let usage = json!({"input_tokens": 9841, "cached_input_tokens": 41, "output_tokens": 21});
        let events = [
            json!({"type": "error", "message": "Reconnecting… 1/5"}),
            said("let me look"),
            said("done"),
            json!({"type": "turn.completed", "usage": usage}),
        ];
        let turn = PRINTED.turn(&lines(&events)).unwrap();
        assert_eq!((turn.words.as_deref(), turn.failure), (Some("done"), None));
        assert_eq!((turn.usage.input, turn.usage.cached, turn.usage.output), (9841, 41, 21));
        let half = format!("{}{{\"type\":", lines(&events[1..2]));
        assert_eq!(PRINTED.turn(&half).unwrap().words.as_deref(), Some("let me look"));
        let broken = json!({"error": {"message": "no such model"}}).to_string();
        let failed = json!({"type": "turn.failed", "error": {"message": broken}});
        let failed = PRINTED.turn(&lines(&[failed])).unwrap();
        assert_eq!((failed.words, failed.failure.as_deref()), (None, Some("no such model")));
    }
}
