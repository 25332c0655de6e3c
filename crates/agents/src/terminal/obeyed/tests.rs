//! Each row is a text, and the token in it that the real program obeys. Such a token is *written
//! wide*: its first character is replaced by its full-width form, such as `＠` for `@`.
#![allow(clippy::unwrap_used)]

use std::{fs, slice};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Makes a user's home with a working directory and skills.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("work/secret.txt", ""),
        ("work/with blank.txt", ""),
        ("work/sub/deep_property.py", ""),
        ("work/node_modules/fixture/index.js", ""),
        ("outside.txt", ""),
        (".agents/skills/dogs/SKILL.md", "---\ndescription: d\nname: \"barks\"\n---\nname: no\n"),
        (".gemini/agents/a.md", "---\nname: critic\n---\n"),
    ] {
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    home
}

fn nearby(home: &TempDir) -> Nearby {
    let (work, home) = (Some(home.path().join("work")), Some(home.path().to_owned()));
    Nearby::of(Places { work, home, codex: None })
}

fn narrow(text: &str) -> String {
    let narrow = |c| char::from_u32(u32::from(c) - WIDE).unwrap_or(c);
    text.chars().map(|c| if ('！'..='～').contains(&c) { narrow(c) } else { c }).collect()
}

/// Returns the altered tokens of a text, and checks that the rest is unchanged.
fn altered(vendor: Vendor, text: &str, nearby: &Nearby) -> Vec<String> {
    let words = as_words(vendor, text, nearby);
    assert!(narrow(&words.text).starts_with(&narrow(text)), "{text:?}: {words:?}");
    assert_eq!(words.altered.is_empty(), words.text == text, "{text:?}");
    words.altered
}

#[test]
fn what_claude_code_obeys_is_written_wide_and_nothing_else() {
    let home = home();
    let nearby = nearby(&home);
    let outside = format!("@{}/outside.txt", home.path().display());
    for (text, token) in [
        ("see @secret.txt please", "@secret.txt"),
        ("see @secret.txt), too", "@secret.txt),"),
        ("@secret.txt#L1-2", "@secret.txt#L1-2"),
        ("- @./secret.txt", "@./secret.txt"),
        ("> @Secret.TXT", "@Secret.TXT"),
        ("見て。@secret.txt", "@secret.txt"),
        ("見て！@secret.txt", "@secret.txt"),
        ("\u{a0}@secret.txt\u{3000}x", "@secret.txt"),
        ("\u{feff}@sub/", "@sub/"),
        ("`a`\n@sub\n", "@sub"),
        ("@deep_property.py", "@deep_property.py"),
        ("@\"with blank.txt\"", "@\""),
        ("@\"no such @secret.txt\"", "@secret.txt\""),
        ("a @~/.ssh/id", "@~/.ssh/id"),
        ("a @../x", "@../x"),
        (&outside, &outside),
        ("@agent-general-purpose go", "@agent-general-purpose"),
        ("@\"critic (agent)\"", "@\""),
        ("@docs:file:///x", "@docs:file:///x"),
        ("/clear", "/clear"),
        ("\n /mcp__x__y z", "/mcp__x__y"),
        ("!ls", "!ls"),
        ("please ULTRATHINK!", "ULTRATHINK"),
    ] {
        assert_eq!(altered(Vendor::Claude, text, &nearby), [token], "{text:?}");
    }
    for text in [
        "@property\ndef f(): pass",
        "@@ -1,2 +1,2 @@ fn x",
        "me@secret.txt (@secret.txt) \"@secret.txt\" `@secret.txt` \\@secret.txt ＠secret.txt",
        "@app.route(\"/x\") @ben, @Component({selector: 'x'})",
        "#include <x>\n# heading\n&x ?",
        "/usr/bin/env is a path",
        "//x",
        "/* x */",
        "a /clear",
        "a !ls",
        "$PATH $1 ultrathinking multrathink",
        "@. @/no/such @\"no such\"",
    ] {
        assert!(altered(Vendor::Claude, text, &nearby).is_empty(), "{text:?}");
    }
}

#[test]
fn what_gemini_cli_obeys_is_written_wide_and_nothing_else() {
    let home = home();
    let nearby = nearby(&home);
    for (text, token) in [
        ("(@secret.txt)", "@secret.txt"),
        ("me@secret.txt.", "@secret.txt"),
        ("a@SECRET x", "@SECRET"),
        ("@property\n", "@property"),
        ("a @with\\ blank.txt", "@with\\ blank.txt"),
        ("a @\"with blank.txt\"", "@\"with blank.txt\""),
        ("a @../x", "@../x"),
        ("@* x", "@*"),
        ("@./ x", "@./"),
        ("@critic x", "@critic"),
        ("@codebase_investigator x", "@codebase_investigator"),
        ("@docs:x", "@docs:x"),
        ("\u{a0}/help", "/help"),
    ] {
        assert_eq!(altered(Vendor::Gemini, text, &nearby), [token], "{text:?}");
    }
    for text in [
        "@@ -1,2 +1,2 @@ fn x",
        "me@example.org, @dataclass(frozen=True), git@github.com:a/b",
        "\\@secret.txt ＠secret.txt @ secret.txt",
        "import x from '@/components/x'",
        "!ls",
        "// x",
        "/* x */",
        "/usr/bin/env",
        "ultrathink",
        "@. x",
    ] {
        assert!(altered(Vendor::Gemini, text, &nearby).is_empty(), "{text:?}");
    }
}

