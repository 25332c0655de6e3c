//! Runs the simulator: one seed with its story, many seeds with a summary, or the planted bugs.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use moothall_testkit::sim::{self, Bug, Report, Stats, known_seed};
use strum::VariantArray;

const USAGE: &str = "usage: moothall-testkit [--computers] (SEED | --runs N [--from SEED]) | \
                     SEED BUG | --planted | --planted-search";
/// Number of runs within which a planted bug has to be caught.
const PLANTED_RUNS_MAX: u64 = 500;

/// Makes the run of a seed, with its story if that is wanted.
type Run = fn(u64, bool) -> Report;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<u64>().ok();
    let (run, words): (Run, _) = match words.as_slice() {
        ["--computers", words @ ..] => (sim::run_computers, words),
        words => (run_all, words),
    };
    match words {
        ["--planted"] => planted(|bug| known_seed(bug)..known_seed(bug) + 1),
        ["--planted-search"] => planted(|_| 0..PLANTED_RUNS_MAX),
        ["--runs", runs] => number(runs).map_or_else(usage, |runs| many(run, 0, runs)),
        ["--runs", runs, "--from", from] => match (number(runs), number(from)) {
            (Some(runs), Some(from)) => many(run, from, runs),
            _ => usage(),
        },
        [seed] => number(seed).map_or_else(usage, |seed| verdict(&run(seed, true))),
        [seed, bug] => match (number(seed), bug.parse()) {
            (Some(seed), Ok(bug)) => verdict(&sim::run(seed, Some(bug), true)),
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn run_all(seed: u64, with_story: bool) -> Report {
    sim::run(seed, None, with_story)
}

/// Prints the story of a failed run, or the statistics of a good one.
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

/// Runs seeds in parallel, one worker per processor, and prints the lowest seed that fails.
fn many(run: Run, from: u64, runs: u64) -> ExitCode {
    let (next, failed) = (AtomicU64::new(from), Mutex::new(None::<Report>));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let total = std::thread::scope(|scope| {
        let working: Vec<_> =
            (0..workers).map(|_| scope.spawn(|| work(run, &next, from + runs, &failed))).collect();
        working
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .fold(Stats::default(), Stats::plus)
    });
    let Some(Report { seed, objection: Some(objection), .. }) =
        failed.into_inner().unwrap_or_else(PoisonError::into_inner)
    else {
        println!("{runs} runs from seed {from}: {total}");
        return ExitCode::SUCCESS;
    };
    println!(
        "seed {seed} fails: {}: {}",
        objection.checker,
        moothall_kernel::text::cut(&objection.message, 2000)
    );
    println!("see it again with: cargo run -p moothall-testkit -- {seed}");
    ExitCode::FAILURE
}

/// Takes seeds in order until they are used up or a lower one failed.
fn work(run: Run, next: &AtomicU64, end: u64, failed: &Mutex<Option<Report>>) -> Stats {
    let mut total = Stats::default();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        let lost = || failed.lock().unwrap_or_else(PoisonError::into_inner);
        if seed >= end || lost().as_ref().is_some_and(|first| first.seed < seed) {
            return total;
        }
        let report = run(seed, false);
        total = total.plus(report.stats);
        let mut first = lost();
        if report.objection.is_some() && first.as_ref().is_none_or(|first| seed < first.seed) {
            *first = Some(report);
        }
    }
}

/// Runs the simulator with each planted bug. Fails if a bug is not caught by any of its seeds.
fn planted(seeds: impl Fn(Bug) -> std::ops::Range<u64>) -> ExitCode {
    if !cfg!(feature = "planted-bugs") {
        eprintln!("no bugs are planted in this build; run it with --features planted-bugs");
        return ExitCode::from(2);
    }
    let mut missed = 0;
    for &bug in Bug::VARIANTS {
        let caught = seeds(bug).find_map(|seed| {
            sim::run(seed, Some(bug), false).objection.map(|objection| (seed, objection))
        });
        match caught {
            Some((seed, objection)) => {
                println!("{bug:?}: caught by `{}` with seed {seed}", objection.checker)
            }
            None => {
                println!("{bug:?}: NOT caught with seeds {:?}", seeds(bug));
                missed += 1;
            }
        }
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
