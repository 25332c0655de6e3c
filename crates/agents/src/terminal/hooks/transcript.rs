//! The second source of a turn's last words, for reports that do not hold them: what the program itself has recorded of its session.
//!
//! It is the hook that reads here, as a child of the program and with no more rights than that has, so naming a file gives a program
//! nothing that it could not put into its report anyway; the server never opens one. Even so a record counts only as a plain file whose
//! name holds the id of the program's own session, and only its end is read. Lines that are no JSON are passed over. Looked at are the
//! lines after the newest prompt alone: the words of an earlier turn are never those of this one, and words before a tool was used are
//! not the last ones.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::vendor::text;

/// How much of a record is looked at, from its end, in bytes.
const END_BYTES_MAX: u64 = 1024 * 1024;
/// Days of Codex's records, the newest, in which a session's is looked for.
const DAYS_MAX: usize = 60;

/// The last words of the turn that Claude Code says is over.
pub fn of_claude(payload: &Value) -> Option<String> {
    let record = PathBuf::from(text(payload, "transcript_path")?);
    let session = text(payload, "session_id")?;
    let own = record.file_stem() == Some(OsStr::new(&session)) && record.is_absolute();
    let plain = own && !record.components().any(|part| matches!(part, Component::ParentDir));
    plain.then(|| end_of(&record)).flatten().and_then(|end| claude_words(&end))
}

/// The last words of the turn that Codex says is over. Its report names no file: its folder is in the variable, or below the home.
pub fn of_codex(payload: &Value, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<String> {
    let (thread, turn) = (text(payload, "thread-id")?, text(payload, "turn-id")?);
    let folder = variable("CODEX_HOME").or_else(|| Some(variable("HOME")?.join(".codex"))).filter(|folder| folder.is_absolute())?;
    let wanted = format!("-{thread}.jsonl");
    let days = newest(&folder.join("sessions"), 3);
    let mut records = days.iter().take(DAYS_MAX).flat_map(|day| newest(day, 1));
    let record = records.find(|file| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&wanted)))?;
    codex_words(&end_of(&record)?, &turn)
}

/// What lies so many folders deep, the newest by name first.
fn newest(folder: &Path, deep: usize) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    if deep > 1 { found.iter().flat_map(|folder| newest(folder, deep - 1)).take(DAYS_MAX).collect() } else { found }
}

/// The end of a plain file.
fn end_of(record: &Path) -> Option<String> {
    let about = fs::symlink_metadata(record).ok().filter(fs::Metadata::is_file)?;
    let mut file = File::open(record).ok()?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(END_BYTES_MAX))).ok()?;
    let mut end = Vec::new();
    file.take(END_BYTES_MAX).read_to_end(&mut end).ok()?;
    Some(String::from_utf8_lossy(&end).into_owned())
}

/// Its lines, the newest first; what is no object, such as the rest of a line that was cut, is passed over.
fn lines(end: &str) -> impl Iterator<Item = Value> + '_ {
    end.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object)
}

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The text blocks of the newest message after the newest prompt. A message may be spread over several lines.
fn claude_words(end: &str) -> Option<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut message: Option<String> = None;
    let own = |line: &Value| line["isSidechain"] != Value::Bool(true) && line["isMeta"] != Value::Bool(true);
    for line in lines(end).filter(own) {
        let said = &line["message"];
        match word(&line, "type") {
            "assistant" if message.as_deref().is_none_or(|id| id == word(said, "id")) => {
                let blocks = said["content"].as_array()?;
                if message.is_none() && blocks.iter().any(|block| word(block, "type") == "tool_use") {
                    return None;
                }
                let texts: Vec<&str> =
                    blocks.iter().filter(|block| word(block, "type") == "text").map(|block| word(block, "text")).collect();
                pieces.extend(texts.into_iter().rev().map(str::to_owned));
                message = Some(word(said, "id").to_owned());
            }
            // A prompt, or what a tool gave back: what was said before it are not the last words of this turn.
            "assistant" | "user" => break,
            _ => {}
        }
    }
    pieces.reverse();
    Some(pieces.join("\n\n")).filter(|words| !words.trim().is_empty())
}

/// What Codex notes of a turn when it is done, or the newest message in it.
fn codex_words(end: &str, turn: &str) -> Option<String> {
    let mut over = false;
    for line in lines(end) {
        let noted = &line["payload"];
        match (word(&line, "type"), word(noted, "type")) {
            ("event_msg", "task_complete") if word(noted, "turn_id") == turn && !over => match text(noted, "last_agent_message") {
                Some(words) => return Some(words),
                None => over = true,
            },
            // Another turn, before this one or after it.
            ("event_msg", "task_complete" | "task_started") => return None,
            ("response_item", "message") if word(noted, "role") == "assistant" => return codex_message(noted),
            ("response_item", "message") if word(noted, "role") == "user" => return None,
            ("response_item", kind) if kind.ends_with("_call") || kind.ends_with("_output") => return None,
            _ => {}
        }
    }
    None
}

