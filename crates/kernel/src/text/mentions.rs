//! Who is named by a message: `@id`, `@nickname`, `@role`, `@client`, `@model`.

use crate::model::ids::ParticipantId;
use crate::model::participant::Participant;
use crate::text::code;
use crate::text::names::{BROADCAST, skeleton};

/// What the words of a message name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Invited participants, in the order in which they are named, once each, without the speaker.
    pub participants: Vec<ParticipantId>,
    /// `@all` and its like, as written.
    pub broadcast: Vec<String>,
    /// Names that several answer to, with their ids.
    pub ambiguous: Vec<(String, Vec<ParticipantId>)>,
    /// The first name that no participant bears.
    pub unknown: Option<String>,
}

/// Resolves the mentions of a message against the invited. Presence never names anyone.
/// (Ruling 15.)
pub fn named(body: &str, invited: &[Participant], speaker: &ParticipantId) -> Named {
    let mut found = Named::default();
    if !body.contains('@') {
        return found;
    }
    for tail in mention_tails(body) {
        resolve(tail, invited, speaker, &mut found);
    }
    found
}

/// Whom a command means, and the words that follow the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// In the order in which they are named, once each.
    pub participants: Vec<ParticipantId>,
    /// What stands where the names end.
    pub rest: String,
}

/// Why a command's names say nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// Nobody here answers to this.
    Nobody(String),
    /// Several answer to this; their ids.
    Several(String, Vec<ParticipantId>),
}

/// Reads the names at the beginning of some words as mentions are read, with or without `@`.
/// (Ruling 15.)
///
/// # Errors
/// [`Unclear`] where the words begin with no name, where a name is one of several people's, or
/// where what follows an `@` is nobody.
pub fn meant(words: &str, invited: &[Participant]) -> Result<Meant, Unclear> {
    let mut participants: Vec<ParticipantId> = Vec::new();
    let mut rest = words.trim();
    while !rest.is_empty() {
        let tail = rest.strip_prefix('@').unwrap_or(rest);
        let (ids, length) = match named_at(tail, invited) {
            Some(found) => found?,
            None if participants.is_empty() || tail.len() < rest.len() => {
                return Err(Unclear::Nobody(
                    tail.split_whitespace().next().unwrap_or_default().to_owned(),
                ));
            }
            None => break,
        };
        participants
            .extend(ids.into_iter().filter(|id| !participants.contains(id)).collect::<Vec<_>>());
        rest = tail[length..].trim_start_matches([',', ':']).trim_start();
    }
    Ok(Meant { participants, rest: rest.to_owned() })
}

/// Whom the name at the beginning means, and how long it is; nothing where no name stands.
fn named_at(
    tail: &str,
    invited: &[Participant],
) -> Option<Result<(Vec<ParticipantId>, usize), Unclear>> {
    let ends = |length: usize| {
        tail[length..].chars().next().is_none_or(|c| c.is_whitespace() || c == ',' || c == ':')
    };
    if let Some((length, whole)) =
        longest_nickname(tail, invited).filter(|(length, _)| ends(*length))
    {
        return Some(Ok((vec![whole.id.clone()], length)));
    }
    let word = word_of(tail);
    if word.is_empty() || !ends(word.len()) {
        return None;
    }
    let by_first_word: Vec<_> =
        invited.iter().filter(|p| first_word_is(p, word)).map(|p| p.id.clone()).collect();
    let ids = match by_first_word.len() {
        0 => invited.iter().filter(|p| has_trait(p, word)).map(|p| p.id.clone()).collect(),
        1 => by_first_word,
        _ => return Some(Err(Unclear::Several(word.to_owned(), by_first_word))),
    };
    if ids.is_empty() { None } else { Some(Ok((ids, word.len()))) }
}

fn resolve(tail: &str, invited: &[Participant], speaker: &ParticipantId, found: &mut Named) {
    if let Some((_, whole)) = longest_nickname(tail, invited) {
        return push(&whole.id, speaker, found);
    }
    let word = word_of(tail);
    if BROADCAST.contains(&word.to_lowercase().as_str()) {
        if !found.broadcast.iter().any(|seen| seen == word) {
            found.broadcast.push(word.to_owned());
        }
        return;
    }
    if let Some(exact) = invited.iter().find(|p| p.id.as_str().eq_ignore_ascii_case(word)) {
        return push(&exact.id, speaker, found);
    }
    let by_first_word: Vec<_> =
        invited.iter().filter(|p| first_word_is(p, word)).map(|p| p.id.clone()).collect();
    match by_first_word.as_slice() {
        [] => {}
        [one] => return push(one, speaker, found),
        _ => {
            if !found.ambiguous.iter().any(|(seen, _)| seen.eq_ignore_ascii_case(word)) {
                found.ambiguous.push((word.to_owned(), by_first_word));
            }
            return;
        }
    }
    let mut bearers = invited.iter().filter(|p| has_trait(p, word)).peekable();
    if bearers.peek().is_none() && found.unknown.is_none() && is_a_name(word) {
        found.unknown = Some(word.to_owned());
    }
    bearers.for_each(|bearer| push(&bearer.id, speaker, found));
}

