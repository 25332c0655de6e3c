//! Separates a model's thoughts from its words, by the tags at the beginning of its answer.
//!
//! Servers without a parser for a model's thoughts send them in the answer. Only the beginning is
//! read: a tag after the first word, or in code, belongs to the words.

/// Tags that open thoughts, with the tags that close them.
const TAGS: &[(&str, &[&str])] = &[
    ("<think>", &["</think>"]),
    ("<thinking>", &["</thinking>"]),
    ("<thought>", &["</thought>"]),
    ("<thoughts>", &["</thoughts>"]),
    ("<reasoning>", &["</reasoning>"]),
    ("<reflection>", &["</reflection>"]),
    ("<scratchpad>", &["</scratchpad>"]),
    ("<antthinking>", &["</antthinking>"]),
    ("<seed:think>", &["</seed:think>"]),
    ("[THINK]", &["[/THINK]"]),
    ("◁think▷", &["◁/think▷"]),
    ("<|START_THINKING|>", &["<|END_THINKING|>"]),
    ("<|begin_of_thought|>", &["<|end_of_thought|>"]),
    ("<|inner_prefix|>", &["<|inner_suffix|>"]),
    ("<|channel>thought", &["<channel|>"]),
    ("<|channel|>analysis<|message|>", HARMONY),
    ("<|channel|>commentary<|message|>", HARMONY),
];

/// Tags that close a channel of thoughts.
const HARMONY: &[&str] = &["<|end|>", "<|start|>", "<|channel|>final<|message|>"];

/// Marks between thoughts and words, which belong to neither.
const MARKS: &[&str] = &[
    "<|start|>assistant",
    "assistant<|channel|>final<|message|>",
    "<|channel|>final<|message|>",
    "<|begin_of_solution|>",
    "<|START_RESPONSE|>",
];

/// Marks after words that began with such a mark.
const TAILS: &[&str] = &["<|return|>", "<|end|>", "<|end_of_solution|>", "<|END_RESPONSE|>"];

/// Closing marks of models whose opening mark is swallowed by their server.
const UNOPENED: &[&str] = &["assistantfinal"];

/// Longest beginning that is held back, in bytes. White space may never end.
const START_BYTES_MAX: usize = 1024;
/// Longest tag, in bytes.
const TAG_BYTES_MAX: usize = 48;

/// A part of an answer, separated into words and thoughts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerPart {
    /// Words for the conversation.
    pub words: String,
    /// Thoughts of the model.
    pub thoughts: String,
}

/// The separation of thoughts and words in a streamed answer.
#[derive(Clone, Debug)]
pub struct Splitter {
    label: Option<String>,
    place: PiecePlace,
    /// Text whose kind is not known yet, after text that was returned already.
    held: String,
    /// Bytes of `held` that were returned already.
    returned: usize,
    /// True if something before the words was cut: then the space after it is cut too.
    cut: bool,
    /// True if a mark stood before the words: then another may stand after them.
    marked: bool,
    /// Bytes of `held` already searched for a closing tag. One may still begin in the last few.
    searched: usize,
}

/// The place of the next piece in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PiecePlace {
    Start,
    /// Thoughts that the model's template has opened.
    Opened,
    Thoughts(&'static [&'static str]),
    Words,
}

impl Splitter {
    /// Starts an answer of the participant `name`. A `[name]` before the answer is cut too, because
    /// models copy the labels of other messages. An `opened` answer begins inside thoughts.
    pub fn new(name: &str, opened: bool) -> Self {
        // A participant named `pass` gets no label, because `[pass]` has a meaning of its own.
        let label =
            (!name.is_empty() && !name.eq_ignore_ascii_case("pass")).then(|| format!("[{name}]"));
        let place = if opened { PiecePlace::Opened } else { PiecePlace::Start };
        let held = String::new();
        Self { label, place, held, returned: 0, cut: false, marked: false, searched: 0 }
    }

