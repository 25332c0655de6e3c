//! Webhooks: one for each channel, by which agents speak under their own names.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Discord;
use super::bot::DiscordBot;
use super::client::{HookKey, RestFailure};
use super::guilds::parent_in;

/// Name of the webhooks that the channel makes.
const NAME: &str = "Moothall";
/// Number of webhooks that are remembered.
const HOOKS_MAX: usize = 10_000;

/// The webhooks that are known, by their bots and channels. They are looked up again after a start.
#[derive(Default)]
pub(super) struct Hooks(Mutex<BTreeMap<(String, u64), HookKey>>);

impl Hooks {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, u64), HookKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if a webhook is one of the channel.
    pub(super) fn has(&self, id: u64) -> bool {
        self.lock().values().any(|hook| hook.id == id)
    }
}

/// A webhook for a place, and the thread in which it speaks.
pub(super) struct PlacedHook {
    /// The channel of the webhook.
    pub(super) channel: u64,
    /// The thread, if the place is one.
    pub(super) thread: Option<u64>,
    /// The webhook.
    pub(super) key: HookKey,
}

impl Discord {
    /// Returns the webhook by which a bot speaks in a channel or a thread. It is made if the bot
    /// has none there.
    ///
    /// # Errors
    /// [`RestFailure`], a refusal if the bot may not.
    pub(super) async fn hook_for(
        &self,
        bot: &DiscordBot,
        place: u64,
    ) -> Result<PlacedHook, RestFailure> {
        let parent = match bot.guilds.channel(place) {
            Some(known) => known.parent,
            None => parent_in(&bot.client.channel(place).await?),
        };
        let (channel, thread) = match parent {
            Some(parent) => (parent, Some(place)),
            None => (place, None),
        };
        let known = self.hooks.lock().get(&(bot.agent.clone(), channel)).cloned();
        if let Some(key) = known {
            return Ok(PlacedHook { channel, thread, key });
        }
        let key = match bot.client.own_hook(channel).await? {
            Some(key) => key,
            None => bot.client.make_hook(channel, NAME).await?,
        };
        let mut hooks = self.hooks.lock();
        if hooks.len() >= HOOKS_MAX {
            hooks.clear();
        }
        hooks.insert((bot.agent.clone(), channel), key.clone());
        Ok(PlacedHook { channel, thread, key })
    }

    /// Forgets a webhook that does not exist any more: a new one is made when it is needed.
    pub(super) fn forget_hook(&self, bot: &DiscordBot, channel: u64) {
        self.hooks.lock().remove(&(bot.agent.clone(), channel));
    }
}
