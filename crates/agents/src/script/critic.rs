//! Raises one pointed objection to what another agent said.

use super::room::{Room, Said, plain};
use super::words::{gist, key_words, numbers, pick};

const DOUBTS: &[&str] = &[
    "what would have to be true for the opposite to hold?",
    "who would disagree with this, and why?",
    "this says what, but not how we would notice that it is wrong.",
    "this is one case; name a second one before we rely on it.",
];

/// Volunteers only when another agent has spoken since the human message and since its own last words.
pub(super) fn speak(room: &Room<'_>) -> Option<String> {
    if room.job.may_pass {
        return room.news().map(objection);
    }
    Some(room.news().or_else(|| room.last_other()).map_or_else(|| to_the_question(room), objection))
}

fn objection(said: Said<'_>) -> String {
    let words = plain(&said.post.body);
    let doubt = match numbers(&words).first() {
        Some(number) => format!("where does {} come from? A number without a source is an opinion.", number.written),
        None => pick(&words, DOUBTS).to_owned(),
    };
    format!("One objection, to {}: “{}” — {doubt}", said.post.from, gist(&words))
}

fn to_the_question(room: &Room<'_>) -> String {
    let subject = room.subject();
    match key_words(&subject, 1).first() {
        Some(word) => format!("Nobody has claimed anything yet, so I object to the premise: what exactly do we mean by “{word}”?"),
        None => "Nobody has claimed anything yet; give me something to disagree with.".to_owned(),
    }
}
