//! Discord's bots in a hall, against the fake service.
#![allow(clippy::unwrap_used)]

mod gateway;
mod house;
mod presses;
mod rights;

use moothall_engine::access::Scope;
use moothall_engine::ports::DeliveryState;
use moothall_kernel::command::ClientCommand;
use moothall_kernel::ids::Seq;
use moothall_testkit::discord::{ChannelMessage, Permission, RestFault};
use serde_json::json;

use house::{House, user};

const SEND: &str = "POST /channels/{}/messages";
const SEND_BY_HOOK: &str = "POST /webhooks/{}/{}";

#[tokio::test]
async fn each_speaks_under_a_name_of_its_own_and_pings_no_user() {
    let house = House::open_with(|_, settings| {
        let writer = settings.bots.entry("writer".into()).or_default();
        writer.picture = Some("https://example.org/writer.png".into());
    })
    .await;
    let stream = house.bound(house.channel).await;
    let ping = format!("@everyone, <@{}>: bullish.", house.bots[0].id);
    house.speak(&stream, "analyst", &ping).await;
    house.speak(&stream, "writer", "It is *written*.").await;
    house.speak_as_person(&stream, "Well done.").await;
    let own = house.said(house.channel, |it| it.text == ping).await;
    assert_eq!((own.from.as_str(), own.is_webhook), ("Analyst", false));
    let hooked = house.said(house.channel, |it| it.text == "It is *written*.").await;
    assert_eq!((hooked.from.as_str(), hooked.is_webhook), ("writer", true));
    assert_eq!(hooked.avatar.as_deref(), Some("https://example.org/writer.png"));
    let person = house.said(house.channel, |it| it.text == "Well done.").await;
    assert_eq!((person.from.as_str(), person.is_webhook), ("user (page)", true));
    let none = json!({"parse": [], "replied_user": false});
    assert!(house.discord.shown(house.channel).iter().all(|it| it.allowed_mentions == none));
    assert_eq!(house.discord.webhooks(house.channel), 1, "one is enough for all");
}

#[tokio::test]
async fn a_send_in_doubt_is_repeated_by_a_bot_and_unknown_by_a_webhook() {
    let house = House::open().await;
    let stream = house.bound(house.channel).await;
    for (fault, text) in [
        (RestFault::ResetAfter, "sent, and reset"),
        (RestFault::BadGatewayAfter, "sent, and a page"),
        (RestFault::BadGateway, "not sent, and a page"),
        (RestFault::UnreadableAnswer, "sent, and no answer"),
    ] {
        house.discord.fault(SEND, fault);
        let seq = house.speak(&stream, "analyst", text).await;
        let (state, evidence) = house.ended(house.channel, seq).await;
        assert_eq!((state, count(&house, text)), (DeliveryState::Done, 1), "{text}: {evidence}");
    }
    for (fault, text) in [(RestFault::ResetAfter, "hooked"), (RestFault::BadGatewayAfter, "again")]
    {
        house.discord.fault(SEND_BY_HOOK, fault);
        let seq = house.speak(&stream, "writer", text).await;
        let (state, evidence) = house.ended(house.channel, seq).await;
        assert_eq!((state, count(&house, text)), (DeliveryState::Unknown, 1), "{evidence}");
    }
    let seq = house.speak(&stream, "writer", "and on").await;
    assert_eq!(house.ended(house.channel, seq).await.0, DeliveryState::Done);
}

#[tokio::test]
async fn a_doubt_that_lasts_becomes_unknown() {
    let house = House::open().await;
    let stream = house.bound(house.channel).await;
    for _ in 0..1000 {
        house.discord.fault(SEND, RestFault::BadGatewayAfter);
    }
    let seq = house.speak(&stream, "analyst", "perhaps").await;
    house.said(house.channel, |it| it.text == "perhaps").await;
    house.clock.put_forward(200);
    let (state, evidence) = house.ended(house.channel, seq).await;
    assert_eq!((state, count(&house, "perhaps")), (DeliveryState::Unknown, 1), "{evidence}");
}

