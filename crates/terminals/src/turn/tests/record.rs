//! Turns without a report of their end, decided by the program's own record.

use moothall_engine::sessions::{NewestTurn, RecordEnd};

use super::*;

/// The reports of a program that reports prompts only at the end of their turn.
const CODEX: Reports = Reports { turns: true, prompts: false, questions: false };

fn record(end: Option<RecordEnd>) -> Input {
    Input::LookedUp(Some(Record { end, ..Record::default() }))
}

fn said(words: &str) -> Option<RecordEnd> {
    Some(RecordEnd::Said(Some(words.into())))
}

impl Bench {
    /// Returns a session with a sent turn, of a program with these reports.
    fn sent_to(reports: Reports, turn: u64) -> Self {
        let mut bench = Self::sent(turn);
        bench.reports = reports;
        bench
    }

    /// Shows an idle screen at this second, and asserts the outputs.
    #[track_caller]
    fn is_idle_at(&mut self, seconds: u64, wanted: &[&str]) {
        self.time = seconds;
        self.says(Input::Tick, &["see"]);
        self.says(idle(), wanted);
    }
}

#[test]
fn an_answer_whose_report_was_lost_is_in_the_record() {
    let mut bench = Bench::sent_to(CODEX, 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(said("done")), &["1 Accepted Written"]);
    bench.is_idle_at(6, &["look up"]);
    bench.says(record(said("done")), &["1 says done, listeners"]);
    bench.says(Input::Kept(Ok(())), &["1 Done Written"]);
    // The late report repeats the same end.
    let inputs = Some(vec![tagged("job 1", &tag_of(&key(1)))]);
    let late = HookNews::Stopped { text: Some("done".into()), inputs, interrupted: true };
    bench.reports(late, &["heard true"]);
    bench.reports(stopped("of a person"), &["home of a person, listeners"]);
}

#[test]
fn a_late_report_of_a_turn_that_is_over_ends_no_other() {
    let mut bench = Bench::sent_to(CODEX, 2);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(None), &["2 Accepted Written"]);
    // The server restarted after the record told the end of turn 1.
    let inputs = Some(vec![tagged("job 1", &tag_of(&key(1)))]);
    let late = HookNews::Stopped { text: Some("of 1".into()), inputs, interrupted: false };
    bench.reports(late, &["home of 1"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    let inputs = [1, 2].map(|turn| tagged("job", &tag_of(&key(turn)))).to_vec();
    let own =
        HookNews::Stopped { text: Some("of 2".into()), inputs: Some(inputs), interrupted: false };
    bench.reports(own, &["2 says of 2, listeners"]);
}

#[test]
fn a_report_is_nearer_than_the_record() {
    let mut bench = Bench::sent_to(CODEX, 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(said("in the record")), &["1 Accepted Written"]);
    bench.reports(stopped("reported"), &["1 says reported, listeners"]);
    bench.says(Input::Kept(Ok(())), &["1 Done Written", "heard true"]);
}

#[test]
fn an_error_that_no_report_tells_is_in_the_record() {
    let mut bench = Bench::sent_to(CODEX, 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(Input::LookedUp(None), &[]);
    bench.is_idle_at(18, &["look up"]);
    let limit = || Some(RecordEnd::Failed("You've hit your usage limit.".into()));
    bench.says(record(limit()), &["1 fails program_failed, listeners"]);
    bench.says(Input::Kept(Ok(())), &["1 Done Written"]);
}

#[test]
fn a_prompt_that_only_the_record_saw_gets_its_time() {
    let mut bench = Bench::sent_to(Reports::ALL, 1);
    bench.is_idle_at(3, &[]);
    bench.is_idle_at(18, &["look up"]);
    bench.says(record(None), &["1 Accepted Written"]);
    bench.is_idle_at(21, &["look up"]);
    bench.says(record(None), &["1 Failed Written", "1 fails interrupted"]);
}

#[test]
fn an_interrupted_turn_ends_as_the_record_says() {
    let mut bench = Bench::sent_to(Reports::ALL, 1);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &[]);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(Some(RecordEnd::Interrupted)), &["1 fails interrupted, listeners"]);
}

#[test]
fn a_program_without_reports_is_read_in_its_record_before_its_screen() {
    let mut bench = Bench::sent_to(Reports::default(), 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(said("● done")), &["1 says ● done, listeners"]);
    let mut bench = Bench::sent_to(Reports::default(), 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(None), &["1 Accepted Written"]);
    bench.is_idle_at(6, &["look up"]);
    bench.says(record(None), &["see all"]);
}

