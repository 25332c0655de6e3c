//! The critic: raises one pointed objection to what another agent said.

use super::room::{SeenMessage, TurnView, plain};
use super::text::{gist, is_greeting, key_words, numbers, pick, question};

const DOUBTS: &[&str] = &[
    "what would have to be true for the opposite to hold?",
    "who would disagree with this, and why?",
    "this says what, but not how we would notice that it is wrong.",
    "this is one case; name a second one before we rely on it.",
];

/// Returns an objection. In a turn that may pass, it objects only to another agent's message that
/// follows the human message, only one time for each human message, and not if the human message is
/// a greeting.
pub(super) fn speak(room: &TurnView<'_>) -> Option<String> {
    if room.job.may_pass {
        if is_greeting(&room.asked()) {
            return None;
        }
        return room.news().filter(|_| room.own().is_empty()).map(|said| objection(room, said));
    }
    Some(
        room.news()
            .or_else(|| room.last_other())
            .map_or_else(|| to_the_question(room), |said| objection(room, said)),
    )
}

/// Returns an objection to a message. If the doubt is a question, and only one message of other
/// agents follows the human message, the objection mentions the author to get an answer. With more
/// messages the replies may be used up.
fn objection(room: &TurnView<'_>, said: SeenMessage<'_>) -> String {
    let words = plain(&said.post.body);
    let asked = numbers(&room.asked());
    let doubt = match numbers(&words).into_iter().find(|number| asked.contains(number)) {
        Some(number) => {
            format!(
                "you take {} as given, but where does it come from? A number without a source is an opinion.",
                number.written
            )
        }
        None => pick(&words, DOUBTS).to_owned(),
    };
    let mark = if question(&doubt).is_some() && room.others().len() == 1 { "@" } else { "" };
    format!("One objection, {mark}{}: “{}” — {doubt}", said.post.from, gist(&words))
}

/// Returns an objection to the question itself, for a turn without a message of another agent.
fn to_the_question(room: &TurnView<'_>) -> String {
    let subject = room.subject();
    match key_words(&subject, 1).first() {
        Some(word) => format!(
            "Nobody has claimed anything yet, so I object to the premise: what exactly do we mean by “{word}”?"
        ),
        None => "Nobody has claimed anything yet; give me something to disagree with.".to_owned(),
    }
}
