//! A hall with Telegram's bots, and what tests do in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use moothall_channels::config::{BotConfig, BotTable};
use moothall_channels::{Channels, ChannelsConfig, TelegramConfig};
use moothall_engine::MemoryLog;
use moothall_engine::access::{Access, Caller, Mode, NewPairing, Scope, Scopes, Secret, TokenKind};
use moothall_engine::channels::BotStatus;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Clock, DeliveryState, Store, SystemClock, Target};
use moothall_engine::registry::Registry;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Invite, Post};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::participant::Profile;
use moothall_kernel::permission::{OptionKind, PermissionOption, Question};
use moothall_kernel::time::Timestamp;
use moothall_testkit::telegram::{Bot, ChatId, PersonId, ShownMessage, TelegramServer};

/// A hall with the bots of two agents.
pub struct House {
    pub telegram: Arc<TelegramServer>,
    pub bots: [Bot; 2],
    pub clock: Arc<ShiftedClock>,
    pub hall: Hall,
    pub store: Store,
    pub access: Access,
    pub owner: Caller,
    _channels: Channels,
    _folder: tempfile::TempDir,
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
        Self::open_with(|_| {}).await
    }

    /// Opens a hall whose settings of Telegram are changed before.
    pub async fn open_with(change: impl FnOnce(&mut TelegramConfig)) -> Self {
        Self::open_full(change, Registry::default()).await
    }

    /// Opens a hall with agents that it runs itself.
    pub async fn open_full(change: impl FnOnce(&mut TelegramConfig), registry: Registry) -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let bots = ["analyst", "writer"].map(|name| telegram.add_bot(&format!("{name}_bot"), name));
        bots.iter().for_each(|bot| telegram.set_privacy(bot, false));
        Self::of(Arc::new(telegram), bots, change, registry).await
    }

    /// Opens a hall whose first bot can manage others.
    pub async fn open_managed(registry: Registry) -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let bots = ["analyst", "writer"].map(|name| telegram.add_bot(&format!("{name}_bot"), name));
        telegram.let_manage(&bots[0]);
        Self::of(Arc::new(telegram), bots, |_| {}, registry).await
    }

    /// Opens another hall with the same bots, as by a mistake.
    pub async fn beside(other: &Self) -> Self {
        let (telegram, bots) = (other.telegram.clone(), other.bots.clone());
        Self::of(telegram, bots, |_| {}, Registry::default()).await
    }

    async fn of(
        telegram: Arc<TelegramServer>,
        bots: [Bot; 2],
        change: impl FnOnce(&mut TelegramConfig),
        registry: Registry,
    ) -> Self {
        let clock = Arc::<ShiftedClock>::default();
        let store = Store::of(Arc::new(MemoryLog::new()));
        let parts = HallParts {
            store: store.clone(),
            clock: clock.clone(),
            registry,
            defaults: Default::default(),
            budgets: Default::default(),
            owner: "test".into(),
        };
        let hall = Hall::open(parts).await.unwrap();
        let secret = Secret::fresh(TokenKind::Startup).unwrap();
        let access = Access::new(hall.clone(), Mode::Local, Some(&secret));
        let owner = access.identify(secret.reveal()).await.unwrap().unwrap();
        let table = bots.iter().map(|bot| {
            let agent = bot.username.trim_end_matches("_bot").to_owned();
            (agent, BotConfig { bot_token: bot.token.clone() })
        });
        let mut settings = TelegramConfig {
            base_url: telegram.url(),
            bots: BotTable::ByAgent(table.collect()),
            ..TelegramConfig::default()
        };
        change(&mut settings);
        let folder = tempfile::tempdir().unwrap();
        let config = ChannelsConfig { telegram: settings, ..ChannelsConfig::default() };
        let channels =
            Channels::open(&hall, Mode::Local, config, folder.path().to_owned()).await.unwrap();
        telegram.wait_for(|it| bots.iter().all(|bot| it.is_polling(bot))).await;
        Self {
            telegram,
            bots,
            clock,
            hall,
            store,
            access,
            owner,
            _channels: channels,
            _folder: folder,
        }
    }

    /// Pairs an account with the owner.
    pub async fn pair(&self, person: PersonId, scopes: &[Scope]) {
        let code = self.code(scopes).await;
        let chat = self.telegram.private(person, &self.bots[0]);
        self.telegram.say(chat, person, &format!("/start {code}"));
        self.said(chat, |message| message.text.starts_with("You are now")).await;
    }

    /// Returns a code that pairs an account with the owner.
    pub async fn code(&self, scopes: &[Scope]) -> String {
        let wanted = NewPairing { channel: "telegram".into(), scopes: Scopes::of(scopes) };
        let (secret, _) = self.access.offer_pairing(&self.owner, wanted).await.unwrap();
        secret.reveal().to_owned()
    }

    /// Waits for a message in a chat.
    pub async fn said(
        &self,
        chat: ChatId,
        is_meant: impl Fn(&ShownMessage) -> bool,
    ) -> ShownMessage {
        self.telegram.wait_for(|it| it.shown(chat).iter().any(&is_meant)).await;
        self.telegram.shown(chat).into_iter().find(is_meant).unwrap()
    }

    /// Makes a group that is bound to a conversation, with both agents in it.
    pub async fn bound_group(&self) -> (ChatId, StreamId) {
        let adder = self.telegram.person(99, "Adder");
        let group = self.telegram.supergroup("Review");
        self.telegram.enter(group, adder);
        self.bots.iter().for_each(|bot| self.telegram.join(group, bot, adder));
        self.said(group, |message| message.text.contains("not connected")).await;
        let created = self.hall.create("Review".into(), Default::default(), user(), None).await;
        let stream = created.unwrap().stream;
        let chat: Chat = format!("telegram:{}", group.id).parse().unwrap();
        let mut controls = vec![Control::BindChat(chat)];
        controls.extend(["analyst", "writer"].map(invitation));
        self.hall
            .submit(&stream, ClientCommand::Control { by: user(), controls }, None)
            .await
            .unwrap();
        self.said(group, |message| message.text.starts_with("This chat is connected")).await;
        (group, stream)
    }

    /// Makes a conversation with the analyst that is bound to a place of Telegram.
    pub async fn bound_to(&self, place: &str) -> StreamId {
        let created = self.hall.create(place.into(), Default::default(), user(), None).await;
        let stream = created.unwrap().stream;
        let chat: Chat = format!("telegram:{place}").parse().unwrap();
        let controls = vec![Control::BindChat(chat), invitation("analyst")];
        let command = ClientCommand::Control { by: user(), controls };
        self.hall.submit(&stream, command, None).await.unwrap();
        stream
    }

    /// Posts words of an agent.
    pub async fn speak(&self, stream: &StreamId, agent: &str, text: &str) -> Seq {
        let by = Actor { id: agent.into(), human: false, proven: true };
        let post = ClientCommand::Post(Post::new(by, text));
        self.hall.submit(stream, post, None).await.unwrap().event.unwrap().seq
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

    /// Posts words of the person on the page.
    pub async fn speak_as_person(&self, stream: &StreamId, text: &str) {
        let post = ClientCommand::Post(Post::new(user(), text));
        self.hall.submit(stream, post, None).await.unwrap();
    }

    /// Waits until the delivery of an event to a group has ended. Returns its state and evidence.
    pub async fn ended(&self, group: ChatId, seq: Seq) -> (DeliveryState, String) {
        self.ended_at(&group.id.to_string(), seq).await
    }

    /// Waits until the delivery of an event to a place of Telegram has ended.
    pub async fn ended_at(&self, place: &str, seq: Seq) -> (DeliveryState, String) {
        let chat: Chat = format!("telegram:{place}").parse().unwrap();
        loop {
            let all =
                self.store.outbox.of_target(&Target::Chat(chat.clone()), None, 1000).await.unwrap();
            let found = all.into_iter().find(|one| one.through_seq == seq);
            match found.filter(|one| one.state.is_settled()) {
                Some(found) => return (found.state, found.evidence),
                None => tokio::task::yield_now().await,
            }
        }
    }

    pub async fn events(&self, stream: &StreamId) -> Vec<RecordedEvent> {
        self.hall.read(stream, Seq(0), None).await.unwrap().events
    }

    /// Returns the first bot as surfaces show it.
    pub async fn first_bot(&self) -> BotStatus {
        self.bot("analyst").await
    }

    pub async fn bot(&self, agent: &str) -> BotStatus {
        let channels = self.hall.as_(self.owner.clone()).channels().await.unwrap();
        channels[0].bots.iter().find(|bot| bot.agent == agent).unwrap().clone()
    }

    /// Returns the words for the person who pressed.
    pub async fn answer(&self, press: &str) -> String {
        self.telegram.wait_for(|it| it.press_answer(press).is_some()).await;
        self.telegram.press_answer(press).unwrap().text
    }
}

pub fn user() -> Actor {
    Actor::human("user")
}

pub fn invitation(agent: &str) -> Control {
    let profile =
        Profile { client: Some("elsewhere".into()), model: Some("m".into()), ..Profile::default() };
    let facts = Registry::default().facts("elsewhere");
    Control::Invite(Invite::new(agent, profile, facts))
}
