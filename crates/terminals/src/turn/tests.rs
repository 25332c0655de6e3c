//! The machine as a table of inputs and expected outputs.
#![allow(clippy::unwrap_used)]

use moothall_engine::agent::{Job, PermissionAnswer, Probe, Report, TurnKey};
use moothall_engine::ports::{DeliveryState, LogError};
use moothall_engine::sessions::{
    Activity, Dialog, Hook, HookNews, HostFault, Origin, PaneState, PasteReport, Picture, Record,
    ReportedQuestion, Reports, Session, SessionError, View,
};
use moothall_engine::stream::Now;
use moothall_kernel::compose::Prompt;
use moothall_kernel::event::{Event, RecordedEvent, TurnKind, TurnReason};
use moothall_kernel::ids::{PermissionId, Seq, TurnNo};
use moothall_kernel::participant::Profile;
use moothall_kernel::permission::{OptionKind, PermissionOption};
use moothall_kernel::time::{Millis, Timestamp};

use super::*;
use crate::config::Checkpoints;
use crate::tags::TagKey;

mod asking;
mod covered;
mod drafts;
mod questions;
mod record;
mod tags;

/// One session's machine, driven by inputs in short form.
struct Bench {
    machine: Machine,
    reports: Reports,
    /// Current time in seconds, on both clocks.
    time: u64,
    hooks: u64,
}

fn key(turn: u64) -> TurnKey {
    TurnKey { stream: "s".into(), turn: TurnNo(turn), attempt: 1 }
}

fn job(turn: u64) -> Box<Job> {
    Box::new(Job {
        key: key(turn),
        participant: "ada".into(),
        name: "ada".into(),
        address: None,
        folder: None,
        profile: Profile::default(),
        why: TurnReason::Forced,
        kind: TurnKind::Reply,
        may_pass: false,
        prompt: Prompt { text: format!("job {turn}"), ..Prompt::default() },
        trigger: RecordedEvent { seq: Seq(1), ts: Timestamp::default(), event: Event::RoundClosed },
        window: Vec::new(),
        through: Seq(turn),
        limit: Millis::from_secs(1800),
    })
}

fn session() -> Session {
    Session {
        id: "home".into(),
        name: "ada".into(),
        client: "claude".into(),
        computer: String::new(),
        cwd: "/".into(),
        pane: None,
        native: None,
        origin: Origin::Started,
        token_hash: String::new(),
        started_at: Timestamp::default(),
        ended: None,
        started_by: None,
        run_as: None,
        until: None,
        args: Vec::new(),
        memory: None,
        lost: false,
        left: Vec::new(),
    }
}

/// Returns a screen with this text, on which no program shows.
fn seen(text: String) -> View {
    let picture = Picture::default();
    View { state: PaneState::Starting, composer: None, dialog: None, text, picture }
}

fn screen(state: PaneState, composer: &str) -> Input {
    let view = View { state, composer: Some(composer.into()), ..seen(String::new()) };
    Input::Seen(Some(Box::new(PaneContent { view, tail: Some(composer.into()) })))
}

fn idle() -> Input {
    screen(PaneState::Idle, "")
}

fn asking(action: &str) -> Input {
    let view =
        View { state: PaneState::Asking, dialog: Some(dialog(action)), ..seen(String::new()) };
    Input::Seen(Some(Box::new(PaneContent { view, tail: None })))
}

fn dialog(action: &str) -> Dialog {
    let options = vec![
        PermissionOption::new("y", "Yes", OptionKind::AllowOnce),
        PermissionOption::new("n", "No", OptionKind::RejectOnce),
    ];
    Dialog {
        action: action.into(),
        partial: false,
        options,
        field: None,
        pointer: None,
        whole: false,
        checked: None,
        confirms: false,
    }
}

fn begun(turn: u64) -> Input {
    Input::Begun { key: key(turn), delivery: Some(turn) }
}

fn taken_away(turn: u64, interrupt: bool) -> Input {
    Input::TakenAway { key: key(turn), interrupt, delivery: Some(turn) }
}

fn tagged(words: &str, tag: &str) -> String {
    crate::tags::tagged(words, &[], tag).0
}

fn prompt(turn: u64) -> HookNews {
    HookNews::Prompt { text: tagged(&format!("job {turn}"), &tag_of(&key(turn))) }
}

