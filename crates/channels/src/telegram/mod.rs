//! Telegram: one bot for each agent, over the Bot API.

pub mod bot;
pub mod bucket;
pub mod client;
pub mod room;
pub mod text;
pub mod update;
mod cards;
mod carry;
mod edits;
mod drafts;
mod ephemeral;
mod group;
mod managed;
mod order;
mod own;
mod places;
mod poll;
mod port;
mod receive;
mod standing;
mod status;
mod strangers;
mod rich;
mod typing;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

use moothall_engine::channels::BotState;
use moothall_engine::hall::HallError;
use moothall_engine::residents::WeakHall;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::slash;
use moothall_kernel::time::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::TelegramConfig;
use crate::groups::opening_line;
use crate::inbox::Inbox;
use crate::kept_bots::KeptBots;
use crate::recent::MessageIndex;
use crate::typing::show as show_typing;
use bot::Bot;
use client::{BotCommand, BotToken, Client, SendMessage};
use drafts::Drafts;
use managed::ManagedBots;
use order::MessageOrder;
use own::Suspects;
use places::{MessageId, Places};
use room::{Room, TELEGRAM};

/// Name of the file that keeps the tokens of added bots.
const BOTS_FILE: &str = "telegram-bots.json";

/// Time after which the bots leave a group that no person opened.
const WAITING_MAX: Duration = Duration::from_secs(3600);

/// Pause between two looks at groups that wait and at words under a bot's identity.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// The channel to Telegram.
pub struct Telegram {
    http: reqwest::Client,
    inbox: Arc<Inbox>,
    weak: WeakHall,
    settings: TelegramConfig,
    bots: RwLock<Vec<Arc<Bot>>>,
    places: Places,
    messages: MessageIndex<MessageId>,
    order: MessageOrder,
    suspects: Suspects,
    /// Time at which the server started.
    started_at: Timestamp,
    drafts: Drafts,
    managed: ManagedBots,
    /// Held while a chat is opened, because several bots learn of it in the same moment.
    opening: tokio::sync::Mutex<()>,
    tasks: Mutex<JoinSet<()>>,
    /// Changes with each bot whose name becomes known or cannot be known now.
    names_known: watch::Sender<()>,
    /// True while the channel waits for the operator after a restore.
    stopped: watch::Sender<bool>,
}

impl Telegram {
    /// Opens the channel. If it is enabled, connects the bots of the configuration and those that
    /// were added at run time. `folder` keeps the tokens of bots that are added.
    ///
    /// # Errors
    /// [`HallError`] if the tokens cannot be read, or no HTTP client can be made.
    pub(crate) fn open(
        inbox: Arc<Inbox>,
        settings: &TelegramConfig,
        folder: PathBuf,
        stopped: bool,
    ) -> Result<Arc<Self>, HallError> {
        let kept = KeptBots::open(folder, BOTS_FILE);
        let kept = kept.map_err(|error| HallError::Failed(error.to_string()))?;
        let telegram = Self::new(inbox, settings.clone(), kept, stopped);
        let telegram = Arc::new(telegram.map_err(HallError::Failed)?);
        if settings.enabled {
            telegram.connect_all();
        }
        Ok(telegram)
    }

    /// Returns the channel. No bot is connected yet.
    ///
    /// # Errors
    /// The reason in words, if no HTTP client can be made.
    fn new(
        inbox: Arc<Inbox>,
        settings: TelegramConfig,
        kept: KeptBots,
        stopped: bool,
    ) -> Result<Self, String> {
        let http = client::connector(&settings.base_url)?;
        let started_at = inbox.hall().now();
        Ok(Self {
            http,
            weak: inbox.hall().weak(),
            inbox,
            settings,
            bots: RwLock::default(),
            places: Places::default(),
            messages: MessageIndex::default(),
            order: MessageOrder::default(),
            suspects: Suspects::default(),
            started_at,
            drafts: Drafts::default(),
            managed: ManagedBots::new(kept),
            opening: tokio::sync::Mutex::default(),
            tasks: Mutex::default(),
            names_known: watch::Sender::new(()),
            stopped: watch::Sender::new(stopped),
        })
    }

