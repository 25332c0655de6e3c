//! The program of a report, and the report's meaning for sessions.

use moothall_engine::sessions::{HookNews, ReportedQuestion};
use moothall_kernel::text::for_terminal;
use serde_json::Value;

use super::lenient_json;
use super::note::Note;
use crate::terminal::Vendor;
use crate::terminal::programs::{ReportedEnd, is_native, whole};

/// The meaning of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// News of the program's own session or thread.
    Heard {
        /// The program's own id for it, if given.
        native: Option<String>,
        /// The event in the program.
        news: HookNews,
    },
    /// A report that is ignored.
    Nothing,
    /// A report that cannot be read.
    Garbled,
}

impl HookEvent {
    /// Interprets a report. Unknown fields are ignored, and missing ones count as empty.
    pub fn of(note: &Note) -> HookEvent {
        let Some(report) = &Vendor::of(&note.program).table().report else {
            return HookEvent::Nothing;
        };
        let Some(payload) = lenient_json::object(&note.payload, note.cut) else {
            return HookEvent::Garbled;
        };
        let recorded = ReportedEnd {
            words: note.recorded.clone(),
            trouble: note.trouble.clone(),
            before_pass: note.before_pass.clone(),
        };
        let news = Vendor::of(&note.program).news(&note.event, &payload, &recorded);
        let news = news.map(|news| said(news, &recorded));
        let native = payload
            .get(report.native)
            .and_then(Value::as_str)
            .filter(|id| is_native(id))
            .map(str::to_owned);
        news.map_or(HookEvent::Nothing, |news| HookEvent::Heard {
            native,
            news: cut(plain(news), note.cut),
        })
    }
}

/// Looks up the parts that the payload of a report lacks, while the program waits for its hook.
/// Looks up nothing for a report that does not end a turn.
pub(super) fn recorded(program: &str, event: &str, payload: &str, cut: bool) -> ReportedEnd {
    let report = Vendor::of(program).table().report.as_ref();
    let report = report.filter(|report| report.ends_with == event);
    let found = report.zip(lenient_json::object(payload, cut));
    found.map(|(report, payload)| (report.recorded)(&payload)).unwrap_or_default()
}

/// Adds the words before a pass of the talking piece, which the program does not report.
fn said(news: HookNews, recorded: &ReportedEnd) -> HookNews {
    match news {
        HookNews::Stopped { text, inputs, interrupted } => {
            let text = whole(recorded.before_pass.as_deref(), text);
            HookNews::Stopped { text, inputs, interrupted }
        }
        HookNews::Began
        | HookNews::Prompt { .. }
        | HookNews::Asks(_)
        | HookNews::Failed { .. }
        | HookNews::Uses(_)
        | HookNews::Ended => news,
    }
}

/// Marks a question as partial if the end of its report was cut.
fn cut(news: HookNews, cut: bool) -> HookNews {
    match news {
        HookNews::Asks(asks) => {
            HookNews::Asks(ReportedQuestion { partial: asks.partial || cut, ..asks })
        }
        HookNews::Began
        | HookNews::Prompt { .. }
        | HookNews::Stopped { .. }
        | HookNews::Failed { .. }
        | HookNews::Uses(_)
        | HookNews::Ended => news,
    }
}

/// Removes characters that a terminal would interpret or that hide text.
fn plain(news: HookNews) -> HookNews {
    match news {
        HookNews::Prompt { text } => HookNews::Prompt { text: for_terminal(&text) },
        HookNews::Stopped { text, inputs, interrupted } => {
            HookNews::Stopped { text: text.as_deref().map(for_terminal), inputs, interrupted }
        }
        HookNews::Failed { message } => HookNews::Failed { message: for_terminal(&message) },
        HookNews::Began | HookNews::Asks(_) | HookNews::Uses(_) | HookNews::Ended => news,
    }
}
