//! Guards as each caller reads them, and the conversations loaded for that.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_engine::access::{Caller, Mode, Principal, Proof, Reach, Scope, Scopes, TokenId};
use moothall_engine::door::{GuardPage, GuardQuery, GuardSubject};
use moothall_engine::ports::SessionId;
use moothall_kernel::command::{Actor, ClientCommand, Control};
use moothall_kernel::event::Guard;
use moothall_kernel::guards::Check;
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::policy::Policy;

use crate::common::{World, post_by};

const ALL: GuardQuery = GuardQuery { stream: None, after: None, limit: 100 };

/// Returns a caller with a credential that may read.
pub fn known(id: &str, kind: Kind, scope: Scope) -> Caller {
    let proof = Proof {
        principal: Principal { id: id.into(), kind },
        token: TokenId::new("t"),
        parent: None,
        expires_at: None,
        session: None,
    };
    let scopes = Scopes::of(&[Scope::ThreadsRead, scope]);
    Caller { proof: Some(Arc::new(proof)), scopes, reach: Reach::All }
}

fn anybody() -> Caller {
    Caller::anonymous(Mode::Local)
}

/// Creates a conversation with two remote agents, in which a guard holds after one exchange.
async fn room(world: &World, is_held: bool) -> StreamId {
    let policy = Policy { max_exchanges_without_human: 1, ..Policy::default() };
    let stream = world.create_with(policy).await;
    for agent in ["ada", "bob"] {
        world.invite(&stream, agent, "elsewhere").await;
    }
    if is_held {
        world.hall.submit(&stream, post_by("ada", "@bob hello"), None).await.unwrap();
    }
    stream
}

async fn page(world: &World, caller: Caller, wanted: GuardQuery) -> GuardPage {
    world.hall.as_(caller).guards(wanted).await.unwrap()
}

fn checks(page: &GuardPage) -> Vec<(StreamId, Check)> {
    let of = page.items.iter().filter_map(|item| match (&item.thread, &item.guard) {
        (Some((stream, _)), GuardSubject::Floor(row)) => Some((stream.clone(), row.guard.clone())),
        _ => None,
    });
    of.collect()
}

#[tokio::test(start_paused = true)]
async fn quiet_conversations_are_not_loaded_and_pages_join() {
    let world = World::new().await;
    let mut held = Vec::new();
    for n in 0..9 {
        let stream = room(&world, n % 3 == 0).await;
        held.extend((n % 3 == 0).then_some(stream));
    }
    let world = world.restart(&[]).await;
    assert_eq!(world.hall.live_streams(), 0);
    let hold = |stream: &StreamId| (stream.clone(), Check::Hold(Guard::Exchanges));
    held.sort();
    let all = page(&world, anybody(), ALL).await;
    assert_eq!(checks(&all), held.iter().map(hold).collect::<Vec<_>>());
    assert_eq!((all.next, world.hall.live_streams()), (None, 3));

    let mut wanted = GuardQuery { limit: 2, ..ALL };
    let first = page(&world, anybody(), wanted.clone()).await;
    assert_eq!(
        (checks(&first), &first.next),
        (vec![hold(&held[0]), hold(&held[1])], &Some(held[1].clone()))
    );
    wanted.after = first.next;
    let second = page(&world, anybody(), wanted).await;
    assert_eq!((checks(&second), second.next), (vec![hold(&held[2])], None));
}

#[tokio::test(start_paused = true)]
async fn a_caller_reads_the_conversations_within_reach_and_no_others() {
    let world = World::new().await;
    let (own, other) = (room(&world, true).await, room(&world, true).await);
    let reach = Reach::Only(Arc::new(BTreeSet::from([own.clone()])));
    let bound = Caller { reach, ..anybody() };
    let hold = Check::Hold(Guard::Exchanges);
    assert_eq!(checks(&page(&world, bound.clone(), ALL).await), [(own, hold)]);
    let named = GuardQuery { stream: Some(other), ..ALL };
    let refused = world.hall.as_(bound).guards(named).await.unwrap_err();
    assert!(refused.to_string().contains("was not found"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_reads_what_its_own_conversations_are_told() {
    let world = World::new().await;
    let stream = room(&world, true).await;
    let mute = vec![Control::Mute(vec!["bob".into()]), Control::Pause(true)];
    let mute = ClientCommand::Control { by: Actor::human("user"), controls: mute };
    world.hall.submit(&stream, mute, None).await.unwrap();
    world.hall.submit(&stream, post_by("bob", "but"), None).await.unwrap_err();
    let agent = |id: &str| known(id, Kind::Agent, Scope::ThreadsWrite);
    let listed: Vec<Check> = checks(&page(&world, agent("ada"), ALL).await)
        .into_iter()
        .map(|(_, check)| check)
        .collect();
    let hold = Check::Hold(Guard::Exchanges);
    assert_eq!(listed, [hold, Check::Pause, Check::Mute("bob".into())], "no counts");
    assert_eq!(page(&world, agent("cid"), ALL).await.items, [], "not its own");
    let named = GuardQuery { stream: Some(stream), ..ALL };
    assert_eq!(page(&world, agent("cid"), named).await.items, []);
    let people = page(&world, anybody(), ALL).await;
    assert!(checks(&people).iter().any(|(_, check)| *check == Check::Refused("bob".into())));
}

#[tokio::test(start_paused = true)]
async fn a_sessions_program_reads_the_rooms_within_its_reach() {
    let world = World::new().await;
    let (own, _) = (room(&world, true).await, room(&world, true).await);
    let agent = known("claude", Kind::Agent, Scope::ThreadsWrite);
    let proof = agent.proof.as_deref().unwrap().clone();
    let session = Proof { session: Some(SessionId::new("s1")), ..proof };
    let reach = Reach::Only(Arc::new(BTreeSet::from([own.clone()])));
    let caller = Caller { proof: Some(Arc::new(session)), reach, ..agent };
    let listed = checks(&page(&world, caller, ALL).await);
    assert_eq!(listed, [(own, Check::Hold(Guard::Exchanges))]);
}
