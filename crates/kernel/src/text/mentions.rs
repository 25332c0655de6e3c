//! Who is named by a message: `@id`, `@nickname`, `@role`, `@client`, `@model`.

use std::ops::Range;

use crate::model::ids::ParticipantId;
use crate::model::participant::Participant;
use crate::text::code::{self, Run};
use crate::text::names::skeleton;

mod bearers;
mod signs;

pub use bearers::Bearer;
use bearers::{Bearers, Rank};
use signs::Sign;

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
    pub unknown: Option<Unknown>,
}

/// A name that no participant bears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its place in the message with its sign, in bytes.
    pub place: Range<usize>,
    /// Its letters.
    pub name: String,
}

/// Resolves the mentions of a message against the invited. Presence never names anyone.
/// (Ruling 15.)
pub fn named(body: &str, invited: &[Participant], speaker: &ParticipantId) -> Named {
    if !body.contains(signs::SIGNS) {
        return Named::default();
    }
    named_in(body, &code::prose(body), invited, speaker)
}

fn named_in(body: &str, runs: &[Run], invited: &[Participant], speaker: &ParticipantId) -> Named {
    let (mut found, bearers) = (Named::default(), Bearers::of(invited));
    let mut ended = None;
    for sign in runs.iter().flat_map(|run| signs::signs(body, run)) {
        if sign.joins.is_none() || sign.joins == ended {
            let length = resolve(&sign, &bearers, speaker, &mut found);
            ended = length.map(|length| sign.from + length);
        }
    }
    found
}

/// Whom a command means, and the words that follow the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// In the order in which they are named, once each.
    pub participants: Vec<ParticipantId>,
    /// The words behind the names.
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
/// [`Unclear`] if the words begin without a name, if several bear a name, or if no participant
/// bears what follows an `@`.
pub fn meant(words: &str, invited: &[Participant]) -> Result<Meant, Unclear> {
    let mut participants: Vec<ParticipantId> = Vec::new();
    let (mut rest, bearers) = (words.trim(), Bearers::of(invited));
    while !rest.is_empty() {
        let tail = rest.strip_prefix(signs::SIGNS).unwrap_or(rest);
        let (ids, length) = match named_at(tail, &bearers) {
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
        rest = behind(&tail[length..]);
    }
    Ok(Meant { participants, rest: rest.to_owned() })
}

/// Reads one name at the beginning of some words, with or without `@`. Returns its only bearer
/// and the words behind it. (Ruling 15.)
///
/// # Errors
/// [`Unclear`] if the words begin without a name, or if several bear it.
pub fn addressed<'a, 'w>(
    words: &'w str,
    among: impl IntoIterator<Item = Bearer<'a>>,
) -> Result<(ParticipantId, &'w str), Unclear> {
    let words = words.trim();
    let tail = words.strip_prefix(signs::SIGNS).unwrap_or(words);
    let nobody = || Unclear::Nobody(tail.split_whitespace().next().unwrap_or_default().to_owned());
    let (ids, length) = named_at(tail, &Bearers::of(among)).ok_or_else(nobody)??;
    match ids.as_slice() {
        [id] => Ok((id.clone(), behind(&tail[length..]))),
        _ => Err(Unclear::Several(tail[..length].to_owned(), ids)),
    }
}

/// Returns the words behind a name, without the sign that ends it.
fn behind(rest: &str) -> &str {
    rest.trim_start_matches([',', ':', '，', '：', '、']).trim_start()
}

/// Returns the participants that the name at the beginning means, and its length, if one stands
/// there.
fn named_at(
    words: &str,
    bearers: &Bearers<'_>,
) -> Option<Result<(Vec<ParticipantId>, usize), Unclear>> {
    let ends = |_: char, rest: &str| {
        rest.chars().next().is_none_or(|c| c.is_whitespace() || ",:，：、".contains(c))
    };
    let borne = bearers.longest(words, ends).filter(|borne| borne.rank != Rank::Broadcast)?;
    if borne.is_shared() {
        return Some(Err(Unclear::Several(words[..borne.length].to_owned(), borne.ids())));
    }
    Some(Ok((borne.ids(), borne.length)))
}

/// Reads the name after a sign and returns its length in bytes, if it is one of a participant.
fn resolve(
    sign: &Sign<'_>,
    bearers: &Bearers<'_>,
    speaker: &ParticipantId,
    found: &mut Named,
) -> Option<usize> {
    let borne = bearers.longest(sign.words, |last, rest| sign.is_over(last, rest));
    let spelled = borne.as_ref().is_some_and(|borne| sign.words[..borne.length].contains('/'));
    if !spelled && signs::is_foreign(sign.words) {
        return None;
    }
    let Some(borne) = borne else {
        let word = signs::word_of(sign);
        if found.unknown.is_none() && (1..=NAME_BYTES_MAX).contains(&word.len()) {
            let place = sign.at..sign.from + word.len();
            found.unknown = Some(Unknown { place, name: word.to_owned() });
        }
        return None;
    };
    let word = &sign.words[..borne.length];
    if borne.rank == Rank::Broadcast {
        if !found.broadcast.iter().any(|seen| seen == word) {
            found.broadcast.push(word.to_owned());
        }
    } else if borne.is_shared() {
        if !found.ambiguous.iter().any(|(seen, _)| bearers::fold(seen) == bearers::fold(word)) {
            found.ambiguous.push((word.to_owned(), borne.ids()));
        }
    } else {
        borne.bearers.iter().for_each(|bearer| push(bearer.id, speaker, found));
    }
    Some(borne.length)
}

/// Longest word that is taken for a name, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Most signs that are looked at for a name in code.
const CODE_NAMES_MAX: usize = 64;

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
    let end = body.match_indices('@').map(|(at, _)| at).nth(CODE_NAMES_MAX);
    let body = &body[..end.unwrap_or(body.len())];
    let found = named_in(body, &[Run::whole(body)], invited, speaker);
    let is_agent =
        |id: &ParticipantId| invited.iter().any(|one| one.id == *id && one.takes_turns());
    found.participants.into_iter().find(is_agent)
}

