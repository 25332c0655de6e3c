//! Gemini CLI: its start, its screen and its reports.
//!
//! The composer stands between the last line and the footer, after a ` >`. During a turn `esc to
//! cancel` stands above the line. A dialog is a box at the very end. With many colours, bars of
//! half blocks replace the empty rows around the composer.
//!
//! Each turn ends with an `AfterAgent`, an interrupted one too. Each hook must print an object.
//!
//! The answer in `AfterAgent` is the pieces of the stream joined with spaces, some of them twice.
//! The exact words are in the program's record of the session, which the report names.

mod asking;
mod home;
mod usage;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use moothall_engine::sessions::{
    Dialog, HookNews, PaneState, RecordEnd, ReportedQuestion, Reports,
};
use serde_json::{Value, json};

use super::details;
use super::passes::{Step, before_pass_in};
use super::records::{behind, end_of, text, trouble, word};
use super::{
    HookReader, Keys, LaunchSpec, ProgramTable, RecordSpec, ReportedEnd, ResumeSpec, ScreenReader,
    ToolHooks, ValueCount,
};
use crate::logins::{GOOGLE_CLOUD, Login};
use crate::terminal::hooks::{Fitting, LaunchCommand, READING_TOOLS, TOOLS};
use crate::terminal::screen::cells::Row;
use crate::terminal::screen::{ScreenReading, above_footer, composed, options};
use home::furnish;

pub(super) static TABLE: ProgramTable = ProgramTable {
    launch: LaunchSpec {
        name: Some("gemini"),
        install: Some("npm install -g @google/gemini-cli"),
        login: Some(&LOGIN),
        // Without a terminal the program reads the prompt from stdin and answers once.
        once: Some(&["--skip-trust", "--output-format", "json"]),
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
        acknowledgement: "{}",
        reports: Reports::ALL,
        decides: None,
        tools: Some(ToolHooks { before: "BeforeTool", after: &["AfterTool"] }),
    }),
    record: Some(RecordSpec {
        folder: |variable| Some(variable(HOME).or_else(|| variable("HOME"))?.join(".gemini/tmp")),
        depth: 2,
        // The name holds only the beginning of the id.
        native: |_| None,
        prompt,
        end,
        steps,
        usage: usage::of_turn,
        newest: |_| None,
        open_call: None,
    }),
};

/// The variable that names another home.
const HOME: &str = "GEMINI_CLI_HOME";

/// The event that ends a turn.
const STOP: &str = "AfterAgent";

/// The arguments of Gemini CLI, by its own help (0.61).
static RESUMING: ResumeSpec = ResumeSpec {
    word: "--resume",
    forgets: &["Error resuming session"],
    kept: &[
        (
            ValueCount::One,
            "-m --model --approval-mode --policy --admin-policy --allowed-mcp-server-names \
             --allowed-tools -e --extensions --include-directories -o --output-format",
        ),
        (ValueCount::Maybe, "-w --worktree"),
        (
            ValueCount::None,
            "-d --debug --skip-trust -s --sandbox -y --yolo --screen-reader --raw-output \
             --accept-raw-output-risk",
        ),
    ],
    prompts: &[(ValueCount::One, "-i --prompt-interactive -p --prompt")],
    earlier: &[
        (ValueCount::Maybe, "-r --resume"),
        (ValueCount::One, "--session-id --session-file"),
    ],
};

/// The login of Gemini CLI.
static LOGIN: Login = Login {
    client: "gemini",
    keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    settings: &[
        "GEMINI_CLI_HOME",
        "GEMINI_MODEL",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
    ],
    clouds: &[("GOOGLE_GENAI_USE_VERTEXAI", GOOGLE_CLOUD), ("GOOGLE_GENAI_USE_GCA", GOOGLE_CLOUD)],
    home: (HOME, ""),
    files: &[".gemini/oauth_creds.json", ".gemini/.env"],
    hooks: None,
    by_hand: "run `gemini` once by hand and log in",
};

/// Makes a home for this run, and adds hooks and tools to its settings, because the program reads
/// such settings only there. Returns the variable that names that home.
fn launch_command(fitting: &Fitting<'_>) -> io::Result<LaunchCommand> {
    let hook = |event: &str| {
        let entry = json!({"type": "command", "name": TOOLS, "command": fitting.hook_line("gemini", event), "env": fitting.own});
        (event.to_owned(), json!([{"hooks": [entry]}]))
    };
    let hooks: serde_json::Map<String, Value> = EVENTS.into_iter().map(hook).collect();
    let home = furnish(
        fitting.folder,
        &home_in(fitting.given),
        &json!({
            "hooks": hooks,
            "mcpServers": {TOOLS: fitting.tools()},
            "tools": {"allowed": READING_TOOLS.map(|tool| format!("mcp_{TOOLS}_{tool}"))},
        }),
    )?;
    Ok(LaunchCommand {
        args: Vec::new(),
        env: BTreeMap::from([(HOME.to_owned(), home.to_string_lossy().into_owned())]),
    })
}

