//! Codex CLI: its start, its screen and its reports.
//!
//! The composer stands above the footer, after a `›`; sent prompts look the same further up. During
//! a turn `esc to interrupt` stands right above it. A dialog takes the place of composer and
//! footer.
//!
//! Codex reports by `notify`: once at the end of a turn, but not if a person interrupts it.

mod calls;
mod usage;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use moothall_engine::sessions::{Dialog, HookNews, NewestTurn, PaneState, RecordEnd, Reports};
use moothall_kernel::permission::PermissionOption;
use serde_json::{Value, json};

use super::passes::{Step, before_pass_in};
use super::records::{behind, end_of, lines, text, trouble, word};
use super::{
    HookReader, Keys, LaunchSpec, ProgramTable, RecordSpec, ReportedEnd, ResumeSpec, ScreenReader,
    ValueCount, Variables,
};
use crate::logins::Login;
use crate::terminal::hooks::{Fitting, LaunchCommand, TOOLS, VARIABLES};
use crate::terminal::screen::cells::Row;
use crate::terminal::screen::{
    ScreenReading, above_footer, composed, kind_of, options, without_empty_end,
};

pub(super) static TABLE: ProgramTable = ProgramTable {
    launch: LaunchSpec {
        name: Some("codex"),
        install: Some("npm install -g @openai/codex"),
        login: Some(&LOGIN),
        once: Some(&[
            "exec",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
            "--color",
            "never",
            "--json",
            "-",
        ]),
        printed: Some(&usage::PRINTED),
        resuming: Some(&RESUMING),
        launch_command,
    },
    screen: ScreenReader { read, has_composer: true },
    keys: Keys::USUAL,
    report: Some(HookReader {
        native: "thread-id",
        news,
        ends_with: NOTIFY,
        recorded,
        acknowledgement: "",
        // The report at the end of a turn is the only one; it holds the prompts too.
        reports: Reports { turns: true, prompts: false, questions: false },
        decides: None,
        // Its hooks run only after its user trusts each of them. Its record has the calls.
        tools: None,
    }),
    record: Some(RecordSpec {
        folder: |variable| Some(home(variable)?.join("sessions")),
        depth: 3,
        // The name begins with `rollout-2026-11-22T00-06-30-`.
        native: |name| name.len().checked_sub(UUID_CHARS).and_then(|at| name.get(at..)),
        prompt,
        end,
        steps,
        usage: usage::of_turn,
        newest: newest_turn,
        open_call: Some(calls::open_call),
    }),
};

/// Characters of the id at the end of a record's name.
const UUID_CHARS: usize = 36;

/// The event name of its one report.
const NOTIFY: &str = "notify";
/// Most days of records, the newest, in which a session's record is looked for.
const DAYS_MAX: usize = 60;

/// The arguments of Codex, by its own help (0.169). Images belong to the prompt.
static RESUMING: ResumeSpec = ResumeSpec {
    word: "resume",
    forgets: &["No saved session found with ID", "Failed to resume session from"],
    kept: &[
        (
            ValueCount::One,
            "-c --config --enable --disable --remote --remote-auth-token-env -m --model \
             --local-provider -p --profile -s --sandbox -C --cd --add-dir -a --ask-for-approval",
        ),
        (
            ValueCount::None,
            "--strict-config --oss --approve-for-me --full-auto \
             --dangerously-bypass-approvals-and-sandbox --yolo --dangerously-bypass-hook-trust \
             --worktree --search --no-alt-screen --no-daemon",
        ),
    ],
    prompts: &[(ValueCount::Many, "-i --image")],
    earlier: &[
        (ValueCount::Maybe, "resume fork"),
        (ValueCount::None, "--last --all --include-non-interactive"),
    ],
};

/// The login of Codex.
static LOGIN: Login = Login {
    client: "codex",
    keys: &["CODEX_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"],
    settings: &[
        "CODEX_HOME",
        "CODEX_CA_CERTIFICATE",
        "OPENAI_BASE_URL",
        "OPENAI_ORGANIZATION",
        "OPENAI_PROJECT",
    ],
    clouds: &[],
    home: ("CODEX_HOME", ".codex"),
    // The configuration may name a provider with a key of its own.
    files: &["auth.json", "config.toml"],
    hooks: None,
    by_hand: "run `codex login` once by hand",
};

