//! The door: the checks of a caller, in one order for every action.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_engine::access::{AccessDenial, AccessError, Caller, Mode, Reach, Scope, Scopes};
use moothall_engine::door::{Action, Door, Need};
use moothall_engine::hall::HallError;
use moothall_engine::ports::{EventLog, ListFilter, ListedStream};
use moothall_engine::search::SearchError;
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::ids::{Seq, StreamId, TurnNo};
use moothall_kernel::preview::Draft;
use moothall_kernel::search::Query;
use moothall_kernel::time::Millis;
use moothall_kernel::view::Viewer;
use moothall_testkit::conformance::build::{Builder, batch};

use crate::common::{SharedAgent, Slow, World, agent};

/// Returns a caller without a credential, with these scopes in these conversations.
fn holding(scopes: &[Scope], streams: &[&StreamId]) -> Caller {
    let reach =
        Reach::Only(streams.iter().map(|stream| (*stream).clone()).collect::<BTreeSet<_>>().into());
    Caller { scopes: Scopes::of(scopes), reach, ..Caller::anonymous(Mode::Local) }
}

/// Tries each action in one conversation, and returns the errors.
async fn answers(door: &Door, stream: &StreamId) -> Vec<(Action, Option<AccessError>)> {
    let by = || Actor::unproven("ann");
    let stop = ClientCommand::Stop { by: by() };
    let say = ClientCommand::Post(Post::new(by(), "hello"));
    let draft = Draft { body: "hello".into(), ..Draft::default() };
    vec![
        (Action::ReadThread, door.view(Action::ReadThread, stream, |_| ()).await.err()),
        (
            Action::ReadThread,
            door.pages(Action::ReadThread, stream, Viewer::Operator, Seq(0)..Seq(9))
                .next()
                .await
                .err(),
        ),
        (
            Action::ReadThread,
            door.messages(Action::ReadThread, stream, &Viewer::Operator, Seq(9))
                .next(9)
                .await
                .err(),
        ),
        (
            Action::ReadThread,
            door.newest(Action::ReadThread, stream, &Viewer::Operator.into(), Seq(0)..Seq(9), 9)
                .await
                .err(),
        ),
        (Action::ReadThread, door.follow(stream, Viewer::Operator, Seq(0)).await.err()),
        (
            Action::ReadThread,
            door.follow(stream, Viewer::Participant("ann".into()), Seq(0)).await.err(),
        ),
        (Action::ReadThread, door.position_at(stream, Seq(1), door_now()).await.err()),
        (Action::ReadPresence, door.presence(stream).await.err()),
        (
            Action::TellPresence,
            door.set_presence(stream, "ann".into(), "idle".into(), None).await.err(),
        ),
        (Action::MarkRead, door.mark_read(stream, &"ann".into(), Seq(1)).await.err()),
        (Action::Preview, door.preview(stream, "ann".into(), draft).await.err()),
        (Action::ReadContext, door.context(stream, TurnNo(1), &Viewer::Operator).await.err()),
        (Action::Say, door.permit(stream, say).await.err()),
        (Action::Stop, door.permit(stream, stop).await.err()),
        (Action::RunCommand, door.order(stream, by(), "/help").await.err()),
        (Action::RunCommand, door.run_line(stream, by(), "/help", None).await.err()),
        (Action::RunCommand, door.why(stream, &Viewer::Guest, str::to_owned).await.err()),
        (
            Action::ListTurns,
            door.explain(Action::ListTurns, stream, &Viewer::Guest, None).await.err(),
        ),
        (Action::Publish, door.publish(stream, Seq(1), by(), None).await.err()),
    ]
}

fn door_now() -> moothall_kernel::time::Timestamp {
    moothall_kernel::time::Timestamp::from_millis(0)
}

const CONVERSING: [Scope; 3] = [Scope::ThreadsRead, Scope::ThreadsWrite, Scope::TurnsControl];

