//! The routes of messages: write, read, edit, delete.

use serde_json::{Value, json};

use super::checks::{self, Body};
use super::objects::id_of;
use super::permission::Permission;
use super::refusal::RestRefusal;
use super::routes::RouteCall;
use super::world::{Author, ChannelKind, DiscordWorld, KeptMessage};

/// Number of messages that are read at once.
const PAGE_MAX: u64 = 100;
/// The flag of a message that only one person sees.
pub(super) const EPHEMERAL: u64 = 64;

impl DiscordWorld {
    pub(super) fn create_message(
        &mut self,
        bot: u64,
        call: &RouteCall,
    ) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check_writing(channel, bot)?;
        let mut message = new_message(Author::Bot(bot), &call.body)?;
        message.nonce = checks::nonce(&call.body)?;
        message.reply_to = self.reply_of(channel, &call.body)?;
        let is_enforced = call.body.get("enforce_nonce") == Some(&Value::Bool(true));
        if let Some(known) = self.with_nonce(channel, bot, &message.nonce).filter(|_| is_enforced) {
            return Ok(self.message_object(channel, known));
        }
        let id = self.post(channel, message);
        Ok(self.message_object(channel, id))
    }

    /// Checks that a bot may write in a channel.
    fn check_writing(&self, channel: u64, bot: u64) -> Result<(), RestRefusal> {
        self.check(channel, bot, self.to_write(channel))?;
        let state = self.channel(channel);
        let blocks = |person| self.bots.get(&bot).is_some_and(|it| it.blocked_by.contains(&person));
        match state.kind {
            ChannelKind::Direct { person, .. } if blocks(person) => {
                Err(RestRefusal::forbidden(50_007, "Cannot send messages to this user"))
            }
            ChannelKind::Thread { .. } if state.is_archived => {
                Err(RestRefusal::new(400, 50_083, "Thread is archived"))
            }
            _ => Ok(()),
        }
    }

    fn reply_of(&self, channel: u64, body: &Body) -> Result<Option<u64>, RestRefusal> {
        let Some(reference) = body.get("message_reference") else { return Ok(None) };
        let id = id_of(&reference["message_id"]);
        let messages = &self.channel(channel).messages;
        let is_there = |id: &u64| messages.get(id).is_some_and(|it| !it.is_deleted);
        match id.filter(is_there) {
            Some(id) => Ok(Some(id)),
            None if reference["fail_if_not_exists"] == false => Ok(None),
            None => {
                let message = "Unknown message";
                Err(RestRefusal::field("message_reference", "REPLIES_UNKNOWN_MESSAGE", message))
            }
        }
    }

    /// Returns the message of a bot with a nonce.
    fn with_nonce(&self, channel: u64, bot: u64, nonce: &Value) -> Option<u64> {
        let mut messages = self.channel(channel).messages.iter().rev();
        let is_same = |it: &KeptMessage| it.author == Author::Bot(bot) && it.nonce == *nonce;
        messages.find(|(_, it)| !nonce.is_null() && is_same(it)).map(|(id, _)| *id)
    }

    pub(super) fn read_messages(
        &mut self,
        bot: u64,
        call: &RouteCall,
    ) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check(channel, bot, Permission::ReadHistory)?;
        let number = |name: &str| call.query.get(name)?.as_str()?.parse::<u64>().ok();
        let limit = number("limit").unwrap_or(50);
        if !(1..=PAGE_MAX).contains(&limit) {
            let message = "int value should be between 1 and 100.";
            return Err(RestRefusal::field("limit", "NUMBER_TYPE_MAX", message));
        }
        let (after, before) = (number("after"), number("before"));
        let state = self.channel(channel);
        let seen = state.messages.iter().filter(|(id, message)| {
            let is_in =
                after.is_none_or(|after| **id > after) && before.is_none_or(|before| **id < before);
            is_in && !message.is_deleted && message.only_to.is_none()
        });
        let ids: Vec<u64> = seen.map(|(id, _)| *id).collect();
        let count = usize::try_from(limit).unwrap_or_default();
        // With `after` the service gives the oldest ones behind it; the newest come first always.
        let skipped = if after.is_some() { 0 } else { ids.len().saturating_sub(count) };
        let page = ids.iter().skip(skipped).take(count).rev();
        Ok(page.map(|id| self.message_for(bot, channel, *id)).collect())
    }

    /// Returns a message as a bot reads it: without the intent of contents they are hidden here
    /// too.
    fn message_for(&self, bot: u64, channel: u64, message: u64) -> Value {
        let (mut object, is_open) = self.message_event(channel, message, bot);
        let reads = self.bots.get(&bot).is_some_and(|state| state.reads_content);
        if !reads && !is_open {
            object["content"] = "".into();
        }
        object.as_object_mut().map(|fields| {
            fields.remove("guild_id");
            fields.remove("member")
        });
        object
    }

    pub(super) fn read_message(
        &mut self,
        bot: u64,
        call: &RouteCall,
    ) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check(channel, bot, Permission::ReadHistory)?;
        let id = self.message_of(channel, call.id(1))?;
        Ok(self.message_for(bot, channel, id))
    }

    /// Returns the id of a message that is still there.
    pub(super) fn message_of(&self, channel: u64, message: u64) -> Result<u64, RestRefusal> {
        let found = self.channels.get(&channel).and_then(|state| state.messages.get(&message));
        match found {
            Some(stored) if !stored.is_deleted => Ok(message),
            _ => Err(RestRefusal::unknown(10_008, "Unknown Message")),
        }
    }

    pub(super) fn edit_message(
        &mut self,
        bot: u64,
        call: &RouteCall,
    ) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check(channel, bot, Permission::View)?;
        let id = self.message_of(channel, call.id(1))?;
        if self.channel(channel).messages[&id].author != Author::Bot(bot) {
            let message = "Cannot edit a message authored by another user";
            return Err(RestRefusal::forbidden(50_005, message));
        }
        self.change_message(channel, id, &call.body)
    }

    /// Changes a message, and tells the bots of it.
    pub(super) fn change_message(
        &mut self,
        channel: u64,
        id: u64,
        body: &Body,
    ) -> Result<Value, RestRefusal> {
        checks::mentions(body)?;
        let (content, components) = (checks::content(body, false)?, checks::components(body)?);
        let Some(stored) = self.channel_mut(channel).messages.get_mut(&id) else {
            return Err(RestRefusal::unknown(10_008, "Unknown Message"));
        };
        if let Some(content) = content {
            stored.content = content;
            stored.is_edited = true;
        }
        if let Some(components) = components {
            stored.components = components;
        }
        if stored.only_to.is_none() {
            self.announce(channel, id, "MESSAGE_UPDATE");
        }
        Ok(self.message_object(channel, id))
    }

    pub(super) fn delete_message(
        &mut self,
        bot: u64,
        call: &RouteCall,
    ) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check(channel, bot, Permission::View)?;
        let id = self.message_of(channel, call.id(1))?;
        let is_own = self.channel(channel).messages[&id].author == Author::Bot(bot);
        let is_direct = self.channel(channel).guild.is_none();
        if !is_own && is_direct {
            let message = "Cannot execute action on a DM channel";
            return Err(RestRefusal::forbidden(50_003, message));
        }
        if !is_own {
            self.check(channel, bot, Permission::ManageMessages)?;
        }
        self.remove_message(channel, id);
        Ok(Value::Null)
    }

    /// Removes a message, and tells the bots of it.
    pub(super) fn remove_message(&mut self, channel: u64, id: u64) {
        if let Some(stored) = self.channel_mut(channel).messages.get_mut(&id) {
            stored.is_deleted = true;
        }
        let state = self.channel(channel);
        let intent = match state.guild {
            Some(_) => super::world::GUILD_MESSAGES,
            None => super::world::DIRECT_MESSAGES,
        };
        let data = json!({
            "id": id.to_string(), "channel_id": channel.to_string(),
            "guild_id": state.guild.map(super::objects::snowflake),
        });
        for bot in self.viewers(channel) {
            self.dispatch(bot, intent, "MESSAGE_DELETE", |_| data.clone());
        }
    }

    pub(super) fn show_typing(&mut self, bot: u64, call: &RouteCall) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check_writing(channel, bot)?;
        self.typing.push((channel, bot));
        Ok(Value::Null)
    }
}

/// Returns a new message with the fields that all ways of writing have.
pub(super) fn new_message(author: Author, body: &Body) -> Result<KeptMessage, RestRefusal> {
    checks::mentions(body)?;
    let content = checks::content(body, true)?.unwrap_or_default();
    let mut message = KeptMessage::new(author, &content);
    message.components = checks::components(body)?.unwrap_or_else(|| json!([]));
    message.allowed_mentions = body.get("allowed_mentions").cloned().unwrap_or_default();
    message.flags = body.get("flags").and_then(Value::as_u64).unwrap_or_default();
    Ok(message)
}
