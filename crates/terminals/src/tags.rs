//! The tag at the end of a prompt that is typed into a terminal: when the program says what it
//! took, the tag says whose it was.

use moothall_engine::agent::TurnKey;

const OPENS: &str = "[moothall:";
const DIGITS: usize = 8;

/// The tag of an attempt of a turn. It is the same after a restart.
pub(super) fn tag_of(key: &TurnKey) -> String {
    let hash =
        blake3::hash(format!("{}/{}/{}", key.stream, key.turn, key.attempt).as_bytes()).to_hex();
    format!("{OPENS}{}]", &hash[..DIGITS])
}

/// The words with their tag on a line of its own.
pub(super) fn tagged(words: &str, tag: &str) -> String {
    let gap = if words.ends_with("\n\n") {
        ""
    } else if words.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    format!("{words}{gap}{tag}")
}

/// The tag that ends a prompt. One inside a body stands elsewhere and does not count.
pub(super) fn tag_in(prompt: &str) -> Option<&str> {
    let prompt = prompt.trim_end();
    let at = prompt.rfind(OPENS)?;
    let tag = &prompt[at..];
    let digits = tag.strip_prefix(OPENS)?.strip_suffix(']')?;
    (digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moothall_kernel::ids::TurnNo;

    #[test]
    fn only_the_end_of_a_prompt_says_whose_it_is() {
        let key = TurnKey { stream: "s".into(), turn: TurnNo(3), attempt: 1 };
        let tag = tag_of(&key);
        let prompt = tagged("Ada:\n\n  [moothall:00000000]\nhello\n", &tag);
        assert_eq!(tag_in(&prompt), Some(&*tag));
        assert_eq!(tag_in(&format!("{prompt}\n \n")), Some(&*tag));
        assert_eq!(tag_in(&format!("{prompt}\nand more")), None);
        assert_eq!(tag_in("hello [moothall:zzzzzzzz]"), None);
        assert_ne!(tag_of(&TurnKey { attempt: 2, ..key }), tag);
    }
}