    /// Takes the next piece. Returns the text whose kind is known by now.
    pub fn push(&mut self, piece: &str) -> AnswerPart {
        let mut heard = AnswerPart::default();
        self.held.push_str(piece);
        while self.step(&mut heard) {}
        // The returned bytes are removed one time for each piece. A removal at each tag would move
        // the rest of the text again and again, because a piece may have many tags.
        self.held.drain(..std::mem::take(&mut self.returned));
        heard
    }

    /// Ends the answer. Thoughts without a closing tag stay thoughts, unless only the template
    /// opened them.
    pub fn end(&mut self) -> AnswerPart {
        let held = std::mem::take(&mut self.held);
        match self.place {
            PiecePlace::Thoughts(_) => AnswerPart { thoughts: held, ..AnswerPart::default() },
            PiecePlace::Words if TAILS.contains(&held.trim()) => AnswerPart::default(),
            PiecePlace::Start if self.cut => {
                AnswerPart { words: held.trim_start().to_owned(), ..AnswerPart::default() }
            }
            PiecePlace::Start | PiecePlace::Opened | PiecePlace::Words => {
                AnswerPart { words: held, ..AnswerPart::default() }
            }
        }
    }

    /// Moves on by one tag. Returns false if more text is needed.
    fn step(&mut self, heard: &mut AnswerPart) -> bool {
        match self.place {
            PiecePlace::Start => self.start(),
            PiecePlace::Opened => {
                let closings = TAGS.iter().flat_map(|(_, close)| *close).chain(UNOPENED);
                let known = open_start(&self.held, self.searched);
                self.searched = self.held.len();
                let Some((at, tag)) = earliest(&self.held[known..], closings) else { return false };
                let at = known + at;
                let thoughts = self.held[..at].trim_start();
                let opened = TAGS.iter().find(|(open, _)| begins(thoughts, open));
                heard.thoughts += opened.map_or(thoughts, |(open, _)| &thoughts[open.len()..]);
                self.leave(at, tag)
            }
            PiecePlace::Thoughts(closings) => {
                if let Some((at, tag)) = earliest(self.rest(), closings.iter()) {
                    heard.thoughts += &self.rest()[..at];
                    return self.leave(at, tag);
                }
                heard.thoughts += self.tell_but(open_end(self.rest(), closings));
                false
            }
            PiecePlace::Words => {
                let tail = if self.marked { open_end(self.rest(), TAILS) } else { 0 };
                heard.words += self.tell_but(tail);
                false
            }
        }
    }

    /// Returns the held text that was not returned yet.
    fn rest(&self) -> &str {
        &self.held[self.returned..]
    }

    /// Returns the rest of the held text except its last `tail` bytes.
    fn tell_but(&mut self, tail: usize) -> &str {
        let end = self.held.len() - tail;
        let from = std::mem::replace(&mut self.returned, end);
        &self.held[from..end]
    }

    /// Reads the beginning of the words. Returns false if more text is needed.
    fn start(&mut self) -> bool {
        let text = self.rest().trim_start_matches(is_blank);
        let begins_at = self.held.len() - text.len();
        if let Some((open, closings)) = TAGS.iter().find(|(open, _)| begins(text, open)) {
            self.place = PiecePlace::Thoughts(closings);
            self.returned = begins_at + open.len();
            self.cut = true;
            return true;
        }
        // A name in brackets may be the text of a Markdown link.
        let is_label = |label: &&str| {
            text.strip_prefix(label).is_some_and(|rest| !rest.starts_with(['(', '[']))
        };
        let label = self.label.as_deref().filter(is_label);
        let mark = MARKS.iter().find(|mark| begins(text, mark)).copied();
        if let Some(mark) = mark.or(label) {
            let rest = &text[mark.len()..];
            let labelled = label == Some(mark);
            let is_short = self.rest().len() <= START_BYTES_MAX;
            if labelled && is_short && rest.trim_matches(is_blank).is_empty() {
                return false;
            }
            let rest = if labelled { rest.strip_prefix(':').unwrap_or(rest) } else { rest };
            self.returned = self.held.len() - rest.len();
            self.marked |= !labelled;
            self.cut = true;
            return true;
        }
        let tags = TAGS.iter().map(|(open, _)| *open).chain(MARKS.iter().copied());
        let open = tags.chain(self.label.as_deref()).any(|tag| begins(tag, text));
        if open && self.rest().len() <= START_BYTES_MAX {
            return false;
        }
        self.returned = if self.cut { begins_at } else { self.returned };
        self.place = PiecePlace::Words;
        true
    }

