//! Reading: appended events in order, page by page.

use moothall_engine::log_format::codec;
use moothall_engine::ports::{EventLog, LogError, PAGE_BYTES_MAX, Page};
use moothall_kernel::event::{Change, Event, Outcome, Recipient, SuppressedBecause, Usage};
use moothall_kernel::ids::{ParticipantId, Seq, TurnNo};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Millis;

use super::Subject;
use super::build::{Builder, at, batch, epoch, places, words};

/// Events come back unchanged: long and empty bodies, times, contents and every shape of an event
/// on disk.
pub async fn events_come_back_as_they_were<S: Subject>(subject: S) {
    let log = subject.log();
    let user = ParticipantId::user();
    let kept = Event::Suppressed {
        participant: user.clone(),
        turn: Some(TurnNo(1)),
        because: SuppressedBecause::Late,
        counted: 0,
        body: "too late".into(),
    };
    let content = serde_json::json!({"deep": [1, {"q": "\"\u{0}\u{1f600}"}], "big": 9_007_199_254_740_993_i64});
    let (to, kind, tags) = (Recipient::All, "x".to_owned(), vec!["t".to_owned()]);
    let foreign = Event::Custom {
        from: user.clone(),
        to,
        kind,
        content,
        tags,
        reply_to: None,
        unproven: true,
    };
    let usage = Usage { ms: 5, ..Usage::default() };
    let written = batch("a", 0)
        .event(Event::Created {
            name: "A \"hall\"\n".into(),
            by: user.clone(),
            policy: Policy::default(),
            task: None,
            folder: None,
        })
        .event(Event::Controlled {
            by: user.clone(),
            changes: vec![Change::GuardLifted, Change::Paused { on: true }],
            unproven: false,
        })
        .event(Event::RoundClosed)
        .event(kept)
        .event(foreign)
        .event(Event::TurnEnded {
            turn: TurnNo(1),
            participant: user,
            attempt: 1,
            outcome: Outcome::Spoke,
            fault: None,
            usage,
            ended: None,
            hosted: None,
        })
        .event(Event::ClockShifted { downtime: Millis(5) })
        .says("")
        .says(&"long, \u{0} and \u{1f600}\r\n ".repeat(20_000))
        .says_at(1_763_693_999_042, "'; DROP TABLE events; --");
    log.append(vec![written.clone()]).await.unwrap();
    let page = log.read(&"a".into(), Seq(0), 100).await.unwrap();
    assert_eq!(page, Page { events: written.events, through: Seq(10), newer: None });
}

/// Pages of any size give each event once.
pub async fn pages_join_without_a_gap<S: Subject>(subject: S) {
    let log = subject.log();
    let bodies: Vec<String> = (1..=23).map(|n| format!("message {n}")).collect();
    let all = bodies.iter().fold(batch("a", 0), |batch, body| batch.says(body));
    log.append(vec![all]).await.unwrap();
    log.append(vec![batch("b", 0).says("of another stream")]).await.unwrap();
    for limit in [1, 2, 7, 22, 23, 24, usize::MAX] {
        let mut after = Seq(0);
        let mut read = Vec::new();
        while after < Seq(23) {
            let page = log.read(&"a".into(), after, limit).await.unwrap();
            assert!(page.events.len() <= limit);
            assert_eq!(page.through, Seq(after.0 + page.events.len() as u64));
            assert!(page.through > after, "a page at {after} stands still");
            after = page.through;
            read.extend(page.events);
        }
        assert_eq!(words(&read), bodies);
        assert_eq!(places(&read), (1..=23).collect::<Vec<_>>());
    }
}

/// Pages are bounded in bytes too. An event larger than a page comes alone.
pub async fn a_page_is_bounded_in_bytes<S: Subject>(subject: S) {
    let log = subject.log();
    let long = |n: usize| format!("{n} ").repeat(PAGE_BYTES_MAX / 8);
    let content = serde_json::json!({ "own": "x".repeat(PAGE_BYTES_MAX / 2) });
    let foreign = Event::Custom {
        from: ParticipantId::user(),
        to: Recipient::All,
        kind: "x".into(),
        content,
        tags: Vec::new(),
        reply_to: None,
        unproven: false,
    };
    let all = (1..=9).fold(batch("a", 0), |batch, n| batch.says(&long(n)));
    let all = all
        .says(&"huge ".repeat(PAGE_BYTES_MAX))
        .says("short")
        .event(foreign.clone())
        .event(foreign);
    log.append(vec![all]).await.unwrap();
    let (mut after, mut sizes) = (Seq(0), Vec::new());
    while after < Seq(13) {
        let page = log.read(&"a".into(), after, 100).await.unwrap();
        let bytes: usize = page.events.iter().map(|recorded| codec::weight(&recorded.event)).sum();
        assert!(
            bytes <= PAGE_BYTES_MAX + 1024 || page.events.len() == 1,
            "{bytes} bytes in {} events",
            page.events.len()
        );
        assert_eq!(page.through, Seq(after.0 + page.events.len() as u64));
        after = page.through;
        sizes.push(page.events.len());
    }
    assert_eq!(sizes, [3, 3, 3, 1, 2, 1]);
}

/// A read past the end gives no events and keeps the position.
pub async fn reading_past_the_end_gives_nothing<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    for after in [2, 3, 1_000_000] {
        let nothing = Page { events: vec![], through: Seq(after), newer: None };
        assert_eq!(log.read(&"a".into(), Seq(after), 10).await, Ok(nothing));
    }
    assert_eq!(
        log.read(&"a".into(), Seq(1), 0).await,
        Ok(Page { events: vec![], through: Seq(1), newer: None })
    );
}

/// A stream that never began is not found, even if it has a writer.
pub async fn a_stream_that_did_not_begin_is_not_found<S: Subject>(subject: S) {
    let log = subject.log();
    epoch(log, "b", "owner").await;
    for id in ["a", "b", "", "%00", "' OR 1=1"] {
        assert_eq!(log.read(&id.into(), Seq(0), 10).await, Err(LogError::NotFound(id.into())));
    }
}

/// The first newer event is named, all are left out, and the position moves past them.
pub async fn a_newer_kind_is_reported_and_left_out<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    subject.append_newer(&"a".into(), at(2), "teleported").await;
    log.append(vec![batch("a", 2).says("three")]).await.unwrap();
    subject.append_newer(&"a".into(), at(4), "levitated").await;
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(4));

    let page = log.read(&"a".into(), Seq(0), 10).await.unwrap();
    assert_eq!(words(&page.events), ["one", "three"]);
    assert_eq!((page.through, page.newer), (Seq(4), Some((Seq(2), "teleported".into()))));
    let page = log.read(&"a".into(), Seq(1), 1).await.unwrap();
    assert_eq!(
        (page.events, page.through, page.newer),
        (vec![], Seq(2), Some((Seq(2), "teleported".into())))
    );
    let page = log.read(&"a".into(), Seq(2), 2).await.unwrap();
    assert_eq!(words(&page.events), ["three"]);
    assert_eq!((page.through, page.newer), (Seq(4), Some((Seq(4), "levitated".into()))));
    assert_eq!(log.read(&"a".into(), Seq(2), 1).await.unwrap().newer, None);
}
