//! Properties of all texts, and the time that the worst ones take.

use proptest::prelude::*;

use super::tests::{join, squeeze};
use super::*;

/// Pieces of Markdown that mean something together.
const PIECES: [&str; 48] = [
    "a",
    "bc ",
    " ",
    "\n",
    "\n\n",
    "  ",
    "\t",
    "*",
    "**",
    "***",
    "_",
    "~~",
    "`",
    "``",
    "```",
    "```rust\n",
    "~~~",
    "> ",
    ">",
    "- ",
    "1. ",
    "- [ ] ",
    "- [x] ",
    "# ",
    "---",
    "|",
    "|-|-|\n",
    "[",
    "]",
    "](https://a.b)",
    "](c)",
    "(",
    ")",
    "![",
    "[^a]",
    "[^a]: ",
    "<",
    "<!--",
    "-->",
    "<b>",
    "https://a.b",
    "@ann",
    "&amp;",
    "&#8238;",
    "😀",
    "e\u{301}",
    "日本。",
    "\\",
];

fn markdown() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..80);
    prop_oneof![pieces.prop_map(|pieces| pieces.concat()), any::<String>()]
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![2..40usize, Just(TEXT_UNITS_MAX)]
}

/// Checks what Telegram asks of a message.
fn check(part: &Part, limit: usize) {
    let length = units(&part.text);
    assert!((1..=limit).contains(&length), "{part:?}");
    assert_eq!(part.text.trim(), part.text);
    assert!(part.entities.len() <= ENTITIES_MAX);
    let utf16: Vec<u16> = part.text.encode_utf16().collect();
    for (number, entity) in part.entities.iter().enumerate() {
        let (start, end) = ends(entity);
        assert!(start < end && end <= length, "{part:?}");
        let text = String::from_utf16(&utf16[start..end]).expect("an entity holds characters");
        assert_eq!(text.trim_end(), text);
        for inner in &part.entities[number + 1..] {
            check_pair(entity, inner, part);
        }
    }
}

fn ends(entity: &Entity) -> (usize, usize) {
    (entity.offset as usize, (entity.offset + entity.length) as usize)
}

/// Checks two entities, of which `inner` comes later.
fn check_pair(outer: &Entity, inner: &Entity, part: &Part) {
    let ((start, end), (inner_start, inner_end)) = (ends(outer), ends(inner));
    assert!(start <= inner_start, "sorted: {part:?}");
    if inner_start >= end {
        return;
    }
    assert!(inner_end <= end, "nested: {part:?}");
    assert_ne!(outer.kind, inner.kind, "{part:?}");
    let is_code = |kind| matches!(kind, EntityKind::Code | EntityKind::Pre);
    assert!(!is_code(outer.kind) && inner.kind != EntityKind::Blockquote, "{part:?}");
    assert!(!is_code(inner.kind) || outer.kind == EntityKind::Blockquote, "{part:?}");
}

proptest! {
    #[test]
    fn every_part_is_what_telegram_takes(
        markdown in markdown(), head in prop::option::of("[A-Z :]{0,12}"), limit in limit(),
    ) {
        let found = parts(&markdown, head.as_deref(), limit);
        prop_assert_eq!(found.is_empty(), markdown.trim().is_empty());
        found.iter().for_each(|part| check(part, limit));
        let whole = parts(&markdown, head.as_deref(), usize::MAX);
        prop_assert_eq!(join(&found), join(&whole), "a split loses nothing");
    }

    #[test]
    fn a_plain_text_is_whole(markdown in markdown(), limit in limit()) {
        let found = plain(&markdown, None, limit);
        found.iter().for_each(|part| check(part, limit));
        prop_assert!(found.iter().all(|part| part.entities.is_empty()));
        prop_assert_eq!(join(&found), squeeze(&markdown));
    }

    #[test]
    fn words_are_kept(words in "[a-z ,\n]{0,400}", limit in limit()) {
        prop_assert_eq!(join(&parts(&words, None, limit)), squeeze(&words));
    }
}

/// Bytes of a large message.
const LARGE: usize = 64 * 1024;

/// Returns a large text that repeats a unit.
fn large(unit: &str) -> String {
    unit.repeat(LARGE / unit.len())
}

#[test]
fn large_texts_take_linear_time() {
    let fence = format!("```\n{}", large("code\n"));
    let cells = format!("{}|\n{}|\n{}", "|a".repeat(9000), "|-".repeat(9000), "|\n".repeat(9000));
    let rows = format!("|{}|b|\n|-|-|\n{}", "a".repeat(9000), "||b\n".repeat(12_000));
    let nested: String = (0..360).map(|depth| format!("{}- a\n", " ".repeat(depth))).collect();
    let lazy = format!("{}a\n{}", "> ".repeat(30), "b\n".repeat(30_000));
    let targets = format!("[a]: https://{}\n\n{}", "b".repeat(20_000), "[a] ".repeat(10_000));
    let units = [
        "*a ",
        "*a_ ",
        "**a* ",
        "[",
        "![",
        "[a](",
        "[a](b)",
        "](",
        "`",
        "`a``",
        "<",
        "<a ",
        "<!--",
        "&",
        "&#",
        "\\",
        "~~a ",
        "> ",
        ">",
        "- ",
        "-",
        "1. ",
        "# a\n",
        "> a\n\n",
        "- a\n",
        "|",
        "|a",
        "a\n",
        "\n",
        " \n",
        "*a* ",
        "`a` ",
        "[^a]",
        "[^a]: b\n\n",
        "[a]: b\n",
        "***",
        "_a*",
        "e\u{301}",
        "\u{301}",
        "👩\u{200d}",
        "a",
        "a\n\n",
        "\t",
        "日本。",
    ];
    let texts = units.iter().map(|unit| large(unit));
    for text in texts.chain([fence, cells, rows, nested, lazy, targets]) {
        for limit in [300, TEXT_UNITS_MAX] {
            let found = parts(&text, Some("Ann:"), limit);
            assert!(found.iter().map(|part| part.text.len()).sum::<usize>() < 6 * LARGE);
        }
    }
}
