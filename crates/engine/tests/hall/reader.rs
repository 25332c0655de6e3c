//! Reading through the door: the events that a reader gets, their order, and paging the log for a
//! viewer.

use std::sync::Arc;

use moothall_engine::access::{Caller, Mode};
use moothall_engine::door::{Action, Door, EventFilter, Reader, ReaderItem};
use moothall_engine::hall::Signal;
use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId, TurnNo};
use moothall_kernel::view::Viewer;

use crate::common::{SharedAgent, Slow, World, agent, eventually, post_by};

fn door(world: &World) -> Door {
    world.hall.as_(Caller::anonymous(Mode::Local))
}

async fn follow(
    world: &World,
    stream: &StreamId,
    viewer: impl Into<EventFilter>,
    after: u64,
) -> Reader {
    door(world).follow(stream, viewer, Seq(after)).await.unwrap()
}

/// Returns the positions of all events that the reader can get without waiting.
async fn read(reader: &mut Reader) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Some(piece) = reader.next().await.unwrap() {
        match piece {
            ReaderItem::Page(events) => seen.extend(events.iter().map(|one| one.seq.0)),
            ReaderItem::Batch(batch) => seen.extend(batch.events().map(|one| one.seq.0)),
            ReaderItem::Partial(_) | ReaderItem::Signal(_) | ReaderItem::Turn(_) => {}
            ReaderItem::Lagged(after) => panic!("too slow after {after}"),
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn a_reader_gets_what_the_log_has_and_then_what_comes_each_event_once() {
    let world = World::new().await;
    let stream = world.create().await;
    for n in 0..600 {
        world.post(&stream, &format!("message {n}")).await.unwrap();
    }
    let mut reader = follow(&world, &stream, Viewer::Operator, 1).await;
    let Some(ReaderItem::Page(first)) = reader.next().await.unwrap() else {
        panic!("the log comes first")
    };
    assert!(first.len() < 600, "a page at a time");
    world.post(&stream, "while it reads").await.unwrap();
    let rest = read(&mut reader).await;
    world.post(&stream, "once it listens").await.unwrap();
    reader.listen().await;
    let heard = read(&mut reader).await;
    let all: Vec<u64> = first.iter().map(|one| one.seq.0).chain(rest).chain(heard).collect();
    assert_eq!(all, (2..=603).collect::<Vec<_>>());
    assert_eq!(reader.passed(), Seq(603));
}

#[tokio::test(start_paused = true)]
async fn a_reader_gets_what_its_viewer_may_see_and_passes_the_rest() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "somebody-elses").await;
    let mut guest = follow(&world, &stream, Viewer::Guest, 0).await;
    let mut operator = follow(&world, &stream, Viewer::Operator, 0).await;
    let (seen, all) = (read(&mut guest).await, read(&mut operator).await);
    assert_eq!(seen, all, "nothing is hidden yet");
    world.post(&stream, "@r are you there?").await.unwrap();
    guest.listen().await;
    operator.listen().await;
    let (seen, all) = (read(&mut guest).await, read(&mut operator).await);
    let skipped = world
        .events(&stream)
        .await
        .iter()
        .find(|one| matches!(one.event, Event::Skipped { .. }))
        .unwrap()
        .seq
        .0;
    assert!(all.contains(&skipped) && !seen.contains(&skipped), "{seen:?} of {all:?}");
    assert_eq!(guest.passed(), operator.passed());
}

