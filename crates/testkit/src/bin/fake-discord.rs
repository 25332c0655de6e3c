//! A fake of Discord for clients that others wrote. Prints its addresses and its bot as one line of
//! JSON. Then each line of its input is an act of the person in the channel, and each act is
//! answered by a line:
//!
//! - `{"act": "say", "text": "…"}`: the id of the message
//! - `{"act": "write", "text": "…"}`: the same, in the person's direct chat with the bot
//! - `{"act": "edit", "message": "…", "text": "…"}`, `{"act": "delete", "message": "…"}`
//! - `{"act": "press", "label": "…"}`: the id of the interaction
//! - `{"act": "slash", "name": "…", "text": "…"}`: the same
//! - `{"act": "answer", "interaction": "…"}`: the text that the bot answers, once there is one
//! - `{"act": "disturb", "by": "cut" | "reconnect" | "invalid" | "silence"}`: the bot's sessions
//! - `{"act": "drop", "route": "…"}`: the next call of the route breaks off before it is done
//! - `{"act": "shown"}`: what stands in the channel

use moothall_testkit::discord::{
    ChannelId, ChannelMessage, DiscordBot, DiscordPerson, DiscordServer, GatewayFault,
    InteractionId, MessageId, RestFault,
};
use serde_json::{Value, json};
use tokio::task::block_in_place;

/// The bot, the person, and the channel in which the acts happen.
struct JudgeStage {
    server: DiscordServer,
    bot: DiscordBot,
    person: DiscordPerson,
    channel: ChannelId,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = DiscordServer::start().await?;
    server.set_lenient(true);
    let bot = server.add_bot("Judged");
    let person = server.person("Ann");
    let guild = server.guild("Judges");
    let channel = server.text_channel(guild, "review");
    server.enter(guild, person);
    server.invite(guild, &bot);
    println!(
        "{}",
        json!({
            "url": server.url(), "gateway": server.gateway_url(), "token": bot.token,
            "bot": bot.id.to_string(), "guild": guild.0.to_string(),
            "channel": channel.0.to_string(), "person": person.0.to_string(),
        })
    );
    let stage = JudgeStage { server, bot, person, channel };
    let mut lines = std::io::stdin().lines();
    while let Some(line) = block_in_place(|| lines.next()) {
        let act: Value = serde_json::from_str(&line?)?;
        println!("{}", stage.play(&act).await);
    }
    Ok(())
}

impl JudgeStage {
    async fn play(&self, act: &Value) -> Value {
        let word = |name: &str| act[name].as_str().unwrap_or_default();
        let id = |name: &str| word(name).parse::<u64>().unwrap_or_default();
        let (server, channel, person) = (&self.server, self.channel, self.person);
        match word("act") {
            "say" => text_of(server.say(channel, person, word("text")).0),
            "write" => {
                let chat = server.direct(person, &self.bot);
                text_of(server.say(chat, person, word("text")).0)
            }
            "edit" => {
                server.edit(channel, MessageId(id("message")), word("text"));
                true.into()
            }
            "delete" => {
                server.delete(channel, MessageId(id("message")));
                true.into()
            }
            "press" => self.press(word("label")),
            "slash" => {
                let given = server.slash(person, channel, &self.bot, word("name"), word("text"));
                text_of(given.0)
            }
            "answer" => server.wait_for_answer(InteractionId(id("interaction"))).await.text.into(),
            "disturb" => self.disturb(word("by")),
            "drop" => {
                server.fault(word("route"), RestFault::Drop);
                true.into()
            }
            "shown" => server.shown(channel).iter().map(show).collect(),
            other => json!({"error": format!("no such act: {other}")}),
        }
    }

    fn press(&self, label: &str) -> Value {
        let has = |message: &ChannelMessage| message.buttons.iter().any(|it| it.label == label);
        let shown = self.server.shown(self.channel);
        let message = shown.iter().rev().find(|message| has(message));
        let message = message.expect("a message with the button").id;
        text_of(self.server.press(self.person, self.channel, message, label).0)
    }

    fn disturb(&self, by: &str) -> Value {
        let fault = match by {
            "cut" => GatewayFault::Cut,
            "reconnect" => GatewayFault::Reconnect,
            "invalid" => GatewayFault::InvalidSession(false),
            "silence" => GatewayFault::Silence,
            other => return json!({"error": format!("no such fault: {other}")}),
        };
        self.server.gateway_fault(&self.bot, fault);
        true.into()
    }
}

fn text_of(id: u64) -> Value {
    id.to_string().into()
}

fn show(message: &ChannelMessage) -> Value {
    json!({
        "id": message.id.0.to_string(), "from": message.from, "text": message.text,
        "webhook": message.is_webhook, "edited": message.is_edited, "deleted": message.is_deleted,
        "only_to": message.only_to.map(|person| person.0.to_string()),
        "reply_to": message.reply_to.map(|id| id.0.to_string()),
    })
}
