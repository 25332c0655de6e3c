//! Budgets over many conversations: spending in one reduces the others' share, and nothing is spent
//! twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::future::join_all;
use moothall_engine::access::{Access, Caller, Mode, Scope};
use moothall_engine::agent::{Agent, CallCost, Job, Reporter};
use moothall_engine::budgets::{Amounts, BudgetsConfig, Money};
use moothall_engine::door::{GuardItem, GuardQuery, GuardSubject};
use moothall_engine::hall::{Hall, HallError, HallParts};
use moothall_engine::ports::{AppendError, UsageBy, UsageWanted};
use moothall_engine::registry::Registry;
use moothall_engine::reservations::Shortage;
use moothall_engine::run_once::Work;
use moothall_kernel::budget::BudgetOwner;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post};
use moothall_kernel::event::{Event, Fault, Usage, WhyNot};
use moothall_kernel::guards::GuardState;
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::{Kind, Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Millis;
use tokio::sync::Semaphore;

use crate::common::{Parrot, TestClock, TestLog, agent, post_by, spec};
use crate::guards::known;

const HOUR: Millis = Millis::from_secs(3600);

struct House {
    log: Arc<TestLog>,
    clock: Arc<TestClock>,
    budgets: BudgetsConfig,
    calls: Arc<Calls>,
    hall: Hall,
}

fn unattended(turns: u64) -> Amounts {
    Amounts { unattended_turns_per_hour: Some(turns), ..Amounts::default() }
}

impl House {
    async fn new(budgets: BudgetsConfig) -> Self {
        let (log, clock) = (TestLog::new(), TestClock::new());
        let calls = Arc::default();
        let hall = open(&log, &clock, &budgets, &calls).await;
        Self { log, clock, budgets, calls, hall }
    }

    async fn restart(self) -> Self {
        let Self { log, clock, budgets, calls, hall } = self;
        drop(hall);
        tokio::task::yield_now().await;
        let hall = open(&log, &clock, &budgets, &calls).await;
        Self { log, clock, budgets, calls, hall }
    }

    /// Creates conversations with one agent each, in which a person has just mentioned the agent.
    async fn asked(&self, rooms: usize, client: &str) -> Vec<StreamId> {
        let mut asked = Vec::new();
        for _ in 0..rooms {
            let policy = Policy::named(PolicyName::MentionOnly);
            let by = Actor::human("user");
            let created =
                self.hall.create("a room".into(), policy, by.clone(), None).await.unwrap();
            let profile = Profile {
                client: Some(client.into()),
                model: Some("m".into()),
                ..Profile::default()
            };
            let facts = self.hall.registry().facts(client);
            let controls = vec![Control::Invite(Invite::new(client, profile, facts))];
            let invite = ClientCommand::Control { by: by.clone(), controls };
            self.hall.submit(&created.stream, invite, None).await.unwrap();
            let words = ClientCommand::Post(Post::new(by, format!("@{client} now")));
            self.hall.submit(&created.stream, words, None).await.unwrap();
            asked.push(created.stream);
        }
        asked
    }

    /// Waits until this many calls have begun, and this many turns wait for money.
    async fn placed(&self, begun: usize, waiting: usize) {
        crate::common::eventually(async || {
            let waits = self.hall.reserved().iter().filter(|row| row.micros.is_none()).count();
            ((self.calls.begun.load(Ordering::SeqCst), waits) == (begun, waiting)).then_some(())
        })
        .await;
    }

    /// Creates a conversation in an agent's name, with this many participants of one client.
    async fn room_of(&self, by: &str, policy: PolicyName, clones: usize) -> StreamId {
        let policy = Policy { cooldown: Millis(0), ..Policy::named(policy) };
        let stream =
            self.hall.create("a room".into(), policy, Actor::named(by), None).await.unwrap().stream;
        let profile = Profile {
            client: Some("parrot".into()),
            model: Some("m".into()),
            ..Profile::default()
        };
        let facts = self.hall.registry().facts("parrot");
        let controls = (0..clones)
            .map(|n| Control::Invite(Invite::new(format!("p{n}"), profile.clone(), facts.clone())))
            .collect();
        self.hall
            .submit(&stream, ClientCommand::Control { by: Actor::named(by), controls }, None)
            .await
            .unwrap();
        stream
    }

    /// Posts a message, and waits until its turns have ended. A further message would only widen a
    /// turn that waits, at no cost.
    async fn says(&self, stream: &StreamId, by: &str, words: &str) -> Result<(), HallError> {
        self.hall.submit(stream, post_by(by, words), None).await?;
        self.rest(std::slice::from_ref(stream)).await;
        Ok(())
    }

    /// Waits until no turn is open. A turn that a restart finds open is charged a second time.
    async fn rest(&self, rooms: &[StreamId]) {
        for room in rooms {
            let quiet = async || {
                (self.hall.view(room, |state| state.open_turns().count()).await.unwrap() == 0)
                    .then_some(())
            };
            crate::common::eventually(quiet).await;
        }
    }

    async fn count(&self, streams: &[StreamId], wanted: impl Fn(&Event) -> bool + Copy) -> usize {
        let mut found = 0;
        for stream in streams {
            let events =
                self.hall.read(stream, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
            found += events.iter().filter(|recorded| wanted(&recorded.event)).count();
        }
        found
    }

    /// Returns the numbers of granted turns, of agents skipped for lack of budget, and of notices
    /// to people.
    async fn tally(&self, streams: &[StreamId]) -> [usize; 3] {
        let over =
            |event: &Event| matches!(event, Event::Skipped { why_not: WhyNot::OverBudget, .. });
        [
            self.count(streams, |event| matches!(event, Event::TurnGranted { .. })).await,
            self.count(streams, over).await,
            self.count(streams, |event| matches!(event, Event::BudgetSpent { .. })).await,
        ]
    }
}

/// A counter of the calls that began, which holds them until they may end.
struct Calls {
    begun: AtomicUsize,
    may_end: Semaphore,
}

impl Default for Calls {
    fn default() -> Self {
        Self { begun: AtomicUsize::new(0), may_end: Semaphore::new(0) }
    }
}

/// An agent whose calls cost 2 each.
struct Dear {
    cost: CallCost,
    calls: Arc<Calls>,
}

#[async_trait]
impl Work for Dear {
    async fn run(&self, _job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        self.calls.begun.fetch_add(1, Ordering::SeqCst);
        self.calls.may_end.acquire().await.unwrap().forget();
        let cost_micros = if self.cost == CallCost::Nothing { 0 } else { 2_000_000 };
        (Ok("that was dear".into()), Usage { cost_micros, ..Usage::default() })
    }
    fn runtime(&self) -> Runtime {
        Runtime::LLM
    }
    fn call_cost(&self) -> CallCost {
        self.cost
    }
}

async fn open(
    log: &Arc<TestLog>,
    clock: &Arc<TestClock>,
    budgets: &BudgetsConfig,
    calls: &Arc<Calls>,
) -> Hall {
    let mut registry = Registry::default();
    let parrot: Arc<dyn Agent> = agent(Parrot("so it is"));
    registry.insert(spec("parrot", parrot));
    for (name, cost) in [
        ("dear", CallCost::AtMost { micros: 2_000_000 }),
        ("odd", CallCost::Unknown),
        ("free", CallCost::Nothing),
    ] {
        registry.insert(spec(name, agent(Dear { cost, calls: calls.clone() })));
    }
    let parts = HallParts {
        store: log.store(),
        clock: clock.clone(),
        registry,
        defaults: Policy::default(),
        budgets: budgets.clone(),
        owner: "test".into(),
    };
    Hall::open(parts).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_agent_that_opens_conversations_stops_at_its_budget_and_at_that_of_the_hall() {
    let house = House::new(BudgetsConfig {
        principal: unattended(6),
        hall: unattended(8),
        ..BudgetsConfig::default()
    })
    .await;
    let rooms = async |by: &'static str| {
        join_all((0..10).map(|_| house.room_of(by, PolicyName::MentionOnly, 3))).await
    };
    // The message addresses one agent by `to`: one turn for each message, in each room.
    let all_at_once = async |rooms: &[StreamId], by: &'static str| {
        let post = |room: StreamId| {
            let ClientCommand::Post(post) = post_by(by, "what do you say?") else { unreachable!() };
            let to = moothall_kernel::event::Recipient::One("p0".into());
            let hall = house.hall.clone();
            tokio::spawn(async move {
                hall.submit(
                    &room,
                    ClientCommand::Post(moothall_kernel::command::Post { to, ..post }),
                    None,
                )
                .await
                .unwrap()
            })
        };
        join_all(rooms.iter().cloned().map(post)).await;
    };
    let x = rooms("x").await;
    all_at_once(&x, "x").await;
    assert_eq!(house.tally(&x).await, [6, 4, 4], "each room that asks in vain is told once");
    all_at_once(&x, "x").await;
    assert_eq!(house.tally(&x).await[0], 6);
    let y = rooms("y").await;
    all_at_once(&y, "y").await;
    assert_eq!(house.tally(&y).await, [2, 8, 8], "the hall has eight");
    house.clock.sleep_through(HOUR);
    all_at_once(&y, "y").await;
    assert_eq!(house.tally(&y).await[0], 8, "the next hour has its own");
}

#[tokio::test(start_paused = true)]
async fn clones_of_one_model_share_its_budget() {
    let agent = Amounts { turns_per_hour: Some(20), ..Amounts::default() };
    let house = House::new(BudgetsConfig { agent, ..BudgetsConfig::default() }).await;
    let room = house.room_of("x", PolicyName::Open, 60).await;
    house.says(&room, "x", "all of you").await.unwrap();
    let [granted, over, notices] = house.tally(std::slice::from_ref(&room)).await;
    assert_eq!((granted, notices), (20, 1));
    assert!(over >= 40, "{over} were not asked");
    let sums = house
        .hall
        .used(&UsageWanted { by: Some(UsageBy::Agent), limit: 9, ..UsageWanted::default() })
        .await
        .unwrap();
    assert_eq!(
        sums.iter().map(|sum| (sum.agent.as_deref(), sum.turns)).collect::<Vec<_>>(),
        [(Some("parrot"), 20)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_restart_forgets_nothing_that_was_spent_and_no_raise() {
    let house = House::new(BudgetsConfig { hall: unattended(1), ..BudgetsConfig::default() }).await;
    let rooms = [house.room_of("x", PolicyName::Open, 1).await];
    house.says(&rooms[0], "x", "one").await.unwrap();
    let house = house.restart().await;
    house.says(&rooms[0], "x", "two").await.unwrap();
    assert_eq!(house.tally(&rooms).await, [1, 1, 1]);
    let by = Access::new(house.hall.clone(), Mode::Local, None).anonymous();
    let nothing = house.hall.raise_budget(&by, &BudgetOwner::Hall, 0, 1, HOUR).await;
    assert!(
        matches!(nothing, Err(HallError::Rejected(rejection)) if rejection.code == "no_budget")
    );
    house.hall.raise_budget(&by, &BudgetOwner::Hall, 1, 0, HOUR).await.unwrap();
    let house = house.restart().await;
    house.says(&rooms[0], "x", "three").await.unwrap();
    house.says(&rooms[0], "x", "four").await.unwrap();
    assert_eq!(house.tally(&rooms).await, [2, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_appended_was_not_spent() {
    let house = House::new(BudgetsConfig { hall: unattended(1), ..BudgetsConfig::default() }).await;
    let rooms = [house.room_of("x", PolicyName::Open, 1).await];
    house.log.fail_next(AppendError::Overloaded);
    assert_eq!(house.says(&rooms[0], "x", "lost").await, Err(HallError::Overloaded));
    house.says(&rooms[0], "x", "kept").await.unwrap();
    house.says(&rooms[0], "x", "more").await.unwrap();
    assert_eq!(house.tally(&rooms).await, [1, 1, 1]);
}

#[test]
fn money_is_read_in_millionths() {
    assert_eq!(Money::try_from(1.5), Ok(Money { micros: 1_500_000 }));
    assert!(Money::try_from(f64::NAN).is_err() && Money::try_from(-0.1).is_err());
}

fn money(micros: u64) -> Amounts {
    Amounts { cost_per_day: Some(Money { micros }), ..Amounts::default() }
}

fn failed_for_money(event: &Event) -> bool {
    matches!(event, Event::TurnEnded { fault: Some(fault), .. } if fault.code == "over_budget")
}

/// A budget of 20, calls of 2, 40 rooms at a time: 10 calls, for each kind of budget.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_run_side_by_side_do_not_pass_a_budget_of_money_together() {
    let of_hall = BudgetsConfig { hall: money(20_000_000), ..BudgetsConfig::default() };
    let of_agent = BudgetsConfig { agent: money(20_000_000), ..BudgetsConfig::default() };
    let of_principal = BudgetsConfig { principal: money(20_000_000), ..BudgetsConfig::default() };
    for budgets in [of_hall, of_agent, of_principal] {
        let house = House::new(budgets).await;
        let rooms = house.asked(40, "dear").await;
        house.placed(10, 30).await;
        house.calls.may_end.add_permits(100);
        house.rest(&rooms).await;
        assert_eq!(house.calls.begun.load(Ordering::SeqCst), 10);
        assert_eq!(house.count(&rooms, failed_for_money).await, 30);
        assert_eq!(house.hall.reserved(), [], "everything came back");
    }
}

/// Operators read the reserved amount. Each reader reads which calls wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_under_way_stands_among_the_guards() {
    let budgets = BudgetsConfig { hall: money(20_000_000), ..BudgetsConfig::default() };
    let house = House::new(budgets).await;
    let rooms = house.asked(12, "dear").await;
    house.placed(10, 2).await;
    let operator = known("user", Kind::Human, Scope::ServerAdmin);
    let read = async |caller: Caller| {
        let wanted = GuardQuery { stream: None, after: None, limit: 100 };
        house.hall.as_(caller).guards(wanted).await.unwrap().items
    };
    let items = read(operator.clone()).await;
    let GuardSubject::Budget(hall) = &items[0].guard else { panic!("{items:?}") };
    assert_eq!((&hall.budget.owner, &items[0].thread), (&BudgetOwner::Hall, &None));
    assert_eq!((hall.budget.spent, hall.reserved), (0, 20_000_000));
    assert_eq!(hall.state(), Some(GuardState::Near));
    let waits = |item: &&GuardItem| match &item.guard {
        GuardSubject::Waiting(_) => item.thread.is_some(),
        GuardSubject::Floor(_) | GuardSubject::Budget(_) | GuardSubject::OwnWords(_) => false,
    };
    let shortages = |items: &[GuardItem]| -> Vec<Option<Shortage>> {
        let waiting = items.iter().filter_map(|item| match &item.guard {
            GuardSubject::Waiting(call) => Some(call.short.clone()),
            GuardSubject::Floor(_) | GuardSubject::Budget(_) | GuardSubject::OwnWords(_) => None,
        });
        waiting.collect()
    };
    assert_eq!(items.iter().filter(waits).count(), 2);
    let short = Some(Shortage { owner: BudgetOwner::Hall, micros: 2_000_000 });
    assert_eq!(shortages(&items), [short.clone(), short]);
    for reader in [Caller::anonymous(Mode::Local), known("ann", Kind::Human, Scope::ThreadsAdmin)] {
        let items = read(reader).await;
        assert_eq!(items.iter().filter(waits).count(), 2, "those of the conversations");
        assert_eq!(shortages(&items), [None, None], "and not whose money it is");
        assert!(items.iter().all(|item| item.thread.is_some()), "no money of the hall: {items:?}");
    }
    assert_eq!(read(known("dear", Kind::Agent, Scope::ThreadsAdmin)).await, []);

    house.calls.may_end.add_permits(100);
    house.rest(&rooms).await;
    let items = read(operator).await;
    let GuardSubject::Budget(hall) = &items[0].guard else { panic!("{items:?}") };
    assert_eq!((hall.budget.spent, hall.state()), (20_000_000, Some(GuardState::Refused)));
    assert_eq!(items.len(), 1, "{items:?}");
}

/// The budget of a conversation also limits agents that answer there concurrently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_side_by_side_do_not_pass_the_budget_of_their_conversation() {
    let budgets = BudgetsConfig { conversation: money(3_000_000), ..BudgetsConfig::default() };
    let house = House::new(budgets).await;
    let rooms = house.asked(3, "dear").await;
    house.placed(3, 0).await;
    house.calls.may_end.add_permits(100);
    house.rest(&rooms).await;
    // One of three is left: exactly one more call may begin with it.
    let again = Post::new(Actor::human("user"), "@dear once more");
    house.hall.submit(&rooms[0], ClientCommand::Post(again), None).await.unwrap();
    house.rest(&rooms).await;
    assert_eq!(house.calls.begun.load(Ordering::SeqCst), 4);
}

/// If the cost of a call is unknown, its agent has one call under way at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_an_unknown_price_are_made_one_after_the_other_and_free_ones_are_not() {
    let budgets = BudgetsConfig { hall: money(5_000_000), ..BudgetsConfig::default() };
    let house = House::new(budgets).await;
    let odd = house.asked(6, "odd").await;
    house.placed(1, 5).await;
    let free = house.asked(4, "free").await;
    house.placed(5, 5).await;
    house.calls.may_end.add_permits(100);
    house.rest(&free).await;
    house.rest(&odd).await;
    assert_eq!(house.calls.begun.load(Ordering::SeqCst), 4 + 3, "2 + 2 + 2 pass 5 by one call");
    assert_eq!(house.count(&odd, failed_for_money).await, 3);
}

/// A restart finds no call under way, so reserved money is free again. Spent money stays spent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_gives_back_what_was_reserved() {
    let budgets = BudgetsConfig { hall: money(20_000_000), ..BudgetsConfig::default() };
    let house = House::new(budgets).await;
    let rooms = house.asked(40, "dear").await;
    house.placed(10, 30).await;
    house.calls.may_end.add_permits(4);
    house.placed(10, 30).await;
    crate::common::eventually(async || {
        (house.count(&rooms, |event| matches!(event, Event::Posted(posted) if posted.via)).await
            == 4)
            .then_some(())
    })
    .await;
    let house = house.restart().await;
    house.calls.may_end.add_permits(100);
    house.rest(&rooms).await;
    let spoke = house
        .count(
            &rooms,
            |event| matches!(event, Event::TurnEnded { usage, .. } if usage.cost_micros > 0),
        )
        .await;
    assert_eq!(spoke, 10);
}
