//! Tests the participants that words name, in every script and at every place of a message.

use moothall_testkit::fuzz;

use super::*;
use crate::model::ids::Seq;
use crate::model::participant::{AgentFacts, Kind, Profile};
use crate::model::time::Timestamp;
use crate::text::names::BROADCAST;

/// Returns an agent of the client `codex` with this id, nickname and role.
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
        full_name: None,
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
        told_ended: false,
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

/// Returns the participants that words name among a session here and two of the same name and
/// another one on other computers, and the names that several bear.
fn named_across(body: &str) -> (Vec<String>, Vec<String>) {
    let at = |id: &str, full_name: &str| Participant {
        full_name: Some(full_name.into()),
        ..who(id, None, "coder")
    };
    let invited = [
        who("builder", None, "coder"),
        at("builder.workstation", "builder@workstation"),
        at("builder.build-2", "builder@build-2"),
        at("tester.workstation", "tester@workstation"),
    ];
    let named = named(body, &invited, &"x".into());
    let shared = named.ambiguous.iter().map(|(word, _)| word.clone()).collect();
    (named.participants.iter().map(ToString::to_string).collect(), shared)
}

#[test]
fn a_name_with_its_computer_means_one_and_a_bare_name_that_two_bear_asks_back() {
    for body in ["@builder@workstation, look", "(@builder@workstation)", "@builder.workstation: x"]
    {
        assert_eq!(named_across(body), (vec!["builder.workstation".into()], vec![]), "{body:?}");
    }
    let both = named_across("@builder@build-2 and @tester");
    assert_eq!(both.0, ["builder.build-2", "tester.workstation"]);
    assert_eq!(named_across("@builder look"), (vec![], vec!["builder".to_owned()]));
    // A computer that nothing here is from, and an address of mail.
    assert!(named_across("@tester@laptop").0.is_empty());
    assert!(named_across("tester@workstation").0.is_empty());
    assert!(named_across("@tester@workstation.example").0.is_empty());
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
        found.iter().map(|id| words[id.as_str()[1..].parse::<usize>().unwrap()]).collect::<Vec<_>>()
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
        parse_names(words, &invited)
            .map(|meant| (meant.participants.iter().map(|id| id.to_string()).collect(), meant.rest))
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
    assert_eq!(read("bob's idea"), Err(NameError::Nobody("bob's".into())));
    assert_eq!(read("nosuch bob"), Err(NameError::Nobody("nosuch".into())));
    assert_eq!(read("bob @nosuch hi"), Err(NameError::Nobody("nosuch".into())));
    assert_eq!(
        read("Ann hi"),
        Err(NameError::Several("Ann".into(), vec!["a1".into(), "bob-3".into()]))
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
        "@", "@ann", "@Ann Lee", "@bob", "@all", "`", "```\n", "~~~\n", "> ", "://", "www.", "\n",
        "@İ", "@ß",
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
            found.broadcast.iter().all(|word| BROADCAST.contains(&word.to_lowercase().as_str())),
            "{:?}",
            found.broadcast
        );
        assert!(
            found.ambiguous.iter().all(|(word, ids)| !word.is_empty() && ids.len() > 1),
            "{:?}",
            found.ambiguous
        );
        let quoted: String = body.split(['\n', '\r']).map(|line| format!("> {line}\n")).collect();
        assert_eq!(
            named(&quoted, &invited, &speaker),
            Mentions::default(),
            "what is quoted names nobody"
        );
    });
}

fn corpus(target: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target)
}

