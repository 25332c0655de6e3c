//! Posts between computers: rows owed to them have numbers, and an append takes rows from them.

use moothall_engine::ports::{
    AppendError, COMPUTER_FORGOTTEN, Catalog, DELETED, Deliveries, Delivery, DeliveryState,
    Durability, EventLog, PostBook, PostChannel, Target, Upkeep,
};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ComputerId, ParticipantId, Seq};

use super::Subject;
use super::build::{Builder, at, batch, claim, heads};

const LAPTOP: &str = "computer:3laptop";
const SERVER: &str = "computer:1server";

fn id(target: &str) -> ComputerId {
    match target.parse() {
        Ok(Target::Computer(computer)) => computer,
        other => panic!("{other:?} is not a computer"),
    }
}

fn channel(target: &str, log: &str) -> PostChannel {
    PostChannel { sender: id(target), log: log.into() }
}

/// Returns the numbers of the open rows for a target, oldest first.
async fn numbers(log: &impl Deliveries, target: &str) -> Vec<Option<u64>> {
    let Ok(target) = target.parse();
    let rows = log.pending_deliveries(&target, 0, 99).await.unwrap();
    rows.into_iter().map(|row| row.number).collect()
}

fn some(numbers: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
    numbers.into_iter().map(Some).collect()
}

/// The rows for a computer have the numbers from 1 on, whatever targets and streams an append has.
/// Other targets have none. Every way of reading a row shows its number.
pub async fn numbers_of_rows_rise_without_a_gap<S: Subject>(subject: S) {
    let log = subject.log();
    let first = batch("a", 0).says("one").owes(LAPTOP).owes("x").owes(SERVER).owes(LAPTOP);
    log.append(vec![first, batch("b", 0).says("b1").owes(SERVER).owes(LAPTOP)]).await.unwrap();
    log.append(vec![batch("a", 1).commands(LAPTOP, "{}")]).await.unwrap();
    assert_eq!(numbers(log, LAPTOP).await, some(1..=4));
    assert_eq!(numbers(log, SERVER).await, some(1..=2));
    assert_eq!(numbers(log, "x").await, [None]);
    let last = async |target| log.last_number(&id(target)).await.unwrap();
    assert_eq!((last(LAPTOP).await, last(SERVER).await), (4, 2));
    assert_eq!(last("computer:9other").await, 0);

    let of = |rows: Vec<Delivery>| rows.into_iter().map(|row| row.number).collect::<Vec<_>>();
    let Ok(laptop) = LAPTOP.parse();
    let newest = log.of_target(&laptop, None, 2).await.unwrap();
    assert_eq!(of(newest), [Some(4), Some(3)]);
    let of_a = log.of_stream(&"a".into()).await.unwrap();
    assert_eq!(of(of_a), [Some(1), None, Some(1), Some(2), Some(4)]);
    assert_eq!(of(log.heads().await.unwrap()), [Some(1), None, Some(1)]);
}

/// An append that is refused, for whatever reason, uses no numbers. A settled row keeps its number,
/// and its number is not given again.
pub async fn a_refused_append_uses_no_number<S: Subject>(subject: S) {
    let log = subject.log();
    let held = claim("a", "chat", "1");
    log.append(vec![batch("a", 0).says("one").takes(held.clone()).owes(LAPTOP)]).await.unwrap();
    let owing = |head| batch("a", head).says("two").owes(LAPTOP);
    for refused in [
        vec![owing(7)],
        vec![owing(1).takes(held)],
        vec![owing(1).takes_rows(&channel(SERVER, "l"), 5, 6)],
        // The first batch alone would be appended.
        vec![owing(1), batch("b", 3).says("b4").owes(LAPTOP)],
    ] {
        log.append(refused).await.unwrap_err();
    }
    assert_eq!(log.last_number(&id(LAPTOP)).await, Ok(1));
    log.append(vec![owing(1)]).await.unwrap();
    let rows = log.of_stream(&"a".into()).await.unwrap();
    let (from, done) = ([DeliveryState::Pending], DeliveryState::Done);
    for row in &rows {
        log.advance(row.id, &from, done, "taken", Durability::Written).await.unwrap();
    }
    log.append(vec![batch("a", 2).owes(LAPTOP)]).await.unwrap();
    let rows = log.of_stream(&"a".into()).await.unwrap();
    assert_eq!(rows.into_iter().map(|row| row.number).collect::<Vec<_>>(), some(1..=3));
}

/// A restart loses no number and no mark.
pub async fn numbers_and_marks_last<S: Subject>(subject: S) {
    let from = channel(SERVER, "l");
    let log = subject.log();
    let first = batch("a", 0).says("one").owes(LAPTOP).owes(LAPTOP).takes_rows(&from, 0, 9);
    log.append(vec![first]).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    assert_eq!(log.last_number(&id(LAPTOP)).await, Ok(2));
    assert_eq!(log.through(&from).await, Ok(9));
    log.append(vec![batch("a", 1).owes(LAPTOP).takes_rows(&from, 9, 10)]).await.unwrap();
    assert_eq!(numbers(log, LAPTOP).await, some(1..=3));
    assert_eq!(log.marks(&id(SERVER)).await, Ok(vec![(from, 10)]));
}

