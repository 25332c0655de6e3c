//! Conversations longer than a model's context.

use std::sync::Arc;

use moothall_engine::agent::{Job, Report};
use moothall_engine::registry::AgentSpec;
use moothall_kernel::compose::{StoredSummary, TranscriptLine};
use moothall_kernel::event::{TurnReason, Usage};
use moothall_kernel::ids::Seq;
use moothall_testkit::model_server::{ModelServer, Reply};

use crate::common::{Notes, job, post, until};
use crate::llm::{PROVIDERS, model};

/// Room for about forty of the messages below.
const SETTINGS: &str = "context_tokens = 1100\nprice_input = 1\nprice_output = 1";

/// Makes a turn after `messages` messages of about a hundred bytes.
fn long_job(messages: u64) -> Job {
    let mut job = job("ada", TurnReason::Forced, &[post(messages * 4, "user", "and now?")]);
    let entry = |n: u64| {
        let mut entry =
            TranscriptLine::new("User", &format!("message {n} {}", "x".repeat(80)), false);
        entry.at = Seq(n * 4);
        entry
    };
    job.prompt.history = (1..=messages).map(entry).collect();
    job.prompt.request = "## Your Turn\nAnswer.\n".into();
    job
}

async fn taken(spec: &AgentSpec, job: Job) -> Arc<Notes> {
    let notes = Arc::new(Notes::default());
    spec.agent.ensure(job, notes.clone());
    until("the turn is over", || notes.finished().is_some()).await;
    notes
}

fn summaries(notes: &Notes) -> Vec<(Seq, String, Usage)> {
    let reports = notes.0.lock().unwrap();
    let summary = |report: &Report| match report {
        Report::Summarised { through, text, usage } => {
            Some((*through, text.clone(), Usage { ms: 0, ..*usage }))
        }
        _ => None,
    };
    reports.iter().filter_map(summary).collect()
}

#[tokio::test]
async fn what_falls_out_is_summed_up_by_the_same_model() {
    for provider in PROVIDERS {
        let server = ModelServer::start().await.unwrap();
        server.script(
            "m",
            [
                Reply::text("They counted to thirty.").usage(900, 6),
                Reply::text("fine").usage(500, 2),
            ],
        );
        let notes = taken(&model(&server, provider, SETTINGS), long_job(50)).await;
        let (result, usage) = notes.finished().unwrap();
        assert_eq!(
            (result.unwrap().as_str(), notes.deltas().concat().as_str()),
            ("fine", "fine"),
            "{provider}"
        );
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cost_micros),
            (1_400, 8, 1_408),
            "{provider}"
        );
        let [(through, text, spent)] = &summaries(&notes)[..] else { panic!("{provider}") };
        assert_eq!(
            (text.as_str(), spent.input_tokens, spent.cost_micros),
            ("They counted to thirty.", 900, 906),
            "{provider}"
        );
        assert!(
            notes.progress().contains(&format!("ada sums up {} earlier messages.", through.0 / 4)),
            "{:?}",
            notes.progress()
        );

        let asked: Vec<String> =
            server.requests().iter().map(|request| request.body.to_string()).collect();
        let [first, second] = &asked[..] else { panic!("{provider}: {asked:?}") };
        let (last_out, first_kept) =
            (format!("message {} ", through.0 / 4), format!("message {} ", through.0 / 4 + 1));
        assert!(
            first.contains("message 1 ")
                && first.contains(&last_out)
                && !first.contains(&first_kept),
            "{provider}: {first}"
        );
        assert!(
            second.contains("  They counted to thirty.") && second.contains(&first_kept),
            "{provider}: {second}"
        );
        assert!(
            !second.contains(&last_out) && !second.contains("left out"),
            "{provider}: {second}"
        );
    }
}

#[tokio::test]
async fn a_summary_goes_on_from_the_one_before() {
    let server = ModelServer::start().await.unwrap();
    server.script(
        "m",
        [Reply::text("They counted further."), Reply::text("fine"), Reply::text("fine too")],
    );
    let spec = model(&server, "openai", SETTINGS);
    let mut job = long_job(50);
    job.prompt.summary =
        Some(StoredSummary { through: Seq(2), text: "Before that, they slept.".into() });
    taken(&spec, job).await;
    let asked = |n: usize| server.requests()[n].body.to_string();
    assert!(
        asked(0).contains("## Your summary so far\\n  Before that, they slept.\\n## What was said\\n[User] message 1 "),
        "{}",
        asked(0)
    );
    assert!(
        asked(1).contains("  They counted further.") && !asked(1).contains("they slept"),
        "{}",
        asked(1)
    );

    let mut short = long_job(5);
    short.prompt.summary =
        Some(StoredSummary { through: Seq(2), text: "Before that, they slept.".into() });
    assert_eq!(summaries(&*taken(&spec, short).await), []);
    assert_eq!(server.requests().len(), 3, "what fits is not summed up");
    assert!(asked(2).contains("  Before that, they slept."));
}

#[tokio::test]
async fn without_a_summary_the_turn_goes_on_and_the_oldest_are_left_out() {
    for refused in
        [Reply::status(500), Reply::text(" "), Reply::hang(), Reply::cut(["They"]), Reply::html()]
    {
        let server = ModelServer::start().await.unwrap();
        server.script("m", [refused, Reply::text("fine")]);
        let job = Job { limit: moothall_kernel::time::Millis::from_secs(3), ..long_job(50) };
        let notes = taken(&model(&server, "openai", SETTINGS), job).await;
        assert_eq!(notes.finished().unwrap().0.unwrap(), "fine");
        assert_eq!(summaries(&notes), []);
        assert!(
            notes
                .progress()
                .iter()
                .any(|word| word.ends_with("left out instead of being summed up.")),
            "{:?}",
            notes.progress()
        );
        let asked = server.requests()[1].body.to_string();
        assert!(
            asked.contains("earlier messages are left out") && asked.contains("message 50 "),
            "{asked}"
        );
    }
}