/// Returns the home of Gemini CLI's user: from the variable, or else the home folder.
fn home_in(given: &BTreeMap<String, String>) -> PathBuf {
    let inherited = || std::env::var_os("HOME").map(PathBuf::from);
    let set = [HOME, "HOME"].into_iter().find_map(|name| given.get(name).map(PathBuf::from));
    set.or_else(inherited).unwrap_or_default()
}

const RULE: char = '─';
const MARK: &str = " >";
const WORKING: &str = "(esc to cancel";
/// Most rows between the sign of work and the line.
const WORKING_ROWS_MAX: usize = 12;
/// The text of an empty composer. It is grey, not faint.
const HINT: &str = "Type your message or @path/to/file";
/// The characters of boxes.
const FRAME: [char; 6] = ['│', '─', '╭', '╮', '╰', '╯'];

const BARS: [char; 2] = ['▄', '▀'];

/// Reads the screen: a dialog, or a composer of a busy or idle program. Any other screen is
/// `Starting`. Every bar is read as an empty row, because bars only replace the empty rows around
/// the composer.
fn read(rows: &[Row]) -> ScreenReading {
    let is_bar = |row: &Row| BARS.into_iter().any(|bar| row.is_rule(bar));
    let rows: Vec<Row> =
        rows.iter().map(|row| if is_bar(row) { Row::default() } else { row.clone() }).collect();
    let rows = rows.as_slice();
    if let Some(dialog) = dialog(rows) {
        return ScreenReading::asking(dialog);
    }
    let Some((rule, mark, end)) = composer(rows) else {
        return ScreenReading::only(PaneState::Starting);
    };
    let above = &rows[rule.saturating_sub(WORKING_ROWS_MAX)..rule];
    let text = composed(&rows[mark..end], 3);
    ScreenReading::composing(
        above.iter().any(|row| row.text().contains(WORKING)),
        if text == HINT { String::new() } else { text },
    )
}

/// Returns the line above the composer, the composer's first row, and the row where the gap below
/// begins.
fn composer(rows: &[Row]) -> Option<(usize, usize, usize)> {
    let end = above_footer(rows)?;
    let rule = rows[..end].iter().rposition(|row| row.is_rule(RULE))?;
    let mark = rule + rows[rule..end].iter().position(|row| row.text().starts_with(MARK))?;
    Some((rule, mark, end))
}

/// Returns the dialog in the box at the end of the screen; `None` without a box, or without options
/// in it.
fn dialog(rows: &[Row]) -> Option<Dialog> {
    let last = rows.iter().rposition(|row| !row.text().is_empty())?;
    if !rows[last].text().trim_start().starts_with('╰') {
        return None;
    }
    let top = rows[..last].iter().rposition(|row| row.text().trim_start().starts_with('╭'))?;
    if asking::is_question(&rows[top + 1..last]) {
        return asking::question(&rows[top + 1..last]);
    }
    let (first, options) = options(&rows[top + 1..last], &FRAME)?;
    let about: Vec<String> =
        rows[top + 1..top + 1 + first].iter().map(inside).filter(|line| !line.is_empty()).collect();
    Some(Dialog {
        action: about.join("\n").trim_start_matches("? ").to_owned(),
        partial: false,
        options,
        field: None,
        pointer: None,
        whole: false,
        checked: None,
        confirms: false,
    })
}

/// Returns the text of a row between the borders of a box.
fn inside(row: &Row) -> String {
    row.text().trim_matches(|c| c == ' ' || FRAME.contains(&c)).to_owned()
}

/// The events that its sessions report.
const EVENTS: [&str; 7] =
    ["SessionStart", "BeforeAgent", STOP, "Notification", "SessionEnd", "BeforeTool", "AfterTool"];

/// The answer in the report of a turn without one.
const NO_ANSWER: &str = "[no response text]";

/// Returns the meaning of an event.
fn news(event: &str, payload: &Value, recorded: &ReportedEnd) -> Option<HookNews> {
    match event {
        "SessionStart" => Some(HookNews::Began),
        "BeforeAgent" => text(payload, "prompt").map(|text| HookNews::Prompt { text }),
        STOP => {
            let text = text(payload, "prompt_response")
                .filter(|text| text.trim() != NO_ANSWER)
                .map(|text| ungarbled(text, recorded.words.as_deref()));
            // After an error, the reported answer holds the parts of each attempt. Only complete
            // answers have words in the record.
            let is_whole = text.is_some() && recorded.words.is_some();
            Some(match &recorded.trouble {
                Some(message) if !is_whole => HookNews::Failed { message: message.clone() },
                Some(_) | None => HookNews::Stopped { text, inputs: None, interrupted: false },
            })
        }
        "Notification" => asks(payload),
        "SessionEnd" => (payload.get("reason").and_then(Value::as_str) != Some("clear"))
            .then_some(HookNews::Ended),
        _ => None,
    }
}

