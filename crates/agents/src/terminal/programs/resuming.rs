//! The arguments with which a program goes on with an earlier conversation of its own.

/// Longest id of a conversation, in bytes.
const NATIVE_BYTES_MAX: usize = 128;

/// Options by which a program was told before which conversation is its own, and whether the id is
/// a word of its own.
const EARLIER: [(&str, bool); 3] =
    [("--resume", true), ("--session-id", true), ("--continue", false)];

/// Returns true if a word can be a program's id of a conversation. It becomes an argument, and an
/// agent that reports another word could give its program an option.
pub(crate) fn is_native(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    id.len() <= NATIVE_BYTES_MAX
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_plain)
}

/// Returns these arguments with that of the conversation in place of those that named one.
pub(crate) fn resumed(args: &[String], flag: &str, native: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or_default();
        let earlier = EARLIER.iter().find(|(option, _)| *option == name);
        match earlier.copied().or((word == flag).then_some((flag, true))) {
            None => kept.push(word.clone()),
            Some((_, takes_id)) => {
                let is_id = |next: &&String| takes_id && word == name && !next.starts_with('-');
                words.next_if(is_id);
            }
        }
    }
    kept.extend([flag.to_owned(), native.to_owned()]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_option() {
        for id in ["0198c0de-1882-7688-9084-190c02344864", "own", "a.b_c"] {
            assert!(is_native(id), "{id}");
        }
        let long = "a".repeat(NATIVE_BYTES_MAX + 1);
        for word in ["--dangerously-skip-permissions", "-y", "", " ", "a b", "../x", "é", &long] {
            assert!(!is_native(word), "{word}");
        }
    }

    #[test]
    fn an_earlier_conversation_gives_way() {
        for (before, after) in [
            ("--model opus", "--model opus --resume n"),
            ("--resume m --model opus", "--model opus --resume n"),
            ("--resume --model opus", "--model opus --resume n"),
            ("--resume=m -x", "-x --resume n"),
            ("--session-id m --continue a", "a --resume n"),
        ] {
            let args: Vec<String> = before.split(' ').map(str::to_owned).collect();
            assert_eq!(resumed(&args, "--resume", "n").join(" "), after, "{before}");
        }
        let args = ["-c".to_owned(), "resume".to_owned(), "m".to_owned()];
        assert_eq!(resumed(&args, "resume", "n"), ["-c", "resume", "n"]);
    }
}
