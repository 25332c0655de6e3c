//! Telegram's bots in a hall, against the fake service.
#![allow(clippy::unwrap_used)]

#[path = "telegram/drafts.rs"]
mod drafts;
#[path = "telegram/ephemeral.rs"]
mod ephemeral;
#[path = "telegram/rich.rs"]
mod rich;

use std::sync::Arc;

use moothall_channels::config::{BotConfig, BotTable};
use moothall_channels::{Channels, ChannelsConfig, TelegramConfig};
use moothall_engine::MemoryLog;
use moothall_engine::access::{Access, Caller, Mode, NewPairing, Scope, Scopes, Secret, TokenKind};
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{DeliveryState, Store, SystemClock, Target};
use moothall_engine::registry::Registry;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Invite, Post};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::participant::Profile;
use moothall_kernel::permission::{OptionKind, PermissionOption, Question};
use moothall_testkit::telegram::{
    Bot, ChatId, PersonId, ShownMessage, TelegramFault, TelegramServer,
};
use serde_json::json;

/// A hall with the bots of two agents.
struct House {
    telegram: TelegramServer,
    bots: [Bot; 2],
    hall: Hall,
    store: Store,
    access: Access,
    owner: Caller,
    _channels: Channels,
    _folder: tempfile::TempDir,
}

impl House {
    async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    /// Opens a hall whose settings of Telegram are changed before.
    async fn open_with(change: impl FnOnce(&mut TelegramConfig)) -> Self {
        Self::open_full(change, Registry::default()).await
    }

    /// Opens a hall with agents that it runs itself.
    async fn open_full(change: impl FnOnce(&mut TelegramConfig), registry: Registry) -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let bots = ["analyst", "writer"].map(|name| telegram.add_bot(&format!("{name}_bot"), name));
        bots.iter().for_each(|bot| telegram.set_privacy(bot, false));
        let store = Store::of(Arc::new(MemoryLog::new()));
        let parts = HallParts {
            store: store.clone(),
            clock: Arc::new(SystemClock),
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
        let config = ChannelsConfig { telegram: settings };
        let channels =
            Channels::open(&hall, Mode::Local, config, folder.path().to_owned()).await.unwrap();
        telegram.wait_for(|it| bots.iter().all(|bot| it.is_polling(bot))).await;
        Self { telegram, bots, hall, store, access, owner, _channels: channels, _folder: folder }
    }

    /// Pairs an account with the owner.
    async fn pair(&self, person: PersonId, scopes: &[Scope]) {
        let scopes = Scopes::of(scopes);
        let wanted = NewPairing { channel: "telegram".into(), scopes };
        let (secret, _) = self.access.offer_pairing(&self.owner, wanted).await.unwrap();
        let chat = self.telegram.private(person, &self.bots[0]);
        self.telegram.say(chat, person, &format!("/start {}", secret.reveal()));
        self.said(chat, |message| message.text.starts_with("You are now")).await;
    }

    /// Waits for a message in a chat.
    async fn said(&self, chat: ChatId, is_meant: impl Fn(&ShownMessage) -> bool) -> ShownMessage {
        self.telegram.wait_for(|it| it.shown(chat).iter().any(&is_meant)).await;
        self.telegram.shown(chat).into_iter().find(is_meant).unwrap()
    }

