//! A fake of Telegram's Bot API for clients that others wrote. Prints its address and its bot as
//! one line of JSON. Then each line of its input is an act of the person in the group, and each
//! act is answered by a line:
//!
//! - `{"act": "say", "text": "…"}`: the number of the message
//! - `{"act": "write", "text": "…"}`: the same, in the person's private chat with the bot
//! - `{"act": "drop", "method": "…"}`: the bot's next call of the method breaks off before it is
//!   done
//! - `{"act": "privacy", "on": true}`: the bot leaves the group and joins it again in that mode
//! - `{"act": "press", "button": "…"}`: the number of the press
//! - `{"act": "answer", "press": "…"}`: the text that the bot answers, once there is one
//! - `{"act": "shown"}`: what stands in the group

use moothall_testkit::telegram::{
    Bot, ChatId, MessageKey, PersonId, ShownMessage, TelegramFault, TelegramServer,
};
use serde_json::{Value, json};
use tokio::task::block_in_place;

/// The bot, the person, and the group in which the acts happen.
struct Stage {
    server: TelegramServer,
    bot: Bot,
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
    let stage = Stage { server, bot, person, group };
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
            "write" => self.write(word("text")).into(),
            "drop" => self.drop_next(word("method")),
            "privacy" => self.set_privacy(act["on"] == true),
            "press" => self.press(word("button")).into(),
            "answer" => self.answer(word("press")).await.into(),
            "shown" => self.server.shown(self.group).iter().map(show).collect(),
            other => json!({"error": format!("no such act: {other}")}),
        }
    }

    fn write(&self, text: &str) -> i64 {
        let chat = self.server.private(self.person, &self.bot);
        self.server.say(chat, self.person, text).id
    }

    fn drop_next(&self, method: &str) -> Value {
        self.server.fault(&self.bot, method, TelegramFault::Drop);
        true.into()
    }

    /// Changes privacy mode, which counts from the moment at which a bot joins.
    fn set_privacy(&self, is_on: bool) -> Value {
        self.server.set_privacy(&self.bot, is_on);
        self.server.kick(self.group, &self.bot, self.person);
        self.server.join(self.group, &self.bot, self.person);
        true.into()
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
