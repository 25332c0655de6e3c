//! Claude Code: its start, its screen and its reports.
//!
//! The composer stands between two lines, after a `❯`; the upper line may hold a name. During a
//! turn the footer says `esc to interrupt`, unless text was typed, and a spinner with a word and
//! `…` stands above. A dialog takes the place of the composer.
//!
//! The final text is in the payload of `Stop`. `Stop` is not sent if a person interrupts the turn.

mod always;
mod choosing;
mod login;
mod usage;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, PathBuf};

use moothall_engine::sessions::{
    Dialog, HookNews, PaneState, Permit, RecordEnd, ReportedQuestion, Reports,
};
use moothall_kernel::permission::PermissionOption;
use serde_json::{Value, json};

use super::details;
use super::passes::{Step, before_pass_in};
use super::records::{end_of, lines, text, word};
use super::{
    DecisionHook, HookReader, Keys, LaunchSpec, ProgramTable, RecordSpec, ReportedEnd, ResumeSpec,
    ScreenReader, ToolHooks, ValueCount,
};
use crate::terminal::hooks::{Fitting, LaunchCommand, PERMISSION_SECONDS, READING_TOOLS, TOOLS};
use crate::terminal::screen::cells::Row;
use crate::terminal::screen::{ScreenReading, composed, options};

pub(super) static TABLE: ProgramTable = ProgramTable {
    launch: LaunchSpec {
        name: Some("claude"),
        install: Some("npm install -g @anthropic-ai/claude-code"),
        login: Some(&login::LOGIN),
        once: Some(&["--print", "--output-format", "json"]),
        printed: Some(&usage::PRINTED),
        resuming: Some(&RESUMING),
        launch_command,
    },
    screen: ScreenReader { read, has_composer: true },
    keys: Keys::USUAL,
    report: Some(HookReader {
        native: "session_id",
        news,
        ends_with: STOP,
        recorded,
        // Claude Code would add this output to the prompt.
        acknowledgement: "",
        reports: Reports::ALL,
        decides: Some(DecisionHook { event: PERMISSION, answerable, words: decision }),
        tools: Some(ToolHooks {
            before: "PreToolUse",
            after: &["PostToolUse", "PostToolUseFailure"],
        }),
    }),
    record: Some(RecordSpec {
        folder: |variable| {
            let own = variable("CLAUDE_CONFIG_DIR");
            Some(own.or_else(|| Some(variable("HOME")?.join(".claude")))?.join("projects"))
        },
        depth: 1,
        native: |name| Some(name),
        prompt,
        end,
        steps,
        usage: usage::of_turn,
        newest: |_| None,
        open_call: None,
    }),
};

/// The arguments of Claude Code, by its own help (2.1).
static RESUMING: ResumeSpec = ResumeSpec {
    word: "--resume",
    forgets: &["No conversation found with session ID"],
    kept: &[
        (
            ValueCount::One,
            "--agent --agents --append-system-prompt --append-system-prompt-file \
             --system-prompt --system-prompt-file --debug-file --effort --fallback-model \
             --input-format --json-schema --max-budget-usd --max-turns --model -n --name \
             --output-format --permission-mode --permission-prompt-tool --plugin-dir \
             --plugin-url --remote-control-session-name-prefix --settings --setting-sources",
        ),
        (
            ValueCount::Many,
            "--add-dir --allowedTools --allowed-tools --disallowedTools --disallowed-tools \
             --betas --file --mcp-config --tools",
        ),
        (ValueCount::Maybe, "-d --debug --prompt-suggestions --remote-control -w --worktree"),
        (
            ValueCount::None,
            "--allow-dangerously-skip-permissions --ax-screen-reader --bare --brief --chrome \
             --no-chrome --dangerously-skip-permissions --disable-slash-commands \
             --exclude-dynamic-system-prompt-sections --ide --safe-mode --strict-mcp-config \
             --tmux --verbose",
        ),
    ],
    prompts: &[],
    earlier: &[
        (ValueCount::Maybe, "-r --resume --from-pr"),
        (ValueCount::One, "--session-id"),
        (ValueCount::None, "-c --continue --fork-session"),
    ],
};