#[test]
fn what_codex_obeys_is_written_wide_and_nothing_else() {
    let home = home();
    let nearby = nearby(&home);
    for (text, token) in [
        ("use $barks, now", "$barks"),
        ("x$barks", "$barks"),
        ("\\$dogs", "$dogs"),
        ("`$barks:`", "$barks:"),
        ("$barks:more", "$barks:more"),
        ("[$zzz](/x/SKILL.md)", "$zzz"),
        ("/clear", "/clear"),
        ("! ls", "!"),
    ] {
        assert_eq!(altered(Vendor::Codex, text, &nearby), [token], "{text:?}");
    }
    for text in ["$PATH $1 ${barks} $Barks $no $$", "@secret.txt", "/usr/bin/env", "[$5](x) a"] {
        let expected: &[&str] = if text.contains('[') { &["$5"] } else { &[] };
        assert_eq!(altered(Vendor::Codex, text, &nearby), expected, "{text:?}");
    }
}

#[test]
fn what_cannot_be_found_out_counts_as_there() {
    let unknown = Nearby::of(Places::default());
    assert_eq!(altered(Vendor::Claude, "@ben x", &unknown), ["@ben"]);
    assert_eq!(altered(Vendor::Codex, "$x", &unknown), ["$x"]);
    assert_eq!(altered(Vendor::Other, "#x", &unknown), ["#x"]);
}

#[test]
fn an_agent_is_told_that_signs_are_written_wide() {
    let unknown = Nearby::of(Places::default());
    let words = as_words(Vendor::Claude, "a @b\n\n[moothall:0a1b2c3d]", &unknown);
    assert_eq!(
        words.text,
        "a ＠b\n\n(One sign is written wide above: your program would have obeyed what was said \
         there.)\n\n[moothall:0a1b2c3d]"
    );
}

/// Returns the typed form of one member's message, and the texts that go as files.
fn filed(vendor: Vendor, body: &str, nearby: &Nearby) -> (ComposerWords, Vec<String>) {
    let head = "Ada (1):\n\n";
    let text = format!("{head}{body}\n\n[moothall:0a1b2c3d]");
    let said = head.len()..head.len() + body.len();
    let blocks = changed(vendor, &text, slice::from_ref(&said), nearby);
    let texts = blocks.iter().map(|block| text[block.clone()].to_owned()).collect();
    let files: Vec<PathBuf> = (0..blocks.len()).map(|at| format!("/f/{at}").into()).collect();
    let words = with_files(vendor, &text, &blocks, &files, nearby)
        .unwrap_or_else(|| as_words(vendor, &text, nearby));
    assert!(words.text.ends_with("\n\n[moothall:0a1b2c3d]"), "{words:?}");
    (words, texts)
}

const FENCED: &str = "see @secret.txt and $barks\n```make\nall:\n\t@secret.txt\n```";
const PATCH: &str = "--- a\n+++ b\n@@ -1 +1,2 @@ x\n all:\n+a$barks  @secret.txt\n";

#[test]
fn a_block_that_the_program_would_change_goes_as_a_file() {
    let home = home();
    let nearby = nearby(&home);
    let (words, files) = filed(Vendor::Claude, FENCED, &nearby);
    assert_eq!(files, ["all:\n\t@secret.txt\n"]);
    assert_eq!((words.filed, words.altered), (2, vec!["@secret.txt".to_owned()]));
    assert_eq!(
        words.text,
        "Ada (1):\n\nsee ＠secret.txt and $barks\n```make\n(2 lines are in the file /f/0, byte for \
         byte: your program would change them. Read that file.)\n```\n\n(One sign is written wide \
         above: your program would have obeyed what was said there.)\n\n[moothall:0a1b2c3d]"
    );
    for vendor in [Vendor::Claude, Vendor::Codex] {
        let (words, files) = filed(vendor, PATCH, &nearby);
        assert_eq!((words.filed, files), (5, vec![PATCH.to_owned()]), "{vendor:?}");
        assert!(!words.text.contains("+++"), "{words:?}");
        let windows = "```\r\nx\r\n```\r\n";
        assert_eq!(filed(vendor, windows, &nearby).1, ["x\r\n"], "{vendor:?}");
    }
    let accent = "~~~\ne\u{301}\n";
    assert_eq!(filed(Vendor::Claude, accent, &nearby).0.filed, 1);
    assert_eq!(filed(Vendor::Codex, accent, &nearby).0.filed, 0);
}

