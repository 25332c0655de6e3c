//! Discord as one of the server's channels.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::channels::{BotState, BotStatus, ChannelError, ChannelStatus, PairingLink};
use moothall_engine::hall::HallError;
use moothall_engine::outbox::{DeliveryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};
use tokio::time::Instant;

use super::Discord;
use super::bot::RELAY;
use super::client::{DiscordToken, NotADiscordToken, id_in};
use super::gateway::may_read;
use super::names::shown_name;
use super::room::{ChannelPlace, DISCORD};
use crate::port::Channel;

/// Pause between two notices of typing. Discord shows each for ten seconds.
const TYPING_PAUSE: Duration = Duration::from_secs(8);

#[async_trait]
impl Channel for Discord {
    fn name(&self) -> &'static str {
        DISCORD
    }

    fn relay(&self) -> Option<&'static str> {
        Some(RELAY)
    }

    fn has_voice(&self) -> bool {
        !self.bots().is_empty()
    }

    fn is_stopped(&self) -> bool {
        Discord::is_stopped(self)
    }

    fn resume(&self) -> bool {
        let now = self.inbox.hall().now();
        let released = self.bots().iter().filter(|bot| bot.release(now)).count();
        let had_stopped = self.stopped.send_replace(false);
        had_stopped || released > 0
    }

    async fn status(&self) -> Result<ChannelStatus, HallError> {
        self.read_status().await
    }

    async fn add_bot(self: Arc<Self>, agent: &str, token: &str) -> Result<BotStatus, ChannelError> {
        let parsed: DiscordToken = token
            .parse()
            .map_err(|error: NotADiscordToken| ChannelError::BadToken(error.to_string()))?;
        let me = self.client(parsed.clone()).me().await.map_err(|fault| {
            if fault.is_unauthorised() {
                let text = "Discord does not accept this token. Make a new one with *Reset Token* \
                            on the page *Bot* of the application.";
                ChannelError::BadToken(text.into())
            } else {
                ChannelError::Unreachable(format!("Discord cannot be asked now: {fault}"))
            }
        })?;
        let id = id_in(&me, "id").unwrap_or_default();
        let taken = self.bots().into_iter().find(|bot| bot.id() == Some(id));
        if let Some(bot) = taken.filter(|bot| bot.agent != agent) {
            let text = format!("This bot is that of {} already.", bot.agent);
            return Err(ChannelError::Taken(text));
        }
        let application = self.client(parsed.clone()).application().await;
        let kept = self.kept.add(agent, parsed.reveal());
        kept.map_err(|error| ChannelError::NotKept(error.to_string()))?;
        let bot = self.connect(agent, parsed);
        bot.set_user(id, shown_name(&me));
        bot.set_reads_content(application.is_ok_and(|it| may_read(&it)));
        Ok(bot.status())
    }

    async fn offer_bot(
        &self,
        agent: &str,
        _person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError> {
        Err(ChannelError::NoManager(format!(
            "In Discord no bot can make another. Agents without a bot speak through the bot of \
             {RELAY}; to give one its own: moothall channels add discord {agent}"
        )))
    }

    fn remove_bot(&self, agent: &str) -> Result<bool, ChannelError> {
        let removed = self.kept.remove(agent);
        let removed = removed.map_err(|error| ChannelError::NotKept(error.to_string()))?;
        if removed {
            self.disconnect(agent);
        }
        Ok(removed)
    }

    fn pairing_links(&self, _code: &str) -> Vec<PairingLink> {
        Vec::new()
    }

    async fn carry(&self, delivery: &Delivery, chat: &Chat, notes: &DeliveryNotes<'_>) -> Outcome {
        self.carry_to(delivery, chat, notes).await
    }

    async fn note_thinking(self: Arc<Self>, _stream: &StreamId, _agent: &ParticipantId) {}

    async fn show_typing(&self, stream: &StreamId, agent: &ParticipantId) {
        let bound = self.inbox.hall().view(stream, |state| state.chats().collect::<Vec<_>>()).await;
        for room in bound.unwrap_or_default().iter().filter_map(ChannelPlace::of) {
            let bots = self.bots_in(&room);
            let own = bots.iter().find(|bot| bot.agent == agent.as_str());
            let Some(bot) = own.or(bots.first()) else { continue };
            if bot.state() == BotState::Hearing
                && self.may_show(room.channel, agent)
                && let Err(fault) = bot.client.show_typing(room.channel).await
            {
                tracing::debug!(bot = bot.agent, %fault, "typing could not be shown");
            }
        }
    }

    fn close(&self) {
        self.tasks().abort_all();
    }
}

impl Discord {
    /// True if typing of an agent was not shown in a channel within [`TYPING_PAUSE`]. Notes that it
    /// is shown now.
    fn may_show(&self, channel: u64, agent: &ParticipantId) -> bool {
        let now = Instant::now();
        let mut shown = super::lock(&self.typing);
        shown.retain(|_, at| now.duration_since(*at) < TYPING_PAUSE);
        let key = (channel, agent.to_string());
        let is_free = !shown.contains_key(&key);
        if is_free {
            shown.insert(key, now);
        }
        is_free
    }
}
