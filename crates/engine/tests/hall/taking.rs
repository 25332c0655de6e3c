//! Rows of another computer, taken by streams under the mark of their channel.

use moothall_engine::hall::HallError;
use moothall_engine::outbox::{OutboxEntry, PostCommand, StreamCommand};
use moothall_engine::ports::{
    AppendError, Deliveries, Delivery, EventLog, PostBook, PostChannel, Target,
};
use moothall_engine::residents::TakenRow;
use moothall_engine::stream::{ItemBody, OwedItems, Taking, Verdict};
use moothall_kernel::command::{Actor, ClientCommand, EngineCommand, Post};
use moothall_kernel::event::{Event, Recipient};
use moothall_kernel::ids::{ComputerId, StreamId};

use crate::common::{World, has, key, post};

fn workstation() -> ComputerId {
    ComputerId::new("1workstation")
}

fn channel() -> PostChannel {
    PostChannel { sender: workstation(), log: "0a1b2c3d".into() }
}

/// Makes a row that says something in a stream.
fn saying(stream: &StreamId, number: u64, body: &str) -> TakenRow {
    TakenRow {
        stream: Some(stream.clone()),
        wanted: ItemBody::Decision(post(body).into()),
        once: None,
        owing: OwedItems::default(),
        taking: Taking::row(channel(), number),
    }
}

/// Makes a row that every conversation rejects: it is for a participant that is not there.
fn unwelcome(stream: &StreamId, number: u64) -> TakenRow {
    let to = Recipient::One("stranger".into());
    let body = Post { to, ..Post::new(Actor::named("ann"), "hello?") };
    let wanted = ItemBody::Decision(ClientCommand::Post(body).into());
    TakenRow { wanted, ..saying(stream, number, "") }
}

impl World {
    async fn take(&self, rows: Vec<TakenRow>) -> Vec<Verdict> {
        self.hall.weak().enter().unwrap().take(rows).await
    }

    async fn through(&self) -> u64 {
        self.log.inner.through(&channel()).await.unwrap()
    }

    /// Returns the rows that are owed to the sender.
    async fn owed(&self) -> Vec<Delivery> {
        let target = Target::Computer(workstation());
        self.log.inner.pending_deliveries(&target, 0, 100).await.unwrap()
    }

    /// Returns the numbers and codes of the refusals that are owed to the sender.
    async fn refusals(&self) -> Vec<(u64, String)> {
        let refusal = |row: &Delivery| match row.carried().unwrap() {
            PostCommand::Refused { number, code, .. } => (number, code),
            other => panic!("no refusal: {other:?}"),
        };
        self.owed().await.iter().map(refusal).collect()
    }

    async fn words(&self, stream: &StreamId) -> Vec<String> {
        self.said(stream).await.into_iter().map(|(_, body)| body).collect()
    }

    async fn computers(&self) -> Option<StreamId> {
        let claim = self.log.inner.claim("computers", "hall", self.hall.now()).await.unwrap();
        claim.map(|claim| claim.stream)
    }
}

#[tokio::test(start_paused = true)]
async fn a_taken_row_moves_the_mark_in_its_own_append() {
    let world = World::new().await;
    let stream = world.create().await;
    let appends = world.log.appended();
    let row = TakenRow {
        owing: OwedItems {
            hops: 0,
            owed: vec![OutboxEntry::to_stream(
                &stream,
                &StreamCommand::Settle { conversation: "x".into() },
            )],
        },
        ..saying(&stream, 1, "hello")
    };
    world.log.close_gate();
    let hall = world.hall.weak().enter().unwrap();
    let taking = tokio::spawn(async move { hall.take(vec![row]).await });
    world.log.waiting.notified().await;
    assert_eq!(world.through().await, 0, "nothing is taken before the append");
    world.log.open_gate();
    let verdicts = taking.await.unwrap();
    assert!(matches!(&verdicts[..], [Ok(answer)] if answer.event.is_some()), "{verdicts:?}");
    assert_eq!(world.through().await, 1);
    assert_eq!(world.words(&stream).await, ["hello"]);
    assert_eq!(world.log.inner.of_stream(&stream).await.unwrap().len(), 1, "its own delivery");
    assert_eq!(world.log.appended(), appends + 1);
    assert_eq!(world.owed().await, []);
    assert_eq!(world.computers().await, None, "no row needs it");
}

