//! Discord: the real program's bot and its webhooks against the fake service, seen by the people in
//! its channels.

mod safeguards;
mod starts;
mod talk;

use moothall_testkit::discord::{
    ChannelId, ChannelMessage, DiscordBot, DiscordPerson, DiscordServer, GuildId,
};
use serde_json::Value;

use crate::harness::{Home, Server, comes_about};

/// Agents as in the conversation of the seed.
const AGENTS: &str = r#"
[agents.analyst]
replies = ["Revenue grew by 8 %."]

[agents.writer]
replies = ["Here is a draft."]

[agents.critic]
replies = ["[PASS]"]
"#;

/// A server with one bot, and the service.
pub struct Channelroom {
    pub discord: DiscordServer,
    pub home: Home,
    pub bot: DiscordBot,
    pub guild: GuildId,
    pub channel: ChannelId,
    pub ann: DiscordPerson,
}

impl Channelroom {
    pub async fn new() -> Self {
        Self::with_agents(AGENTS).await
    }

    /// Configures the bot of the server, and agents that speak by its webhooks.
    pub async fn with_agents(agents: &str) -> Self {
        let discord = DiscordServer::start().await.unwrap();
        let bot = discord.add_bot("Moothall");
        let (guild, ann) = (discord.guild("Market"), discord.person("Ann"));
        let channel = discord.text_channel(guild, "earnings");
        discord.invite(guild, &bot);
        discord.enter(guild, ann);
        let home = Home::new();
        home.sign();
        let room = Self { discord, home, bot, guild, channel, ann };
        room.home.configure(&format!(
            "{agents}\n[channels.discord]\nrest_url = \"{}\"\ngateway_url = \"{}\"\n\
             bot_token = \"{}\"\n",
            room.discord.url(),
            room.discord.gateway_url(),
            room.bot.token
        ));
        room
    }

    /// Starts the server, and waits for the session of its bot.
    pub async fn serve(&self) -> Server<'_> {
        let server = self.home.serve();
        self.discord.wait_for(|it| it.connected(&self.bot) > 0).await;
        server
    }

    /// Pairs Ann with the operator with all rights, and lets her open the channel.
    pub async fn open(&self, server: &Server<'_>, agents: &str) -> String {
        self.pair(server, self.ann).await;
        self.discord.say(self.channel, self.ann, &format!("/group create {agents}"));
        self.said(|message| message.text.starts_with("This chat is connected")).await;
        bound(server, self.channel).await
    }

    /// Pairs a person's account with the operator.
    pub async fn pair(&self, server: &Server<'_>, person: DiscordPerson) {
        let mut args = vec!["channels", "pair", "discord"];
        for scope in ["threads:admin", "permissions:answer", "turns:control", "participants:invite"]
        {
            args.extend(["--scope", scope]);
        }
        let code = server.json(&args)["code"].as_str().unwrap().to_owned();
        let chat = self.discord.direct(person, &self.bot);
        self.discord.say(chat, person, &format!("/start {code}"));
        self.discord.wait_for_message(chat, |it| it.text.starts_with("You are now user")).await;
    }

    /// Waits for a message in the channel.
    pub async fn said(&self, is_meant: impl Fn(&ChannelMessage) -> bool) -> ChannelMessage {
        self.discord.wait_for_message(self.channel, is_meant).await
    }

    /// Says something in the channel as Ann, and waits for an answer behind it.
    pub async fn ask(&self, text: &str, answer: &str) -> ChannelMessage {
        let asked = self.discord.say(self.channel, self.ann, text);
        let ann = self.ann.0;
        let is_answer = |message: &ChannelMessage| {
            message.id > asked && message.from_id != ann && message.text.contains(answer)
        };
        self.said(is_answer).await
    }

    /// Returns the number of messages in the channel that fit.
    pub fn count(&self, fits: impl Fn(&str) -> bool) -> usize {
        self.discord.texts(self.channel).iter().filter(|text| fits(text)).count()
    }
}

/// Returns the conversation that is bound to a channel.
pub async fn bound(server: &Server<'_>, channel: ChannelId) -> String {
    let path = format!("/threads?chat=discord:{}", channel.0);
    let listed = async || server.get(&path).await["threads"].clone();
    assert!(comes_about(async || !listed().await.as_array().unwrap().is_empty()).await);
    listed().await[0]["id"].as_str().unwrap().to_owned()
}

/// Returns the words of a conversation, in its order.
pub async fn words(server: &Server<'_>, thread: &str) -> Vec<String> {
    let events = server.events(thread).await;
    let messages = events.iter().filter(|event| event["type"] == "message");
    messages.map(|event| event["content"].as_str().unwrap().to_owned()).collect()
}

/// Waits until words are in a conversation, and checks that they are there once.
pub async fn entered(server: &Server<'_>, thread: &str, text: &str) {
    let found = async || words(server, thread).await.iter().any(|said| said == text);
    assert!(comes_about(found).await, "{text:?} never enters: {:?}", words(server, thread).await);
    let said = words(server, thread).await;
    assert_eq!(said.iter().filter(|said| *said == text).count(), 1, "{said:?}");
}

/// Returns the channel to Discord as the command lists it.
pub fn listed(server: &Server<'_>) -> Value {
    let all = server.json(&["channels"])["channels"].clone();
    let mut all = all.as_array().unwrap().iter();
    all.find(|channel| channel["name"] == "discord").unwrap().clone()
}
