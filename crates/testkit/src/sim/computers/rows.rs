//! The kinds of rows that computers owe each other, and the effect that each has at its receiver.
//!
//! A new kind of row is added here: to the rows that people owe, and to the effects.

use moothall_engine::computers::{RemoteMessage, RemoteSpeaker, RemoteWait};
use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::NewDelivery;
use moothall_kernel::event::Event;
use moothall_kernel::ids::ComputerId;
use serde_json::{Value, json};

use super::super::rng::Rng;
use super::sessions::PRESENT;
use super::terminal::{serial_of, words};

/// The beginning of words in rows.
const WORDS: &str = "words";

/// The code of the rows by which the simulator tells words apart.
const SERIAL: &str = "serial";

/// An effect of a row in the append that takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowEffect {
    /// A notice with this end.
    Notice(String),
    /// Words in the home of a session, and the computer that they are said to come from.
    Words(String, ComputerId),
    /// A refusal of the row with this number, which its sender is owed.
    Refusal(u64),
    /// A notice that the rows with these numbers are lost.
    Lost(u64, u64),
}

/// Draws the command of a row. Its words are those of no other row.
pub(super) fn draw(rng: &mut Rng, serial: u64) -> PostCommand {
    let message = words(WORDS, serial);
    let say = |to: &str, text| {
        let from = RemoteSpeaker { name: "ann".into(), session: None };
        PostCommand::Say(RemoteMessage { to: to.to_owned(), from, text })
    };
    match rng.weighted(&[4, 4, 3, 2, 1]) {
        0 => PostCommand::Refused { number: serial, code: SERIAL.into(), message, about: None },
        1 => say(PRESENT, message),
        2 => PostCommand::Void,
        3 => say("absent", message),
        _ => PostCommand::Finished(RemoteWait { waiter: "ses_1".into(), word: message }),
    }
}

/// Effects of which a row has one, or none if that may be. What a row about a conversation does
/// depends on its state, and is checked with its events.
pub(super) struct ExpectedEffect {
    /// The effects.
    pub(super) one_of: Vec<RowEffect>,
    /// True if there may be none.
    pub(super) or_none: bool,
}

/// Returns the effects of a row of a sender, from its body and its number.
pub(super) fn effects(sender: &ComputerId, body: &Value, number: u64) -> Option<ExpectedEffect> {
    let always = |effect| Some(ExpectedEffect { one_of: vec![effect], or_none: false });
    let text = |field: &str| body[field].as_str().unwrap_or_default();
    match text("t") {
        // It is about a turn or a membership, which it ends.
        "refused" if body["about"]["stream"].is_string() => None,
        "refused" => {
            let end = format!(
                "row {} of this computer: {} ({})",
                body["number"],
                text("message"),
                text("code")
            );
            always(RowEffect::Notice(end))
        }
        "say" if text("to") == PRESENT => {
            let words = RowEffect::Words(text("text").to_owned(), sender.clone());
            // The session may end while the row is on its way.
            Some(ExpectedEffect { one_of: vec![words, RowEffect::Refusal(number)], or_none: false })
        }
        // The session does not exist.
        "say" => always(RowEffect::Refusal(number)),
        "placed" | "words" | "turn" | "probe" => {
            Some(ExpectedEffect { one_of: vec![RowEffect::Refusal(number)], or_none: true })
        }
        // No session waits.
        "void" | "finished" => None,
        "left" | "close" | "leave" | "off" | "begun" | "ended" | "state" => None,
        unknown => always(RowEffect::Notice(format!("a row of an unknown kind: {unknown}"))),
    }
}

/// Returns the effect that an event is, if it is one of a row.
pub(super) fn effect_of_event(event: &Event) -> Option<RowEffect> {
    let (code, text) = match event {
        Event::Noticed { code, text, .. } => (code, text),
        Event::Posted(posted) => {
            let far = posted.far.as_ref()?;
            serial_of(WORDS, &posted.body)?;
            return Some(RowEffect::Words(posted.body.clone(), far.computer.clone()));
        }
        _ => return None,
    };
    match code.as_str() {
        "row_refused" => Some(RowEffect::Notice(text.clone())),
        "rows_lost" => {
            let mut words = text.split(' ').filter_map(|word| word.parse().ok());
            Some(RowEffect::Lost(words.next()?, words.next()?))
        }
        _ => None,
    }
}

/// Returns the effect that an owed row is, if it is one of a row.
pub(super) fn effect_of_delivery(new: &NewDelivery) -> Option<RowEffect> {
    let command = command(new.command.as_deref()?)?;
    let is_refusal = command["post"] == "refused" && command["code"] != SERIAL;
    command["number"].as_u64().filter(|_| is_refusal).map(RowEffect::Refusal)
}

/// Returns a command of the outbox without the record around it.
pub(super) fn command(stored: &str) -> Option<Value> {
    let mut record: Value = serde_json::from_str(stored).ok()?;
    Some(record["command"].take())
}

/// True if a row of this kind is made from its conversation each time it is sent. It is sent empty
/// if what it is about is gone.
pub(super) fn is_made_anew(kind: &str) -> bool {
    matches!(kind, "placed" | "turn" | "begun" | "ended")
}

/// True if a body says what a command owes.
pub(super) fn is_of(body: &Value, command: &Value) -> bool {
    let kind = command["post"].as_str().unwrap_or_default();
    if is_made_anew(kind) && body["t"] == "void" {
        return true;
    }
    let is_simple = matches!(kind, "say" | "refused" | "void" | "finished");
    body["t"] == command["post"]
        && if is_simple { is_same(body, command) } else { names(body, command) }
}

/// True if a body has the fields of a command, and no others.
fn is_same(body: &Value, command: &Value) -> bool {
    let without = |value: &Value, words: &[&str]| {
        let mut value = value.clone();
        let fields = value.as_object_mut();
        fields
            .into_iter()
            .for_each(|fields| fields.retain(|name, _| !words.contains(&name.as_str())));
        value
    };
    without(body, &["t"]) == without(command, &["post", "keep"])
}

/// True if a body has what a command refers to.
fn names(body: &Value, command: &Value) -> bool {
    let hosted = command["hosted"].as_object().into_iter().flatten();
    let named = command.as_object().into_iter().flatten().chain(hosted);
    let own = ["post", "keep", "hosted", "asked", "said", "parted", "computer"];
    named.filter(|(name, _)| !own.contains(&name.as_str())).all(|(name, value)| {
        let field = if name == "link" { "stream" } else { name };
        let is_left_out = [json!(false), json!([])].contains(value) && body[field].is_null();
        body[field] == *value || is_left_out
    })
}

/// True if an effect that was seen is the expected one.
pub(super) fn fits(seen: &RowEffect, expected: &RowEffect) -> bool {
    match (seen, expected) {
        (RowEffect::Notice(seen), RowEffect::Notice(end)) => seen.ends_with(end.as_str()),
        (seen, expected) => seen == expected,
    }
}
