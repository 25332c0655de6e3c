//! Questions that people leave open, and the limit of open ones.

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
    /// Returns a session whose program asks by its hook and draws its dialog.
    fn asked() -> Self {
        let mut bench = Self::sent(1);
        bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
        let news = HookNews::Asks(ReportedQuestion::new("touch x", false));
        let Input::Hook { id, hook } = bench.hook(news) else { unreachable!() };
        bench.says(Input::Asked { id, hook }, &["recall"]);
        let outputs = bench.handle(Input::Recalled(None));
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
    // Two hours later the dialog is still open.
    bench.time = 7200;
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("touch x"), &[]);
    assert_eq!(bench.machine.doing(), Activity::Asking);
}

#[test]
fn a_question_that_was_answered_at_the_terminal_is_not_asked_again() {
    let mut bench = Bench::asked();
    bench.handle(Input::GaveUp(RequestId(2)));
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("touch x"), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(screen(PaneState::Busy, ""), &[]);
    bench.time = 10;
    bench.says(Input::Drawn, &["see"]);
    bench.says(screen(PaneState::Busy, ""), &[]);
    assert_eq!(bench.machine.doing(), Activity::Busy);
}

#[test]
fn a_refusal_that_was_given_before_a_restart_comes_with_its_reason() {
    let mut bench = Bench::sent(1);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    let news = HookNews::Asks(ReportedQuestion::new("touch x", false));
    let Input::Hook { id, hook } = bench.hook(news) else { unreachable!() };
    bench.says(Input::Asked { id, hook }, &["recall"]);
    let (option, text) = ("deny-because".to_owned(), Some("use make".to_owned()));
    let given = Input::Recalled(Some(PermissionAnswer { option, text }));
    bench.says(given, &["Permit(DenyBecause(\"use make\"))"]);
}

/// Sends a new question of the program's hook, and asserts the outputs.
fn asks_by_hook(bench: &mut Bench, action: &str, wanted: &[&str]) {
    let news = HookNews::Asks(ReportedQuestion::new(action, false));
    let Input::Hook { id, hook } = bench.hook(news) else { unreachable!() };
    bench.says(Input::Asked { id, hook }, &["recall"]);
    bench.says(Input::Recalled(None), wanted);
}

/// Returns a session with the maximum number of open questions.
fn with_eight_questions() -> Bench {
    let mut bench = Bench::sent(1);
    bench.reports(prompt(1), &["1 Accepted Written", "heard true"]);
    for number in 1..=8 {
        asks_by_hook(&mut bench, &format!("touch {number}"), &[&format!("1 asks touch {number}")]);
    }
    bench
}

const NINTH: &str = "tells ada has 8 questions open, so its next one was refused, and it was told to ask again when one of them is answered: `moothall permit ada`";

#[test]
fn the_ninth_question_is_refused_and_people_are_told_once() {
    let mut bench = with_eight_questions();
    asks_by_hook(&mut bench, "touch 9", &[NINTH, "Permit(TooMany)"]);
    asks_by_hook(&mut bench, "touch 10", &["Permit(TooMany)"]);
    let permission = bench.machine.questions.asks[0].permission.clone();
    let given = Some(PermissionAnswer { option: "allow".into(), text: None });
    bench.says(Input::Permitted { permission, given }, &["Permit(Allow)", "see"]);
    bench.says(screen(PaneState::Starting, ""), &[]);
    asks_by_hook(&mut bench, "touch 9", &["1 asks touch 9"]);
    asks_by_hook(&mut bench, "touch 10", &["Permit(TooMany)"]);
}

/// The hooks of eight questions ended with the server, but their cards are still open in the log.
#[test]
fn a_dialog_takes_the_place_of_questions_that_did_not_come_back() {
    let asked = (1..=8).map(|number| PermissionId::new(format!("old-{number}"))).collect();
    let mut bench =
        Bench::new(vec![UnfinishedDelivery { asked, ..earlier(1, DeliveryState::Accepted, true) }]);
    bench.reports = Reports::ALL;
    bench.handle(Input::Offered(job(1)));
    bench.says(Input::Drawn, &["see"]);
    bench.says(asking("touch 9"), &[]);
    bench.time = 4;
    bench.says(Input::Tick, &["see"]);
    let gone = ["1 asks no more: Replaced"; 8];
    bench.says(asking("touch 9"), &[&gone[..], &["1 asks touch 9"]].concat());
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
