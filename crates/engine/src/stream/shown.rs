//! What a live conversation shows without being asked: what decides which callers may speak there.
//!
//! Its task shows it before it answers whoever changed it, so nobody who was answered is judged by
//! what was so before.

use std::sync::atomic::{AtomicU8, Ordering};

use moothall_kernel::Conversation;

/// What is shown of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConversationFlags {
    /// True if its words are typed into a terminal that only drivers reach.
    pub(crate) is_for_drivers: bool,
    /// Somebody takes part whose turn is a run of a program.
    pub(crate) runs_programs: bool,
}

impl ConversationFlags {
    pub(crate) fn of(state: &Conversation) -> Self {
        let runs_programs =
            state.participants().iter().any(|one| one.facts.abilities.runs_programs);
        Self { is_for_drivers: state.is_for_drivers(), runs_programs }
    }
}

/// Where a task shows it.
#[derive(Debug, Default)]
pub(crate) struct Board(AtomicU8);

/// Set once anything was shown; without it the other bits mean nothing.
const SET: u8 = 1;
const FOR_DRIVERS: u8 = 1 << 1;
const RUNS_PROGRAMS: u8 = 1 << 2;

impl Board {
    pub(crate) fn show(&self, shown: ConversationFlags) {
        let drivers = if shown.is_for_drivers { FOR_DRIVERS } else { 0 };
        let programs = if shown.runs_programs { RUNS_PROGRAMS } else { 0 };
        self.0.store(SET | drivers | programs, Ordering::Release);
    }

    /// Nothing before the conversation is loaded.
    pub(crate) fn read(&self) -> Option<ConversationFlags> {
        let bits = self.0.load(Ordering::Acquire);
        (bits & SET != 0).then_some(ConversationFlags {
            is_for_drivers: bits & FOR_DRIVERS != 0,
            runs_programs: bits & RUNS_PROGRAMS != 0,
        })
    }
}