fn push(id: &ParticipantId, speaker: &ParticipantId, found: &mut Named) {
    if id != speaker && !found.participants.contains(id) {
        found.participants.push(id.clone());
    }
}

#[cfg(test)]
mod tests {
    use moothall_testkit::fuzz;

    use super::*;
    use crate::model::ids::Seq;
    use crate::model::participant::{AgentFacts, Kind, Profile};
    use crate::model::time::Timestamp;
    use crate::text::names::BROADCAST;

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
    fn names_need_no_space_in_scripts_without_capitals() {
        for body in [
            "交给@bob处理",
            "交给@bob：看",
            "第2步@bob",
            "@bobさん、お願い",
            "これは@bobに",
            "@bob님 부탁",
            "그리고@bob에게",
            "ให้@bobดู",
            "ل@bob",
            "ל@bob",
            "@bobको बताओ",
            "①@bob",
            "@bob:看看",
            "Done.@bob please",
            "great--@bob look",
            "@bob...look",
            "👍@bob👍",
        ] {
            assert_eq!(names(body), ["b-2"], "{body:?}");
        }
        for body in ["josé@bob", "jose\u{301}@bob", "мир@bob", "3@bob", "@bobу", "ｍｅ＠ｂｏｂ"]
        {
            assert!(names(body).is_empty(), "{body:?}");
        }
    }

    #[test]
    fn names_in_any_script_end_where_their_word_ends() {
        let words = ["小明", "민수", "דן", "राम", "สมชาย", "علي", "ボブ", "Zoë", "🦊", "ﾊﾅ"];
        let invited: Vec<_> =
            words.iter().enumerate().map(|(n, w)| who(&format!("n{n}"), Some(w), "x")).collect();
        let of = |body: &str| {
            let found = named(body, &invited, &"u".into()).participants;
            found
                .iter()
                .map(|id| words[id.as_str()[1..].parse::<usize>().unwrap()])
                .collect::<Vec<_>>()
        };
        for (body, expected) in [
            ("请@小明处理一下", vec!["小明"]),
            ("@小明2点开会", vec!["小明"]),
            ("@민수님이 @민수에게", vec!["민수"]),
            ("@민수", vec!["민수"]),
            ("@민수정", vec![]),
            ("ו@דן, בוא", vec!["דן"]),
            ("@דנה", vec![]),
            ("@राम को", vec!["राम"]),
            ("@रामू", vec![]),
            ("ให้@สมชายทำ", vec!["สมชาย"]),
            ("@علي، تعال", vec!["علي"]),
            ("@علياء", vec![]),
            ("@ボブさん @ﾎﾞﾌﾞ", vec!["ボブ"]),
            ("@Zoe\u{308}! ＠ＺＯＥ\u{308}", vec!["Zoë"]),
            ("@zoe", vec![]),
            ("@🦊\u{fe0f}hi", vec!["🦊"]),
            ("@ハナです", vec!["ﾊﾅ"]),
        ] {
            assert_eq!(of(body), expected, "{body:?}");
        }
    }

    #[test]
    fn names_count_whatever_dresses_them() {
        for body in [
            "＠ｂｏｂ",
            "﹫bob",
            "_@bob_",
            "*@bob*, __@bob__",
            "~~@bob~~",
            "_@bob's idea_",
            "[@bob](https://x.y)",
            "[@bob][1]\n\n[1]: https://x.y",
            "| a |\n|---|\n| @bob |",
            "# @bob",
            "<b>@bob</b>",
            "<@bob>",
            "\u{2068}@bob\u{2069}",
            "@\u{2068}bob\u{2069}",
            "@b\\-2",
        ] {
            assert_eq!(names(body), ["b-2"], "{body:?}");
        }
        for body in ["@bob/@planner", "@bob@planner", "@bob+@planner", "**@bob**/_@planner_"] {
            assert_eq!(names(body), ["b-2", "a1"], "{body:?}");
        }
    }

    #[test]
    fn packages_addresses_and_hidden_words_name_nobody() {
        for body in [
            "npm i -g @bob/codex",
            "import x from '@bob/genai'",
            "jsr:@bob/path",
            "@bob/*",
            "@bob/codex@latest",
            "node_modules/@bob",
            "bob@bob",
            "pkg@b-2",
            "@bob@mastodon.social",
            "@bob:matrix.org",
            "@bob:matrix.org:8448",
            "@bob.bsky.social",
            "t.me/@bob",
            "<bob@bob.org> <https://x.y/@bob>",
            "[x](https://x.y/@bob)",
            "[x]: /@bob",
            "![@bob](x.png)",
            "\\@bob",
            "<!-- @bob -->",
            "a <!-- @bob --> b",
            "<a title=\"@bob\">x</a>",
            "<pre>\n@bob\n</pre>",
            "- a\n\n      @bob",
            "> ```\n> @bob\n> ```",
            "- ```\n  @bob\n  ```",
            "````\n```\n@bob\n```\n````",
            "~~~~\n@bob\n~~~",
        ] {
            assert!(names(body).is_empty(), "{body:?}");
            assert_eq!(named(body, &[], &"x".into()).participants, [], "{body:?}");
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
            let quoted: String =
                body.split(['\n', '\r']).map(|line| format!("> {line}\n")).collect();
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
