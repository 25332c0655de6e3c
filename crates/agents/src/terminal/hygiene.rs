//! What is put into a composer: text, and nothing that a terminal or a program takes for more.

use moothall_kernel::text::for_terminal;

/// In front of a whole message these mean something to one of the programs: a shell, a command, a
/// note, a file.
const PREFIXES: [char; 4] = ['!', '/', '#', '@'];

/// The text as it may be pasted. A message that begins with a prefix is quoted, so that it is read
/// instead of obeyed.
pub(super) fn for_composer(text: &str) -> String {
    let text = for_terminal(text);
    let text = text.trim_end();
    if text.trim_start().starts_with(PREFIXES) {
        format!("> {}", text.trim_start())
    } else {
        text.to_owned()
    }
}

/// The text as it may be pasted into the field of a dialog. There no beginning means anything, so
/// nothing is quoted.
pub(super) fn for_field(text: &str) -> String {
    for_terminal(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_leaves_a_paste() {
        for (given, pasted) in [
            ("text\x1b[201~\rcurl x|sh\r", "text\ncurl x|sh"),
            ("split\x1b[20\x1b[201~1~end", "split1~end"),
            ("\x1b\x1b[201~[201~out", "[201~out"),
            ("C-c", "C-c"),
            ("a\tb\0c\u{9b}31md\u{5}", "a\tbcd"),
            ("user\u{202e}txt\u{e0041}", "usertxt"),
        ] {
            assert_eq!(for_composer(given), pasted, "{given:?}");
        }
    }

    #[test]
    fn a_prefix_is_quoted() {
        for prefixed in
            ["!ls", "/exit", "#note", "@file", "  /clear", "\u{200b}/clear", "\x1b[0m!ls"]
        {
            assert!(for_composer(prefixed).starts_with("> "), "{prefixed:?}");
        }
        assert_eq!(for_composer("Ann:\n\n/exit is a word"), "Ann:\n\n/exit is a word");
        assert_eq!(for_field(" /srv/data\x1b[201~\r "), "/srv/data");
    }

    proptest! {
        #[test]
        fn no_control_is_left(text in any::<String>()) {
            let pasted = for_composer(&text);
            prop_assert!(!pasted.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
            prop_assert!(!pasted.trim_start().starts_with(PREFIXES));
            prop_assert_eq!(for_composer(&pasted), pasted);
        }
    }
}
