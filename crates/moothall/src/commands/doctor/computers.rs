//! Checks of the other computers, and of the post by which they reach each other.

use std::time::Duration;

use moothall_surfaces::wire::{ComputerEntry, ComputerList, PostEntry};
use tokio::time::timeout;

use super::channels::with_cure;
use super::{Finding, Verdict};
use crate::client::Client;

/// Longest wait for the list. The server waits some seconds for a Redis that does not answer.
const LIST_WITHIN: Duration = Duration::from_secs(15);
/// Difference of two clocks from which it is worth a word, in milliseconds.
const CLOCKS_APART: u64 = 60_000;

/// Returns the findings about the post and each computer. Empty without pairs, and if the caller
/// may not list them.
pub async fn examine(client: &Client) -> Vec<Finding> {
    let Ok(Ok(list)) = timeout(LIST_WITHIN, client.get::<ComputerList>("/computers")).await else {
        return Vec::new();
    };
    let mut findings: Vec<Finding> = list.post.iter().map(of_post).collect();
    findings.extend(list.computers.iter().map(of_computer));
    findings
}

fn of_post(post: &PostEntry) -> Finding {
    let eviction = post.eviction.as_ref().map_or_else(String::new, |it| format!(", {it}"));
    let (verdict, found) = match (&post.fault, post.round_trip_ms) {
        (Some(fault), _) => (Verdict::Warn, format!("{}: {fault}", post.address)),
        (None, Some(time)) => {
            let verdict = if post.cure.is_some() { Verdict::Warn } else { Verdict::Ok };
            (verdict, format!("{}: a round trip takes {time} ms{eviction}", post.address))
        }
        (None, None) => (Verdict::Info, format!("{}{eviction}", post.address)),
    };
    with_cure(Finding::new("post", verdict, found), post.cure.as_deref())
}

fn of_computer(computer: &ComputerEntry) -> Finding {
    let verdict = match computer.state.as_str() {
        "up" => Verdict::Ok,
        "refused" => Verdict::Warn,
        _ => Verdict::Info,
    };
    let this = if computer.this { " (this one)" } else { "" };
    let apart = computer.clock_ahead_ms.filter(|ahead| ahead.unsigned_abs() >= CLOCKS_APART);
    let clock = apart.map_or_else(String::new, |ahead| {
        let direction = if ahead > 0 { "ahead" } else { "behind" };
        format!("; its clock is {} s {direction}", ahead.unsigned_abs() / 1_000)
    });
    let found = format!("{}{this} is {}{clock}", computer.name, computer.state);
    with_cure(Finding::new("computer", verdict, found), computer.cure.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computer(clock_ahead_ms: i64) -> ComputerEntry {
        ComputerEntry {
            name: "workstation".into(),
            id: "1abc".into(),
            this: false,
            state: "up".into(),
            version: None,
            last_seen: None,
            clock_ahead_ms: Some(clock_ahead_ms),
            cure: None,
        }
    }

    #[test]
    fn a_clock_that_differs_is_shown_and_judged_by_nothing() {
        for (ahead, said) in [
            (600_000, "workstation is up; its clock is 600 s ahead"),
            (-600_000, "workstation is up; its clock is 600 s behind"),
            (59_999, "workstation is up"),
        ] {
            let finding = of_computer(&computer(ahead));
            assert_eq!((finding.verdict, finding.found.as_str()), (Verdict::Ok, said));
        }
    }
}
