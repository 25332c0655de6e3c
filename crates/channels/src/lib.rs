//! Chats of other products as surfaces of conversations.
//!
//! A channel brings in what people write in a chat, under the account by which they paired, and
//! carries out what a conversation owes to the chats that it is bound to. It adds no rule about who
//! may speak: every word goes through the hall's door, like a request of any other surface.

pub mod config;
pub mod inbox;
pub mod outbound;
pub mod telegram;
mod kept_bots;
mod restored;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use moothall_engine::access::{Access, Mode};
use moothall_engine::channels::{
    BotStatus, ChannelDirectory, ChannelError, ChannelStatus, PairingLink,
};
use moothall_engine::hall::{Hall, HallError};
use moothall_engine::outbox::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome};
use moothall_engine::ports::{Delivery, Target, TargetKind};
use moothall_kernel::ids::ParticipantId;

pub use config::{ChannelsConfig, TelegramConfig};
use inbox::Inbox;
use kept_bots::KeptBots;
use restored::LogFile;
use telegram::Telegram;
use telegram::client::{BotToken, NotAToken};
use telegram::room::TELEGRAM;

/// The channels of a server. Dropping them ends their tasks.
pub struct Channels {
    inner: Arc<Directory>,
}

struct Directory {
    telegram: Arc<Telegram>,
    kept: Arc<KeptBots>,
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
        let access = Access::new(hall.clone(), mode, None);
        let inbox = Inbox::new(hall.clone(), access);
        let settings = config.telegram;
        let (log, stopped) = LogFile::open(hall, &folder).await?;
        let kept = KeptBots::open(folder).map_err(|error| HallError::Failed(error.to_string()))?;
        let kept = Arc::new(kept);
        let telegram = Telegram::new(inbox, settings.clone(), kept.clone(), stopped);
        let telegram = Arc::new(telegram.map_err(HallError::Failed)?);
        let inner = Arc::new(Directory {
            telegram: telegram.clone(),
            kept,
            log,
            hall: hall.clone(),
            carries: AtomicBool::new(false),
        });
        let directory: Arc<dyn ChannelDirectory> = inner.clone();
        hall.serve_channels(Arc::downgrade(&directory));
        if settings.enabled {
            for (agent, token) in settings.bots.iter() {
                match token.parse::<BotToken>() {
                    Ok(token) => drop(telegram.connect(agent, token)),
                    Err(error) => tracing::error!(agent, %error, "a bot cannot be connected"),
                }
            }
            for (agent, token) in inner.kept.all() {
                if let Ok(token) = token.parse::<BotToken>() {
                    telegram.connect(&agent, token);
                }
            }
            telegram.watch();
            if !telegram.bots().is_empty() {
                inner.carry().await?;
            }
        }
        Ok(Self { inner })
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        self.inner.telegram.close();
    }
}

/// Carries deliveries to the chats of all channels.
struct ChatCourier(Weak<Telegram>);

#[async_trait]
impl DeliveryHandler for ChatCourier {
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Noted
    }

    async fn carry(&self, delivery: &Delivery, notes: &DeliveryNotes<'_>) -> Outcome {
        let Target::Chat(chat) = &delivery.target else {
            return Outcome::Failed("this is not a chat".into());
        };
        match self.0.upgrade() {
            Some(telegram) if Telegram::serves(chat) => telegram.carry(delivery, chat, notes).await,
            Some(_) => Outcome::Failed(format!("this server has no channel to {}", chat.key())),
            None => Outcome::Later { why: "the channels are closed".into(), after: None },
        }
    }
}

impl Directory {
    /// Makes the deliveries to chats, from now on. Without a bot no chat can be bound, because its
    /// deliveries would wait for ever.
    async fn carry(&self) -> Result<(), HallError> {
        if self.carries.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let courier = ChatCourier(Arc::downgrade(&self.telegram));
        self.hall.register_handler(TargetKind::Chat, Arc::new(courier)).await
    }
}

#[async_trait]
impl ChannelDirectory for Directory {
    async fn channels(&self) -> Result<Vec<ChannelStatus>, HallError> {
        Ok(vec![self.telegram.status().await?])
    }

    async fn add_bot(
        &self,
        channel: &str,
        agent: &str,
        token: &str,
    ) -> Result<BotStatus, ChannelError> {
        check_channel(channel)?;
        if self.hall.registry().get(agent).is_none() {
            return Err(ChannelError::NoAgent(agent.to_owned()));
        }
        let parsed: BotToken =
            token.parse().map_err(|error: NotAToken| ChannelError::BadToken(error.to_string()))?;
        let taken = self.telegram.bots().into_iter().find(|bot| bot.id() == parsed.bot_id());
        if let Some(bot) = taken.filter(|bot| bot.agent != agent) {
            let text = format!("This bot is that of the agent {} already.", bot.agent);
            return Err(ChannelError::Taken(text));
        }
        let info = self.telegram.client(parsed.clone()).get_me().await.map_err(|fault| {
            if fault.is_unauthorised() {
                ChannelError::BadToken(
                    "Telegram does not accept this token. Copy it again from @BotFather.".into(),
                )
            } else {
                ChannelError::Unreachable(format!("Telegram cannot be asked now: {fault}"))
            }
        })?;
        self.kept.add(agent, token).map_err(|error| ChannelError::NotKept(error.to_string()))?;
        let bot = self.telegram.connect(agent, parsed);
        self.carry().await.map_err(|error| ChannelError::NotKept(error.to_string()))?;
        bot.set_info(info);
        Ok(bot.status())
    }

    async fn offer_bot(
        &self,
        channel: &str,
        agent: &str,
        person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError> {
        check_channel(channel)?;
        if self.hall.registry().get(agent).is_none() {
            return Err(ChannelError::NoAgent(agent.to_owned()));
        }
        self.telegram.offer(agent, person).await
    }

    async fn remove_bot(&self, channel: &str, agent: &str) -> Result<bool, ChannelError> {
        check_channel(channel)?;
        let removed =
            self.kept.remove(agent).map_err(|error| ChannelError::NotKept(error.to_string()))?;
        if removed {
            self.telegram.disconnect(agent);
        }
        Ok(removed)
    }

    async fn resume(&self, channel: &str) -> Result<bool, ChannelError> {
        check_channel(channel)?;
        self.log.resume().map_err(|error| ChannelError::NotKept(error.to_string()))?;
        Ok(self.telegram.resume())
    }

    fn pairing_links(&self, channel: &str, code: &str) -> Result<Vec<PairingLink>, ChannelError> {
        check_channel(channel)?;
        Ok(self.telegram.pairing_links(code))
    }
}

fn check_channel(channel: &str) -> Result<(), ChannelError> {
    if channel == TELEGRAM { Ok(()) } else { Err(ChannelError::Unknown(channel.to_owned())) }
}
