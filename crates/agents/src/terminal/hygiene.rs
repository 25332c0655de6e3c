//! Text for a composer or a field, without anything that a terminal would interpret.

use moothall_kernel::text::{for_program, for_terminal};

/// Cleans text for a composer. Line breaks and white space at its end stay.
pub(super) fn for_composer(text: &str) -> String {
    for_program(text)
}

/// Cleans text for a field of a dialog.
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
            ("text\x1b[201~\rcurl x|sh\r", "text\ncurl x|sh\n"),
            ("split\x1b[20\x1b[201~1~end", "split1~end"),
            ("\x1b\x1b[201~[201~out", "[201~out"),
            ("C-c", "C-c"),
            ("a\r\n b \n\n", "a\r\n b \n\n"),
            ("a\tb\0c\u{9b}31md\u{5}", "a\tbcd"),
            ("user\u{202e}txt\u{e0041}", "usertxt"),
        ] {
            assert_eq!(for_composer(given), pasted, "{given:?}");
        }
    }

    proptest! {
        #[test]
        fn no_control_is_left(text in any::<String>()) {
            let pasted = for_composer(&text);
            let is_stray = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
            prop_assert!(!pasted.chars().any(is_stray));
            prop_assert_eq!(for_composer(&pasted), pasted);
        }
    }
}
