//! The world as a test makes it: people, bots, servers and channels, and what people write there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::DiscordServer;
use super::faults::GatewayFault;
use super::objects::snowflake;
use super::permission::Permission;
use super::world::{
    ApplicationState, Author, ChannelId, ChannelKind, DiscordBot, DiscordPerson, DiscordWorld,
    GUILDS, GuildId, GuildState, KeptMessage, MessageId, SessionState, SocketAct,
};

impl DiscordServer {
    /// Makes a person.
    pub fn person(&self, name: &str) -> DiscordPerson {
        self.shared.change(|world| {
            let id = world.next_id();
            world.people.insert(id, name.to_owned());
            DiscordPerson(id)
        })
    }

    /// Makes a bot that may read the content of messages.
    pub fn add_bot(&self, name: &str) -> DiscordBot {
        self.shared.change(|world| {
            let id = world.next_id();
            let bot = DiscordBot { id, name: name.to_owned(), token: format!("token.of.{id}") };
            let state = ApplicationState {
                bot: bot.clone(),
                reads_content: true,
                is_revoked: false,
                commands: json!([]),
                blocked_by: BTreeSet::new(),
            };
            world.bots.insert(id, state);
            bot
        })
    }

    /// Makes a server in the service's sense.
    pub fn guild(&self, name: &str) -> GuildId {
        self.shared.change(|world| {
            let id = world.next_id();
            let state = GuildState { name: name.to_owned(), members: Default::default() };
            world.guilds.insert(id, state);
            GuildId(id)
        })
    }

    /// Makes a channel of texts.
    pub fn text_channel(&self, guild: GuildId, name: &str) -> ChannelId {
        self.shared.change(|world| {
            let id = world.add_channel(ChannelKind::Text, Some(guild.0), name);
            world.tell_of_channel(id, "CHANNEL_CREATE");
            ChannelId(id)
        })
    }

    /// Makes a thread of a channel.
    pub fn thread(&self, parent: ChannelId, name: &str) -> ChannelId {
        self.shared.change(|world| {
            let guild = world.channel(parent.0).guild;
            let id = world.add_channel(ChannelKind::Thread { parent: parent.0 }, guild, name);
            world.tell_of_channel(id, "THREAD_CREATE");
            ChannelId(id)
        })
    }

    /// Archives a thread, or opens it again.
    pub fn set_archived(&self, thread: ChannelId, is_archived: bool) {
        self.shared.change(|world| {
            world.channel_mut(thread.0).is_archived = is_archived;
            world.tell_of_channel(thread.0, "THREAD_UPDATE");
        });
    }

    /// Deletes a channel.
    pub fn delete_channel(&self, channel: ChannelId) {
        self.shared.change(|world| {
            world.tell_of_channel(channel.0, "CHANNEL_DELETE");
            world.channels.remove(&channel.0);
            world.webhooks.retain(|_, hook| hook.channel != channel.0);
        });
    }

    /// Returns the direct chat of a person and a bot.
    pub fn direct(&self, person: DiscordPerson, bot: &DiscordBot) -> ChannelId {
        self.shared.change(|world| ChannelId(world.direct(person.0, bot.id)))
    }

    /// Adds a person to a server.
    pub fn enter(&self, guild: GuildId, person: DiscordPerson) {
        self.shared.change(|world| {
            let bits = Permission::bits(&Permission::ALL);
            world.guild_mut(guild).members.insert(person.0, bits);
        });
    }

    /// Adds a bot to a server with all permissions that it needs.
    pub fn invite(&self, guild: GuildId, bot: &DiscordBot) {
        self.shared.change(|world| {
            let bits = Permission::bits(&Permission::ALL);
            world.guild_mut(guild).members.insert(bot.id, bits);
            let object = world.guild_object(guild.0, bot.id);
            world.dispatch(bot.id, GUILDS, "GUILD_CREATE", |_| object.clone());
        });
    }

    /// Removes a bot from a server.
    pub fn kick(&self, guild: GuildId, bot: &DiscordBot) {
        self.shared.change(|world| {
            world.guild_mut(guild).members.remove(&bot.id);
            let gone = json!({"id": snowflake(guild.0)});
            world.dispatch(bot.id, GUILDS, "GUILD_DELETE", |_| gone.clone());
        });
    }

    /// Denies a bot permissions in a channel.
    pub fn deny(&self, channel: ChannelId, bot: &DiscordBot, denied: &[Permission]) {
        self.shared.change(|world| {
            world.channel_mut(channel.0).denied.insert(bot.id, Permission::bits(denied));
            world.tell_of_channel(channel.0, "CHANNEL_UPDATE");
        });
    }

    /// Deletes all webhooks of a channel, as an administrator does.
    pub fn delete_webhooks(&self, channel: ChannelId) {
        self.shared.change(|world| world.webhooks.retain(|_, hook| hook.channel != channel.0));
    }

    /// Returns the number of webhooks of a channel.
    pub fn webhooks(&self, channel: ChannelId) -> usize {
        let world = self.shared.world();
        world.webhooks.values().filter(|hook| hook.channel == channel.0).count()
    }

    /// Changes whether an application may read the content of messages. It counts for sessions
    /// that begin later.
    pub fn set_reads_content(&self, bot: &DiscordBot, reads_content: bool) {
        self.change_bot(bot, |state| state.reads_content = reads_content);
    }