#[tokio::test]
async fn a_webhook_that_an_admin_deletes_is_made_again() {
    let house = House::open().await;
    let stream = house.bound(house.channel).await;
    house.speak(&stream, "writer", "before").await;
    house.said(house.channel, |it| it.text == "before").await;
    house.discord.delete_webhooks(house.channel);
    let seq = house.speak(&stream, "writer", "after").await;
    assert_eq!(house.ended(house.channel, seq).await.0, DeliveryState::Done);
    let shown = house.said(house.channel, |it| it.text == "after").await;
    assert_eq!((shown.from.as_str(), count(&house, "after")), ("writer", 1));
}

#[tokio::test]
async fn without_the_right_to_webhooks_the_bot_names_the_speaker() {
    let house = House::open_with(|before, settings| {
        settings.bots.clear();
        before.discord.deny(before.channel, &before.bots[0], &[Permission::ManageWebhooks]);
    })
    .await;
    let stream = house.bound(house.channel).await;
    house.speak(&stream, "writer", "It is written.").await;
    let shown = house.said(house.channel, |it| it.text.contains("It is written.")).await;
    let expected = "**writer:**\nIt is written.";
    assert_eq!((shown.from.as_str(), shown.text.as_str()), ("Moothall", expected));
    let chat = house.until_chat(|chat| !chat.title.is_empty()).await;
    assert_eq!(chat.title, "#review (Judges)");
    assert!(chat.cure.as_ref().unwrap().contains("Manage Webhooks"), "{chat:?}");
}

#[tokio::test]
async fn long_texts_arrive_in_parts_and_long_names_whole() {
    let house = House::open().await;
    let stream = house.bound(house.channel).await;
    let text = (0..600).map(|number| format!("word{number} ")).collect::<String>();
    house.discord.fault(SEND, RestFault::TooMany(0.5));
    let seq = house.speak(&stream, "analyst", &text).await;
    let (state, evidence) = house.ended(house.channel, seq).await;
    assert_eq!(state, DeliveryState::Done, "{evidence}");
    let parts: Vec<String> = house.discord.texts(house.channel).into_iter().skip(1).collect();
    assert!(parts.len() > 2 && parts.iter().all(|part| part.encode_utf16().count() <= 2000));
    assert_eq!(parts.join(" "), text.trim());
    let command = ClientCommand::Control {
        by: user(),
        controls: vec![house::named_invitation("scribe", &"n".repeat(64))],
    };
    house.hall.submit(&stream, command, None).await.unwrap();
    house.speak(&stream, "scribe", "signed").await;
    let shown = house.said(house.channel, |it| it.text == "signed").await;
    assert_eq!((shown.from.chars().count(), shown.is_webhook), (64, true), "{}", shown.from);
}

#[tokio::test]
async fn a_ban_of_all_calls_is_kept_and_the_words_arrive_once() {
    let house = House::open().await;
    let stream = house.bound(house.channel).await;
    house.discord.fault(SEND, RestFault::Banned(1));
    house.discord.fault(SEND, RestFault::TooManyEverywhere(0.3));
    let seq = house.speak(&stream, "analyst", "late").await;
    assert_eq!(house.ended(house.channel, seq).await.0, DeliveryState::Done);
    assert_eq!(count(&house, "late"), 1);
    assert_eq!(house.discord.calls_of(SEND).len(), 4, "the opening, two refusals and the words");
}

#[tokio::test]
async fn a_thread_is_a_chat_of_its_own() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let thread = house.discord.thread(house.channel, "details");
    let stream = house.bound(thread).await;
    house.speak(&stream, "writer", "in the thread").await;
    let shown = house.said(thread, |it| it.text == "in the thread").await;
    assert_eq!((shown.from.as_str(), shown.is_webhook), ("writer", true));
    house.discord.say(thread, ann, "heard there");
    house.until_entered(&stream, "heard there").await;
    house.discord.say(house.channel, ann, "not for the thread");
    house.discord.say(thread, ann, "the last");
    house.until_entered(&stream, "the last").await;
    assert_eq!(house.entered(&stream, "not for the thread").await, 0);
    assert!(count(&house, "in the thread") == 0, "the channel itself has nothing of it");
}