fn tag_of(key: &TurnKey) -> String {
    TagKey::of(&session()).tag_of(key)
}

fn stopped(text: &str) -> HookNews {
    HookNews::Stopped { text: Some(text.into()), inputs: None, interrupted: false }
}

fn earlier(turn: u64, state: DeliveryState, is_open: bool) -> UnfinishedDelivery {
    UnfinishedDelivery { key: key(turn), delivery: turn, state, is_open, asked: Vec::new() }
}

/// Returns an output in a few words; leaves out `There` and alarms.
fn short(output: &Output) -> Option<String> {
    Some(match output {
        Output::See { lines: None } => "see".into(),
        Output::See { lines: Some(_) } => "see all".into(),
        Output::Mark { delivery, to, lasting, .. } => format!("{delivery} {to:?} {lasting:?}"),
        Output::Paste { .. } => "paste".into(),
        Output::Press { key } => format!("{key:?}"),
        Output::Choose { dialog, chosen, text } => {
            let words = text.as_ref().map(|text| format!(" {text}")).unwrap_or_default();
            let labels = chosen.iter().map(|at| dialog.options[*at].label.as_str());
            let labels = labels.collect::<Vec<_>>().join(" + ");
            format!("{}: {labels}{words}", dialog.action)
        }
        Output::Keep { steps } => {
            steps.iter().map(|(_, step)| kept(step)).collect::<Vec<_>>().join(", ")
        }
        Output::Recall { .. } => "recall".into(),
        Output::LookUp { .. } => "look up".into(),
        Output::Report { key, report } => format!("{} {}", key.turn, said(report)),
        Output::Reply { reply: Reply::Heard(heard), .. } => format!("heard {}", heard.is_ok()),
        Output::Reply { reply, .. } => format!("{reply:?}"),
        Output::AskInNoTurn { stream, question, .. } => {
            format!("asks in {stream}: {}", question.action)
        }
        Output::WithdrawInNoTurn { stream, because, .. } => {
            format!("asks no more in {stream}: {because:?}")
        }
        Output::Tell { text } => format!("tells {text}"),
        Output::Missing { died } => format!("missing {died}"),
        Output::There | Output::Wake { .. } => return None,
    })
}

fn kept(step: &KeptItem) -> String {
    match step {
        KeptItem::Native(native) => format!("native {native}"),
        KeptItem::Result { key, result: Ok(text) } => format!("{} says {text}", key.turn),
        KeptItem::Result { key, result: Err(fault) } => {
            format!("{} fails {}", key.turn, fault.code)
        }
        KeptItem::Late { key, text } => format!("{} says late {text}", key.turn),
        KeptItem::Cross { text, typed, .. } => format!("cross {text} {typed}"),
        KeptItem::Home(text) => format!("home {text}"),
        KeptItem::Listeners => "listeners".into(),
    }
}

fn said(report: &Report) -> String {
    match report {
        Report::Started { .. } => "starts".into(),
        Report::Finished { result: Err(fault), .. } => format!("fails {}", fault.code),
        Report::Permission { question, .. } => format!("asks {}", question.action),
        Report::Withdrawn { because, .. } => format!("asks no more: {because:?}"),
        other => format!("{other:?}"),
    }
}

impl Bench {
    fn new(earlier: Vec<UnfinishedDelivery>) -> Self {
        let reports = Reports { questions: false, ..Reports::ALL };
        Self { machine: Machine::new(session(), earlier, Vec::new()), reports, time: 0, hooks: 0 }
    }

    fn handle(&mut self, input: Input) -> Vec<Output> {
        let checkpoints = Checkpoints::default();
        let steady = Millis::from_secs(self.time);
        let now = Now { wall: Timestamp::from_millis(steady.0 as i64), steady };
        self.machine.handle(
            &Around { now, reports: self.reports, checkpoints: &checkpoints, question_limit: None },
            input,
        )
    }

    fn hook(&mut self, news: HookNews) -> Input {
        self.hooks += 1;
        let hook = Hook {
            id: format!("h{}", self.hooks),
            session: "home".into(),
            token: String::new(),
            native: None,
            news,
        };
        Input::Hook { id: RequestId(self.hooks), hook }
    }

