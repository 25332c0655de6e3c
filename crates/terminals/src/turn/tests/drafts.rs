//! A person's draft in the composer of an idle program.

use super::*;

#[test]
fn a_draft_is_a_state_and_people_are_told_once_that_something_waits_behind_it() {
    let draft = || screen(PaneState::Idle, "half a sentence");
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Pending, true)]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(draft(), &[]);
    assert_eq!(bench.machine.doing(), Activity::Drafting);
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(draft(), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(draft(), &[]);
    bench.time = 15;
    bench.says(Input::Tick, &["see"]);
    let outputs = bench.handle(draft());
    let tells = |output: &&Output| matches!(output, Output::Tell { .. });
    let notices: Vec<_> = outputs.iter().filter(tells).filter_map(short).collect();
    assert!(notices.len() == 1 && notices[0].contains("A draft is in the composer"), "{notices:?}");
    bench.time = 40;
    bench.says(Input::Drawn, &["see"]);
    bench.says(draft(), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    assert_ne!(bench.machine.doing(), Activity::Drafting);
}

#[test]
fn words_wait_while_a_person_has_the_terminal() {
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Pending, true)]);
    bench.says(Input::Taken(true), &["see"]);
    bench.says(idle(), &[]);
    bench.says(Input::Offered(job(1)), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(idle(), &[]);
    bench.says(Input::Taken(false), &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
}