#[tokio::test]
async fn mentions_and_replies_say_for_whom_words_are() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    let analyst = house.bots[1].id;
    house.discord.say(house.channel, ann, &format!("<@{analyst}> and <@{}>, well?", ann.0));
    house.until_entered(&stream, "@analyst and @Ann, well?").await;
    let seq = house.speak(&stream, "writer", "It is written.").await;
    let shown = house.said(house.channel, |it| it.text == "It is written.").await;
    house.discord.draft(house.channel, ann, "Are you sure?").reply_to(shown.id).send();
    house.until_entered(&stream, "Are you sure?").await;
    let events = house.events(&stream).await;
    let reply = events.iter().find(|one| one.event.body() == Some("Are you sure?")).unwrap();
    let moothall_kernel::event::Event::Posted(posted) = &reply.event else { panic!("{reply:?}") };
    assert_eq!(posted.reply_to.as_ref().map(|cause| cause.seq), Some(seq));
    assert_eq!(posted.to, moothall_kernel::event::Recipient::One("writer".into()));
}

#[tokio::test]
async fn an_edit_replaces_words_and_an_erasure_deletes_them() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    let said = house.discord.say(house.channel, ann, "Hullo.");
    house.until_entered(&stream, "Hullo.").await;
    house.discord.edit(house.channel, said, "Hello.");
    let is_told = |events: &[moothall_kernel::event::RecordedEvent]| {
        events.iter().any(|one| format!("{:?}", one.event).contains("Hello."))
    };
    while !is_told(&house.events(&stream).await) {
        tokio::task::yield_now().await;
    }
    for agent in ["analyst", "writer"] {
        let text = format!("a secret of {agent}");
        let seq = house.speak(&stream, agent, &text).await;
        house.ended(house.channel, seq).await;
        redact(&house, &stream, seq).await;
        let is_gone = |it: &ChannelMessage| it.text == text && it.is_deleted;
        house.discord.wait_for(|it| it.shown(house.channel).iter().any(is_gone)).await;
    }
}

async fn redact(house: &House, stream: &moothall_kernel::ids::StreamId, seq: Seq) {
    let command = ClientCommand::Redact { seq, message: true, by: user() };
    house.hall.submit(stream, command, None).await.unwrap();
}

#[tokio::test]
async fn a_direct_chat_is_a_talk_with_the_agent_of_the_bot() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let chat = house.discord.direct(ann, &house.bots[1]);
    house.discord.say(chat, ann, "Between us.");
    let stream = house.until_bound(&format!("discord:{}@analyst", chat.0)).await;
    house.until_entered(&stream, "Between us.").await;
    house.speak(&stream, "analyst", "Understood.").await;
    let shown = house.said(chat, |it| it.text == "Understood.").await;
    assert_eq!(shown.from, "Analyst");
    let stranger = house.discord.person("Bob");
    let other = house.discord.direct(stranger, &house.bots[1]);
    house.discord.say(other, stranger, "Who are you?");
    house.said(other, |it| it.text.contains("I am a bot of a Moothall server")).await;
}

#[tokio::test]
async fn a_person_with_the_right_opens_a_channel_and_others_do_not() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    let bob = house.paired("Bob", &[]).await;
    let opening = "/group create analyst writer";
    house.discord.say(house.channel, bob, opening);
    house.said(house.channel, |it| it.text.contains("threads:admin")).await;
    house.discord.say(house.channel, ann, opening);
    let line = house.said(house.channel, |it| it.text.starts_with("This chat is connected")).await;
    assert!(line.text.contains("Agents: analyst, writer."), "{}", line.text);
    let other = house.discord.text_channel(house.guild, "other");
    house.discord.say(other, ann, &format!("<@{}> hello?", house.bots[0].id));
    house.said(other, |it| it.text.contains("not connected")).await;
}

/// Returns how often a text stands in the channel.
fn count(house: &House, text: &str) -> usize {
    house.discord.texts(house.channel).iter().filter(|shown| *shown == text).count()
}