/// Puts the whole configuration into arguments, which other users can list. So it names the
/// variables, without their values.
fn launch_command(fitting: &Fitting<'_>) -> io::Result<LaunchCommand> {
    let notify = json!([fitting.program(), "hook", "codex", "notify"]);
    let tools = format!("mcp_servers.{TOOLS}");
    let settings = [
        format!("notify={notify}"),
        format!("{tools}.command={}", json!(fitting.program())),
        format!("{tools}.args={}", json!(["mcp"])),
        format!("{tools}.env_vars={}", json!(VARIABLES)),
    ];
    Ok(LaunchCommand {
        args: settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect(),
        env: BTreeMap::new(),
    })
}

const MARK: char = '›';
const WORKING: &str = "esc to interrupt)";
/// In the footer while a prompt that was sent too early stays in the composer; the program takes it
/// later without a further key.
const WAITING: &str = "Waiting for startup";
/// Most rows between the sign of work and the composer, for queued messages.
const WORKING_ROWS_MAX: usize = 12;
/// The sign that a dialog shows only the beginning of its subject: `[… 78 lines] ctrl+a view all`.
const CUT: &str = "[… ";
const CUT_LINES: &str = " lines]";
/// Below the options of a dialog.
const CONFIRM: &str = "Press enter to ";
/// Below the options of a full-screen dialog, at the start.
const CONTINUE: &str = "enter continue";
/// Below the options of a form, such as the permission to use a tool of a tool server.
const SUBMIT: &str = "enter to submit";
/// The first row of a form: `Field 1/1`.
const FIELD: &str = "Field ";
/// Most rows from the line that says how to choose to the end.
const FOOTER_ROWS_MAX: usize = 4;

/// Reads the screen: one of three kinds of dialog, or a composer of a busy or idle program. Any
/// other screen is `Starting`.
fn read(rows: &[Row]) -> ScreenReading {
    let rows = without_empty_end(rows);
    if let Some(dialog) = dialog(rows).or_else(|| first_dialog(rows)).or_else(|| form(rows)) {
        return ScreenReading::asking(dialog);
    }
    let Some((mark, end)) = composer(rows) else { return ScreenReading::only(PaneState::Starting) };
    let above = &rows[mark.saturating_sub(WORKING_ROWS_MAX)..mark];
    let busy =
        above.iter().map(Row::text).any(|text| text.contains(WORKING) && !text.starts_with(' '));
    let waiting = rows[end..].iter().any(|row| row.text().contains(WAITING));
    ScreenReading::composing(busy || waiting, composed(&rows[mark..end], 2))
}

/// Returns the row where the composer begins, and the row where the gap above the footer begins.
/// `None` if a row between them is not indented like typed text.
fn composer(rows: &[Row]) -> Option<(usize, usize)> {
    let end = above_footer(rows)?;
    let mark = rows[..end].iter().rposition(|row| row.text().starts_with(MARK))?;
    let whole = rows[mark + 1..end]
        .iter()
        .map(Row::text)
        .all(|text| text.is_empty() || text.starts_with("  "));
    whole.then_some((mark, end))
}

/// Returns the dialog at the end of the screen: a sentence, its subject, the options, and how to
/// choose.
fn dialog(rows: &[Row]) -> Option<Dialog> {
    // In a small window, the line on how to choose follows the last option directly.
    let (first, options) = options(&rows[..ends_with(rows, CONFIRM)?], &[])?;
    // Text of the conversation begins at the edge of the screen, and a dialog is indented.
    let said = rows[..first]
        .iter()
        .rposition(|row| row.text().starts_with(|c| c != ' '))
        .map_or(0, |row| row + 1);
    let question =
        said + rows[said..first].iter().position(|row| row.text().trim_end().ends_with('?'))?;
    let about: Vec<String> =
        rows[question + 1..first].iter().map(|row| row.text().trim().to_owned()).collect();
    let about = about.join("\n").trim().to_owned();
    let question = rows[question].text().trim().to_owned();
    let partial = about.is_empty()
        || about.lines().any(|line| line.contains(CUT) && line.contains(CUT_LINES));
    Some(Dialog {
        action: if about.is_empty() { question } else { about },
        partial,
        options,
        field: None,
        pointer: None,
        whole: false,
        checked: None,
        confirms: false,
    })
}

