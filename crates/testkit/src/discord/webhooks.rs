//! The routes of webhooks: made by a bot in a channel, and used with a token in the path.

use serde_json::{Value, json};

use super::checks;
use super::messages::new_message;
use super::objects::snowflake;
use super::permission::Permission;
use super::refusal::RestRefusal;
use super::routes::RouteCall;
use super::world::{Author, ChannelKind, DiscordWorld, WebhookState};

/// Number of webhooks of a channel.
const WEBHOOKS_MAX: usize = 15;

impl DiscordWorld {
    pub(super) fn webhooks_of(&mut self, bot: u64, call: &RouteCall) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check(channel, bot, Permission::ManageWebhooks)?;
        let here = self.webhooks.iter().filter(|(_, hook)| hook.channel == channel);
        Ok(here.map(|(id, _)| self.webhook_object(*id, bot)).collect())
    }

    /// Returns a webhook. Its token is for the bot that made it.
    fn webhook_object(&self, id: u64, bot: u64) -> Value {
        let hook = &self.webhooks[&id];
        let mut object = json!({
            "id": id.to_string(), "type": 1, "channel_id": hook.channel.to_string(),
            "guild_id": self.channel(hook.channel).guild.map(snowflake), "name": hook.name,
            "avatar": null, "application_id": hook.owner.to_string(), "user": self.user(hook.owner),
        });
        if hook.owner == bot {
            object["token"] = hook.token.as_str().into();
        }
        object
    }

    pub(super) fn create_webhook(
        &mut self,
        bot: u64,
        call: &RouteCall,
    ) -> Result<Value, RestRefusal> {
        let channel = call.id(0);
        self.check(channel, bot, Permission::ManageWebhooks)?;
        if self.channel(channel).kind != ChannelKind::Text {
            let message = "Cannot execute action on this channel type";
            return Err(RestRefusal::new(400, 50_024, message));
        }
        let name = checks::name(&call.body, "name")?.unwrap_or_default();
        let count = self.webhooks.values().filter(|hook| hook.channel == channel).count();
        if count >= WEBHOOKS_MAX {
            let message = "Maximum number of webhooks reached (15)";
            return Err(RestRefusal::new(400, 30_007, message));
        }
        let id = self.next_id();
        let token = format!("webhook-{id}-token");
        self.webhooks.insert(id, WebhookState { channel, owner: bot, name, token });
        Ok(self.webhook_object(id, bot))
    }

    /// Checks the id and the token of a webhook, and returns the channel of a call.
    fn webhook_channel(&self, call: &RouteCall) -> Result<u64, RestRefusal> {
        let Some(hook) = self.webhooks.get(&call.id(0)) else {
            return Err(RestRefusal::unknown(10_015, "Unknown Webhook"));
        };
        if hook.token != call.ids[1] {
            return Err(RestRefusal::new(401, 50_027, "Invalid Webhook Token"));
        }
        let thread = call.query.get("thread_id").and_then(Value::as_str);
        let Some(thread) = thread.and_then(|id| id.parse::<u64>().ok()) else {
            return Ok(hook.channel);
        };
        let state = self.channels.get(&thread);
        match state.map(|state| (state.kind, state.is_archived)) {
            // A webhook opens an archived thread.
            Some((ChannelKind::Thread { parent }, _)) if parent == hook.channel => Ok(thread),
            _ => Err(RestRefusal::unknown(10_003, "Unknown Channel")),
        }
    }

    pub(super) fn execute_webhook(&mut self, call: &RouteCall) -> Result<Value, RestRefusal> {
        if self.interaction_with(&call.ids).is_some() {
            return self.follow_up(call);
        }
        let channel = self.webhook_channel(call)?;
        let hook = self.webhooks[&call.id(0)].clone();
        let name = checks::name(&call.body, "username")?.unwrap_or(hook.name);
        let avatar = Some(checks::text(&call.body, "avatar_url").to_owned());
        let avatar = avatar.filter(|url| !url.is_empty());
        let author = Author::Webhook { id: call.id(0), name, avatar };
        let message = new_message(author, &call.body)?;
        let id = self.post(channel, message);
        let waits = call.query.get("wait").is_some_and(|wait| wait == "true" || wait == "1");
        Ok(if waits { self.message_object(channel, id) } else { Value::Null })
    }

    /// Returns the channel and the id of a webhook's own message.
    fn own_message(&self, call: &RouteCall) -> Result<(u64, u64), RestRefusal> {
        let channel = self.webhook_channel(call)?;
        let id = self.message_of(channel, call.id(2))?;
        match self.channel(channel).messages[&id].author {
            Author::Webhook { id: owner, .. } if owner == call.id(0) => Ok((channel, id)),
            _ => Err(RestRefusal::unknown(10_008, "Unknown Message")),
        }
    }

    pub(super) fn edit_by_webhook(&mut self, call: &RouteCall) -> Result<Value, RestRefusal> {
        if self.interaction_with(&call.ids).is_some() {
            return self.edit_answer(call);
        }
        let (channel, id) = self.own_message(call)?;
        self.change_message(channel, id, &call.body)
    }

    pub(super) fn delete_by_webhook(&mut self, call: &RouteCall) -> Result<Value, RestRefusal> {
        let (channel, id) = self.own_message(call)?;
        self.remove_message(channel, id);
        Ok(Value::Null)
    }
}
