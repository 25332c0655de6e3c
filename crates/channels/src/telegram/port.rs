//! Telegram as one of the server's channels.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_engine::channels::{BotStatus, ChannelError, ChannelStatus, PairingLink};
use moothall_engine::hall::HallError;
use moothall_engine::outbox::{DeliveryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::Telegram;
use super::bot::Bot;
use super::client::{BotToken, NotAToken};
use super::room::TELEGRAM;
use crate::port::Channel;

#[async_trait]
impl Channel for Telegram {
    fn name(&self) -> &'static str {
        TELEGRAM
    }

    fn has_voice(&self) -> bool {
        !self.bots().is_empty()
    }

    fn is_stopped(&self) -> bool {
        Telegram::is_stopped(self)
    }

    fn resume(&self) -> bool {
        let now = self.inbox.hall().now();
        let had_stopped = self.stopped.send_replace(false);
        let released = self.bots().iter().filter(|bot| bot.release(now)).count();
        had_stopped || released > 0
    }

    async fn status(&self) -> Result<ChannelStatus, HallError> {
        self.read_status().await
    }

    async fn add_bot(self: Arc<Self>, agent: &str, token: &str) -> Result<BotStatus, ChannelError> {
        let parsed: BotToken =
            token.parse().map_err(|error: NotAToken| ChannelError::BadToken(error.to_string()))?;
        let taken = self.bots().into_iter().find(|bot| bot.id() == parsed.bot_id());
        if let Some(bot) = taken.filter(|bot| bot.agent != agent) {
            let text = format!("This bot is that of the agent {} already.", bot.agent);
            return Err(ChannelError::Taken(text));
        }
        let info = self.client(parsed.clone()).get_me().await.map_err(|fault| {
            if fault.is_unauthorised() {
                ChannelError::BadToken(
                    "Telegram does not accept this token. Copy it again from @BotFather.".into(),
                )
            } else {
                ChannelError::Unreachable(format!("Telegram cannot be asked now: {fault}"))
            }
        })?;
        let kept = self.managed.kept.add(agent, token);
        kept.map_err(|error| ChannelError::NotKept(error.to_string()))?;
        let bot = self.connect(agent, parsed);
        bot.set_info(info);
        Ok(bot.status())
    }

    async fn offer_bot(
        &self,
        agent: &str,
        person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError> {
        self.offer(agent, person).await
    }

    fn remove_bot(&self, agent: &str) -> Result<bool, ChannelError> {
        let removed = self.managed.kept.remove(agent);
        let removed = removed.map_err(|error| ChannelError::NotKept(error.to_string()))?;
        if removed {
            self.disconnect(agent);
        }
        Ok(removed)
    }

    fn pairing_links(&self, code: &str) -> Vec<PairingLink> {
        let link = |bot: &Arc<Bot>| {
            let url = format!("https://t.me/{}?start={code}", bot.username()?);
            Some(PairingLink { agent: bot.agent.clone(), url })
        };
        self.bots().iter().filter_map(link).collect()
    }

    async fn carry(&self, delivery: &Delivery, chat: &Chat, notes: &DeliveryNotes<'_>) -> Outcome {
        self.carry_to(delivery, chat, notes).await
    }

    async fn note_thinking(self: Arc<Self>, stream: &StreamId, agent: &ParticipantId) {
        self.begin_drafts(stream, agent).await;
    }

    async fn show_typing(&self, stream: &StreamId, agent: &ParticipantId) {
        self.show_in_rooms(stream, agent).await;
    }

    fn close(&self) {
        self.tasks().abort_all();
    }
}