    /// Leaves the thoughts by a closing tag at `at`.
    fn leave(&mut self, at: usize, tag: &str) -> bool {
        self.returned += at + tag.len();
        self.marked |= MARKS.contains(&tag);
        self.place = PiecePlace::Start;
        self.cut = true;
        true
    }
}

/// Separates the thoughts in a whole answer from its words.
pub fn split(answer: &str, name: &str) -> AnswerPart {
    let mut splitter = Splitter::new(name, false);
    let heard = splitter.push(answer);
    let last = splitter.end();
    AnswerPart { words: heard.words + &last.words, thoughts: heard.thoughts + &last.thoughts }
}

/// True for white space, and for the byte order mark, which Unicode does not count as white space.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(with))
}

/// Returns the first of these tags in a text, with its place.
fn earliest<'t>(
    text: &str,
    tags: impl Iterator<Item = &'t &'static str>,
) -> Option<(usize, &'static str)> {
    let tags: Vec<&str> = tags.copied().collect();
    let firsts: Vec<char> =
        tags.iter().filter_map(|tag| tag.chars().next()).map(|c| c.to_ascii_lowercase()).collect();
    // Stops at the first tag, because the rest of the text may have many more.
    let places = text.match_indices(|c: char| firsts.contains(&c.to_ascii_lowercase()));
    places.map(|(at, _)| at).find_map(|at| {
        let here = tags.iter().filter(|tag| begins(&text[at..], tag));
        here.max_by_key(|tag| tag.len()).map(|tag| (at, *tag))
    })
}

/// Returns the place from which to search a text whose first `searched` bytes were searched before.
fn open_start(text: &str, searched: usize) -> usize {
    text.floor_char_boundary(searched.saturating_sub(TAG_BYTES_MAX))
}

