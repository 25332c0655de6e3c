//! The usage of Claude Code: of a turn in its record, and of a run by its structured output.
//!
//! The blocks of one message stand in several lines of the record, each with the usage of the whole
//! message so far. Subagents have records of their own, in a folder next to that of the session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::super::printed::{PrintedSpec, PrintedTurn, has_option};
use super::super::records::{end_of, lines, word};
use super::prompt;
use crate::spending::{ReportedUsage, cost_micros, tokens};

/// Most subagents of a turn whose records are read.
const SUBAGENTS_MAX: usize = 64;

pub(super) static PRINTED: PrintedSpec = PrintedSpec {
    is_asked: |arguments| {
        has_option(arguments, &["--output-format"], "json")
            || has_option(arguments, &["--output-format"], "stream-json")
    },
    keeps: |line| line.contains(r#""type":"result""#),
    read,
};

/// Reads the document that ends a run.
fn read(documents: &[Value]) -> PrintedTurn {
    let Some(result) = documents.iter().rfind(|one| word(one, "type") == "result") else {
        return PrintedTurn::default();
    };
    let text = result["result"].as_str().map(str::to_owned);
    let failed = result["is_error"] == Value::Bool(true) || text.is_none();
    let failure = || text.clone().unwrap_or_else(|| word(result, "subtype").to_owned());
    PrintedTurn {
        failure: failed.then(failure),
        words: text.clone().filter(|_| !failed),
        usage: ReportedUsage {
            cost_micros: cost_micros(result, "total_cost_usd"),
            ..run_tokens(result)
        },
    }
}

/// Returns the tokens of all models of a run; subagents may have other models.
fn run_tokens(result: &Value) -> ReportedUsage {
    let models = result["modelUsage"].as_object().filter(|models| !models.is_empty());
    let Some(models) = models else { return message_tokens(&result["usage"]) };
    models.values().map(model_tokens).fold(ReportedUsage::default(), ReportedUsage::with)
}

/// Returns the tokens of one model, from the document that ends a run.
fn model_tokens(model: &Value) -> ReportedUsage {
    let input = ["inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens"];
    ReportedUsage {
        input: tokens(model, &input),
        cached: tokens(model, &["cacheReadInputTokens"]),
        output: tokens(model, &["outputTokens"]),
        cost_micros: None,
    }
}

/// Returns the tokens of one message of a record.
fn message_tokens(usage: &Value) -> ReportedUsage {
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    ReportedUsage {
        input: tokens(usage, &input),
        cached: tokens(usage, &["cache_read_input_tokens"]),
        output: tokens(usage, &["output_tokens"]),
        cost_micros: None,
    }
}

/// Returns the usage of the turn whose prompt is in this line of a record, with that of its
/// subagents.
pub(super) fn of_turn(lines: &[&str], at: usize, record: &Path) -> ReportedUsage {
    let all: Vec<(usize, Value)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, serde_json::from_str(line).ok()?)))
        .collect();
    let Some((_, first)) = all.iter().find(|(line, _)| *line == at) else {
        return ReportedUsage::default();
    };
    let turn = descendants(&all, word(first, "uuid"));
    let after = all.iter().filter(|(line, _)| *line > at).map(|(_, line)| line);
    let aside = after
        .take_while(|line| prompt(line).is_none())
        .filter(|line| line["isSidechain"] == Value::Bool(true));
    let mut calls = Calls::default();
    turn.iter().copied().chain(aside).for_each(|line| calls.add(line));
    for id in subagents(&turn) {
        let file = record.with_extension("").join(format!("subagents/agent-{id}.jsonl"));
        calls.add_record(&file, word(first, "timestamp"));
    }
    calls.sum()
}

/// Returns the lines that follow from the line with this id, up to the next prompt. Lines may be
/// out of order.
fn descendants<'a>(all: &'a [(usize, Value)], first: &'a str) -> Vec<&'a Value> {
    let mut children = BTreeMap::<&str, Vec<&Value>>::new();
    for (_, line) in all {
        children.entry(word(line, "parentUuid")).or_default().push(line);
    }
    let (mut open, mut seen, mut found) = (vec![first], BTreeSet::from([""]), Vec::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let next = children.get(id).into_iter().flatten().copied();
        for line in next.filter(|line| prompt(line).is_none()) {
            found.push(line);
            open.push(word(line, "uuid"));
        }
    }
    found
}

/// Returns the ids of the subagents whose results are in these lines.
fn subagents<'a>(turn: &[&'a Value]) -> BTreeSet<&'a str> {
    let is_plain = |id: &&str| {
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let ids = turn.iter().map(|line| word(&line["toolUseResult"], "agentId")).filter(is_plain);
    ids.take(SUBAGENTS_MAX).collect()
}

/// Calls of a model by the ids of message and request, so that each counts only one time.
#[derive(Default)]
struct Calls(BTreeMap<(String, String), ReportedUsage>);

impl Calls {
    /// Adds the call that a line records, if any. The newest line of a message has all its output.
    fn add(&mut self, line: &Value) {
        let usage = &line["message"]["usage"];
        if word(line, "type") != "assistant" || !usage.is_object() {
            return;
        }
        let id = (word(&line["message"], "id").to_owned(), word(line, "requestId").to_owned());
        let (known, new) = (self.0.entry(id).or_default(), message_tokens(usage));
        if new.output >= known.output {
            *known = new;
        }
    }