    /// Connects the known bots, and starts the tasks of the channel.
    fn connect_all(self: &Arc<Self>) {
        for (agent, token) in self.settings.bots.iter() {
            match token.parse::<BotToken>() {
                Ok(token) => drop(self.connect(agent, token)),
                Err(error) => tracing::error!(agent, %error, "a bot cannot be connected"),
            }
        }
        for (agent, token) in self.managed.kept.all() {
            if let Ok(token) = token.parse::<BotToken>() {
                self.connect(&agent, token);
            }
        }
        self.watch();
    }

    /// Returns a client with a bot's token.
    fn client(&self, token: BotToken) -> Client {
        Client::new(self.http.clone(), &self.settings.base_url, token)
    }

    /// Returns the bots in the order in which they were connected.
    fn bots(&self) -> Vec<Arc<Bot>> {
        self.bots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a bot in place of an earlier one of its agent, and connects it.
    fn connect(self: &Arc<Self>, agent: &str, token: BotToken) -> Arc<Bot> {
        let (client, rates) = (self.client(token), self.settings.rates);
        let bot = Arc::new(Bot::new(agent, client, rates, self.inbox.hall().now()));
        let mut bots = self.bots.write().unwrap_or_else(PoisonError::into_inner);
        bots.iter().filter(|other| other.agent == agent).for_each(|other| other.stop());
        if !bots.iter().any(|other| other.agent == agent && other.id() == bot.id()) {
            self.places.forget_bot(agent);
        }
        bots.retain(|other| other.agent != agent);
        bots.push(bot.clone());
        drop(bots);
        if self.is_stopped() {
            bot.set_state(BotState::Stopped, self.inbox.hall().now());
        }
        let receiving = poll::receive_all(Arc::downgrade(self), bot.clone());
        bot.set_task(self.tasks().spawn(receiving));
        bot
    }

    /// True if the channel waits for the operator after a restore.
    fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Removes a bot. It receives and sends nothing more.
    fn disconnect(&self, agent: &str) {
        let mut bots = self.bots.write().unwrap_or_else(PoisonError::into_inner);
        bots.iter().filter(|bot| bot.agent == agent).for_each(|bot| bot.stop());
        bots.retain(|bot| bot.agent != agent);
        self.places.forget_bot(agent);
    }

    /// Starts the tasks of the channel. One shows typing. The other leaves groups that no person
    /// opens, and judges messages under a bot's identity.
    fn watch(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        self.tasks().spawn(show_typing(weak.clone(), self.inbox.hall().changes()));
        self.tasks().spawn(async move {
            loop {
                tokio::time::sleep(LOOK_PAUSE).await;
                let Some(open) = weak.upgrade() else { return };
                open.leave_waiting(Instant::now()).await;
                open.judge_suspects().await;
            }
        });
    }

    /// Leaves the groups that have waited too long, unless they were bound meanwhile.
    async fn leave_waiting(&self, now: Instant) {
        for (chat, place) in self.places.all() {
            let is_over = place
                .waiting_since
                .is_some_and(|since| now.saturating_duration_since(since) >= WAITING_MAX);
            if !is_over {
                continue;
            }
            // A person may have bound the chat, or a topic of it, by hand.
            let Ok(bound) = self.inbox.hall().bound_chats().await else { continue };
            let is_here = |room: Room| self.places.moved_to(room.chat) == chat;
            if bound.iter().filter_map(|(chat, _)| Room::of(chat)).any(is_here) {
                self.places.change(chat, |place| place.waiting_since = None);
                continue;
            }
            for bot in self.bots().iter().filter(|bot| place.bots.contains_key(&bot.agent)) {
                if let Err(fault) = bot.client.leave_chat(chat).await {
                    tracing::debug!(bot = bot.agent, %fault, "a group could not be left");
                }
            }
            self.places.remove(chat);
        }
    }

    /// Returns the agent that answers for a bot: the bot's own agent if the registry has it, or
    /// else the default agent. Without a default agent, returns the bot's own agent in any case.
    fn agent_of(&self, bot: &Bot) -> String {
        let is_known = self.inbox.hall().registry().get(&bot.agent).is_some();
        match &self.settings.default_agent {
            Some(agent) if !is_known => agent.clone(),
            _ => bot.agent.clone(),
        }
    }

    /// Returns the agents whose bots are in a chat.
    fn agents_in(&self, chat: i64) -> Vec<String> {
        let place = self.places.get(chat).unwrap_or_default();
        let here = |bot: &&Arc<Bot>| place.bots.contains_key(&bot.agent);
        self.bots().iter().filter(here).map(|bot| self.agent_of(bot)).collect()
    }

    /// Returns the agent whose bot has this id.
    fn agent_with(&self, id: i64) -> Option<String> {
        self.bots().iter().find(|bot| bot.id() == id).map(|bot| self.agent_of(bot))
    }

    /// Returns the names of the bots, with the agents that they stand for.
    fn names(&self) -> BTreeMap<String, String> {
        let named = |bot: &Arc<Bot>| Some((bot.username()?, self.agent_of(bot)));
        self.bots().iter().filter_map(named).collect()
    }

    /// Returns the names of the bots.
    fn own_names(&self) -> Vec<String> {
        self.bots().iter().filter_map(|bot| bot.username()).collect()
    }

    /// Answers in the chat of a message, without the outbox: if the line does not arrive, it is not
    /// sent again.
    async fn say(&self, bot: &Bot, room: &Room, line: &str, reply_to: Option<i64>) {
        for (number, part) in text::plain(line, None, text::TEXT_UNITS_MAX).into_iter().enumerate()
        {
            if self.wait_for_slot(bot, room).await.is_err() {
                return;
            }
            let message = SendMessage {
                chat_id: room.chat,
                thread: room.topic,
                text: part.text,
                reply_to: reply_to.filter(|_| number == 0),
                ..SendMessage::default()
            };
            let sending = bot.sent.note(message.chat_id, bot.client.send_message(&message));
            if let Err(fault) = sending.await {
                if let Some(after) = fault.retry_after() {
                    self.hold(bot, Some(room.chat), after);
                }
                tracing::warn!(bot = bot.agent, %fault, "an answer could not be sent");
                return;
            }
        }
    }

    /// Holds a bot back in a chat, or in all chats, for exactly the time that Telegram asked for.
    fn hold(&self, bot: &Bot, chat: Option<i64>, after: Duration) {
        bot.bucket().hold(chat, Instant::now() + after);
    }

    /// Returns the commands that Telegram offers to people, with their meaning.
    fn commands(&self) -> Vec<BotCommand> {
        let offered =
            ["/help", "/ask", "/stop", "/pause", "/resume", "/mute", "/why", "/group list"];
        let usage = |name: &&str| slash::COMMANDS.iter().find(|command| command.name == *name);
        offered
            .iter()
            .filter_map(usage)
            .map(|command| {
                let name = command.name.trim_start_matches('/').split(' ').next();
                let command_name = name.unwrap_or_default().to_owned();
                BotCommand { command: command_name, description: command.does.to_owned() }
            })
            .collect()
    }

    /// Returns the line that names bots which receive only what is addressed to them; `None` if
    /// none of them has a name. Notes that the chat gets a line about them.
    fn deaf_line(&self, room: &Room, bots: &[Arc<Bot>]) -> Option<String> {
        let names: Vec<String> =
            bots.iter().filter_map(|bot| Some(format!("@{}", bot.username()?))).collect();
        if names.is_empty() {
            return None;
        }
        self.places.change(room.chat, |place| {
            place.told_deaf.extend(bots.iter().map(|bot| bot.agent.clone()));
        });
        Some(format!(
            "{} can hear only what is addressed to them: a mention as a command, or a reply. To \
             change that, make the bot an admin here, or turn its privacy mode off at @BotFather \
             and add it again.",
            names.join(", ")
        ))
    }

    /// Returns the first line of a chat that was bound.
    fn opening(&self, room: &Room, agents: &[ParticipantId]) -> String {
        let place = self.places.get(room.chat).unwrap_or_default();
        let is_deaf =
            |bot: &&Arc<Bot>| room.is_group() && place.bots.get(&bot.agent) == Some(&false);
        let deaf: Vec<Arc<Bot>> = self.bots().iter().filter(is_deaf).cloned().collect();
        let hearing =
            self.deaf_line(room, &deaf).map_or_else(String::new, |line| format!("\n{line}"));
        format!("{}{hearing}", opening_line(agents))
    }

    /// Returns the number of the newest message in a chat that shows an event, as a bot sees it.
    fn message_at(&self, bot: &Bot, chat: i64, event: &(StreamId, Seq)) -> Option<i64> {
        let [first, last] = [i64::MIN, i64::MAX].map(|number| MessageId::new(bot, chat, number));
        self.messages.message_of(first..=last, event).map(MessageId::number)
    }

    /// True if a chat is one of Telegram.
    fn serves(chat: &Chat) -> bool {
        chat.channel() == TELEGRAM
    }
}
