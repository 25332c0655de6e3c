//! Finds the participants that a message names: `@id`, `@nickname`, `@role`, `@client`, `@model`.

use std::ops::Range;

use crate::model::event::{Posted, Recipient};
use crate::model::ids::ParticipantId;
use crate::model::participant::{Participant, Profile};
use crate::text::code::{self, ProseRun};
use crate::text::cut;
use crate::text::names::skeleton;

mod bearers;
mod signs;
#[cfg(test)]
mod tests;

pub use bearers::Bearer;
use bearers::{Bearers, NameMatch, Rank, UnspacedScript};
use signs::Sign;

/// The names in the words of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Named participants, in the order in which they are named, once each, without the speaker.
    pub participants: Vec<ParticipantId>,
    /// First places of these names, in order, at most [`PLACES_MAX`].
    pub places: Vec<NamePlace>,
    /// `@all` and its like, each as it is first written.
    pub broadcast: Vec<String>,
    /// Names that several participants share, with their ids.
    pub ambiguous: Vec<(String, Vec<ParticipantId>)>,
    /// The first name that no participant bears.
    pub unknown: Option<UnknownName>,
}

/// The place of a name that means participants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePlace {
    /// Byte range of the name with its sign.
    pub range: Range<usize>,
    /// Participants that the name means, without the speaker.
    pub participants: Vec<ParticipantId>,
}

/// A name that no participant bears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// Byte range of the name with its sign.
    pub place: Range<usize>,
    /// Letters of the name.
    pub name: String,
}

/// Resolves the mentions of a message against the invited participants only. (Ruling 15.)
pub fn named(body: &str, invited: &[Participant], speaker: &ParticipantId) -> Mentions {
    if !signs::are_in(body) {
        return Mentions::default();
    }
    named_in(body, &code::prose(body), invited, speaker)
}

/// True if a message of another participant is to a reader, or names the reader.
pub fn is_to(posted: &Posted, reader: &ParticipantId) -> bool {
    posted.from != *reader
        && (posted.to == Recipient::One(reader.clone())
            || posted.mentions.contains(reader)
            || names_id(&posted.body, reader))
}

/// True if words name this id. Words name the local user, and other readers without an invitation,
/// by the id alone.
fn names_id(body: &str, id: &ParticipantId) -> bool {
    let profile = Profile::default();
    let bearer = Bearer { id, profile: &profile, full_name: None };
    let found = || named_in(body, &code::prose(body), [bearer], &ParticipantId::new(""));
    signs::are_in(body) && found().participants.contains(id)
}

/// Returns the participants named in these runs of a message, which are its prose.
fn named_in<'a>(
    body: &str,
    runs: &[ProseRun],
    invited: impl IntoIterator<Item = impl Into<Bearer<'a>>>,
    speaker: &ParticipantId,
) -> Mentions {
    let (mut found, bearers) = (Mentions::default(), Bearers::of(invited));
    let mut ended = None;
    for sign in runs.iter().flat_map(|run| signs::signs(body, run)) {
        // A sign inside a name is a part of that name.
        if ended.is_some_and(|ended| sign.at < ended) {
            continue;
        }
        if sign.joins.is_none() || sign.joins == ended {
            let length = resolve(&sign, &bearers, speaker, &mut found);
            ended = length.map(|length| sign.from + length);
        }
    }
    found
}

/// The participants that a command means, and the words after their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandNames {
    /// Participants in the order in which they are named, once each.
    pub participants: Vec<ParticipantId>,
    /// Words after the names.
    pub rest: String,
}

/// The reason why a command's names are not clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    /// No participant has this name.
    Nobody(String),
    /// Several participants with these ids share this name.
    Several(String, Vec<ParticipantId>),
}

/// Reads the names at the beginning of some words as mentions, with or without `@`. (Ruling 15.)
///
/// # Errors
/// [`NameError`] if the words begin without a name, if several participants share a name, or if no
/// participant has the name after an `@`.
pub fn parse_names(words: &str, invited: &[Participant]) -> Result<CommandNames, NameError> {
    let mut participants: Vec<ParticipantId> = Vec::new();
    let (mut rest, bearers) = (words.trim(), Bearers::of(invited));
    while !rest.is_empty() {
        let tail = rest.strip_prefix(signs::SIGNS).unwrap_or(rest);
        let (ids, length) = match named_at(tail, &bearers) {
            Some(found) => found?,
            None if participants.is_empty() || tail.len() < rest.len() => {
                return Err(NameError::Nobody(
                    tail.split_whitespace().next().unwrap_or_default().to_owned(),
                ));
            }
            None => break,
        };
        participants
            .extend(ids.into_iter().filter(|id| !participants.contains(id)).collect::<Vec<_>>());
        rest = behind(&tail[length..]);
    }
    Ok(CommandNames { participants, rest: rest.to_owned() })
}