    /// Makes a bot's token worthless, and closes its sessions.
    pub fn revoke(&self, bot: &DiscordBot) {
        self.change_bot(bot, |state| state.is_revoked = true);
        self.gateway_fault(bot, GatewayFault::Close(4004));
    }

    /// Lets a person take no more messages of a bot.
    pub fn block(&self, person: DiscordPerson, bot: &DiscordBot) {
        self.change_bot(bot, |state| {
            state.blocked_by.insert(person.0);
        });
    }

    /// Returns the commands that a bot set, as on the wire.
    pub fn commands(&self, bot: &DiscordBot) -> Value {
        let world = self.shared.world();
        world.bots.get(&bot.id).map(|state| state.commands.clone()).unwrap_or_default()
    }

    fn change_bot(&self, bot: &DiscordBot, change: impl FnOnce(&mut ApplicationState)) {
        self.shared.change(|world| world.bots.get_mut(&bot.id).map(change));
    }

    /// Returns the number of sessions of a bot that have a connection.
    pub fn connected(&self, bot: &DiscordBot) -> usize {
        let world = self.shared.world();
        let is_here = |it: &&SessionState| it.bot == bot.id && it.socket.is_some();
        world.sessions.iter().filter(is_here).count()
    }

    /// Returns the number of sessions that a bot has begun.
    pub fn identified(&self, bot: &DiscordBot) -> usize {
        self.shared.world().sessions.iter().filter(|it| it.bot == bot.id).count()
    }

    /// Returns the number of sessions that were resumed.
    pub fn resumed(&self) -> usize {
        self.shared.world().resumed
    }

    /// Disturbs all sessions of a bot.
    pub fn gateway_fault(&self, bot: &DiscordBot, fault: GatewayFault) {
        self.shared.change(|world| {
            if matches!(fault, GatewayFault::Mute) {
                world.mute_next += 1;
            }
            let own = world.sessions.iter_mut().filter(|session| session.bot == bot.id);
            own.for_each(|session| session.disturb(&fault));
        });
    }

    /// Says something in a channel.
    pub fn say(&self, channel: ChannelId, person: DiscordPerson, text: &str) -> MessageId {
        self.draft(channel, person, text).send()
    }

    /// Begins a message that replies to another.
    pub fn draft(&self, channel: ChannelId, person: DiscordPerson, text: &str) -> ReplyDraft<'_> {
        let message = KeptMessage::new(Author::Person(person.0), text);
        ReplyDraft { server: self, channel, message }
    }

    /// Says something as a bot that another program runs.
    pub fn say_as(&self, channel: ChannelId, bot: &DiscordBot, text: &str) -> MessageId {
        let message = KeptMessage::new(Author::Bot(bot.id), text);
        self.shared.change(|world| MessageId(world.post(channel.0, message)))
    }

    /// Changes the text of a person's message.
    pub fn edit(&self, channel: ChannelId, message: MessageId, text: &str) {
        self.shared.change(|world| {
            if let Some(stored) = world.channel_mut(channel.0).messages.get_mut(&message.0) {
                stored.content = text.to_owned();
                stored.is_edited = true;
            }
            world.announce(channel.0, message.0, "MESSAGE_UPDATE");
        });
    }

    /// Deletes a message.
    pub fn delete(&self, channel: ChannelId, message: MessageId) {
        self.shared.change(|world| world.remove_message(channel.0, message.0));
    }
}

/// A message of a person before it is sent.
pub struct ReplyDraft<'a> {
    server: &'a DiscordServer,
    channel: ChannelId,
    message: KeptMessage,
}

impl ReplyDraft<'_> {
    /// Lets it reply to a message.
    #[must_use]
    pub fn reply_to(mut self, message: MessageId) -> Self {
        self.message.reply_to = Some(message.0);
        self
    }

    /// Sends it.
    pub fn send(self) -> MessageId {
        let Self { server, channel, message } = self;
        server.shared.change(|world| MessageId(world.post(channel.0, message)))
    }
}

impl DiscordWorld {
    fn guild_mut(&mut self, guild: GuildId) -> &mut GuildState {
        self.guilds.get_mut(&guild.0).expect("a guild of this server")
    }

    /// Tells the bots that see a channel of it.
    fn tell_of_channel(&mut self, channel: u64, event: &str) {
        let object = self.channel_object(channel);
        for bot in self.viewers(channel) {
            self.dispatch(bot, GUILDS, event, |_| object.clone());
        }
    }
}

impl SessionState {
    fn disturb(&mut self, fault: &GatewayFault) {
        match fault {
            GatewayFault::Cut | GatewayFault::Mute => self.act(SocketAct::Cut),
            GatewayFault::Silence => self.act(SocketAct::Silence),
            GatewayFault::Reconnect => {
                self.send(&json!({"op": 7, "s": null, "t": null, "d": null}))
            }
            GatewayFault::InvalidSession(is_resumable) => {
                self.is_invalid = !is_resumable;
                self.send(&json!({"op": 9, "s": null, "t": null, "d": is_resumable}));
            }
            GatewayFault::Close(code) => self.act(SocketAct::Close(*code)),
            GatewayFault::Raw(text) => self.act(SocketAct::Send(text.clone())),
            GatewayFault::Event(name, data) => self.dispatch(name, data.clone()),
        }
    }
}
