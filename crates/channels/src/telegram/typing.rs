//! Typing: while an agent thinks, its bot shows so in the chats of the conversation. It is shown
//! only if the bot's limits leave room for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

use moothall_engine::hall::HallChange;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::Telegram;
use super::bot::Bot;
use super::room::Room;

/// Pause between two notices of typing. Telegram shows each for five seconds.
const AGAIN_AFTER: Duration = Duration::from_secs(4);
/// Longest time for which typing is shown.
const SHOWN_MAX: Duration = Duration::from_secs(600);

type Thinking = BTreeMap<(StreamId, ParticipantId), Instant>;

/// Shows typing until the channel is closed.
pub(super) async fn show(telegram: Weak<Telegram>, mut changes: Receiver<HallChange>) {
    let mut thinking = Thinking::new();
    let mut ticks = tokio::time::interval(AGAIN_AFTER);
    loop {
        tokio::select! {
            change = changes.recv() => match change {
                Ok(HallChange::Presence { stream, presence }) => {
                    let key = (stream, presence.participant);
                    if presence.state != "thinking" {
                        thinking.remove(&key);
                    } else {
                        let Some(open) = telegram.upgrade() else { return };
                        open.begin_drafts(&key.0, &key.1).await;
                        if thinking.insert(key.clone(), Instant::now()).is_none() {
                            open.show_typing(&key.0, &key.1).await;
                        }
                    }
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            _ = ticks.tick(), if !thinking.is_empty() => {
                let Some(open) = telegram.upgrade() else { return };
                thinking.retain(|_, since| since.elapsed() < SHOWN_MAX);
                for (stream, agent) in thinking.keys() {
                    open.show_typing(stream, agent).await;
                }
            }
        }
    }
}

impl Telegram {
    /// Returns the bot by which an agent speaks: its own, or else one that stands for it.
    pub(super) fn bot_for(&self, agent: &ParticipantId) -> Option<Arc<Bot>> {
        let bots = self.bots().into_iter();
        let speaks = |bot: &Arc<Bot>| bot.can_send() && self.agent_of(bot) == agent.as_str();
        bots.filter(speaks).min_by_key(|bot| bot.agent != agent.as_str())
    }

    /// Shows in the chats of a conversation that an agent is typing.
    async fn show_typing(&self, stream: &StreamId, agent: &ParticipantId) {
        let bound = self
            .inbox
            .hall()
            .view(stream, |state| state.bindings().filter_map(Chat::of_target).collect::<Vec<_>>())
            .await;
        let Some(bot) = self.bot_for(agent) else { return };
        for room in bound.unwrap_or_default().iter().filter_map(Room::of) {
            // A draft shows it better.
            if self.drafts.has(&bot, room.chat) {
                continue;
            }
            let may = bot.bucket().try_take(Instant::now(), room.chat, room.is_group());
            if may && let Err(fault) = bot.client.send_chat_action(room.chat, room.topic).await {
                tracing::debug!(bot = bot.agent, %fault, "typing could not be shown");
            }
        }
    }
}