/// Reads one name at the beginning of some words, with or without `@`. Returns its only bearer and
/// the words after it. (Ruling 15.)
///
/// # Errors
/// [`NameError`] if the words begin without a name, or if several participants share it.
pub fn addressed<'a, 'w>(
    words: &'w str,
    among: impl IntoIterator<Item = Bearer<'a>>,
) -> Result<(ParticipantId, &'w str), NameError> {
    let words = words.trim();
    let tail = words.strip_prefix(signs::SIGNS).unwrap_or(words);
    let nobody =
        || NameError::Nobody(tail.split_whitespace().next().unwrap_or_default().to_owned());
    let (ids, length) = named_at(tail, &Bearers::of(among)).ok_or_else(nobody)??;
    match ids.as_slice() {
        [id] => Ok((id.clone(), behind(&tail[length..]))),
        _ => Err(NameError::Several(tail[..length].to_owned(), ids)),
    }
}

/// Returns the only participant with this id or whole nickname, with or without `@`. Roles, clients
/// and models do not count.
pub fn called<'a>(
    word: &str,
    among: impl IntoIterator<Item = impl Into<Bearer<'a>>>,
) -> Option<ParticipantId> {
    let word = word.trim();
    let name = word.strip_prefix(signs::SIGNS).unwrap_or(word);
    let borne = Bearers::of(among).longest(name, |_, rest| rest.is_empty())?;
    let is_own = matches!(borne.rank, Rank::Id | Rank::Nickname) && !borne.is_shared();
    borne.bearers.first().filter(|_| is_own).map(|bearer| bearer.id.clone())
}

/// True if mentions do not distinguish two names.
pub fn are_same(one: &str, other: &str) -> bool {
    bearers::fold(one) == bearers::fold(other)
}

/// Splits the words before a cursor after the sign of the name that is being typed there, if a
/// mention can begin at that sign.
pub fn typed(before: &str) -> Option<(&str, &str)> {
    let (at, sign) = before.char_indices().rfind(|(_, c)| signs::SIGNS.contains(c))?;
    signs::may_begin(&before[..at]).then(|| before.split_at(at + sign.len_utf8()))
}

/// True if a name begins with some letters, compared as in mentions.
pub fn begins_with(name: &str, letters: &str) -> bool {
    bearers::fold(name).starts_with(&bearers::fold(letters))
}

/// Returns the words after a name, without the sign that ends it.
fn behind(rest: &str) -> &str {
    rest.trim_start_matches([',', ':', '，', '：', '、']).trim_start()
}

/// Returns the participants that the name at the beginning means, and the length of the name, if
/// there is one.
fn named_at(
    words: &str,
    bearers: &Bearers<'_>,
) -> Option<Result<(Vec<ParticipantId>, usize), NameError>> {
    let ends = |_: char, rest: &str| {
        rest.chars().next().is_none_or(|c| c.is_whitespace() || ",:，：、".contains(c))
    };
    let borne = bearers.longest(words, ends).filter(|borne| borne.rank != Rank::Broadcast)?;
    if borne.is_shared() {
        return Some(Err(NameError::Several(words[..borne.length].to_owned(), borne.ids())));
    }
    Some(Ok((borne.ids(), borne.length)))
}

/// True if words name a computer after a name that a participant of another computer bears:
/// `builder@laptop` does not mean the builder of the workstation.
fn is_of_other_computer(borne: &NameMatch<'_>, words: &str) -> bool {
    let is_elsewhere = borne.bearers.iter().any(|bearer| bearer.full_name.is_some());
    let (name, behind) = words.split_at(borne.length);
    let computer = behind.strip_prefix(signs::SIGNS);
    let is_named = computer.is_some_and(|behind| behind.starts_with(char::is_alphanumeric));
    is_elsewhere && is_named && !name.contains(signs::SIGNS)
}

/// Reads the name after a sign. Returns the length of the name in bytes, if participants bear it.
fn resolve(
    sign: &Sign<'_>,
    bearers: &Bearers<'_>,
    speaker: &ParticipantId,
    found: &mut Mentions,
) -> Option<usize> {
    let borne = bearers.longest(sign.words, |last, rest| sign.is_over(last, rest));
    let borne = borne.filter(|borne| !is_of_other_computer(borne, sign.words));
    let spelled = borne.as_ref().is_some_and(|borne| sign.words[..borne.length].contains('/'));
    if !spelled && signs::is_foreign(sign.words) {
        return None;
    }
    let Some(borne) = borne else {
        let word = signs::word_of(sign);
        // In a script without spaces the word runs on after the name, so it is cut to the longest
        // name.
        let is_run = word.chars().next().is_some_and(|first| UnspacedScript::of(first).is_some());
        let word = if is_run { cut(word, NAME_BYTES_MAX) } else { word };
        let is_name = (1..=NAME_BYTES_MAX).contains(&word.len());
        // `user` means the local person, who is in every conversation.
        if found.unknown.is_none() && is_name && !are_same(word, ParticipantId::USER) {
            let place = sign.at..sign.from + word.len();
            found.unknown = Some(UnknownName { place, name: word.to_owned() });
        }
        return None;
    };
    let word = &sign.words[..borne.length];
    if borne.rank == Rank::Broadcast {
        if !found.broadcast.iter().any(|seen| bearers::fold(seen) == bearers::fold(word)) {
            found.broadcast.push(word.to_owned());
        }
    } else if borne.is_shared() {
        if !found.ambiguous.iter().any(|(seen, _)| bearers::fold(seen) == bearers::fold(word)) {
            found.ambiguous.push((word.to_owned(), borne.ids()));
        }
    } else {
        let ids = borne.bearers.iter().map(|bearer| bearer.id).filter(|id| *id != speaker);
        let participants: Vec<_> = ids.cloned().collect();
        participants.iter().for_each(|id| push(id, found));
        if !participants.is_empty() && found.places.len() < PLACES_MAX {
            let length = signs::shown(word).len();
            found.places.push(NamePlace { range: sign.at..sign.from + length, participants });
        }
    }
    Some(borne.length)
}

