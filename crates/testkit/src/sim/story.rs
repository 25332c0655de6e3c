//! The story of a run, in lines that a person can follow.

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::text;

/// A story, if one was asked for.
pub(crate) struct Story(Option<Vec<String>>);

impl Story {
    pub(crate) fn new(with_story: bool) -> Self {
        Self(with_story.then(Vec::new))
    }

    /// Adds a line. It is only formatted if the story is recorded.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.0 {
            lines.push(line());
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.0.unwrap_or_default()
    }
}

/// Formats an event in one line.
pub(crate) fn line(room: usize, recorded: &RecordedEvent) -> String {
    let (seq, time) = (recorded.seq, recorded.ts.millis() % 100_000_000);
    let what = match &recorded.event {
        Event::Posted(posted) => {
            let body: String = text::cut(&posted.body, 60).escape_debug().collect();
            let turn = posted.turn.map_or(String::new(), |no| format!(" turn {no}"));
            let marks = if posted.queued { ", queued" } else { "" };
            format!(
                "{} to {:?} depth {}{turn}{marks}: {body}",
                posted.from, posted.to, posted.depth
            )
        }
        Event::Suppressed { participant, turn, because, body, .. } => {
            let body: String = text::cut(body, 40).escape_debug().collect();
            format!("kept {participant} turn {turn:?} {because:?}: {body}")
        }
        Event::TurnGranted { turn, participant, why, kind, may_pass, cause, .. } => {
            format!(
                "granted turn {turn} to {participant}: {why:?} {kind:?} may_pass {may_pass} for {}",
                cause.seq
            )
        }
        Event::TurnWidened { turn, why, kind, cause, .. } => {
            format!("widened turn {turn}: {why:?} {kind:?} for {}", cause.seq)
        }
        Event::TurnStarted { turn, attempt, from_seq, through_seq, .. } => {
            format!("started turn {turn} attempt {attempt}, ({from_seq}, {through_seq}]")
        }
        Event::TurnEnded { turn, participant, outcome, fault, .. } => {
            let fault = fault.as_ref().map_or("", |fault| &fault.code);
            format!("ended turn {turn} of {participant}: {outcome:?} {fault}")
        }
        other => format!("{other:?}"),
    };
    format!("    r{room} {seq:>4} +{time} {what}")
}
