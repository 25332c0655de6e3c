//! Read marks: the positions of readers, and their unread messages.

use moothall_engine::ports::{EventLog, LogError, ReadMarks, UnreadCount};
use moothall_kernel::event::{Event, Posted};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use super::Subject;
use super::build::{Builder, batch, said};

fn said_by(who: &str, body: &str) -> Event {
    match said(body) {
        Event::Posted(posted) => Event::Posted(Posted { from: ParticipantId::new(who), ..posted }),
        other => other,
    }
}

async fn unread(log: &impl ReadMarks, reader: &str, stream: &str) -> (u64, usize) {
    let found = log.unread(&ParticipantId::new(reader), &[stream.into()], 100).await.unwrap();
    (found[0].read.0, found[0].messages)
}

/// A mark moves neither back nor past the newest event.
pub async fn a_mark_only_moves_forward<S: Subject>(subject: S) {
    let log = subject.log();
    let ann = ParticipantId::new("ann");
    log.append(vec![batch("a", 0).says("one").says("two").says("three")]).await.unwrap();
    for (to, then) in [(2, 2), (1, 2), (0, 2), (2, 2), (3, 3), (u64::MAX, 3)] {
        assert_eq!(log.mark(&ann, &"a".into(), Seq(to)).await, Ok(Seq(then)), "to {to}");
        assert_eq!(unread(log, "ann", "a").await.0, then);
    }
    log.append(vec![batch("a", 3).says("four")]).await.unwrap();
    assert_eq!(
        unread(log, "ann", "a").await,
        (3, 1),
        "a mark far ahead has not swallowed what came later"
    );
    let nowhere = StreamId::new("nowhere");
    assert_eq!(log.mark(&ann, &nowhere, Seq(1)).await, Err(LogError::NotFound(nowhere)));
}

/// Unread are messages of others, without the reader's own, without events that only explain, and
/// without erased ones. The count is bounded as requested.
pub async fn what_others_said_since_is_unread<S: Subject>(subject: S) {
    let log = subject.log();
    let talk = batch("a", 0)
        .says("one")
        .event(said_by("ann", "two"))
        .event(Event::RoundClosed)
        .event(said_by("bob", "four"));
    log.append(vec![talk]).await.unwrap();
    assert_eq!(unread(log, "ann", "a").await, (0, 2));
    assert_eq!(unread(log, "bob", "a").await, (0, 2));
    assert_eq!(unread(log, "o'neill\" OR 1", "a").await, (0, 3));
    log.mark(&ParticipantId::new("ann"), &"a".into(), Seq(1)).await.unwrap();
    assert_eq!(unread(log, "ann", "a").await, (1, 1));
    log.append(vec![batch("a", 4).event(Event::Redacted {
        seq: Seq(4),
        by: ParticipantId::user(),
        message: true,
        summaries: Vec::new(),
        edited: false,
    })])
    .await
    .unwrap();
    assert_eq!(unread(log, "ann", "a").await, (1, 0));

    let many = (0..20).fold(batch("b", 0), |batch, n| batch.says(&format!("message {n}")));
    log.append(vec![many]).await.unwrap();
    let asked = [StreamId::new("b"), "nowhere".into(), "a".into()];
    let found = log.unread(&ParticipantId::new("ann"), &asked, 7).await.unwrap();
    assert_eq!(
        found,
        [
            UnreadCount { read: Seq(0), messages: 7 },
            UnreadCount::default(),
            UnreadCount { read: Seq(1), messages: 0 }
        ]
    );
}

/// A mark belongs to one reader and one stream.
pub async fn marks_belong_to_one_reader_and_stream<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one"), batch("b", 0).says("one")]).await.unwrap();
    log.mark(&ParticipantId::new("ann"), &"a".into(), Seq(1)).await.unwrap();
    assert_eq!(
        [
            unread(log, "ann", "a").await,
            unread(log, "ann", "b").await,
            unread(log, "bob", "a").await
        ],
        [(1, 0), (0, 1), (0, 1)]
    );
}

/// Marks survive a restart.
pub async fn marks_last<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    log.mark(&ParticipantId::new("ann"), &"a".into(), Seq(1)).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    assert_eq!(unread(subject.log(), "ann", "a").await, (1, 1));
}
