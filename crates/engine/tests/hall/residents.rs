//! Residents of a hall through its port. These are not terminals: the hall treats all
//! implementations alike.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use moothall_engine::access::{Access, Mode, Reach};
use moothall_engine::agent::Agent;
use moothall_engine::hall::{Hall, HallError, HallParts};
use moothall_engine::ports::{Deliveries, DeliveryState, LogError, Target};
use moothall_engine::reach::ReachableStreams;
use moothall_engine::residents::{MoveIn, WeakHall};
use moothall_engine::sessions::{
    ADDRESS, OnDemand, Resident, Residents, SessionError, SessionId, is_session,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::event::{Event, Outcome, RecordedEvent};
use moothall_kernel::ids::{ComputerId, StreamId};
use moothall_kernel::participant::{Address, AgentFacts, Profile, Runtime};
use moothall_kernel::policy::Policy;

use crate::common::{
    SharedAgent, Slow, TestClock, TestLog, World, agent, eventually, has, post, words,
};

/// A resident that speaks when the test tells it to, and records the commits that it hears of.
#[derive(Default)]
struct Guests {
    hall: OnceLock<WeakHall>,
    mouth: Arc<Slow>,
    /// True if recording fails.
    is_full: AtomicBool,
    /// The commits, before and after, with their numbers of events.
    noted: Mutex<Vec<(&'static str, usize)>>,
}

fn guest() -> SessionId {
    SessionId::new("guest")
}

#[async_trait]
impl Residents for Guests {
    fn agent(&self, address: Option<&Address>) -> Arc<dyn Agent> {
        assert_eq!(address.map(|address| address.local_id.as_str()), Some("guest"));
        agent(SharedAgent(self.mouth.clone()))
    }

    async fn before_commit(
        &self,
        _stream: &StreamId,
        _state: &Conversation,
        events: &[RecordedEvent],
    ) -> Result<(), LogError> {
        if self.is_full.load(SeqCst) {
            return Err(LogError::Full);
        }
        self.noted.lock().unwrap().push(("before", events.len()));
        Ok(())
    }

    async fn after_commit(
        &self,
        _stream: &StreamId,
        _state: &Conversation,
        events: &[RecordedEvent],
    ) {
        self.noted.lock().unwrap().push(("after", events.len()));
    }

    fn by_token(&self, token: &str) -> Option<Resident> {
        let reach = Reach::Session(Arc::new(ReachableStreams::of(&guest())));
        (token == "key of the house").then(|| Resident {
            session: guest(),
            name: "guest".into(),
            reach,
            run_as: None,
        })
    }
}

#[async_trait]
impl MoveIn for Guests {
    async fn move_in(&self, hall: WeakHall) -> Result<(), HallError> {
        let _ = self.hall.set(hall);
        Ok(())
    }
}

async fn house() -> (World, Arc<Guests>) {
    let (log, clock, guests) = (TestLog::new(), TestClock::new(), Arc::new(Guests::default()));
    let parts = HallParts {
        store: log.store(),
        clock: clock.clone(),
        registry: Default::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "test".into(),
    };
    let hall = Hall::open_with(parts, guests.clone()).await.unwrap();
    (World { log, clock, hall }, guests)
}

/// Creates a conversation with the guest in it.
async fn parlour(world: &World) -> StreamId {
    parlour_with_guest_of(world, "").await
}

/// Creates a conversation with the guest of a computer in it.
async fn parlour_with_guest_of(world: &World, computer: &str) -> StreamId {
    let stream = world.create().await;
    let address =
        Address { computer: computer.into(), kind: ADDRESS.into(), local_id: guest().to_string() };
    let profile =
        Profile { client: Some("visitor".into()), model: Some("m".into()), ..Profile::default() };
    let invite = Invite {
        address: Some(address),
        ..Invite::new("guest", profile, AgentFacts::of_runtime(Runtime::TERMINAL))
    };
    let control = ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![Control::Invite(invite)],
    };
    world.hall.submit(&stream, control, None).await.unwrap();
    stream
}

#[tokio::test(start_paused = true)]
async fn a_session_of_another_computer_is_not_the_one_here_with_its_id() {
    let (world, _) = house().await;
    let stream = parlour_with_guest_of(&world, "2f3e").await;
    let is_here =
        |state: &Conversation| state.participants().iter().any(|one| is_session(one, &guest()));
    assert!(!world.hall.view(&stream, is_here).await.unwrap());
    world.post(&stream, "@guest how was the journey?").await.unwrap();
    // Its turn is offered to its computer.
    let there = Target::Computer(ComputerId::new("2f3e"));
    let owed = async || world.log.inner.of_target(&there, None, 9).await.unwrap().len();
    eventually(async || (owed().await >= 2).then_some(())).await;
    let rows = world.log.inner.of_target(&Target::Session("guest".into()), None, 9).await.unwrap();
    assert!(rows.is_empty(), "no words for it go to a terminal here: {rows:?}");
    // The one that lives here is found.
    let here = parlour(&world).await;
    assert!(world.hall.view(&here, is_here).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_turn_goes_to_whoever_lives_at_its_address_and_its_prompt_is_a_delivery() {
    let (world, guests) = house().await;
    let stream = parlour(&world).await;
    world.post(&stream, "@guest how was the journey?").await.unwrap();
    world
        .until(&stream, |events| has(events, |event| matches!(event, Event::TurnStarted { .. })))
        .await;
    guests.mouth.say("good evening");
    let events = world
        .until(&stream, |events| has(events, |event| matches!(event, Event::TurnEnded { .. })))
        .await;
    assert_eq!(
        events.iter().filter_map(words).next_back(),
        Some(("guest".to_owned(), "good evening".to_owned()))
    );
    let rows = world.log.inner.of_target(&Target::Session("guest".into()), None, 9).await.unwrap();
    assert_eq!(
        rows.iter().map(|row| (&row.stream, row.state)).collect::<Vec<_>>(),
        [(&stream, DeliveryState::Pending)]
    );
    let noted = guests.noted.lock().unwrap().clone();
    let sizes = |wanted| {
        noted
            .iter()
            .filter(|(when, _)| *when == wanted)
            .map(|(_, events)| *events)
            .collect::<Vec<_>>()
    };
    assert!(sizes("before").len() > 3);
    assert_eq!(sizes("before"), sizes("after"), "each batch, before it is committed and after it");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_noted_of_them_is_not_committed() {
    let (world, guests) = house().await;
    let stream = world.create().await;
    let head = world.hall.find(&stream).await.unwrap().head;
    guests.is_full.store(true, SeqCst);
    assert_eq!(world.post(&stream, "hello").await.map(drop), Err(HallError::DiskFull));
    assert_eq!(world.hall.find(&stream).await.unwrap().head, head);
    guests.is_full.store(false, SeqCst);
    world.post(&stream, "hello again").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_token_of_theirs_reaches_what_they_do() {
    let (world, _) = house().await;
    let access = Access::new(world.hall.clone(), Mode::Token, None);
    let caller = access.identify("key of the house").await.unwrap().unwrap();
    assert_eq!((caller.session(), caller.is_agent()), (Some(&guest()), true));
    assert!(caller.reach.includes(&guest()) && !caller.reach.includes(&world.create().await));
    assert_eq!(access.identify("another key").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn they_do_not_keep_the_hall_open() {
    let (world, guests) = house().await;
    let inside = guests.hall.get().unwrap().enter().unwrap();
    assert_eq!(inside.now(), world.hall.now());
    drop((inside, world));
    tokio::task::yield_now().await;
    assert!(guests.hall.get().unwrap().enter().is_none());
}

#[tokio::test(start_paused = true)]
async fn where_nobody_lives_their_turns_fail_and_there_is_nothing_to_ask() {
    let housed: Arc<dyn Agent> = Arc::new(OnDemand::default());
    let world = World::with(&[("housed", housed)]).await;
    assert!(matches!(world.hall.sessions(), Err(SessionError::Unavailable(_))));
    let stream = world.create().await;
    world.invite(&stream, "somebody", "housed").await;
    world.hall.submit(&stream, post("@somebody hello"), None).await.unwrap();
    let events = world
        .until(&stream, |events| has(events, |event| matches!(event, Event::TurnEnded { .. })))
        .await;
    assert!(
        has(&events, |event| matches!(event, Event::TurnEnded { outcome: Outcome::Failed, .. })),
        "{events:?}"
    );
}
