//! Whether this runs inside a session: started by the program of one, however far away, or with
//! what a session's environment says.
//!
//! Whoever runs there is an agent, and a person's credential is not for it. That is a fence and no
//! wall: an agent of the same user can read the file that the credential is in.
//! (`docs/security.md`)

use std::fs;
use std::os::unix::process::parent_id;

use crate::config::Variables;

/// What only the environment of a session has.
const MARKS: [&str; 2] = ["MOOTHALL_SESSION", "MOOTHALL_SPOOL"];
/// The same for its token, which a client's configuration may leave as an empty or unfilled
/// variable where there is none.
const TOKEN: (&str, &str) = ("MOOTHALL_SESSION_TOKEN", "ses_");
/// Ancestors that are looked at; nobody has more.
const ANCESTORS_MAX: usize = 64;

/// Whether this program, or one that it descends from, was started in a session.
pub fn is_inside(variables: &Variables) -> bool {
    is_marked(variables) || ancestors().any(was_marked)
}

fn is_marked(variables: &Variables) -> bool {
    let says = |name: &str| variables.get(name).map(String::as_str);
    MARKS.iter().any(|mark| is_mark(mark, says(mark).unwrap_or_default()))
        || says(TOKEN.0).is_some_and(|token| token.starts_with(TOKEN.1))
}

/// Configurations of clients leave `$NAME` where a variable is not set.
fn is_mark(name: &str, value: &str) -> bool {
    MARKS.contains(&name) && !value.is_empty() && !value.starts_with('$')
}

/// The processes that this one descends from, as far as the system says; where it has no `/proc`,
/// none.
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

/// Whether a process was started with what marks a session. Of other users' processes it is not
/// known.
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
