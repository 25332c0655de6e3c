//! Every planted bug has to be noticed, and by the checker that watches that promise.

use moothall_testkit::sim::{self, Bug};

/// A bug that so many runs do not show is not caught.
const RUNS_MAX: u64 = 300;

/// Which checkers may notice a bug first.
fn watchers(bug: Bug) -> &'static [&'static str] {
    match bug {
        Bug::AcknowledgeBeforeCommit => &["acknowledged"],
        Bug::NoAttemptFencing => &["words"],
        Bug::LostWakeUp => &["turns", "silence", "piece", "owed"],
        Bug::CauseCoveredTwice => &["coverage"],
        Bug::GuardNotRestored => &["guards"],
        Bug::AudienceLeak | Bug::PublishBeforeCommit => &["audience"],
        Bug::TimeGoesBackwards => &["order"],
        Bug::DuplicateClaim => &["claims"],
        Bug::NoEpochFencing => &["fencing"],
        Bug::RetryRunsTwice => &["words"],
        Bug::DowntimeForgotten => &["deadlines"],
    }
}

#[test]
fn every_planted_bug_is_caught() {
    for bug in Bug::ALL {
        let caught = (0..RUNS_MAX).find_map(|seed| sim::run(seed, Some(bug), false).objection);
        let Some(objection) = caught else { panic!("{bug:?} was not caught within {RUNS_MAX} runs") };
        assert!(watchers(bug).contains(&objection.checker), "{bug:?} was noticed by {}: {}", objection.checker, objection.message);
    }
}
