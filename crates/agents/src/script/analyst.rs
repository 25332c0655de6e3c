//! The analyst: takes a message apart into its question, its numbers and its subject.

use super::room::{SeenMessage, TurnView, plain};
use super::text::{arithmetic, capitalised, gist, key_words, numbers, question, shorten, wanted};

/// Returns an analysis, or an answer to another agent's question. In a turn that must not pass, a
/// question of another agent that caused the turn is answered, and anything else is analyzed. In a
/// turn that may pass, the agent speaks at most twice for each human message: it analyzes the
/// message if it has a question or numbers, and then answers another agent's question.
pub(super) fn speak(room: &TurnView<'_>) -> Option<String> {
    if !room.job.may_pass {
        return Some(
            room.addressed_by().and_then(answer).unwrap_or_else(|| analysis(&room.subject())),
        );
    }
    match room.own().len() {
        0 => {
            let asked = room.asked();
            (question(&asked).is_some() || !numbers(&asked).is_empty()).then(|| analysis(&asked))
        }
        1 => room.news().and_then(answer),
        _ => None,
    }
}

/// Returns an answer to the question in a message; `None` if the message has no question.
fn answer(said: SeenMessage<'_>) -> Option<String> {
    let words = plain(&said.post.body);
    let asked = capitalised(&shorten(question(&words)?, 120));
    Some(format!(
        "Fair point, {}. “{asked}” cannot be settled from what was said here; it takes a source, or one more number.",
        said.post.from
    ))
}

/// Returns a headline and a list: the question of a text, its numbers, its subject and its length.
fn analysis(text: &str) -> String {
    let (question, numbers) = (question(text), numbers(text));
    let mut lines = vec![headline(question, numbers.len()), String::new()];
    if let Some(question) = question {
        lines.push(format!("- **Question:** “{}”", shorten(question, 160)));
    }
    if !numbers.is_empty() {
        let written: Vec<&str> = numbers.iter().map(|number| number.written.as_str()).collect();
        let amounts =
            arithmetic(text, &numbers).map(|sums| format!(" ({sums})")).unwrap_or_default();
        lines.push(format!("- **Numbers:** {}{amounts}", written.join(", ")));
    }
    let about = key_words(text, 3);
    if about.is_empty() {
        lines.push(format!(
            "- **In short:** {}",
            if text.is_empty() { "nothing was said yet".to_owned() } else { gist(text) }
        ));
    } else {
        lines.push(format!("- **About:** {}", about.join(", ")));
    }
    lines.push(format!("- **Length:** {}", count(text.split_whitespace().count(), "word")));
    lines.join("\n")
}

/// Returns a sentence that names the thing asked for and the number of numbers given.
fn headline(question: Option<&str>, numbers: usize) -> String {
    match (question, numbers) {
        (Some(question), 0) => {
            format!("This asks for {} and gives no number to go by.", wanted(question))
        }
        (Some(question), n) => {
            format!("This asks for {} and gives {}.", wanted(question), count(n, "number"))
        }
        (None, 0) => "This is a statement without a number; I take it as given.".to_owned(),
        (None, n) => format!("This states {} and asks nothing.", count(n, "number")),
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
