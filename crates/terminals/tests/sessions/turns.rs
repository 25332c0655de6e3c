//! Turns of a session: each is typed once, and its answer is taken.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_message_at_home_is_typed_and_its_answer_comes_back() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello there"), None).await.unwrap();
    let prompt = room.takes(&a, 1).await;
    assert!(prompt.starts_with("User:\n\nhello there\n\n[moothall:"), "{prompt}");
    room.says(&a, "hello back").await;
    assert_eq!(room.said(&a).await, [pair("user", "hello there"), pair("claude", "hello back")]);
    let rows = room.log.of_stream(&a).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [DeliveryState::Done]);
}

#[tokio::test(start_paused = true)]
async fn a_session_runs_one_turn_at_a_time_and_each_answer_goes_where_it_was_asked() {
    let room = Room::new().await;
    let a = room.start().await;
    let other = room.hall.create(
        "other".into(),
        Policy::named(moothall_kernel::policy::PolicyName::MentionOnly),
        Actor::human("user"),
        None,
    );
    let other = other.await.unwrap().stream;
    let invite = moothall_kernel::command::Control::Invite(room.sessions().invite(&a).unwrap());
    let control = moothall_kernel::command::ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![invite],
    };
    room.hall.submit(&other, control, None).await.unwrap();
    room.hall.submit(&a, post("first"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.hall.submit(&other, post("@claude second"), None).await.unwrap();
    room.bench.show(a.as_str(), PaneState::Busy);
    assert_eq!(room.taken(&a).len(), 1, "nothing is typed while it works");
    room.says(&a, "one").await;
    room.takes(&a, 2).await;
    room.says(&a, "two").await;
    assert_eq!(room.said(&a).await, [pair("user", "first"), pair("claude", "one")]);
    assert_eq!(room.said(&other).await, [pair("user", "@claude second"), pair("claude", "two")]);
}

#[tokio::test(start_paused = true)]
async fn a_report_brought_twice_counts_once_and_a_forged_one_never() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    room.takes(&a, 1).await;
    let token = room.bench.with(a.as_str(), |screen| screen.token.clone());
    let news = HookNews::Stopped { text: Some("answer".into()), inputs: None, interrupted: false };
    let hook = Hook { id: "h".into(), session: a.clone(), token, native: None, news };
    let forged = Hook { token: "ses_other".into(), ..hook.clone() };
    let unknown = Hook { session: "nobody".into(), ..hook.clone() };
    assert_eq!(room.sessions().handle_report(forged).await.unwrap(), ReportOutcome::Forged);
    assert_eq!(room.sessions().handle_report(unknown).await.unwrap(), ReportOutcome::Unknown);
    for _ in 0..2 {
        room.sessions().handle_report(hook.clone()).await.unwrap();
    }
    assert_eq!(room.said(&a).await, [pair("user", "hello"), pair("claude", "answer")]);
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_nothing_is_typed_twice_and_the_answer_still_arrives() {
    let mut room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.restart().await;
    room.says(&a, "after the restart").await;
    eventually(async || Some(room.said(&a).await).filter(|said| said.len() == 2)).await;
    assert_eq!(room.said(&a).await, [pair("user", "hello"), pair("claude", "after the restart")]);
    assert_eq!(room.taken(&a).len(), 1);
    room.hall.submit(&a, post("again"), None).await.unwrap();
    room.takes(&a, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_comes_back_is_sent_off_again_and_not_typed_again() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    let first = eventually(async || room.taken(&a).first().cloned()).await;
    room.bench.with(a.as_str(), |screen| screen.composer.clone_from(&first));
    room.bench.show(a.as_str(), PaneState::Idle);
    assert_eq!(room.takes(&a, 2).await, first, "the same words once, with nothing added");
    room.says(&a, "hello back").await;
    assert_eq!(room.said(&a).await, [pair("user", "hello"), pair("claude", "hello back")]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_not_taken_is_shown_and_not_repeated() {
    let room = Room::new().await;
    let a = room.start().await;
    room.bench.with(a.as_str(), |screen| screen.stuck = true);
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    let unknown = |event: &Event| matches!(event, Event::TurnEnded { fault: Some(fault), .. } if fault.code == "delivery_unknown");
    eventually(async || {
        let events = room.hall.read(&a, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
        has(&events, unknown).then_some(())
    })
    .await;
    let rows = room.log.of_stream(&a).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [DeliveryState::Unknown]);
    assert!(
        room.bench.with(a.as_str(), |screen| screen.composer.contains("hello")),
        "it still stands there"
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_at_the_terminal_ends_the_turn_without_a_report() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.bench.show(a.as_str(), PaneState::Idle);
    let ended = |event: &Event| matches!(event, Event::TurnEnded { outcome: Outcome::Failed, fault: Some(fault), .. } if fault.code == "interrupted");
    eventually(async || {
        let events = room.hall.read(&a, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
        has(&events, ended).then_some(())
    })
    .await;
    room.hall.submit(&a, post("once more"), None).await.unwrap();
    room.takes(&a, 2).await;
}
