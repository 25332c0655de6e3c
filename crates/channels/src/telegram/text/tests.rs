//! What each rule makes of Markdown.

use super::*;

/// Returns the text of a message with its entities written around it, such as `<bold>a</bold>`.
fn drawn(part: &Part) -> String {
    let utf16: Vec<u16> = part.text.encode_utf16().collect();
    let mut out = String::new();
    for at in 0..=utf16.len() {
        let ends_at = |entity: &&Entity| (entity.offset + entity.length) as usize == at;
        for entity in part.entities.iter().rev().filter(ends_at) {
            out.push_str(&format!("</{}>", name(entity)));
        }
        for entity in part.entities.iter().filter(|entity| entity.offset as usize == at) {
            let argument = entity.url.iter().chain(&entity.language).map(|of| format!(" {of}"));
            out.push_str(&format!("<{}{}>", name(entity), argument.collect::<String>()));
        }
        if let Some(unit) = utf16.get(at) {
            let is_second = (0xdc00..0xe000).contains(unit);
            let from = at - usize::from(is_second);
            let is_first = (0xd800..0xdc00).contains(unit);
            if !is_first {
                out.push_str(&String::from_utf16(&utf16[from..=at]).unwrap());
            }
        }
    }
    out
}

fn name(entity: &Entity) -> String {
    serde_json::to_value(entity.kind).unwrap().as_str().unwrap().to_owned()
}

/// Returns what one message shows of Markdown.
fn shown(markdown: &str) -> String {
    let parts = parts(markdown, None, TEXT_UNITS_MAX);
    assert_eq!(parts.len(), 1, "{markdown:?}: {parts:?}");
    drawn(&parts[0])
}

