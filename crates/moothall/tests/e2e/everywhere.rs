//! One conversation in Telegram, Discord and Matrix and on the page: the same words in the same
//! order, each once.

use std::fs;

use moothall_testkit::discord::{ChannelId, DiscordBot, DiscordPerson, DiscordServer};
use moothall_testkit::matrix::Homeserver;
use moothall_testkit::telegram::{Bot, ChatId, PersonId, TelegramServer};

use crate::harness::{Home, Server, comes_about};
use crate::telegram::{AGENTS, ALL, entered, only_named, words};

/// The three services, with a person in each of them.
struct Services {
    telegram: TelegramServer,
    group: ChatId,
    tom: PersonId,
    telegram_bot: Bot,
    discord: DiscordServer,
    channel: ChannelId,
    dora: DiscordPerson,
    discord_bot: DiscordBot,
    homeserver: Homeserver,
    mia: String,
}

impl Services {
    async fn start() -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let telegram_bot = telegram.add_bot("analyst_bot", "Analyst");
        telegram.set_privacy(&telegram_bot, false);
        let (group, tom) = (telegram.supergroup("Market"), telegram.person(7, "Tom"));
        telegram.enter(group, tom);
        let discord = DiscordServer::start().await.unwrap();
        let discord_bot = discord.add_bot("Moothall");
        let (guild, dora) = (discord.guild("Market"), discord.person("Dora"));
        let channel = discord.text_channel(guild, "earnings");
        discord.invite(guild, &discord_bot);
        discord.enter(guild, dora);
        let homeserver = Homeserver::start().await.unwrap();
        let mia = homeserver.user("mia");
        Self {
            telegram,
            group,
            tom,
            telegram_bot,
            discord,
            channel,
            dora,
            discord_bot,
            homeserver,
            mia,
        }
    }

    fn configure(&self, home: &Home) {
        let registration = home.path().join("registration.yaml");
        fs::write(&registration, self.homeserver.registration()).unwrap();
        home.configure(&format!(
            "{AGENTS}\n\
             [channels.telegram]\nbase_url = \"{}\"\n\
             [channels.telegram.bots.analyst]\nbot_token = \"{}\"\n\
             [channels.discord]\nrest_url = \"{}\"\ngateway_url = \"{}\"\nbot_token = \"{}\"\n\
             [channels.matrix]\nhomeserver = \"{}\"\nregistration = \"registration.yaml\"\n",
            self.telegram.url(),
            self.telegram_bot.token,
            self.discord.url(),
            self.discord.gateway_url(),
            self.discord_bot.token,
            self.homeserver.url(),
        ));
    }

    /// Pairs the three people, binds the conversation of the group to the other two places, and
    /// returns it with the room in Matrix.
    async fn open(&self, server: &Server<'_>) -> (String, String) {
        let code = |channel: &str| {
            let mut args = vec!["channels", "pair", channel];
            ALL.iter().for_each(|scope| args.extend(["--scope", scope]));
            format!("/start {}", server.json(&args)["code"].as_str().unwrap())
        };
        let chat = self.telegram.private(self.tom, &self.telegram_bot);
        self.telegram.say(chat, self.tom, &code("telegram"));
        self.telegram.join(self.group, &self.telegram_bot, self.tom);
        let thread = crate::telegram::bound(server, &format!("telegram:{}", self.group.id)).await;

        // Each further chat has other readers, so it needs the operator's word.
        let bind = |chat: &str| server.ok(&["channels", "bind", &thread, chat, "--confirm"]);
        let chat = self.discord.direct(self.dora, &self.discord_bot);
        self.discord.say(chat, self.dora, &code("discord"));
        self.discord.wait_for_message(chat, |it| it.text.starts_with("You are now")).await;
        bind(&format!("discord:{}", self.channel.0));

        let private = self.homeserver.private_room(&self.mia, "moothall");
        self.homeserver.wait_for(|it| it.is_in(&private, "moothall")).await;
        self.homeserver.say(&private, &self.mia, &code("matrix"));
        let is_paired =
            |it: &Homeserver| it.texts(&private).iter().any(|text| text.starts_with("You are now"));
        self.homeserver.wait_for(is_paired).await;
        let room = self.homeserver.room(&self.mia, &[]);
        self.homeserver.invite(&room, &self.mia, "moothall");
        self.homeserver.wait_for(|it| it.is_in(&room, "moothall")).await;
        // A room that is bound by hand gets the agents' accounts.
        bind(&format!("matrix:{room}"));
        self.homeserver.wait_for(|it| it.is_in(&room, "moothall_analyst")).await;
        (thread, room)
    }

    /// Returns the words that each place shows, without the head of a relayed message.
    fn shown(&self, room: &str) -> [Vec<String>; 3] {
        let telegram = self.telegram.shown(self.group).into_iter();
        let telegram = telegram.filter(|message| !message.is_service && !message.is_deleted);
        [
            telegram.map(|message| message.text.replace("@analyst_bot", "@analyst")).collect(),
            self.discord.texts(self.channel),
            self.homeserver.texts(room),
        ]
    }
}