/// Returns a full-screen dialog that comes before any prompt, such as the one about trusting a
/// folder.
fn first_dialog(rows: &[Row]) -> Option<Dialog> {
    let above = &rows[..ends_with(rows, CONTINUE)?];
    let (first, options) = options(above, &[])?;
    let about: Vec<String> =
        above[..first].iter().map(|row| row.text().trim().to_owned()).collect();
    let marked = above[first..].iter().find_map(|row| {
        row.text().trim().strip_prefix(MARK).map(str::trim_start).map(str::to_owned)
    });
    let pointer = marked
        .and_then(|option| option.split_once('.')?.0.parse::<usize>().ok()?.checked_sub(1))?;
    Some(Dialog {
        action: about.join("\n").trim().to_owned(),
        partial: false,
        options,
        field: None,
        pointer: Some(pointer),
        whole: false,
        checked: None,
        confirms: false,
    })
}

/// Returns a form as a dialog, if its field offers options. A second column explains each of them.
fn form(rows: &[Row]) -> Option<Dialog> {
    let (first, options) = options(&rows[..ends_with(rows, SUBMIT)?], &[])?;
    let field = rows[..first].iter().rposition(|row| row.text().trim().starts_with(FIELD))?;
    let about: Vec<String> =
        rows[field + 1..first].iter().map(|row| row.text().trim().to_owned()).collect();
    Some(Dialog {
        action: about.join("\n").trim().to_owned(),
        partial: false,
        options: options.into_iter().map(in_columns).collect(),
        field: None,
        pointer: None,
        whole: false,
        checked: None,
        confirms: false,
    })
}

/// Returns the row that says how to choose, with at most a few rows of a footer below. `None` if a
/// composer stands below, because the row is text of the conversation then.
fn ends_with(rows: &[Row], how: &str) -> Option<usize> {
    let nearest = rows.len().saturating_sub(FOOTER_ROWS_MAX);
    let found = rows[nearest..].iter().rposition(|row| row.text().trim().starts_with(how))?;
    let below = &rows[nearest + found..];
    (!below.iter().any(|row| row.text().trim_start().starts_with(MARK))).then_some(nearest + found)
}

/// Joins the columns of an option's label with a colon. Takes the kind of the option from the first
/// column alone.
fn in_columns(option: PermissionOption) -> PermissionOption {
    let Some((name, does)) = option.label.split_once("  ") else { return option };
    let label = format!("{name}: {}", does.trim_start());
    PermissionOption::new(option.id.as_str(), label.as_str(), kind_of(name))
}

/// The beginning of the prompt of a background turn, in which Codex makes a title and quotes the
/// person's prompt.
const TITLE_PROMPT: &str = "Generate a concise, single-line task title";

/// The field with the agent's last words.
const LAST_WORDS: &str = "last-assistant-message";

/// Returns the meaning of a report. `None` if it is not the end of a turn, or is that of the
/// background turn in which Codex makes a title.
fn news(_event: &str, payload: &Value, recorded: &ReportedEnd) -> Option<HookNews> {
    if payload.get("type").and_then(Value::as_str) != Some("agent-turn-complete") {
        return None;
    }
    let inputs: Vec<String> =
        inputs(payload).filter_map(Value::as_str).map(str::to_owned).collect();
    if inputs.first().is_some_and(|input| input.trim_start().starts_with(TITLE_PROMPT)) {
        return None;
    }
    let text = text(payload, LAST_WORDS).or_else(|| recorded.words.clone());
    Some(HookNews::Stopped { text, inputs: Some(inputs), interrupted: true })
}

fn inputs(payload: &Value) -> impl Iterator<Item = &Value> {
    payload.get("input-messages").and_then(Value::as_array).into_iter().flatten()
}