    /// Makes a group that is bound to a conversation, with both agents in it.
    async fn bound_group(&self) -> (ChatId, StreamId) {
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
    async fn bound_to(&self, place: &str) -> StreamId {
        let created = self.hall.create(place.into(), Default::default(), user(), None).await;
        let stream = created.unwrap().stream;
        let chat: Chat = format!("telegram:{place}").parse().unwrap();
        let controls = vec![Control::BindChat(chat), invitation("analyst")];
        let command = ClientCommand::Control { by: user(), controls };
        self.hall.submit(&stream, command, None).await.unwrap();
        stream
    }

    /// Posts words of an agent.
    async fn speak(&self, stream: &StreamId, agent: &str, text: &str) -> Seq {
        let by = Actor { id: agent.into(), human: false, proven: true };
        let post = ClientCommand::Post(Post::new(by, text));
        self.hall.submit(stream, post, None).await.unwrap().event.unwrap().seq
    }

    /// Asks a question of the analyst, about a folder.
    async fn ask(&self, stream: &StreamId) {
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
    async fn speak_as_person(&self, stream: &StreamId, text: &str) {
        let post = ClientCommand::Post(Post::new(user(), text));
        self.hall.submit(stream, post, None).await.unwrap();
    }

    /// Waits until the delivery of an event to a group has ended. Returns its state and evidence.
    async fn ended(&self, group: ChatId, seq: Seq) -> (DeliveryState, String) {
        self.ended_at(&group.id.to_string(), seq).await
    }

    /// Waits until the delivery of an event to a place of Telegram has ended.
    async fn ended_at(&self, place: &str, seq: Seq) -> (DeliveryState, String) {
        let chat: Chat = format!("telegram:{place}").parse().unwrap();
        loop {
            let all = self.store.outbox.of_target(&Target::Chat(chat.clone()), 1000).await.unwrap();
            let found = all.into_iter().find(|one| one.through_seq == seq);
            match found.filter(|one| one.state.is_settled()) {
                Some(found) => return (found.state, found.evidence),
                None => tokio::task::yield_now().await,
            }
        }
    }

    async fn events(&self, stream: &StreamId) -> Vec<RecordedEvent> {
        self.hall.read(stream, Seq(0), None).await.unwrap().events
    }

    /// Returns the words for the person who pressed.
    async fn answer(&self, press: &str) -> String {
        self.telegram.wait_for(|it| it.press_answer(press).is_some()).await;
        self.telegram.press_answer(press).unwrap().text
    }
}

fn user() -> Actor {
    Actor::human("user")
}

fn invitation(agent: &str) -> Control {
    let profile =
        Profile { client: Some("elsewhere".into()), model: Some("m".into()), ..Profile::default() };
    let facts = Registry::default().facts("elsewhere");
    Control::Invite(Invite::new(agent, profile, facts))
}

#[tokio::test]
async fn a_question_is_answered_by_a_button_and_only_by_a_person_with_the_right() {
    let house = House::open().await;
    let (ann, bob) = (house.telegram.person(7, "Ann"), house.telegram.person(8, "Bob"));
    let (group, stream) = house.bound_group().await;
    house.pair(ann, &[Scope::PermissionsAnswer]).await;
    house.pair(bob, &[]).await;
    house.ask(&stream).await;

    let chat = house.telegram.private(ann, &house.bots[0]);
    let card = house.said(chat, |message| message.text.contains("Remove the folder")).await;
    let line = house.said(group, |message| message.text.contains("waits for an answer")).await;
    assert!(!line.text.contains("folder"), "{}", line.text);
    let labels: Vec<&str> = card.buttons.iter().flatten().map(|one| one.text.as_str()).collect();
    assert_eq!(labels, ["Yes, this once", "No"]);

    // A person without the right is refused, also with the data of the card.
    let bobs = house.telegram.private(bob, &house.bots[0]);
    let own = house.said(bobs, |message| message.text.starts_with("You are now")).await;
    let press = house.telegram.press_data(bob, own.key, &card.buttons[0][0].data);
    let refused = house.answer(&press).await;
    assert!(refused.contains("permissions:answer"), "{refused}");
    // Data that the server did not make means nothing.
    let press = house.telegram.press_data(ann, card.key, "0.1.0.abcdef");
    assert!(house.answer(&press).await.contains("no meaning"));

    let press = house.telegram.press(ann, card.key, "Yes, this once");
    assert_eq!(house.answer(&press).await, "Answered: Yes, this once");
    let over = house.said(chat, |message| message.text.contains("user answered")).await;
    assert_eq!((over.key, over.buttons.len()), (card.key, 0));
    let answered = |one: &RecordedEvent| matches!(one.event, Event::PermissionAnswered { .. });
    assert_eq!(house.events(&stream).await.iter().filter(|one| answered(one)).count(), 1);
    // A second press does not change the answer.
    let press = house.telegram.press_data(ann, over.key, &card.buttons[1][0].data);
    assert_ne!(house.answer(&press).await, "Answered: No");
}

#[tokio::test]
async fn refused_formatting_becomes_plain_and_a_refused_rate_waits() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    let fault = TelegramFault::Refuse(400, "Bad Request: can't parse entities".into());
    house.telegram.fault(&house.bots[0], "sendMessage", fault);
    house.speak(&stream, "analyst", "It is **bold**.").await;
    let shown = house.said(group, |message| message.text == "It is bold.").await;
    assert!(shown.entities.is_empty(), "{shown:?}");

    house.telegram.fault(&house.bots[0], "sendMessage", TelegramFault::TooMany(json!(1)));
    house.speak(&stream, "analyst", "It is *late*.").await;
    let shown = house.said(group, |message| message.text == "It is late.").await;
    assert_eq!(shown.covered("italic"), ["late"]);
    let sent = house.telegram.texts(group).into_iter().filter(|text| text == "It is late.");
    assert_eq!(sent.count(), 1);
}

#[tokio::test]
async fn a_send_in_doubt_is_unknown_and_not_repeated() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    for (fault, text) in [
        (TelegramFault::ResetAfter, "sent, and reset"),
        (TelegramFault::BadGatewayAfter, "sent, and a page of HTML"),
    ] {
        house.telegram.fault(&house.bots[0], "sendMessage", fault);
        let seq = house.speak(&stream, "analyst", text).await;
        let (state, evidence) = house.ended(group, seq).await;
        assert_eq!(state, DeliveryState::Unknown, "{evidence}");
        let shown = house.telegram.texts(group).into_iter().filter(|shown| shown == text);
        assert_eq!(shown.count(), 1);
    }
    // What follows is not held up, and an odd answer means that it was sent.
    house.telegram.fault(&house.bots[0], "sendMessage", TelegramFault::OddAnswer);
    let seq = house.speak(&stream, "analyst", "and on").await;
    assert_eq!(house.ended(group, seq).await.0, DeliveryState::Done);
}

