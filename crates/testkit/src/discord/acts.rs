//! Presses of buttons and slash commands, as people make them.

use serde_json::{Value, json};

use super::DiscordServer;
use super::objects::snowflake;
use super::world::{
    Author, ChannelId, DiscordBot, DiscordPerson, DiscordWorld, InteractionId, InteractionState,
    MessageId,
};

/// Kinds of interactions.
const COMMAND: u64 = 2;
const COMPONENT: u64 = 3;

/// Limit of uploads, which each interaction tells.
const UPLOAD_BYTES_MAX: u64 = 10 * 1024 * 1024;

impl DiscordServer {
    /// Presses a button by its label.
    ///
    /// # Panics
    /// The message has no such button now.
    pub fn press(
        &self,
        person: DiscordPerson,
        channel: ChannelId,
        message: MessageId,
        label: &str,
    ) -> InteractionId {
        let shown = self.shown(channel).into_iter().find(|shown| shown.id == message);
        let button = shown.iter().flat_map(|it| &it.buttons).find(|it| it.label == label);
        let id = button.unwrap_or_else(|| panic!("{message:?} has no button {label:?}")).id.clone();
        self.press_id(person, channel, message, &id)
    }

    /// Presses a button that the message need not have any more, as on an old screen.
    ///
    /// # Panics
    /// The message is not of a bot.
    pub fn press_id(
        &self,
        person: DiscordPerson,
        channel: ChannelId,
        message: MessageId,
        button: &str,
    ) -> InteractionId {
        self.shared.change(|world| {
            let stored = &world.channel(channel.0).messages[&message.0];
            let bot = match (&stored.author, stored.application) {
                (Author::Bot(bot), _) => *bot,
                (_, Some(bot)) => bot,
                (Author::Webhook { id, .. }, _) => world.webhooks[id].owner,
                (Author::Person(_), None) => panic!("{message:?} is not of a bot"),
            };
            let object = world.message_object(channel.0, message.0);
            let data = json!({"component_type": 2, "custom_id": button, "id": 1});
            let interaction = world.interact(bot, person.0, channel.0, (COMPONENT, data));
            interaction.with_message(world, message.0, object)
        })
    }

    /// Gives a slash command with one option, whose text may be empty.
    ///
    /// # Panics
    /// The bot has no such command.
    pub fn slash(
        &self,
        person: DiscordPerson,
        channel: ChannelId,
        bot: &DiscordBot,
        name: &str,
        text: &str,
    ) -> InteractionId {
        self.shared.change(|world| {
            let commands = world.bots[&bot.id].commands.clone();
            let known = commands.as_array().into_iter().flatten().find(|it| it["name"] == name);
            let known = known.unwrap_or_else(|| panic!("{} has no command {name}", bot.name));
            let option = known["options"][0]["name"].clone();
            let given = [json!({"type": 3, "name": option, "value": text})];
            let options = if text.is_empty() { &[][..] } else { &given[..] };
            let data = json!({
                "id": snowflake(bot.id), "name": name, "type": 1, "options": options,
            });
            world.interact(bot.id, person.0, channel.0, (COMMAND, data)).send(world)
        })
    }

    /// Lets the time for an answer to an interaction pass.
    pub fn expire(&self, interaction: InteractionId) {
        self.shared.change(|world| {
            if let Some(state) = world.interactions.get_mut(&interaction.0) {
                state.is_over = true;
            }
        });
    }
}

/// An interaction before the bot hears of it.
struct PreparedInteraction {
    id: u64,
    state: InteractionState,
    event: Value,
}

impl PreparedInteraction {
    fn with_message(mut self, world: &mut DiscordWorld, id: u64, message: Value) -> InteractionId {
        self.state.message = Some(id);
        self.event["message"] = message;
        self.send(world)
    }

    /// Tells the bot. Interactions need no intent.
    fn send(self, world: &mut DiscordWorld) -> InteractionId {
        let Self { id, state, event } = self;
        let bot = state.bot;
        world.interactions.insert(id, state);
        world.dispatch(bot, 0, "INTERACTION_CREATE", |_| event.clone());
        InteractionId(id)
    }
}

impl DiscordWorld {
    fn interact(
        &mut self,
        bot: u64,
        person: u64,
        channel: u64,
        (kind, data): (u64, Value),
    ) -> PreparedInteraction {
        let id = self.next_id();
        let token = format!("interaction-{id}-token");
        let guild = self.channel(channel).guild;
        let bits = self.bits_in(channel, bot).unwrap_or_default();
        let mut event = json!({
            "id": id.to_string(), "application_id": bot.to_string(), "type": kind, "data": data,
            "channel_id": channel.to_string(), "channel": self.channel_object(channel),
            "token": token, "version": 1, "locale": "en-US", "entitlements": [],
            "app_permissions": bits.to_string(), "authorizing_integration_owners": {},
            "context": if guild.is_some() { 0 } else { 1 },
            "attachment_size_limit": UPLOAD_BYTES_MAX,
        });
        if let Some(guild) = guild {
            event["guild_id"] = snowflake(guild);
            event["guild_locale"] = "en-US".into();
        }
        let (field, actor) = self.actor(channel, person);
        event[field] = actor;
        let state = InteractionState {
            bot,
            person,
            channel,
            token,
            message: None,
            callback: None,
            answer: None,
            is_ephemeral: false,
            is_over: false,
        };
        PreparedInteraction { id, state, event }
    }
}
