//! Interactions: presses of buttons and slash commands, answered for their person alone.
//!
//! Discord waits three seconds for an answer. So the first call announces that the answer follows.
//! If Discord refuses this call, or the call does not reach Discord, nothing else is done, and
//! Discord shows the person that the interaction failed.

use std::sync::Arc;

use moothall_engine::access::Caller;
use moothall_kernel::chat::Chat;
use moothall_kernel::slash::{self, Slash};
use serde_json::Value;

use super::Discord;
use super::bot::DiscordBot;
use super::cards::CardPress;
use super::client::{CardButton, RestFailure, id_in};
use super::room::{ChannelPlace, account_of};
use super::text;
use crate::cards::{NO_MEANING, NOT_PAIRED};
use crate::inbox::{InboundWords, OpeningChat};
use crate::receive::{Entry, TryAgain, pairing_code, passing};

/// The kind of a slash command.
const COMMAND: u64 = 2;
/// The kind of a press.
const COMPONENT: u64 = 3;
/// The answer to an account that is not paired.
const PAIR_FIRST: &str = "This account is not paired with the server. If you use that server: \
                          `moothall channels pair discord`, or the page, makes a code, and `/start` \
                          with it pairs you.";
/// The answer to something that could not be stored now.
const AGAIN: &str = "This could not be stored now. Try it again in a moment.";

/// The parts of an interaction.
struct Interaction {
    id: u64,
    token: String,
    account: String,
    /// The name of the channel, for a conversation that begins there.
    title: String,
    room: ChannelPlace,
    chat: Chat,
    data: Value,
    kind: u64,
}

impl Discord {
    /// Takes an interaction, in a task of its own.
    pub(super) fn receive_interaction(self: &Arc<Self>, bot: &Arc<DiscordBot>, data: Value) {
        let (discord, bot) = (self.clone(), bot.clone());
        self.tasks().spawn(async move {
            let Some(interaction) = discord.interaction(&bot, &data) else { return };
            match bot.client.defer(interaction.id, &interaction.token).await {
                // Discord perhaps got it, and then the person waits for the answer.
                Ok(()) | Err(RestFailure::Maybe { .. }) => {}
                Err(fault) => {
                    let is_doubled = fault.is_answered_already();
                    tracing::warn!(%fault, is_doubled, "an interaction could not be answered");
                    return;
                }
            }
            let (text, buttons) = discord.act_on(&bot, &interaction).await;
            if let Err(fault) = answer(&bot, &interaction, &text, &buttons).await {
                tracing::warn!(%fault, "the answer to an interaction could not be sent");
            }
        });
    }

    /// Reads an interaction; `None` if it lacks a part, or is of a kind that is not used.
    fn interaction(&self, bot: &DiscordBot, data: &Value) -> Option<Interaction> {
        let kind = data["type"].as_u64().filter(|kind| [COMMAND, COMPONENT].contains(kind))?;
        let channel = id_in(data, "channel_id")?;
        let is_direct = data["guild_id"].is_null();
        let user = if is_direct { &data["user"] } else { &data["member"]["user"] };
        let agent = self.agent_of(bot).filter(|_| is_direct);
        let room = match agent {
            Some(agent) => ChannelPlace::direct(channel, &agent),
            None => ChannelPlace::new(channel),
        };
        Some(Interaction {
            id: id_in(data, "id")?,
            token: data["token"].as_str()?.to_owned(),
            account: account_of(id_in(user, "id")?),
            title: data["channel"]["name"].as_str().unwrap_or("Discord").to_owned(),
            chat: room.to_chat()?,
            room,
            data: data["data"].clone(),
            kind,
        })
    }

