//! A hall with bots in Discord, and what tests do in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use moothall_channels::config::DiscordBotConfig;
use moothall_channels::{Channels, ChannelsConfig, DiscordConfig};
use moothall_engine::MemoryLog;
use moothall_engine::access::{Access, Caller, Mode, NewPairing, Scope, Scopes, Secret, TokenKind};
use moothall_engine::agent::{Agent, Job, Probe, Reporter, TurnKey};
use moothall_engine::channels::{BotStatus, ChannelStatus, ChatStatus};
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Clock, DeliveryState, Store, SystemClock, Target};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Invite, Post};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::participant::{Profile, Runtime};
use moothall_kernel::permission::{OptionKind, PermissionOption, Question};
use moothall_kernel::time::Timestamp;
use moothall_testkit::discord::{
    ChannelId, ChannelMessage, DiscordBot, DiscordPerson, DiscordServer, GuildId, InteractionId,
};
use tempfile::TempDir;

/// A hall with the bot of the server and one agent's own.
pub struct House {
    pub discord: Arc<DiscordServer>,
    /// The bot of the server, and that of the analyst.
    pub bots: [DiscordBot; 2],
    pub guild: GuildId,
    pub channel: ChannelId,
    pub clock: Arc<ShiftedClock>,
    pub hall: Hall,
    pub store: Store,
    pub access: Access,
    pub owner: Caller,
    pub settings: DiscordConfig,
    channels: Option<Channels>,
    folder: TempDir,
}

/// The clock of this computer, which a test can put forward.
#[derive(Default)]
pub struct ShiftedClock(AtomicI64);

impl ShiftedClock {
    pub fn put_forward(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().millis() + self.0.load(Ordering::Relaxed))
    }
}

impl House {
    pub async fn open() -> Self {
        Self::open_with(|_, _| {}).await
    }

    /// Opens a hall after changes of the service and of the settings.
    pub async fn open_with(change: impl FnOnce(&Before, &mut DiscordConfig)) -> Self {
        let server = DiscordServer::start().await.unwrap();
        let bots = ["Moothall", "Analyst"].map(|name| server.add_bot(name));
        let guild = server.guild("Judges");
        let channel = server.text_channel(guild, "review");
        bots.iter().for_each(|bot| server.invite(guild, bot));
        let before = Before { discord: Arc::new(server), bots, guild, channel };
        let mut settings = DiscordConfig {
            rest_url: before.discord.url(),
            gateway_url: before.discord.gateway_url(),
            bot_token: Some(before.bots[0].token.clone()),
            ..DiscordConfig::default()
        };
        let own = DiscordBotConfig { bot_token: Some(before.bots[1].token.clone()), picture: None };
        settings.bots.insert("analyst".into(), own);
        change(&before, &mut settings);
        Self::of(before, settings).await
    }

    /// Opens another hall with the same bots, as by a mistake.
    pub async fn beside(other: &Self) -> Self {
        let House { discord, bots, guild, channel, settings, .. } = other;
        let (discord, bots) = (discord.clone(), bots.clone());
        let before = Before { discord, bots, guild: *guild, channel: *channel };
        Self::of(before, settings.clone()).await
    }

    async fn of(before: Before, settings: DiscordConfig) -> Self {
        let clock = Arc::<ShiftedClock>::default();
        let store = Store::of(Arc::new(MemoryLog::new()));
        let hall = open_hall(&store, &clock).await;
        let secret = Secret::fresh(TokenKind::Startup).unwrap();
        let access = Access::new(hall.clone(), Mode::Local, Some(&secret));
        let owner = access.identify(secret.reveal()).await.unwrap().unwrap();
        let Before { discord, bots, guild, channel } = before;
        let folder = tempfile::tempdir().unwrap();
        let channels = Some(open_channels(&hall, &settings, &folder).await);
        Self {
            discord,
            bots,
            guild,
            channel,
            clock,
            hall,
            store,
            access,
            owner,
            settings,
            channels,
            folder,
        }
    }

    /// Ends the server, as a crash does.
    pub async fn stop(&mut self) {
        self.channels = None;
        self.discord.wait_for(|it| self.bots.iter().all(|bot| it.connected(bot) == 0)).await;
    }

    /// Starts the server again with the same log.
    pub async fn start(&mut self) {
        self.hall = open_hall(&self.store, &self.clock).await;
        self.access = Access::new(self.hall.clone(), Mode::Local, None);
        self.channels = Some(open_channels(&self.hall, &self.settings, &self.folder).await);
    }