/// An append moves the mark of a channel once, also without events. Marks of one append follow each
/// other. Each log of a computer is a channel of its own.
pub async fn a_mark_moves_with_its_append<S: Subject>(subject: S) {
    let log = subject.log();
    let (old, new) = (channel(SERVER, "1"), channel(SERVER, "2"));
    assert_eq!(log.through(&old).await, Ok(0));
    log.append(vec![batch("a", 0).says("one").takes_rows(&old, 0, 1)]).await.unwrap();
    log.append(vec![batch("a", 1).takes_rows(&old, 1, 5)]).await.unwrap();
    let two = batch("a", 1).says("two").takes_rows(&old, 5, 6).takes_rows(&new, 0, 2);
    log.append(vec![two.takes_rows(&old, 6, 7), batch("b", 0).says("b1").takes_rows(&new, 2, 3)])
        .await
        .unwrap();
    let marks = vec![(old.clone(), 7), (new.clone(), 3)];
    assert_eq!(log.marks(&id(SERVER)).await, Ok(marks));
    assert_eq!((log.through(&old).await, log.through(&new).await), (Ok(7), Ok(3)));
    assert_eq!(log.marks(&id(LAPTOP)).await, Ok(vec![]));
    assert_eq!(log.through(&channel(LAPTOP, "1")).await, Ok(0));
}

/// A mark that does not follow that of its channel fails the whole append: events, claims, rows,
/// other marks and other streams.
pub async fn a_mark_that_does_not_follow_fails_the_whole_append<S: Subject>(subject: S) {
    let log = subject.log();
    let (from, other) = (channel(SERVER, "1"), channel(SERVER, "2"));
    log.append(vec![batch("a", 0).says("one").takes_rows(&from, 0, 5)]).await.unwrap();
    for (before, through) in [(0, 1), (0, 6), (4, 6), (6, 7), (5, 5), (5, 4)] {
        let all = batch("a", 1).says("two").takes(claim("a", "chat", "1")).owes(LAPTOP);
        let refused = log
            .append(vec![
                batch("b", 0).says("b1"),
                all.takes_rows(&other, 0, 1).takes_rows(&from, before, through),
            ])
            .await;
        let error = AppendError::Marked { channel: from.clone(), through: 5 };
        assert_eq!(refused, Err(error), "{before} to {through}");
    }
    // The second mark of an append is compared with the first.
    let twice = batch("a", 1).takes_rows(&from, 5, 6).takes_rows(&from, 5, 6);
    let error = AppendError::Marked { channel: from.clone(), through: 6 };
    assert_eq!(log.append(vec![twice]).await, Err(error));

    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(1));
    assert_eq!(log.find(&"b".into()).await, Ok(None));
    assert_eq!(log.claim("chat", "1", at(5)).await, Ok(None));
    assert_eq!(log.of_stream(&"a".into()).await, Ok(vec![]));
    assert_eq!(log.marks(&id(SERVER)).await, Ok(vec![(from.clone(), 5)]));
    let next = batch("a", 1).says("two").takes_rows(&from, 5, 6);
    assert_eq!(log.append(vec![next]).await.map(heads), Ok(vec![Seq(2)]));
}

/// A refused append takes no row, so the row can be taken by the next one.
pub async fn a_refused_append_takes_no_row<S: Subject>(subject: S) {
    let log = subject.log();
    let from = channel(SERVER, "1");
    log.append(vec![batch("a", 0).says("one").takes(claim("a", "chat", "1"))]).await.unwrap();
    let taking = |head: u64| batch("a", head).says("two").takes_rows(&from, 0, 1);
    for refused in [
        vec![taking(4)],
        vec![taking(1).takes(claim("a", "chat", "1"))],
        vec![taking(1), batch("b", 7).says("b8")],
        vec![batch("new", 0).takes_rows(&from, 0, 1)],
    ] {
        log.append(refused).await.unwrap_err();
        assert_eq!(log.through(&from).await, Ok(0));
    }
    log.append(vec![taking(1)]).await.unwrap();
    assert_eq!(log.through(&from).await, Ok(1));
}

