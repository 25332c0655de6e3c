//! Questions that people leave open.

use super::*;

fn within(outputs: &[Output]) -> Option<(Millis, bool)> {
    outputs.iter().find_map(|output| match output {
        Output::Report { report: Report::Permission { within, question, .. }, .. } => {
            Some((*within, question.stands))
        }
        _ => None,
    })
}

impl Bench {
    /// A program that asks by its hook, and draws its dialog.
    fn asked() -> Self {
        let mut bench = Self::sent(1);
        bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
        let news = HookNews::Asks { action: "touch x".into(), partial: false };
        let Input::Hook { id, hook } = bench.hook(news) else { unreachable!() };
        bench.says(Input::Asked { id, hook }, &["recall"]);
        let outputs = bench.told(Input::Recalled(None));
        let (within, stands) = within(&outputs).expect("a question");
        assert!(stands && within > Millis::from_secs(30 * 24 * 3600), "{within:?}");
        bench.says(Input::Drawn, &["see"]);
        bench.says(asking("touch x"), &[]);
        bench
    }
}

#[test]
fn a_question_goes_on_by_keys_when_its_hook_waits_no_longer() {
    let mut bench = Bench::asked();
    let gone = ["Permit(Undecided)", "1 asks no more: Replaced"];
    bench.says(Input::GaveUp(RequestId(2)), &gone);
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("touch x"), &[]);
    bench.time = 3;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("touch x"), &["1 asks touch x\n\nIn its report:\ntouch x"]);
    // Long after that, it stands there still.
    bench.time = 7200;
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("touch x"), &[]);
    assert_eq!(bench.machine.doing(), Doing::Asking);
}

#[test]
fn a_question_that_was_answered_at_the_terminal_is_not_asked_again() {
    let mut bench = Bench::asked();
    bench.told(Input::GaveUp(RequestId(2)));
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("touch x"), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(screen(PaneState::Busy, ""), &[]);
    bench.time = 10;
    bench.says(Input::Drawn, &["see"]);
    bench.says(screen(PaneState::Busy, ""), &[]);
    assert_eq!(bench.machine.doing(), Doing::Busy);
}

/// The program asks by its hook what an earlier question does not say.
fn asks_by_hook(bench: &mut Bench, action: &str, wanted: &[&str]) {
    let news = HookNews::Asks { action: action.into(), partial: false };
    let Input::Hook { id, hook } = bench.hook(news) else { unreachable!() };
    bench.says(Input::Asked { id, hook }, &["recall"]);
    bench.says(Input::Recalled(None), wanted);
}

#[test]
fn the_ninth_question_is_refused_and_says_why() {
    let mut bench = Bench::sent(1);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    for number in 1..=8 {
        asks_by_hook(&mut bench, &format!("touch {number}"), &[&format!("1 asks touch {number}")]);
    }
    asks_by_hook(&mut bench, "touch 9", &["Permit(TooMany)"]);
}

#[test]
fn a_hook_that_waits_no_longer_without_a_dialog_gave_up_and_asks_again() {
    let mut bench = Bench::sent(1);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    asks_by_hook(&mut bench, "touch x", &["1 asks touch x"]);
    bench.says(Input::GaveUp(RequestId(2)), &["Permit(Undecided)", "1 asks no more: GaveUp"]);
    asks_by_hook(&mut bench, "touch x", &["1 asks touch x"]);
}

#[test]
fn a_question_that_nobody_answered_in_time_gave_up() {
    let mut bench = Bench::asked();
    let permission = bench.machine.questions.asks[0].permission.clone();
    bench.says(Input::Permitted { permission, given: None }, &["Permit(GaveUp)", "see"]);
}