#[tokio::test(start_paused = true)]
async fn what_is_out_of_reach_does_not_exist_whatever_is_done_with_it() {
    let world = World::with(&[]).await;
    let (own, other) = (world.create().await, world.create().await);
    let door = world.hall.as_(holding(&CONVERSING, &[&own]));
    for (action, error) in answers(&door, &other).await {
        assert_eq!(
            error,
            Some(AccessError::Hall(HallError::NotFound(other.clone()))),
            "{action:?}"
        );
    }
    for (action, error) in answers(&door, &own).await {
        let here = !matches!(
            error,
            Some(AccessError::Hall(HallError::NotFound(_)) | AccessError::Denied(_))
        );
        assert!(here, "{action:?}: {error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_scope_that_is_missing_is_refused_before_anything_is_looked_for() {
    let world = World::with(&[]).await;
    let (own, nowhere) = (world.create().await, StreamId::new("nowhere"));
    let door = world.hall.as_(holding(&[Scope::AgentsRun], &[&own]));
    for stream in [&own, &nowhere] {
        for (action, error) in answers(&door, stream).await {
            let Need::Scope(scope) = action.need() else { unreachable!("{action:?}") };
            assert_eq!(error, Some(AccessError::Denied(AccessDenial::Proof(scope))), "{action:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_cannot_be_seen_publishes_nothing_that_may_run_a_program() {
    let world = World::with(&[("slow", agent(SharedAgent(Arc::new(Slow::default()))))]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    let unseen = world.hall.as_(Caller::anonymous(Mode::Local).unseen());
    let refused = unseen.publish(&stream, Seq(1), Actor::unproven("ann"), None).await;
    assert_eq!(refused, Err(AccessError::Denied(AccessDenial::Proof(Scope::AgentsRun))));
    let seen = world.hall.as_(Caller::anonymous(Mode::Local));
    let answered = seen.publish(&stream, Seq(1), Actor::unproven("ann"), None).await;
    assert!(matches!(answered, Err(AccessError::Hall(HallError::Rejected(_)))), "{answered:?}");
}

/// Holds for every title, for every filter, and after any time.
#[tokio::test(start_paused = true)]
async fn what_is_no_conversation_is_not_listed_as_one() {
    let world = World::with(&[]).await;
    let stream = world.create().await;
    let title = world.hall.find(&stream).await.unwrap().catalog.title;
    for (id, title, archived) in [("t1", title.as_str(), false), ("t2", "Errand", true)] {
        let task = batch(id, 0).says("one").row(|row| {
            row.kind = "task".into();
            row.title = title.into();
            row.archived = archived;
        });
        world.log.inner.append(vec![task]).await.unwrap();
    }
    let ids = |all: Vec<ListedStream>| all.into_iter().map(|one| one.stream).collect::<Vec<_>>();
    let door = world.hall.as_(Caller::anonymous(Mode::Local));
    for (kind, limit) in [(None, None), (Some("task".to_owned()), None), (None, Some(1))] {
        let page = door.threads(ListFilter { kind, limit, ..ListFilter::default() }).await.unwrap();
        assert_eq!((ids(page.streams), page.next), (vec![stream.clone()], None));
    }
    let titled = door.titled(Action::ReadThread, &title).await.unwrap();
    assert_eq!(ids(titled), std::slice::from_ref(&stream));
    let query = Query::parse("one in:Errand").unwrap();
    let found = world.hall.search(query, &Viewer::Operator, 9, None).await;
    assert!(matches!(found, Err(SearchError::NoConversation(_))), "{found:?}");

    assert_eq!(world.hall.delete_outlived(Millis(0)).await, Ok(0));
    let every = world.hall.list(ListFilter::default()).await.unwrap().streams;
    assert_eq!(ids(every), [stream, "t1".into(), "t2".into()]);
}

/// A caller that shows only text gets the whole outcome of a command as text.
#[tokio::test(start_paused = true)]
async fn a_line_is_run_to_its_end_and_answered_as_text() {
    let world = World::with(&[]).await;
    let stream = world.create().await;
    let scopes = [CONVERSING.as_slice(), &[Scope::ParticipantsInvite]].concat();
    let door = world.hall.as_(holding(&scopes, &[&stream]));
    let run = async |text: &str| door.run_line(&stream, Actor::human("user"), text, None).await;
    assert!(run("/help").await.unwrap().contains("/group dissolve"));
    assert_eq!(run("/pause").await.unwrap(), "Paused.");
    assert!(world.hall.view(&stream, |state| state.is_paused()).await.unwrap());
    assert_eq!(run("/resume").await.unwrap(), "Resumed.");
    let invited = run("/group add nosuch").await.unwrap();
    assert!(invited.starts_with("nosuch was invited. This server has no agent"), "{invited}");

    let none = "This conversation has no messages from people yet.";
    assert_eq!(run("/why").await.unwrap(), none);
    let say = ClientCommand::Post(Post::new(Actor::human("user"), "hello"));
    world.hall.submit(&stream, say, None).await.unwrap();
    let why = run("/why").await.unwrap();
    assert!(why.starts_with("No agent was asked about the latest message: "), "{why}");

    let unknown = run("/explode").await.unwrap_err();
    assert!(unknown.to_string().contains("Unknown command /explode"), "{unknown}");
}