    /// Waits until both bots have a session.
    pub async fn connected(&self) {
        self.discord.wait_for(|it| self.bots.iter().all(|bot| it.connected(bot) > 0)).await;
    }

    /// Makes a person of the server in Discord who is paired with the owner.
    pub async fn paired(&self, name: &str, scopes: &[Scope]) -> DiscordPerson {
        let person = self.discord.person(name);
        self.discord.enter(self.guild, person);
        let code = self.code(scopes).await;
        let chat = self.discord.direct(person, &self.bots[0]);
        self.discord.wait_for(|it| it.connected(&self.bots[0]) > 0).await;
        self.discord.say(chat, person, &code);
        self.said(chat, |message| message.text.starts_with("You are now")).await;
        person
    }

    /// Returns a code that pairs an account with the owner.
    pub async fn code(&self, scopes: &[Scope]) -> String {
        let wanted = NewPairing { channel: "discord".into(), scopes: Scopes::of(scopes) };
        let (secret, _) = self.access.offer_pairing(&self.owner, wanted).await.unwrap();
        secret.reveal().to_owned()
    }

    /// Waits for a message in a channel.
    pub async fn said(
        &self,
        channel: ChannelId,
        is_meant: impl Fn(&ChannelMessage) -> bool,
    ) -> ChannelMessage {
        self.discord.wait_for_message(channel, is_meant).await
    }

    /// Binds a conversation with both agents to a channel.
    pub async fn bound(&self, channel: ChannelId) -> StreamId {
        let created = self.hall.create("Review".into(), Default::default(), user(), None).await;
        let stream = created.unwrap().stream;
        let mut controls = vec![Control::BindChat(chat_of(channel))];
        controls.extend(["analyst", "writer"].map(invitation));
        let command = ClientCommand::Control { by: user(), controls };
        self.hall.submit(&stream, command, None).await.unwrap();
        self.said(channel, |message| message.text.starts_with("This chat is connected")).await;
        stream
    }

    /// Posts words of an agent.
    pub async fn speak(&self, stream: &StreamId, agent: &str, text: &str) -> Seq {
        let by = Actor { id: agent.into(), human: false, proven: true };
        self.post(stream, Post::new(by, text)).await
    }

    /// Posts words of the person on the page.
    pub async fn speak_as_person(&self, stream: &StreamId, text: &str) -> Seq {
        self.post(stream, Post::new(user(), text)).await
    }

    async fn post(&self, stream: &StreamId, post: Post) -> Seq {
        let command = ClientCommand::Post(post);
        self.hall.submit(stream, command, None).await.unwrap().event.unwrap().seq
    }

    /// Asks a question of the analyst, about a folder.
    pub async fn ask(&self, stream: &StreamId) {
        let question = Question::new(
            "Remove the folder `build`",
            vec![
                PermissionOption::new("yes", "Yes, this once", OptionKind::AllowOnce),
                PermissionOption::new("no", "No", OptionKind::RejectOnce),
            ],
        );
        let command = EngineCommand::AskQuestion {
            permission: PermissionId::new("p1"),
            participant: "analyst".into(),
            question: Box::new(question),
        };
        self.hall.tell(stream, command, None).await.unwrap();
    }

    /// Waits until the delivery of an event to a channel has ended. Returns its state and evidence.
    pub async fn ended(&self, channel: ChannelId, seq: Seq) -> (DeliveryState, String) {
        self.ended_at(&format!("discord:{}", channel.0), seq).await
    }

    /// Waits until the delivery of an event to a chat has ended. Returns its state and evidence.
    pub async fn ended_at(&self, chat: &str, seq: Seq) -> (DeliveryState, String) {
        let target = Target::Chat(chat.parse().unwrap());
        loop {
            let all = self.store.outbox.of_target(&target, None, 1000).await.unwrap();
            let found = all.into_iter().find(|one| one.through_seq == seq);
            match found.filter(|one| one.state.is_settled()) {
                Some(found) => return (found.state, found.evidence),
                None => tokio::task::yield_now().await,
            }
        }
    }

    /// Waits until a conversation is bound to a chat.
    pub async fn until_bound(&self, chat: &str) -> StreamId {
        let chat = chat.parse().unwrap();
        loop {
            match self.hall.bound_to(&chat).await.unwrap() {
                Some(stream) => return stream,
                None => tokio::task::yield_now().await,
            }
        }
    }

