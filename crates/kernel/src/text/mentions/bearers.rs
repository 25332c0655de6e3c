//! Finds the bearers of a name in a text, and the end of the name.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::model::ids::ParticipantId;
use crate::model::participant::{Participant, Profile};
use crate::text::names::{self, BROADCAST};
use crate::text::{is_deceptive, is_invisible};

/// The kind of a name. The first kind wins if two names are written alike. (Ruling 15.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Id,
    Nickname,
    Broadcast,
    FirstWord,
    Trait,
}

/// A participant with its names.
#[derive(Clone, Copy, Debug)]
pub struct Bearer<'a> {
    /// Id in this conversation.
    pub id: &'a ParticipantId,
    /// Profile with the nickname, roles, client and model.
    pub profile: &'a Profile,
    /// The name with the computer, such as `builder@workstation`, if it is of another one.
    pub full_name: Option<&'a str>,
}

impl<'a> From<&'a Participant> for Bearer<'a> {
    fn from(invited: &'a Participant) -> Self {
        let full_name = invited.full_name.as_deref();
        Self { id: &invited.id, profile: &invited.profile, full_name }
    }
}

#[derive(Debug)]
struct Name<'a> {
    folded: String,
    rank: Rank,
    bearer: Option<Bearer<'a>>,
}

/// The names of all invited participants, in the order of their folded letters.
#[derive(Debug)]
pub(super) struct Bearers<'a>(Vec<Name<'a>>);

/// A name in a text, with its bearers.
#[derive(Debug)]
pub(super) struct NameMatch<'a> {
    /// Length of the name in the text, in bytes.
    pub(super) length: usize,
    pub(super) rank: Rank,
    /// Bearers in the order of their invitation, once each.
    pub(super) bearers: Vec<Bearer<'a>>,
}

impl<'a> Bearers<'a> {
    /// Returns the names of these participants and the words for all of them, sorted for the
    /// search.
    pub(super) fn of(invited: impl IntoIterator<Item = impl Into<Bearer<'a>>>) -> Self {
        let mut names: Vec<Name<'a>> =
            invited.into_iter().flat_map(|bearer| names_of(bearer.into())).collect();
        names.extend(BROADCAST.map(|word| Name {
            folded: word.into(),
            rank: Rank::Broadcast,
            bearer: None,
        }));
        names.retain(|name| !name.folded.is_empty());
        names.sort_by(|one, other| (&one.folded, one.rank).cmp(&(&other.folded, other.rank)));
        Self(names)
    }

    /// Returns the longest name with which some words begin. A name ends only if `is_over` is true
    /// for its last character and the words after it.
    pub(super) fn longest(
        &self,
        words: &str,
        is_over: impl Fn(char, &str) -> bool,
    ) -> Option<NameMatch<'a>> {
        let (mut folded, mut at, mut last) = (String::new(), 0, ' ');
        let mut best = None;
        while let Some(cluster) = cluster_of(&words[at..]) {
            at += cluster.len();
            fold_into(cluster, &mut folded);
            last = cluster.chars().find(|c| !is_joined(*c)).unwrap_or(last);
            let from = self.0.partition_point(|name| name.folded.as_str() < folded.as_str());
            let Some(first) = self.0[from..].first() else { break };
            if !first.folded.starts_with(&folded) {
                break;
            }
            if first.folded == folded && is_over(last, &words[at..]) {
                best = Some((at, from));
            }
        }
        best.map(|(length, from)| self.borne(length, from))
    }

    /// Returns the name at the place `from` of the list, with each participant that bears it.
    fn borne(&self, length: usize, from: usize) -> NameMatch<'a> {
        let Name { folded, rank, .. } = &self.0[from];
        let alike = self.0[from..].iter();
        let alike = alike.take_while(|name| name.folded == *folded && name.rank == *rank);
        let mut bearers: Vec<Bearer<'a>> = Vec::new();
        for bearer in alike.filter_map(|name| name.bearer) {
            if !bearers.iter().any(|seen| seen.id == bearer.id) {
                bearers.push(bearer);
            }
        }
        NameMatch { length, rank: *rank, bearers }
    }
}

