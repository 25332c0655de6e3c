//! Managed bots: offers, taps, and bots that no person asked for.

use std::sync::Arc;

use moothall_engine::access::{AccessError, Scope};
use moothall_engine::channels::ChannelError;
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_kernel::participant::Profile;
use moothall_testkit::telegram::{Bot, ChatId, PersonId, TelegramFault};

use super::House;
use super::drafts::{DictatedAgent, finish};

const OTHERS: [&str; 2] = ["critic", "planner"];

/// A hall with two agents without bots, and a paired person.
struct Offers {
    house: House,
    agents: [Arc<DictatedAgent>; 2],
    ann: PersonId,
    /// Ann's chat with the manager.
    chat: ChatId,
}

impl Offers {
    async fn open() -> Self {
        let agents = OTHERS.map(|_| Arc::new(DictatedAgent::default()));
        let mut registry = Registry::default();
        for (name, agent) in OTHERS.iter().zip(&agents) {
            registry.insert(AgentSpec {
                client: (*name).into(),
                summary: "Says what a test dictates.".into(),
                profile: Profile::default(),
                origin: "built-in",
                run_as: None,
                agent: agent.clone(),
            });
        }
        let house = House::open_managed(registry).await;
        let ann = house.telegram.person(7, "Ann");
        house.pair(ann, &[Scope::ThreadsAdmin]).await;
        let chat = house.telegram.private(ann, &house.bots[0]);
        Self { house, agents, ann, chat }
    }

    async fn offer(&self, agent: &str) -> Result<Vec<String>, AccessError> {
        self.house.hall.as_(self.house.owner.clone()).offer_bot("telegram", agent).await
    }

    fn tap(&self, agent: &str) -> Bot {
        let button = format!("Make the bot of {agent}");
        self.house.telegram.tap_new_bot(self.ann, self.chat, &button)
    }

    /// Waits until the chat says that a bot is the one of an agent, and polls.
    async fn connected(&self, bot: &Bot, agent: &str) {
        let line = format!("@{} is now the bot of {agent}.", bot.username);
        self.house.said(self.chat, |message| message.text.starts_with(&line)).await;
        self.house.telegram.wait_for(|it| it.is_polling(bot)).await;
    }

    /// Waits until the manager has taken all its updates.
    async fn at_rest(&self) {
        let manager = &self.house.bots[0];
        self.house
            .telegram
            .wait_for(|it| it.pending(manager).is_empty() && it.is_polling(manager))
            .await;
    }

    /// Returns the agents that have bots.
    async fn bots(&self) -> Vec<String> {
        let channels = self.house.hall.as_(self.house.owner.clone()).channels().await.unwrap();
        channels[0].bots.iter().map(|bot| bot.agent.clone()).collect()
    }
}

#[tokio::test]
async fn a_tap_makes_the_bot_by_which_an_agent_speaks() {
    let it = Offers::open().await;
    let bob = it.house.telegram.person(8, "Bob");
    it.house.pair(bob, &[]).await;
    it.house.telegram.block(bob, &it.house.bots[0]);
    assert_eq!(it.offer("critic").await.unwrap(), ["telegram:7"]);
    assert_eq!(it.offer("planner").await.unwrap(), ["telegram:7"]);
    let buttons = OTHERS.map(|agent| format!("Make the bot of {agent}"));
    assert_eq!(it.house.telegram.keyboard(it.chat), buttons);

    // The second offer is taken first.
    let planner = it.tap("planner");
    it.connected(&planner, "planner").await;
    assert_eq!(it.house.telegram.keyboard(it.chat), buttons[..1]);
    let critic = it.tap("critic");
    it.connected(&critic, "critic").await;
    assert!(it.house.telegram.keyboard(it.chat).is_empty());
    assert_eq!(it.house.telegram.may_write_to(&critic), Some(vec![bob]));

    let talk = it.house.telegram.private(it.ann, &critic);
    it.house.telegram.say(talk, it.ann, "Is it good?");
    finish(&it.agents[0].turn().await, "It is long.");
    let answer = it.house.said(talk, |message| message.text == "It is long.").await;
    assert_eq!(answer.from_id, critic.id);
    let again = it.offer("critic").await;
    assert!(matches!(again, Err(AccessError::Channel(ChannelError::Taken(_)))), "{again:?}");

    // A replaced token arrives by itself.
    it.house.telegram.renew_token(it.ann, &critic);
    it.at_rest().await;
    it.house.telegram.say(talk, it.ann, "And now?");
    finish(&it.agents[0].turn().await, "Still long.");
    it.house.said(talk, |message| message.text == "Still long.").await;
}

