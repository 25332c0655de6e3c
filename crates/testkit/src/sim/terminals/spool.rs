//! Reports of a program that wait, in order, until a server has taken them.

use std::collections::VecDeque;

use moothall_engine::sessions::{Hook, HookNews};

#[derive(Default)]
pub(super) struct Spool {
    waiting: VecDeque<(i64, Hook)>,
    written: u64,
    /// True if the server has the first report.
    pub(super) is_brought: bool,
    /// Number of untaken reports from before the server's start.
    pub(super) before_start: usize,
}

impl Spool {
    /// Adds a report whose hook ends at this time.
    pub(super) fn write(&mut self, at: i64, news: HookNews) {
        self.written += 1;
        let at = self.waiting.back().map_or(at, |(last, _)| at.max(*last));
        let native = Some("own".to_owned());
        self.waiting.push_back((
            at,
            Hook {
                id: format!("report-{}", self.written),
                session: "home".into(),
                token: String::new(),
                native,
                news,
            },
        ));
    }

    /// Returns the next report if its time has come.
    pub(super) fn next(&mut self, now: i64) -> Option<Hook> {
        let (_, hook) = self.waiting.front().filter(|(at, _)| *at <= now && !self.is_brought)?;
        self.is_brought = true;
        Some(hook.clone())
    }

    /// Takes the report that the server had. If its file was not removed in time, the report comes
    /// again.
    pub(super) fn taken(&mut self, again: bool) {
        self.is_brought = false;
        if !again {
            self.waiting.pop_front();
            self.before_start = self.before_start.saturating_sub(1);
        }
    }

    /// Counts the reports that a new server finds.
    pub(super) fn restart(&mut self, now: i64) {
        self.is_brought = false;
        // A report being written during the start counts too: its program shows nothing new before
        // its hook ends.
        self.before_start = self.waiting.iter().filter(|(at, _)| *at <= now).count();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn next_at(&self) -> Option<i64> {
        self.waiting.front().filter(|_| !self.is_brought).map(|(at, _)| *at)
    }
}
