//! Discord: one bot whose webhooks speak for each agent, and bots of their own for agents that have
//! one.

pub mod client;
pub mod room;
pub mod text;
mod names;
mod own;
mod guilds;
mod bot;
mod seen;
mod gateway;
mod hooks;
mod carry;
mod cards;
mod presses;
mod receive;
mod groups;
mod status;
mod port;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use moothall_engine::channels::BotState;
use moothall_engine::hall::HallError;
use moothall_engine::residents::WeakHall;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::slash;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::config::DiscordConfig;
use crate::inbox::Inbox;
use crate::kept_bots::KeptBots;
use crate::recent::MessageIndex;
use crate::typing;
use bot::DiscordBot;
pub use bot::RELAY;
use client::{CommandEntry, DiscordToken, NewMessage, RestClient};
use hooks::Hooks;
use names::cut_units;
use room::ChannelPlace;
use seen::SeenMessages;

/// Name of the file that keeps the tokens of added bots.
const BOTS_FILE: &str = "discord-bots.json";
/// Pause between two looks at words under a bot's identity, and at the file of the messages that
/// were taken.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
/// Longest description of a command.
const DOES_UNITS_MAX: usize = 100;

/// The channel to Discord.
pub struct Discord {
    http: reqwest::Client,
    inbox: Arc<Inbox>,
    weak: WeakHall,
    settings: DiscordConfig,
    kept: KeptBots,
    bots: RwLock<Vec<Arc<DiscordBot>>>,
    hooks: Hooks,
    /// The newest messages, by their channels and ids.
    messages: MessageIndex<(u64, u64)>,
    seen: SeenMessages,
    /// The people of direct chats that are known.
    people: Mutex<BTreeMap<u64, u64>>,
    /// The times at which typing was shown, by channels and agents.
    typing: Mutex<BTreeMap<(u64, String), Instant>>,
    tasks: Mutex<JoinSet<()>>,
    /// True while the channel waits for the operator after a restore.
    stopped: watch::Sender<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Discord {
    /// Opens the channel. If it is enabled, connects the bots of the configuration and those that
    /// were added at run time. `folder` keeps the tokens of bots that are added.
    ///
    /// # Errors
    /// [`HallError`] if the files cannot be read, or no HTTP client can be made.
    pub(crate) fn open(
        inbox: Arc<Inbox>,
        settings: &DiscordConfig,
        folder: PathBuf,
        stopped: bool,
    ) -> Result<Arc<Self>, HallError> {
        let failed = |error: std::io::Error| HallError::Failed(error.to_string());
        let seen = SeenMessages::open(&folder).map_err(failed)?;
        let kept = KeptBots::open(folder, BOTS_FILE).map_err(failed)?;
        let discord = Arc::new(Self {
            http: client::connector(&settings.rest_url).map_err(HallError::Failed)?,
            weak: inbox.hall().weak(),
            inbox,
            settings: settings.clone(),
            kept,
            bots: RwLock::default(),
            hooks: Hooks::default(),
            messages: MessageIndex::default(),
            seen,
            people: Mutex::default(),
            typing: Mutex::default(),
            tasks: Mutex::default(),
            stopped: watch::Sender::new(stopped),
        });
        if settings.enabled {
            discord.connect_all();
        }
        Ok(discord)
    }

    /// Connects the known bots. Starts the tasks that show typing, find foreign messages, and write
    /// the file of messages that were taken.
    fn connect_all(self: &Arc<Self>) {
        for (agent, token) in self.settings.tokens() {
            match token.parse::<DiscordToken>() {
                Ok(token) => drop(self.connect(agent, token)),
                Err(error) => tracing::error!(agent, %error, "a bot cannot be connected"),
            }
        }
        for (agent, token) in self.kept.all() {
            if let Ok(token) = token.parse::<DiscordToken>() {
                self.connect(&agent, token);
            }
        }
        let weak = Arc::downgrade(self);
        self.tasks().spawn(typing::show(weak.clone(), self.inbox.hall().changes()));
        self.tasks().spawn(async move {
            loop {
                tokio::time::sleep(LOOK_PAUSE).await;
                let Some(open) = weak.upgrade() else { return };
                open.judge_suspects().await;
                open.write_seen().await;
            }
        });
    }

    /// Returns a client with a bot's token.
    fn client(&self, token: DiscordToken) -> RestClient {
        RestClient::new(self.http.clone(), &self.settings.rest_url, token)
    }

    /// Returns the bots, the relay first.
    fn bots(&self) -> Vec<Arc<DiscordBot>> {
        self.bots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        lock(&self.tasks)
    }

    /// Adds a bot in place of an earlier one of its agent, and connects it.
    fn connect(self: &Arc<Self>, agent: &str, token: DiscordToken) -> Arc<DiscordBot> {
        let now = self.inbox.hall().now();
        let bot = Arc::new(DiscordBot::new(agent, self.client(token), now));
        let mut bots = self.bots.write().unwrap_or_else(PoisonError::into_inner);
        bots.iter().filter(|other| other.agent == agent).for_each(|other| other.stop());
        bots.retain(|other| other.agent != agent);
        bots.push(bot.clone());
        bots.sort_by_key(|bot| !bot.is_relay());
        drop(bots);
        if self.is_stopped() {
            bot.set_state(BotState::Stopped, now);
        }
        self.receive_for(&bot);
        bot
    }

    /// Removes a bot. It receives and sends nothing more.
    fn disconnect(&self, agent: &str) {
        let mut bots = self.bots.write().unwrap_or_else(PoisonError::into_inner);
        bots.iter().filter(|bot| bot.agent == agent).for_each(|bot| bot.stop());
        bots.retain(|bot| bot.agent != agent);
    }

    /// True if the channel waits for the operator after a restore.
    fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Returns the agent that answers in direct chats with a bot: the bot's own agent, or for the
    /// relay the default agent, if there is one.
    fn agent_of(&self, bot: &DiscordBot) -> Option<String> {
        if bot.is_relay() { self.settings.default_agent.clone() } else { Some(bot.agent.clone()) }
    }

    /// Returns the agents of the bots by the ids of the bots and of their roles; `None` for the
    /// relay.
    fn bot_names(&self) -> BTreeMap<u64, Option<String>> {
        let bots = self.bots();
        let agent = |bot: &DiscordBot| (!bot.is_relay()).then(|| bot.agent.clone());
        let mut names: BTreeMap<u64, Option<String>> =
            bots.iter().filter_map(|bot| Some((bot.id()?, agent(bot)))).collect();
        for (role, id) in bots.iter().flat_map(|bot| bot.guilds.bot_roles()) {
            if let Some(agent) = names.get(&id).cloned() {
                names.insert(role, agent);
            }
        }
        names
    }

    /// Returns the bots that may speak in a place. In a direct chat, these are the bots of its
    /// agent. In a channel, these are all bots that can send, with those at the end that are known
    /// to be elsewhere.
    fn bots_in(&self, room: &ChannelPlace) -> Vec<Arc<DiscordBot>> {
        let mut bots = self.bots();
        bots.retain(|bot| bot.can_send());
        match &room.with {
            Some(agent) => bots.retain(|bot| self.agent_of(bot).as_ref() == Some(agent)),
            None => bots.sort_by_key(|bot| bot.guilds.is_without(room.channel)),
        }
        bots
    }

    /// Answers in the place of a message, without the outbox: if the line does not arrive, it is
    /// not sent again.
    async fn say(&self, bot: &DiscordBot, room: &ChannelPlace, line: &str, reply_to: Option<u64>) {
        for (number, content) in text::parts(line, None).into_iter().enumerate() {
            let reply_to = reply_to.filter(|_| number == 0);
            let message = NewMessage { content, reply_to, ..NewMessage::default() };
            let sending = bot.own.send(bot.client.send(room.channel, &message)).await;
            if let Err(fault) = bot.noting(sending, self.inbox.hall().now()) {
                tracing::warn!(bot = bot.agent, %fault, "an answer could not be sent");
                return;
            }
        }
    }

    /// Returns the slash commands that Discord offers for a bot. Empty for every bot but the first,
    /// because one bot is enough.
    fn commands_of(&self, bot: &DiscordBot) -> Vec<CommandEntry> {
        let is_first = self.bots().first().is_some_and(|first| first.agent == bot.agent);
        if !is_first {
            return Vec::new();
        }
        let plain = ["/help", "/ask", "/stop", "/pause", "/resume", "/mute", "/why"];
        let known = slash::COMMANDS.iter().filter(|command| plain.contains(&command.name));
        let group = ("/group", "Show or change the group of agents.", "list, add critic, …");
        let start = ("/start", "Pair your account with this server.", "the code");
        known
            .map(|command| (command.name, command.does, command.arguments))
            .chain([group, start])
            .map(|(name, does, arguments)| CommandEntry {
                name: name.trim_start_matches('/').to_owned(),
                does: cut_units(does, DOES_UNITS_MAX),
                option: (!arguments.is_empty()).then(|| arguments.to_owned()),
            })
            .collect()
    }

    /// Notes the event that a message shows.
    fn note_message(&self, channel: u64, message: u64, event: (StreamId, Seq)) {
        self.messages.note((channel, message), event);
    }

    /// Notes the message from which a bound place is read back after an absence, if it has none
    /// yet.
    fn begin_seen(&self, channel: u64, message: u64) {
        if let Err(error) = self.seen.begin(channel, message) {
            tracing::warn!(%error, "the file of messages that were taken is not written");
        }
    }

    /// Stops each bot under whose identity another program speaks. Another bot of this server, if
    /// there is one, reports that in the place.
    async fn judge_suspects(&self) {
        for bot in self.bots().iter().filter(|bot| bot.state() != BotState::Foreign) {
            let Some(channel) = bot.own.foreign(Instant::now()) else { continue };
            let name = bot.name().unwrap_or_else(|| bot.agent.clone());
            let line = format!(
                "Another program speaks as {name}, so this server stopped using that bot. An \
                 operator can make a new token for it."
            );
            bot.set_state(BotState::Foreign, self.inbox.hall().now());
            let room = ChannelPlace::new(channel);
            if let Some(other) = self.bots_in(&room).first() {
                self.say(other, &room, &line, None).await;
            }
        }
    }

    /// Writes the newest message that was taken in each bound place, if the file is behind.
    async fn write_seen(&self) {
        // To read the log each second would keep threads of an idle server alive.
        if !self.seen.is_behind() {
            return;
        }
        let Ok(bound) = self.inbox.hall().bound_chats().await else { return };
        let channels: Vec<u64> =
            bound.iter().filter_map(|(chat, _)| Some(ChannelPlace::of(chat)?.channel)).collect();
        if let Err(error) = self.seen.write(|channel| channels.contains(&channel)) {
            tracing::warn!(%error, "the file of messages that were taken could not be written");
        }
    }
}
