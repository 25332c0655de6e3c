//! Reading a text without understanding it: sentences, numbers, key words.

use crate::fingerprint::fingerprint;

/// Words that say little about what a text is about.
const COMMON: &[&str] = &[
    "about",
    "after",
    "agree",
    "also",
    "analyst",
    "asks",
    "been",
    "before",
    "better",
    "call",
    "come",
    "could",
    "critic",
    "does",
    "draft",
    "fell",
    "from",
    "gave",
    "give",
    "gives",
    "going",
    "good",
    "grew",
    "have",
    "help",
    "here",
    "into",
    "just",
    "know",
    "like",
    "make",
    "many",
    "more",
    "much",
    "need",
    "note",
    "number",
    "numbers",
    "please",
    "question",
    "said",
    "says",
    "should",
    "some",
    "such",
    "summarise",
    "summarize",
    "take",
    "tell",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "think",
    "this",
    "those",
    "very",
    "want",
    "went",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "words",
    "would",
    "write",
    "writer",
    "wrong",
    "your",
];

const GREETINGS: &[&str] = &["hello", "hi", "hey", "moin", "servus", "greetings"];

/// True if a text is a greeting and nothing more.
pub(super) fn is_greeting(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let greets = words.next().is_some_and(|word| GREETINGS.contains(&word.to_lowercase().as_str()));
    greets && words.count() < 4 && question(text).is_none()
}

/// Returns the sentences of a text, each with its mark.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            out.push(tidy(&text[start..end]));
            start = end;
        }
    }
    out.push(tidy(&text[start..]));
    out.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    out
}

fn tidy(sentence: &str) -> &str {
    sentence.trim_start_matches(['—', '–', ':', ';', ' ']).trim()
}

/// Returns the first question in a text.
pub(super) fn question(text: &str) -> Option<&str> {
    sentences(text).into_iter().find(|sentence| sentence.ends_with(['?', '？']))
}

/// Returns the kind of answer that a question wants.
pub(super) fn wanted(question: &str) -> &'static str {
    let lower = question.to_lowercase();
    let has = |words: &[&str]| {
        lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
    };
    if lower.contains("how many") || lower.contains("how much") {
        "an amount"
    } else if has(&["should", "shall", "choose", "better"]) {
        "a decision"
    } else if has(&["why"]) {
        "a reason"
    } else if has(&["how"]) {
        "a way to do it"
    } else if has(&["when"]) {
        "a time"
    } else if has(&["who", "whom", "whose"]) {
        "a person"
    } else if has(&["where"]) {
        "a place"
    } else if has(&["what", "which"]) {
        "a thing to be named"
    } else {
        "a yes or a no"
    }
}

/// A number in a text, as written and as a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) written: String,
    pub(super) value: f64,
    /// `%` or a currency sign.
    pub(super) unit: Option<char>,
}

impl Number {
    /// Reads a number with an optional sign, unit and thousands separators; `None` for any other
    /// word.
    fn parse(token: &str) -> Option<Self> {
        let token = token
            .trim_matches(|c: char| !c.is_alphanumeric() && !"%$€£¥+-".contains(c))
            .trim_end_matches(['-', '+']);
        let unit = token.chars().find(|c| "%$€£¥".contains(*c));
        let digits: String = token.chars().filter(|c| !"%$€£¥,+".contains(*c)).collect();
        let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && digits.bytes().all(|b| b.is_ascii_digit() || b"-.".contains(&b));
        let value: f64 = if plain { digits.parse().ok()? } else { return None };
        (value.abs() < 1e15).then(|| Self { written: token.to_owned(), value, unit })
    }

    fn is_year(&self) -> bool {
        self.unit.is_none() && self.written.len() == 4 && (1900.0..2100.0).contains(&self.value)
    }
}

/// Returns the numbers in a text, at most 12, without years.
pub(super) fn numbers(text: &str) -> Vec<Number> {
    text.split_whitespace()
        .filter_map(Number::parse)
        .filter(|number| !number.is_year())
        .take(12)
        .collect()
}

