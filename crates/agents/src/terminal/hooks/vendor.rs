//! Which program a report is from, and what it means in the words of sessions.

use std::path::PathBuf;

use moothall_engine::sessions::{HookNews, Reports};
use moothall_kernel::text::for_terminal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{claude, codex, gemini, loose, note::Note, transcript};

/// Whose program it is, and with it how its reports are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Another: it runs, and reports nothing.
    Other,
}

/// What a report says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// This, of the program's own session or thread.
    Heard {
        /// The program's own id for it, where it gives one.
        native: Option<String>,
        /// What happened.
        news: HookNews,
    },
    /// Nothing of interest.
    Nothing,
    /// It could not be read.
    Garbled,
}

impl Vendor {
    /// The vendor of a program's name, as `moothall hook` is called with it.
    pub fn of(program: &str) -> Self {
        match program {
            "claude" => Vendor::Claude,
            "codex" => Vendor::Codex,
            "gemini" => Vendor::Gemini,
            _ => Vendor::Other,
        }
    }

    /// Reads a report. Fields that are unknown are passed over, and missing ones count as empty.
    pub fn read(note: &Note) -> News {
        let vendor = Self::of(&note.program);
        if vendor == Vendor::Other {
            return News::Nothing;
        }
        let Some(payload) = loose::object(&note.payload, note.cut) else { return News::Garbled };
        let (native, news) = match vendor {
            Vendor::Claude => (text(&payload, "session_id"), claude::news(&note.event, &payload).map(|news| worded(news, note))),
            Vendor::Codex => (text(&payload, "thread-id"), codex::news(&payload).map(|news| worded(news, note))),
            Vendor::Gemini => (text(&payload, "session_id"), gemini::news(&note.event, &payload, note.recorded.as_deref())),
            Vendor::Other => (None, None),
        };
        news.map_or(News::Nothing, |news| News::Heard { native, news: cut(plain(news), note.cut) })
    }

    /// What has to be looked up while the program waits for its hook, because the report alone does not tell it.
    pub(super) fn recorded(self, event: &str, payload: &str, cut: bool) -> Option<String> {
        match self {
            Vendor::Gemini => gemini::recorded(event, &loose::object(payload, cut)?),
            Vendor::Claude if event == claude::STOP => {
                let payload = loose::object(payload, cut)?;
                if claude::has_words(&payload) { None } else { transcript::of_claude(&payload) }
            }
            Vendor::Codex => {
                let payload = loose::object(payload, cut)?;
                let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
                if codex::has_words(&payload) { None } else { transcript::of_codex(&payload, variable) }
            }
            Vendor::Claude | Vendor::Other => None,
        }
    }

    /// What the program expects on the standard output of its hook, whatever comes of the report.
    pub const fn acknowledgement(self) -> &'static str {
        match self {
            Vendor::Gemini => "{}",
            // What Claude Code reads here would become part of the prompt.
            Vendor::Claude | Vendor::Codex | Vendor::Other => "",
        }
    }

    /// What the program reports. Codex says what it took, and that it is done, with the end of a turn alone.
    pub const fn reports(self) -> Reports {
        match self {
            Vendor::Claude | Vendor::Gemini => Reports::ALL,
            Vendor::Codex => Reports { turns: true, prompts: false, questions: false },
            Vendor::Other => Reports { turns: false, prompts: false, questions: false },
        }
    }

    /// Whether the program's hook for this event may decide a permission, and is waited for.
    pub fn waits(self, event: &str) -> bool {
        self == Vendor::Claude && event == claude::PERMISSION
    }
}

/// The same, of a report whose end was lost.
fn cut(news: HookNews, cut: bool) -> HookNews {
    match news {
        HookNews::Asks { action, partial } => HookNews::Asks { action, partial: partial || cut },
        HookNews::Began | HookNews::Prompt { .. } | HookNews::Stopped { .. } | HookNews::Failed { .. } | HookNews::Ended => news,
    }
}

/// The same, with nothing in what was said that commands a terminal or hides what is around it.
fn plain(news: HookNews) -> HookNews {
    match news {
        HookNews::Prompt { text } => HookNews::Prompt { text: for_terminal(&text) },
        HookNews::Stopped { text, inputs, interrupted } => {
            HookNews::Stopped { text: text.as_deref().map(for_terminal), inputs, interrupted }
        }
        HookNews::Failed { message } => HookNews::Failed { message: for_terminal(&message) },
        HookNews::Began | HookNews::Asks { .. } | HookNews::Ended => news,
    }
}

/// The words of the program's own record, where its report has none.
fn worded(news: HookNews, note: &Note) -> HookNews {
    match news {
        HookNews::Stopped { text: None, inputs, interrupted } => HookNews::Stopped { text: note.recorded.clone(), inputs, interrupted },
        other => other,
    }
}

/// A field's words; nothing where it is missing, empty or no text.
pub fn text(payload: &Value, field: &str) -> Option<String> {
    payload.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}
