//! Finds a prompt in a program's own records, and the end of its turn.
//!
//! The search runs as the user of the program, so it cannot read more than the program. Below the
//! folder of the records, links are not followed. The record of the program's own id for its
//! conversation is read first, then the newest ones. A record counts if a prompt in it has the line
//! that only this prompt contains. Without such a line, only the record of that id counts.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use moothall_engine::sessions::{NewestTurn, Record, RecordEnd, RecordQuery};
use moothall_kernel::text::for_terminal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::passes::{before_pass, whole};
use super::records::{behind, end_of, last_bytes};
use super::{RecordSpec, Vendor, is_native};
use crate::spending::Prices;

/// Most bytes read from the end of a record: long prompts, long answers and tool output fit.
const BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Most folder entries visited.
const ENTRIES_MAX: usize = 20_000;
/// Most records read; the newest ones.
const RECORDS_MAX: usize = 12;
/// Most entries visited for the tool that a program uses now: the newest ones, because a look is
/// made each second. A conversation of long ago shows no tool.
const OPEN_ENTRIES_MAX: usize = 500;
/// Most records read for the tool that a program uses now: it is asked for often.
const OPEN_MAX: usize = 3;
/// The ending of a record's name.
const ENDING: &str = "jsonl";

/// A search for one prompt, as it is sent to the user of the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Search {
    /// The vendor of the program that keeps the records.
    pub vendor: Vendor,
    /// The prompt.
    pub query: RecordQuery,
    /// The program's variables that name the place of its records.
    pub variables: BTreeMap<String, String>,
    /// The prices of the program's tokens.
    #[serde(default)]
    pub prices: Prices,
}

/// The variables that name the place of a program's records.
pub(crate) const VARIABLES: [&str; 4] =
    ["HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"];

/// A record that may hold the prompt.
struct Candidate {
    file: PathBuf,
    native: Option<String>,
    changed: SystemTime,
}

impl Search {
    /// Looks the prompt up. It reads files, so it blocks.
    pub fn run(&self) -> Option<Record> {
        let recording = self.vendor.table().record.as_ref()?;
        if self.query.uses && recording.open_call.is_none() {
            return None;
        }
        let set = |name: &str| self.variables.get(name).filter(|value| !value.is_empty());
        let folder = (recording.folder)(&|name| set(name).map(PathBuf::from))
            .filter(|folder| folder.is_absolute())?;
        let mut found = Vec::new();
        // A user may link the folder of the records; links below it are not followed.
        let mut left = if self.query.uses { OPEN_ENTRIES_MAX } else { ENTRIES_MAX };
        collect(&fs::canonicalize(folder).ok()?, recording, recording.depth, &mut left, &mut found);
        let is_known = |one: &Candidate| one.native.is_some() && one.native == self.query.native;
        found.sort_by_key(|one| (!is_known(one), std::cmp::Reverse(one.changed)));
        if self.query.uses {
            return found.into_iter().take(OPEN_MAX).find_map(|one| self.tool(recording, one));
        }
        found.into_iter().take(RECORDS_MAX).find_map(|one| self.read(recording, one))
    }

    /// Returns the record of the turn whose prompt has the tag, if the candidate holds that prompt.
    /// Without a tag, returns the newest turn.
    fn read(&self, recording: &RecordSpec, candidate: Candidate) -> Option<Record> {
        let Some(tag) = &self.query.tag else { return self.newest(recording, candidate) };
        let text = last_bytes(&candidate.file, BYTES_MAX)?;
        let lines: Vec<&str> = text.lines().collect();
        let at = line_of(&lines, recording, tag)?;
        let used = (recording.usage)(&lines, at, &candidate.file);
        Some(Record {
            native: candidate.native,
            end: end_of_turn(&lines, recording, at).map(plain),
            newest: None,
            usage: self.prices.usage_of(&used),
            tool: None,
        })
    }

    /// Returns the tool that the program uses now, if the record is of its conversation. The
    /// program's own id decides about that, or the tag of the prompt if the id is not known yet.
    fn tool(&self, recording: &RecordSpec, candidate: Candidate) -> Option<Record> {
        let open_call = recording.open_call?;
        let known = self.query.native.is_some();
        if known && candidate.native != self.query.native {
            return None;
        }
        let end = end_of(&candidate.file)?;
        let is_its =
            |tag: &String| line_of(&end.lines().collect::<Vec<_>>(), recording, tag).is_some();
        (known || self.query.tag.as_ref().is_some_and(is_its)).then(|| Record {
            native: candidate.native,
            tool: open_call(&end),
            ..Record::default()
        })
    }

