//! Runs of the simulator that have to end well.

use moothall_testkit::sim;

/// Seeds that found something once: two turns of one participant after a restart, a decision that
/// never ended, a reply beyond the limit, a queued message that nobody was told of, a prod that
/// took an agent out of its round, or that the round took for the answer to its own question, words
/// without proof that everybody was asked about while a guard held, and the like. 30: a wish to
/// start something whose time ran while the server was away; 943: a prompt that did not say that
/// its beginning was not read; 1739: a runtime that kept a turn whose prompt could not be read;
/// 2893: words of a refused command that a person published later. 1428: a round that asked about a
/// message which a turn beside it had told for good and left unanswered. 22: an agent that
/// addressed itself was asked about its own words. The first of them, and 1, 4 and 11: a deadline
/// that fired after the server was down, because what moves it had been put back. 4218: a turn
/// that was taken for an answer to a message which another had covered; 11910: one that was asked
/// again for a message when it had failed. 13204: a client that only reads since a moment ago.
/// 219: a late report that ended another turn after a restart; 1973: a prompt that was typed twice,
/// because its report was slow.
const KEPT: [u64; 29] = [
    0, 1, 4, 11, 22, 23, 30, 67, 104, 200, 208, 211, 219, 234, 248, 341, 372, 599, 943, 1093, 1149,
    1428, 1523, 1739, 1973, 2893, 4218, 11910, 13204,
];

fn all_end_well(seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        let report = sim::run(seed, None, false);
        if let Some(objection) = report.objection {
            panic!(
                "seed {seed}, {}: {}\nsee it with: cargo run -p moothall-testkit -- {seed}",
                objection.checker, objection.message
            );
        }
    }
}

#[test]
fn what_failed_once_ends_well_now() {
    all_end_well(KEPT);
}

#[test]
fn a_hundred_runs_end_well() {
    all_end_well(0..100);
}

#[test]
fn another_hundred_runs_end_well() {
    all_end_well(100..200);
}

#[test]
fn a_seed_makes_the_same_run_again() {
    for seed in 0..5 {
        let first = sim::run(seed, None, true);
        assert_eq!(first, sim::run(seed, None, true));
        assert!(!first.story.is_empty());
    }
}
