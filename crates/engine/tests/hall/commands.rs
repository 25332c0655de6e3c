//! Commands: answered after commit, executed once per key, and rejected before anything is decided.

use moothall_engine::hall::{Answer, HallError};
use moothall_engine::ports::{AppendError, Deliveries, EventLog, LogError};
use moothall_kernel::command::{Actor, ClientCommand, Control};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::{Millis, Timestamp};

use crate::common::{Parrot, has, words};
use crate::common::{World, agent, eventually, key, open, post, post_by};

#[tokio::test(start_paused = true)]
async fn a_command_is_answered_when_it_is_committed_and_not_before() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.close_gate();
    let hall = world.hall.clone();
    let at = stream.clone();
    let submitted = tokio::spawn(async move { hall.submit(&at, post("hello"), None).await });
    world.log.waiting.notified().await;
    assert!(!submitted.is_finished());
    assert_eq!(world.said(&stream).await, []);
    world.log.open_gate();
    let answer = submitted.await.unwrap().unwrap();
    assert_eq!(answer.head, Seq(2));
    assert_eq!(world.events(&stream).await.last(), answer.event.as_ref());
}

#[tokio::test(start_paused = true)]
async fn what_waits_together_is_one_append() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.close_gate();
    let first = tokio::spawn(submit(&world, &stream, "0"));
    world.log.waiting.notified().await;
    let rest: Vec<_> =
        (1..=50).map(|n| tokio::spawn(submit(&world, &stream, &n.to_string()))).collect();
    tokio::task::yield_now().await;
    let before = world.log.appended();
    world.log.open_gate();
    first.await.unwrap().unwrap();
    for post in rest {
        post.await.unwrap().unwrap();
    }
    assert_eq!(world.log.appended() - before, 2);
    assert_eq!(world.said(&stream).await.len(), 51);
}

fn submit(
    world: &World,
    stream: &StreamId,
    body: &str,
) -> impl Future<Output = Result<Answer, HallError>> + use<> {
    let (hall, stream, body) = (world.hall.clone(), stream.clone(), body.to_owned());
    async move { hall.submit(&stream, post(&body), None).await }
}

