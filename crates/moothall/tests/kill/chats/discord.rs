//! A channel of Discord in which one agent speaks by its own bot, and the other and the page by a
//! webhook. Connections to the gateway break as well.

use moothall_testkit::discord::{
    ChannelId, DiscordBot, DiscordPerson, DiscordServer, GatewayFault, RestFault,
};

use super::FAULTS_PERCENT;
use super::stage::ChatService;

/// Number of messages behind which a connection to the gateway breaks.
const BREAK_AFTER: usize = 25;

pub struct DiscordChannel {
    discord: DiscordServer,
    bots: [DiscordBot; 2],
    channel: ChannelId,
    person: DiscordPerson,
}

impl ChatService for DiscordChannel {
    const CHANNEL: &'static str = "discord";
    const HEAD: &'static str = "";
    const MAY_BE_UNKNOWN: bool = true;

    async fn start() -> Self {
        let discord = DiscordServer::start().await.unwrap();
        let bots = ["Moothall", "Analyst"].map(|name| discord.add_bot(name));
        let (guild, person) = (discord.guild("Market"), discord.person("Ann"));
        let channel = discord.text_channel(guild, "busy");
        bots.iter().for_each(|bot| discord.invite(guild, bot));
        discord.enter(guild, person);
        Self { discord, bots, channel, person }
    }

    fn config(&self) -> String {
        format!(
            "[channels.discord]\nrest_url = \"{}\"\ngateway_url = \"{}\"\nbot_token = \"{}\"\n\
             [channels.discord.bots.analyst]\nbot_token = \"{}\"\n",
            self.discord.url(),
            self.discord.gateway_url(),
            self.bots[0].token,
            self.bots[1].token
        )
    }

    async fn open(&self, code: &str) {
        let Self { discord, bots, channel, person } = self;
        discord.wait_for(|it| bots.iter().all(|bot| it.connected(bot) > 0)).await;
        let chat = discord.direct(*person, &bots[0]);
        discord.say(chat, *person, &format!("/start {code}"));
        discord.wait_for_message(chat, |it| it.text.starts_with("You are now")).await;
        discord.say(*channel, *person, "/group create analyst writer");
        discord.wait_for_message(*channel, |it| it.text.starts_with("This chat")).await;
    }

    fn chat(&self) -> String {
        format!("discord:{}", self.channel.0)
    }

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

    fn texts(&self) -> Vec<String> {
        self.discord.texts(self.channel)
    }

    async fn until_shown(&self, wanted: usize) {
        self.discord.wait_for(|it| it.texts(self.channel).len() >= wanted).await;
    }

    async fn until_heard(&self) {}

    fn disturb(&self, seed: Option<u64>) {
        let all = [
            RestFault::Drop,
            RestFault::BadGateway,
            RestFault::BadGatewayAfter,
            RestFault::ResetAfter,
            RestFault::UnreadableAnswer,
            RestFault::TooMany(0.03),
            RestFault::TooManyEverywhere(0.02),
        ];
        let choices = if seed.is_some() { &all[..] } else { &[] };
        self.discord.fault_at_random(seed.unwrap_or_default(), FAULTS_PERCENT, choices);
    }
}