fn recorded(payload: &Value) -> ReportedEnd {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    recorded_in(payload, &variable).unwrap_or_default()
}

/// Returns the folder of Codex's own files.
fn home(variable: &Variables<'_>) -> Option<PathBuf> {
    variable("CODEX_HOME").or_else(|| Some(variable("HOME")?.join(".codex")))
}

/// Looks up the reported end of a turn in the program's record. The report does not name a file, so
/// the record is looked for in Codex's folder.
fn recorded_in(payload: &Value, variable: &Variables<'_>) -> Option<ReportedEnd> {
    let (thread, turn) = (text(payload, "thread-id")?, text(payload, "turn-id")?);
    let folder = home(variable).filter(|folder| folder.is_absolute())?;
    let wanted = format!("-{thread}.jsonl");
    let days = newest(&folder.join("sessions"), 3);
    let mut records = days.iter().take(DAYS_MAX).flat_map(|day| newest(day, 1));
    let record = records.find(|file| {
        file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&wanted))
    })?;
    let (end, has_words) = (end_of(&record)?, text(payload, LAST_WORDS).is_some());
    let words = if has_words { None } else { codex_words(&end, &turn) };
    Some(ReportedEnd { words, trouble: None, before_pass: before_pass_in(&end, prompt, steps) })
}

/// Returns the steps of a turn that a line records.
fn steps(line: &Value) -> Vec<Step> {
    let noted = &line["payload"];
    if word(line, "type") != "response_item" {
        return Vec::new();
    }
    let step = match word(noted, "type") {
        "message" if word(noted, "role") == "assistant" => codex_message(noted).map(Step::Words),
        kind if kind.ends_with("_call") => Some(Step::Call(word(noted, "name").to_owned())),
        kind if kind.ends_with("_output") => Some(Step::ToolResult),
        _ => None,
    };
    step.into_iter().collect()
}

/// Returns the entries `deep` levels below a folder, the newest first by name. With more than one
/// level, at most [`DAYS_MAX`] are returned.
fn newest(folder: &Path, deep: usize) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    if deep > 1 {
        found.iter().flat_map(|folder| newest(folder, deep - 1)).take(DAYS_MAX).collect()
    } else {
        found
    }
}

/// Returns the last words of a turn. Reads the lines of a record's end, which come newest first.
/// Prefers the words that Codex noted at the end of the turn to the newest message. `None` if a
/// prompt, a call or the result of a tool follows the newest message.
fn codex_words(end: &str, turn: &str) -> Option<String> {
    let mut over = false;
    for line in lines(end) {
        let noted = &line["payload"];
        match (word(&line, "type"), word(noted, "type")) {
            ("event_msg", "task_complete") if word(noted, "turn_id") == turn && !over => {
                match text(noted, "last_agent_message") {
                    Some(words) => return Some(words),
                    None => over = true,
                }
            }
            // This event begins or ends a turn, so the older lines do not have the last words of
            // this turn.
            ("event_msg", "task_complete" | "task_started") => return None,
            ("response_item", "message") if word(noted, "role") == "assistant" => {
                return codex_message(noted);
            }
            ("response_item", "message") if word(noted, "role") == "user" => return None,
            ("response_item", kind) if kind.ends_with("_call") || kind.ends_with("_output") => {
                return None;
            }
            _ => {}
        }
    }
    None
}

fn codex_message(noted: &Value) -> Option<String> {
    blocks(noted, "output_text").filter(|words| !words.trim().is_empty())
}

/// Joins the texts of a recorded message's blocks of one kind. Returns `None` if its content is
/// not a list.
fn blocks(noted: &Value, kind: &str) -> Option<String> {
    let blocks = noted["content"].as_array()?.iter();
    Some(
        blocks
            .filter(|block| word(block, "type") == kind)
            .map(|block| word(block, "text"))
            .collect(),
    )
}

/// Returns the prompt that a line holds.
fn prompt(line: &Value) -> Option<String> {
    let noted = &line["payload"];
    let is_prompt = word(line, "type") == "response_item"
        && word(noted, "type") == "message"
        && word(noted, "role") == "user";
    is_prompt.then(|| blocks(noted, "input_text"))?
}