#[test]
fn styles_become_entities() {
    for (markdown, expected) in [
        (
            "a **b** _c_ ~~d~~",
            "a <bold>b</bold> <italic>c</italic> <strikethrough>d</strikethrough>",
        ),
        ("***a** b*", "<italic><bold>a</bold> b</italic>"),
        ("**a **b** c**", "<bold>a b c</bold>"),
        ("# A **b**\n## C\nd", "<bold>A b</bold>\n<bold>C</bold>\nd"),
        ("a\nb  \nc\\\nd", "a\nb\nc\nd"),
        ("a\r\nb\r\n\r\nc", "a\nb\n\nc"),
        ("😀 **b**", "😀 <bold>b</bold>"),
        ("a\n\n---\n\nb", "a\n\n————————\n\nb"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn code_stands_alone_or_in_a_quote() {
    for (markdown, expected) in [
        ("a `b` c", "a <code>b</code> c"),
        ("**a `b` c**", "<bold>a</bold> <code>b</code><bold> c</bold>"),
        ("[a `b`](https://c.d)", "<text_link https://c.d>a b</text_link>"),
        ("> a `b`", "<blockquote>a <code>b</code></blockquote>"),
        ("```rust,ignore x\nlet a;\n\n```\nb", "<pre rustignore>let a;</pre>\n\nb"),
        ("a\n\n    b\n      c\n", "a\n\n<pre>b\n  c</pre>"),
        ("```\r\na\r\nb\r\n```", "<pre>a\nb</pre>"),
        ("- a\n  ```sh\n  b\n   c\n  ```\n- d", "• a\n\n<pre sh>b\n c</pre>\n• d"),
        ("- ```\n  a\n  ```", "• \n<pre>a</pre>"),
        ("a `**b**` \\*c\\*", "a <code>**b**</code> *c*"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn quotes_do_not_nest() {
    for (markdown, expected) in [
        ("> a\n> b\n\nc", "<blockquote>a\nb</blockquote>\n\nc"),
        ("> a\n>\n> b", "<blockquote>a\n\nb</blockquote>"),
        ("> a\n>> b\n>> c", "<blockquote>a\n\n> b\n> c</blockquote>"),
        ("> > a", "<blockquote>> a</blockquote>"),
        ("> - a\n>   - b", "<blockquote>• a\n  • b</blockquote>"),
        ("> ```\n> a\n> ```", "<blockquote><pre>a</pre></blockquote>"),
        ("> **a**", "<blockquote><bold>a</bold></blockquote>"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn lists_are_lines() {
    for (markdown, expected) in [
        ("- a\n- b\n  - c\n    d\n- e\n\nf", "• a\n• b\n  • c\n    d\n• e\n\nf"),
        ("3. a\n4. b\n   - c", "3. a\n4. b\n   • c"),
        ("- a\n\n  b\n\n- c", "• a\n\n  b\n• c"),
        ("- [ ] a\n- [x] b\n1. [X] c", "☐ a\n☑ b\n\n1. ☑ c"),
        ("- a\n-\n- b", "• a\n• \n• b"),
        ("- - a\n  - b", "• • a\n  • b"),
        ("a\n- b", "a\n\n• b"),
        ("a[^n] b[^x]\n\n[^n]: once", "a[n] b[^x]\n\n[n] once"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn tables_are_aligned() {
    for (markdown, expected) in [
        (
            "|Name|n|\n|:-|-:|\n|**a**|10|\n|日本|9|",
            "<pre>Name |  n\n-----+---\na    | 10\n日本 |  9</pre>",
        ),
        ("|a|b|\n|-|:-:|\n|c|ddd|\n|e|", "<pre>a |  b\n--+----\nc | ddd\ne |</pre>"),
        (
            "|[a](https://b.c)|<https://d.e>|\n|-|-|",
            "<pre>a (https://b.c) | https://d.e\n----------------+------------</pre>",
        ),
        ("> |a|\n> |-|", "<blockquote><pre>a\n-</pre></blockquote>"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
    let wide = format!("|{}|b|\n|-|-|\n|c|d|", "a".repeat(100));
    assert!(shown(&wide).ends_with(&format!("\nc{} | d</pre>", " ".repeat(39))), "{wide}");
}

#[test]
fn links_open_or_show_their_target() {
    for (markdown, expected) in [
        ("[a](https://b.c)", "<text_link https://b.c>a</text_link>"),
        ("[a](HTTP://b.c 'd')", "<text_link HTTP://b.c>a</text_link>"),
        ("[a](tg://resolve?domain=b)", "<text_link tg://resolve?domain=b>a</text_link>"),
        ("[a](mailto:b@c.d)", "a (mailto:b@c.d)"),
        ("[a][b]\n\n[b]: https://c.d", "<text_link https://c.d>a</text_link>"),
        ("<https://b.c> <b@c.d>", "<text_link https://b.c>https://b.c</text_link> b@c.d"),
        ("[**a** b](https://c.d)", "<text_link https://c.d><bold>a</bold> b</text_link>"),
        ("**[a](https://b.c)**", "<text_link https://b.c><bold>a</bold></text_link>"),
        ("[a](javascript:b) [c](d.md)", "a (javascript:b) c (d.md)"),
        ("[d.md](d.md) [a](<https://b c>) [a]()", "d.md a (https://b c) a"),
        ("[](https://b.c) [](d.md)", "<text_link https://b.c>https://b.c</text_link> d.md"),
        ("![a](https://b.c/d.png)", "<text_link https://b.c/d.png>a</text_link>"),
        ("![](https://b.c)", "<text_link https://b.c>https://b.c</text_link>"),
        ("[![a](https://b.c)](https://d.e)", "<text_link https://d.e>a</text_link>"),
        ("[a `b`](c.md)", "a <code>b</code> (c.md)"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn a_text_cannot_ping() {
    for target in ["tg://user?id=1", "tg:user?id=1", "TG://USER/?id=1", "tg://emoji?id=1"] {
        assert_eq!(shown(&format!("[a]({target})")), format!("a ({target})"));
    }
    assert_eq!(shown("@everyone **@ann**"), "@everyone <bold>@ann</bold>");
}

#[test]
fn html_is_its_text() {
    for (markdown, expected) in [
        ("<!-- a -->", "<!-- a -->"),
        ("a <b>c</b><br>", "a <b>c</b><br>"),
        ("<div>\n\n**a**\n\n</div>", "<div>\n\n<bold>a</bold>\n\n</div>"),
        ("> <p>\n> a\n> </p>", "<blockquote><p>\na\n</p></blockquote>"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn character_references_bring_no_hidden_characters() {
    for (markdown, expected) in [
        ("a &amp; &lt;b&gt; &#x1F600;", "a & <b> 😀"),
        ("a&#8238;b&#x202E;c", "a&#8238;b&#x202E;c"),
        ("a&#10;b&NewLine;c&#27;[2J&zwj;", "a&#10;b&NewLine;c&#27;[2J&zwj;"),
        ("[a](https://b.c/&#8238;)", "a (https://b.c/\\u{202e})"),
    ] {
        assert_eq!(shown(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn markdown_that_draws_nothing_is_sent_as_it_is() {
    for markdown in ["[a]: https://b.c", "```\n```", "#", "&#32;"] {
        assert_eq!(shown(markdown), markdown);
    }
    for blank in ["", " \n\t\r\n"] {
        assert_eq!(parts(blank, Some("Ann:"), 10), []);
        assert_eq!(plain(blank, None, 10), []);
    }
}

#[test]
fn markdown_that_nests_too_deep_is_sent_as_it_is() {
    let deep = format!("{}a", "> ".repeat(40));
    assert_eq!(shown(&deep), deep);
}

#[test]
fn a_text_that_grows_too_much_is_sent_as_it_is() {
    let header = format!("|{}|b|\n|-|-|\n", "a".repeat(40));
    let grown = header + &"||b\n".repeat(1000);
    assert_eq!(join(&parts(&grown, None, TEXT_UNITS_MAX)), squeeze(&grown));
}

#[test]
fn a_head_is_the_first_line() {
    let with_head = |markdown, limit| {
        parts(markdown, Some(" Ann (page): "), limit).iter().map(drawn).collect::<Vec<_>>()
    };
    assert_eq!(with_head("**a**\n\nb", 100), ["<bold>Ann (page):</bold>\n<bold>a</bold>\n\nb"]);
    assert_eq!(with_head("abcdefghij", 15), ["<bold>Ann (page):</bold>\nabc", "defghij"]);
    assert_eq!(
        with_head("ab", 6),
        ["<bold>Ann</bold>", "<bold>(page)</bold>", "<bold>:</bold>\nab"]
    );
    let plain = plain("**a**", Some("Ann:"), 100);
    assert_eq!(plain, [Part { text: "Ann:\n**a**".into(), entities: vec![] }]);
    assert_eq!(parts("a", Some(" "), 10)[0].text, "a");
}

#[test]
fn a_text_is_split_at_the_best_border() {
    for (markdown, limit, expected) in [
        ("aa bb\n\ncc\ndd", 9, vec!["aa bb", "cc\ndd"]),
        ("aa bb\ncc dd", 9, vec!["aa bb", "cc dd"]),
        ("a. b c d", 7, vec!["a.", "b c d"]),
        ("a 1.5 b c", 8, vec!["a 1.5 b", "c"]),
        ("これ。次は", 4, vec!["これ。", "次は"]),
        ("aa bb cc", 6, vec!["aa bb", "cc"]),
        ("aa bb cc", 5, vec!["aa bb", "cc"]),
        ("abcdef", 4, vec!["abcd", "ef"]),
        ("a😀😀", 4, vec!["a😀", "😀"]),
        ("ae\u{301}e\u{301}", 4, vec!["ae\u{301}", "e\u{301}"]),
        ("a\u{301}\u{301}\u{301}", 2, vec!["a\u{301}", "\u{301}\u{301}"]),
        ("- a\n  - b\n- c\n  - d", 15, vec!["• a\n  • b", "• c\n  • d"]),
        ("aaa **b c** d", 6, vec!["aaa", "<bold>b c</bold> d"]),
        ("> a\n>\n> b\n\nccc", 6, vec!["<blockquote>a\n\nb</blockquote>", "ccc"]),
        ("# a\nb c d", 7, vec!["<bold>a</bold>\nb c d"]),
    ] {
        let found: Vec<String> = parts(markdown, None, limit).iter().map(drawn).collect();
        assert_eq!(found, expected, "{markdown:?} {limit}");
    }
}

#[test]
fn long_blocks_are_split_at_lines_and_keep_their_kind() {
    let lines = (0..2000).map(|n| format!("line {n}\n")).collect::<String>();
    let code = format!("Here:\n\n```rust\n{lines}```\n\nDone.");
    let found = parts(&code, None, TEXT_UNITS_MAX);
    assert_eq!(found[0].text, "Here:");
    assert!(found.len() <= 7, "{}", found.len());
    for part in &found[1..found.len() - 1] {
        assert!(part.text.lines().all(|line| line.starts_with("line ")), "{part:?}");
        let [pre] = &part.entities[..] else { panic!("{:?}", part.entities) };
        assert_eq!((pre.kind, pre.offset), (EntityKind::Pre, 0));
        assert_eq!(pre.language.as_deref(), Some("rust"));
    }
    let list = (0..2000).map(|n| format!("- item {n}\n")).collect::<String>();
    for part in parts(&list, None, TEXT_UNITS_MAX) {
        assert!(part.text.lines().all(|line| line.starts_with("• item ")), "{part:?}");
    }
}

#[test]
fn entities_beyond_the_maximum_are_plain() {
    let found = parts(&"**a** b ".repeat(150), None, TEXT_UNITS_MAX);
    assert_eq!(found[0].entities.len(), ENTITIES_MAX);
    assert_eq!(found[0].text.len(), 150 * 4 - 1);
}

#[test]
fn entities_have_the_form_of_the_bot_api() {
    let found = parts("[😀](https://a.b)\n```c\nd\n```", None, TEXT_UNITS_MAX);
    let expected = serde_json::json!([
        {"type": "text_link", "offset": 0, "length": 2, "url": "https://a.b"},
        {"type": "pre", "offset": 4, "length": 1, "language": "c"},
    ]);
    assert_eq!(serde_json::to_value(&found[0].entities).unwrap(), expected);
}

#[test]
fn units_are_those_of_utf_16() {
    assert_eq!((units(""), units("aé日"), units("😀")), (0, 3, 2));
}

/// Returns the texts of messages together, without their white space.
pub(super) fn join(parts: &[Part]) -> String {
    squeeze(&parts.iter().map(|part| part.text.as_str()).collect::<String>())
}

/// Returns a text without its white space.
pub(super) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