#[tokio::test(start_paused = true)]
async fn a_rejected_row_moves_the_mark_and_owes_its_refusal_in_the_same_append() {
    let world = World::new().await;
    let stream = world.create().await;
    let appends = world.log.appended();
    let verdicts = world.take(vec![unwelcome(&stream, 1)]).await;
    let [Err(HallError::Rejected(why))] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!(world.through().await, 1);
    assert_eq!(world.refusals().await, [(1, why.code.to_owned())]);
    assert_eq!(world.owed().await[0].number, Some(1));
    assert_eq!(world.log.appended(), appends + 1);
    // A refusal that is itself refused would be answered for ever.
    let quiet = unwelcome(&stream, 2);
    let verdicts =
        world.take(vec![TakenRow { taking: quiet.taking.without_refusal(), ..quiet }]).await;
    assert!(matches!(verdicts[..], [Err(HallError::Rejected(_))]), "{verdicts:?}");
    assert_eq!((world.through().await, world.owed().await.len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_row_is_taken_once_and_the_rows_beside_it_are_decided() {
    let world = World::new().await;
    let stream = world.create().await;
    world.take(vec![saying(&stream, 1, "one"), unwelcome(&stream, 2)]).await;
    let again = vec![saying(&stream, 1, "one"), unwelcome(&stream, 2), saying(&stream, 3, "three")];
    let verdicts = world.take(again).await;
    assert!(
        matches!(
            verdicts[..],
            [Err(HallError::Taken { through: 2 }), Err(HallError::Taken { through: 2 }), Ok(_)]
        ),
        "{verdicts:?}"
    );
    assert_eq!(world.words(&stream).await, ["one", "three"]);
    assert_eq!(world.through().await, 3);
    assert_eq!(world.refusals().await.len(), 1);
    let verdicts = world.take(vec![saying(&stream, 2, "two")]).await;
    assert_eq!(verdicts, [Err(HallError::Taken { through: 3 })]);
    assert_eq!(world.words(&stream).await, ["one", "three"]);
}

#[tokio::test(start_paused = true)]
async fn a_row_after_a_missing_one_is_not_taken() {
    let world = World::new().await;
    let stream = world.create().await;
    let rows = vec![saying(&stream, 2, "two"), saying(&stream, 3, "three")];
    let verdicts = world.take(rows).await;
    assert!(matches!(verdicts[..], [Err(HallError::Failed(_))]), "{verdicts:?}");
    assert_eq!((world.through().await, world.words(&stream).await.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_append_that_fails_leaves_the_mark_and_the_row_is_taken_again() {
    let world = World::new().await;
    let stream = world.create().await;
    for error in [AppendError::Full, AppendError::Overloaded] {
        world.log.fail_next(error);
        let rows = vec![saying(&stream, 1, "one"), unwelcome(&stream, 2)];
        let verdicts = world.take(rows).await;
        assert!(
            matches!(verdicts[..], [Err(HallError::DiskFull | HallError::Overloaded)]),
            "{verdicts:?}"
        );
        assert_eq!((world.through().await, world.owed().await.len()), (0, 0));
        assert_eq!(world.words(&stream).await.len(), 0);
    }
    let verdicts = world.take(vec![saying(&stream, 1, "one"), unwelcome(&stream, 2)]).await;
    assert_eq!((verdicts.len(), world.through().await), (2, 2));
    assert_eq!(world.refusals().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn many_rows_of_one_stream_cost_one_append() {
    let world = World::new().await;
    let stream = world.create().await;
    let appends = world.log.appended();
    let rows = (1..=64).map(|number| match number % 2 {
        0 => unwelcome(&stream, number),
        _ => saying(&stream, number, &number.to_string()),
    });
    let verdicts = world.take(rows.collect()).await;
    assert_eq!(verdicts.len(), 64);
    assert_eq!(world.log.appended(), appends + 1);
    assert_eq!(world.through().await, 64);
    let said: Vec<String> = (1..=64).step_by(2).map(|number| number.to_string()).collect();
    assert_eq!(world.words(&stream).await, said);
    let refused = world.refusals().await;
    assert!(refused.iter().map(|(number, _)| *number).eq((2..=64).step_by(2)), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn rows_of_several_streams_keep_their_order() {
    let world = World::new().await;
    let (one, other) = (world.create().await, world.create().await);
    let streams = [&one, &one, &other, &one, &other];
    let rows = (1..).zip(streams).map(|(number, stream)| saying(stream, number, "word"));
    let verdicts = world.take(rows.collect()).await;
    assert!(verdicts.len() == 5 && verdicts.iter().all(Result::is_ok), "{verdicts:?}");
    assert_eq!(world.through().await, 5);
    assert_eq!((world.words(&one).await.len(), world.words(&other).await.len()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn rows_of_a_stream_that_is_gone_are_refused_by_the_conversation_of_the_computers() {
    let world = World::new().await;
    let (stream, gone) = (world.create().await, world.create().await);
    world.hall.delete(&gone, Actor::human("user")).await.unwrap();
    let rows = vec![
        saying(&stream, 1, "one"),
        saying(&gone, 2, "two"),
        saying(&gone, 3, "three"),
        saying(&"never".into(), 4, "four"),
        saying(&stream, 5, "five"),
    ];
    let verdicts = world.take(rows).await;
    assert!(verdicts.len() == 5 && verdicts.iter().all(Result::is_ok), "{verdicts:?}");
    assert_eq!(world.through().await, 5);
    let (deleted, unknown) = ("thread_deleted".to_owned(), "thread_not_found".to_owned());
    let refused = [(2, deleted.clone()), (3, deleted), (4, unknown)];
    assert_eq!(world.refusals().await, refused);
    let computers = world.computers().await.unwrap();
    assert!(world.owed().await.iter().all(|row| row.stream == computers));
    assert_eq!(world.words(&stream).await, ["one", "five"]);
}

#[tokio::test(start_paused = true)]
async fn the_conversation_of_the_computers_is_made_once_and_takes_what_belongs_to_no_stream() {
    let world = World::new().await;
    let taken = |number| TakenRow::without_effect(Taking::row(channel(), number));
    world.take(vec![taken(1)]).await;
    let computers = world.computers().await.unwrap();
    let notice = EngineCommand::Notice { code: "rows_lost", text: "A row is lost.".into() };
    let notice = TakenRow { wanted: ItemBody::Decision(notice.into()), ..taken(2) };
    let world = world.restart(&[]).await;
    world.take(vec![notice, taken(3)]).await;
    assert_eq!(world.computers().await.unwrap(), computers);
    assert_eq!((world.through().await, world.owed().await.len()), (3, 0));
    let events = world.events(&computers).await;
    assert!(has(
        &events,
        |event| matches!(event, Event::Noticed { code, .. } if code == "rows_lost")
    ));
    // People may delete it; the next row makes another.
    world.hall.delete(&computers, Actor::human("user")).await.unwrap();
    world.take(vec![taken(4)]).await;
    assert_ne!(world.computers().await.unwrap(), computers);
    assert_eq!(world.through().await, 4);
}

#[tokio::test(start_paused = true)]
async fn a_row_under_a_used_key_moves_the_mark() {
    let world = World::new().await;
    let stream = world.create().await;
    let once = key("row", "same");
    let row = |number, once| TakenRow { once, ..saying(&stream, number, "once") };
    let verdicts = world.take(vec![row(1, once.clone()), row(2, once.clone())]).await;
    assert!(matches!(&verdicts[..], [Ok(_), Ok(again)] if again.replayed), "{verdicts:?}");
    let verdicts = world.take(vec![row(3, once), row(4, key("row", "other"))]).await;
    assert!(matches!(verdicts[..], [Ok(_), Err(HallError::KeyReused)]), "{verdicts:?}");
    assert_eq!((world.through().await, world.words(&stream).await.len()), (4, 1));
    assert_eq!(world.refusals().await, [(4, "idempotency_key_reused".to_owned())]);
}
