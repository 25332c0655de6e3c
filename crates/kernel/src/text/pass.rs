//! The pass: the output `[PASS]` alone, by which an agent stays silent.

/// The whole output of an agent that stays silent.
pub const PASS: &str = "[PASS]";

/// True if this output is a pass: `[PASS]` and nothing else. White space, a byte order mark,
/// emphasis, a closing dot and the case are ignored, because models write them.
pub fn is_pass(output: &str) -> bool {
    let (emphasis, rest) = opened(output);
    let Some((word, end)) = rest.split_at_checked(PASS.len()) else { return false };
    word.eq_ignore_ascii_case(PASS) && closes(end.trim_end_matches(is_blank), emphasis)
}

/// Longest beginning of an answer that is held back, in bytes. Blanks may never end.
const HELD_BYTES_MAX: usize = 1024;

/// True if streamed text may still become a pass, and must be held back.
pub fn may_become_pass(partial: &str) -> bool {
    if partial.len() > HELD_BYTES_MAX {
        return false;
    }
    let (emphasis, rest) = opened(partial);
    let Some((word, end)) = rest.split_at_checked(PASS.len()) else {
        return PASS.get(..rest.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(rest));
    };
    let end = end.trim_end_matches(is_blank);
    let longest = emphasis.len() + 1;
    word.eq_ignore_ascii_case(PASS)
        && end.len() <= longest
        && end.chars().all(|c| c == '.' || emphasis.contains(c))
}

/// Returns the emphasis at the beginning of a text, and the text after it.
fn opened(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(is_blank);
    let rest = text.trim_start_matches(['*', '_']);
    (&text[..text.len() - rest.len()], rest)
}

/// True if `end` closes the emphasis, with at most one dot inside or after it.
fn closes(end: &str, emphasis: &str) -> bool {
    let marks = end.strip_prefix('.').or_else(|| end.strip_suffix('.')).unwrap_or(end);
    marks.chars().eq(emphasis.chars().rev())
}

/// True for white space, and for the byte order mark, which Unicode does not count as white space.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_that_go_on_are_not_held_back() {
        for blank in [" ", "*", "\n"] {
            assert!(may_become_pass(&blank.repeat(HELD_BYTES_MAX)), "{blank:?}");
            assert!(!may_become_pass(&blank.repeat(HELD_BYTES_MAX + 1)), "{blank:?}");
        }
    }

    #[test]
    fn only_the_whole_output_counts() {
        for pass in [
            "  [PASS]\n",
            "[PASS].",
            "[pass]",
            "**[PASS]**",
            "**[PASS].**",
            "*[Pass]*.",
            "__[PASS]__ ",
            "**_[PASS]_**",
            "\u{feff}[PASS]",
        ] {
            assert!(is_pass(pass), "{pass:?}");
        }
        for speech in [
            "[PASS] but",
            "`[PASS]`",
            "【PASS】",
            "> [PASS]",
            "",
            "* [PASS]",
            "**[PASS]",
            "[PASS]..",
            "[PASS][PASS]",
            "PASS",
            "**",
        ] {
            assert!(!is_pass(speech), "{speech:?}");
        }
    }

    #[test]
    fn a_stream_is_held_back_until_it_cannot_be_a_pass() {
        for held in ["", " ", "[", "[pas", "[PASS]", "[PASS]  \n", "**", "**[P", "**[PASS]*"] {
            assert!(may_become_pass(held), "{held:?}");
        }
        for free in ["[PAT", "H", "[PASS]x", "**b", "* [", "[PASS]*", "[PASS] .."] {
            assert!(!may_become_pass(free), "{free:?}");
        }
    }
}
