//! The catalog: the rows that start-up reads instead of events.

use moothall_engine::ports::{Catalog, DELETED, EventLog, ListFilter, ListPage, ListedStream};
use moothall_kernel::aggregate::CONVERSATION;
use moothall_kernel::ids::{Seq, StreamId};

use super::Subject;
use super::build::{Builder, at, batch, epoch};

fn ids(streams: &[ListedStream]) -> Vec<&str> {
    streams.iter().map(|listed| listed.stream.as_str()).collect()
}

/// The row has every field, and the head and time of the newest event.
pub async fn the_row_is_that_of_the_last_append<S: Subject>(subject: S) {
    let log = subject.log();
    let first = Catalog {
        kind: "a kind".into(),
        title: "One".into(),
        policy: "hybrid".into(),
        created_at: at(40),
        next_wake: Some(at(99)),
        has_duties: true,
        archived: false,
        waits_for_people: Some(2),
    };
    let second = Catalog {
        title: "Two".into(),
        policy: "open".into(),
        next_wake: None,
        has_duties: false,
        archived: true,
        ..first.clone()
    };
    log.append(vec![
        batch("a", 0).says_at(41, "one").says_at(50, "two").row(|row| *row = first.clone()),
    ])
    .await
    .unwrap();
    let expected =
        ListedStream { stream: "a".into(), head: Seq(2), last_ts: at(50), catalog: first };
    assert_eq!(log.find(&"a".into()).await, Ok(Some(expected)));

    log.append(vec![batch("a", 2).says_at(60, "three").row(|row| *row = second.clone())])
        .await
        .unwrap();
    let expected =
        ListedStream { stream: "a".into(), head: Seq(3), last_ts: at(60), catalog: second.clone() };
    assert_eq!(log.find(&"a".into()).await, Ok(Some(expected)));

    let renamed = Catalog { title: "Three".into(), waits_for_people: Some(0), ..second };
    log.append(vec![batch("a", 3).row(|row| *row = renamed.clone())]).await.unwrap();
    let expected =
        ListedStream { stream: "a".into(), head: Seq(3), last_ts: at(60), catalog: renamed };
    assert_eq!(log.find(&"a".into()).await, Ok(Some(expected)));
}

/// Streams are listed in the order of their first events, not of acquires or later writes.
pub async fn streams_are_listed_in_creation_order<S: Subject>(subject: S) {
    let log = subject.log();
    let early = epoch(log, "acquired-first", "owner").await;
    epoch(log, "never-begun", "owner").await;
    for id in ["z", "m", "a"] {
        log.append(vec![batch(id, 0).says("one")]).await.unwrap();
    }
    log.append(vec![batch("acquired-first", 0).by(early).says("one")]).await.unwrap();
    log.append(vec![batch("z", 1).says("two")]).await.unwrap();
    let page = log.list(ListFilter::default()).await.unwrap();
    assert_eq!(ids(&page.streams), ["z", "m", "a", "acquired-first"]);
    assert_eq!(page.next, None);
    assert_eq!(page.streams[0].head, Seq(2));
}

/// Pages join, even if streams are created between them. The last page says that it is the last.
pub async fn a_listing_is_paged<S: Subject>(subject: S) {
    let log = subject.log();
    for n in 1..=6 {
        log.append(vec![batch(&format!("s{n}"), 0).says("one")]).await.unwrap();
    }
    let page = |after, limit| log.list(ListFilter { after, limit, ..ListFilter::default() });
    let first = page(None, Some(4)).await.unwrap();
    assert_eq!(ids(&first.streams), ["s1", "s2", "s3", "s4"]);
    assert!(first.next.is_some());
    log.append(vec![batch("s7", 0).says("one")]).await.unwrap();
    let second = page(first.next, Some(3)).await.unwrap();
    assert_eq!((ids(&second.streams), second.next), (vec!["s5", "s6", "s7"], None));
    assert_eq!(ids(&page(first.next, None).await.unwrap().streams), ["s5", "s6", "s7"]);

    let none = page(None, Some(0)).await.unwrap();
    assert_eq!(none.streams, vec![]);
    assert_eq!(page(none.next, None).await.unwrap().streams.len(), 7);
}

/// A listing filters by the archived mark. A page counts only the shown streams.
pub async fn a_listing_is_filtered<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, archived) in [("a", true), ("b", false), ("c", true), ("d", false), ("e", true)] {
        log.append(vec![batch(id, 0).says("one").row(|row| row.archived = archived)])
            .await
            .unwrap();
    }
    let archived = ListFilter { archived: Some(true), ..ListFilter::default() };
    assert_eq!(ids(&log.list(archived.clone()).await.unwrap().streams), ["a", "c", "e"]);
    let first = log.list(ListFilter { limit: Some(2), ..archived.clone() }).await.unwrap();
    assert_eq!(ids(&first.streams), ["a", "c"]);
    let second =
        log.list(ListFilter { limit: Some(2), after: first.next, ..archived }).await.unwrap();
    assert_eq!((ids(&second.streams), second.next), (vec!["e"], None));
    let open = ListFilter { archived: Some(false), limit: Some(2), ..ListFilter::default() };
    let page = log.list(open).await.unwrap();
    assert_eq!((ids(&page.streams), page.next), (vec!["b", "d"], None));
}