/// Returns the given words in the order in which texts end with them.
fn order(texts: &[String], said: &[String]) -> Vec<String> {
    let of = |text: &String| said.iter().find(|said| text.ends_with(*said)).cloned();
    texts.iter().filter_map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_in_three_chats_and_on_the_page_is_the_same_everywhere() {
    let services = Services::start().await;
    let home = Home::new();
    home.sign();
    services.configure(&home);
    let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_UNLIMITED", "1")]);
    let (telegram, discord) = (&services.telegram, &services.discord);
    telegram.wait_for(|it| it.is_polling(&services.telegram_bot)).await;
    discord.wait_for(|it| it.connected(&services.discord_bot) > 0).await;
    let (thread, room) = services.open(&server).await;
    only_named(&server, &thread).await;
    // Each word waits for the one before: what is said in a chat before another arrives there
    // stands before it.
    let arrives = async |text: &str| {
        entered(&server, &thread, text).await;
        let is_shown = |texts: &Vec<String>| texts.iter().any(|shown| shown.ends_with(text));
        let all = async || services.shown(&room).iter().all(is_shown);
        assert!(comes_about(all).await, "{text}: {:#?}", services.shown(&room));
    };
    for round in 0..3 {
        let said = |place: &str| format!("{round}: from {place}.");
        telegram.say(services.group, services.tom, &said("Telegram"));
        arrives(&said("Telegram")).await;
        discord.say(services.channel, services.dora, &said("Discord"));
        arrives(&said("Discord")).await;
        services.homeserver.say(&room, &services.mia, &said("Matrix"));
        arrives(&said("Matrix")).await;
        server.say(&thread, &said("the page")).await;
        arrives(&said("the page")).await;
    }
    discord.say(services.channel, services.dora, "@analyst and earnings?");
    arrives("Revenue grew by 8 %.").await;
    let said = words(&server, &thread).await;
    assert_eq!(said.len(), 3 * 4 + 2, "{said:?}");
    for texts in services.shown(&room) {
        assert_eq!(order(&texts, &said), said, "{texts:#?}");
    }

    // Each place names the speakers of other places, and not its own.
    let [telegram, discord, matrix] = services.shown(&room);
    assert!(telegram.contains(&"0: from Telegram.".to_owned()), "{telegram:?}");
    assert!(telegram.iter().any(|text| text.starts_with("user (discord)")), "{telegram:?}");
    assert!(telegram.iter().any(|text| text.starts_with("user (matrix)")), "{telegram:?}");
    assert!(discord.contains(&"0: from Discord.".to_owned()), "{discord:?}");
    assert!(matrix.contains(&"0: from Matrix.".to_owned()), "{matrix:?}");
}
