//! How an agent says nothing: `[PASS]`, and only that.

/// The whole output of an agent that stays silent.
pub const PASS: &str = "[PASS]";

/// Whether this output is a pass: `[PASS]` and nothing else, apart from white space around it.
pub fn is_pass(output: &str) -> bool {
    output.trim() == PASS
}

/// Whether streamed text could still turn out to be a pass, and so must be held back.
pub fn may_become_pass(partial: &str) -> bool {
    let head = partial.trim_start();
    PASS.starts_with(head) || head.strip_prefix(PASS).is_some_and(|rest| rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_output_counts() {
        assert!(is_pass("  [PASS]\n"));
        for speech in ["[PASS] but", "`[PASS]`", "[pass]", "【PASS】", "> [PASS]", ""] {
            assert!(!is_pass(speech), "{speech:?}");
        }
    }

    #[test]
    fn a_stream_is_held_back_until_it_cannot_be_a_pass() {
        for held in ["", " ", "[", "[PAS", "[PASS]", "[PASS]  \n"] {
            assert!(may_become_pass(held), "{held:?}");
        }
        for free in ["[PAT", "H", "[PASS]x"] {
            assert!(!may_become_pass(free), "{free:?}");
        }
    }
}