impl NameMatch<'_> {
    pub(super) fn ids(&self) -> Vec<ParticipantId> {
        self.bearers.iter().map(|bearer| bearer.id.clone()).collect()
    }

    /// True if several participants bear a name that can mean only one.
    pub(super) fn is_shared(&self) -> bool {
        self.rank != Rank::Trait && self.bearers.len() > 1
    }
}

/// Returns each name of a participant: its id, its nickname and the first word of that, its roles,
/// client and model. A participant of another computer also has its name with that computer and its
/// name without it. The name without the computer has the rank of an id: if the id of another
/// participant is the same, the server asks the speaker back.
fn names_of(bearer: Bearer<'_>) -> impl Iterator<Item = Name<'_>> {
    let profile = bearer.profile;
    let nickname = profile.nickname.as_deref();
    let first = nickname.and_then(|name| name.split(' ').next());
    let bare = bearer.full_name.and_then(names::at_computer).map(|(name, _)| name);
    let single = [
        (Rank::Id, Some(bearer.id.as_str())),
        (Rank::Id, bearer.full_name),
        (Rank::Id, bare),
        (Rank::Nickname, nickname),
        (Rank::FirstWord, first.filter(|first| nickname != Some(first))),
    ];
    let single = single.into_iter().filter_map(|(rank, name)| Some((rank, name?)));
    let traits = profile.roles().iter().chain(&profile.client).chain(&profile.model);
    let traits = traits.map(|name| (Rank::Trait, name.as_str()));
    let named = move |(rank, name)| Name { folded: fold(name), rank, bearer: Some(bearer) };
    single.chain(traits).map(named)
}

/// Returns a name without the differences that do not count: case, width, form of composition and
/// characters that draw nothing.
pub(super) fn fold(name: &str) -> String {
    let (mut folded, mut rest) = (String::new(), name);
    while let Some(cluster) = cluster_of(rest) {
        fold_into(cluster, &mut folded);
        rest = &rest[cluster.len()..];
    }
    folded
}

/// Appends a letter as [`fold`] compares it.
fn fold_into(cluster: &str, folded: &mut String) {
    if let [one] = cluster.as_bytes() {
        return folded.push(char::from(one.to_ascii_lowercase()));
    }
    let seen = cluster.strip_prefix('\\').unwrap_or(cluster).chars().filter(|c| !is_joined(*c));
    let small = seen.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.extend(small.nfkc());
}

/// True if a character draws nothing by itself, so that a name is the same with and without it.
fn is_joined(c: char) -> bool {
    is_deceptive(c) || is_invisible(c)
}

/// Returns the first letter as a reader sees it: with its marks, and with the backslash that
/// escapes it in Markdown.
fn cluster_of(words: &str) -> Option<&str> {
    let bytes = words.as_bytes();
    let plain = |at: usize| bytes.get(at).is_none_or(u8::is_ascii);
    match bytes {
        [] => None,
        [b'\\', next, ..] if next.is_ascii_punctuation() && plain(2) => Some(&words[..2]),
        [first, ..] if first.is_ascii() && plain(1) => Some(&words[..1]),
        _ => words.graphemes(true).next(),
    }
}

/// Particles that Korean puts after a name without a space.
const PARTICLES: [&str; 40] = [
    "에게서",
    "에게",
    "한테서",
    "한테",
    "께서",
    "께",
    "이랑",
    "이라고",
    "라고",
    "이라는",
    "라는",
    "이나",
    "이고",
    "이면",
    "이야",
    "이요",
    "으로",
    "로",
    "까지",
    "부터",
    "처럼",
    "보다",
    "만",
    "도",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "와",
    "과",
    "랑",
    "하고",
    "야",
    "아",
    "요",
    "나",
    "에",
];
/// Words that Korean puts between a name and its particle.
const HONORIFICS: [&str; 4] = ["선생님", "님", "씨", "들"];
/// Fewest letters of a Korean name before a particle.
const KOREAN_NAME_MIN: usize = 2;
/// Longest particle with an honorific before it, in characters.
const PARTICLE_CHARS_MAX: usize = 8;

/// True if a word that ends with `last` ends before `rest`. (Ruling 15.)
///
/// Letters of two kinds of script do not make one word: `bob님`, `bob处理`. A sign that joins parts of
/// ids belongs to the word only before a letter that ids have.
pub(super) fn is_over(last: char, rest: &str) -> bool {
    let mut following = rest.chars();
    let Some(next) = following.next() else { return true };
    if ".:-".contains(next) {
        return !following.next().is_some_and(is_plain);
    }
    !is_word(next) || !is_word(last) || !are_joined(last, next, rest)
}

/// True if a letter after `last` continues the same word: letters of one script do, a mark does,
/// and a Korean particle does not.
fn are_joined(last: char, next: char, rest: &str) -> bool {
    match (is_plain(last), is_plain(next)) {
        (true, true) => true,
        (true, false) => is_combining_mark(next),
        (false, _) if is_hangul(last) && is_hangul(next) => !is_particle(rest),
        (false, true) if next.is_alphabetic() => false,
        (false, _) => String::from_iter([last, next]).split_word_bounds().nth(1).is_none(),
    }
}

/// True if a character belongs to words: a letter with or without case, a digit, a mark, `_`.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

/// True if a character belongs to ids and mail addresses: a letter of a script with capitals, a
/// digit, `_`. Such scripts separate words by spaces.
pub(super) fn is_plain(c: char) -> bool {
    let is_digit = c.is_ascii_digit() || ('\u{ff10}'..='\u{ff19}').contains(&c);
    is_digit || c == '_' || c.is_lowercase() || c.is_uppercase()
}

/// True if a letter after `last` belongs to an unknown name although a known one could end there. A
/// script without spaces does not show the end of a name, and one Korean letter is hardly a name.
pub(super) fn runs_on(last: char, next: char, letters: usize) -> bool {
    let is_korean = is_hangul(last) && is_hangul(next);
    (is_korean && letters < KOREAN_NAME_MIN)
        || UnspacedScript::of(last).is_some_and(|script| UnspacedScript::of(next) == Some(script))
}

/// The scripts without spaces between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnspacedScript {
    Han,
    Hiragana,
    Thai,
    Lao,
    Burmese,
    Khmer,
}

impl UnspacedScript {
    /// Returns the script of a character; `None` for punctuation and for scripts with spaces.
    pub(super) fn of(c: char) -> Option<Self> {
        Some(match c {
            // The punctuation of a script is not a part of its words.
            _ if !is_word(c) => return None,
            '々' | '〇' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Self::Han,
            '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => Self::Han,
            '\u{3041}'..='\u{309f}' => Self::Hiragana,
            '\u{e01}'..='\u{e4e}' => Self::Thai,
            '\u{e81}'..='\u{edf}' => Self::Lao,
            '\u{1000}'..='\u{109f}' => Self::Burmese,
            '\u{1780}'..='\u{17d3}' => Self::Khmer,
            _ => return None,
        })
    }
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}')
}

fn is_particle(rest: &str) -> bool {
    let letters = rest.chars().take(3 * PARTICLE_CHARS_MAX).nfc().take_while(|c| is_hangul(*c));
    let run: String = letters.collect();
    let bare = HONORIFICS.iter().find_map(|word| run.strip_prefix(word)).unwrap_or(&run);
    bare.is_empty() || PARTICLES.contains(&bare) || PARTICLES.contains(&run.as_str())
}
