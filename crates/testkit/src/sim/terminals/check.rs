//! The promises of a turn through a terminal, watched from outside.

use std::collections::BTreeMap;

use moothall_engine::ports::DeliveryState;
use moothall_engine::sessions::{Activity, Dialog, PaneState};

use super::super::check::Objection;
use super::book::Book;

/// Number of times that each prompt was typed.
#[derive(Default)]
pub(super) struct Watch {
    typed: BTreeMap<u64, u32>,
}

pub(super) fn object<T>(checker: &'static str, message: String) -> Result<T, Objection> {
    Err(Objection { checker, message })
}

/// Returns the turn whose prompt or answer this is.
pub(super) fn turn_in(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("do job ")?;
    rest.split(';').next()?.parse().ok()
}

impl Watch {
    /// Checks a prompt that was typed into the composer.
    pub(super) fn typed(&mut self, book: &Book, text: &str) -> Result<(), Objection> {
        let Some(turn) = turn_in(text) else {
            return object("typed", format!("nobody's words were typed: {text}"));
        };
        if book.row_of(turn).map(|(_, state)| state) != Some(DeliveryState::Sending) {
            return object(
                "kept",
                format!("job {turn} was typed before it was kept that it would be"),
            );
        }
        let times = self.typed.entry(turn).or_default();
        *times += 1;
        if *times > 1 {
            return object("typed", format!("job {turn} was typed {times} times"));
        }
        let has_terminal = |state| {
            matches!(state, DeliveryState::Sending | DeliveryState::Sent | DeliveryState::Accepted)
        };
        match book.rows.iter().find(|row| row.turn != turn && has_terminal(row.state)) {
            Some(other) => object(
                "one",
                format!("job {turn} was typed while job {} has the terminal", other.turn),
            ),
            None => Ok(()),
        }
    }
}

/// Checks a key: if a dialog is open, only an Escape that a person wanted is allowed.
pub(super) fn key(state: PaneState, wanted: bool) -> Result<(), Objection> {
    if state == PaneState::Asking && !wanted {
        object("keys", "a key went into a dialog that nobody answered".into())
    } else {
        Ok(())
    }
}

/// A person's answer to a question of the program.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) action: String,
    pub(super) text: Option<String>,
}

/// Checks that the keys and words that went into a dialog are the answer to its question.
pub(super) fn answer(
    dialog: &Dialog,
    text: Option<&str>,
    answer: Option<&Answer>,
) -> Result<(), Objection> {
    match answer {
        Some(Answer { action, .. }) if *action != dialog.action => {
            object("keys", format!("the answer to {action:?} went into {:?}", dialog.action))
        }
        Some(answer) if answer.text.as_deref() != text => object(
            "keys",
            format!("{text:?} went into {:?} in place of {:?}", dialog.action, answer.text),
        ),
        Some(_) => Ok(()),
        None => object("keys", format!("nobody answered {:?}", dialog.action)),
    }
}

/// Checks that the program's words answer the turn whose prompt it took.
pub(super) fn result(turn: u64, text: &str) -> Result<(), Objection> {
    match turn_in(text) {
        Some(of) if of != turn => object("words", format!("{text:?} answered job {turn}")),
        Some(_) | None => Ok(()),
    }
}

/// Checks the end of a run: no turn, question or delivery is open.
pub(super) fn quiet(book: &Book, doing: Option<Activity>) -> Result<(), Objection> {
    if let Some(turn) = book.open().first() {
        return object("ends", format!("job {turn} never ended: {:?}", book.turns[turn]));
    }
    if let Some(permission) = book.asked.keys().next() {
        return object(
            "questions",
            format!("{permission} is asked still, and nothing stands there"),
        );
    }
    if !matches!(doing, None | Some(Activity::Idle | Activity::Ended)) {
        return object("ends", format!("the session waits for ever: {doing:?}"));
    }
    let owed = book.earlier();
    match owed.first() {
        Some(row) => {
            object("rows", format!("the delivery of turn {} stays {:?}", row.key.turn, row.state))
        }
        None => Ok(()),
    }
}