/// Longest word that is taken for a name, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Most signs that are looked at for a name in code.
const CODE_NAMES_MAX: usize = 64;

/// True if a word after an `@` may have been meant as a name: `@types/node` is a package.
fn is_a_name(word: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&word.len()) && !word.contains('/')
}

/// Finds the participant that a wrong name may have meant: the one with the fewest letters to
/// change, at most a third of them, or the one whose name goes on with it.
pub fn nearest(
    word: &str,
    invited: &[Participant],
    speaker: &ParticipantId,
) -> Option<ParticipantId> {
    let wanted: Vec<char> = skeleton(word).chars().collect();
    let most = (wanted.len() / 3).max(1);
    let others = invited.iter().filter(|one| one.id != *speaker);
    let distances = others.filter_map(|one| {
        let distances = names_of(one).filter_map(|name| {
            let name: Vec<char> = skeleton(name).chars().collect();
            let goes_on = wanted.len() > 2 && name.starts_with(&wanted);
            if goes_on { Some(0) } else { distance(&wanted, &name, most) }
        });
        distances.min().map(|distance| (distance, one))
    });
    distances.min_by_key(|(distance, _)| *distance).map(|(_, one)| one.id.clone())
}

fn names_of(one: &Participant) -> impl Iterator<Item = &str> {
    let profile = &one.profile;
    let nickname = profile.nickname.as_deref();
    let first = nickname.and_then(|name| name.split(' ').next());
    let traits = profile.roles().iter().chain(&profile.client).chain(&profile.model);
    let names = [Some(one.id.as_str()), nickname, first];
    names.into_iter().flatten().chain(traits.map(String::as_str))
}

/// Counts the letters to insert, leave out, replace or swap with the next; nothing if there are
/// more than `most`.
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

/// Finds the first agent that some words name in code or a quote: such a name does not count.
pub fn named_in_code(
    body: &str,
    invited: &[Participant],
    speaker: &ParticipantId,
) -> Option<ParticipantId> {
    let begins = |at: &usize| {
        let before = body[..*at].chars().next_back();
        before.is_none_or(|b| !(is_word_char(b) || ".+-/@".contains(b)))
    };
    let signs = body.match_indices('@').map(|(at, _)| at).take(CODE_NAMES_MAX).filter(begins);
    let mut found = Named::default();
    signs.for_each(|at| resolve(&body[at + 1..], invited, speaker, &mut found));
    let is_agent =
        |id: &ParticipantId| invited.iter().any(|one| one.id == *id && one.takes_turns());
    found.participants.into_iter().find(is_agent)
}

fn push(id: &ParticipantId, speaker: &ParticipantId, found: &mut Named) {
    if id != speaker && !found.participants.contains(id) {
        found.participants.push(id.clone());
    }
}

/// The participant whose id or whole nickname stands here, and how much of the words that is; the
/// longest wins, an id before a nickname of the same length.
fn longest_nickname<'a>(
    tail: &str,
    invited: &'a [Participant],
) -> Option<(usize, &'a Participant)> {
    let mut best: Option<(usize, &Participant)> = None;
    for participant in invited {
        let names = [Some(participant.id.as_str()), participant.profile.nickname.as_deref()];
        for length in names.into_iter().flatten().filter_map(|name| word_at_start(tail, name)) {
            if best.is_none_or(|(longest, _)| length > longest) {
                best = Some((length, participant));
            }
        }
    }
    best
}

/// How much of the words a name is that they begin with.
fn word_at_start(tail: &str, name: &str) -> Option<usize> {
    let mut rest = tail.chars();
    let same = name.chars().all(|expected| {
        rest.next().is_some_and(|c| c == expected || c.to_lowercase().eq(expected.to_lowercase()))
    });
    let rest = rest.as_str();
    // Ids go on after dots and dashes; a sentence does not go on without a space.
    let is_word = same && !rest.trim_start_matches(['.', ':', '-']).starts_with(is_word_char);
    is_word.then(|| tail.len() - rest.len())
}

