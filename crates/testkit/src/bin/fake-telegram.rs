//! A fake of Telegram's Bot API for clients that others wrote. Prints its address and its bot as
//! one line of JSON. Then each line of its input is an act of the person in the group, and each
//! act is answered by a line:
//!
//! - `{"act": "say", "text": "…"}`: the number of the message
//! - `{"act": "press", "button": "…"}`: the number of the press
//! - `{"act": "answer", "press": "…"}`: the text that the bot answers, once there is one
//! - `{"act": "shown"}`: what stands in the group

use moothall_testkit::telegram::{ChatId, MessageKey, PersonId, ShownMessage, TelegramServer};
use serde_json::{Value, json};
use tokio::task::block_in_place;

/// The person and the group in which the acts happen.
struct Stage {
    server: TelegramServer,
    person: PersonId,
    group: ChatId,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = TelegramServer::start().await?;
    server.set_lenient(true);
    let bot = server.add_bot("judged_bot", "Judged");
    let person = server.person_named(71, "Ann", "ann_writes");
    let group = server.supergroup("Judges");
    server.enter(group, person);
    server.set_privacy(&bot, false);
    server.join(group, &bot, person);
    let (url, token, chat) = (server.url(), &bot.token, group.id);
    println!(
        "{}",
        json!({"url": url, "token": token, "bot": bot.id, "chat": chat, "person": person.0})
    );
    let stage = Stage { server, person, group };
    let mut lines = std::io::stdin().lines();
    while let Some(line) = block_in_place(|| lines.next()) {
        let act: Value = serde_json::from_str(&line?)?;
        println!("{}", stage.play(&act).await);
    }
    Ok(())
}

impl Stage {
    async fn play(&self, act: &Value) -> Value {
        let word = |name: &str| act[name].as_str().unwrap_or_default();
        match word("act") {
            "say" => self.server.say(self.group, self.person, word("text")).id.into(),
            "press" => self.press(word("button")).into(),
            "answer" => self.answer(word("press")).await.into(),
            "shown" => self.server.shown(self.group).iter().map(show).collect(),
            other => json!({"error": format!("no such act: {other}")}),
        }
    }

    fn press(&self, button: &str) -> String {
        let has =
            |message: &ShownMessage| message.buttons.iter().flatten().any(|b| b.text == button);
        let shown = self.server.shown(self.group);
        let message: MessageKey =
            shown.iter().rev().find(|message| has(message)).expect("a message with the button").key;
        self.server.press(self.person, message, button)
    }

    async fn answer(&self, press: &str) -> String {
        self.server.wait_for(|server| server.press_answer(press).is_some()).await;
        self.server.press_answer(press).unwrap_or_default().text
    }
}

fn show(message: &ShownMessage) -> Value {
    json!({
        "from": message.from, "text": message.text, "edited": message.is_edited,
        "deleted": message.is_deleted, "service": message.is_service, "reply_to": message.reply_to,
    })
}