    /// Handles an input and asserts its outputs.
    #[track_caller]
    fn says(&mut self, input: Input, wanted: &[&str]) {
        let outputs = self.handle(input.clone());
        assert_eq!(outputs.iter().filter_map(short).collect::<Vec<_>>(), wanted, "after {input:?}");
    }

    #[track_caller]
    fn reports(&mut self, news: HookNews, wanted: &[&str]) {
        let hook = self.hook(news);
        self.says(hook, wanted);
    }

    /// Returns a session with a turn that was typed and sent.
    fn sent(turn: u64) -> Self {
        let mut bench = Self::new(Vec::new());
        bench.handle(Input::Offered(job(turn)));
        bench.handle(idle());
        bench.handle(begun(turn));
        bench.handle(idle());
        bench.handle(Input::Marked(Ok(true)));
        bench.handle(Input::Pasted(Ok(PasteReport::default())));
        bench.handle(Input::Pressed(Ok(())));
        assert_eq!(bench.machine.probe(&key(turn)), Probe::Running);
        bench
    }
}

#[test]
fn a_turn_goes_its_way() {
    let mut bench = Bench::new(Vec::new());
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(idle(), &["1 starts"]);
    bench.says(Input::Offered(job(2)), &[]);
    bench.says(begun(1), &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    bench.says(Input::Marked(Ok(true)), &["paste"]);
    bench.says(Input::Pasted(Ok(PasteReport::default())), &["Enter"]);
    bench.says(Input::Pressed(Ok(())), &["1 Sent Written"]);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    assert_eq!(bench.machine.doing(), Activity::Busy);
    bench.reports(stopped("done"), &["1 says done, listeners"]);
    bench.says(Input::Kept(Ok(())), &["1 Done Written", "heard true", "see"]);
    bench.says(idle(), &["2 starts"]);
}

/// Between the commits of its start and its reply, a turn waits for one synced write.
#[test]
fn a_turn_waits_for_the_disk_once() {
    let mut bench = Bench::new(Vec::new());
    let prompt = bench.hook(prompt(1));
    let stop = bench.hook(stopped("done"));
    let way = [
        Input::Offered(job(1)),
        idle(),
        begun(1),
        idle(),
        Input::Marked(Ok(true)),
        Input::Pasted(Ok(PasteReport::default())),
        Input::Pressed(Ok(())),
        prompt,
        stop,
        Input::Kept(Ok(())),
    ];
    let outputs: Vec<Output> = way.into_iter().flat_map(|input| bench.handle(input)).collect();
    let marks = |lasting| {
        outputs
            .iter()
            .filter(|output| matches!(output, Output::Mark { lasting: is, .. } if *is == lasting))
            .count()
    };
    assert_eq!(
        (
            marks(moothall_engine::ports::Durability::Synced),
            marks(moothall_engine::ports::Durability::Written)
        ),
        (1, 3)
    );
}

#[test]
fn what_the_log_does_not_take_is_not_typed() {
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Pending, true)]);
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    bench.says(Input::Marked(Err(LogError::Full)), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &[]);
    bench.time = 1;
    bench.says(Input::Tick, &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    // Another process moved the row, so the prompt may have been typed.
    bench.says(Input::Marked(Ok(false)), &["1 Unknown Written", "1 fails delivery_unknown", "see"]);
}