/// Returns the recorded words if the answer contains them, apart from blanks. Otherwise returns the
/// answer.
fn ungarbled(answer: String, recorded: Option<&str>) -> String {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    match recorded {
        Some(words) if bare(&answer).contains(&bare(words)) => words.to_owned(),
        Some(_) | None => answer,
    }
}

/// Looks up the reported end of a turn in the program's record.
fn recorded(payload: &Value) -> ReportedEnd {
    let named = text(payload, "transcript_path").filter(|path| Path::new(path).is_absolute());
    let Some(record) = named.and_then(|record| end_of(Path::new(&record))) else {
        return ReportedEnd::default();
    };
    ReportedEnd {
        words: last_words(&record),
        trouble: last_trouble(&record),
        before_pass: before_pass_in(&record, prompt, steps),
    }
}

/// Returns the error that ended the turn of the newest prompt; `None` if it ended otherwise.
fn last_trouble(record: &str) -> Option<String> {
    let lines: Vec<&str> = record.lines().collect();
    let is_prompt = |line: &&str| {
        let read = serde_json::from_str::<Value>(line).ok();
        read.is_some_and(|line| prompt(&line).is_some())
    };
    match end(&lines, lines.iter().rposition(is_prompt)?)? {
        RecordEnd::Failed(message) => Some(message),
        RecordEnd::Said(_) | RecordEnd::Interrupted => None,
    }
}

/// Returns the agent's newest words after the newest prompt. Records are lines of JSON, of which
/// the first may be cut.
fn last_words(record: &str) -> Option<String> {
    let lines = record.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in lines {
        let content = line.get("content").map(words).unwrap_or_default();
        match line.get("type").and_then(Value::as_str) {
            Some("gemini") if !content.trim().is_empty() => return Some(content),
            // A tool's answer is recorded as the user's, without a text.
            Some("user") if !content.trim().is_empty() => return None,
            Some(_) | None => {}
        }
    }
    None
}

/// Returns the prompt that a line holds. A tool's answer has no text.
fn prompt(line: &Value) -> Option<String> {
    let text = (word(line, "type") == "user").then(|| words(&line["content"]))?;
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Returns the steps of a turn that a line records. A call is in the line of the words before it.
fn steps(line: &Value) -> Vec<Step> {
    match word(line, "type") {
        "gemini" => {
            let calls = line["toolCalls"].as_array().into_iter().flatten();
            let calls = calls.map(|call| Step::Call(word(call, "name").to_owned()));
            std::iter::once(Step::Words(words(&line["content"]))).chain(calls).collect()
        }
        "user" => vec![Step::ToolResult],
        _ => Vec::new(),
    }
}

/// The note of an interrupted turn.
const CANCELLED: &str = "Request cancelled.";

/// Returns the end of the turn whose prompt is in this line, as far as the lines go. Several lines
/// may describe one message, and the newest counts.
fn end(lines: &[&str], at: usize) -> Option<RecordEnd> {
    let mut end = None;
    for line in behind(lines, at) {
        let content = words(&line["content"]);
        match word(&line, "type") {
            "gemini" if line["toolCalls"].as_array().is_some_and(|calls| !calls.is_empty()) => {
                end = None;
            }
            "gemini" if !content.trim().is_empty() => end = Some(RecordEnd::Said(Some(content))),
            "error" => end = Some(RecordEnd::Failed(trouble(content))),
            "info" if content == CANCELLED => end = Some(RecordEnd::Interrupted),
            "user" if prompt(&line).is_some() => break,
            _ => {}
        }
    }
    end
}

/// Returns the words of a content: a text, or the texts of its parts.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Returns the news that a person's permission is asked; `None` for another notification. The
/// details are exact. The message is only a title, and counts only without details.
fn asks(payload: &Value) -> Option<HookNews> {
    if payload.get("notification_type").and_then(Value::as_str) != Some("ToolPermission") {
        return None;
    }
    let details = payload.get("details").filter(|details| !details.is_null());
    // For a tool of a tool server, the details hold only its name.
    let nameless = |details: &Value| {
        details.get("type").and_then(Value::as_str) == Some("mcp")
            && details.get("toolArgs").is_none()
    };
    let partial = details.is_none_or(nameless);
    let action =
        details.map(Value::to_string).or_else(|| text(payload, "message")).unwrap_or_default();
    let tool = details.and_then(|details| details.get("type")).and_then(Value::as_str);
    let detail = details.and_then(|input| details::detail(tool.unwrap_or_default(), input));
    Some(HookNews::Asks(ReportedQuestion { detail, ..ReportedQuestion::new(action, partial) }))
}