/// Writes two files. The settings have the hooks, and the rights to read the texts that are stored
/// for the session and to use the tools that read. The other file names this server's tools.
/// Returns the arguments that name the files.
fn launch_command(fitting: &Fitting<'_>) -> io::Result<LaunchCommand> {
    let hook = |(event, seconds): (&str, u64)| {
        let entry = json!({"type": "command", "command": fitting.hook_line("claude", event), "timeout": seconds});
        (event.to_owned(), json!([{"hooks": [entry]}]))
    };
    let hooks: serde_json::Map<String, Value> = EVENTS.into_iter().map(hook).collect();
    // An absolute path begins with two slashes in this rule.
    let words = format!("Read(/{}/**)", fitting.words()?);
    let tools = READING_TOOLS.map(|tool| format!("mcp__{TOOLS}__{tool}"));
    let allow: Vec<String> = std::iter::once(words).chain(tools).collect();
    let permissions = json!({"allow": allow});
    let settings = json!({"hooks": hooks, "permissions": permissions});
    let settings = fitting.keep("claude-settings.json", &settings)?;
    let tools =
        fitting.keep("claude-tools.json", &json!({"mcpServers": {TOOLS: fitting.tools()}}))?;
    // `--mcp-config` takes every following argument as a file up to the next option, so
    // `--settings` comes after it.
    let args = ["--mcp-config".to_owned(), tools, "--settings".to_owned(), settings];
    Ok(LaunchCommand { args: args.into(), env: BTreeMap::new() })
}

const RULE: char = '─';
const MARK: char = '❯';
const WORKING: &str = "esc to interrupt";
const TURNING: [char; 7] = ['·', '✢', '✳', '✶', '✻', '✽', '*'];
/// The text in the spinner's row while it waits to ask its model again.
const RETRYING: &str = " · Retrying in ";
/// Most rows between spinner and composer, for hints and queued messages.
const WORKING_ROWS_MAX: usize = 12;

/// Reads the screen: a dialog, or a composer of a busy or idle program. Any other screen is
/// `Starting`.
fn read(rows: &[Row]) -> ScreenReading {
    let (upper, lower, text) = match (composer(rows), dialog(rows)) {
        (Some(composer), None) => composer,
        (None, Some(dialog)) => return ScreenReading::asking(dialog),
        // Conversation text above a dialog may look like a composer, and numbered rows of a footer
        // like a dialog. A key would be a guess, so the screen counts as unknown.
        (Some(_), Some(_)) | (None, None) => return ScreenReading::only(PaneState::Starting),
    };
    let above = rows[upper.saturating_sub(WORKING_ROWS_MAX)..upper]
        .iter()
        .any(|row| is_turning(&row.text()));
    let below = rows[lower..].iter().any(|row| row.text().contains(WORKING));
    ScreenReading::composing(above || below, text)
}

/// True for a spinner, such as `✻ Pondering…` or `✻ 429 too many requests · Retrying in 7s`. A
/// finished turn says `✻ Pondered for 2s`.
fn is_turning(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|mark| TURNING.contains(&mark))
        && chars.next() == Some(' ')
        && (chars.as_str().contains('…') || chars.as_str().contains(RETRYING))
}

/// Returns the rows of the lines around the composer, and its text. The upper line may hold the
/// name of the session or of a mode. A name wider than the window breaks both lines.
fn composer(rows: &[Row]) -> Option<(usize, usize, String)> {
    let last = rows.iter().rposition(|row| row.is_rule(RULE))?;
    let broken = rows[..last].iter().rev().take_while(|row| row.is_rule(RULE)).count();
    let lower = last - broken;
    let mark = rows[..lower].iter().rposition(|row| row.text().starts_with(MARK))?;
    let upper = mark.checked_sub(1).filter(|upper| rows[*upper].ends_rule(RULE))?;
    Some((upper, lower, composed(&rows[mark..lower], 2)))
}

/// Returns the dialog below the last line of the screen: a title, its subject, a sentence, and the
/// options. If no options are there, it may be a question whose options stand above that line.
fn dialog(rows: &[Row]) -> Option<Dialog> {
    let rule = rows.iter().rposition(|row| row.is_rule(RULE))?;
    let Some((about, options)) = asked_in(&rows[rule + 1..]) else {
        return choosing::question(rows, rule);
    };
    let parts = about.first().and_then(|first| choosing::parts(first));
    Some(Dialog {
        action: about.join("\n"),
        partial: false,
        options,
        field: None,
        pointer: None,
        // Answers shown again for confirmation are complete.
        whole: parts.is_some(),
        checked: None,
        confirms: parts == Some(1),
    })
}