#[test]
fn somebody_who_types_is_waited_for() {
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Pending, true)]);
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(screen(PaneState::Idle, "half a li"), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    bench.says(Input::Marked(Ok(true)), &["paste"]);
    bench
        .says(Input::Pasted(Err(HostFault::Refused("half a line".into()))), &["1 Pending Written"]);
    bench.time = 2;
    bench.says(Input::Tick, &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
}

#[test]
fn an_enter_that_was_lost_is_pressed_once_more_and_nothing_is_typed_again() {
    let mut bench = Bench::sent(1);
    let back = || screen(PaneState::Idle, &tagged("job 1", &tag_of(&key(1))));
    bench.time = 3;
    bench.says(Input::Tick, &["see"]);
    bench.says(back(), &["Enter"]);
    bench.says(Input::Pressed(Ok(())), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(back(), &[]);
    bench.time = 30;
    bench.says(Input::Tick, &["see"]);
    bench.says(back(), &["look up"]);
    bench.says(Input::LookedUp(None), &["1 Unknown Written", "1 fails delivery_unknown"]);
}

/// After a restart, the row decides first, then the reports, then the screen.
#[test]
fn after_a_restart_a_prompt_is_typed_where_it_is_proven_that_it_was_not() {
    let found = || screen(PaneState::Idle, &tag_of(&key(1)));
    let unknown: &[&str] = &["1 Unknown Written", "1 fails delivery_unknown", "see"];
    let cases: [(&str, DeliveryState, Reports, Input, &[&str]); 6] = [
        (
            "nothing of it, and all reports are there",
            DeliveryState::Sending,
            Reports::ALL,
            idle(),
            &["look up"],
        ),
        (
            "a program that reports no prompts",
            DeliveryState::Sending,
            Reports { prompts: false, ..Reports::ALL },
            idle(),
            unknown,
        ),
        ("it stands in the composer", DeliveryState::Sending, Reports::ALL, found(), &["Enter"]),
        (
            "something else stands there",
            DeliveryState::Sending,
            Reports::ALL,
            screen(PaneState::Idle, "hm"),
            unknown,
        ),
        (
            "it works on something",
            DeliveryState::Sending,
            Reports::ALL,
            screen(PaneState::Busy, ""),
            &[],
        ),
        ("it was sent off", DeliveryState::Sent, Reports::ALL, idle(), &[]),
    ];
    for (why, state, reports, seen, wanted) in cases {
        let mut bench = Bench::new(vec![earlier(1, state, true)]);
        bench.reports = reports;
        bench.handle(Input::CaughtUp);
        let wants: Vec<String> = bench.handle(seen).iter().filter_map(short).collect();
        assert_eq!(wants, wanted, "{why}");
    }
}

#[test]
fn a_prompt_is_typed_again_only_if_the_record_has_nothing_of_it_either() {
    let in_record = Some(Record::default());
    for (record, wanted) in [(None, "1 Pending Written"), (in_record, "1 Sent Written")] {
        let mut bench = Bench::new(vec![earlier(1, DeliveryState::Sending, true)]);
        bench.handle(Input::CaughtUp);
        bench.says(idle(), &["look up"]);
        bench.says(Input::LookedUp(record), &[wanted, "see"]);
    }
}

#[test]
fn nothing_is_concluded_before_all_reports_were_brought() {
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Sending, true)]);
    bench.says(Input::Drawn, &["see all"]);
    bench.says(idle(), &[]);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    // The reports never come: the turn fails, and its prompt is not typed again.
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Sending, true)]);
    bench.says(Input::Drawn, &["see all"]);
    bench.says(idle(), &[]);
    bench.time = 10;
    bench.says(Input::Tick, &["see all"]);
    bench.says(idle(), &["1 Unknown Written", "1 fails delivery_unknown", "see"]);
    // The program finished work without naming its prompt.
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Sending, true)]);
    bench.reports(stopped("?"), &["home ?, listeners"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    bench.says(Input::CaughtUp, &["see all"]);
    bench.says(idle(), &["1 Unknown Written", "1 fails delivery_unknown", "see"]);
}

#[test]
fn the_row_of_a_turn_that_is_over_is_settled() {
    let ends = [
        DeliveryState::Pending,
        DeliveryState::Sending,
        DeliveryState::Sent,
        DeliveryState::Accepted,
    ]
    .map(|state| {
        let mut bench = Bench::new(vec![earlier(1, state, false)]);
        let marks = bench.handle(Input::Tick);
        bench.says(Input::Offered(job(1)), &[]);
        assert_eq!(bench.machine.probe(&key(1)), Probe::Unknown);
        marks.iter().filter_map(short).collect::<String>()
    });
    assert_eq!(
        ends,
        ["1 Failed Written", "1 Unknown Written", "1 Unknown Written", "1 Done Written"]
    );
}

/// The answer was committed, but the conversation had offered the turn again before it knew.
#[test]
fn a_turn_that_is_over_is_not_begun_again() {
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Accepted, true)]);
    bench.reports(stopped("done"), &["1 says done, listeners"]);
    for late in [Input::Offered(job(1)), begun(1)] {
        bench.says(late, &[]);
    }
    bench.says(Input::Kept(Ok(())), &["1 Done Written", "heard true", "1 Failed Written"]);
}

