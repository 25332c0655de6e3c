//! A server with a channel of Discord that is bound: one agent speaks by its own bot, the other and
//! the page by a webhook. Connections to the gateway break as well.

use std::collections::BTreeMap;

use moothall_engine::ports::{Deliveries, DeliveryState, Upkeep};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::StreamId;
use moothall_store::SqliteLog;
use moothall_testkit::discord::{
    ChannelId, DiscordBot, DiscordPerson, DiscordServer, GatewayFault, RestFault,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::stage::{Burst, outward, read};
use super::{BusyChat, Death, FAULTS_PERCENT, KILLS, MESSAGES, suffer};
use crate::chance::{Chance, seed, setting};
use crate::house::{House, PATIENCE, Server, plain};
use crate::ledger::Ledger;

/// Number of messages behind which a connection to the gateway breaks.
const BREAK_AFTER: usize = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_while_a_channel_is_busy_loses_nothing_and_repeats_nothing() {
    let seed = seed();
    let (messages, kills) =
        (setting("MOOTHALL_CHAT_MESSAGES", || MESSAGES), setting("MOOTHALL_KILLS", || KILLS));
    println!("MOOTHALL_KILL_SEED={seed} MOOTHALL_CHAT_MESSAGES={messages} MOOTHALL_KILLS={kills}");
    let mut chance = Chance::of(seed);
    let mut stage = ChannelStage::new().await;
    let faults = [
        RestFault::Drop,
        RestFault::BadGateway,
        RestFault::BadGatewayAfter,
        RestFault::ResetAfter,
        RestFault::UnreadableAnswer,
        RestFault::TooMany(0.03),
        RestFault::TooManyEverywhere(0.02),
    ];
    stage.discord.fault_at_random(seed, FAULTS_PERCENT, &faults);
    let in_burst = messages / (kills + 1);
    let mut at_points = 0;
    for number in 0..kills {
        let death = Death::draw(&mut chance, in_burst);
        let burst = Burst::of(number * in_burst..(number + 1) * in_burst, &mut chance);
        at_points += u64::from(suffer(&mut stage, burst, death).await);
    }
    stage.speak(Burst::of(kills * in_burst..messages, &mut chance)).await;
    stage.discord.fault_at_random(seed, 0, &[]);
    stage.rest().await;
    let (faults, unknown) = stage.faults().await;
    println!(
        "{kills} kills of a server with a busy channel, {at_points} of them at named points; \
         {messages} messages of people, {unknown} deliveries are unknown"
    );
    assert!(
        faults.is_empty(),
        "MOOTHALL_KILL_SEED={seed} MOOTHALL_CHAT_MESSAGES={messages} MOOTHALL_KILLS={kills}\n{}",
        faults.join("\n")
    );
}

/// A house with a channel that is bound.
struct ChannelStage {
    house: House,
    discord: DiscordServer,
    server: Option<Server>,
    ledger: Ledger,
    bots: [DiscordBot; 2],
    channel: ChannelId,
    person: DiscordPerson,
    thread: String,
    /// True once the people of a burst have spoken.
    spoken: watch::Sender<bool>,
}

impl ChannelStage {
    /// Starts a server, pairs a person and opens a channel with two agents.
    async fn new() -> Self {
        let discord = DiscordServer::start().await.unwrap();
        let bots = ["Moothall", "Analyst"].map(|name| discord.add_bot(name));
        let (guild, person) = (discord.guild("Market"), discord.person("Ann"));
        let channel = discord.text_channel(guild, "busy");
        bots.iter().for_each(|bot| discord.invite(guild, bot));
        discord.enter(guild, person);
        let more = format!(
            "[channels.discord]\nrest_url = \"{}\"\ngateway_url = \"{}\"\nbot_token = \"{}\"\n\
             [channels.discord.bots.analyst]\nbot_token = \"{}\"\n\
             [agents.analyst]\nreplies = [\"I heard: {{message}}\"]\n\
             [agents.writer]\nreplies = [\"[PASS]\"]\n",
            discord.url(),
            discord.gateway_url(),
            bots[0].token,
            bots[1].token
        );
        let house = House::with(&more).await;
        let server = Some(house.start().await);
        let mut stage = Self {
            house,
            discord,
            server,
            ledger: Ledger::new(),
            bots,
            channel,
            person,
            thread: String::new(),
            spoken: watch::channel(false).0,
        };
        stage.open().await;
        stage
    }

    fn address(&self) -> Option<String> {
        self.house.address.borrow().clone()
    }

    async fn open(&mut self) {
        let scopes = json!({"scopes": ["threads:admin", "participants:invite"]});
        let url = format!("{}/channels/discord/pairings", self.address().unwrap());
        let request = plain().build().unwrap().post(url).bearer_auth(self.house.key());
        let pairing: Value = request.json(&scopes).send().await.unwrap().json().await.unwrap();
        self.discord.wait_for(|it| self.bots.iter().all(|bot| it.connected(bot) > 0)).await;
        let chat = self.discord.direct(self.person, &self.bots[0]);
        let start = format!("/start {}", pairing["code"].as_str().unwrap());
        self.discord.say(chat, self.person, &start);
        self.discord.wait_for_message(chat, |it| it.text.starts_with("You are now")).await;
        self.discord.say(self.channel, self.person, "/group create analyst writer");
        self.discord.wait_for_message(self.channel, |it| it.text.starts_with("This chat")).await;
        let path = format!("/threads?chat=discord:{}", self.channel.0);
        let listed = self.ledger.get(&self.address().unwrap(), &path).await.unwrap();
        self.thread = listed["threads"][0]["id"].as_str().unwrap().to_owned();
        let policy = json!({"policy": {"name": "mention_only", "cooldown_seconds": 0}});
        self.insist("policy", json!({"type": "control", "from": "user", "content": policy})).await;
    }

    /// Sends an event until it is acknowledged, by whichever server is there.
    async fn insist(&self, key: &str, body: Value) {
        let path = format!("/threads/{}/events", self.thread);
        let asked = self.ledger.note(path, body, key.to_owned());
        let mut address = self.house.address.subscribe();
        loop {
            let at = address.borrow_and_update().clone();
            if let Some(at) = at
                && self.ledger.ask(&at, &asked).await.is_some()
            {
                return;
            }
            let changed = timeout(PATIENCE, address.changed()).await;
            changed
                .unwrap_or_else(|_| panic!("{}; {}", self.ledger.loss(), self.house.said()))
                .unwrap();
        }
    }

    /// Says words in the channel. Now and then a connection to the gateway breaks with them.
    fn say(&self, number: usize, text: &str) {
        if number % BREAK_AFTER == BREAK_AFTER - 1 {
            let fault = match number % 2 {
                0 => GatewayFault::Cut,
                _ => GatewayFault::Reconnect,
            };
            self.bots.iter().for_each(|bot| self.discord.gateway_fault(bot, fault.clone()));
        }
        self.discord.say(self.channel, self.person, text);
    }

    /// Waits until every word has arrived on both sides: each side keeps its order.
    async fn rest(&self) {
        self.say(0, "group end.");
        let at = self.address().unwrap();
        let events = format!("/threads/{}/events", self.thread);
        loop {
            let all = self.ledger.get(&at, &events).await.unwrap();
            let state = format!("/threads/{}/state", self.thread);
            let state = self.ledger.get(&at, &state).await.unwrap();
            let is_resting = state["state"]["turns"].as_array().unwrap().is_empty();
            if is_resting && all.to_string().contains("group end.") {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.insist("end", json!({"from": "user", "content": "The end."})).await;
        self.discord.wait_for_message(self.channel, |it| it.text == "The end.").await;
    }

    /// Stops the server, and returns the faults: what was shown twice, and what was lost; and the
    /// number of deliveries in doubt.
    async fn faults(&mut self) -> (Vec<String>, usize) {
        self.house.stop(self.server.take().unwrap()).await;
        let mut faults = self.house.damage().await;
        let log = SqliteLog::open(&self.house.data()).unwrap();
        let stream = StreamId::new(&self.thread);
        let events = read(&log, &stream).await;
        let deliveries = log.of_stream(&stream).await.unwrap();
        log.close().await.unwrap();
        let texts = self.discord.texts(self.channel);
        faults.extend(self.inward(&texts, &events));
        faults.extend(outward(&texts, &events, &deliveries, ""));
        if self.house.said().contains("panicked") {
            faults.push(format!("the server panicked: {}", self.house.said()));
        }
        let unknown = deliveries.iter().filter(|one| one.state == DeliveryState::Unknown).count();
        (faults, unknown)
    }

    /// Checks that the words of each side entered once.
    fn inward(&self, texts: &[String], events: &[RecordedEvent]) -> Vec<String> {
        let mut entered: BTreeMap<&str, usize> = BTreeMap::new();
        for body in events.iter().filter_map(|one| one.event.body()) {
            *entered.entry(body).or_default() += 1;
        }
        let in_channel = texts.iter().map(String::as_str).filter(|text| text.starts_with("group "));
        let asked = self.ledger.all();
        let on_page = asked.iter().filter_map(|asked| asked.body["content"].as_str());
        let all = in_channel.chain(on_page).map(|text| (text, entered.get(text).copied()));
        let wrong = all.filter(|(_, count)| *count != Some(1));
        wrong.map(|(text, count)| format!("{text:?} entered {count:?} times")).collect()
    }
}

impl BusyChat for ChannelStage {
    fn house(&self) -> &House {
        &self.house
    }

    fn server(&mut self) -> &mut Option<Server> {
        &mut self.server
    }

    fn shown(&self) -> usize {
        self.discord.shown(self.channel).len()
    }

    async fn until_shown(&self, wanted: usize) {
        self.discord.wait_for(|it| it.shown(self.channel).len() >= wanted).await;
    }

    async fn until_heard(&self) {
        self.spoken.subscribe().wait_for(|spoken| *spoken).await.unwrap();
    }

    async fn speak(&self, burst: Burst) {
        self.spoken.send_replace(false);
        let Burst { in_group, on_page } = burst;
        let each = in_group.len().div_ceil(on_page.len().max(1));
        let mut in_group = in_group.into_iter().enumerate();
        for (key, text) in on_page {
            in_group.by_ref().take(each).for_each(|(number, text)| self.say(number, &text));
            self.insist(&key, json!({"from": "user", "content": text})).await;
        }
        in_group.for_each(|(number, text)| self.say(number, &text));
        self.spoken.send_replace(true);
    }
}
