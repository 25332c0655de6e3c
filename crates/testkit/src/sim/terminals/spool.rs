//! Reports of a program that wait until a server has taken them in, in their order.

use std::collections::VecDeque;

use moothall_engine::sessions::{Hook, HookNews};

#[derive(Default)]
pub(super) struct Spool {
    waiting: VecDeque<(i64, Hook)>,
    written: u64,
    /// The first of them is with the server.
    pub(super) is_brought: bool,
    /// So many were there when the server started, and have not been taken in.
    pub(super) before_start: usize,
}

impl Spool {
    /// A program reports; its hook is done at this time.
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

    /// The next report to be brought, if its time has come.
    pub(super) fn next(&mut self, now: i64) -> Option<Hook> {
        let (_, hook) = self.waiting.front().filter(|(at, _)| *at <= now && !self.is_brought)?;
        self.is_brought = true;
        Some(hook.clone())
    }

    /// The one that was brought was taken in; brought once more where its file was not removed in
    /// time.
    pub(super) fn taken(&mut self, again: bool) {
        self.is_brought = false;
        if !again {
            self.waiting.pop_front();
            self.before_start = self.before_start.saturating_sub(1);
        }
    }

    /// Another server starts, and finds what was reported meanwhile.
    pub(super) fn restart(&mut self, now: i64) {
        self.is_brought = false;
        // What is being written while it starts counts too: its program shows nothing new before
        // its hook is done.
        self.before_start = self.waiting.iter().filter(|(at, _)| *at <= now).count();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn next_at(&self) -> Option<i64> {
        self.waiting.front().filter(|_| !self.is_brought).map(|(at, _)| *at)
    }
}