/// Formats a number for people: at most two decimals, without trailing zeros.
pub(super) fn shown(value: f64) -> String {
    let fixed = format!("{value:.2}");
    fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Describes a text's numbers: the sum and the average of three or more, and the change or the
/// distance of two. `None` if there are fewer, or if their units differ.
pub(super) fn arithmetic(text: &str, numbers: &[Number]) -> Option<String> {
    let [first, .., last] = numbers else { return None };
    if numbers.iter().any(|number| number.unit != first.unit) {
        return None;
    }
    if numbers.len() > 2 {
        let sum: f64 = numbers.iter().map(|number| number.value).sum();
        return Some(format!("sum {}, average {}", shown(sum), shown(sum / numbers.len() as f64)));
    }
    let change = last.value - first.value;
    let lower = text.to_lowercase();
    if !(lower.contains("from ") && lower.contains(" to ")) {
        return Some(format!("{} apart", shown(change.abs())));
    }
    let sign = if change > 0.0 { "+" } else { "" };
    let percent = (first.value != 0.0).then(|| change / first.value.abs() * 100.0);
    let percent = percent.map(|percent| format!(", {sign}{}%", shown(percent))).unwrap_or_default();
    Some(format!("a change of {sign}{}{percent}", shown(change)))
}

/// Returns the most frequent key words of a text, in order of appearance if equally frequent.
pub(super) fn key_words(text: &str, most: usize) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).take(2_000) {
        let word: String = word.chars().flat_map(char::to_lowercase).take(24).collect();
        let telling = word.chars().count() > 3
            && word.chars().any(char::is_alphabetic)
            && !COMMON.contains(&word.as_str());
        if !telling {
            continue;
        }
        match counted.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counted.push((word, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().take(most).map(|(word, _)| word).collect()
}

/// The beginning of every draft.
pub(super) const DRAFT: &str = "Draft:";

/// Returns the first sentence of a text, short enough to be quoted.
pub(super) fn gist(text: &str) -> String {
    let text = text.strip_prefix(DRAFT).unwrap_or(text);
    shorten(sentences(text).first().copied().unwrap_or_default(), 160)
}

/// Shortens a text to `chars_max` characters and an ellipsis. A text that is not longer stays as it
/// is.
pub(super) fn shorten(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns the text with a capital letter at its beginning.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Picks a choice that depends on the text alone.
pub(super) fn pick<'a>(text: &str, choices: &[&'a str]) -> &'a str {
    let hash = fingerprint(text.bytes());
    let index = usize::try_from(hash % choices.len().max(1) as u64).unwrap_or_default();
    choices.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_marks_and_not_inside_numbers() {
        assert_eq!(
            sentences("It cost 3.5 last year. Good? Yes!"),
            ["It cost 3.5 last year.", "Good?", "Yes!"]
        );
        assert_eq!(sentences("好吗？好。"), ["好吗？", "好。"]);
        assert!(sentences(" … ? ").is_empty());
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let values = |text| numbers(text).iter().map(|n| n.value).collect::<Vec<_>>();
        assert_eq!(values("from 40 to 52, in 2024."), [40.0, 52.0]);
        assert_eq!(values("($1,200.50) grew 8%"), [1200.5, 8.0]);
        assert!(values("v2.1.3 on 2024-05-06 at 10:30, x2, 1e999, --, .").is_empty());
    }

    #[test]
    fn only_numbers_of_one_kind_are_compared() {
        let compared = |text: &str| arithmetic(text, &numbers(text));
        assert_eq!(compared("from 40 to 52").as_deref(), Some("a change of +12, +30%"));
        assert_eq!(compared("from 0 to 52").as_deref(), Some("a change of +52"));
        assert_eq!(compared("from 8 to 4").as_deref(), Some("a change of -4, -50%"));
        assert_eq!(compared("revenue 12%, costs 8%").as_deref(), Some("4 apart"));
        assert_eq!(compared("1 2 3").as_deref(), Some("sum 6, average 2"));
        assert_eq!(compared("8% of 52"), None);
        assert_eq!(compared("52"), None);
    }

    #[test]
    fn a_greeting_is_short_and_asks_nothing() {
        assert!(["hello", "Hi there, everyone!", "hey"].into_iter().all(is_greeting));
        assert!(
            [
                "hello, what is 2 plus 2?",
                "Hello world is the program that everybody writes first",
                "",
                "history"
            ]
            .into_iter()
            .all(|text| !is_greeting(text))
        );
    }

    #[test]
    fn key_words_come_by_frequency() {
        assert_eq!(
            key_words("Price and margin: the price should rise, or margin falls; price!", 2),
            ["price", "margin"]
        );
    }
}