#[tokio::test(start_paused = true)]
async fn whoever_follows_as_a_participant_is_connected_and_is_told_its_turns_once() {
    let world = World::new().await;
    let stream = world.create().await;
    world.invite(&stream, "r", "somebody-elses").await;
    let as_r = || EventFilter::from(Viewer::Participant("r".into())).taking_turns(true);
    let mut reader = follow(&world, &stream, as_r(), 0).await;
    let mut another = follow(&world, &stream, Viewer::Participant("else".into()), 0).await;
    read(&mut reader).await;
    read(&mut another).await;
    world.post(&stream, "@r hello").await.unwrap();
    let turns = async |reader: &mut Reader| {
        let mut contexts = Vec::new();
        while let Some(piece) = reader.next().await.unwrap() {
            if let ReaderItem::Turn(context) = piece {
                contexts.push((context.turn, context.text.contains("hello")));
            }
        }
        contexts
    };
    reader.listen().await;
    assert_eq!(turns(&mut reader).await, [(TurnNo(1), true)]);
    world.post(&stream, "something else").await.unwrap();
    reader.listen().await;
    assert_eq!(turns(&mut reader).await, []);
    another.listen().await;
    assert_eq!(turns(&mut another).await, [], "it is nobody else's");
    let mut again = follow(&world, &stream, as_r(), reader.passed().0).await;
    assert_eq!(turns(&mut again).await, [(TurnNo(1), true)], "whoever comes again is told again");
    drop((reader, again));
    world.hall.submit(&stream, post_by("r", "here"), None).await.unwrap();
    world.post(&stream, "@r still?").await.unwrap();
    assert!(
        world.events(&stream).await.iter().any(|one| matches!(one.event, Event::Skipped { .. })),
        "nobody is connected any more"
    );
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_was_too_slow_hears_where_it_is_and_can_go_on_from_there() {
    let world = World::new().await;
    let stream = world.create().await;
    let mut reader = follow(&world, &stream, Viewer::Operator, 1).await;
    assert!(read(&mut reader).await.is_empty());
    for n in 0..1100 {
        world.post(&stream, &format!("message {n}")).await.unwrap();
    }
    let Some(ReaderItem::Lagged(Seq(1))) = reader.next().await.unwrap() else {
        panic!("it was too slow")
    };
    assert_eq!(read(&mut reader).await, (2..=1101).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_in_the_middle_of_an_answer_gets_what_was_said_of_it() {
    let slow = Arc::new(Slow::default());
    let world = World::with(&[("slow", agent(SharedAgent(slow.clone())))]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    slow.say("+tonight it rains");
    let partial = async || {
        let mut reader = follow(&world, &stream, Viewer::Operator, 0).await;
        while let Some(piece) = reader.next().await.unwrap() {
            if let ReaderItem::Partial(Signal::Delta { text, .. }) = piece {
                return Some(text);
            }
        }
        None
    };
    assert_eq!(eventually(partial).await, "tonight it rains");
}

#[tokio::test(start_paused = true)]
async fn the_newest_events_and_messages_are_found_for_each_viewer() {
    let world = World::new().await;
    let stream = world.create().await;
    for n in 0..300 {
        world.post(&stream, &format!("message {n}")).await.unwrap();
        world
            .hall
            .submit(
                &stream,
                ClientCommand::Rename { name: format!("n{n}"), by: Actor::human("user") },
                None,
            )
            .await
            .unwrap();
    }
    let (door, head) = (door(&world), Seq(601));
    let guest = EventFilter::from(Viewer::Guest);
    let begin = door.newest(Action::ReadThread, &stream, &guest, Seq(0)..head, 400).await.unwrap();
    assert_eq!(begin, Seq(201));
    assert_eq!(
        door.newest(Action::ReadThread, &stream, &guest, Seq(500)..head, 400).await.unwrap(),
        Seq(500)
    );
    let mut pages = door.pages(Action::ReadThread, &stream, guest, begin..head);
    let mut seen = Vec::new();
    while let Some(events) = pages.next().await.unwrap() {
        seen.extend(events.iter().map(|one| one.seq.0));
    }
    assert_eq!((seen, pages.through()), ((202..=601).collect(), head));
    let mut messages = door.messages(Action::ReadThread, &stream, &Viewer::Guest, head.next());
    let mut said = Vec::new();
    while let Some(earlier) = messages.next(70).await.unwrap() {
        said.extend(earlier.iter().map(|one| one.seq.0));
    }
    assert_eq!(said, (1..=300).rev().map(|n| 2 * n).collect::<Vec<_>>());
}
