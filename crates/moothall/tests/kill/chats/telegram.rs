//! A supergroup of Telegram with a bot for each of two agents.

use moothall_testkit::telegram::{Bot, ChatId, PersonId, TelegramFault, TelegramServer};
use serde_json::json;

use super::FAULTS_PERCENT;
use super::stage::ChatService;

pub struct TelegramGroup {
    telegram: TelegramServer,
    bots: [Bot; 2],
    group: ChatId,
    person: PersonId,
}

/// Returns the faults of the network and of the service.
fn faults() -> Vec<TelegramFault> {
    use TelegramFault::{
        BadGateway, BadGatewayAfter, Conflict, Delay, Drop, DuplicateUpdates, OddAnswer,
        ReorderUpdates, ResetAfter, TooMany, UnknownUpdate, UnreadableAnswer,
    };
    let delay = Delay(std::time::Duration::from_millis(20));
    let too_many = [TooMany(json!(0)), TooMany(json!(0.03)), TooMany(json!("0.01"))];
    let others = [
        Drop,
        delay,
        BadGateway,
        BadGatewayAfter,
        ResetAfter,
        Conflict,
        OddAnswer,
        UnreadableAnswer,
        DuplicateUpdates,
        ReorderUpdates,
        UnknownUpdate,
    ];
    too_many.into_iter().chain(others).collect()
}

impl ChatService for TelegramGroup {
    const CHANNEL: &'static str = "telegram";
    const HEAD: &'static str = "user (page, not proven):\n";
    const MAY_BE_UNKNOWN: bool = true;

    async fn start() -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let bots = ["analyst", "writer"].map(|name| telegram.add_bot(&format!("{name}_bot"), name));
        bots.iter().for_each(|bot| telegram.set_privacy(bot, false));
        let (person, group) = (telegram.person(7, "Ann"), telegram.supergroup("Market"));
        telegram.enter(group, person);
        Self { telegram, bots, group, person }
    }

    fn config(&self) -> String {
        let mut config = format!("[channels.telegram]\nbase_url = \"{}\"\n", self.telegram.url());
        for (bot, agent) in self.bots.iter().zip(["analyst", "writer"]) {
            config += &format!("[channels.telegram.bots.{agent}]\nbot_token = \"{}\"\n", bot.token);
        }
        config
    }

    async fn open(&self, code: &str) {
        let Self { telegram, bots, group, person } = self;
        telegram.wait_for(|it| bots.iter().all(|bot| it.is_polling(bot))).await;
        let chat = telegram.private(*person, &bots[0]);
        telegram.say(chat, *person, &format!("/start {code}"));
        telegram.wait_for_message(chat, |it| it.text.starts_with("You are now")).await;
        bots.iter().for_each(|bot| telegram.join(*group, bot, *person));
        // The group is opened with one bot, and the other joins; both is told in the group.
        telegram.wait_for_message(*group, |it| it.text.starts_with("This chat")).await;
        telegram.wait_for_message(*group, |it| it.text.contains("joined")).await;
    }

    fn chat(&self) -> String {
        format!("telegram:{}", self.group.id)
    }

    fn say(&self, _number: usize, text: &str) {
        self.telegram.say(self.group, self.person, text);
    }

    fn texts(&self) -> Vec<String> {
        self.telegram.texts(self.group)
    }

    async fn until_shown(&self, wanted: usize) {
        self.telegram.wait_for(|it| it.count(self.group) >= wanted).await;
    }

    async fn until_heard(&self) {
        let left = |it: &TelegramServer| -> usize {
            self.bots.iter().map(|bot| it.pending(bot).len()).sum()
        };
        // Each step has a bound, and not all of them together: there may be thousands.
        while let before @ 1.. = left(&self.telegram) {
            self.telegram.wait_for(|it| left(it) < before).await;
        }
    }

    fn disturb(&self, seed: Option<u64>) {
        let choices = seed.map(|_| faults()).unwrap_or_default();
        self.telegram.fault_at_random(seed.unwrap_or_default(), FAULTS_PERCENT, &choices);
    }
}
