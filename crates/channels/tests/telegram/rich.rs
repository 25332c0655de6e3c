//! Rich messages: what goes as one, and what happens if Telegram refuses it.

use moothall_channels::config::RichRule;
use moothall_engine::ports::DeliveryState;
use moothall_testkit::telegram::{ShownMessage, TelegramFault};
use serde_json::json;

use super::House;

const TABLE: &str = "| month | sum |\n|---|---|\n| May | 5 |";

impl House {
    async fn open_rich() -> Self {
        Self::open_with(|settings| settings.rich = RichRule::Auto).await
    }

    /// Returns the number of calls of a method, also of a bot without it.
    fn count(&self, method: &str) -> usize {
        self.telegram.calls().iter().filter(|call| call.method == method).count()
    }
}

/// Returns a text of two rich messages.
fn long_text() -> String {
    format!("# Title\n\n{}\n\n", "word ".repeat(3000)).repeat(4)
}

fn has_text(text: &str) -> impl Fn(&ShownMessage) -> bool {
    move |message| message.text.contains(text)
}

#[tokio::test]
async fn a_table_is_rich_if_the_operator_wants_it() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    house.speak(&stream, "analyst", TABLE).await;
    let shown = house.said(group, has_text("May")).await;
    assert!(!shown.is_rich && shown.covered("pre").len() == 1, "{shown:?}");

    let house = House::open_rich().await;
    let (group, stream) = house.bound_group().await;
    house.speak(&stream, "analyst", TABLE).await;
    let shown = house.said(group, has_text("May")).await;
    assert!(shown.is_rich && shown.from == "analyst", "{shown:?}");
    let body = house.telegram.calls_of(&house.bots[0], "sendRichMessage").remove(0).body;
    let content = json!({ "markdown": TABLE, "skip_entity_detection": true });
    assert_eq!(body, json!({ "chat_id": group.id, "rich_message": content }));
    // A reply to the rich message is found again, and plain words need no rich form.
    house.speak(&stream, "analyst", "That is *all*.").await;
    let shown = house.said(group, has_text("That is all.")).await;
    assert!(!shown.is_rich, "{shown:?}");
    // Words of another participant have its name in front.
    house.speak_as_person(&stream, "- one\n- two").await;
    let shown = house.said(group, has_text("- one")).await;
    assert_eq!(shown.text, "**user \\(page\\)\\:**\n\n- one\n- two");
}

#[tokio::test]
async fn a_refused_rich_message_goes_as_text_and_then_as_plain_text() {
    let house = House::open_rich().await;
    let (group, stream) = house.bound_group().await;
    let refuse = |text: &str| TelegramFault::Refuse(400, format!("Bad Request: {text}"));
    house.telegram.fault(&house.bots[0], "sendRichMessage", refuse("can't parse rich message"));
    house.speak(&stream, "analyst", TABLE).await;
    let shown = house.said(group, has_text("May")).await;
    assert!(!shown.is_rich && shown.covered("pre").len() == 1, "{shown:?}");

    house.telegram.fault(&house.bots[0], "sendRichMessage", refuse("can't parse rich message"));
    house.telegram.fault(&house.bots[0], "sendMessage", refuse("can't parse entities"));
    house.speak(&stream, "analyst", "# Next\n\n- one").await;
    let shown = house.said(group, has_text("Next")).await;
    assert!(!shown.is_rich && shown.entities.is_empty(), "{shown:?}");
    // One refusal does not end rich messages.
    house.speak(&stream, "analyst", "- three").await;
    assert!(house.said(group, has_text("- three")).await.is_rich);
}

#[tokio::test]
async fn a_server_that_does_not_know_rich_messages_is_asked_once() {
    let house = House::open_rich().await;
    let (group, stream) = house.bound_group().await;
    house.telegram.hide_method(&house.bots[0], "sendRichMessage");
    for text in ["- one", "- two"] {
        house.speak(&stream, "analyst", text).await;
        assert!(!house.said(group, has_text(&text[2..])).await.is_rich);
    }
    assert_eq!(house.count("sendRichMessage"), 1);
    // The other bot's server is asked for itself.
    house.speak(&stream, "writer", "- three").await;
    assert!(house.said(group, has_text("three")).await.is_rich);
}

#[tokio::test]
async fn the_rest_of_a_text_goes_in_another_form_if_its_second_part_is_refused() {
    let house = House::open_rich().await;
    let (group, stream) = house.bound_group().await;
    // The first fault is for another call, so that the second one is that of the second part.
    house.telegram.fault(&house.bots[0], "sendRichMessage", TelegramFault::OddAnswer);
    let fault = TelegramFault::Refuse(400, "Bad Request: rich message is too deep".into());
    house.telegram.fault(&house.bots[0], "sendRichMessage", fault);
    let seq = house.speak(&stream, "analyst", &long_text()).await;
    assert_eq!(house.ended(group, seq).await.0, DeliveryState::Done);
    let shown: Vec<ShownMessage> =
        house.telegram.shown(group).into_iter().filter(|m| m.text.contains("word")).collect();
    assert!(shown[0].is_rich && shown[1..].iter().all(|message| !message.is_rich));
    let words: usize = shown.iter().map(|message| message.text.matches("word").count()).sum();
    assert_eq!(words, 4 * 3000);
}

#[tokio::test]
async fn a_rich_message_in_doubt_is_unknown_and_a_rate_is_waited_for() {
    let house = House::open_rich().await;
    let (group, stream) = house.bound_group().await;
    house.telegram.fault(&house.bots[0], "sendRichMessage", TelegramFault::ResetAfter);
    let seq = house.speak(&stream, "analyst", "- one").await;
    let (state, evidence) = house.ended(group, seq).await;
    assert_eq!(state, DeliveryState::Unknown, "{evidence}");
    house.telegram.fault(&house.bots[0], "sendRichMessage", TelegramFault::TooMany(json!(1)));
    let seq = house.speak(&stream, "analyst", "- two").await;
    assert_eq!(house.ended(group, seq).await.0, DeliveryState::Done);
    let shown = house.telegram.texts(group);
    for text in ["- one", "- two"] {
        assert_eq!(shown.iter().filter(|shown| shown.contains(text)).count(), 1, "{text}");
    }
}

#[tokio::test]
async fn a_topic_is_named_and_the_general_one_is_not() {
    let house = House::open_rich().await;
    let adder = house.telegram.person(99, "Adder");
    let forum = house.telegram.forum("Review");
    house.telegram.enter(forum, adder);
    house.telegram.join(forum, &house.bots[0], adder);
    let topic = house.telegram.topic(forum, "Money");
    for (place, thread) in
        [(format!("{}:{topic}", forum.id), Some(topic)), (forum.id.to_string(), None)]
    {
        let stream = house.bound_to(&place).await;
        house.speak(&stream, "analyst", &format!("- in {place}")).await;
        let shown = house.said(forum, |message| message.text == format!("- in {place}")).await;
        assert_eq!((shown.is_rich, shown.topic), (true, thread));
    }
}
