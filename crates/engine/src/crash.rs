//! Named points at which a test can abort the process, as a power cut would.
//!
//! Active only with the cargo feature `crash-points`. Crates above the engine have points here too.

use moothall_kernel::event::RecordedEvent;

/// All points of a conversation, in the order in which a conversation passes them. A test aborts at
/// each.
pub const POINTS: &[&str] = &[
    "before_parse",
    "after_parse",
    "keys_looked_up",
    "writer_became",
    "before_append",
    "before_turn_append",
    "before_reply_append",
    "before_pass_append",
    "before_lost_append",
    "before_mute_append",
    "before_pause_append",
    "before_stop_append",
    "events_written",
    "claims_written",
    "before_commit",
    "after_commit",
    "after_turn_append",
    "after_reply_append",
    "after_pass_append",
    "after_lost_append",
    "after_mute_append",
    "after_pause_append",
    "after_stop_append",
    "after_append",
    "before_ack",
    "after_ack",
    "before_publish",
    "after_publish",
    "turn_granted",
    "prompt_built",
    "program_started",
    "agent_started",
    "presence",
    "summary_asked",
    "summary_answered",
    "before_summary_append",
    "after_summary_append",
    "model_asked",
    "model_first_word",
    "model_mid_stream",
    "model_answered",
    "program_ended",
    "agent_finished",
    "stream_loaded",
    "turn_probed",
    "hall_opened",
    "drain",
    "before_checkpoint",
    "after_checkpoint",
];

/// The points of sessions in terminals. A separate test aborts at each.
pub const TERMINAL_POINTS: &[&str] = &[
    "session_kept",
    "program_in_terminal",
    "session_started",
    "session_revived",
    "link_reopened",
    "link_rejoined",
    "delivery_sending",
    "paste_done",
    "enter_pressed",
    "delivery_accepted",
    "hook_heard",
    "field_filled",
    "turn_answered",
    "session_ending",
];

/// The points of the outbox. Only handlers that write notes pass the points of notes.
pub const OUTBOX_POINTS: &[&str] =
    &["delivery_taken", "before_note", "after_note", "delivery_carried"];

/// The points of rows between computers. First come the points that a row passes, in order: at its
/// sender, at its receiver, and at its sender again. Then come the points of the effects of rows.
pub const COMPUTER_POINTS: &[&str] = &[
    "row_posted",
    "row_read",
    "before_mark_append",
    "after_mark_append",
    "entry_deleted",
    "row_acknowledged",
    "turn_offered",
    "hosted_granted",
    "hosted_ended",
    "link_joined",
];

/// The points of opening a new data folder, or a folder in an older format. A separate test aborts
/// at each.
pub const FORMAT_POINTS: &[&str] = &["format_changing", "format_to_commit", "format_committed"];

/// The points of deleting a conversation. A separate test aborts at each.
pub const DELETION_POINTS: &[&str] =
    &["before_delete_append", "after_delete_append", "deletion_erasing", "deletion_erased"];

/// Aborts the process if `MOOTHALL_CRASH_AT` is `name:count` and the point is passed for the
/// `count`-th time, counted from 1.
#[cfg(feature = "crash-points")]
pub fn point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);

    let listed =
        [POINTS, TERMINAL_POINTS, OUTBOX_POINTS, COMPUTER_POINTS, FORMAT_POINTS, DELETION_POINTS]
            .iter()
            .any(|points| points.contains(&name));
    assert!(listed, "{name} is missing in the lists of crash points");
    let wanted = WANTED.get_or_init(|| parse(&std::env::var("MOOTHALL_CRASH_AT").ok()?));
    let Some((at, count)) = wanted else { return };
    if at == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *count {
        std::process::abort();
    }
}

/// Does nothing: the cargo feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_name: &str) {}

/// Passes the points of a batch before it is appended, by its events.
#[cfg(feature = "crash-points")]
pub fn before_append(events: &[RecordedEvent]) {
    events
        .iter()
        .filter_map(|recorded| around(&recorded.event))
        .for_each(|(before, _)| point(before));
}

/// Passes the points of a batch that was appended and is not announced yet.
#[cfg(feature = "crash-points")]
pub fn after_append(events: &[RecordedEvent]) {
    events
        .iter()
        .filter_map(|recorded| around(&recorded.event))
        .for_each(|(_, after)| point(after));
    events.iter().filter_map(|recorded| across(&recorded.event)).for_each(point);
}

/// Does nothing: the cargo feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn before_append(_events: &[RecordedEvent]) {}

/// Does nothing: the cargo feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn after_append(_events: &[RecordedEvent]) {}

/// Returns the points before and after the append of an event.
#[cfg(feature = "crash-points")]
fn around(event: &moothall_kernel::event::Event) -> Option<(&'static str, &'static str)> {
    use moothall_kernel::event::{Change, Event, Outcome};

    match event {
        Event::TurnGranted { .. } => Some(("before_turn_append", "after_turn_append")),
        Event::Posted(posted) if posted.turn.is_some() => {
            Some(("before_reply_append", "after_reply_append"))
        }
        Event::TurnEnded { outcome: Outcome::Passed, .. } => {
            Some(("before_pass_append", "after_pass_append"))
        }
        Event::TurnLost { .. } => Some(("before_lost_append", "after_lost_append")),
        Event::Summarised { .. } => Some(("before_summary_append", "after_summary_append")),
        Event::Deleted { .. } => Some(("before_delete_append", "after_delete_append")),
        Event::Stopped { .. } => Some(("before_stop_append", "after_stop_append")),
        Event::Controlled { changes, .. } => changes.iter().find_map(|change| match change {
            Change::Muted { .. } => Some(("before_mute_append", "after_mute_append")),
            Change::Paused { .. } => Some(("before_pause_append", "after_pause_append")),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the point after the append of an event that another computer caused.
#[cfg(feature = "crash-points")]
fn across(event: &moothall_kernel::event::Event) -> Option<&'static str> {
    use moothall_kernel::event::Event;

    match event {
        Event::TurnGranted { hosted: Some(_), .. } => Some("hosted_granted"),
        Event::TurnEnded { hosted: Some(_), .. } => Some("hosted_ended"),
        Event::Joined(joined) if joined.link => Some("link_joined"),
        _ => None,
    }
}

/// Returns the maximum number of pages of the log. A test writes the number into the file that
/// `MOOTHALL_PAGES_MAX_FILE` names.
#[cfg(feature = "crash-points")]
pub fn pages_max() -> Option<u64> {
    std::fs::read_to_string(std::env::var_os("MOOTHALL_PAGES_MAX_FILE")?).ok()?.trim().parse().ok()
}

/// Returns no maximum: the cargo feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn pages_max() -> Option<u64> {
    None
}

/// True if a test sets `MOOTHALL_UNLIMITED` to lift the limits of calls to other products. Such a
/// test sends more in a minute than these limits allow in a day.
#[cfg(feature = "crash-points")]
pub fn is_unlimited() -> bool {
    std::env::var_os("MOOTHALL_UNLIMITED").is_some()
}

/// Returns false: the cargo feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn is_unlimited() -> bool {
    false
}

#[cfg(feature = "crash-points")]
fn parse(text: &str) -> Option<(String, u64)> {
    let (name, count) = text.split_once(':')?;
    Some((name.to_owned(), count.parse().ok()?))
}

#[cfg(all(test, feature = "crash-points"))]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_named_with_its_count() {
        assert_eq!(parse("before_append:3"), Some(("before_append".into(), 3)));
        assert_eq!(parse("before_append"), None);
    }
}
