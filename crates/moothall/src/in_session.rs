//! Detects a process inside a session, by its environment or by an ancestor's environment.
//!
//! A process inside a session belongs to an agent and must not use a person's credential. The rule
//! is a convention, not a security boundary: an agent of the same user can read the credential's
//! file. (`docs/security.md`)

use std::fs;
use std::os::unix::process::parent_id;

use crate::config::Variables;

/// Variables that only a session sets.
const MARKS: [&str; 2] = ["MOOTHALL_SESSION", "MOOTHALL_SPOOL"];
/// Variable and prefix of a session's token. A client's configuration may leave the variable empty
/// or unexpanded, so the prefix is checked.
const TOKEN: (&str, &str) = ("MOOTHALL_SESSION_TOKEN", "ses_");
/// Maximum number of ancestors examined.
const ANCESTORS_MAX: usize = 64;

/// True if this process or an ancestor was started in a session.
pub fn is_inside(variables: &Variables) -> bool {
    is_marked(variables) || ancestors().any(was_marked)
}

fn is_marked(variables: &Variables) -> bool {
    let says = |name: &str| variables.get(name).map(String::as_str);
    MARKS.iter().any(|mark| is_mark(mark, says(mark).unwrap_or_default()))
        || says(TOKEN.0).is_some_and(|token| token.starts_with(TOKEN.1))
}

/// True if the variable is one of [`MARKS`] and has a value. The text `$NAME` does not count: a
/// client leaves it there if the variable is not set.
fn is_mark(name: &str, value: &str) -> bool {
    MARKS.contains(&name) && !value.is_empty() && !value.starts_with('$')
}

/// Returns the ancestors of this process; without `/proc`, only its parent.
fn ancestors() -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("PPid:"))
            .and_then(|pid| pid.trim().parse().ok())
    };
    std::iter::successors(Some(parent_id()), parent).take_while(|pid| *pid > 1).take(ANCESTORS_MAX)
}

/// True if a process was started with a session's mark in its environment. False if this process
/// may not read that environment, as for a process of another user.
fn was_marked(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut pairs = environment
        .split(|byte| *byte == 0)
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='));
    pairs.any(|(name, value)| is_mark(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_its_environment() {
        let with = |name: &str, value: &str| {
            is_marked(&Variables::from([(name.to_owned(), value.to_owned())]))
        };
        assert!(
            with("MOOTHALL_SESSION", "0198")
                && with("MOOTHALL_SPOOL", "/data/spool/0198")
                && with("MOOTHALL_SESSION_TOKEN", "ses_x")
        );
        assert!(!with("MOOTHALL_SESSION", "") && !with("MOOTHALL_SPOOL", "$MOOTHALL_SPOOL"));
        assert!(!with("MOOTHALL_SESSION_TOKEN", "") && !with("MOOTHALL_URL", "http://127.0.0.1:1"));
    }
}
