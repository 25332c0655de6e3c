//! The tag behind the words that are typed into a terminal: when the program says what it took, the
//! tag says whose it was.

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

/// The tags in a prompt, each alone on its line: a program may have put words before or behind what
/// was typed. One in the middle of a line does not count.
pub(super) fn tags_in(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split(['\n', '\r']).map(str::trim).filter(|line| is_tag(line))
}

fn is_tag(line: &str) -> bool {
    let digits = line.strip_prefix(OPENS).and_then(|rest| rest.strip_suffix(']'));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use moothall_kernel::ids::TurnNo;

    #[test]
    fn a_line_of_its_own_says_whose_a_prompt_is() {
        let key = TurnKey { stream: "s".into(), turn: TurnNo(3), attempt: 1 };
        let tag = tag_of(&key);
        let found = |prompt: &str| tags_in(prompt).map(str::to_owned).collect::<Vec<_>>();
        let prompt = tagged("Ada:\n\nhello\n", &tag);
        for around in [prompt.clone(), format!("{prompt}\r\n \n"), format!("a\n{prompt}\nfile")] {
            assert_eq!(found(&around), [&*tag], "{around}");
        }
        for other in ["hello [moothall:0a1b2c3d]", "[moothall:zzzzzzzz]", "[moothall:0a1b2c3d] x"] {
            assert!(found(other).is_empty(), "{other}");
        }
        assert_ne!(tag_of(&TurnKey { attempt: 2, ..key }), tag);
    }
}