/// Returns the lines before the options, and the options.
fn asked_in(rows: &[Row]) -> Option<(Vec<String>, Vec<PermissionOption>)> {
    let (first, options) = options(rows, &[])?;
    let about = rows[..first]
        .iter()
        .map(|row| row.text().trim().to_owned())
        .filter(|line| !line.is_empty());
    Some((about.collect(), options))
}

/// The event that asks for a permission. Its hook may wait; the first answer, from the hook or from
/// the person at the terminal, counts.
const PERMISSION: &str = "PermissionRequest";

/// The event that ends a turn, and its field with the agent's last words.
const STOP: &str = "Stop";
const LAST_WORDS: &str = "last_assistant_message";

/// The events that sessions report, each with the time limit of its hook, in seconds.
const EVENTS: [(&str, u64); 9] = [
    ("SessionStart", QUICK_SECONDS),
    ("UserPromptSubmit", QUICK_SECONDS),
    (PERMISSION, PERMISSION_SECONDS + QUICK_SECONDS),
    (STOP, QUICK_SECONDS),
    ("StopFailure", QUICK_SECONDS),
    ("SessionEnd", QUICK_SECONDS),
    ("PreToolUse", QUICK_SECONDS),
    ("PostToolUse", QUICK_SECONDS),
    ("PostToolUseFailure", QUICK_SECONDS),
];

const QUICK_SECONDS: u64 = 30;

/// The words for the model if no person answered in time: that is not a refusal.
const GAVE_UP: &str = "No person answered in time, so this was not done. You may ask again.";

/// The words for the model before those of the person who refused.
const DENIED_BECAUSE: &str = "A person did not allow this, and said: ";

/// The words for the model if a person has as many open questions as allowed.
const TOO_MANY: &str = "Too many questions of yours wait for a person already, so this was not asked and not done. Ask again when one of them is answered.";

/// A question of the program to its user. A hook cannot answer it: allowing it does not choose an
/// option.
const QUESTION: &str = "AskUserQuestion";

/// Returns the meaning of an event. Other events are ignored, for example the end of a subagent
/// (`SubagentStop`).
fn news(event: &str, payload: &Value, recorded: &ReportedEnd) -> Option<HookNews> {
    match event {
        "SessionStart" => (field(payload, "source") != "compact").then_some(HookNews::Began),
        "UserPromptSubmit" => text(payload, "prompt").map(|text| HookNews::Prompt { text }),
        STOP => Some(stopped(text(payload, LAST_WORDS).or_else(|| recorded.words.clone()))),
        // The last words are the text of the error then, not the agent's.
        "StopFailure" => Some(HookNews::Failed { message: failure(payload) }),
        PERMISSION => Some(HookNews::Asks(question(payload))),
        "Notification" => {
            let asks = field(payload, "notification_type") == "permission_prompt";
            asks.then(|| HookNews::Asks(ReportedQuestion::new(field(payload, "message"), true)))
        }
        // After `/clear` and `/resume` the program continues under another id.
        "SessionEnd" => {
            (!matches!(field(payload, "reason"), "clear" | "resume")).then_some(HookNews::Ended)
        }
        _ => None,
    }
}

fn failure(payload: &Value) -> String {
    text(payload, LAST_WORDS)
        .or_else(|| text(payload, "error"))
        .unwrap_or_else(|| "It could not go on.".to_owned())
}

fn stopped(text: Option<String>) -> HookNews {
    HookNews::Stopped { text, inputs: None, interrupted: true }
}

fn field<'a>(payload: &'a Value, name: &str) -> &'a str {
    payload.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the question for a permission: the exact action and its parts, the offers not to ask
/// again, and the choices if the agent asks its user something.
fn question(payload: &Value) -> ReportedQuestion {
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    let tool = field(payload, "tool_name");
    let detail = details::detail(tool, input);
    let choices = if tool == QUESTION { details::choices(input) } else { Vec::new() };
    ReportedQuestion {
        detail,
        always: always::offers(payload),
        choices,
        ..ReportedQuestion::new(action(payload), false)
    }
}

/// Returns the exact action: the tool and its whole input, never the title that the agent gave it.
fn action(payload: &Value) -> String {
    format!("{} {}", field(payload, "tool_name"), payload.get("tool_input").unwrap_or(&Value::Null))
}