    /// Returns the newest turn of the conversation that the program is known to be in.
    fn newest(&self, recording: &RecordSpec, candidate: Candidate) -> Option<Record> {
        let known = self.query.native.as_ref();
        let native = candidate.native.filter(|native| known == Some(native))?;
        let text = last_bytes(&candidate.file, BYTES_MAX)?;
        let lines: Vec<&str> = text.lines().collect();
        let (newest, end) = (recording.newest)(&lines)?;
        let prompts = newest.prompts.iter().map(|prompt| for_terminal(prompt)).collect();
        let newest = Some(NewestTurn { prompts, ..newest });
        Some(Record { native: Some(native), end: Some(plain(end)), newest, ..Record::default() })
    }
}

/// Collects the files below a folder that may be records, in descending order of names, until
/// `left` entries were visited.
fn collect(
    folder: &Path,
    recording: &RecordSpec,
    depth: usize,
    left: &mut usize,
    found: &mut Vec<Candidate>,
) {
    let mut entries: Vec<DirEntry> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    for entry in entries {
        let Some(fewer) = left.checked_sub(1) else { return };
        *left = fewer;
        match entry.file_type() {
            Ok(kind) if depth > 0 && kind.is_dir() => {
                collect(&entry.path(), recording, depth - 1, left, found);
            }
            Ok(kind) if depth == 0 && kind.is_file() => {
                found.extend(candidate(&entry, recording));
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// Returns a file that may be a record, with the session id in its name, if it has one; `None` for
/// a file of another kind.
fn candidate(entry: &DirEntry, recording: &RecordSpec) -> Option<Candidate> {
    let file = entry.path();
    let stem = file.file_stem().filter(|_| file.extension().is_some_and(|end| end == ENDING))?;
    let native = (recording.native)(stem.to_str()?).filter(|id| is_native(id)).map(str::to_owned);
    let changed = entry.metadata().and_then(|about| about.modified()).ok()?;
    Some(Candidate { file, native, changed })
}

/// Returns the index of the newest prompt that contains this tag as a line; `None` if the record
/// does not contain it.
fn line_of(lines: &[&str], recording: &RecordSpec, tag: &str) -> Option<usize> {
    let read = |line: &&str| serde_json::from_str::<Value>(line).ok();
    let is_its = |line: &&str| {
        line.contains(tag)
            && read(line)
                .and_then(|line| (recording.prompt)(&line))
                .is_some_and(|prompt| prompt.split(['\n', '\r']).any(|line| line.trim() == tag))
    };
    lines.iter().rposition(is_its)
}

/// Returns the end of the turn whose prompt is in this line. Its words include those before a pass
/// of the talking piece.
fn end_of_turn(lines: &[&str], recording: &RecordSpec, at: usize) -> Option<RecordEnd> {
    let end = (recording.end)(lines, at);
    let of_turn = behind(lines, at).take_while(|line| (recording.prompt)(line).is_none());
    let before = before_pass(of_turn.flat_map(|line| (recording.steps)(&line)));
    end.map(|end| match end {
        RecordEnd::Said(words) => RecordEnd::Said(whole(before.as_deref(), words)),
        RecordEnd::Failed(_) | RecordEnd::Interrupted => end,
    })
}

/// Removes characters that a terminal would interpret from the words of an end.
fn plain(end: RecordEnd) -> RecordEnd {
    match end {
        RecordEnd::Said(words) => {
            let words = words.as_deref().map(for_terminal);
            RecordEnd::Said(words.filter(|words| !words.trim().is_empty()))
        }
        RecordEnd::Failed(message) => RecordEnd::Failed(for_terminal(&message)),
        RecordEnd::Interrupted => RecordEnd::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    use serde_json::json;

    const TAG: &str = "[moothall:0a1b2c3d]";
    const SESSION: &str = "7df0e220-879a-411d-9711-e7694ee89550";
    const CODEX: &str = "sessions/2026/11/22";

    fn look(vendor: Vendor, home: &Path, native: Option<&str>) -> Option<Record> {
        let home = home.to_string_lossy().into_owned();
        let variables = VARIABLES.map(|name| (name.to_owned(), home.clone())).into();
        let query =
            RecordQuery { native: native.map(str::to_owned), tag: Some(TAG.into()), uses: false };
        Search { vendor, query, variables, prices: Prices::default() }.run()
    }

    fn keep(home: &Path, file: &str, lines: &[Value]) {
        let file = home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(file, text).unwrap();
    }

    fn codex(event: Value) -> Vec<Value> {
        let text = format!("hello\n\n{TAG}");
        let content = json!([{"type": "input_text", "text": text}]);
        let prompt = json!({"type": "message", "role": "user", "content": content});
        vec![
            json!({"type": "response_item", "payload": prompt}),
            json!({"type": "event_msg", "payload": event}),
        ]
    }

    fn rollout(number: u8) -> String {
        format!("{CODEX}/rollout-2026-11-22T00-06-3{number}-{SESSION}.jsonl")
    }

    fn ended(record: Option<Record>) -> Option<RecordEnd> {
        record.expect("a record").end
    }

    fn said(words: &str) -> Option<RecordEnd> {
        Some(RecordEnd::Said(Some(words.into())))
    }

    fn failed(words: &str) -> Option<RecordEnd> {
        Some(RecordEnd::Failed(words.into()))
    }

    #[test]
    fn codex_ends_as_its_record_says() {
        let complete = |more: Value, error: Value| json!({"type": "task_complete", "turn_id": "1", "last_agent_message": more, "error": error});
        for (event, end) in [
            (complete(json!("done"), Value::Null), said("done")),
            (complete(Value::Null, Value::Null), Some(RecordEnd::Said(None))),
            (complete(Value::Null, json!({"message": "usage limit"})), failed("usage limit")),
            (
                json!({"type": "turn_aborted", "reason": "interrupted"}),
                Some(RecordEnd::Interrupted),
            ),
            (
                json!({"type": "turn_aborted", "reason": "budget_limited"}),
                failed("It stopped its turn: budget_limited."),
            ),
            (json!({"type": "token_count"}), None),
        ] {
            let home = tempfile::tempdir().unwrap();
            keep(home.path(), &rollout(0), &codex(event.clone()));
            let record = look(Vendor::Codex, home.path(), None);
            assert_eq!(record.as_ref().unwrap().native.as_deref(), Some(SESSION));
            assert_eq!(ended(record), end, "{event}");
        }
    }

    #[test]
    fn the_newest_turn_of_codex_is_that_which_was_over_last() {
        let item = |turn: &str, kind: &str, words: &str| {
            let item = json!({"type": kind, "content": [{"type": "text", "text": words}]});
            let event = json!({"type": "item_completed", "turn_id": turn, "item": item});
            json!({"type": "event_msg", "payload": event})
        };
        let over = |turn: &str, words: &str| {
            let event =
                json!({"type": "task_complete", "turn_id": turn, "last_agent_message": words});
            json!({"type": "event_msg", "payload": event})
        };
        let lines = [
            item("1", "UserMessage", "first"),
            over("1", "one"),
            item("2", "UserMessage", "hello"),
            item("2", "AgentMessage", "let me look"),
            item("2", "UserMessage", "and this"),
            over("2", "two"),
            item("3", "UserMessage", "not yet"),
        ];
        let home = tempfile::tempdir().unwrap();
        keep(home.path(), &rollout(0), &lines);
        let newest = |native: &str| {
            let home = home.path().to_string_lossy().into_owned();
            let variables = VARIABLES.map(|name| (name.to_owned(), home.clone())).into();
            let query = RecordQuery { native: Some(native.into()), tag: None, uses: false };
            Search { vendor: Vendor::Codex, query, variables, prices: Prices::default() }.run()
        };
        let record = newest(SESSION).unwrap();
        let prompts = vec!["hello".to_owned(), "and this".to_owned()];
        assert_eq!(record.newest, Some(NewestTurn { turn: "2".into(), prompts }));
        assert_eq!(record.end, said("two"));
        assert_eq!(newest("7df0e220-0000-411d-9711-e7694ee89550"), None, "another's");
    }

    #[test]
    fn a_prompt_is_found_by_its_line_alone() {
        let home = tempfile::tempdir().unwrap();
        let mut quoted = codex(json!({"type": "task_complete", "last_agent_message": "not this"}));
        let text = format!("what is {TAG} for?");
        quoted[0]["payload"]["content"][0]["text"] = json!(text);
        keep(home.path(), &rollout(1), &quoted);
        assert_eq!(look(Vendor::Codex, home.path(), None), None, "a word in a line");
        let its = codex(json!({"type": "task_complete", "last_agent_message": "this"}));
        keep(home.path(), &rollout(0), &its);
        assert_eq!(ended(look(Vendor::Codex, home.path(), Some("another"))), said("this"));
        assert_eq!(look(Vendor::Other, home.path(), None), None);
    }

    #[test]
    fn no_link_below_the_folder_of_the_records_is_followed() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lines = codex(json!({"type": "task_complete", "last_agent_message": "done"}));
        keep(elsewhere.path(), &rollout(0), &lines);
        fs::create_dir_all(home.path().join(CODEX)).unwrap();
        let (there, here) = (elsewhere.path().join(rollout(0)), home.path().join(rollout(0)));
        symlink(&there, &here).unwrap();
        assert_eq!(look(Vendor::Codex, home.path(), Some(SESSION)), None, "a file");
        fs::remove_dir_all(home.path().join(CODEX)).unwrap();
        symlink(elsewhere.path().join(CODEX), home.path().join(CODEX)).unwrap();
        assert_eq!(look(Vendor::Codex, home.path(), Some(SESSION)), None, "a folder");
        fs::remove_dir_all(home.path().join("sessions")).unwrap();
        symlink(elsewhere.path().join("sessions"), home.path().join("sessions")).unwrap();
        assert!(look(Vendor::Codex, home.path(), None).is_some(), "its user's own link");
    }

    #[test]
    fn claude_ends_as_its_record_says_in_whatever_order() {
        let line = |kind: &str, id: &str, before: &str, message: Value| json!({"type": kind, "uuid": id, "parentUuid": before, "message": message});
        let prompt = |id: &str, before: &str, text: &str| {
            line("user", id, before, json!({"role": "user", "content": text}))
        };
        let answer = |stop: Value| {
            line(
                "assistant",
                "c",
                "b",
                json!({"id": "m", "stop_reason": stop, "content": [{"type": "text", "text": "done"}]}),
            )
        };
        let asked = || prompt("a", "0", &format!("hello\n\n{TAG}"));
        let note = || json!({"type": "attachment", "uuid": "b", "parentUuid": "a"});
        let over =
            json!({"type": "system", "subtype": "turn_duration", "uuid": "d", "parentUuid": "c"});
        let mut error = answer(json!("stop_sequence"));
        error["isApiErrorMessage"] = json!(true);
        let stop = prompt("c", "b", "[Request interrupted by user]");
        let next = || prompt("e", "d", "the next prompt");
        for (lines, end) in [
            (vec![asked(), note(), answer(json!("end_turn")), over.clone(), next()], said("done")),
            // The line is written this way while its session gets a name.
            (vec![answer(json!("end_turn")), over, asked(), note()], said("done")),
            (vec![asked(), note(), answer(json!("tool_use"))], None),
            (vec![asked(), note(), error], failed("done")),
            (vec![asked(), note(), stop], Some(RecordEnd::Interrupted)),
            (vec![asked(), note()], None),
        ] {
            let home = tempfile::tempdir().unwrap();
            keep(home.path(), &format!("projects/-work/{SESSION}.jsonl"), &lines);
            assert_eq!(ended(look(Vendor::Claude, home.path(), Some(SESSION))), end, "{lines:?}");
        }
    }

    #[test]
    fn gemini_ends_as_its_record_says() {
        let line =
            |kind: &str, content: Value| json!({"id": "1", "type": kind, "content": content});
        let asked = || line("user", json!([{"text": format!("hello\n\n{TAG}")}]));
        let set = || json!({"$set": {"lastUpdated": "2026-11-25T14:26:22.475Z"}});
        let refused = "[API Error: {\"error\":{\"code\":400,\"message\":\"API key not valid\"}}]";
        let mut call = line("gemini", json!("let me look"));
        call["toolCalls"] = json!([{"name": "read_file"}]);
        for (lines, end) in [
            (vec![asked(), set(), line("gemini", json!("done")), set()], said("done")),
            (
                vec![asked(), line("gemini", json!("done")), line("user", json!("next"))],
                said("done"),
            ),
            (vec![asked(), set(), line("error", json!(refused))], failed("API key not valid")),
            (
                vec![asked(), line("error", json!("[API Error: no quota]"))],
                failed("[API Error: no quota]"),
            ),
            (
                vec![asked(), line("info", json!("Request cancelled."))],
                Some(RecordEnd::Interrupted),
            ),
            (vec![asked(), call], None),
        ] {
            let home = tempfile::tempdir().unwrap();
            keep(home.path(), ".gemini/tmp/here/chats/session-2026-11-25T14-26-8dcf.jsonl", &lines);
            assert_eq!(ended(look(Vendor::Gemini, home.path(), None)), end, "{lines:?}");
        }
    }
}