    pub async fn events(&self, stream: &StreamId) -> Vec<RecordedEvent> {
        self.hall.read(stream, Seq(0), None).await.unwrap().events
    }

    /// Returns how often words are in a conversation.
    pub async fn entered(&self, stream: &StreamId, text: &str) -> usize {
        let events = self.events(stream).await;
        events.iter().filter(|one| one.event.body() == Some(text)).count()
    }

    /// Waits until words are in a conversation.
    pub async fn until_entered(&self, stream: &StreamId, text: &str) {
        while self.entered(stream, text).await == 0 {
            tokio::task::yield_now().await;
        }
    }

    pub async fn status(&self) -> ChannelStatus {
        let channels = self.hall.as_(self.owner.clone()).channels().await.unwrap();
        channels.into_iter().find(|channel| channel.name == "discord").unwrap()
    }

    /// Returns a bot as surfaces show it.
    pub async fn bot(&self, agent: &str) -> BotStatus {
        let status = self.status().await;
        status.bots.into_iter().find(|bot| bot.agent == agent).unwrap()
    }

    /// Waits until a bot is in a state that passes a test.
    pub async fn until_bot(&self, agent: &str, is_meant: impl Fn(&BotStatus) -> bool) -> BotStatus {
        loop {
            let bot = self.bot(agent).await;
            if is_meant(&bot) {
                return bot;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the bound channel is in a state that passes a test.
    pub async fn until_chat(&self, is_meant: impl Fn(&ChatStatus) -> bool) -> ChatStatus {
        loop {
            match self.status().await.chats.into_iter().find(&is_meant) {
                Some(chat) => return chat,
                None => tokio::task::yield_now().await,
            }
        }
    }

    /// Returns the words for the person who pressed or gave a command.
    pub async fn answer(&self, interaction: InteractionId) -> String {
        self.discord.wait_for_answer(interaction).await.text
    }
}

async fn open_hall(store: &Store, clock: &Arc<ShiftedClock>) -> Hall {
    let mut registry = Registry::default();
    ["analyst", "writer"].into_iter().for_each(|name| registry.insert(agent_spec(name)));
    let parts = HallParts {
        store: store.clone(),
        clock: clock.clone(),
        registry,
        defaults: Default::default(),
        budgets: Default::default(),
        owner: "test".into(),
    };
    Hall::open(parts).await.unwrap()
}

async fn open_channels(hall: &Hall, settings: &DiscordConfig, folder: &TempDir) -> Channels {
    let config = ChannelsConfig { discord: settings.clone(), ..ChannelsConfig::default() };
    let folder = folder.path().to_owned();
    Channels::open(hall, Mode::Local, config, folder).await.unwrap()
}

/// The service before a hall uses it.
pub struct Before {
    pub discord: Arc<DiscordServer>,
    pub bots: [DiscordBot; 2],
    pub guild: GuildId,
    pub channel: ChannelId,
}

/// An agent that never answers.
struct SilentAgent;

#[async_trait]
impl Agent for SilentAgent {
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }

    fn ensure(&self, _job: Job, _reporter: Arc<dyn Reporter>) {}

    async fn probe(&self, _key: &TurnKey) -> Probe {
        Probe::Unknown
    }

    fn cancel(&self, _key: &TurnKey) {}
}

fn agent_spec(name: &str) -> AgentSpec {
    AgentSpec {
        client: name.into(),
        summary: "Says what a test dictates.".into(),
        profile: Profile::default(),
        origin: "built-in",
        run_as: None,
        agent: Arc::new(SilentAgent),
    }
}

pub fn user() -> Actor {
    Actor::human("user")
}

pub fn chat_of(channel: ChannelId) -> Chat {
    format!("discord:{}", channel.0).parse().unwrap()
}

pub fn invitation(agent: &str) -> Control {
    named_invitation(agent, agent)
}

/// Returns the invitation of an agent under a name.
pub fn named_invitation(agent: &str, name: &str) -> Control {
    let profile = Profile {
        client: Some("elsewhere".into()),
        model: Some("m".into()),
        nickname: (name != agent).then(|| name.to_owned()),
        ..Profile::default()
    };
    let facts = Registry::default().facts("elsewhere");
    Control::Invite(Invite::new(agent, profile, facts))
}