/// True if a permission can be decided away from the terminal.
fn answerable(payload: &Value) -> bool {
    !matches!(field(payload, "tool_name"), "" | QUESTION)
}

/// Returns the output that decides a permission; empty leaves it to the person at the terminal.
fn decision(permit: Permit, payload: &Value) -> String {
    let decision = match permit {
        Permit::Allow => json!({"behavior": "allow"}),
        Permit::AllowAlways(number) => {
            json!({"behavior": "allow", "updatedPermissions": always::taken(payload, number)})
        }
        Permit::Deny => json!({"behavior": "deny"}),
        Permit::DenyBecause(words) => {
            json!({"behavior": "deny", "message": format!("{DENIED_BECAUSE}{words}")})
        }
        Permit::GaveUp => json!({"behavior": "deny", "message": GAVE_UP}),
        Permit::TooMany => json!({"behavior": "deny", "message": TOO_MANY}),
        Permit::Undecided => return String::new(),
    };
    json!({"hookSpecificOutput": {"hookEventName": PERMISSION, "decision": decision}}).to_string()
}

/// Looks up the reported end of a turn in the program's record. The last words are looked up only
/// if the report lacks them.
fn recorded(payload: &Value) -> ReportedEnd {
    let Some(end) = record_of(payload) else { return ReportedEnd::default() };
    let has_words = text(payload, LAST_WORDS).is_some();
    let words = if has_words { None } else { claude_words(&end) };
    ReportedEnd { words, trouble: None, before_pass: before_pass_in(&end, prompt, steps) }
}

/// Returns the last bytes of the record that a report names. `None` unless the name of the file is
/// the id of the session that the report names.
fn record_of(payload: &Value) -> Option<String> {
    let record = PathBuf::from(text(payload, "transcript_path")?);
    let session = text(payload, "session_id")?;
    let own = record.file_stem() == Some(OsStr::new(&session)) && record.is_absolute();
    let plain = own && !record.components().any(|part| matches!(part, Component::ParentDir));
    plain.then(|| end_of(&record)).flatten()
}

/// Returns the text of the newest message after the newest prompt. A message may be spread over
/// several lines. `None` if the message ends with a call of a tool.
fn claude_words(end: &str) -> Option<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut message: Option<String> = None;
    for line in lines(end).filter(is_own) {
        let said = &line["message"];
        match word(&line, "type") {
            "assistant" if message.as_deref().is_none_or(|id| id == word(said, "id")) => {
                let blocks = said["content"].as_array()?;
                if message.is_none() && blocks.iter().any(|block| word(block, "type") == "tool_use")
                {
                    return None;
                }
                let texts: Vec<&str> = blocks
                    .iter()
                    .filter(|block| word(block, "type") == "text")
                    .map(|block| word(block, "text"))
                    .collect();
                pieces.extend(texts.into_iter().rev().map(str::to_owned));
                message = Some(word(said, "id").to_owned());
            }
            // A prompt or a tool result: text before it is not the last words of this turn.
            "assistant" | "user" => break,
            _ => {}
        }
    }
    pieces.reverse();
    Some(pieces.join("\n\n")).filter(|words| !words.trim().is_empty())
}

/// True unless a line belongs to a subagent, or is a note for the model.
fn is_own(line: &Value) -> bool {
    line["isSidechain"] != Value::Bool(true) && line["isMeta"] != Value::Bool(true)
}