/// Most places of names that are stored for a message.
pub const PLACES_MAX: usize = 128;
/// Longest word that is taken for a name, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Most signs that are read for a name in code.
const CODE_NAMES_MAX: usize = 64;

/// Returns the participant that a wrong name may mean: the one with the fewest letters to change,
/// at most a third of them, or one whose name continues the word.
pub fn nearest(
    word: &str,
    invited: &[Participant],
    speaker: &ParticipantId,
) -> Option<ParticipantId> {
    nearest_in(word, invited, speaker).map(|(nearest, _)| nearest)
}

/// Returns the nearest participant, and the length of the wrong name in bytes. In a script without
/// spaces other words may follow the wrong name. Then it has as many letters as the name that it
/// may mean.
pub(crate) fn nearest_in(
    word: &str,
    invited: &[Participant],
    speaker: &ParticipantId,
) -> Option<(ParticipantId, usize)> {
    let others = invited.iter().filter(|one| one.id != *speaker);
    let near = others.filter_map(|one| {
        let near = names_of(one).filter_map(|name| near(word, name)).min();
        near.map(|(distance, length)| (distance, one, length))
    });
    let nearest = near.min_by_key(|(distance, ..)| *distance);
    nearest.map(|(_, one, length)| (one.id.clone(), length))
}

/// Counts the letters to change from a word, or from its beginning, to a name. Returns the count
/// and the bytes of the word that this takes, or `None` for too many changes.
fn near(word: &str, name: &str) -> Option<(usize, usize)> {
    let whole = changed(word, name).map(|changes| (changes, word.len()));
    let letters = name.chars().count();
    let runs_on = word.chars().take(letters + 1).all(|c| UnspacedScript::of(c).is_some());
    let end = word.char_indices().nth(letters).map(|(end, _)| end).filter(|_| runs_on);
    let begun = end.and_then(|end| Some((changed(&word[..end], name)?, end)));
    // A name of one letter may change as a whole, and would then fit the beginning of every word.
    whole.into_iter().chain(begun.filter(|(changes, _)| *changes < letters)).min()
}

/// Returns the number of changes from a word to a name, 0 if it begins the name; `None` if too
/// many.
fn changed(word: &str, name: &str) -> Option<usize> {
    let wanted: Vec<char> = skeleton(word).chars().collect();
    let name: Vec<char> = skeleton(name).chars().collect();
    let most = (wanted.len() / 3).max(1);
    let goes_on = wanted.len() > 2 && name.starts_with(&wanted);
    if goes_on { Some(0) } else { distance(&wanted, &name, most) }
}

/// Returns the names of a participant that a wrong name is compared with.
fn names_of(one: &Participant) -> impl Iterator<Item = &str> {
    let profile = &one.profile;
    let nickname = profile.nickname.as_deref();
    let first = nickname.and_then(|name| name.split(' ').next());
    let traits = profile.roles().iter().chain(&profile.client).chain(&profile.model);
    let names = [Some(one.id.as_str()), nickname, first];
    names.into_iter().flatten().chain(traits.map(String::as_str))
}

/// Counts the letters to insert, leave out, replace or swap with the next. Returns `None` above
/// `most`.
fn distance(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, &a) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &b) in other.iter().enumerate() {
            let replaced = row[j] + usize::from(a != b);
            let mut least = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a == other[j - 1] && one[i - 1] == b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|found| *found <= most)
}

/// Returns the first agent that some words name in code or a quote. Such a name does not count as a
/// mention.
pub fn named_in_code(
    body: &str,
    invited: &[Participant],
    speaker: &ParticipantId,
) -> Option<ParticipantId> {
    let end = body.match_indices('@').map(|(at, _)| at).nth(CODE_NAMES_MAX);
    let body = &body[..end.unwrap_or(body.len())];
    let found = named_in(body, &[ProseRun::whole(body)], invited, speaker);
    let is_agent =
        |id: &ParticipantId| invited.iter().any(|one| one.id == *id && one.takes_turns());
    found.participants.into_iter().find(is_agent)
}

fn push(id: &ParticipantId, found: &mut Mentions) {
    if !found.participants.contains(id) {
        found.participants.push(id.clone());
    }
}
