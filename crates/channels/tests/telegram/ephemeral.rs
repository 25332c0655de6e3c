//! Cards that one member of a group sees, for people without a private chat.

use moothall_engine::access::Scope;
use moothall_engine::ports::DeliveryState;
use moothall_kernel::event::Event;
use moothall_kernel::ids::StreamId;
use moothall_testkit::telegram::{ChatId, PersonId, ShownMessage};

use super::House;

/// A topic of a group with both bots, and Bob, who may answer but has blocked his bot.
struct Topic {
    house: House,
    bob: PersonId,
    forum: ChatId,
    topic: i64,
    stream: StreamId,
}

impl Topic {
    async fn open() -> Self {
        let house = House::open().await;
        let bob = house.telegram.person(8, "Bob");
        house.pair(bob, &[Scope::PermissionsAnswer]).await;
        house.telegram.block(bob, &house.bots[0]);
        let forum = house.telegram.forum("Review");
        house.telegram.enter(forum, bob);
        house.bots.iter().for_each(|bot| house.telegram.join(forum, bot, bob));
        house.said(forum, |message| message.text.contains("not connected")).await;
        let topic = house.telegram.topic(forum, "Folders");
        let stream = house.bound_to(&format!("{}:{topic}", forum.id)).await;
        Self { house, bob, forum, topic, stream }
    }

    /// Waits for the line without details, which ends the delivery.
    async fn line(&self) -> ShownMessage {
        let line =
            self.house.said(self.forum, |message| message.text.contains("waits for an")).await;
        assert_eq!(line.topic, Some(self.topic));
        line
    }

    /// Returns the messages that Bob alone sees.
    fn of_bob(&self) -> Vec<ShownMessage> {
        self.house.telegram.shown_only_to(self.forum, self.bob)
    }

    /// Checks that the group never saw what the question is about.
    fn check_hidden(&self) {
        let texts = self.house.telegram.texts(self.forum);
        assert!(texts.iter().all(|text| !text.contains("folder")), "{texts:?}");
    }
}

#[tokio::test]
async fn a_person_without_a_private_chat_gets_the_card_in_the_group_alone() {
    let it = Topic::open().await;
    let adder = it.house.telegram.person(99, "Adder");
    it.house.telegram.set_admin(it.forum, &it.house.bots[1], adder, true);
    it.house.ask(&it.stream).await;
    it.line().await;
    it.check_hidden();
    let cards = it.of_bob();
    assert!(cards.len() == 1 && cards[0].text.contains("Remove the folder"), "{cards:?}");
    assert_eq!((cards[0].from.as_str(), cards[0].topic), ("writer", Some(it.topic)));

    let press = it.house.telegram.press_ephemeral(it.bob, cards[0].key, "No");
    assert_eq!(it.house.answer(&press).await, "Answered: No");
    let is_over = |card: &ShownMessage| card.text.contains("user answered: No");
    it.house.telegram.wait_for(|_| it.of_bob().iter().any(is_over)).await;
    let cards = it.of_bob();
    assert!(cards.len() == 1 && cards[0].buttons.is_empty(), "{cards:?}");
    let answered = it.house.events(&it.stream).await.into_iter();
    let answers = answered.filter(|one| matches!(one.event, Event::PermissionAnswered { .. }));
    assert_eq!(answers.count(), 1);
    it.check_hidden();
}

#[tokio::test]
async fn without_an_admin_only_the_line_is_shown() {
    let it = Topic::open().await;
    it.house.ask(&it.stream).await;
    let line = it.line().await;
    assert!(!line.text.contains("user"), "the group learns no names: {}", line.text);
    it.check_hidden();
    assert_eq!(it.of_bob(), []);
}

#[tokio::test]
async fn an_older_server_would_show_the_card_to_all_so_it_is_not_asked_to() {
    let it = Topic::open().await;
    let adder = it.house.telegram.person(99, "Adder");
    for bot in &it.house.bots {
        it.house.telegram.set_admin(it.forum, bot, adder, true);
        it.house.telegram.hide_method(bot, "deleteEphemeralMessage");
    }
    it.house.ask(&it.stream).await;
    it.line().await;
    it.check_hidden();
    assert_eq!(it.of_bob(), []);
}

#[tokio::test]
async fn a_person_who_left_the_group_gets_no_card_there() {
    let it = Topic::open().await;
    let adder = it.house.telegram.person(99, "Adder");
    it.house.telegram.set_admin(it.forum, &it.house.bots[0], adder, true);
    it.house.telegram.exit(it.forum, it.bob);
    it.house.ask(&it.stream).await;
    it.line().await;
    assert_eq!(it.of_bob(), []);
    let asked = it.house.events(&it.stream).await;
    let asked = asked.iter().find(|one| matches!(one.event, Event::QuestionAsked { .. })).unwrap();
    let place = format!("{}:{}", it.forum.id, it.topic);
    let (state, evidence) = it.house.ended_at(&place, asked.seq).await;
    assert_eq!(state, DeliveryState::Done, "{evidence}");
}