#[tokio::test]
async fn a_group_that_moves_keeps_its_conversation() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    let group = house.telegram.group("Small");
    house.telegram.enter(group, ann);
    house.telegram.join(group, &house.bots[0], ann);
    house.said(group, |message| message.text.starts_with("This chat is connected")).await;
    let chat = |id: i64| -> Chat { format!("telegram:{id}").parse().unwrap() };
    let stream = house.hall.bound_to(&chat(group.id)).await.unwrap().unwrap();
    let moved = house.telegram.migrate(group);
    house.speak_as_person(&stream, "Are you there?").await;
    house.said(moved, |message| message.text.contains("Are you there?")).await;
    assert_eq!(house.hall.bound_to(&chat(moved.id)).await.unwrap(), Some(stream));
    assert_eq!(house.hall.bound_to(&chat(group.id)).await.unwrap(), None);
}

#[tokio::test]
async fn each_message_enters_once_whatever_the_network_does() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[]).await;
    let (group, stream) = house.bound_group().await;
    house.telegram.enter(group, ann);
    for bot in &house.bots {
        house.telegram.fault(bot, "getUpdates", TelegramFault::DuplicateUpdates);
        house.telegram.fault(bot, "getUpdates", TelegramFault::UnknownUpdate);
        house.telegram.fault(bot, "getUpdates", TelegramFault::Drop);
        house.telegram.fault(bot, "getUpdates", TelegramFault::BadGateway);
    }
    for number in 0..20 {
        house.telegram.say(group, ann, &format!("message {number}"));
    }
    let words = |events: &[RecordedEvent]| -> Vec<String> {
        let body = |one: &RecordedEvent| one.event.body().map(str::to_owned);
        events.iter().filter_map(body).filter(|text| text.starts_with("message ")).collect()
    };
    let mut entered = Vec::new();
    while entered.len() < 20 {
        entered = words(&house.events(&stream).await);
        tokio::task::yield_now().await;
    }
    let wanted: Vec<String> = (0..20).map(|number| format!("message {number}")).collect();
    assert_eq!(entered, wanted);
}

#[tokio::test]
async fn erased_words_are_deleted_in_the_chat() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    let seq = house.speak(&stream, "analyst", "a secret").await;
    house.ended(group, seq).await;
    let command = ClientCommand::Redact { seq, message: true, by: user() };
    house.hall.submit(&stream, command, None).await.unwrap();
    let is_gone = |message: &ShownMessage| message.text == "a secret" && message.is_deleted;
    house.telegram.wait_for(|it| it.shown(group).iter().any(is_gone)).await;
}
