//! The connection of a bot to the gateway: sessions, lost connections, and received events.
//!
//! One task reads, so that heartbeats and answers to presses never wait. Another task takes the
//! events that were read, one after the other. If [`WAITING_MAX`] events wait for the second task,
//! the first task waits too, and the connection can end. Discord sends the rest again when the
//! session is resumed.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use moothall_engine::channels::BotState;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use twilight_gateway::error::{ReceiveMessageError, ReceiveMessageErrorType};
use twilight_gateway::{ConfigBuilder, Intents, Message, Session, Shard, ShardId};

use super::Discord;
use super::bot::DiscordBot;
use super::client::{RestFailure, id_in};
use super::names::shown_name;
use crate::receive::TryAgain;

/// Number of events that wait to be taken.
const WAITING_MAX: usize = 1_000;
/// Longest time until a session begins.
const BEGUN_MAX: Duration = Duration::from_secs(60);
/// First and longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// Pause after the gateway closed a connection for a reason that only a person ends.
const CLOSED_PAUSE: Duration = Duration::from_secs(60);
/// Pause between two checks if an application may read the content of messages now.
const CONTENT_PAUSE: Duration = Duration::from_secs(60);
/// Number of times that an event is tried after an unknown failure. A full disk or a busy server
/// do not count.
const TRIES_MAX: u32 = 20;
/// Flags of an application that may read the content of messages.
const CONTENT_FLAGS: u64 = 1 << 18 | 1 << 19;

/// The code of a connection that is closed because of a bad token.
const BAD_TOKEN: u16 = 4004;
/// The code of a connection that is closed because the application may not read contents.
const DENIED_INTENTS: u16 = 4014;

/// News of the gateway, in the order in which they are taken.
pub(super) enum GatewayNews {
    /// A new session began. The messages before it have to be read back.
    Begun,
    /// A message, new or edited.
    Message { message: Value, is_edit: bool },
    /// The bot can no longer see these channels.
    Lost(Vec<u64>),
}

/// The reason for which a connection ended.
enum ConnectionEnd {
    /// Nothing came for too long. The session can be resumed.
    Silence(Option<(Session, String)>),
    /// The gateway closed it for good.
    Closed(u16),
    /// The application may read contents now, which needs a new session.
    Renewed,
    /// The channel is closed, or waits for the operator.
    Ended,
}

impl Discord {
    /// Connects a bot: starts its tasks.
    pub(super) fn receive_for(self: &Arc<Self>, bot: &Arc<DiscordBot>) {
        let (events, queue) = channel(WAITING_MAX);
        let weak = Arc::downgrade(self);
        let mut tasks = self.tasks();
        let reading = tasks.spawn(read_all(weak.clone(), bot.clone(), events));
        let taking = tasks.spawn(take_all(weak, bot.clone(), queue));
        bot.set_tasks(vec![reading, taking]);
    }

    /// Asks Discord for the bot's user and for its right to read the content of messages, and sets
    /// its commands.
    async fn greet(&self, bot: &DiscordBot) -> Result<(), RestFailure> {
        let now = self.inbox.hall().now();
        let me = bot.noting(bot.client.me().await, now)?;
        let id = id_in(&me, "id").unwrap_or_default();
        bot.set_user(id, shown_name(&me));
        bot.set_reads_content(may_read(&bot.client.application().await?));
        let commands = self.commands_of(bot);
        if !commands.is_empty()
            && let Err(fault) = bot.client.set_commands(id, &commands).await
        {
            tracing::warn!(bot = bot.agent, %fault, "the commands could not be set");
        }
        Ok(())
    }

    fn note_unreached(&self, bot: &DiscordBot) {
        if bot.state() != BotState::Revoked {
            bot.set_state(BotState::Unreachable, self.inbox.hall().now());
        }
    }
}

/// True if an application may read the content of messages.
pub(super) fn may_read(application: &Value) -> bool {
    // An answer without flags does not deny the right.
    application["flags"].as_u64().is_none_or(|flags| flags & CONTENT_FLAGS != 0)
}

