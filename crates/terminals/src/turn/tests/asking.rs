//! Questions that a program asks outside turns.

use super::*;

/// A program asks before its first prompt: its home shows the question, then each conversation with
/// waiting words.
#[test]
fn what_is_asked_in_no_turn_is_asked_where_words_wait() {
    let mut bench = Bench::new(Vec::new());
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("trusted?"), &[]);
    bench.time = 3;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("trusted?"), &["asks in home: trusted?"]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("trusted?"), &[]);
    bench.says(Input::Offered(job(1)), &["asks in s: trusted?", "see"]);
    bench.says(asking("trusted?"), &[]);
    bench.says(Input::Offered(job(2)), &["see"]);
    bench.says(asking("trusted?"), &[]);
    let permission = bench.machine.questions.asks[1].permission.clone();
    let given = Some(PermissionAnswer { option: "y".into(), text: None });
    bench.says(Input::Permitted { permission, given }, &["trusted?: Yes"]);
    bench.says(Input::Pressed(Ok(())), &["see"]);
    bench.says(idle(), &["asks no more in home: Gone", "1 starts"]);
}

/// A person at the terminal sees the dialog, and gets longer to answer it there.
#[test]
fn people_are_asked_later_where_somebody_types() {
    let mut bench = Bench::new(Vec::new());
    bench.reports(HookNews::Prompt { text: "by hand".into() }, &["cross by hand true"]);
    bench.says(Input::Kept(Ok(())), &["heard true"]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("delete?"), &[]);
    bench.time = 14;
    bench.says(Input::Tick, &[]);
    bench.time = 15;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("delete?"), &["asks in home: delete?"]);
    bench.says(Input::Ended("it was ended".into()), &["asks no more in home: Gone"]);
}

/// A program started outside the server may have a person working at it.
#[test]
fn people_are_asked_later_where_somebody_else_started_the_program() {
    let observed = Session { origin: Origin::Observed, ..session() };
    let mut bench =
        Bench { machine: Machine::new(observed, Vec::new(), Vec::new()), ..Bench::new(Vec::new()) };
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("delete?"), &[]);
    bench.time = 14;
    bench.says(Input::Tick, &[]);
    bench.time = 15;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("delete?"), &["asks in home: delete?"]);
}

/// If words wait already, only their conversation shows the question.
#[test]
fn the_home_is_not_asked_beside_those_whose_words_wait() {
    let mut bench = Bench::new(Vec::new());
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(asking("trusted?"), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("trusted?"), &[]);
    bench.time = 3;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("trusted?"), &["asks in s: trusted?"]);
}

/// The turn that waited was taken away, so the home shows the question instead.
#[test]
fn the_home_is_asked_when_no_words_wait_any_more() {
    let mut bench = Bench::new(Vec::new());
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(asking("trusted?"), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("trusted?"), &[]);
    bench.time = 3;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("trusted?"), &["asks in s: trusted?"]);
    bench.says(taken_away(1, true), &["1 Failed Written", "asks in home: trusted?"]);
}
