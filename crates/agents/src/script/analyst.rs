//! Takes a message apart: what it asks, which numbers it gives, what it is about.

use super::room::{Room, plain};
use super::words::{arithmetic, gist, key_words, numbers, question, shorten, wanted};

/// Volunteers for a question or for numbers, once for each human message; later only when another agent asks something.
pub(super) fn speak(room: &Room<'_>) -> Option<String> {
    let subject = room.subject();
    if !room.job.may_pass {
        return Some(analysis(&subject));
    }
    if room.own_last().is_none() {
        let asked = room.asked();
        return (question(&asked).is_some() || !numbers(&asked).is_empty()).then(|| analysis(&asked));
    }
    let news = room.news()?;
    let words = plain(&news.post.body);
    let asked = question(&words)?;
    Some(format!(
        "To {}: fair point. “{}” cannot be settled from what was said here; it takes a source, or one more number.",
        news.post.from,
        shorten(asked, 120)
    ))
}

fn analysis(text: &str) -> String {
    let (question, numbers) = (question(text), numbers(text));
    let mut lines = vec![headline(question, numbers.len()), String::new()];
    if let Some(question) = question {
        lines.push(format!("- **Question:** “{}”", shorten(question, 160)));
    }
    if !numbers.is_empty() {
        let written: Vec<&str> = numbers.iter().map(|number| number.written.as_str()).collect();
        let amounts = arithmetic(&numbers).map(|sums| format!(" ({sums})")).unwrap_or_default();
        lines.push(format!("- **Numbers:** {}{amounts}", written.join(", ")));
    }
    let about = key_words(text, 3);
    if about.is_empty() {
        lines.push(format!("- **In short:** {}", if text.is_empty() { "nothing was said yet".to_owned() } else { gist(text) }));
    } else {
        lines.push(format!("- **About:** {}", about.join(", ")));
    }
    lines.push(format!("- **Length:** {}", count(text.split_whitespace().count(), "word")));
    lines.join("\n")
}

fn headline(question: Option<&str>, numbers: usize) -> String {
    match (question, numbers) {
        (Some(question), 0) => format!("This asks for {} and gives no number to go by.", wanted(question)),
        (Some(question), n) => format!("This asks for {} and gives {}.", wanted(question), count(n, "number")),
        (None, 0) => "This is a statement without a number; I take it as given.".to_owned(),
        (None, n) => format!("This states {} and asks nothing.", count(n, "number")),
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