/// Returns the length of the end of a text with which one of these tags may begin.
fn open_end(text: &str, tags: &[&str]) -> usize {
    let longest = tags.iter().map(|tag| tag.len()).max().unwrap_or_default();
    let ends = text.char_indices().rev().map(|(at, _)| &text[at..]);
    let ends = ends.take_while(|end| end.len() <= longest);
    let open = ends.filter(|end| tags.iter().any(|tag| begins(tag, end)));
    open.map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words and thoughts of an answer that arrives in pieces of `piece` characters.
    fn heard(splitter: Splitter, answer: &str, piece: usize) -> (String, String) {
        let (mut splitter, mut all) = (splitter, AnswerPart::default());
        let chars: Vec<char> = answer.chars().collect();
        let pieces = chars.chunks(piece).map(|chars| chars.iter().collect::<String>());
        let mut add = |heard: AnswerPart| {
            all.words += &heard.words;
            all.thoughts += &heard.thoughts;
        };
        pieces.for_each(|piece| add(splitter.push(&piece)));
        add(splitter.end());
        (all.words, all.thoughts)
    }

    #[test]
    fn many_thoughts_after_each_other_are_all_cut() {
        let answer =
            format!("{}so <think>x</think>", "<think>hm</think>\n[THINK]a[/THINK]".repeat(9));
        for piece in [1, 7, answer.len()] {
            let (words, thoughts) = heard(Splitter::new("bob", false), &answer, piece);
            assert_eq!(
                (words.as_str(), thoughts),
                ("so <think>x</think>", "hma".repeat(9)),
                "{piece}"
            );
        }
        let label = format!("[bob]{}", " ".repeat(2 * START_BYTES_MAX));
        let mut splitter = Splitter::new("bob", false);
        splitter.push(&label);
        assert!(splitter.held.len() <= START_BYTES_MAX, "blanks are not kept for ever");
    }

    #[test]
    fn thoughts_at_the_beginning_are_cut_however_they_are_streamed() {
        for (answer, words, thoughts) in [
            ("<think>hm</think>\n\n[PASS]", "[PASS]", "hm"),
            ("\u{feff} \n<THINK>\nhm</Think> so", "so", "\nhm"),
            ("<think></think>so", "so", ""),
            ("<think>a</think>\n<reasoning>b < c</reasoning>so", "so", "ab < c"),
            ("[THINK]hm[/THINK]so", "so", "hm"),
            ("◁think▷hm◁/think▷so", "so", "hm"),
            ("<seed:think>hm</seed:think>so", "so", "hm"),
            (
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>so<|return|>",
                "so",
                "hm",
            ),
            ("<|channel|>analysis<|message|>hm<|channel|>final<|message|>so <|x", "so <|x", "hm"),
            (
                "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>so<|END_RESPONSE|>",
                "so",
                "hm",
            ),
            ("<think>never closed", "", "never closed"),
            ("[ada] I agree", "I agree", ""),
            ("[ada]: [ada] <think>hm</think> [PASS]", "[PASS]", "hm"),
            ("<think>hm</think>[ada] so", "so", "hm"),
            ("[ada](https://a.example) says so", "[ada](https://a.example) says so", ""),
        ] {
            for piece in [1, 2, 5, 1_000] {
                let parts = heard(Splitter::new("ada", false), answer, piece);
                assert_eq!(parts, (words.to_owned(), thoughts.to_owned()), "{answer} {piece}");
            }
        }
        assert_eq!(split("<think>hm</think>so", "").words, "so");
    }

    #[test]
    fn what_is_said_stays_as_it_is() {
        for answer in [
            "so <think>hm</think>",
            "```\n<think>hm</think>\n```",
            "`<think>` opens thoughts",
            "<thin",
            "  <thinker>hm</thinker>",
            "hm</think>so",
            "[bob] said so",
            "[ada]",
            "[ada",
            "\n so <|return|>",
            "",
        ] {
            for piece in [1, 3, 1_000] {
                let parts = heard(Splitter::new("ada", false), answer, piece);
                assert_eq!(parts, (answer.to_owned(), String::new()), "{answer} {piece}");
            }
        }
    }

    #[test]
    fn thoughts_that_a_template_opens_need_only_an_end() {
        for (answer, words, thoughts) in [
            ("hm</think>\nso", "so", "hm"),
            ("<think>hm</think>so", "so", "hm"),
            ("analysishmassistantfinalso", "so", "analysishm"),
            ("so", "so", ""),
        ] {
            for piece in [1, 1_000] {
                let parts = heard(Splitter::new("ada", true), answer, piece);
                assert_eq!(parts, (words.to_owned(), thoughts.to_owned()), "{answer} {piece}");
            }
        }
    }

    #[test]
    fn words_come_as_soon_as_they_are_known_to_be_words() {
        let mut splitter = Splitter::new("ada", false);
        assert_eq!(splitter.push("<th").words, "");
        assert_eq!(splitter.push("at is").words, "<that is");
        assert_eq!(splitter.push(" it").words, " it");
        let mut splitter = Splitter::new("ada", false);
        assert_eq!(splitter.push("<think>one two").thoughts, "one two");
        assert_eq!(splitter.push(" three </th").thoughts, " three ");
    }
}
