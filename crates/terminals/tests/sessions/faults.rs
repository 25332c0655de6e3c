//! Unreachable terminals, programs that die or give up, and repeated requests.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_terminal_that_cannot_be_reached_is_tried_again_and_its_session_stays() {
    let mut room = Room::new().await;
    let a = room.start().await;
    room.bench.go_away(a.as_str());
    eventually(async || (room.bench.tries.load(Relaxed) >= 3).then_some(())).await;
    room.hall.submit(&a, post("are you there?"), None).await.unwrap();
    room.bench.away.store(false, Relaxed);
    room.takes(&a, 1).await;
    room.says(&a, "all the time").await;
    assert_eq!(
        room.said(&a).await,
        [pair("user", "are you there?"), pair("claude", "all the time")]
    );
    // A server that starts while the terminals are unreachable waits too.
    room.bench.away.store(true, Relaxed);
    room.bench.tries.store(0, Relaxed);
    room.restart().await;
    eventually(async || (room.bench.tries.load(Relaxed) >= 2).then_some(())).await;
    room.hall.submit(&a, post("and now?"), None).await.unwrap();
    room.bench.away.store(false, Relaxed);
    room.takes(&a, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_shell_has_to_show_twice_before_its_session_ends() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.bench.show(a.as_str(), PaneState::Shell);
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    room.bench.show(a.as_str(), PaneState::Busy);
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    room.says(&a, "still here").await;
    assert_eq!(room.said(&a).await, [pair("user", "hello"), pair("claude", "still here")]);
    assert!(room.bench.forgotten.lock().unwrap().is_empty());
    room.bench.show(a.as_str(), PaneState::Shell);
    eventually(async || room.sessions().list(false).is_empty().then_some(())).await;
    assert_eq!(*room.bench.forgotten.lock().unwrap(), [a.to_string()]);
}

#[tokio::test(start_paused = true)]
async fn the_last_report_of_a_program_that_died_still_counts() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("hello"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.bench.with(a.as_str(), |screen| {
        screen.state = PaneState::Gone;
        screen.news.send(PaneNews::Died).unwrap();
    });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let news = HookNews::Stopped { text: Some("goodbye".into()), inputs: None, interrupted: false };
    assert_eq!(room.hook(&a, news).await, ReportOutcome::Yes);
    assert_eq!(room.said(&a).await, [pair("user", "hello"), pair("claude", "goodbye")]);
    eventually(async || room.sessions().list(false).is_empty().then_some(())).await;
}