/// Reads the events of the gateway for a bot, until the channel is closed. While the channel is
/// stopped or another program uses the bot, it waits without a connection.
async fn read_all(discord: Weak<Discord>, bot: Arc<DiscordBot>, events: Sender<GatewayNews>) {
    let (mut pause, mut kept) = (PAUSES.0, None);
    let mut is_greeted = false;
    loop {
        let Some(open) = discord.upgrade() else { return };
        let mut stopped = open.stopped.subscribe();
        if *stopped.borrow() || bot.state() == BotState::Foreign {
            drop(open);
            // `moothall channels resume` also releases a bot that another program used.
            let _ = stopped.changed().await;
            continue;
        }
        if !is_greeted && let Err(fault) = open.greet(&bot).await {
            tracing::debug!(bot = bot.agent, %fault, "a bot could not be greeted");
            open.note_unreached(&bot);
            drop(open);
            sleep(fault.retry_after().unwrap_or(pause)).await;
            pause = (2 * pause).min(PAUSES.1);
            continue;
        }
        (is_greeted, pause) = (true, PAUSES.0);
        let shard = open.shard(&bot, kept.take());
        // A connection may last for days, and must not keep the channel open.
        drop(open);
        match GatewayReader::new(&discord, &bot, &events).read(shard).await {
            ConnectionEnd::Silence(session) => kept = session,
            ConnectionEnd::Renewed => {}
            ConnectionEnd::Closed(code) => {
                note_closed(&discord, &bot, code);
                is_greeted = false;
                // The next connection does without that intent, so it need not wait.
                if code != DENIED_INTENTS {
                    sleep(CLOSED_PAUSE).await;
                }
            }
            ConnectionEnd::Ended => {}
        }
    }
}

/// Notes that the gateway closed a connection for good. After a bad token the bot is revoked. A bot
/// that may not read the content of messages connects again without it. After any other code it is
/// unreachable.
fn note_closed(discord: &Weak<Discord>, bot: &DiscordBot, code: u16) {
    let Some(open) = discord.upgrade() else { return };
    tracing::warn!(bot = bot.agent, code, "the gateway closed the connection");
    bot.note_closed(code);
    let now = open.inbox.hall().now();
    match code {
        BAD_TOKEN => bot.set_state(BotState::Revoked, now),
        DENIED_INTENTS => bot.set_reads_content(false),
        _ => bot.set_state(BotState::Unreachable, now),
    }
}

impl Discord {
    /// Returns a connection that is not open yet. If `kept` has the session of a silent connection,
    /// the new one resumes that session.
    fn shard(&self, bot: &DiscordBot, kept: Option<(Session, String)>) -> Shard {
        let plain = Intents::GUILDS | Intents::GUILD_MESSAGES | Intents::DIRECT_MESSAGES;
        let contents =
            if bot.reads_content() { Intents::MESSAGE_CONTENT } else { Intents::empty() };
        let token = bot.client.token().reveal().to_owned();
        let config = ConfigBuilder::new(token, plain | contents);
        let config = config.proxy_url(self.settings.gateway_url.trim_end_matches('/').to_owned());
        let config = match kept {
            Some((session, url)) => config.session(session).resume_url(url),
            None => config,
        };
        Shard::with_config(ShardId::ONE, config.build())
    }
}

/// One connection, as it is read.
struct GatewayReader<'a> {
    discord: &'a Weak<Discord>,
    bot: &'a Arc<DiscordBot>,
    events: &'a Sender<GatewayNews>,
    /// The code of the newest close.
    code: u16,
    /// Time by which a session must have begun; `None` once it did.
    begun_by: Option<Instant>,
}

impl<'a> GatewayReader<'a> {
    fn new(
        discord: &'a Weak<Discord>,
        bot: &'a Arc<DiscordBot>,
        events: &'a Sender<GatewayNews>,
    ) -> Self {
        Self { discord, bot, events, code: 0, begun_by: Some(Instant::now() + BEGUN_MAX) }
    }

    /// Reads until the connection has to be made anew: after silence, after a close for good, for
    /// the right to read contents, or because the channel is closed or stopped.
    async fn read(mut self, mut shard: Shard) -> ConnectionEnd {
        let Some(pause) = self.patience() else { return ConnectionEnd::Ended };
        let mut looks = interval(pause.min(CONTENT_PAUSE));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick would come immediately, although `greet` has only just asked the same.
        looks.reset();
        loop {
            let Some(patience) = self.patience() else { return ConnectionEnd::Ended };
            tokio::select! {
                next = timeout(patience, shard.next()) => match next {
                    Err(_) => return self.silence(&shard),
                    Ok(None) => return ConnectionEnd::Closed(self.code),
                    Ok(Some(Ok(Message::Text(text)))) => {
                        if !self.take(&text).await {
                            return ConnectionEnd::Ended;
                        }
                    }
                    Ok(Some(Ok(Message::Close(frame)))) => {
                        self.code = frame.map_or(0, |frame| frame.code);
                        self.begun_by = Some(Instant::now() + BEGUN_MAX);
                    }
                    Ok(Some(Err(error))) => self.note_error(&error),
                },
                _ = looks.tick(), if !self.bot.reads_content() => {
                    let application = self.bot.client.application().await;
                    if application.is_ok_and(|it| may_read(&it)) {
                        self.bot.set_reads_content(true);
                        return ConnectionEnd::Renewed;
                    }
                }
            }
        }
    }

