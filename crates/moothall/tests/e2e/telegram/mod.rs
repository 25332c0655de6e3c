//! Telegram: the server's bots against the fake service, seen by the people in its chats.

mod both;
mod complaints;
mod group;
mod guide;
mod hostile;
mod lengths;
mod numbers;
mod starts;

use moothall_testkit::telegram::{Bot, ChatId, PersonId, ShownMessage, TelegramServer};
use serde_json::{Value, json};

use crate::harness::{Home, Server, comes_about};

/// The scopes of a person who may do everything that an account can.
pub const ALL: [&str; 4] =
    ["threads:admin", "permissions:answer", "turns:control", "participants:invite"];

/// Agents that answer with their name and the turn's number.
pub const AGENTS: &str = r#"
[agents.analyst]
runtime = "script"
replies = ["Revenue grew by 8 %."]

[agents.writer]
runtime = "script"
replies = ["Here is a draft."]

[agents.critic]
runtime = "script"
replies = ["[PASS]"]
"#;

/// A server with three bots, and the service.
pub struct Chatroom {
    pub telegram: TelegramServer,
    pub home: Home,
    pub bots: [Bot; 3],
}

impl Chatroom {
    pub async fn new() -> Self {
        Self::with_privacy(false).await
    }

    /// Configures the bots, with their privacy mode on or off.
    pub async fn with_privacy(is_private: bool) -> Self {
        Self::with_agents(AGENTS, is_private).await
    }

    /// Configures the bots of other agents, which have the same names.
    pub async fn with_agents(agents: &str, is_private: bool) -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let bots = [("analyst", "Analyst"), ("writer", "Writer"), ("critic", "Critic")]
            .map(|(name, shown)| telegram.add_bot(&format!("{name}_bot"), shown));
        bots.iter().for_each(|bot| telegram.set_privacy(bot, is_private));
        let home = Home::new();
        home.sign();
        let mut text =
            format!("{agents}\n[channels.telegram]\nbase_url = \"{}\"\n", telegram.url());
        for (bot, agent) in bots.iter().zip(["analyst", "writer", "critic"]) {
            text.push_str(&format!(
                "[channels.telegram.bots.{agent}]\nbot_token = \"{}\"\n",
                bot.token
            ));
        }
        home.configure(&text);
        Self { telegram, home, bots }
    }

    /// Starts the server, and waits until its bots poll.
    pub async fn serve(&self) -> Server<'_> {
        self.polling(self.home.serve()).await
    }

    /// Starts the server without the limits of Telegram, for tests that say much.
    pub async fn serve_freely(&self) -> Server<'_> {
        self.polling(self.home.serve_with("127.0.0.1:0", &[("MOOTHALL_UNLIMITED", "1")])).await
    }

    async fn polling<'a>(&self, server: Server<'a>) -> Server<'a> {
        self.telegram.wait_for(|it| self.bots.iter().all(|bot| it.is_polling(bot))).await;
        server
    }

    /// Pairs a person's account with the operator, by the first bot.
    pub async fn pair(&self, server: &Server<'_>, person: PersonId, scopes: &[&str]) {
        let mut args = vec!["channels", "pair", "telegram"];
        scopes.iter().for_each(|scope| args.extend(["--scope", scope]));
        let code = server.json(&args)["code"].as_str().unwrap().to_owned();
        let chat = self.telegram.private(person, &self.bots[0]);
        self.telegram.say(chat, person, &format!("/start {code}"));
        self.said(chat, |message| message.text.starts_with("You are now user")).await;
    }

    /// Waits for a message in a chat.
    pub async fn said(
        &self,
        chat: ChatId,
        is_meant: impl Fn(&ShownMessage) -> bool,
    ) -> ShownMessage {
        let found = async || self.telegram.shown(chat).iter().any(&is_meant);
        if !comes_about(found).await {
            panic!("it was never said\n{:#?}", self.telegram.texts(chat));
        }
        self.telegram.shown(chat).into_iter().find(is_meant).unwrap()
    }

    /// Makes a supergroup of a person and all bots, which the person adds.
    pub fn group(&self, person: PersonId) -> ChatId {
        let group = self.telegram.supergroup("Market");
        self.telegram.enter(group, person);
        self.bots.iter().for_each(|bot| self.telegram.join(group, bot, person));
        group
    }
}

/// Returns the conversation that is bound to a chat.
pub async fn bound(server: &Server<'_>, chat: &str) -> String {
    let found = async || {
        let listed = server.get(&format!("/threads?chat={chat}")).await;
        !listed["threads"].as_array().unwrap().is_empty()
    };
    assert!(comes_about(found).await, "{chat} is never bound");
    let listed = server.get(&format!("/threads?chat={chat}")).await;
    listed["threads"][0]["id"].as_str().unwrap().to_owned()
}

/// Returns the participants of a conversation that are agents.
pub async fn agents(server: &Server<'_>, thread: &str) -> Vec<String> {
    let state = server.get(&format!("/threads/{thread}/state")).await["state"].clone();
    let invited = state["participants"]["invited"].as_array().unwrap();
    invited.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// A group that is open, with its person and its conversation.
pub struct OpenGroup {
    pub chat: ChatId,
    pub person: PersonId,
    pub thread: String,
}

impl Chatroom {
    /// Pairs Ann, and lets her open a group of all bots.
    pub async fn open_group(&self, server: &Server<'_>) -> OpenGroup {
        let person = self.telegram.person(7, "Ann");
        self.pair(server, person, &ALL).await;
        let chat = self.group(person);
        let thread = bound(server, &format!("telegram:{}", chat.id)).await;
        assert!(comes_about(async || agents(server, &thread).await.len() == 3).await);
        self.said(chat, |message| message.text.starts_with("This chat is connected")).await;
        // The group is opened with the bot that is heard first, and the others join.
        let joined = async || self.count(chat, |one| one.text.contains(" joined.")) == 2;
        assert!(comes_about(joined).await, "{:#?}", self.telegram.texts(chat));
        OpenGroup { chat, person, thread }
    }

    /// Returns the number of messages of a chat that fit.
    pub fn count(&self, chat: ChatId, fits: impl Fn(&ShownMessage) -> bool) -> usize {
        let shown = self.telegram.shown(chat).into_iter();
        shown.filter(|message| !message.is_deleted && fits(message)).count()
    }
}

/// Makes agents answer only messages that name them.
pub async fn only_named(server: &Server<'_>, thread: &str) {
    let policy = json!({"policy": {"name": "mention_only", "cooldown_seconds": 0}});
    server.control(thread, policy).await;
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

/// Returns the deliveries of a conversation, the newest first.
pub async fn deliveries(server: &Server<'_>, thread: &str) -> Vec<Value> {
    let listed = server.get(&format!("/threads/{thread}/deliveries")).await;
    listed["deliveries"].as_array().unwrap().clone()
}
