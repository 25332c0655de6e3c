//! Tells whether a holder's words hand the talking piece on, and to whom. (Ruling 31.)

use unicode_normalization::char::is_combining_mark;

use crate::model::participant::Participant;
use crate::text::code;
use crate::text::mentions::are_same;

/// Words with which a directive hands the piece on to the next in order.
const ON: [&str; 5] = [
    "i pass",
    "i pass the piece",
    "i pass the talking piece",
    "i pass the piece on",
    "i pass the talking piece on",
];
/// Words before a name that speak of the piece: the name behind them can be any.
const PIECE_TO: [&str; 6] = [
    "i pass the piece to ",
    "i pass the talking piece to ",
    "i pass the piece on to ",
    "i pass the talking piece on to ",
    "passing the piece to ",
    "passing the talking piece to ",
];
/// Words before a name that could speak of something else: the name has to look like one.
const TO: [&str; 2] = ["i pass to ", "passing to "];
/// Words before what a clause depends on.
const FILLERS: [&str; 9] =
    ["but", "and", "though", "although", "only", "even", "except", "perhaps", "maybe"];
/// First words of a clause on which the rest depends, or that takes the rest back.
const CONDITIONS: [&str; 17] = [
    "if",
    "unless",
    "when",
    "whenever",
    "once",
    "until",
    "till",
    "provided",
    "providing",
    "assuming",
    "supposing",
    "should",
    "after",
    "before",
    "as soon as",
    "as long as",
    "in case",
];
/// Words that make a clause a condition wherever they stand in it.
const CONDITIONS_WITHIN: [&str; 6] =
    ["only if", "only when", "only once", "unless", "provided that", "on condition"];
/// Verbs that report what another said.
const REPORTS: [&str; 8] =
    ["said", "says", "wrote", "writes", "asked", "answered", "replied", "quoted"];
/// Abbreviations whose dot ends no sentence.
const ABBREVIATIONS: [&str; 5] = ["e.g.", "i.e.", "cf.", "vs.", "resp."];
/// Signs of a face that stand at the end of a sentence.
const FACES: [&str; 5] = [":)", ":-)", ";)", ";-)", ":D"];
/// The end of a line in which a directive is looked for, in bytes.
const TAIL_BYTES: usize = 1_024;
/// Characters before a colon among which a verb is looked for.
const VERB_CHARS: usize = 16;
/// Most words of a name that no participant bears.
const NAME_WORDS_MAX: usize = 3;

/// The effect of a holder's words on the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// On to the next in order.
    On,
    /// To the one who is named so. A name that no participant bears gets a note.
    To(String),
}

/// Returns the directive that is the whole last sentence of a message, outside code and quotes.
pub(super) fn directive(body: &str, circle: &[Participant]) -> Option<Directive> {
    let (before, line) = last_line(body)?;
    let cut = line.ceil_char_boundary(line.len().saturating_sub(TAIL_BYTES));
    let starts = sentences(&line[cut..]).into_iter().map(|start| start + cut);
    // The beginning of the end of a long line is not that of a sentence.
    starts.filter(|start| cut == 0 || *start > cut).rev().find_map(|start| {
        let found = directive_of(&line[start..], circle)?;
        let own = !is_reported(before, &line[..start]) && !is_quoted(before, &line[..start]);
        own.then_some(found)
    })
}

/// Returns the last line with letters or digits, if it is prose, and all that stands before it.
fn last_line(body: &str) -> Option<(&str, &str)> {
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    let lines = code::prose_lines(body).into_iter();
    let line = lines.rev().find(|line| has_words(&body[line.clone()]))?;
    let is_last = !has_words(&body[line.end..]);
    is_last.then(|| (&body[..line.start], &body[line]))
}

