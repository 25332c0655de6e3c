//! The arguments for a further run of a program: without its first prompt, and with its earlier
//! conversation if it has one.

use moothall_engine::sessions::ResumeArgs;

/// Longest id of a conversation, in bytes.
const NATIVE_BYTES_MAX: usize = 128;

/// The arguments of a program that matter for a further run.
pub(crate) struct ResumeSpec {
    /// The option that resumes the conversation of the id after it.
    pub(crate) word: &'static str,
    /// Texts that are in the program's last words if it does not know that id.
    pub(crate) forgets: &'static [&'static str],
    /// Options that stay in the further run, by the number of their values; names are separated by
    /// blanks.
    pub(crate) kept: &'static [(ValueCount, &'static str)],
    /// Options that hold a prompt or belong to one. Words that are not values of options are a
    /// prompt too.
    pub(crate) prompts: &'static [(ValueCount, &'static str)],
    /// Options that select the program's own conversation.
    pub(crate) earlier: &'static [(ValueCount, &'static str)],
}

/// The number of values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueCount {
    /// A flag without a value.
    None,
    /// One value, even if it looks like an option.
    One,
    /// One value, unless an option follows.
    Maybe,
    /// All words up to the next option.
    Many,
}

/// The role of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentPart {
    Kept,
    Prompt,
    Earlier,
    /// An option that is not in the tables: the word after it may be its value, or a prompt.
    Unknown,
}

/// True if a word can be a program's id of a conversation. The word becomes an argument, and a
/// malicious report could otherwise smuggle in an option.
pub(crate) fn is_native(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    id.len() <= NATIVE_BYTES_MAX
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_plain)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

