//! Agents that recite lines of the configuration, and the built-in demo agents.

use moothall_agents::script::{ScriptLine, ScriptSpec};
use moothall_engine::agent::{Job, Report, Reporter};
use moothall_engine::run_once::Work;
use moothall_kernel::event::TurnReason;
use moothall_kernel::ids::TurnNo;

use crate::common::{SilentReporter, job, post};

fn spec(lines: &[&str]) -> ScriptSpec {
    ScriptSpec {
        replies: lines
            .iter()
            .map(|text| ScriptLine { text: (*text).into(), delay_ms: 0, word_ms: 0 })
            .collect(),
        timeout: None,
    }
}

fn turn(no: u64, message: &str) -> Job {
    let mut job = job("bob", TurnReason::Forced, &[post(1, "user", message)]);
    job.key.turn = TurnNo(no);
    job.name = "Bob".into();
    job
}

async fn answer(spec: &ScriptSpec, job: &Job) -> String {
    spec.run(job, &SilentReporter).await.0.unwrap()
}

#[tokio::test]
async fn lines_come_in_turn_and_begin_again() {
    let spec = spec(&["one", "[PASS]", "three"]);
    for (no, expected) in [(1, "one"), (2, "[PASS]"), (3, "three"), (4, "one")] {
        assert_eq!(answer(&spec, &turn(no, "x")).await, expected);
    }
}

#[tokio::test]
async fn a_rerun_says_the_same_again() {
    let spec = spec(&["one", "two"]);
    let mut again = turn(2, "x");
    again.key.attempt = 2;
    assert_eq!(answer(&spec, &again).await, "two");
}

#[tokio::test]
async fn placeholders_are_filled_once() {
    let spec = spec(&["{name} heard “{message}” {and} {"]);
    assert_eq!(
        answer(&spec, &turn(1, "{name}{message}")).await,
        "Bob heard “{name}{message}” {and} {"
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_may_take_its_time() {
    let mut spec = spec(&["late"]);
    spec.replies[0].delay_ms = 5_000;
    let (text, usage) = spec.run(&turn(1, "x"), &SilentReporter).await;
    assert_eq!((text.unwrap().as_str(), usage.ms), ("late", 5_000));
}

/// A reporter that stores the streamed words.
#[derive(Default)]
struct ReportLog(std::sync::Mutex<Vec<String>>);

impl Reporter for ReportLog {
    fn report(&self, report: Report) {
        let Report::Delta(piece) = report else { panic!("{report:?}") };
        self.0.lock().unwrap().push(piece);
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_may_come_word_by_word() {
    let mut spec = spec(&["one two\nthree"]);
    spec.replies[0].word_ms = 1_000;
    let heard = ReportLog::default();
    let (text, usage) = spec.run(&turn(1, "x"), &heard).await;
    assert_eq!((text.unwrap().as_str(), usage.ms), ("one two\nthree", 3_000));
    assert_eq!(*heard.0.lock().unwrap(), ["one ", "two\n", "three"]);
}