fn codex_message(noted: &Value) -> Option<String> {
    let blocks = noted["content"].as_array()?;
    let words: String = blocks.iter().filter(|block| word(block, "type") == "output_text").map(|block| word(block, "text")).collect();
    Some(words).filter(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SESSION: &str = "7df0e220-879a-411d-9711-e7694ee89550";

    fn prompt(text: &str) -> Value {
        json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": text}})
    }

    fn said(id: &str, block: Value) -> Value {
        json!({"type": "assistant", "isSidechain": false, "message": {"id": id, "role": "assistant", "content": [block]}})
    }

    fn words(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn record(lines: &[Value]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn claude_said_what_stands_in_its_last_message() {
        let tool = || json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}});
        let gave = || json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}});
        let aside = json!({"type": "assistant", "isSidechain": true, "message": {"id": "s", "content": [words("a helper")]}});
        let whole = [
            prompt("earlier"),
            said("a", words("of the turn before")),
            prompt("now"),
            said("b", words("let me look")),
            said("b", tool()),
            gave(),
            said("c", json!({"type": "thinking", "thinking": "hm"})),
            said("c", words("first")),
            said("c", words("second")),
            aside,
            json!({"type": "system", "subtype": "turn_duration"}),
        ];
        let text = record(&whole);
        assert_eq!(claude_words(&text).as_deref(), Some("first\n\nsecond"));
        assert_eq!(claude_words(&format!("half a line\"}}\n{text}no JSON\n\n")).as_deref(), Some("first\n\nsecond"));
        assert_eq!(claude_words(&record(&whole[..6])), None, "nothing since the tool");
        assert_eq!(claude_words(&record(&whole[..5])), None, "words before a tool are not the last ones");
        assert_eq!(claude_words(&record(&whole[..3])), None, "nothing in this turn");
        assert_eq!(claude_words(""), None);
    }

    #[test]
    fn codex_said_what_it_noted_of_this_turn() {
        let event = |kind: &str, turn: &str, more: Value| json!({"type": "event_msg", "payload": {"type": kind, "turn_id": turn, "last_agent_message": more}});
        let message = |role: &str, kind: &str, text: &str| json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}});
        let turns = [
            event("task_started", "1", Value::Null),
            event("task_complete", "1", json!("of the turn before")),
            event("task_started", "2", Value::Null),
            message("user", "input_text", "now"),
            message("assistant", "output_text", "done"),
            event("task_complete", "2", json!("done, as noted")),
        ];
        assert_eq!(codex_words(&record(&turns), "2").as_deref(), Some("done, as noted"));
        assert_eq!(codex_words(&record(&turns[..5]), "2").as_deref(), Some("done"));
        assert_eq!(codex_words(&record(&turns[..4]), "2"), None);
        assert_eq!(codex_words(&record(&turns), "1"), None, "another turn's words are not this one's");
        let used = json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell"}});
        assert_eq!(codex_words(&record(&[turns[4].clone(), used]), "2"), None);
    }

    #[test]
    fn only_a_plain_file_of_the_session_itself_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = record(&[prompt("now"), said("a", words("hello"))]);
        let own = folder.path().join(format!("{SESSION}.jsonl"));
        let other = folder.path().join("other.jsonl");
        fs::write(&other, &text).unwrap();
        let ask = |path: &Path| of_claude(&json!({"session_id": SESSION, "transcript_path": path}));
        assert_eq!(ask(&other), None, "the record of another session");
        std::os::unix::fs::symlink(&other, &own).unwrap();
        assert_eq!(ask(&own), None, "a link to somewhere else");
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        assert_eq!(ask(&own), None);
        fs::remove_dir(&own).unwrap();
        fs::write(&own, "x".repeat(2 * END_BYTES_MAX as usize) + "\n" + &text).unwrap();
        assert_eq!(ask(&own).as_deref(), Some("hello"), "the end of a long one");
        assert_eq!(ask(&folder.path().join("..").join(folder.path().file_name().unwrap()).join(own.file_name().unwrap())), None);
        assert_eq!(ask(Path::new(&format!("{SESSION}.jsonl"))), None);
    }

    #[test]
    fn codex_is_found_by_its_thread_among_the_newest_days() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/11/22");
        fs::create_dir_all(&day).unwrap();
        let done = json!({"type": "event_msg", "payload": {"type": "task_complete", "turn_id": "u", "last_agent_message": "hello"}});
        fs::write(day.join(format!("rollout-2026-11-22T00-06-30-{SESSION}.jsonl")), record(&[done])).unwrap();
        let at = |name: &str| (name == "CODEX_HOME").then(|| home.path().to_owned());
        let ask = |thread: &str, turn: &str| of_codex(&json!({"thread-id": thread, "turn-id": turn}), at);
        assert_eq!(ask(SESSION, "u").as_deref(), Some("hello"));
        assert_eq!((ask(SESSION, "v"), ask("another", "u")), (None, None));
        assert_eq!(of_codex(&json!({"thread-id": SESSION, "turn-id": "u"}), |_| None), None);
    }
}