/// A program remembers a typed prompt, even if its turn failed. A prompt that was never typed is
/// offered again.
#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_after_it_was_typed_is_not_typed_again() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("the first thing"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.bench.show(a.as_str(), PaneState::Idle);
    let ended = async |count: usize| {
        eventually(async || {
            let events =
                room.hall.read(&a, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
            let ends = events.iter().filter(|event| matches!(event.event, Event::TurnEnded { .. }));
            (ends.count() >= count).then_some(())
        })
        .await;
    };
    ended(1).await;
    room.hall.submit(&a, post("the second thing"), None).await.unwrap();
    let second = room.takes(&a, 2).await;
    assert!(second.contains("the second thing") && !second.contains("the first thing"), "{second}");
    let stop = moothall_kernel::command::ClientCommand::Stop { by: Actor::human("user") };
    room.hall.submit(&a, stop, None).await.unwrap();
    room.bench.show(a.as_str(), PaneState::Idle);
    ended(2).await;
    room.hall.submit(&a, post("the third thing"), None).await.unwrap();
    let third = room.takes(&a, 3).await;
    assert!(third.contains("the third thing") && !third.contains("the second thing"), "{third}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_before_it_was_typed_is_brought_again() {
    let room = Room::new().await;
    let a = room.start().await;
    room.bench.broken.store(true, Relaxed);
    room.hall.submit(&a, post("the first thing"), None).await.unwrap();
    eventually(async || {
        let events = room.hall.read(&a, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
        has(&events, |event| matches!(event, Event::TurnEnded { outcome: Outcome::Failed, .. }))
            .then_some(())
    })
    .await;
    room.bench.broken.store(false, Relaxed);
    room.hall.submit(&a, post("the second thing"), None).await.unwrap();
    let prompt = room.takes(&a, 1).await;
    assert!(prompt.contains("the first thing") && prompt.contains("the second thing"), "{prompt}");
}

/// A turn that its program gives up, for example because the model is unreachable, has failed; it
/// does not count as a pass.
#[tokio::test(start_paused = true)]
async fn a_turn_that_its_program_gives_up_has_failed() {
    let room = Room::new().await;
    let a = room.start().await;
    room.hall.submit(&a, post("the first thing"), None).await.unwrap();
    room.takes(&a, 1).await;
    room.bench.show(a.as_str(), PaneState::Idle);
    room.hook(&a, HookNews::Failed { message: "API Error: 500".into() }).await;
    let failed = |event: &Event| matches!(event, Event::TurnEnded { fault: Some(fault), .. } if fault.message == "API Error: 500");
    let events = room.hall.read(&a, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
    assert!(
        has(&events, failed)
            && room.said(&a).await
                == [pair("user", "the first thing"), pair("moothall", "[claude failed]")]
    );
    room.hall.submit(&a, post("the second thing"), None).await.unwrap();
    assert!(!room.takes(&a, 2).await.contains("the first thing"), "it remembers what it was told");
}

/// The server dies between making a session's home and answering: a repeated request finds the
/// session.
#[tokio::test(start_paused = true)]
async fn a_repeated_start_finds_its_session_after_a_restart() {
    let mut room = Room::new().await;
    let new = || NewSession {
        client: "claude".into(),
        cwd: "/".into(),
        args: Vec::new(),
        name: Some("ada".into()),
        by: Actor::human("user"),
        session: None,
        place: None,
    };
    let key = |fingerprint: &str| {
        Some(Idempotency {
            principal: "user".into(),
            key: "k".into(),
            fingerprint: fingerprint.into(),
        })
    };
    let first = room.sessions().start_once(new(), key("f")).await.unwrap().session;
    room.restart().await;
    assert_eq!(room.sessions().start_once(new(), key("f")).await.unwrap().session.id, first.id);
    assert!(matches!(
        room.sessions().start_once(new(), key("g")).await,
        Err(SessionError::Hall(HallError::KeyReused))
    ));
    assert_eq!(room.sessions().list(false).len(), 1);
}

/// A program that reports prompts only with its answer: an interrupted turn is reported with the
/// next one.
#[tokio::test(start_paused = true)]
async fn two_tags_in_one_stop_are_answered_once() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&b, &a, "the first thing", true).await.link.unwrap();
    let first = eventually(async || room.taken(&a).first().cloned()).await;
    // A person presses Esc. The program sends no report, and its screen stays idle until the grace
    // period ends.
    room.bench.show(a.as_str(), PaneState::Idle);
    room.send(&b, &a, "the second thing", true).await;
    let second = eventually(async || room.taken(&a).get(1).cloned()).await;
    assert!(second.contains("the second thing") && !second.contains("the first thing"), "{second}");
    room.bench.show(a.as_str(), PaneState::Idle);
    let news = || HookNews::Stopped {
        text: Some("both are done".into()),
        inputs: Some(vec![first.clone(), second.clone()]),
        interrupted: true,
    };
    assert_eq!(room.hook(&a, news()).await, ReportOutcome::Yes);
    let said = room.said(&link).await;
    let own: Vec<&str> =
        said.iter().filter(|(from, _)| from == "claude").map(|(_, words)| words.as_str()).collect();
    assert_eq!(own, ["both are done"], "{said:?}");
    let events = room.hall.read(&link, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
    let ends = events.iter().filter_map(|event| match &event.event {
        Event::TurnEnded { participant, outcome, .. } if participant.as_str() == "claude" => {
            Some(*outcome)
        }
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [Outcome::Failed, Outcome::Spoke], "each turn ended once");
}
