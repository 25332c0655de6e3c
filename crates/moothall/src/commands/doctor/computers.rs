//! Checks of the paired computers, and of the post, over which they reach each other.

use std::time::Duration;

use moothall_surfaces::wire::{ComputerEntry, ComputerList, PostEntry};
use tokio::time::timeout;

use super::channels::with_cure;
use super::{Finding, Verdict};
use crate::client::Client;
use crate::commands::computers::owed;

const POST: &str = "post";
/// Longest wait for the list. The server waits some seconds for a Redis that does not answer.
const LIST_WITHIN: Duration = Duration::from_secs(15);

/// Returns the findings about the post and about each computer. Empty without pairs, if the server
/// does not answer in time, or if the caller may not list computers.
pub async fn examine(client: &Client) -> Vec<Finding> {
    let Ok(Ok(list)) = timeout(LIST_WITHIN, client.get::<ComputerList>("/computers")).await else {
        return Vec::new();
    };
    // The post is not used while the computers are off.
    let is_off = list.computers.iter().any(|computer| computer.state == "off");
    let post = list.post.as_ref().filter(|_| !is_off);
    let mut findings = post.map(of_post).unwrap_or_default();
    findings.extend(list.computers.iter().map(of_computer));
    findings
}

/// Returns the findings about the post: its answer, its full memory, and its restart. If the post
/// has a fault, returns only the finding about the fault.
fn of_post(post: &PostEntry) -> Vec<Finding> {
    let answers = match (&post.fault, post.round_trip_ms) {
        (Some(fault), _) => {
            let found = format!("{}: {fault}", post.address);
            return vec![Finding::new(POST, Verdict::Warn, found)];
        }
        (None, Some(time)) => {
            let found = format!("{}: a round trip takes {time} ms", post.address);
            Finding::new(POST, Verdict::Ok, found)
        }
        (None, None) => Finding::new(POST, Verdict::Info, post.address.clone()),
    };
    vec![answers, of_memory(post), of_restart(post)]
}

/// Returns the finding about the post's eviction policy: if its memory is full, the post refuses
/// new rows, or drops old ones.
fn of_memory(post: &PostEntry) -> Finding {
    let (verdict, found) = match (post.eviction.as_deref(), &post.cure) {
        (None, _) => (Verdict::Info, "it does not tell its `maxmemory-policy`".to_owned()),
        (Some("noeviction"), _) => {
            let found = "`noeviction`: what does not fit its memory is refused, and waits here";
            (Verdict::Ok, found.to_owned())
        }
        (Some(policy), Some(_)) => {
            (Verdict::Warn, format!("`{policy}`: it drops what does not fit its memory"))
        }
        (Some(policy), None) => {
            (Verdict::Info, format!("`{policy}`, but without a `maxmemory` it drops nothing"))
        }
    };
    with_cure(Finding::new(POST, verdict, found), post.cure.as_deref())
}

/// Returns the finding about the rows that the post still has after a restart. It is only
/// information, because lost rows are sent again.
fn of_restart(post: &PostEntry) -> Finding {
    let keeps = match post.persistence.as_deref() {
        Some("commands") => "it writes every command into a file, which costs it time",
        Some("snapshots") => "it saves its memory from time to time, and a restart loses the rest",
        Some("nothing") => "it keeps nothing over a restart",
        _ => "it does not tell what it keeps over a restart",
    };
    let found =
        format!("{keeps}; nothing depends on that here, because what is lost is sent again");
    Finding::new(POST, Verdict::Info, found)
}

/// Returns the finding about a computer, with its state, the difference of its clock, and the owed
/// rows. It is a warning if the computer is refused, or for this computer if the computers are off.
fn of_computer(computer: &ComputerEntry) -> Finding {
    let verdict = match (computer.state.as_str(), computer.this) {
        ("up", _) => Verdict::Ok,
        ("refused", _) | ("off", true) => Verdict::Warn,
        _ => Verdict::Info,
    };
    let this = if computer.this { " (this one)" } else { "" };
    let clock = computer.clock_ahead_ms.map_or_else(String::new, |ahead| {
        let direction = if ahead < 0 { "behind" } else { "ahead" };
        let apart = ahead.unsigned_abs();
        format!(", its clock is {}.{:03} s {direction}", apart / 1_000, apart % 1_000)
    });
    let found = format!("{}{this} is {}{clock}{}", computer.name, computer.state, owed(computer));
    // While the computers are off, only the finding about this computer has the remedy.
    let cure = computer.cure.as_deref().filter(|_| verdict == Verdict::Warn);
    with_cure(Finding::new("computer", verdict, found), cure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post() -> PostEntry {
        PostEntry {
            address: "redis://host".into(),
            fault: None,
            round_trip_ms: Some(3),
            eviction: Some("noeviction".into()),
            persistence: Some("nothing".into()),
            cure: None,
        }
    }

    fn told(findings: &[Finding]) -> Vec<(Verdict, &str)> {
        findings.iter().map(|finding| (finding.verdict, finding.found.as_str())).collect()
    }

    #[test]
    fn a_post_is_warned_of_only_if_it_drops_or_cannot_be_reached() {
        let findings = of_post(&post());
        let [(Verdict::Ok, answers), (Verdict::Ok, memory), (Verdict::Info, restart)] =
            told(&findings)[..]
        else {
            panic!("{findings:?}")
        };
        assert!(answers.contains("3 ms") && memory.contains("refused"), "{findings:?}");
        assert!(restart.contains("keeps nothing") && restart.contains("sent again"));

        let cure = Some("Set `maxmemory-policy noeviction`.".to_owned());
        let drops = PostEntry { eviction: Some("allkeys-lru".into()), cure, ..post() };
        let memory = &of_post(&drops)[1];
        assert_eq!((memory.verdict, memory.fix.is_some()), (Verdict::Warn, true));
        let roomy = PostEntry { eviction: Some("allkeys-lru".into()), ..post() };
        assert_eq!(of_post(&roomy)[1].verdict, Verdict::Info);
        let silent = PostEntry { eviction: None, persistence: None, ..post() };
        let findings = of_post(&silent);
        assert!(findings[1..].iter().all(|finding| finding.found.contains("does not tell")));
        let gone = PostEntry { fault: Some("it cannot be reached".into()), ..post() };
        assert_eq!(told(&of_post(&gone)), [(Verdict::Warn, "redis://host: it cannot be reached")]);
    }

    #[test]
    fn a_clock_is_shown_and_not_judged_and_one_finding_says_how_to_put_the_computers_on() {
        let computer = |this, state: &str| ComputerEntry {
            name: "laptop".into(),
            id: "8".into(),
            this,
            state: state.into(),
            version: None,
            last_seen: None,
            clock_ahead_ms: Some(-3_600_010),
            owed_to: 1,
            owed_by: Some(2),
            sessions: None,
            cure: Some("moothall computers resume".into()),
        };
        let up = of_computer(&computer(false, "up"));
        assert_eq!(up.verdict, Verdict::Ok);
        let shown =
            "laptop is up, its clock is 3600.010 s behind, 1 row owed to it, 2 rows owed by it";
        assert_eq!(up.found, shown);
        let (this, other) =
            (of_computer(&computer(true, "off")), of_computer(&computer(false, "off")));
        assert_eq!((this.verdict, this.fix.is_some()), (Verdict::Warn, true));
        assert_eq!((other.verdict, other.fix.is_some()), (Verdict::Info, false));
    }
}