#[test]
fn a_report_that_cannot_be_kept_changes_nothing() {
    let mut bench = Bench::sent(1);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    bench.reports(stopped("done"), &["1 says done, listeners"]);
    bench.says(
        Input::Kept(Err(SessionError::Conflict("the disk is full".into()))),
        &["heard false"],
    );
    assert_eq!(bench.machine.probe(&key(1)), Probe::Running);
    bench.reports(stopped("done"), &["1 says done, listeners"]);
    bench.says(Input::Kept(Ok(())), &["1 Done Written", "heard true"]);
}

#[test]
fn words_go_to_whom_they_answer() {
    let typed = || HookNews::Prompt { text: "by hand".into() };
    let mut bench = Bench::sent(1);
    // Prompt 7 is not of an outstanding turn.
    bench.reports(prompt(7), &["heard true"]);
    bench.reports(stopped("about 7"), &["home about 7, listeners"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    bench.reports(typed(), &["cross by hand true"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    bench.reports(stopped("to the person"), &["cross to the person false, listeners"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    // A turn that was taken away gets its words, once the program has reported its prompt.
    bench.says(taken_away(1, false), &["1 Failed Written", "see"]);
    bench.says(screen(PaneState::Busy, ""), &[]);
    bench.reports(prompt(1), &["heard true"]);
    bench.reports(stopped("late"), &["1 says late late, listeners"]);
}

#[test]
fn only_a_person_interrupts() {
    let mut bench = Bench::sent(1);
    bench.says(Input::Interrupt(RequestId(9)), &[&format!("Interrupted(Ok(Some({:?})))", key(1))]);
    bench.says(taken_away(1, true), &["1 Failed Written", "Escape"]);
    bench.says(Input::Pressed(Ok(())), &["see"]);
    let mut bench = Bench::sent(1);
    bench.says(taken_away(1, false), &["1 Failed Written", "see"]);
}

#[test]
fn an_answer_goes_into_its_own_dialog() {
    let mut bench = Bench::sent(1);
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("touch a"), &["1 asks touch a"]);
    let permission = PermissionId::new("unknown");
    bench.says(
        Input::Permitted {
            permission,
            given: Some(PermissionAnswer { option: "y".into(), text: None }),
        },
        &[],
    );
    bench.says(Input::Look(RequestId(1)), &["see"]);
    bench.says(asking("touch b"), &["1 asks no more: Replaced", "1 asks touch b", "Looked"]);
    assert_eq!(bench.machine.doing(), Activity::Asking);
    bench.says(Input::Drawn, &["see"]);
    bench.says(screen(PaneState::Busy, ""), &["1 asks no more: Gone"]);
}

#[test]
fn a_session_that_ends_ends_its_turns_and_those_that_come_later() {
    let mut bench = Bench::sent(1);
    bench.says(Input::Offered(job(2)), &[]);
    let fails = ["1 Unknown Written", "1 fails session_ended", "2 fails session_ended"];
    bench.says(Input::Ended("its program ended".into()), &fails);
    bench.says(Input::Offered(job(3)), &["3 fails session_ended"]);
    assert_eq!(bench.machine.doing(), Activity::Ended);
}

#[test]
fn a_session_that_ends_may_have_got_a_prompt_whose_typing_began() {
    for (state, ends, delivered) in [
        (DeliveryState::Pending, "1 Failed Written", false),
        (DeliveryState::Sending, "1 Unknown Written", true),
        (DeliveryState::Sent, "1 Unknown Written", true),
        (DeliveryState::Accepted, "1 Unknown Written", true),
    ] {
        let mut bench = Bench::new(vec![earlier(1, state, true)]);
        let outputs = bench.handle(Input::Ended("its program ended".into()));
        let words: Vec<_> = outputs.iter().filter_map(short).collect();
        assert_eq!(words, [ends, "1 fails session_ended"], "{state:?}");
        let tells = |output: &Output| {
            let Output::Report { report: Report::Finished { result: Err(fault), .. }, .. } = output
            else {
                return false;
            };
            fault.prompt_delivered == delivered
        };
        assert!(outputs.iter().any(tells), "{state:?}");
    }
}

#[test]
fn what_comes_while_a_question_is_outstanding_waits_for_the_answer() {
    let mut bench = Bench::new(Vec::new());
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(taken_away(1, true), &[]);
    bench.says(Input::Pasted(Ok(PasteReport::default())), &[]);
    bench.says(idle(), &["1 starts", "1 Failed Written", "see"]);
}