    /// Returns the longest silence that is allowed now; `None` if the channel is closed or stopped.
    fn patience(&self) -> Option<Duration> {
        let open = self.discord.upgrade()?;
        let is_stopped = open.is_stopped() || self.bot.state() == BotState::Foreign;
        let longest = open.settings.silence_max;
        let left = self.begun_by.map(|by| by.saturating_duration_since(Instant::now()));
        (!is_stopped).then(|| left.map_or(longest, |left| left.min(longest)))
    }

    /// Returns the end of a silent connection. Its session is resumed later if it had begun.
    fn silence(&self, shard: &Shard) -> ConnectionEnd {
        tracing::warn!(bot = self.bot.agent, "the gateway is silent");
        if let Some(open) = self.discord.upgrade() {
            open.note_unreached(self.bot);
        }
        // A session that never began cannot be resumed.
        let session = shard.session().filter(|_| self.begun_by.is_none()).cloned();
        ConnectionEnd::Silence(session.zip(shard.resume_url().map(str::to_owned)))
    }

    /// Notes an error of the connection. If the gateway was not reached, the bot is unreachable,
    /// and the next session has to begin within [`BEGUN_MAX`].
    fn note_error(&mut self, error: &ReceiveMessageError) {
        if matches!(error.kind(), ReceiveMessageErrorType::Reconnect) {
            if let Some(open) = self.discord.upgrade() {
                open.note_unreached(self.bot);
            }
            self.begun_by = Some(Instant::now() + BEGUN_MAX);
        }
        // The event itself may hold words of people, so it is not shown.
        tracing::warn!(bot = self.bot.agent, kind = kind_of(error), "an event was not understood");
    }

    /// Takes one text of the gateway. Returns false if the channel is closed.
    async fn take(&mut self, text: &str) -> bool {
        let Some(open) = self.discord.upgrade() else { return false };
        let Ok(frame) = serde_json::from_str::<Value>(text) else { return true };
        let now = open.inbox.hall().now();
        let (Some(event), data) = (frame["t"].as_str(), &frame["d"]) else { return true };
        let received = match event {
            "READY" => {
                let id = id_in(&data["user"], "id").unwrap_or_default();
                self.bot.set_user(id, shown_name(&data["user"]));
                self.bot.guilds.clear();
                Some(GatewayNews::Begun)
            }
            "RESUMED" => None,
            "INTERACTION_CREATE" => {
                open.receive_interaction(self.bot, data.clone());
                None
            }
            "MESSAGE_CREATE" | "MESSAGE_UPDATE" => {
                self.bot.note_heard(now);
                let is_edit = event == "MESSAGE_UPDATE";
                Some(GatewayNews::Message { message: data.clone(), is_edit })
            }
            _ => {
                let lost = self.bot.guilds.note(event, data, self.bot.id().unwrap_or_default());
                (!lost.is_empty()).then_some(GatewayNews::Lost(lost))
            }
        };
        if matches!(event, "READY" | "RESUMED") {
            self.begun_by = None;
            self.bot.set_state(BotState::Hearing, now);
        }
        drop(open);
        match received {
            Some(received) => self.events.send(received).await.is_ok(),
            None => true,
        }
    }
}

fn kind_of(error: &ReceiveMessageError) -> &'static str {
    match error.kind() {
        ReceiveMessageErrorType::Deserializing { .. } => "it cannot be read",
        ReceiveMessageErrorType::Reconnect => "the gateway is not reached",
        _ => "unknown",
    }
}

/// Takes the events that were read for a bot, one after the other. An event that cannot be stored
/// is tried again. After [`TRIES_MAX`] failures of unknown kinds it is dropped.
async fn take_all(discord: Weak<Discord>, bot: Arc<DiscordBot>, mut queue: Receiver<GatewayNews>) {
    while let Some(received) = queue.recv().await {
        let (mut pause, mut tries) = (PAUSES.0, 0);
        while tries < TRIES_MAX {
            let Some(open) = discord.upgrade() else { return };
            let Err(TryAgain { why, is_known }) = open.receive(&bot, &received).await else {
                break;
            };
            drop(open);
            tracing::warn!(bot = bot.agent, why, "an event waits to be stored");
            tries += u32::from(!is_known);
            sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
        }
    }
}