#[tokio::test]
async fn a_bot_that_no_person_asked_for_is_ignored() {
    let it = Offers::open().await;
    let manager = &it.house.bots[0];
    it.house.telegram.make_managed_bot(it.ann, manager, "unasked_bot");
    it.at_rest().await;
    it.offer("critic").await.unwrap();
    let mallory = it.house.telegram.person(66, "Mallory");
    it.house.telegram.private(mallory, manager);
    it.house.telegram.make_managed_bot(mallory, manager, "critic_analyst_bot");
    it.at_rest().await;
    assert_eq!(it.bots().await, ["analyst", "writer"]);
    assert!(it.house.telegram.calls_of(manager, "getManagedBotToken").is_empty());

    // The offer is still open, for an hour.
    it.house.clock.put_forward(3601);
    it.tap("critic");
    it.at_rest().await;
    assert_eq!(it.bots().await, ["analyst", "writer"]);
}

#[tokio::test]
async fn a_token_that_is_late_is_asked_for_again() {
    let it = Offers::open().await;
    it.offer("critic").await.unwrap();
    let fault = TelegramFault::BadGateway;
    it.house.telegram.fault(&it.house.bots[0], "getManagedBotToken", fault);
    let critic = it.tap("critic");
    it.connected(&critic, "critic").await;
    assert_eq!(it.bots().await, ["analyst", "writer", "critic"]);
}

#[tokio::test]
async fn an_offer_without_a_manager_or_an_account_says_what_is_missing() {
    let it = Offers::open().await;
    let lost = it.offer("nobody").await;
    assert!(matches!(lost, Err(AccessError::Channel(ChannelError::NoAgent(_)))), "{lost:?}");
    it.house.telegram.block(it.ann, &it.house.bots[0]);
    let Err(AccessError::Channel(ChannelError::NoAccount(why))) = it.offer("critic").await else {
        panic!("an account that blocked the bot got the button")
    };
    assert!(why.contains("https://t.me/analyst_bot"), "{why}");

    let mut registry = Registry::default();
    registry.insert(AgentSpec {
        client: "critic".into(),
        summary: "Says what a test dictates.".into(),
        profile: Profile::default(),
        origin: "built-in",
        run_as: None,
        agent: it.agents[0].clone(),
    });
    let house = House::open_full(|_| {}, registry).await;
    let none = house.hall.as_(house.owner.clone()).offer_bot("telegram", "critic").await;
    assert!(matches!(none, Err(AccessError::Channel(ChannelError::NoManager(_)))), "{none:?}");
    // A bot may become a manager while it is connected.
    house.telegram.let_manage(&house.bots[1]);
    let none = house.hall.as_(house.owner.clone()).offer_bot("telegram", "critic").await;
    assert!(matches!(none, Err(AccessError::Channel(ChannelError::NoAccount(_)))), "{none:?}");
}

#[tokio::test]
async fn a_bot_that_is_added_by_its_token_is_prepared_like_a_configured_one() {
    let it = Offers::open().await;
    let critic = it.house.telegram.add_bot("critic_bot", "Critic");
    it.house.telegram.set_webhook(&critic);
    let door = it.house.hall.as_(it.house.owner.clone());
    door.add_bot("telegram", "critic", &critic.token).await.unwrap();
    it.house.telegram.wait_for(|it| it.is_polling(&critic)).await;
    assert!(it.house.telegram.commands(&critic).to_string().contains("help"));
}
