//! Erasing: a `Redacted` removes the words of the named event, and nothing else of it.

use moothall_engine::ports::{AppendError, EventLog};
use moothall_kernel::event::{Event, SuppressedBecause, Usage};
use moothall_kernel::ids::{ParticipantId, Seq, TurnNo};

use super::Subject;
use super::build::{Builder, batch, places, words};

fn erased(seq: u64) -> Event {
    Event::Redacted {
        seq: Seq(seq),
        by: ParticipantId::user(),
        message: true,
        summaries: Vec::new(),
        edited: false,
    }
}

/// Erased words are gone from the next read and from a read that begins there. The rest of the
/// event is unchanged.
pub async fn erased_words_are_not_read_again<S: Subject>(subject: S) {
    let log = subject.log();
    let kept = Event::Suppressed {
        participant: ParticipantId::user(),
        turn: None,
        because: SuppressedBecause::Late,
        counted: 0,
        body: "kept".into(),
    };
    let long = "secret ".repeat(10_000);
    log.append(vec![
        batch("a", 0).says("one").says(&long).event(kept),
        batch("b", 0).says("theirs").says("too"),
    ])
    .await
    .unwrap();
    let before = log.read(&"a".into(), Seq(0), 100).await.unwrap().events;
    log.append(vec![batch("a", 3).event(erased(2))]).await.unwrap();
    log.append(vec![batch("a", 4).event(erased(3))]).await.unwrap();

    let page = log.read(&"a".into(), Seq(0), 100).await.unwrap();
    assert_eq!(
        (places(&page.events), words(&page.events)),
        (vec![1, 2, 3, 4, 5], vec!["one", "", ""])
    );
    assert!(page.events[1].event.is_erased() && !page.events[0].event.is_erased());
    for (before, after) in before.iter().zip(&page.events) {
        let mut expected = before.clone();
        if before.seq > Seq(1) {
            expected.event.erase();
        }
        assert_eq!(&expected, after);
    }
    assert_eq!(words(&log.read(&"a".into(), Seq(1), 1).await.unwrap().events), [""]);
    assert_eq!(words(&log.read(&"b".into(), Seq(0), 10).await.unwrap().events), ["theirs", "too"]);
}

/// An event can be erased by another of its own batch.
pub async fn words_are_erased_in_the_append_that_says_so<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![
        batch("a", 0).says("one").event(erased(1)).says("three"),
        batch("a", 3).event(erased(3)),
    ])
    .await
    .unwrap();
    assert_eq!(words(&log.read(&"a".into(), Seq(0), 10).await.unwrap().events), ["", ""]);
}

/// A summary is erased together with words that it was made of, or when a newer summary replaces
/// it.
pub async fn summaries_are_erased_with_what_they_sum_up<S: Subject>(subject: S) {
    let log = subject.log();
    let summary = |body: &str, replaces: Option<u64>| Event::Summarised {
        participant: "ada".into(),
        turn: TurnNo(1),
        through_seq: Seq(1),
        replaces: replaces.map(Seq),
        usage: Usage::default(),
        body: body.into(),
    };
    let read = async || words(&log.read(&"a".into(), Seq(0), 10).await.unwrap().events).join(" ");
    log.append(vec![
        batch("a", 0).says("one").event(summary("two", None)).event(summary("three", None)),
    ])
    .await
    .unwrap();
    log.append(vec![batch("a", 3).event(summary("four", Some(2)))]).await.unwrap();
    assert_eq!(read().await, "one  three four");
    let erased = Event::Redacted {
        seq: Seq(1),
        by: ParticipantId::user(),
        message: true,
        summaries: vec![Seq(3), Seq(4)],
        edited: false,
    };
    log.append(vec![batch("a", 4).event(erased).says("six")]).await.unwrap();
    assert_eq!(read().await, "    six");
}

/// A failed append erases nothing.
pub async fn an_append_that_fails_erases_nothing<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let refused =
        log.append(vec![batch("a", 1).event(erased(1)), batch("b", 5).says("too far")]).await;
    assert_eq!(refused, Err(AppendError::Conflict { stream: "b".into(), head: Seq(0) }));
    assert_eq!(words(&log.read(&"a".into(), Seq(0), 10).await.unwrap().events), ["one"]);
}

/// A redaction may name events without words, erased events, and positions without an event.
pub async fn what_has_no_words_can_be_named<S: Subject>(subject: S) {
    let log = subject.log();
    let all = [1, 1, 2, 9, 0, u64::MAX]
        .into_iter()
        .fold(batch("a", 0).says("one").event(Event::RoundClosed), |batch, seq| {
            batch.event(erased(seq))
        });
    log.append(vec![all.clone()]).await.unwrap();
    let read = log.read(&"a".into(), Seq(0), 100).await.unwrap().events;
    assert_eq!(read[1..], all.events[1..]);
    assert_eq!(words(&read), [""]);
}

/// Erased words stay erased after a restart, and the stream can continue.
pub async fn what_is_erased_stays_erased<S: Subject>(subject: S) {
    let log = subject.log();
    log.append(vec![batch("a", 0).says("one").says("two")]).await.unwrap();
    log.append(vec![batch("a", 2).event(erased(1))]).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    log.append(vec![batch("a", 3).says("four")]).await.unwrap();
    assert_eq!(
        words(&log.read(&"a".into(), Seq(0), 10).await.unwrap().events),
        ["", "two", "four"]
    );
}
