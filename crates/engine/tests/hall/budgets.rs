//! Budgets over many conversations: what is spent in one is missing in the others, and nothing is
//! spent twice.

use std::sync::Arc;

use futures_util::future::join_all;
use moothall_engine::access::{Access, Mode};
use moothall_engine::agent::Agent;
use moothall_engine::budgets::{Amounts, BudgetsConfig, Money};
use moothall_engine::hall::{Hall, HallError, HallParts};
use moothall_engine::ports::{AppendError, UsageBy, UsageWanted};
use moothall_engine::registry::Registry;
use moothall_kernel::budget::Purse;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::event::{Event, WhyNot};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Millis;

use crate::common::{Parrot, TestClock, TestLog, agent, post_by, spec};

const HOUR: Millis = Millis::from_secs(3600);

struct House {
    log: Arc<TestLog>,
    clock: Arc<TestClock>,
    budgets: BudgetsConfig,
    hall: Hall,
}

fn unattended(turns: u64) -> Amounts {
    Amounts { unattended_turns_per_hour: Some(turns), ..Amounts::default() }
}

impl House {
    async fn new(budgets: BudgetsConfig) -> Self {
        let (log, clock) = (TestLog::new(), TestClock::new());
        let hall = open(&log, &clock, &budgets).await;
        Self { log, clock, budgets, hall }
    }

    async fn restart(self) -> Self {
        let Self { log, clock, budgets, hall } = self;
        drop(hall);
        tokio::task::yield_now().await;
        let hall = open(&log, &clock, &budgets).await;
        Self { log, clock, budgets, hall }
    }

    /// A conversation that an agent begins, with so many of one model in it.
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

    /// Says something, and waits until what it set off is over: more words for a turn that waits
    /// would cost nothing.
    async fn says(&self, stream: &StreamId, by: &str, words: &str) -> Result<(), HallError> {
        self.hall.submit(stream, post_by(by, words), None).await?;
        self.rest(std::slice::from_ref(stream)).await;
        Ok(())
    }

    /// Waits until nobody works: a turn that a restart finds open is paid a second time.
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

    /// Turns granted, agents that were not asked for want of a budget, and how often people were
    /// told.
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

async fn open(log: &Arc<TestLog>, clock: &Arc<TestClock>, budgets: &BudgetsConfig) -> Hall {
    let mut registry = Registry::default();
    let parrot: Arc<dyn Agent> = agent(Parrot("so it is"));
    registry.insert(spec("parrot", parrot));
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
    // Somebody who answers is called by `to`; that is one turn for each message, in each room.
    let all_at_once = async |rooms: &[StreamId], by: &'static str| {
        let post = |room: StreamId| {
            let ClientCommand::Post(post) = post_by(by, "what do you say?") else { unreachable!() };
            let to = moothall_kernel::event::To::One("p0".into());
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
    let [granted, over, told] = house.tally(std::slice::from_ref(&room)).await;
    assert_eq!((granted, told), (20, 1));
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
    let nothing = house.hall.raise_budget(&by, &Purse::Hall, 0, 1, HOUR).await;
    assert!(
        matches!(nothing, Err(HallError::Rejected(rejection)) if rejection.code == "no_budget")
    );
    house.hall.raise_budget(&by, &Purse::Hall, 1, 0, HOUR).await.unwrap();
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