impl ResumeSpec {
    /// Returns the arguments for the next run, derived from those of the first one. Prompts are
    /// left out, and unknown options with a word after them too. A valid `native` id replaces the
    /// options that select a conversation.
    pub(crate) fn again(&self, args: &[String], native: Option<&str>) -> ResumeArgs {
        let native = native.filter(|native| is_native(native));
        let mut again = ResumeArgs { resumes: native.is_some(), ..ResumeArgs::default() };
        let mut words = args.iter().cloned().peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                again.left_out.extend(words.by_ref());
                break;
            }
            let (part, takes) = self.of(&word);
            let mut all = vec![word];
            match takes {
                ValueCount::None => {}
                ValueCount::One => all.extend(words.next()),
                ValueCount::Maybe => all.extend(words.next_if(|next| !is_option(next))),
                ValueCount::Many => {
                    while let Some(value) = words.next_if(|next| !is_option(next)) {
                        all.push(value);
                    }
                }
            }
            match part {
                ArgumentPart::Earlier if native.is_some() => {}
                ArgumentPart::Kept | ArgumentPart::Earlier => again.args.extend(all),
                ArgumentPart::Unknown if all.len() == 1 => again.args.extend(all),
                ArgumentPart::Unknown | ArgumentPart::Prompt => again.left_out.extend(all),
            }
        }
        again.args.extend(native.into_iter().flat_map(|id| [self.word.to_owned(), id.to_owned()]));
        again
    }

    /// Returns the role of an argument, and the number of words after it that belong to it.
    fn of(&self, word: &str) -> (ArgumentPart, ValueCount) {
        let long = word.starts_with("--");
        let (name, has_value) = match word.split_once('=') {
            Some((name, _)) if long => (name, true),
            _ => (word, false),
        };
        if let Some((part, takes)) = self.named(name) {
            return (part, if has_value { ValueCount::None } else { takes });
        }
        // The value of a short option may follow in the same word.
        let short = word.get(..2).filter(|_| is_option(word) && !long && word.len() > 2);
        if let Some((part, takes)) = short.and_then(|short| self.named(short))
            && takes != ValueCount::None
        {
            return (part, ValueCount::None);
        }
        match is_option(word) {
            true if has_value => (ArgumentPart::Kept, ValueCount::None),
            true => (ArgumentPart::Unknown, ValueCount::Maybe),
            false => (ArgumentPart::Prompt, ValueCount::None),
        }
    }

    /// Returns the role of an argument of this exact name, and the number of its values; `None` if
    /// no table has it.
    fn named(&self, name: &str) -> Option<(ArgumentPart, ValueCount)> {
        let tables = [
            (ArgumentPart::Kept, self.kept),
            (ArgumentPart::Prompt, self.prompts),
            (ArgumentPart::Earlier, self.earlier),
        ];
        tables.into_iter().find_map(|(part, table)| {
            let row = table.iter().find(|(_, names)| names.split(' ').any(|one| one == name));
            row.map(|(takes, _)| (part, *takes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Vendor;

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

    /// Checks the arguments of a program's next run. `|` separates arguments, and `=>` separates
    /// them from those left out.
    fn check(vendor: Vendor, native: Option<&str>, cases: &[(&str, &str, &str)]) {
        let resuming = vendor.table().launch.resuming.unwrap();
        for (before, after, left_out) in cases {
            let split = |words: &str| -> Vec<String> {
                words.split('|').filter(|word| !word.is_empty()).map(str::to_owned).collect()
            };
            let again = resuming.again(&split(before), native);
            assert_eq!(again.args, split(after), "{vendor:?} {before}");
            assert_eq!(again.left_out, split(left_out), "{vendor:?} {before}");
            assert_eq!(again.resumes, native.is_some());
        }
    }

    #[test]
    fn an_earlier_conversation_gives_way() {
        check(
            Vendor::Claude,
            Some("n"),
            &[
                ("--model|opus", "--model|opus|--resume|n", ""),
                ("--resume|m|--model|opus", "--model|opus|--resume|n", ""),
                ("--resume|--model|opus", "--model|opus|--resume|n", ""),
                ("--resume=m|--verbose", "--verbose|--resume|n", ""),
                ("-c|--fork-session", "--resume|n", ""),
                ("--session-id|m|-r|m", "--resume|n", ""),
            ],
        );
        check(
            Vendor::Codex,
            Some("n"),
            &[
                ("-c|a=b|resume|m|go on", "-c|a=b|resume|n", "go on"),
                ("resume|--last", "resume|n", ""),
            ],
        );
        check(Vendor::Gemini, Some("n"), &[("-r|latest|-y", "-y|--resume|n", "")]);
    }

    #[test]
    fn a_program_that_begins_anew_is_given_the_conversation_that_it_was_given() {
        check(Vendor::Claude, None, &[("--resume|m|do it", "--resume|m", "do it")]);
        check(Vendor::Codex, None, &[("resume|m|do it", "resume|m", "do it")]);
    }

    #[test]
    fn a_prompt_is_said_once() {
        check(
            Vendor::Claude,
            None,
            &[
                ("do X", "", "do X"),
                ("--model|opus|do X", "--model|opus", "do X"),
                ("do X|--model|opus", "--model|opus", "do X"),
                (
                    "--allowedTools|Edit|Bash(git *)|--|do X",
                    "--allowedTools|Edit|Bash(git *)",
                    "do X",
                ),
                (
                    "--debug|--append-system-prompt|-x|do X",
                    "--debug|--append-system-prompt|-x",
                    "do X",
                ),
                ("--permission-mode=plan|do X", "--permission-mode=plan", "do X"),
            ],
        );
        check(
            Vendor::Codex,
            None,
            &[
                ("-m|o3|--search|do X", "-m|o3|--search", "do X"),
                ("-mo3|do X", "-mo3", "do X"),
                ("--image|a.png|b.png|--oss|do X", "--oss", "--image|a.png|b.png|do X"),
            ],
        );
        check(
            Vendor::Gemini,
            None,
            &[
                ("-i|do X|--yolo", "--yolo", "-i|do X"),
                ("--prompt-interactive=do X", "", "--prompt-interactive=do X"),
                ("--include-directories|a|do X", "--include-directories|a", "do X"),
            ],
        );
    }

    #[test]
    fn a_word_behind_an_unknown_option_may_be_a_prompt() {
        check(
            Vendor::Claude,
            None,
            &[
                ("--new-one|word|--verbose", "--verbose", "--new-one|word"),
                ("--new-one|--verbose", "--new-one|--verbose", ""),
                ("--new-one=word", "--new-one=word", ""),
            ],
        );
    }
}
