//! Messages, read backwards without the other events.

use moothall_engine::ports::{EventLog, LogError, PAGE_BYTES_MAX};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq};

use super::Subject;
use super::build::{Builder, at, batch, places, words};

const END: Seq = Seq(u64::MAX);

/// Messages come newest first, unchanged, and bounded in number and bytes.
pub async fn messages_are_read_backwards<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(
        log.messages_before(&"a".into(), END, 10).await,
        Err(LogError::NotFound("a".into()))
    );
    let trace = || Event::RoundClosed;
    let first = batch("a", 0)
        .says("one")
        .event(trace())
        .says("three")
        .event(trace())
        .event(trace())
        .says("six")
        .event(trace());
    log.append(vec![first, batch("b", 0).says("theirs")]).await.unwrap();
    subject.append_newer(&"a".into(), at(9), "hologram").await;
    let before =
        async |before: Seq, limit| log.messages_before(&"a".into(), before, limit).await.unwrap();
    let all = before(END, 10).await;
    assert_eq!((places(&all), words(&all)), (vec![6, 3, 1], vec!["six", "three", "one"]));
    let forwards = log.read(&"a".into(), Seq(0), 10).await.unwrap().events;
    assert!(all.iter().all(|message| forwards.contains(message)));
    assert_eq!(places(&before(END, 2).await), [6, 3]);
    assert_eq!(places(&before(Seq(3), 2).await), [1]);
    assert_eq!(places(&before(Seq(1), 2).await), Vec::<u64>::new());
    assert_eq!(places(&before(Seq(0), 2).await), Vec::<u64>::new());
    assert_eq!(places(&before(END, 0).await), Vec::<u64>::new());
    let long = "x".repeat(PAGE_BYTES_MAX);
    log.append(vec![batch("c", 0).says("short").says(&long).says(&long)]).await.unwrap();
    assert_eq!(
        places(&log.messages_before(&"c".into(), END, 10).await.unwrap()),
        [3],
        "a page is bounded"
    );
    assert_eq!(places(&log.messages_before(&"c".into(), Seq(2), 10).await.unwrap()), [1]);
}

/// Erased messages are still counted and found at their positions, without words.
pub async fn erased_messages_keep_their_place<S: Subject>(subject: S) {
    let log = subject.log();
    let redacted = Event::Redacted {
        seq: Seq(1),
        by: ParticipantId::user(),
        message: true,
        summaries: Vec::new(),
        edited: false,
    };
    log.append(vec![batch("a", 0).says("one").says("two").event(redacted)]).await.unwrap();
    assert_eq!(words(&log.messages_before(&"a".into(), END, 10).await.unwrap()), ["two", ""]);
}