fn first_word_is(participant: &Participant, word: &str) -> bool {
    let nickname = participant.profile.nickname.as_deref().unwrap_or_default();
    nickname
        .split(' ')
        .next()
        .is_some_and(|first| !first.is_empty() && first.to_lowercase() == word.to_lowercase())
}

fn has_trait(participant: &Participant, word: &str) -> bool {
    let profile = &participant.profile;
    let traits = profile.roles().iter().chain(&profile.client).chain(&profile.model);
    traits.into_iter().any(|given| given.to_lowercase() == word.to_lowercase())
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word a mention consists of: letters, digits and `_ . : - /` inside, no punctuation at its
/// end.
fn word_of(tail: &str) -> &str {
    let end = tail.find(|c: char| !(is_word_char(c) || ".:-/".contains(c))).unwrap_or(tail.len());
    tail[..end].trim_end_matches(['.', ':', '-', '/'])
}

/// What follows each `@` that can begin a mention: not inside code, quotes, URLs and mail
/// addresses.
fn mention_tails(body: &str) -> Vec<&str> {
    let mut tails = Vec::new();
    for paragraph in code::paragraphs(body) {
        tails_of(paragraph, &mut tails);
    }
    tails
}

fn tails_of<'a>(paragraph: &'a str, tails: &mut Vec<&'a str>) {
    let mut rest = paragraph;
    let mut before: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        if c == '`' && before != Some('\\') {
            rest = &rest[code::span(rest)..];
            before = Some('`');
            continue;
        }
        let begins_token = before.is_none_or(char::is_whitespace);
        if begins_token && is_url(rest) {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = &rest[end..];
            before = Some('/');
            continue;
        }
        if c == '@' && before.is_none_or(|b| !(is_word_char(b) || ".+-/@".contains(b))) {
            tails.push(&rest[1..]);
        }
        before = Some(c);
        rest = &rest[c.len_utf8()..];
    }
}

fn is_url(rest: &str) -> bool {
    let token = rest.split_whitespace().next().unwrap_or_default();
    token.contains("://") || token.starts_with("www.") || token.starts_with("mailto:")
}

#[cfg(test)]
mod tests {
    use moothall_testkit::fuzz;

    use super::*;
    use crate::model::ids::Seq;
    use crate::model::participant::{AgentFacts, Kind, Profile};
    use crate::model::time::Timestamp;

    fn who(id: &str, nickname: Option<&str>, role: &str) -> Participant {
        Participant {
            id: id.into(),
            kind: Kind::Agent,
            profile: Profile {
                client: Some("codex".into()),
                model: Some("gpt-5".into()),
                roles: Some(vec![role.into()]),
                nickname: nickname.map(Into::into),
            },
            facts: AgentFacts::external(),
            address: None,
            number: None,
            part: None,
            reach: None,
            skeleton: String::new(),
            invited_by: "user".into(),
            invited_at: Timestamp::default(),
            cursor: Seq(0),
            shown: Seq(0),
            spoke_at: None,
            passes_in_a_row: 0,
            polls_skipped: 0,
            answered: false,
        }
    }

    fn names(body: &str) -> Vec<String> {
        let invited = [
            who("a1", Some("Ann Lee"), "planner"),
            who("b-2", Some("Bob"), "qa"),
            who("bob-3", Some("Ann Bo"), "qa"),
        ];
        named(body, &invited, &"x".into()).participants.iter().map(|id| id.to_string()).collect()
    }

    #[test]
    fn names_count_where_people_mean_them() {
        for body in
            ["@Bob, look", "hi (@bob)", "hi,@bob", "**@BOB**", "@b-2.", "@bob's idea", "@b-2: go"]
        {
            assert_eq!(names(body), ["b-2"], "{body:?}");
        }
        assert_eq!(names("@bob-3 and @Ann Lee"), ["bob-3", "a1"]);
        assert_eq!(names("@qa"), ["b-2", "bob-3"]);
        assert_eq!(names("@gpt-5 @planner"), ["a1", "b-2", "bob-3"]);
    }

    #[test]
    fn names_do_not_count_in_code_quotes_addresses_and_links() {
        for body in [
            "`@bob`",
            "```\n@bob\n```",
            "> @bob",
            "me@bob",
            "me@bob.com",
            "https://x.y/@bob",
            "a ``x @bob`` b",
            "see ```let a = @bob\n@bob``` there",
            "`a\n@bob` b",
            "``@bob ` \n@bob`` b",
            "```` \n```\n@bob\n````",
            "```\n@bob\n``` still code\n@bob\n```",
            "~~~\n```\n@bob\n~~~",
            "    @bob",
            "Like so:\n\n\t@bob",
            "@bobby",
            "@@bob",
        ] {
            assert!(names(body).is_empty(), "{body:?}");
        }
    }

