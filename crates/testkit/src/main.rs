//! Runs the simulator: one seed with its story, many seeds with a summary, or the planted bugs.

use std::process::ExitCode;

use moothall_testkit::sim::{self, Bug, Report, Stats, known_seed};

const USAGE: &str = "usage: moothall-testkit SEED [BUG] | --runs N [--from SEED] | --planted | --planted-search";
/// A planted bug has to be caught within so many runs.
const PLANTED_RUNS_MAX: u64 = 500;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<u64>().ok();
    match words.as_slice() {
        ["--planted"] => planted(|bug| known_seed(bug)..known_seed(bug) + 1),
        ["--planted-search"] => planted(|_| 0..PLANTED_RUNS_MAX),
        ["--runs", runs] => number(runs).map_or_else(usage, |runs| many(0, runs)),
        ["--runs", runs, "--from", from] => match (number(runs), number(from)) {
            (Some(runs), Some(from)) => many(from, runs),
            _ => usage(),
        },
        [seed] => number(seed).map_or_else(usage, |seed| one(seed, None)),
        [seed, bug] => match (number(seed), Bug::named(bug)) {
            (Some(seed), Some(bug)) => one(seed, Some(bug)),
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn one(seed: u64, bug: Option<Bug>) -> ExitCode {
    let report = sim::run(seed, bug, true);
    verdict(&report)
}

/// The story of a run that failed, or what a run did.
fn verdict(report: &Report) -> ExitCode {
    let Some(objection) = &report.objection else {
        println!("seed {}: {}", report.seed, report.stats);
        return ExitCode::SUCCESS;
    };
    for line in &report.story {
        println!("{line}");
    }
    println!("seed {} fails after {}", report.seed, report.stats);
    println!("{}: {}", objection.checker, objection.message);
    ExitCode::FAILURE
}

fn many(from: u64, runs: u64) -> ExitCode {
    let mut total = Stats::default();
    for seed in from..from + runs {
        let report = sim::run(seed, None, false);
        total = total.plus(report.stats);
        if let Some(objection) = report.objection {
            println!("seed {seed} fails: {}: {}", objection.checker, moothall_kernel::text::cut(&objection.message, 2000));
            println!("see it again with: cargo run -p moothall-testkit -- {seed}");
            return ExitCode::FAILURE;
        }
    }
    println!("{runs} runs from seed {from}: {total}");
    ExitCode::SUCCESS
}

/// Every planted bug has to be noticed in one of its seeds.
fn planted(seeds: impl Fn(Bug) -> std::ops::Range<u64>) -> ExitCode {
    if !cfg!(feature = "planted-bugs") {
        eprintln!("no bugs are planted in this build; run it with --features planted-bugs");
        return ExitCode::from(2);
    }
    let mut missed = 0;
    for bug in Bug::ALL {
        let caught = seeds(bug).find_map(|seed| sim::run(seed, Some(bug), false).objection.map(|objection| (seed, objection)));
        match caught {
            Some((seed, objection)) => println!("{bug:?}: caught by `{}` with seed {seed}", objection.checker),
            None => {
                println!("{bug:?}: NOT caught with seeds {:?}", seeds(bug));
                missed += 1;
            }
        }
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