    /// Adds the calls of a subagent since this time, because an earlier turn may have begun the
    /// subagent.
    fn add_record(&mut self, record: &Path, since: &str) {
        let end = end_of(record).unwrap_or_default();
        lines(&end).take_while(|line| word(line, "timestamp") >= since).for_each(|line| {
            self.add(&line);
        });
    }

    fn sum(&self) -> ReportedUsage {
        self.0.values().copied().fold(ReportedUsage::default(), ReportedUsage::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn user(id: &str, before: &str, content: &Value) -> Value {
        json!({"type": "user", "uuid": id, "parentUuid": before, "timestamp": "2026-11-28T10:00:00Z",
               "message": {"role": "user", "content": content}})
    }

    fn call(id: &str, before: &str, message: &str, output: u64) -> Value {
        let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 100,
                           "cache_read_input_tokens": 1000, "output_tokens": output});
        json!({"type": "assistant", "uuid": id, "parentUuid": before, "requestId": "r",
               "timestamp": "2026-11-28T10:00:01Z",
               "message": {"id": message, "content": [], "usage": usage}})
    }

    fn result(id: &str, before: &str, agent: &str) -> Value {
        let mut line = user(id, before, &json!([{"type": "tool_result"}]));
        line["toolUseResult"] = json!({"agentId": agent});
        line
    }

    fn used(lines: &[Value], at: usize, record: &Path) -> ReportedUsage {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        of_turn(&lines, at, record)
    }

    fn calls(count: u64, output: u64) -> ReportedUsage {
        ReportedUsage { input: 1110 * count, cached: 1000 * count, output, cost_micros: None }
    }

    #[test]
    fn each_message_of_a_turn_counts_once() {
        let lines = [
            user("a", "", &json!("before")),
            call("b", "a", "m0", 5),
            user("c", "b", &json!("the prompt")),
            // Two blocks of one message, with the result of the first between them.
            call("d", "c", "m1", 1),
            user("e", "d", &json!([{"type": "tool_result"}])),
            call("f", "d", "m1", 20),
            call("g", "e", "m2", 3),
            user("h", "g", &json!("the next prompt")),
            call("i", "h", "m3", 9),
        ];
        let none = Path::new("/nowhere.jsonl");
        assert_eq!(used(&lines, 2, none), calls(2, 23));
        assert_eq!(used(&lines, 0, none), calls(1, 5));
        let mixed = [call("d", "c", "m1", 4), user("c", "b", &json!("the prompt"))];
        assert_eq!(used(&mixed, 1, none), calls(1, 4), "the lines are out of order");
        let round = [user("c", "c", &json!([])), call("d", "d", "m", 1)];
        assert_eq!(used(&round, 0, none), ReportedUsage::default(), "a circle of lines");
    }

    #[test]
    fn the_subagents_of_a_turn_count_since_its_prompt() {
        let home = tempfile::tempdir().unwrap();
        let record = home.path().join("session.jsonl");
        let folder = home.path().join("session/subagents");
        std::fs::create_dir_all(&folder).unwrap();
        let mut earlier = call("x", "", "s0", 7);
        earlier["timestamp"] = json!("2026-11-28T09:00:00Z");
        let lines = [earlier, call("y", "x", "s1", 2)].map(|line| line.to_string()).join("\n");
        std::fs::write(folder.join("agent-a1.jsonl"), lines).unwrap();
        std::fs::write(home.path().join("agent-b.jsonl"), call("z", "", "s9", 1).to_string())
            .unwrap();
        let mut aside = call("s", "", "s2", 4);
        aside["isSidechain"] = json!(true);
        let turn = [
            user("a", "", &json!("the prompt")),
            call("b", "a", "m1", 1),
            aside,
            result("c", "b", "a1"),
            result("d", "c", "../../agent-b"),
        ];
        assert_eq!(used(&turn, 0, &record), calls(3, 7));
    }

    #[test]
    fn a_run_reports_all_of_its_models() {
        let model = |input: Value, output: u64| json!({"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": 5});
        let result = json!({"type": "result", "is_error": false, "result": "done", "total_cost_usd": 0.25,
            "usage": {"input_tokens": 1}, "modelUsage": {"large": model(json!(10), 2), "small": model(json!(-1), 3)}});
        let turn = PRINTED.turn(&result.to_string()).unwrap();
        let usage = ReportedUsage { input: 20, cached: 10, output: 5, cost_micros: Some(250_000) };
        assert_eq!(turn, PrintedTurn { words: Some("done".into()), failure: None, usage });
        let streamed = format!("{{\"type\":\"system\"}}\n{result}\n");
        assert_eq!(PRINTED.turn(&streamed).unwrap(), turn);
        let failed = json!({"type": "result", "is_error": true, "result": "Not logged in"});
        let failed = PRINTED.turn(&failed.to_string()).unwrap();
        assert_eq!((failed.words, failed.failure.as_deref()), (None, Some("Not logged in")));
        assert_eq!(PRINTED.turn("{\"type\":\"resu").unwrap(), PrintedTurn::default());
        assert_eq!(PRINTED.turn("a plain answer"), None);
        let asks = |line: &str| {
            (PRINTED.is_asked)(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        assert!(asks("-p --output-format json") && asks("-p --output-format=stream-json"));
        assert!(!asks("-p --output-format text") && !asks("-p json"));
    }
}
