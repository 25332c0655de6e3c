//! The usage of Gemini CLI: of a turn in its record, and of a run by its structured output.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::super::printed::{PrintedSpec, PrintedTurn, has_option};
use super::super::records::{behind, text, trouble, word};
use super::prompt;
use crate::spending::{ReportedUsage, tokens};

pub(super) static PRINTED: PrintedSpec = PrintedSpec {
    is_asked: |arguments| has_option(arguments, &["-o", "--output-format"], "json"),
    keeps: |_| true,
    read,
};

/// Reads the document of a run.
fn read(documents: &[Value]) -> PrintedTurn {
    let Some(run) = documents.last() else { return PrintedTurn::default() };
    let models = run["stats"]["models"].as_object().into_iter().flat_map(|models| models.values());
    PrintedTurn {
        words: run["response"].as_str().map(str::to_owned),
        failure: text(&run["error"], "message").map(trouble),
        usage: models
            .map(|model| counts(&model["tokens"], ["prompt", "candidates"]))
            .fold(ReportedUsage::default(), ReportedUsage::with),
    }
}

/// Returns counts of tokens, with the names of those read and written.
fn counts(of: &Value, [read, written]: [&str; 2]) -> ReportedUsage {
    ReportedUsage {
        input: tokens(of, &[read, "tool"]),
        cached: tokens(of, &["cached"]),
        output: tokens(of, &[written, "thoughts"]),
        cost_micros: None,
    }
}

/// Returns the usage of the turn whose prompt is in this line of a record. Several lines may
/// describe one message, and the newest counts.
pub(super) fn of_turn(lines: &[&str], at: usize, _record: &Path) -> ReportedUsage {
    let of_turn = behind(lines, at).take_while(|line| prompt(line).is_none());
    let calls: BTreeMap<String, ReportedUsage> = of_turn
        .filter(|line| word(line, "type") == "gemini" && line["tokens"].is_object())
        .map(|line| (word(&line, "id").to_owned(), counts(&line["tokens"], ["input", "output"])))
        .collect();
    calls.into_values().fold(ReportedUsage::default(), ReportedUsage::with)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_message_of_a_turn_counts_once() {
        let said = |id: &str, input: Value| {
            json!({"id": id, "type": "gemini", "content": "x",
            "tokens": {"input": input, "output": 2, "cached": 50, "thoughts": 3, "tool": 1, "total": 106}})
        };
        let asked = || json!({"id": "u", "type": "user", "content": "the prompt"});
        let lines = [
            asked(),
            said("1", json!(90)),
            said("1", json!(100)),
            said("2", json!("many")),
            json!({"type": "gemini", "id": "3", "tokens": null}),
            asked(),
            said("4", json!(7)),
        ];
        let lines = lines.map(|line| line.to_string());
        let lines = lines.each_ref().map(String::as_str);
        let used = of_turn(&lines, 0, Path::new(""));
        let first = ReportedUsage { input: 101, cached: 50, output: 5, cost_micros: None };
        let second = ReportedUsage { input: 1, ..first };
        assert_eq!(used, first.with(second));
    }

    #[test]
    fn a_run_reports_all_of_its_models() {
        let tokens = |prompt: u64| json!({"tokens": {"input": 1, "prompt": prompt, "candidates": 71, "cached": 4, "thoughts": 2, "tool": 0}});
        let run = json!({"response": "done", "stats": {"models": {"large": tokens(10), "router": tokens(5)}}});
        let usage = ReportedUsage { input: 15, cached: 8, output: 146, cost_micros: None };
        let turn = PrintedTurn { words: Some("done".into()), failure: None, usage };
        let printed = serde_json::to_string_pretty(&run).unwrap();
        assert_eq!(PRINTED.turn(&printed).unwrap(), turn);
        assert_eq!(PRINTED.turn(&printed[..40]).unwrap(), PrintedTurn::default());
        let failed = PRINTED.turn(r#"{"error": {"message": "no quota"}}"#).unwrap();
        assert_eq!(failed.failure.as_deref(), Some("no quota"));
    }
}