#[test]
fn what_needs_no_file_stays_in_the_prompt() {
    let home = home();
    let nearby = nearby(&home);
    let (code, tabs) = ("```\n@property\n$PATH\n```", "all:\n\techo\n");
    for vendor in [Vendor::Claude, Vendor::Codex, Vendor::Gemini, Vendor::Other] {
        for body in [code, tabs, "```\n!ls\n```\n/clear", &PATCH.replace("$barks  @secret.txt", "")]
        {
            let (words, files) = filed(vendor, body, &nearby);
            assert!(files.is_empty() && words.text.contains(body), "{vendor:?}: {words:?}");
        }
    }
    assert!(filed(Vendor::Codex, &FENCED.replace("\t", "\t$no"), &nearby).1.is_empty());
    for vendor in [Vendor::Gemini, Vendor::Other] {
        assert!(filed(vendor, FENCED, &nearby).1.is_empty(), "it may not read a file");
    }
    assert_eq!(filed(Vendor::Gemini, PATCH, &nearby).0.altered, ["@secret.txt"]);
    let (words, all) = (as_words(Vendor::Claude, PATCH, &nearby), 0..PATCH.len());
    let with = |files: &[PathBuf]| {
        with_files(Vendor::Claude, PATCH, slice::from_ref(&all), files, &nearby)
    };
    let nowhere = with(&[]);
    assert!(nowhere.is_none() && words.text.contains("＠secret.txt"), "no file could be written");
    assert!(with(&["/f @secret.txt".into()]).is_none(), "its path would be obeyed");
}

/// A fence that one member leaves open does not take in the next member's words.
#[test]
fn a_block_ends_with_the_words_of_its_member() {
    let home = home();
    let text = "A:\n\n```\n\tx\n\nB:\n\n```\n\ty\n\n[moothall:0a1b2c3d]";
    let blocks = changed(Vendor::Claude, text, &[4..11, 16..23], &nearby(&home));
    let found: Vec<&str> = blocks.into_iter().map(|block| &text[block]).collect();
    assert_eq!(found, ["\tx\n", "\ty\n"]);
}

proptest! {
    #[test]
    fn nothing_that_is_obeyed_is_left(text in "([@$/!\\\\a:.~# \n。！\"]|ultrathink){0,24}") {
        let unknown = Nearby::of(Places::default());
        for vendor in [Vendor::Claude, Vendor::Codex, Vendor::Gemini, Vendor::Other] {
            let once = as_words(vendor, &text, &unknown);
            let again = as_words(vendor, &once.text, &unknown);
            prop_assert!(again.altered.is_empty(), "{vendor:?}: {text:?}: {again:?}");
        }
    }
}

/// Many tokens may begin in one long word, so each is read up to a limit.
#[test]
fn what_stands_far_behind_a_token_is_not_read_for_it() {
    for read in [tokens::of_claude, tokens::of_gemini] {
        for unit in ["@a。", "@../。", "@*,@", "@\"。", "@\\\"", "@x:y。", "@agent-", "@~", "@#"]
        {
            let long = unit.repeat(100_000);
            let of = |rest: &str| read(Position { before: None, rest: &format!("@{rest}") });
            let longer = long.clone() + "b c";
            assert_eq!(of(&long), of(&longer), "{unit}");
            let length = of(&long).map_or(0, |token| token.length);
            assert!(length <= tokens::PATH_BYTES_MAX + 1, "{unit}: {length}");
        }
    }
}

/// A program takes `./` and `..` out of a path before it opens it.
#[test]
fn a_path_that_is_too_long_counts_as_there() {
    let home = home();
    for path in [
        "./".repeat(2100) + "secret.txt",
        "/".repeat(4200) + "etc/passwd",
        format!("\"{}secret.txt\"", "./".repeat(2100)),
        format!("x{}/../secret.txt", "/.".repeat(2100)),
    ] {
        for vendor in [Vendor::Claude, Vendor::Gemini] {
            let text = format!("look at @{path} please");
            let words = as_words(vendor, &text, &nearby(&home));
            assert!(words.text.contains('＠'), "{vendor:?}: {}", &path[..8]);
        }
    }
}

#[test]
fn what_is_told_of_altered_tokens_grows_with_their_number_alone() {
    let home = home();
    for vendor in [Vendor::Claude, Vendor::Gemini] {
        let bytes_for = |tokens: usize| {
            let altered = altered(vendor, &"@../a。".repeat(tokens), &nearby(&home));
            assert_eq!(altered.len(), tokens, "{vendor:?}");
            altered.iter().map(String::len).sum::<usize>()
        };
        assert!(bytes_for(400) < 5 * bytes_for(100), "{vendor:?}");
    }
}