/// A listing shows the streams with duties or with something for a person, without archived ones.
pub async fn a_listing_is_of_marked_streams<S: Subject>(subject: S) {
    let log = subject.log();
    let rows: [(&str, bool, Option<u32>, bool); 6] = [
        ("quiet", false, Some(0), false),
        ("runs", true, Some(0), false),
        ("asks", false, Some(2), false),
        ("both", true, Some(1), false),
        ("old", false, None, false),
        ("away", true, Some(1), true),
    ];
    for (id, has_duties, waits_for_people, archived) in rows {
        let row = batch(id, 0).says("one").row(|row| {
            (row.has_duties, row.archived) = (has_duties, archived);
            row.waits_for_people = waits_for_people;
        });
        log.append(vec![row]).await.unwrap();
    }
    let marked = ListFilter { marked: true, ..ListFilter::of_conversations() };
    assert_eq!(ids(&log.list(marked.clone()).await.unwrap().streams), ["runs", "asks", "both"]);
    let first = log.list(ListFilter { limit: Some(2), ..marked.clone() }).await.unwrap();
    assert_eq!(ids(&first.streams), ["runs", "asks"]);
    let second = log.list(ListFilter { after: first.next, ..marked }).await.unwrap();
    assert_eq!((ids(&second.streams), second.next), (vec!["both"], None));
}

/// A listing filters by kind, also together with the archived mark. Pages of one kind join, and a
/// deleted stream is in none.
pub async fn a_listing_is_of_one_kind<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, kind, archived) in [
        ("t1", "task", false),
        ("c1", CONVERSATION, false),
        ("t2", "task", true),
        ("t3", "task", false),
        ("c2", CONVERSATION, true),
        ("x", "tasks", false),
        ("gone", DELETED, true),
    ] {
        let row = batch(id, 0).says("one").row(|row| {
            row.kind = kind.into();
            row.archived = archived;
        });
        log.append(vec![row]).await.unwrap();
    }
    let list = async |filter: ListFilter| log.list(filter).await.unwrap();
    assert_eq!(ids(&list(ListFilter::of_conversations()).await.streams), ["c1", "c2"]);
    let archived = ListFilter { archived: Some(true), ..ListFilter::of_conversations() };
    assert_eq!(ids(&list(archived).await.streams), ["c2"]);
    let of = |kind: &str| ListFilter { kind: Some(kind.into()), ..ListFilter::default() };
    let open = ListFilter { archived: Some(false), ..of("task") };
    assert_eq!(ids(&list(open).await.streams), ["t1", "t3"]);
    for nothing in ["Task", "", DELETED] {
        assert_eq!(list(of(nothing)).await, ListPage::default());
    }

    let first = list(ListFilter { limit: Some(2), ..of("task") }).await;
    assert_eq!(ids(&first.streams), ["t1", "t2"]);
    assert!(first.next.is_some());
    let second = list(ListFilter { after: first.next, limit: Some(1), ..of("task") }).await;
    assert_eq!((ids(&second.streams), second.next), (vec!["t3"], None));
    let every = list(ListFilter::default()).await.streams;
    assert_eq!(ids(&every), ["t1", "c1", "t2", "t3", "c2", "x"]);
}

/// Due streams come in creation order, each once, and a stream without duties or wake is not among
/// them.
pub async fn due_are_duties_and_passed_wakes<S: Subject>(subject: S) {
    let log = subject.log();
    let rows = [
        ("idle", None, false),
        ("later", Some(100), false),
        ("busy", None, true),
        ("both", Some(50), true),
        ("soon", Some(51), false),
    ];
    for (id, wake, duties) in rows {
        let row = batch(id, 0).says("one").row(|row| {
            row.next_wake = wake.map(at);
            row.has_duties = duties;
        });
        log.append(vec![row]).await.unwrap();
    }
    let due = |now| async move {
        log.due(at(now)).await.unwrap().iter().map(StreamId::to_string).collect::<Vec<_>>()
    };
    assert_eq!(due(0).await, ["busy", "both"]);
    assert_eq!(due(51).await, ["busy", "both", "soon"]);
    assert_eq!(due(100).await, ["later", "busy", "both", "soon"]);
    log.append(vec![batch("busy", 1).says("done")]).await.unwrap();
    assert_eq!(due(50).await, ["both"]);
}

/// The next wake is the earliest of all, past or future; `None` without any.
pub async fn the_earliest_wake_of_all_is_next<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(log.next_wake().await, Ok(None));
    for (id, wake) in [("a", 70), ("b", 50), ("c", 60)] {
        log.append(vec![batch(id, 0).says("one").row(|row| row.next_wake = Some(at(wake)))])
            .await
            .unwrap();
    }
    assert_eq!(log.next_wake().await, Ok(Some(at(50))));
    log.append(vec![batch("b", 1).says("two")]).await.unwrap();
    assert_eq!(log.next_wake().await, Ok(Some(at(60))));
    log.append(vec![batch("a", 1), batch("c", 1)]).await.unwrap();
    assert_eq!(log.next_wake().await, Ok(None));
}
