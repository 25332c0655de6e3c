//! The channels as people see them now: texts, names, buttons, edits and deletions.

use serde_json::Value;

use super::DiscordServer;
use super::world::{
    Author, ChannelId, DiscordBot, DiscordPerson, DiscordWorld, InteractionId, KeptMessage,
    MessageId,
};

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelButton {
    /// Label.
    pub label: String,
    /// Id of a press.
    pub id: String,
}

/// A message as people see it now.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelMessage {
    /// Its id.
    pub id: MessageId,
    /// Name of the author.
    pub from: String,
    /// Id of the author: a user, or a webhook.
    pub from_id: u64,
    /// True if a webhook wrote it.
    pub is_webhook: bool,
    /// Picture of a webhook's message.
    pub avatar: Option<String>,
    /// Text.
    pub text: String,
    /// Buttons of all rows.
    pub buttons: Vec<ChannelButton>,
    /// The message that it replies to.
    pub reply_to: Option<MessageId>,
    /// The only person who sees it.
    pub only_to: Option<DiscordPerson>,
    /// True after an edit of the text.
    pub is_edited: bool,
    /// True if it was deleted: people do not see it any more.
    pub is_deleted: bool,
    /// The mentions that may ping, as on the wire.
    pub allowed_mentions: Value,
}

/// The answer to an interaction as the person sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownInteraction {
    /// True once the person's client does not wait any more.
    pub is_acknowledged: bool,
    /// The text of the answer; empty as long as it is put off.
    pub text: String,
    /// True if only the person sees the answer.
    pub is_ephemeral: bool,
}

impl DiscordServer {
    /// Returns all messages of a channel, oldest first, deleted ones included.
    pub fn shown(&self, channel: ChannelId) -> Vec<ChannelMessage> {
        let world = self.shared.world();
        let messages = world.channel(channel.0).messages.iter();
        messages.map(|(id, message)| show(&world, *id, message)).collect()
    }

    /// Returns what all people still see of a channel: its texts, oldest first.
    pub fn texts(&self, channel: ChannelId) -> Vec<String> {
        let shown = self.shown(channel).into_iter();
        shown.filter(|it| !it.is_deleted && it.only_to.is_none()).map(|it| it.text).collect()
    }

    /// Waits for a message that fits and returns it.
    ///
    /// # Panics
    /// None comes within a minute.
    pub async fn wait_for_message(
        &self,
        channel: ChannelId,
        fits: impl Fn(&ChannelMessage) -> bool,
    ) -> ChannelMessage {
        let mut found = None;
        self.wait_for(|server| {
            found = server.shown(channel).into_iter().find(|message| fits(message));
            found.is_some()
        })
        .await;
        found.expect("the wait ends with a message")
    }

    /// Returns the answer to an interaction.
    ///
    /// # Panics
    /// The interaction is of another server.
    pub fn interaction(&self, interaction: InteractionId) -> ShownInteraction {
        let world = self.shared.world();
        let state = &world.interactions[&interaction.0];
        let messages = &world.channel(state.channel).messages;
        let answer = state.answer.and_then(|id| messages.get(&id));
        ShownInteraction {
            is_acknowledged: state.callback.is_some(),
            text: answer.map(|message| message.content.clone()).unwrap_or_default(),
            is_ephemeral: state.is_ephemeral,
        }
    }

    /// Waits for the text of an answer to an interaction.
    ///
    /// # Panics
    /// None comes within a minute.
    pub async fn wait_for_answer(&self, interaction: InteractionId) -> ShownInteraction {
        self.wait_for(|server| !server.interaction(interaction).text.is_empty()).await;
        self.interaction(interaction)
    }

    /// Returns the number of times that a bot was shown as typing in a channel.
    pub fn typed(&self, channel: ChannelId, bot: &DiscordBot) -> usize {
        let world = self.shared.world();
        world.typing.iter().filter(|shown| **shown == (channel.0, bot.id)).count()
    }
}

fn show(world: &DiscordWorld, id: u64, message: &KeptMessage) -> ChannelMessage {
    let (from, from_id, avatar) = match &message.author {
        Author::Person(user) | Author::Bot(user) => {
            let name = world.user(*user)["global_name"].as_str().unwrap_or_default().to_owned();
            (name, *user, None)
        }
        Author::Webhook { id, name, avatar } => (name.clone(), *id, avatar.clone()),
    };
    let word = |button: &Value, field: &str| button[field].as_str().unwrap_or_default().to_owned();
    let rows = message.components.as_array().into_iter().flatten();
    let buttons = rows.flat_map(|row| row["components"].as_array().into_iter().flatten());
    ChannelMessage {
        id: MessageId(id),
        from,
        from_id,
        is_webhook: matches!(message.author, Author::Webhook { .. }),
        avatar,
        text: message.content.clone(),
        buttons: buttons
            .map(|button| ChannelButton {
                label: word(button, "label"),
                id: word(button, "custom_id"),
            })
            .collect(),
        reply_to: message.reply_to.map(MessageId),
        only_to: message.only_to.map(DiscordPerson),
        is_edited: message.is_edited,
        is_deleted: message.is_deleted,
        allowed_mentions: message.allowed_mentions.clone(),
    }
}
