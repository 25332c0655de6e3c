//! Channels through the door: their bots and chats, and accounts that are paired with people.

use std::sync::{Arc, Weak};

use moothall_kernel::budget::{DAY, start_of};
use moothall_kernel::ids::StreamId;

use super::{Action, Door};
use crate::access::{AccessError, Reach, Scope};
use crate::answers::HallError;
use crate::channels::{
    BotStatus, ChannelDirectory, ChannelError, ChannelStatus, ChatActivity, PairingLink,
};
use crate::hall::Hall;
use crate::ports::{Target, UsageBy, UsageWanted};

impl Hall {
    /// Registers the channels of this server. Only the first registration counts.
    pub fn serve_channels(&self, channels: Weak<dyn ChannelDirectory>) {
        let _ = self.inner.channels.set(channels);
    }
}

impl Door {
    /// Returns the channels of this server; `None` if it has none.
    pub(super) fn channel_directory(&self) -> Option<Arc<dyn ChannelDirectory>> {
        self.hall.inner.channels.get().and_then(Weak::upgrade)
    }

    fn channel(&self, name: &str) -> Result<Arc<dyn ChannelDirectory>, ChannelError> {
        self.channel_directory().ok_or_else(|| ChannelError::unknown(name, &[]))
    }

    /// Lists the channels. Leaves out the chats whose conversations are out of the caller's reach.
    /// A chat without a conversation is listed only for a caller with a proven `threads:admin` and
    /// a reach of everything.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn channels(&self) -> Result<Vec<ChannelStatus>, AccessError> {
        self.may(Action::ListChannels)?;
        let Some(directory) = self.channel_directory() else { return Ok(Vec::new()) };
        let mut channels = directory.channels().await?;
        let opens = self.caller.must_prove(Scope::ThreadsAdmin).is_ok();
        for channel in &mut channels {
            channel.chats.retain(|chat| match &chat.stream {
                Some(stream) => self.caller.reach.includes(stream),
                None => opens && self.caller.reach == Reach::All,
            });
        }
        self.add_activity(&mut channels).await?;
        Ok(channels)
    }

    /// Adds to each chat the number of deliveries that it still waits for, and the number and cost
    /// of today's turns in its conversation.
    async fn add_activity(&self, channels: &mut [ChannelStatus]) -> Result<(), HallError> {
        let chats = || channels.iter().flat_map(|channel| &channel.chats);
        let streams: Vec<StreamId> = chats().filter_map(|chat| chat.stream.clone()).collect();
        if chats().next().is_none() {
            return Ok(());
        }
        let owed = self.hall.inner.store.outbox.owed().await?;
        let today = UsageWanted {
            limit: streams.len(),
            streams: Some(streams),
            from: Some(start_of(self.hall.now(), DAY)),
            by: Some(UsageBy::Stream),
            ..UsageWanted::default()
        };
        let used = self.hall.used(&today).await?;
        for chat in channels.iter_mut().flat_map(|channel| &mut channel.chats) {
            let sum = used.iter().find(|sum| sum.stream.is_some() && sum.stream == chat.stream);
            chat.activity = ChatActivity {
                owed: owed.get(&Target::Chat(chat.chat.clone())).copied().unwrap_or_default(),
                turns_today: sum.map_or(0, |sum| sum.turns),
                cost_today_micros: sum.map_or(0, |sum| sum.cost_micros),
            };
        }
        Ok(())
    }

    /// Gives an agent a bot.
    ///
    /// # Errors
    /// [`AccessError`]; the bot was not stored then.
    pub async fn add_bot(
        &self,
        channel: &str,
        agent: &str,
        token: &str,
    ) -> Result<BotStatus, AccessError> {
        self.may(Action::ManageChannels)?;
        Ok(self.channel(channel)?.add_bot(channel, agent, token).await?)
    }

    /// Sends the caller's accounts in the channel a button that makes a bot for an agent. Returns
    /// the accounts that got the button.
    ///
    /// # Errors
    /// [`AccessError`] if no account got the button.
    pub async fn offer_bot(&self, channel: &str, agent: &str) -> Result<Vec<String>, AccessError> {
        self.may(Action::ManageChannels)?;
        let directory = self.channel(channel)?;
        let Some(person) = self.caller.principal() else {
            let text = "This needs the credential of a person, because the button goes to the \
                        person's own account.";
            return Err(ChannelError::NoAccount(text.to_owned()).into());
        };
        Ok(directory.offer_bot(channel, agent, &person.id).await?)
    }

    /// Takes a bot from its agent. Returns `false` if the agent has no bot that was added at run
    /// time.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn remove_bot(&self, channel: &str, agent: &str) -> Result<bool, AccessError> {
        self.may(Action::ManageChannels)?;
        Ok(self.channel(channel)?.remove_bot(channel, agent).await?)
    }

    /// Starts the stopped bots of a channel again. Returns `false` if none had stopped.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn resume_channel(&self, channel: &str) -> Result<bool, AccessError> {
        self.may(Action::ManageChannels)?;
        Ok(self.channel(channel)?.resume(channel).await?)
    }

    /// Returns the links by which a pairing code reaches a bot.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn pairing_links(
        &self,
        channel: &str,
        code: &str,
    ) -> Result<Vec<PairingLink>, AccessError> {
        self.may(Action::PairAccount)?;
        Ok(self.channel(channel)?.pairing_links(channel, code)?)
    }
}
