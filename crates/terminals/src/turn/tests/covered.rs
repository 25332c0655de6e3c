//! Pasted words, and a dialog that came before they were sent.

use super::*;
use crate::turn::typing::{ALTERED, FILED};

#[test]
fn words_behind_a_question_wait_and_are_sent_off_where_they_stand() {
    let covered = || Input::Pressed(Err(HostFault::Refused("a question".into())));
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Pending, true)]);
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    bench.says(Input::Marked(Ok(true)), &["paste"]);
    bench.says(Input::Pasted(Ok(PasteReport::default())), &["Enter"]);
    bench.says(covered(), &["1 Pending Written", "see"]);
    bench.says(screen(PaneState::Starting, ""), &[]);
    bench.time = 2;
    bench.says(Input::Tick, &["see"]);
    bench.says(screen(PaneState::Idle, "[Pasted text #1 +9 lines]"), &["1 Sending Synced"]);
    bench.says(Input::Marked(Ok(true)), &["Enter"]);
    bench.says(covered(), &["1 Pending Written", "see"]);
    bench.says(screen(PaneState::Starting, ""), &[]);
    // The program dropped the pasted words. They were not sent, so they are typed again.
    bench.time = 4;
    bench.says(Input::Tick, &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    bench.says(Input::Marked(Ok(true)), &["paste"]);
    // The second loss ends the turn, so that typing cannot repeat forever.
    bench.says(Input::Pasted(Ok(PasteReport::default())), &["Enter"]);
    bench.says(covered(), &["1 Pending Written", "see"]);
    bench.says(screen(PaneState::Starting, ""), &[]);
    bench.time = 6;
    bench.says(Input::Tick, &["see"]);
    bench.says(idle(), &["1 Unknown Written", "1 fails delivery_unknown", "see"]);
}

#[test]
fn words_that_come_back_after_a_question_were_not_taken_by_what_was_at_work() {
    let mut bench = Bench::sent(1);
    bench.reports = Reports { prompts: false, ..Reports::ALL };
    bench.time = 3;
    bench.says(Input::Tick, &["see"]);
    bench.says(asking("update?"), &[]);
    bench.says(Input::Drawn, &["see"]);
    bench.says(screen(PaneState::Idle, &tag_of(&key(1))), &["Enter"]);
}

#[test]
fn people_are_told_of_what_was_written_otherwise_or_went_as_a_file() {
    let mut bench = Bench::new(vec![earlier(1, DeliveryState::Pending, true)]);
    bench.says(Input::Offered(job(1)), &["see"]);
    bench.says(idle(), &["1 Sending Synced"]);
    bench.says(Input::Marked(Ok(true)), &["paste"]);
    let altered_notice = format!("tells {}", ALTERED.replace("{}", "2 tokens were"));
    let filed = format!("tells {}", FILED.replace("{}", "12 lines"));
    let altered = vec!["@a".to_owned(), "@b".to_owned()];
    let pasted = PasteReport { altered, filed: 12 };
    bench.says(Input::Pasted(Ok(pasted)), &[&altered_notice, &filed, "Enter"]);
}
