//! Decides if a holder's words hand the talking piece on, and to which member. (Ruling 31.)

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
/// Words before a name that speak of the piece: any name may follow.
const PIECE_TO: [&str; 6] = [
    "i pass the piece to ",
    "i pass the talking piece to ",
    "i pass the piece on to ",
    "i pass the talking piece on to ",
    "passing the piece to ",
    "passing the talking piece to ",
];
/// Words before a name that could be about something else, so the words after them have to look
/// like a name.
const TO: [&str; 2] = ["i pass to ", "passing to "];
/// Words that may stand before a condition.
const FILLERS: [&str; 9] =
    ["but", "and", "though", "although", "only", "even", "except", "perhaps", "maybe"];
/// First words of a clause that is a condition, or takes the directive back.
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
/// Words that make a clause a condition at any place in it.
const CONDITIONS_WITHIN: [&str; 6] =
    ["only if", "only when", "only once", "unless", "provided that", "on condition"];
/// Verbs that report another speaker's words.
const REPORTS: [&str; 8] =
    ["said", "says", "wrote", "writes", "asked", "answered", "replied", "quoted"];
/// Abbreviations whose dot does not end a sentence.
const ABBREVIATIONS: [&str; 5] = ["e.g.", "i.e.", "cf.", "vs.", "resp."];
/// Emoticons that may stand at the end of a sentence.
const FACES: [&str; 5] = [":)", ":-)", ";)", ";-)", ":D"];
/// Length of the end of a line that is searched for a directive, in bytes.
const TAIL_BYTES: usize = 1_024;
/// Characters before a colon that are searched for a verb.
const VERB_CHARS: usize = 16;
/// Most words of a name that no participant bears.
const NAME_WORDS_MAX: usize = 3;

/// The effect of a holder's words on the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// The piece goes to the next speaker in order.
    On,
    /// The piece goes to the member with this name. An unknown name gets a note.
    To(String),
}

/// Returns the directive if it is the whole last sentence of a message, outside code and quotes.
pub(super) fn directive(body: &str, circle: &[Participant]) -> Option<Directive> {
    let (before, line) = last_line(body)?;
    let cut = line.ceil_char_boundary(line.len().saturating_sub(TAIL_BYTES));
    let starts = sentences(&line[cut..]).into_iter().map(|start| start + cut);
    // The start of a cut line is not the start of a sentence.
    starts.filter(|start| cut == 0 || *start > cut).rev().find_map(|start| {
        let found = directive_of(&line[start..], circle)?;
        let own = !is_reported(before, &line[..start]) && !is_quoted(before, &line[..start]);
        own.then_some(found)
    })
}

/// Returns the last line with letters or digits, if it is prose, and the text before it.
fn last_line(body: &str) -> Option<(&str, &str)> {
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    let lines = code::prose_lines(body).into_iter();
    let line = lines.rev().find(|line| has_words(&body[line.clone()]))?;
    let is_last = !has_words(&body[line.end..]);
    is_last.then(|| (&body[..line.start], &body[line]))
}

/// True if the text before a sentence announces another speaker's words or runs on into the
/// sentence.
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

/// Returns the byte offsets at which the sentences of a line begin.
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

/// True if the dot at the end belongs to an abbreviation or to a list marker.
fn ends_no_sentence(text: &str) -> bool {
    let mark = text.trim_start().trim_end_matches('.');
    let numbered = !mark.is_empty() && mark.chars().all(|c| c.is_ascii_digit());
    numbered || mark.len() == 1 || ABBREVIATIONS.iter().any(|short| text.ends_with(short))
}

/// Returns the directive if the whole sentence is one.
fn directive_of(sentence: &str, circle: &[Participant]) -> Option<Directive> {
    if sentence.trim_start().starts_with("* ") {
        // A list item, not emphasis.
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

/// Returns the directive to a participant by its name, without the signs around the name.
fn named(name: &str, circle: &[Participant]) -> Option<Directive> {
    let inner = ['`', '"', '\'']
        .iter()
        .find_map(|sign| name.strip_prefix(*sign).and_then(|rest| rest.strip_suffix(*sign)));
    let name = inner.or_else(|| name.strip_prefix('“')?.strip_suffix('”')).unwrap_or(name);
    let unmarked = name.trim_start_matches(['@', '#']).replace("_ (", " (");
    let found = find(circle, &unmarked).or_else(|| find(circle, bare(&unmarked)))?;
    Some(Directive::To(found.id.to_string()))
}

/// True if unknown words are few enough to be a name.
fn is_short(name: &str) -> bool {
    let words = name.split(' ').count();
    (1..=NAME_WORDS_MAX).contains(&words) && name.contains(char::is_alphanumeric) && is_one(name)
}

/// True if unknown words look like a name, and not like a thing.
fn looks_like_name(name: &str) -> bool {
    let capital = |word: &str| {
        let word = word.trim_start_matches(['(', '@', '#', '_']);
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
    };
    is_short(name) && (name.starts_with('@') || name.split(' ').all(capital))
}

/// True if the words contain no sign that begins something else.
fn is_one(name: &str) -> bool {
    !name.contains(['`', '"', '“', '”', '?', ';', ':', '/', '!']) && !name.contains(". ")
}

/// True if a clause after a comma cancels the directive: it is a condition, reports speech, names
/// another member, or is more than a clause.
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

/// True for emoji and their joiners. Other non-ASCII characters count too, except letters with
/// their marks, digits, quotation marks, brackets, and the wide question mark, comma and colon.
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

/// Returns the participant with this name, id, number, or name with number.
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