/// True if the lines before a sentence, or its own line, announce it as words of another or go on
/// with it.
fn is_reported(before: &str, line: &str) -> bool {
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || is_emphasis(c));
    let ends_in_colon = before.ends_with([':', '：']);
    let by_verb = |text: &str| {
        let text = text.trim_end_matches(|c: char| c == ':' || is_emphasis(c));
        let verb = text.char_indices().rev().nth(VERB_CHARS).map_or(text, |(at, _)| &text[at..]);
        let verb = verb.to_lowercase();
        REPORTS.iter().any(|reports| verb.ends_with(reports))
    };
    let reports = ends_in_colon && by_verb(before);
    let goes_on = line.is_empty() && (ends_in_colon || before.ends_with([',', ';', '，']));
    reports || goes_on || line.match_indices(':').any(|(at, _)| by_verb(&line[..at]))
}

/// True if a quotation that opened in the same paragraph is still open.
fn is_quoted(before: &str, line: &str) -> bool {
    let paragraph = before.rsplit("\n\n").next().unwrap_or_default();
    let count = |sign: char| paragraph.matches(sign).count() + line.matches(sign).count();
    let low = count('„');
    count('"') % 2 == 1
        || count('“').saturating_sub(low) > count('”')
        || low > count('“')
        || count('«') > count('»')
}

/// Returns the bytes at which the sentences of a line begin.
fn sentences(line: &str) -> Vec<usize> {
    let (mut starts, mut ended) = (vec![0], false);
    for (at, c) in line.char_indices() {
        match c {
            '.' | '!' | '?' | '…' | '。' | '！' | '？' => ended = true,
            _ if is_emphasis(c) || matches!(c, ')' | ']' | '"' | '\'' | '”' | '’' | '»') => {}
            _ if c.is_whitespace() || !c.is_ascii() && !c.is_alphanumeric() => {
                if ended && !ends_no_sentence(&line[..at]) {
                    starts.push(at);
                }
                ended = ended && !c.is_whitespace();
            }
            _ => ended = false,
        }
    }
    starts
}

/// True if the dot at the end belongs to an abbreviation or to the mark of a list.
fn ends_no_sentence(text: &str) -> bool {
    let mark = text.trim_start().trim_end_matches('.');
    let numbered = !mark.is_empty() && mark.chars().all(|c| c.is_ascii_digit());
    numbered || mark.len() == 1 || ABBREVIATIONS.iter().any(|short| text.ends_with(short))
}

/// Returns the directive that a sentence is, from its first word to its last.
fn directive_of(sentence: &str, circle: &[Participant]) -> Option<Directive> {
    if sentence.trim_start().starts_with("* ") {
        // An item of a list, not emphasis.
        return None;
    }
    let plain: String = sentence.chars().filter(|c| *c != '*').collect();
    let words: Vec<&str> = bare(&plain).split_whitespace().collect();
    let sentence = words.join(" ").replace('，', ", ");
    let (head, clause) = match sentence.split_once(',') {
        Some((head, clause)) => (bare(head), Some(clause)),
        None => (sentence.as_str(), None),
    };
    if clause.is_some_and(|clause| takes_back(clause, circle)) {
        return None;
    }
    if ON.iter().any(|form| head.eq_ignore_ascii_case(form)) {
        return Some(Directive::On);
    }
    let behind = |forms: &[&str]| {
        let found = forms.iter().find(|form| {
            head.get(..form.len()).is_some_and(|start| start.eq_ignore_ascii_case(form))
        });
        found.map(|form| head[form.len()..].to_owned())
    };
    if let Some(name) = behind(&PIECE_TO) {
        return named(&name, circle).or_else(|| is_short(&name).then_some(Directive::To(name)));
    }
    let name = behind(&TO)?;
    named(&name, circle).or_else(|| looks_like_name(&name).then_some(Directive::To(name)))
}

/// Returns the directive to a participant by its name, apart from signs around it.
fn named(name: &str, circle: &[Participant]) -> Option<Directive> {
    let inner = ['`', '"', '\'']
        .iter()
        .find_map(|sign| name.strip_prefix(*sign).and_then(|rest| rest.strip_suffix(*sign)));
    let name = inner.or_else(|| name.strip_prefix('“')?.strip_suffix('”')).unwrap_or(name);
    let unmarked = name.trim_start_matches(['@', '#']).replace("_ (", " (");
    let found = find(circle, &unmarked).or_else(|| find(circle, bare(&unmarked)))?;
    Some(Directive::To(found.id.to_string()))
}