    #[test]
    fn what_only_looks_like_code_hides_nobody() {
        for body in [
            "```x``` @bob",
            "```x```\n@bob",
            "`\n\n@bob`",
            "- `a\n- @bob` b",
            "it is \\`@bob\\`",
            "`a`` @bob",
            "so\n    @bob",
            "- so\n\n    @bob",
            "> quote\n@bob",
        ] {
            assert_eq!(names(body), ["b-2"], "{body:?}");
        }
    }

    #[test]
    fn broadcast_and_shared_names_are_told_apart() {
        let invited = [who("a1", Some("Ann Lee"), "x"), who("a2", Some("Ann Bo"), "x")];
        let found = named("@Ann and @all and @here", &invited, &"u".into());
        assert!(found.participants.is_empty());
        assert_eq!(found.broadcast, ["all", "here"]);
        assert_eq!(found.ambiguous, [("Ann".into(), vec!["a1".into(), "a2".into()])]);
    }

    #[test]
    fn a_command_means_whom_a_mention_would() {
        let invited = [
            who("a1", Some("Ann Lee"), "planner"),
            who("b-2", Some("Bob"), "qa"),
            who("bob-3", Some("Ann Bo"), "qa"),
        ];
        let read = |words: &str| {
            meant(words, &invited).map(|meant| {
                (meant.participants.iter().map(|id| id.to_string()).collect(), meant.rest)
            })
        };
        let found = |ids: &[&str], rest: &str| {
            Ok((ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), rest.to_owned()))
        };
        assert_eq!(read("@Bob, ann lee"), found(&["b-2", "a1"], ""));
        assert_eq!(
            read("bob what do you think, Ann Lee?"),
            found(&["b-2"], "what do you think, Ann Lee?")
        );
        assert_eq!(read("bob: go on"), found(&["b-2"], "go on"));
        assert_eq!(read("qa b-2"), found(&["b-2", "bob-3"], ""));
        assert_eq!(read("bob's idea"), Err(Unclear::Nobody("bob's".into())));
        assert_eq!(read("nosuch bob"), Err(Unclear::Nobody("nosuch".into())));
        assert_eq!(read("bob @nosuch hi"), Err(Unclear::Nobody("nosuch".into())));
        assert_eq!(
            read("Ann hi"),
            Err(Unclear::Several("Ann".into(), vec!["a1".into(), "bob-3".into()]))
        );
    }

    #[test]
    fn nobody_names_oneself() {
        let invited = [who("a1", None, "x")];
        assert!(named("@a1 @a1", &invited, &"a1".into()).participants.is_empty());
        assert_eq!(named(&"@a1 ".repeat(500), &invited, &"u".into()).participants.len(), 1);
    }

    #[test]
    fn fuzzed_words_name_only_the_invited_once_each() {
        let invited = [
            who("a1", Some("Ann Lee"), "planner"),
            who("b-2", Some("Bob"), "qa"),
            who("bob.3", Some("Ann Bo"), "Σίσυφος"),
        ];
        let speaker = "b-2".into();
        let words = [
            "@", "@ann", "@Ann Lee", "@bob", "@all", "`", "```\n", "~~~\n", "> ", "://", "www.",
            "\n", "@İ", "@ß",
        ];
        fuzz::texts("mentions", &fuzz::corpus(&corpus("mentions")), &words, |body| {
            let found = named(body, &invited, &speaker);
            for (at, id) in found.participants.iter().enumerate() {
                assert!(
                    *id != speaker && !found.participants[..at].contains(id),
                    "{id} of {:?}",
                    found.participants
                );
                assert!(invited.iter().any(|participant| participant.id == *id), "{id} is nobody");
            }
            assert!(
                found
                    .broadcast
                    .iter()
                    .all(|word| BROADCAST.contains(&word.to_lowercase().as_str())),
                "{:?}",
                found.broadcast
            );
            assert!(
                found.ambiguous.iter().all(|(word, ids)| !word.is_empty() && ids.len() > 1),
                "{:?}",
                found.ambiguous
            );
            let quoted: String = body.lines().map(|line| format!("> {line}\n")).collect();
            assert_eq!(
                named(&quoted, &invited, &speaker),
                Named::default(),
                "what is quoted names nobody"
            );
        });
    }

    fn corpus(target: &str) -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target)
    }
}