/// Returns the end of the turn whose prompt is in this line. `None` if the turn has not ended.
fn end(lines: &[&str], at: usize) -> Option<RecordEnd> {
    let mut error = None;
    for line in behind(lines, at).filter(|line| word(line, "type") == "event_msg") {
        let noted = &line["payload"];
        match word(noted, "type") {
            "error" => error = text(noted, "message").or(error),
            "task_complete" => {
                let said = text(noted, "last_agent_message");
                let error = text(&noted["error"], "message").or(error);
                return Some(match (said, error) {
                    (None, Some(message)) => RecordEnd::Failed(trouble(message)),
                    (said, _) => RecordEnd::Said(said),
                });
            }
            "turn_aborted" => return Some(aborted(word(noted, "reason"), error)),
            _ => {}
        }
    }
    None
}

/// Returns the newest finished turn with the prompts that were typed in it, and its end. `None` if
/// no prompt of that turn was typed.
fn newest_turn(lines: &[&str]) -> Option<(NewestTurn, RecordEnd)> {
    let read = |line: &&str| serde_json::from_str::<Value>(line).ok();
    let noted = |line: &&str| read(line).filter(|line| word(line, "type") == "event_msg");
    let last = lines.iter().rposition(|line| {
        noted(line).is_some_and(|line| OVER.contains(&word(&line["payload"], "type")))
    })?;
    let turn = text(&noted(&lines[last])?["payload"], "turn_id")?;
    let about = |line: &&&str| line.contains(&turn);
    let typed = |line: Value| {
        let (noted, item) = (&line["payload"], &line["payload"]["item"]);
        let is_its = word(noted, "turn_id") == turn && word(item, "type") == "UserMessage";
        is_its.then(|| blocks(item, "text"))?
    };
    let is_typed = |line: &&str| about(&line) && noted(line).and_then(typed).is_some();
    let first = lines.iter().position(is_typed)?;
    let its = lines[first..last].iter().filter(about);
    let prompts = its.filter_map(noted).filter_map(typed).collect();
    Some((NewestTurn { turn: turn.clone(), prompts }, end(lines, first)?))
}

/// The events that end a turn.
const OVER: [&str; 2] = ["task_complete", "turn_aborted"];

/// Returns the end of a turn that Codex aborted. An error counts more than the reason.
fn aborted(reason: &str, error: Option<String>) -> RecordEnd {
    match (reason, error) {
        ("" | "interrupted" | "replaced", None) => RecordEnd::Interrupted,
        (_, Some(message)) => RecordEnd::Failed(trouble(message)),
        (reason, None) => RecordEnd::Failed(format!("It stopped its turn: {reason}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const SESSION: &str = "7df0e220-879a-411d-9711-e7694ee89550";

    fn record(lines: &[Value]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
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
        assert_eq!(
            codex_words(&record(&turns), "1"),
            None,
            "another turn's words are not this one's"
        );
        let used =
            json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell"}});
        assert_eq!(codex_words(&record(&[turns[4].clone(), used]), "2"), None);
    }

    #[test]
    fn codex_is_found_by_its_thread_among_the_newest_days() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/11/22");
        fs::create_dir_all(&day).unwrap();
        let done = json!({"type": "event_msg", "payload": {"type": "task_complete", "turn_id": "u", "last_agent_message": "hello"}});
        fs::write(
            day.join(format!("rollout-2026-11-22T00-06-30-{SESSION}.jsonl")),
            record(&[done]),
        )
        .unwrap();
        let at = |name: &str| (name == "CODEX_HOME").then(|| home.path().to_owned());
        let ask = |thread: &str, turn: &str| {
            recorded_in(&json!({"thread-id": thread, "turn-id": turn}), &at)
                .and_then(|recorded| recorded.words)
        };
        assert_eq!(ask(SESSION, "u").as_deref(), Some("hello"));
        assert_eq!((ask(SESSION, "v"), ask("another", "u")), (None, None));
        assert_eq!(recorded_in(&json!({"thread-id": SESSION, "turn-id": "u"}), &|_| None), None);
    }
}