/// A program may be idle on the screen before it has written its record.
#[test]
fn the_record_of_a_program_without_reports_is_read_until_it_has_the_end() {
    let mut bench = Bench::sent_to(Reports::default(), 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(Input::LookedUp(None), &[]);
    bench.is_idle_at(4, &["look up"]);
    bench.says(record(None), &["1 Accepted Written"]);
    bench.is_idle_at(5, &["look up"]);
    bench.says(record(None), &[]);
    bench.is_idle_at(6, &["look up"]);
    bench.says(record(said("done")), &["1 says done, listeners"]);
}

/// The wait of one turn for its record does not shorten the next turn's time.
#[test]
fn a_prompt_gets_its_time_behind_a_turn_that_waited() {
    let mut bench = Bench::sent_to(Reports::default(), 1);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(None), &["1 Accepted Written"]);
    bench.is_idle_at(4, &["look up"]);
    bench.says(record(said("done")), &["1 says done, listeners"]);
    for input in [Input::Kept(Ok(())), Input::Offered(job(2)), idle(), begun(2), idle()] {
        bench.handle(input);
    }
    for input in [Input::Marked(Ok(true)), Input::Pasted(Ok(PasteReport::default()))] {
        bench.handle(input);
    }
    bench.handle(Input::Pressed(Ok(())));
    bench.is_idle_at(7, &["look up"]);
    bench.says(Input::LookedUp(None), &[]);
    bench.is_idle_at(30, &["look up"]);
    bench.says(Input::LookedUp(None), &["2 Unknown Written", "2 fails delivery_unknown"]);
}

fn shows_idly(text: &str) -> Input {
    let composer = Some(String::new());
    let view = View { state: PaneState::Idle, composer, ..seen(text.into()) };
    Input::Seen(Some(Box::new(PaneContent { view, tail: Some(text.into()) })))
}

/// A program without reports and without a record answers at once.
#[test]
fn an_answer_that_only_the_screen_shows_is_read_there() {
    let beside = |below: &str| {
        let mut bench = Bench::sent_to(Reports::default(), 1);
        let text = format!("> job 1\n{}\n{below}", tag_of(&key(1)));
        bench.time = 3;
        bench.says(Input::Tick, &["see"]);
        bench.says(shows_idly(&text), &["look up"]);
        bench.says(Input::LookedUp(None), &[]);
        bench.time = 30;
        bench.says(Input::Tick, &["see"]);
        bench.says(shows_idly(&text), &["look up"]);
        bench.says(Input::LookedUp(None), &["see all"]);
        (bench, text)
    };
    let (mut bench, text) = beside("done\n>\n");
    bench.says(shows_idly(&text), &["1 Accepted Written", "1 says done, listeners"]);
    // The prompt may stand in the composer still, with a status line below it.
    for below in ["", ">\n", " workspace (/directory)   no sandbox\n"] {
        let (mut bench, text) = beside(below);
        bench.says(shows_idly(&text), &["1 Unknown Written", "1 fails delivery_unknown"]);
    }
}

fn newest(prompt: &str, end: Option<RecordEnd>) -> Input {
    let newest = Some(NewestTurn { turn: "t".into(), prompts: vec![prompt.into()] });
    Input::LookedUp(Some(Record { end, newest, ..Record::default() }))
}

/// Returns a session that shows this screen between two idle ones, while no turn runs.
fn works_by_itself(shown: Input) -> Bench {
    let mut bench = Bench::new(Vec::new());
    bench.reports = CODEX;
    let inputs = Some(vec!["before".to_owned()]);
    let report = bench.hook(HookNews::Stopped { text: None, inputs, interrupted: true });
    let Input::Hook { id, hook } = report else { unreachable!() };
    let hook = Hook { native: Some("n".into()), ..hook };
    bench.says(Input::Hook { id, hook }, &["native n, cross before true, listeners"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(shown, &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &[]);
    bench
}

#[test]
fn what_a_person_typed_and_no_report_tells_is_in_the_record() {
    for shown in [screen(PaneState::Busy, ""), screen(PaneState::Idle, "hello")] {
        let mut bench = works_by_itself(shown);
        bench.is_idle_at(3, &["look up"]);
        bench.says(newest("hello", said("hi")), &["cross hello true, cross hi false, listeners"]);
        bench.says(Input::Kept(Ok(())), &[]);
        // The report arrives late.
        let inputs = Some(vec!["before".to_owned(), "hello".to_owned()]);
        let late = HookNews::Stopped { text: Some("hi".into()), inputs, interrupted: true };
        bench.reports(late, &["heard true"]);
    }
}

#[test]
fn what_was_reported_is_not_told_by_the_record_too() {
    for prompt in ["before".to_owned(), tagged("job 1", &tag_of(&key(1)))] {
        let mut bench = works_by_itself(screen(PaneState::Busy, ""));
        bench.is_idle_at(3, &["look up"]);
        bench.says(newest(&prompt, said("hi")), &[]);
    }
}

#[test]
fn words_that_came_too_late_are_in_the_record_too() {
    let mut bench = Bench::sent_to(CODEX, 1);
    bench.says(taken_away(1, false), &["1 Failed Written", "see"]);
    bench.says(idle(), &[]);
    bench.is_idle_at(3, &["look up"]);
    bench.says(record(said("done")), &["1 says late done, listeners"]);
}

#[test]
fn a_new_conversation_of_the_program_is_its_own_if_the_record_has_the_prompt() {
    let mut bench = Bench::sent_to(Reports::default(), 1);
    bench.is_idle_at(3, &["look up"]);
    let native = Some("other".into());
    let other = Record { native, end: said("done"), ..Record::default() };
    bench.says(Input::LookedUp(Some(other)), &["native other, 1 says done, listeners"]);
    bench.says(Input::Kept(Ok(())), &["1 Done Written"]);
    assert_eq!(bench.machine.session().native.as_deref(), Some("other"));
}