    /// Carries out an interaction, and returns the answer for its person.
    async fn act_on(&self, bot: &DiscordBot, it: &Interaction) -> (String, Vec<CardButton>) {
        let done = match it.kind {
            COMPONENT => self.take_press(bot, it).await,
            _ => self.take_command(it).await.map(|text| (text, Vec::new())),
        };
        done.unwrap_or_else(|TryAgain { why, .. }| {
            tracing::warn!(why, "an interaction could not be stored");
            (AGAIN.to_owned(), Vec::new())
        })
    }

    /// Shows the question of a pressed button, or gives the answer that the button means.
    async fn take_press(
        &self,
        bot: &DiscordBot,
        it: &Interaction,
    ) -> Result<(String, Vec<CardButton>), TryAgain> {
        let words = |text: &str| (text.to_owned(), Vec::new());
        let Some(person) = self.inbox.person(&it.account).await.map_err(passing)? else {
            return Ok(words(NOT_PAIRED));
        };
        let id = it.data["custom_id"].as_str().unwrap_or_default();
        Ok(match CardPress::read(bot, id) {
            Some(CardPress::Show(shown)) => self.question(bot, &it.account, &shown, &it.chat).await,
            Some(CardPress::Answer(answer)) => {
                let text = self.inbox.answer_card(&person, &it.account, &answer, &it.chat).await?;
                words(&text)
            }
            None => words(NO_MEANING),
        })
    }

    /// Runs a slash command for a paired person, or pairs the account if the command has a code.
    async fn take_command(&self, it: &Interaction) -> Result<String, TryAgain> {
        let name = it.data["name"].as_str().unwrap_or_default();
        let option = it.data["options"][0]["value"].as_str().unwrap_or_default();
        let line = format!("/{name} {}", option.trim()).trim_end().to_owned();
        if let Some(code) = pairing_code(&line) {
            let use_of_it = "In the channels that are connected, agents hear what you write.";
            return self.inbox.pair(code, &it.account, use_of_it).await;
        }
        let Some(person) = self.inbox.person(&it.account).await.map_err(passing)? else {
            return Ok(PAIR_FIRST.into());
        };
        let Some(stream) = self.inbox.bound(&it.chat).await.map_err(passing)? else {
            return self.command_unbound(&person, it, &line).await;
        };
        let key = format!("{}:{}", it.chat.key(), it.id);
        let words = InboundWords {
            chat: it.chat.clone(),
            account: it.account.clone(),
            message: it.id.to_string(),
            key,
            text: line,
            to: None,
            reply_to: None,
        };
        let entry = self.inbox.take_words(&person, &stream, words, false).await?;
        Ok(match entry {
            Entry::Answered(text) if !text.is_empty() => text,
            _ => "Done.".into(),
        })
    }

    /// Runs a command in a place without a conversation. `/group create` opens a channel; the
    /// answer to any other command is that the channel is not connected.
    async fn command_unbound(
        &self,
        person: &Caller,
        it: &Interaction,
        line: &str,
    ) -> Result<String, TryAgain> {
        match slash::parse(line) {
            Ok(Slash::GroupCreate(agents)) if it.room.with.is_none() => {
                let key = format!("{}:{}", it.chat, it.id);
                let (chat, title) = (it.chat.clone(), it.title.clone());
                let opening = OpeningChat { chat, title, key };
                let refused = self.open_channel(person, &opening, &agents).await?;
                Ok(refused.unwrap_or_else(|| "The channel is open.".into()))
            }
            _ => Ok(super::groups::NOT_CONNECTED.into()),
        }
    }
}

/// Gives the answer to an interaction, in as many messages as it needs.
async fn answer(
    bot: &DiscordBot,
    it: &Interaction,
    text: &str,
    buttons: &[CardButton],
) -> Result<(), RestFailure> {
    let Some(application) = bot.id() else { return Ok(()) };
    let parts = text::parts(text, None);
    let Some((first, more)) = parts.split_first() else { return Ok(()) };
    bot.client.answer(application, &it.token, first, buttons).await?;
    for part in more {
        bot.client.answer_more(application, &it.token, part).await?;
    }
    Ok(())
}
