//! Chats of other products as surfaces of conversations.
//!
//! A channel brings in what people write in a chat, under the account by which they paired, and
//! carries out the deliveries of a conversation to the chats that it is bound to. It adds no rule
//! about the right to speak: every word goes through the hall's door, like a request of any other
//! surface.

pub mod config;
mod port;
pub mod inbox;
mod receive;
mod groups;
mod cards;
pub mod outbound;
mod carriage;
mod typing;
pub mod telegram;
pub mod discord;
pub mod matrix;
mod recent;
mod replaced_file;
mod kept_bots;
mod restored;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::access::{Access, Mode};
use moothall_engine::channels::{
    BotStatus, ChannelDirectory, ChannelError, ChannelStatus, PairingLink,
};
use moothall_engine::hall::{Hall, HallError};
use moothall_engine::outbox::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome};
use moothall_engine::ports::{Delivery, Target, TargetKind};
use moothall_kernel::ids::ParticipantId;

pub use config::{ChannelsConfig, DiscordConfig, MatrixConfig, TelegramConfig};
use discord::Discord;
use inbox::Inbox;
use matrix::Matrix;
use port::Channel;
use restored::LogFile;
use telegram::Telegram;

/// Pause of deliveries to a channel that is not configured.
const NO_CHANNEL_PAUSE: Duration = Duration::from_secs(60);

/// The channels of a server. Dropping them ends their tasks.
pub struct Channels {
    inner: Arc<Directory>,
}

struct Directory {
    channels: Vec<Arc<dyn Channel>>,
    log: LogFile,
    hall: Hall,
    /// True once deliveries to chats are made.
    carries: AtomicBool,
}

impl Channels {
    /// Opens the channels of a hall: connects the bots of the configuration and those that were
    /// added at run time, and makes the deliveries that chats are owed. `folder` keeps the tokens
    /// of bots that are added.
    ///
    /// # Errors
    /// [`HallError`] if the deliveries or the tokens cannot be read.
    pub async fn open(
        hall: &Hall,
        mode: Mode,
        config: ChannelsConfig,
        folder: PathBuf,
    ) -> Result<Self, HallError> {
        let inbox = Inbox::new(hall.clone(), Access::new(hall.clone(), mode, None));
        let (log, stopped) = LogFile::open(hall, &folder).await?;
        let telegram = Telegram::open(inbox.clone(), &config.telegram, folder.clone(), stopped)?;
        let discord = Discord::open(inbox.clone(), &config.discord, folder, stopped)?;
        let mut channels: Vec<Arc<dyn Channel>> = vec![telegram, discord];
        if let Some(settings) = config.matrix.filter(|settings| settings.enabled) {
            channels.push(Matrix::open(inbox, &settings, stopped)?);
        }
        let inner = Arc::new(Directory {
            channels,
            log,
            hall: hall.clone(),
            carries: AtomicBool::new(false),
        });
        let directory: Arc<dyn ChannelDirectory> = inner.clone();
        hall.serve_channels(Arc::downgrade(&directory));
        inner.carry().await?;
        Ok(Self { inner })
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        self.inner.channels.iter().for_each(|channel| channel.close());
    }
}

/// Carries deliveries to the chats of all channels.
struct ChatCourier(Weak<Directory>);

#[async_trait]
impl DeliveryHandler for ChatCourier {
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Noted
    }

    async fn carry(&self, delivery: &Delivery, notes: &DeliveryNotes<'_>) -> Outcome {
        let Target::Chat(chat) = &delivery.target else {
            return Outcome::Failed("this is not a chat".into());
        };
        let Some(directory) = self.0.upgrade() else {
            return Outcome::Later { why: "the channels are closed".into(), after: None };
        };
        match directory.named(chat.channel()) {
            Ok(channel) => channel.carry(delivery, chat, notes).await,
            // A person can configure the channel again, so the words wait.
            Err(_) => Outcome::Later {
                why: format!("this server has no channel to {}", chat.key()),
                after: Some(NO_CHANNEL_PAUSE),
            },
        }
    }
}

impl Directory {
    /// Returns the channel of a name.
    fn named(&self, name: &str) -> Result<&Arc<dyn Channel>, ChannelError> {
        let found = self.channels.iter().find(|channel| channel.name() == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.channels.iter().map(|channel| channel.name()).collect();
            ChannelError::unknown(name, &known)
        })
    }

    /// Returns the channel of a name for an agent of the registry, or for the account that speaks
    /// for the server.
    fn for_agent(&self, name: &str, agent: &str) -> Result<&Arc<dyn Channel>, ChannelError> {
        let channel = self.named(name)?;
        if channel.relay() == Some(agent) || self.hall.registry().get(agent).is_some() {
            Ok(channel)
        } else {
            Err(ChannelError::NoAgent(agent.to_owned()))
        }
    }

    /// Makes the deliveries to chats from now on, if a channel has an account to speak by. Without
    /// one no chat can be bound, because its deliveries would wait for ever.
    async fn carry(self: &Arc<Self>) -> Result<(), HallError> {
        let can = self.channels.iter().any(|channel| channel.has_voice());
        if !can || self.carries.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let courier = ChatCourier(Arc::downgrade(self));
        self.hall.register_handler(TargetKind::Chat, Arc::new(courier)).await
    }
}

#[async_trait]
impl ChannelDirectory for Directory {
    async fn channels(&self) -> Result<Vec<ChannelStatus>, HallError> {
        let mut all = Vec::new();
        for channel in &self.channels {
            all.push(channel.status().await?);
        }
        Ok(all)
    }

    fn serves(&self, channel: &str) -> bool {
        self.named(channel).is_ok_and(|channel| channel.has_voice())
    }

    async fn add_bot(
        self: Arc<Self>,
        channel: &str,
        agent: &str,
        token: &str,
    ) -> Result<BotStatus, ChannelError> {
        let channel = self.for_agent(channel, agent)?.clone();
        let bot = channel.add_bot(agent, token).await?;
        self.carry().await.map_err(|error| ChannelError::NotKept(error.to_string()))?;
        Ok(bot)
    }

    async fn offer_bot(
        &self,
        channel: &str,
        agent: &str,
        person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError> {
        self.for_agent(channel, agent)?.offer_bot(agent, person).await
    }

    async fn remove_bot(&self, channel: &str, agent: &str) -> Result<bool, ChannelError> {
        self.named(channel)?.remove_bot(agent)
    }

    async fn resume(&self, channel: &str) -> Result<bool, ChannelError> {
        let resumed = self.named(channel)?.resume();
        // The file is changed only when no channel is stopped any more. A restart before that stops
        // all channels again, which is the safe side.
        if !self.channels.iter().any(|channel| channel.has_voice() && channel.is_stopped()) {
            self.log.resume().map_err(|error| ChannelError::NotKept(error.to_string()))?;
        }
        Ok(resumed)
    }

    fn pairing_links(&self, channel: &str, code: &str) -> Result<Vec<PairingLink>, ChannelError> {
        Ok(self.named(channel)?.pairing_links(code))
    }
}