/// True if words that no participant bears are few enough to be a name.
fn is_short(name: &str) -> bool {
    let words = name.split(' ').count();
    (1..=NAME_WORDS_MAX).contains(&words) && name.contains(char::is_alphanumeric) && is_one(name)
}

/// True if words that no participant bears look like a name, and not like a thing.
fn looks_like_name(name: &str) -> bool {
    let capital = |word: &str| {
        let word = word.trim_start_matches(['(', '@', '#', '_']);
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
    };
    is_short(name) && (name.starts_with('@') || name.split(' ').all(capital))
}

/// True if no sign within the words begins something else.
fn is_one(name: &str) -> bool {
    !name.contains(['`', '"', '“', '”', '?', ';', ':', '/', '!']) && !name.contains(". ")
}

/// True if a clause behind a comma is a condition, reports speech, names another, or is not one
/// clause.
fn takes_back(clause: &str, circle: &[Participant]) -> bool {
    let clause = clause.trim().to_lowercase();
    let ends = sentences(&clause).len() > 1 || clause.contains('?');
    let conditional = |part: &str| {
        let mut words = part.split(' ').skip_while(|word| FILLERS.contains(word)).peekable();
        let first = words.peek().copied().unwrap_or_default();
        let rest = words.collect::<Vec<_>>().join(" ");
        first == "or" || CONDITIONS.iter().any(|word| rest == *word || starts_word(&rest, word))
    };
    let reports = |part: &str| {
        let words: Vec<&str> = part.split(' ').collect();
        let relative = ["who", "whom", "whose", "as"].contains(&words[0]);
        words.len() <= 3 && !relative && words.iter().any(|word| REPORTS.contains(word))
    };
    let part = |part: &str| conditional(part.trim()) || reports(part.trim());
    ends || clause.is_empty()
        || find(circle, bare(&clause)).is_some()
        || clause.split(',').any(part)
        || CONDITIONS_WITHIN.iter().any(|words| clause.contains(words))
}

fn starts_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns a sentence without the emphasis, closing signs and emoji around it.
fn bare(sentence: &str) -> &str {
    let sign = |c: char| c.is_whitespace() || is_emphasis(c) || is_symbol(c);
    let mut rest = sentence.trim_start_matches(sign);
    loop {
        let trimmed = rest.trim_end_matches(|c: char| sign(c) || matches!(c, '.' | '!' | '…'));
        let face = FACES.iter().find_map(|face| trimmed.strip_suffix(face));
        match face {
            Some(shorter) => rest = shorter,
            None => return trimmed,
        }
    }
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '~')
}

/// True for emoji and their joiners: signs beyond ASCII that are not part of a letter and neither
/// quote nor ask nor enclose.
fn is_symbol(c: char) -> bool {
    if matches!(c, '\u{FE0F}' | '\u{20E3}') {
        return true;
    }
    let means = matches!(
        c,
        '“' | '”'
            | '„'
            | '‘'
            | '’'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '「'
            | '」'
            | '『'
            | '』'
            | '？'
            | '，'
            | '：'
            | '（'
            | '）'
    );
    !c.is_ascii() && !c.is_alphanumeric() && !is_combining_mark(c) && !means
}

/// Returns the participant that a name, an id, a number, or a name with its number means.
pub(super) fn find<'a>(circle: &'a [Participant], name: &str) -> Option<&'a Participant> {
    let wanted = name.trim();
    let same = |given: &str| are_same(given, wanted);
    let numbered = |participant: &Participant| {
        let number = participant.number.filter(|_| participant.part.is_some());
        number.is_some_and(|number| {
            wanted == number.to_string() || same(&format!("{} ({number})", participant.name()))
        })
    };
    let by_id = circle.iter().find(|p| same(p.id.as_str()));
    by_id
        .or_else(|| circle.iter().find(|p| same(p.name())))
        .or_else(|| circle.iter().find(|p| numbered(p)))
}
