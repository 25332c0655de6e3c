//! Turns what was said into a short paragraph.

use super::room::{Room, plain};
use super::words::{gist, key_words, sentences, shorten};

const ASKED_TO_WRITE: &[&str] = &[
    "write",
    "draft",
    "summarise",
    "summarize",
    "summary",
    "rewrite",
    "note",
    "newsletter",
    "email",
    "paragraph",
    "post",
    "announce",
    "report",
];
const GREETINGS: &[&str] = &["hello", "hi", "hey", "moin", "servus", "greetings"];

/// Volunteers when the human message asks for something written, or is a greeting that nobody returned.
pub(super) fn speak(room: &Room<'_>) -> Option<String> {
    let asked = room.asked();
    if !room.job.may_pass {
        return Some(draft(room, &asked));
    }
    if room.own_last().is_some() {
        return None;
    }
    let mut words = asked.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    let greets = words.clone().next().is_some_and(|word| GREETINGS.contains(&word.as_str()));
    if words.any(|word| ASKED_TO_WRITE.contains(&word.as_str())) {
        return Some(draft(room, &asked));
    }
    (greets && room.others().is_empty()).then(|| welcome(room))
}

fn welcome(room: &Room<'_>) -> String {
    format!(
        "Hello, {} here. Ask a question, give us a few numbers, or tell me to draft something; whoever has something to say will answer.",
        room.job.name
    )
}

fn draft(room: &Room<'_>, asked: &str) -> String {
    let mut parts = Vec::new();
    let about = key_words(asked, 3);
    if !about.is_empty() {
        parts.push(format!("This is about {}.", list(&about)));
    }
    if !asked.is_empty() {
        parts.push(format!("It began with the words “{}”", shorten(sentences(asked).first().copied().unwrap_or(asked), 160)));
    }
    for said in room.others() {
        parts.push(format!("Then {} said: “{}”", said.post.from, gist(&plain(&said.post.body))));
    }
    parts.push(closing(room, &about));
    format!("Draft:\n\n> {}", parts.join(" "))
}

fn closing(room: &Room<'_>, about: &[String]) -> String {
    match (room.others().len(), about.first()) {
        (0, Some(word)) => format!("Nothing has been said against it so far; what {word} means for us is for the next draft."),
        (0, None) => "There is not much to go by yet, so this draft is short.".to_owned(),
        (_, Some(word)) => format!("Taken together, the next step is to agree on {word}."),
        (_, None) => "Taken together, the next step is to agree.".to_owned(),
    }
}

fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}
