//! Flags of a live conversation that can be read without its task. They decide which callers may
//! speak there.
//!
//! The task publishes them before it answers the request that changed them. So a caller with an
//! answer is never judged by older flags.

use std::sync::atomic::{AtomicU8, Ordering};

use moothall_kernel::Conversation;

/// The published flags of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConversationFlags {
    /// True if its words are typed into a terminal that only drivers reach.
    pub(crate) is_for_drivers: bool,
    /// True if a turn of one of its participants runs a program.
    pub(crate) runs_programs: bool,
}

impl ConversationFlags {
    pub(crate) fn of(state: &Conversation) -> Self {
        let runs_programs =
            state.participants().iter().any(|one| one.facts.abilities.runs_programs);
        Self { is_for_drivers: state.is_for_drivers(), runs_programs }
    }
}

/// The place to which a task publishes the flags.
#[derive(Debug, Default)]
pub(crate) struct Board(AtomicU8);

/// Set if the flags were published. Without this bit the other bits mean nothing.
const SET: u8 = 1;
const FOR_DRIVERS: u8 = 1 << 1;
const RUNS_PROGRAMS: u8 = 1 << 2;

impl Board {
    pub(crate) fn show(&self, shown: ConversationFlags) {
        let drivers = if shown.is_for_drivers { FOR_DRIVERS } else { 0 };
        let programs = if shown.runs_programs { RUNS_PROGRAMS } else { 0 };
        self.0.store(SET | drivers | programs, Ordering::Release);
    }

    /// Returns the flags; `None` before the conversation is loaded.
    pub(crate) fn read(&self) -> Option<ConversationFlags> {
        let bits = self.0.load(Ordering::Acquire);
        (bits & SET != 0).then_some(ConversationFlags {
            is_for_drivers: bits & FOR_DRIVERS != 0,
            runs_programs: bits & RUNS_PROGRAMS != 0,
        })
    }
}
