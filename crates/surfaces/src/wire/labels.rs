//! The stable words of the wire for the kernel's closed sets.

use moothall_engine::sessions::{Doing, LinkState, Origin, PaneState};
use moothall_kernel::budget::{Measure, Purse};
use moothall_kernel::event::{Guard, Outcome, SuppressedBecause, TurnKind, Why, WhyNot};
use moothall_kernel::gathering::{Hearing, LetGo};
use moothall_kernel::participant::Kind;

/// Why a turn was granted. (Ruling 19.)
pub const fn why_word(why: Why) -> &'static str {
    match why {
        Why::Forced => "forced",
        Why::Polled => "polled",
        Why::Reaction => "reaction",
        Why::Round => "round",
        Why::Piece => "piece",
        Why::Beat => "beat",
        Why::Link => "link",
        Why::Prod => "prod",
        Why::Outcome => "outcome",
    }
}

/// Why an agent stayed silent. (Ruling 19.)
pub const fn why_not_word(why_not: WhyNot) -> &'static str {
    match why_not {
        WhyNot::Passed => "passed",
        WhyNot::Capped => "capped",
        WhyNot::Cooled => "cooled",
        WhyNot::Muted => "muted",
        WhyNot::Paused => "paused",
        WhyNot::Offline => "offline",
        WhyNot::Skipped => "skipped",
        WhyNot::Held => "held",
        WhyNot::OverBudget => "over_budget",
        WhyNot::ReadsOnly => "reads_only",
    }
}

/// How a turn ended.
pub const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Spoke => "spoke",
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Expired => "expired",
        Outcome::Cancelled => "cancelled",
    }
}

/// What a turn is for.
pub(super) const fn turn_kind_word(kind: TurnKind) -> &'static str {
    match kind {
        TurnKind::Reply => "reply",
        TurnKind::Listen => "listen",
    }
}

/// Why text stayed in the trace.
pub(super) const fn kept_word(because: SuppressedBecause) -> &'static str {
    match because {
        SuppressedBecause::Late => "late",
        SuppressedBecause::Muted => "muted",
        SuppressedBecause::Paused => "paused",
        SuppressedBecause::Archived => "archived",
        SuppressedBecause::Uninvited => "uninvited",
        SuppressedBecause::Listening => "listening",
        SuppressedBecause::NoPiece => "no_piece",
        SuppressedBecause::Capped => "capped",
        SuppressedBecause::Stopped => "stopped",
    }
}

/// The word for what a participant is: a person or an agent.
pub const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Human => "human",
        Kind::Agent => "agent",
    }
}

/// Whose budget it is: the kind, and the name where there are several.
pub(super) fn purse_words(purse: &Purse) -> (&'static str, Option<&str>) {
    match purse {
        Purse::Hall => ("hall", None),
        Purse::Conversation => ("conversation", None),
        Purse::Agent(agent) => ("agent", Some(agent.as_str())),
        Purse::Principal(by) => ("principal", Some(by.as_str())),
    }
}

/// What a budget counts.
pub(crate) const fn measure_word(measure: Measure) -> &'static str {
    match measure {
        Measure::Turns => "turns",
        Measure::Unattended => "unattended_turns",
        Measure::Money => "cost_micros",
    }
}

/// Which guard holds a floor.
pub(super) const fn guard_word(guard: Guard) -> &'static str {
    match guard {
        Guard::Exchanges => "exchanges",
        Guard::Pair => "pair",
        Guard::Repeat => "repeat",
        Guard::Stopped => "stopped",
    }
}

/// What a guard's hold means, for people.
pub const fn guard_sentence(guard: Guard) -> &'static str {
    match guard {
        Guard::Exchanges => {
            "Agents have exchanged as many messages as they may without a human. Say something, or resume, to go on."
        }
        Guard::Pair => {
            "Two agents answered each other too often within a minute. Say something, or resume, to go on."
        }
        Guard::Repeat => "The same words came again and again. Say something, or resume, to go on.",
        Guard::Stopped => "A person stopped the gathering. Resume to go on.",
    }
}

pub(super) const fn let_go_word(because: LetGo) -> &'static str {
    match because {
        LetGo::Passed => "passed",
        LetGo::LastWord => "last_word",
        LetGo::Grace => "grace",
        LetGo::Gone => "gone",
        LetGo::Stopped => "stopped",
    }
}

pub(super) const fn hearing_word(hearing: Hearing) -> &'static str {
    match hearing {
        Hearing::Live => "live",
        Hearing::OnTurn => "on_turn",
    }
}

/// What a session is doing.
pub(super) const fn doing_word(doing: Doing) -> &'static str {
    match doing {
        Doing::Starting => "starting",
        Doing::Idle => "idle",
        Doing::Busy => "busy",
        Doing::Asking => "asking",
        Doing::Ended => "ended",
    }
}

/// What a program's screen says that it does.
pub(super) const fn pane_state_word(state: PaneState) -> &'static str {
    match state {
        PaneState::Starting => "starting",
        PaneState::Idle => "idle",
        PaneState::Busy => "busy",
        PaneState::Asking => "asking",
        PaneState::Shell => "shell",
        PaneState::Gone => "gone",
    }
}

/// Who started a session's program.
pub(super) const fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Started => "started",
        Origin::Observed => "observed",
    }
}

/// What became of a link.
pub(super) const fn link_state_word(state: LinkState) -> &'static str {
    match state {
        LinkState::Created => "created",
        LinkState::Reused => "reused",
        LinkState::Closed => "closed",
        LinkState::None => "none",
    }
}