#[test]
fn places_are_those_of_the_names_with_their_signs() {
    let invited = [
        who("a1", Some("Ann Lee"), "planner"),
        who("b-2", Some("Bob"), "qa"),
        who("bob-3", Some("Ann Bo"), "qa"),
    ];
    for (body, expected) in [
        ("**@bob** and [@a1](https://x.y)", vec![("@bob", 1), ("@a1", 1)]),
        ("交给＠ｂｏｂ处理", vec![("＠ｂｏｂ", 1)]),
        (
            "@\u{2068}Ann Lee\u{2069}, @bob/@a1",
            vec![("@\u{2068}Ann Lee", 1), ("@bob", 1), ("@a1", 1)],
        ),
        ("@qa: `@bob` @openai/codex \\@bob @nosuch @all", vec![("@qa", 2)]),
        ("@b\\-2, @bob @bob", vec![("@b\\-2", 1), ("@bob", 1), ("@bob", 1)]),
    ] {
        let found = named(body, &invited, &"x".into()).places;
        let found: Vec<_> = found
            .iter()
            .map(|place| (&body[place.range.clone()], place.participants.len()))
            .collect();
        assert_eq!(found, expected, "{body:?}");
    }
    assert_eq!(named("@bob @a1", &invited, &"b-2".into()).places.len(), 1, "oneself is not named");
    let many = named(&"@bob ".repeat(500), &invited, &"x".into());
    assert_eq!((many.places.len(), many.participants.len()), (PLACES_MAX, 1));
}

/// Reading all that follows each sign would take quadratic time for many signs.
#[test]
fn a_host_that_is_longer_than_a_host_may_be_is_read_no_further() {
    let host = |bytes: usize| format!("@bob@{}.org", "a".repeat(bytes));
    assert!(names(&host(200)).is_empty());
    assert_eq!(names(&host(600)), ["b-2"]);
}

#[test]
fn a_word_for_all_is_told_once_however_it_is_written() {
    let found = named("@Everyone @EVERYONE ＠ｅｖｅｒｙｏｎｅ @everyone @here", &[], &"u".into());
    assert_eq!(found.broadcast, ["Everyone", "here"]);
}

#[test]
fn the_first_name_that_no_participant_bears_is_kept_with_its_place() {
    let unknown = |body: &str| {
        let found = named(body, &[who("bob", None, "x")], &"u".into()).unknown;
        found.map(|unknown| (body[unknown.place].to_owned(), unknown.name))
    };
    for (body, place, name) in [
        ("@bob, @nora and @zoe", "@nora", "nora"),
        ("交给＠nora处理", "＠nora", "nora"),
        ("**@\u{2068}nora\u{2069}**.", "@\u{2068}nora", "nora"),
    ] {
        assert_eq!(unknown(body), Some((place.to_owned(), name.to_owned())), "{body:?}");
    }
    for (body, name) in [
        ("请@小名处理一下，好吗", "小名处理一下"),
        ("@小名さん、お願い", "小名"),
        ("@さくらに", "さくらに"),
        ("@ハナコさん", "ハナコ"),
        ("@สมชาย, ดู", "สมชาย"),
        ("@ສົມ ດີ", "ສົມ"),
        ("@အောင်၊", "အောင်"),
        ("@សុខ។", "សុខ"),
        ("@지은", "지은"),
        ("@민서에게", "민서"),
        ("@राम, सुनो", "राम"),
        ("@علي، تعال", "علي"),
        ("@דנה, בואי", "דנה"),
        ("@Zoe\u{308}, hi", "Zoe\u{308}"),
        ("@Мария, да", "Мария"),
        ("**@小名**处理", "小名"),
    ] {
        assert_eq!(unknown(body).map(|(_, name)| name).as_deref(), Some(name), "{body:?}");
    }
    for body in ["@bob", "@user", "@nora/codex", "`@nora`", "@", "@ nora", "x@nora.org"] {
        assert_eq!(unknown(body), None, "{body:?}");
    }
}

#[test]
fn a_wrong_name_in_a_script_without_spaces_is_as_long_as_the_nearest() {
    let invited = [who("a", Some("小明"), "x"), who("b", Some("สมชาย"), "x")];
    let near = |word: &str| {
        let near = nearest_in(word, &invited, &"u".into());
        near.map(|(id, length)| (id.to_string(), word[..length].to_owned()))
    };
    let found = |id: &str, name: &str| Some((id.to_owned(), name.to_owned()));
    assert_eq!(near("小名处理一下"), found("a", "小名"));
    assert_eq!(near("小名"), found("a", "小名"));
    assert_eq!(near("สมชานทำ"), found("b", "สมชาน"));
    assert_eq!(near("大家处理一下"), None);
}