/// A forgotten computer has no open rows, no numbers and no marks. Rows for others are untouched.
pub async fn a_forgotten_computer_begins_again<S: Subject>(subject: S) {
    let log = subject.log();
    let (old, new, other) = (channel(SERVER, "1"), channel(SERVER, "2"), channel(LAPTOP, "1"));
    let owing = batch("a", 0).says("one").owes(SERVER).commands(SERVER, "words").owes(SERVER);
    let ids = log
        .append(vec![
            owing
                .commands(LAPTOP, "other words")
                .takes_rows(&old, 0, 5)
                .takes_rows(&new, 0, 1)
                .takes_rows(&other, 0, 3),
        ])
        .await
        .unwrap()
        .remove(0)
        .deliveries;
    let pending = [DeliveryState::Pending];
    log.advance(ids[0], &pending, DeliveryState::Done, "taken", Durability::Synced).await.unwrap();
    log.advance(ids[1], &pending, DeliveryState::Sending, "", Durability::Synced).await.unwrap();

    assert_eq!(PostBook::forget(log, &id(SERVER)).await, Ok(2));
    let rows = log.of_stream(&"a".into()).await.unwrap();
    let left: Vec<_> =
        rows.iter().map(|row| (row.state, row.evidence.as_str(), row.command.as_deref())).collect();
    let failed = (DeliveryState::Failed, COMPUTER_FORGOTTEN, None);
    let theirs = (DeliveryState::Pending, "", Some("other words"));
    assert_eq!(left, [(DeliveryState::Done, "taken", None), failed, failed, theirs]);
    assert_eq!(log.marks(&id(SERVER)).await, Ok(vec![]));
    assert_eq!(log.last_number(&id(SERVER)).await, Ok(0));
    assert_eq!(log.through(&other).await, Ok(3));
    assert_eq!(log.last_number(&id(LAPTOP)).await, Ok(1));

    log.append(vec![batch("a", 1).owes(SERVER).takes_rows(&old, 0, 1)]).await.unwrap();
    assert_eq!(numbers(log, SERVER).await, some([1]));
    assert_eq!(PostBook::forget(log, &id("computer:9other")).await, Ok(0));
}

/// After a restore all open rows for computers are in doubt and their numbers begin again. Marks
/// stay, and so do rows for other targets.
pub async fn all_posts_of_a_restored_log_are_in_doubt<S: Subject>(subject: S) {
    let log = subject.log();
    let from = channel(SERVER, "1");
    let owing = batch("a", 0).says("one").owes(SERVER).commands(LAPTOP, "words").owes(SERVER);
    let ids = log
        .append(vec![
            owing.commands("stream:b", "others").owes("computers:x").takes_rows(&from, 0, 5),
        ])
        .await
        .unwrap()
        .remove(0)
        .deliveries;
    let pending = [DeliveryState::Pending];
    log.advance(ids[0], &pending, DeliveryState::Done, "taken", Durability::Synced).await.unwrap();

    log.doubt_all("the log was restored").await.unwrap();
    let rows = log.of_stream(&"a".into()).await.unwrap();
    let left: Vec<_> =
        rows.iter().map(|row| (row.state, row.evidence.as_str(), row.command.as_deref())).collect();
    let doubted = (DeliveryState::Unknown, "the log was restored", None);
    let (to_stream, to_other) =
        ((DeliveryState::Pending, "", Some("others")), (DeliveryState::Pending, "", None));
    let done = (DeliveryState::Done, "taken", None);
    assert_eq!(left, [done, doubted, doubted, to_stream, to_other]);
    assert_eq!(log.through(&from).await, Ok(5));
    for target in [SERVER, LAPTOP] {
        assert_eq!(log.last_number(&id(target)).await, Ok(0));
    }
    log.append(vec![batch("a", 1).owes(LAPTOP)]).await.unwrap();
    assert_eq!(numbers(log, LAPTOP).await, some([1]));
}

/// Deleting a stream removes the words of its open rows for computers. The rows stay open with
/// their numbers, and commands that say they have no words stay too.
pub async fn deleting_removes_words_and_no_numbers<S: Subject>(subject: S) {
    let log = subject.log();
    let (bare, wrapped) =
        (r#"{"post":"ended","keep":true}"#, r#"{"hops":1,"command":{"post":"off","keep":true}}"#);
    let says = r#"{"hops":1,"command":{"post":"say","text":"words, and \"keep\":true"}}"#;
    let theirs = r#"{"post":"say","text":"their words"}"#;
    let owing =
        batch("a", 0).says("one").commands(LAPTOP, says).commands(LAPTOP, bare).owes(LAPTOP);
    let owing = owing.commands(SERVER, wrapped).commands(SERVER, "cannot be read");
    log.append(vec![owing, batch("b", 0).says("b1").commands(LAPTOP, theirs)]).await.unwrap();
    let gone = Event::Deleted { by: ParticipantId::user() };
    let deleted = batch("a", 1).event(gone).commands(LAPTOP, says).row(|row| {
        *row =
            Catalog { kind: DELETED.into(), title: String::new(), archived: true, ..row.clone() };
    });
    log.append(vec![deleted]).await.unwrap();
    log.erase_deleted().await.unwrap();

    let open = async |target: &str| -> Vec<(Option<u64>, Option<String>)> {
        let Ok(target) = target.parse();
        let rows = log.pending_deliveries(&target, 0, 99).await.unwrap();
        rows.into_iter().map(|row| (row.number, row.command)).collect()
    };
    let (row, blank) = (
        |number, command: &str| (Some(number), Some(command.to_owned())),
        |number| (Some(number), None),
    );
    let to_laptop = [blank(1), row(2, bare), blank(3), row(4, theirs), blank(5)];
    assert_eq!(open(LAPTOP).await, to_laptop);
    assert_eq!(open(SERVER).await, [row(1, wrapped), blank(2)]);
    assert_eq!(log.verify().await.faults, vec![]);
}
