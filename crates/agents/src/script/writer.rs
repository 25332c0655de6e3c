//! The writer: turns a conversation into a short paragraph.

use super::room::{SeenMessage, TurnView, plain};
use super::text::{DRAFT, capitalised, gist, is_greeting, key_words, question, shorten};

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

/// Returns a draft. In a turn that must not pass, a question of another agent that caused the turn
/// gets an addition to the draft instead. In a turn that may pass, the agent speaks one time for
/// each human message: with a draft if the message asks for something written, or with a welcome if
/// it is a greeting and no other agent has spoken since.
pub(super) fn speak(room: &TurnView<'_>) -> Option<String> {
    let asked = room.asked();
    if !room.job.may_pass {
        return Some(room.addressed_by().and_then(revised).unwrap_or_else(|| draft(room, &asked)));
    }
    if !room.own().is_empty() {
        return None;
    }
    if asks_to_write(&asked) {
        return Some(draft(room, &asked));
    }
    (is_greeting(&asked) && room.others().is_empty()).then(|| welcome(room))
}

fn asks_to_write(asked: &str) -> bool {
    let mut words = asked.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.any(|word| ASKED_TO_WRITE.contains(&word.as_str()))
}

fn welcome(room: &TurnView<'_>) -> String {
    let name = &room.job.name;
    format!(
        "Hello, {name} here. Ask a question, give us a few numbers, or tell me to draft something; \
         the agents that can help will answer."
    )
}

/// Returns the addition to a draft that another agent's question asks for.
fn revised(said: SeenMessage<'_>) -> Option<String> {
    let words = plain(&said.post.body);
    let asked = shorten(question(&words)?, 120);
    Some(format!(
        "Good point, {}. I would add one line to the draft:\n\n> Still open: {asked}",
        said.post.from
    ))
}

/// Returns a draft as a quoted paragraph: an opening, one sentence for each message of another
/// agent, and a closing.
fn draft(room: &TurnView<'_>, asked: &str) -> String {
    let mut parts = vec![opening(asked)];
    for said in room.others() {
        parts.push(format!(
            "As {} puts it: “{}”",
            said.post.from,
            ended(&gist(&plain(&said.post.body)))
        ));
    }
    parts.push(closing(room, asked));
    format!("{DRAFT}\n\n> {}", parts.join(" "))
}

/// Returns the first sentence of a draft: the matter after a colon, the topic after “about”, or
/// else the message itself.
fn opening(asked: &str) -> String {
    if asked.is_empty() {
        return "Nothing was said yet.".to_owned();
    }
    let matter =
        asked.split_once(": ").filter(|(before, _)| before.len() < 60 && asks_to_write(before));
    if let Some((_, matter)) = matter {
        return ended(&capitalised(&shorten(matter, 240)));
    }
    match asked.split_once(" about ") {
        Some((_, topic)) => {
            format!("This is about {}", ended(topic.trim_end_matches(['.', '!', '?'])))
        }
        None => format!("The matter is this: “{}”", ended(&shorten(asked, 240))),
    }
}

/// Returns the last sentence of a draft. It depends on messages of other agents, and on a key word
/// of the human message.
fn closing(room: &TurnView<'_>, asked: &str) -> String {
    match (room.others().is_empty(), key_words(asked, 1).first()) {
        (true, Some(word)) => {
            format!("Nobody has objected so far; what this means for {word} comes next.")
        }
        (true, None) => "There is not much to go by yet, so this draft is short.".to_owned(),
        (false, Some(word)) => format!("The next step is to agree on what this means for {word}."),
        (false, None) => "The next step is to agree on what this means.".to_owned(),
    }
}

/// Adds a full stop to a text that ends without a mark.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…', '。', '！', '？']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