/// The beginning of the line that follows an interrupted turn.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Returns the prompt that a line holds. `None` for a tool result, though its type is `user` too.
fn prompt(line: &Value) -> Option<String> {
    if word(line, "type") != "user" || !is_own(line) {
        return None;
    }
    match &line["message"]["content"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let gave = blocks.iter().any(|block| word(block, "type") == "tool_result");
            (!gave).then(|| texts(blocks).join("\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns the steps of a turn that a line records.
fn steps(line: &Value) -> Vec<Step> {
    let blocks = line["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let step = |block: &Value| match word(block, "type") {
        "text" => Some(Step::Words(word(block, "text").to_owned())),
        "tool_use" => Some(Step::Call(word(block, "name").to_owned())),
        "tool_result" => Some(Step::ToolResult),
        _ => None,
    };
    blocks.iter().filter(|_| is_own(line)).filter_map(step).collect()
}

fn texts(blocks: &[Value]) -> Vec<&str> {
    blocks
        .iter()
        .filter(|block| word(block, "type") == "text")
        .map(|block| word(block, "text"))
        .collect()
}

/// Returns the end of the turn whose prompt is in this line. Lines may be out of order, so the
/// chain of `parentUuid` is followed.
fn end(lines: &[&str], at: usize) -> Option<RecordEnd> {
    let all: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let last_after: BTreeMap<&str, &Value> =
        all.iter().map(|line| (word(line, "parentUuid"), line)).collect();
    let first: Value = serde_json::from_str(lines[at]).ok()?;
    let mut last = RecordedEnd::default();
    let (mut id, mut left) = (text(&first, "uuid")?, all.len());
    while let Some(next) = last_after.get(id.as_str()) {
        if left == 0 || !last.take(next) {
            break;
        }
        left -= 1;
        id = text(next, "uuid")?;
    }
    last.end
}

/// The end of a turn, as far as its lines have been read.
#[derive(Default)]
struct RecordedEnd {
    end: Option<RecordEnd>,
    /// The id of the message whose blocks are being collected.
    message: String,
    pieces: Vec<String>,
}

impl RecordedEnd {
    /// Reads the next line; returns false if the turn ended before it.
    fn take(&mut self, line: &Value) -> bool {
        if let Some(text) = prompt(line) {
            if text.starts_with(INTERRUPTED) {
                self.end = Some(RecordEnd::Interrupted);
            }
            return false;
        }
        match word(line, "type") {
            "assistant" if is_own(line) => self.add_line(line),
            // A tool result: the turn continues.
            "user" => self.end = None,
            _ => {}
        }
        true
    }

    /// Adds a line of an answer. The line ends the turn by its `stop_reason`, unless that reason is
    /// only a tool or a pause. An error of the API ends the turn as failed. Blocks of an earlier
    /// message are dropped.
    fn add_line(&mut self, line: &Value) {
        let said = &line["message"];
        if self.message != word(said, "id") {
            (self.message, self.pieces) = (word(said, "id").to_owned(), Vec::new());
        }
        let blocks = said["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.pieces.extend(texts(blocks).into_iter().map(str::to_owned));
        let words = || Some(self.pieces.join("\n\n"));
        self.end = match word(said, "stop_reason") {
            _ if line["isApiErrorMessage"] == Value::Bool(true) => words().map(RecordEnd::Failed),
            "" | "tool_use" | "pause_turn" => None,
            _ => Some(RecordEnd::Said(words())),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use super::super::records::END_BYTES_MAX;

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
        assert_eq!(
            claude_words(&format!("half a line\"}}\n{text}no JSON\n\n")).as_deref(),
            Some("first\n\nsecond")
        );
        assert_eq!(claude_words(&record(&whole[..6])), None, "nothing since the tool");
        assert_eq!(
            claude_words(&record(&whole[..5])),
            None,
            "words before a tool are not the last ones"
        );
        assert_eq!(claude_words(&record(&whole[..3])), None, "nothing in this turn");
        assert_eq!(claude_words(""), None);
    }

    #[test]
    fn only_a_plain_file_of_the_session_itself_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = record(&[prompt("now"), said("a", words("hello"))]);
        let own = folder.path().join(format!("{SESSION}.jsonl"));
        let other = folder.path().join("other.jsonl");
        fs::write(&other, &text).unwrap();
        let ask =
            |path: &Path| recorded(&json!({"session_id": SESSION, "transcript_path": path})).words;
        assert_eq!(ask(&other), None, "the record of another session");
        std::os::unix::fs::symlink(&other, &own).unwrap();
        assert_eq!(ask(&own), None, "a link to somewhere else");
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        assert_eq!(ask(&own), None);
        fs::remove_dir(&own).unwrap();
        fs::write(&own, "x".repeat(2 * END_BYTES_MAX as usize) + "\n" + &text).unwrap();
        assert_eq!(ask(&own).as_deref(), Some("hello"), "the end of a long one");
        assert_eq!(
            ask(&folder
                .path()
                .join("..")
                .join(folder.path().file_name().unwrap())
                .join(own.file_name().unwrap())),
            None
        );
        assert_eq!(ask(Path::new(&format!("{SESSION}.jsonl"))), None);
    }
}