#[tokio::test(start_paused = true)]
async fn one_key_gives_one_event_however_many_ask() {
    let world = World::new().await;
    let stream = world.create().await;
    let ask = || {
        let (hall, stream) = (world.hall.clone(), stream.clone());
        tokio::spawn(
            async move { hall.submit(&stream, post("once"), key("k", "f")).await.unwrap() },
        )
    };
    let asked: Vec<_> = (0..100).map(|_| ask()).collect();
    let mut answers = Vec::new();
    for asked in asked {
        answers.push(asked.await.unwrap());
    }
    assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1);
    assert!(
        answers.iter().all(|answer| answer.event == answers[0].event && answer.event.is_some())
    );
    assert_eq!(world.said(&stream).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_replay_survives_a_restart_and_another_request_is_refused() {
    let world = World::new().await;
    let stream = world.create().await;
    let first = world.hall.submit(&stream, post("once"), key("k", "f")).await.unwrap();
    let world = world.restart(&[]).await;
    let again = world.hall.submit(&stream, post("once"), key("k", "f")).await.unwrap();
    assert_eq!((again.event, again.replayed), (first.event, true));
    assert_eq!(
        world.hall.submit(&stream, post("else"), key("k", "g")).await,
        Err(HallError::KeyReused)
    );
    let other = world.create().await;
    assert_eq!(
        world.hall.submit(&other, post("else"), key("k", "g")).await,
        Err(HallError::KeyReused)
    );
    assert_eq!(world.said(&stream).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_lapses_after_a_day() {
    let world = World::new().await;
    let stream = world.create().await;
    world.hall.submit(&stream, post("once"), key("k", "f")).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(24 * 3600 + 1)).await;
    let later = world.hall.submit(&stream, post("again"), key("k", "g")).await.unwrap();
    assert!(!later.replayed);
}

#[tokio::test(start_paused = true)]
async fn a_key_creates_one_conversation_however_many_ask() {
    let world = World::new().await;
    let create = || {
        let hall = world.hall.clone();
        let idempotency = key("new", "f");
        tokio::spawn(async move {
            hall.create("one".into(), Policy::default(), Actor::human("user"), idempotency)
                .await
                .unwrap()
        })
    };
    let asked: Vec<_> = (0..20).map(|_| create()).collect();
    let mut streams = Vec::new();
    for asked in asked {
        streams.push(asked.await.unwrap().stream);
    }
    streams.dedup();
    assert_eq!(streams.len(), 1);
    assert_eq!(world.hall.list(Default::default()).await.unwrap().streams.len(), 1);
    assert_eq!(world.hall.live_streams(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_taken_in_the_meantime_spoils_only_its_own_command() {
    let world = World::new().await;
    let (one, two) = (world.create().await, world.create().await);
    let keyed = |stream: &StreamId, fingerprint: &'static str| {
        let (hall, stream) = (world.hall.clone(), stream.clone());
        tokio::spawn(
            async move { hall.submit(&stream, post("keyed"), key("k", fingerprint)).await },
        )
    };
    world.log.close_gate();
    let first = keyed(&one, "f");
    world.log.waiting.notified().await;
    let (second, same, plain) =
        (keyed(&two, "g"), keyed(&two, "f"), tokio::spawn(submit(&world, &two, "plain")));
    world.log.waiting.notified().await;
    world.log.open_gate();
    let first = first.await.unwrap().unwrap();
    assert_eq!(second.await.unwrap(), Err(HallError::KeyReused));
    assert_eq!(same.await.unwrap().unwrap(), Answer { replayed: true, ..first });
    plain.await.unwrap().unwrap();
    assert_eq!(world.said(&two).await, [("user".into(), "plain".into())]);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_moved_on_is_read_again() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.fail_next(AppendError::Conflict { stream: stream.clone(), head: Seq(7) });
    assert_eq!(world.post(&stream, "lost").await, Err(HallError::Overloaded));
    assert_eq!(world.post(&stream, "again").await.unwrap().head, Seq(2));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_remembered_and_keeps_words_in_the_trace() {
    let world = World::with(&[("parrot", agent(Parrot("[PASS]")))]).await;
    let stream = world.create().await;
    world.invite(&stream, "p", "parrot").await;
    let mute = ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![Control::Mute(vec!["p".into()])],
    };
    world.hall.submit(&stream, mute, None).await.unwrap();
    let refused = world.hall.submit(&stream, post_by("p", "let me speak"), key("k", "f")).await;
    let Err(HallError::Rejected(rejection)) = refused else { panic!("{refused:?}") };
    assert_eq!(rejection.code, "participant_muted");
    assert!(has(&world.events(&stream).await, |event| event.kind() == "kept"));
    let unmute = ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![Control::Unmute(vec!["p".into()])],
    };
    world.hall.submit(&stream, unmute, None).await.unwrap();
    let answer =
        world.hall.submit(&stream, post_by("p", "let me speak"), key("k", "f")).await.unwrap();
    assert_eq!(answer.event.as_ref().and_then(words).unwrap().1, "let me speak");
}

#[tokio::test(start_paused = true)]
async fn too_much_is_refused_before_anything_is_decided() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.close_gate();
    let stuck = tokio::spawn(submit(&world, &stream, "stuck"));
    world.log.waiting.notified().await;
    let waiting: Vec<_> =
        (0..2000).map(|n| tokio::spawn(submit(&world, &stream, &n.to_string()))).collect();
    tokio::task::yield_now().await;
    world.log.open_gate();
    stuck.await.unwrap().unwrap();
    let mut refused = 0;
    for waiting in waiting {
        match waiting.await.unwrap() {
            Ok(_) => {}
            Err(HallError::Overloaded) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 0, "a bounded queue must overflow");
    assert_eq!(world.said(&stream).await.len(), 2001 - refused);
    world.post(&stream, "it recovers").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unknown_conversation_leaves_nothing_behind() {
    let world = World::new().await;
    let unknown = StreamId::new("0193-no-such");
    let not_found = HallError::NotFound(unknown.clone());
    assert_eq!(world.post(&unknown, "hello").await, Err(not_found.clone()));
    assert_eq!(world.hall.view(&unknown, |state| state.head()).await, Err(not_found.clone()));
    assert_eq!(world.hall.subscribe(&unknown).await.err(), Some(not_found.clone()));
    assert_eq!(
        world.hall.set_presence(&unknown, "a".into(), "idle".into(), None).await,
        Err(not_found.clone())
    );
    assert_eq!(world.hall.presence(&unknown).await, Err(not_found.clone()));
    assert_eq!(world.hall.connect(&unknown, "a".into(), true).await.err(), Some(not_found.clone()));
    assert_eq!(world.hall.read(&unknown, Seq(0), None).await, Err(not_found.clone()));
    assert_eq!(world.hall.find(&unknown).await, Err(not_found));
    assert_eq!(world.hall.live_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_refused_creation_leaves_nothing_behind() {
    let world = World::new().await;
    let refused =
        world.hall.create("x".repeat(1000), Policy::default(), Actor::human("user"), None).await;
    assert!(matches!(refused, Err(HallError::Rejected(_))), "{refused:?}");
    eventually(async || (world.hall.live_streams() == 0).then_some(())).await;
    assert_eq!(world.hall.list(Default::default()).await.unwrap().streams, []);
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_refuses_writes_keeps_reads_and_recovers() {
    let world = World::new().await;
    let stream = world.create().await;
    world.post(&stream, "before").await.unwrap();
    world.log.fail_next(AppendError::Full);
    assert_eq!(world.post(&stream, "lost").await, Err(HallError::DiskFull));
    assert_eq!(world.hall.view(&stream, |state| state.head()).await, Ok(Seq(2)));
    assert_eq!(world.post(&stream, "after").await.unwrap().head, Seq(3));
    assert_eq!(world.said(&stream).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_does_not_keep_a_stream_from_being_loaded_and_read() {
    let world = World::new().await;
    let stream = world.create().await;
    let world = world.restart(&[]).await;
    world.log.fail_next_acquire(LogError::Full);
    assert_eq!(world.hall.view(&stream, |state| state.head()).await, Ok(Seq(1)));
    assert_eq!(world.hall.subscribe(&stream).await.unwrap().head, Seq(1));
    assert_eq!(world.post(&stream, "lost").await, Err(HallError::DiskFull));
    assert_eq!(world.post(&stream, "after").await.unwrap().head, Seq(2));
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_is_late_finds_out_and_reads_again() {
    let world = World::new().await;
    let stream = world.create().await;
    let world = world.restart(&[]).await;
    assert_eq!(world.hall.view(&stream, |state| state.head()).await, Ok(Seq(1)));
    let other = World {
        hall: open(&world.log, &world.clock, &Default::default()).await,
        log: world.log.clone(),
        clock: world.clock.clone(),
    };
    other.post(&stream, "first").await.unwrap();
    assert_eq!(world.post(&stream, "late").await, Err(HallError::Overloaded));
    assert_eq!(world.post(&stream, "second").await.unwrap().head, Seq(3));
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_an_agent_waits_until_the_disk_has_room() {
    let world = World::with(&[("parrot", agent(Parrot("here I am")))]).await;
    let stream = world.create().await;
    world.invite(&stream, "p", "parrot").await;
    world.log.close_gate();
    let hall = world.hall.clone();
    let at = stream.clone();
    let posted = tokio::spawn(async move { hall.submit(&at, post("@p hello"), None).await });
    world.log.waiting.notified().await;
    world.log.gate.add_permits(1);
    posted.await.unwrap().unwrap();
    world.log.waiting.notified().await;
    world.log.fail_next(AppendError::Full);
    world.log.fail_next(AppendError::Overloaded);
    world.log.open_gate();
    let events = world.until(&stream, |events| events.iter().filter_map(words).count() == 2).await;
    assert_eq!(
        events.iter().filter_map(words).next_back().unwrap(),
        ("p".into(), "here I am".into())
    );
}

#[tokio::test(start_paused = true)]
async fn a_fatal_log_is_told_once_and_for_all() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.fail_next(AppendError::Fatal("fsync".into()));
    assert!(matches!(world.post(&stream, "lost").await, Err(HallError::Failed(_))));
    assert_eq!(world.hall.wait_for_failure().await, "fsync");
    assert!(matches!(world.post(&stream, "no more").await, Err(HallError::Failed(_))));
    assert_eq!(world.said(&stream).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_another_writer_took_is_read_again_on_the_next_use() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.acquire(&stream, "another").await.unwrap();
    assert_eq!(world.post(&stream, "fenced").await, Err(HallError::Overloaded));
    eventually(async || (world.hall.live_streams() == 0).then_some(())).await;
    world.post(&stream, "again").await.unwrap();
    assert_eq!(world.said(&stream).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_another_process_holds_is_read_and_not_written() {
    let world = World::new().await;
    let stream = world.create().await;
    let world = world.restart(&[]).await;
    world.log.lease_until(Timestamp::from_millis(i64::MAX));
    assert_eq!(world.hall.view(&stream, |state| state.head()).await, Ok(Seq(1)));
    assert_eq!(world.post(&stream, "held").await, Err(HallError::Overloaded));
    world.log.lease_until(Timestamp::default());
    assert_eq!(world.post(&stream, "free").await.unwrap().head, Seq(2));
}

#[tokio::test(start_paused = true)]
async fn an_outside_target_belongs_to_one_conversation() {
    let world = World::new().await;
    let (one, two) = (world.create().await, world.create().await);
    let bind = || ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![Control::BindChat("telegram:-100".parse().unwrap())],
    };
    world.hall.submit(&one, bind(), None).await.unwrap();
    let refused = world.hall.submit(&two, bind(), None).await;
    let Err(HallError::Rejected(rejection)) = refused else { panic!("{refused:?}") };
    assert_eq!(rejection.code, "taken");
    assert!(world.hall.view(&two, |state| state.bindings().next().is_none()).await.unwrap());
    world.post(&one, "hello").await.unwrap();
    let owed = world.log.inner.of_stream(&one).await.unwrap();
    // The chat is told that it was bound, and what was said.
    let through: Vec<_> = owed.iter().map(|delivery| delivery.through_seq).collect();
    assert_eq!(through, [Seq(2), Seq(3)]);
    world
        .hall
        .submit(&one, ClientCommand::Archive { on: true, by: Actor::human("user") }, None)
        .await
        .unwrap();
    world.hall.submit(&two, bind(), None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn draining_commits_what_is_queued_and_takes_no_more() {
    let world = World::new().await;
    let stream = world.create().await;
    world.log.close_gate();
    let queued: Vec<_> =
        (0..10).map(|n| tokio::spawn(submit(&world, &stream, &n.to_string()))).collect();
    world.log.waiting.notified().await;
    let hall = world.hall.clone();
    let drained = tokio::spawn(async move { hall.drain(Millis::from_secs(10)).await });
    tokio::task::yield_now().await;
    assert_eq!(world.post(&stream, "too late").await, Err(HallError::ShuttingDown));
    world.log.open_gate();
    drained.await.unwrap();
    assert_eq!(world.said(&stream).await.len(), 10);
    for queued in queued {
        queued.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_again_and_again_is_counted_and_told_within_the_hour() {
    let world = World::with(&[("parrot", agent(Parrot("[PASS]")))]).await;
    let stream = world.create().await;
    world.invite(&stream, "p", "parrot").await;
    let mute = ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![Control::Mute(vec!["p".into()])],
    };
    world.hall.submit(&stream, mute, None).await.unwrap();
    for _ in 0..100 {
        world.hall.submit(&stream, post_by("p", "let me speak"), None).await.unwrap_err();
    }
    let kept = |events: &[moothall_kernel::event::RecordedEvent]| {
        events.iter().filter(|event| event.event.kind() == "kept").count()
    };
    let events = world.events(&stream).await;
    assert_eq!(
        (
            kept(&events),
            has(&events, |event| matches!(event, Event::Discarded { until: Some(_), .. }))
        ),
        (20, true)
    );
    let appends = world.log.appended();
    world.hall.submit(&stream, post_by("p", "let me speak"), None).await.unwrap_err();
    assert_eq!(world.log.appended(), appends, "what is only counted writes nothing");
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    let is_report = |event: &Event| {
        matches!(event, Event::Discarded { count: 80, bytes: 960, until: None, .. })
    };
    world.until(&stream, |events| has(events, is_report)).await;
}
