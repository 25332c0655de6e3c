//! Objects as the wire has them: users, members, channels, messages and servers.

use serde_json::{Value, json};

use super::permission::Permission;
use super::world::{Author, ChannelKind, DiscordWorld, KeptMessage};

/// Every object has this time: clients read it, and nothing depends on it.
const TIME: &str = "2026-01-02T03:04:05.678000+00:00";

/// The flag of an application that may read the content of messages.
const CONTENT_FLAG: u64 = 1 << 19;

/// Returns an id as the wire has it.
pub(super) fn snowflake(id: u64) -> Value {
    id.to_string().into()
}

/// Returns the id in a field. Foreign clients send numbers too.
pub(super) fn id_of(field: &Value) -> Option<u64> {
    field.as_u64().or_else(|| field.as_str()?.parse().ok())
}

impl DiscordWorld {
    /// Returns a person or a bot.
    pub(super) fn user(&self, id: u64) -> Value {
        let (name, is_bot) = match (self.people.get(&id), self.bots.get(&id)) {
            (Some(name), _) => (name.as_str(), false),
            (None, Some(state)) => (state.bot.name.as_str(), true),
            (None, None) => ("Deleted User", false),
        };
        json!({
            "id": id.to_string(), "username": name.to_lowercase(), "global_name": name,
            "discriminator": if is_bot { "0001" } else { "0" }, "avatar": null, "bot": is_bot,
            "public_flags": 0, "flags": 0,
        })
    }

    /// Returns the user of a bot itself, which has more fields.
    pub(super) fn own_user(&self, bot: u64) -> Value {
        let mut user = self.user(bot);
        user["verified"] = true.into();
        user["mfa_enabled"] = false.into();
        user["username"] = user["global_name"].take();
        user
    }

    pub(super) fn application(&self, bot: u64) -> Value {
        let state = self.bots.get(&bot);
        let flags = if state.is_some_and(|state| state.reads_content) { CONTENT_FLAG } else { 0 };
        let name = state.map(|state| state.bot.name.clone()).unwrap_or_default();
        json!({
            "id": bot.to_string(), "name": name, "icon": null, "description": "", "summary": "",
            "bot_public": true, "bot_require_code_grant": false, "verify_key": "", "flags": flags,
            "team": null, "owner": self.user(bot),
        })
    }

    /// Returns a member, without its user.
    fn member(&self, guild: u64, user: u64) -> Value {
        let is_bot = self.bots.contains_key(&user);
        let roles = if is_bot { json!([role_of(guild, user)]) } else { json!([]) };
        json!({
            "roles": roles, "joined_at": TIME, "deaf": false, "mute": false, "flags": 0,
            "nick": null, "avatar": null, "premium_since": null, "pending": false,
            "communication_disabled_until": null,
        })
    }

    pub(super) fn channel_object(&self, channel: u64) -> Value {
        let state = self.channel(channel);
        let id = channel.to_string();
        match state.kind {
            ChannelKind::Direct { person, .. } => json!({
                "id": id, "type": 1, "last_message_id": null, "recipients": [self.user(person)],
            }),
            ChannelKind::Thread { parent } => json!({
                "id": id, "type": 11, "guild_id": state.guild.map(snowflake),
                "parent_id": parent.to_string(), "name": state.name, "owner_id": parent.to_string(),
                "message_count": 0, "member_count": 1, "last_message_id": null,
                "rate_limit_per_user": 0, "flags": 0,
                "thread_metadata": {
                    "archived": state.is_archived, "auto_archive_duration": 1440,
                    "archive_timestamp": TIME, "locked": false,
                },
            }),
            ChannelKind::Text => json!({
                "id": id, "type": 0, "guild_id": state.guild.map(snowflake), "name": state.name,
                "position": 0, "parent_id": null, "topic": null, "nsfw": false,
                "rate_limit_per_user": 0, "last_message_id": null, "flags": 0,
                "permission_overwrites": self.overwrites(channel),
            }),
        }
    }

    fn overwrites(&self, channel: u64) -> Value {
        let denied = self.channel(channel).denied.iter();
        denied
            .map(|(user, bits)| {
                json!({
                    "id": user.to_string(), "type": 1, "allow": "0", "deny": bits.to_string(),
                })
            })
            .collect()
    }

    /// Returns a server as `GUILD_CREATE` tells a bot of it.
    pub(super) fn guild_object(&self, guild: u64, bot: u64) -> Value {
        let state = &self.guilds[&guild];
        let of_guild = |kind: fn(ChannelKind) -> bool| {
            let here = self.channels.iter();
            here.filter(|(_, it)| it.guild == Some(guild) && kind(it.kind))
                .map(|(id, _)| self.channel_object(*id))
                .collect::<Vec<_>>()
        };
        let mut member = self.member(guild, bot);
        member["user"] = self.user(bot);
        let mut object = json!({
            "id": guild.to_string(), "name": state.name, "owner_id": guild.to_string(),
            "roles": self.roles(guild), "members": [member],
            "channels": of_guild(|kind| kind == ChannelKind::Text),
            "threads": of_guild(|kind| matches!(kind, ChannelKind::Thread { .. })),
            "member_count": state.members.len(), "joined_at": TIME,
        });
        if let (Some(object), Value::Object(settings)) = (object.as_object_mut(), settings()) {
            object.extend(settings);
        }
        object
    }

    /// Returns the roles of a server: one for all, which allows nothing, and one for each bot.
    fn roles(&self, guild: u64) -> Value {
        let role = |id: Value, name: &str, bits: u64, position: usize| {
            json!({
                "id": id, "name": name, "tags": {}, "permissions": bits.to_string(), "position": position,
                "color": 0, "colors": {
                    "primary_color": 0, "secondary_color": null, "tertiary_color": null,
                },
                "hoist": false, "managed": position > 0, "mentionable": false, "flags": 0,
                "icon": null, "unicode_emoji": null,
            })
        };
        let members = self.guilds[&guild].members.iter();
        let bots = members.filter(|(user, _)| self.bots.contains_key(user)).enumerate();
        let own = bots.map(|(number, (bot, bits))| {
            let mut own = role(role_of(guild, *bot), &self.bots[bot].bot.name, *bits, number + 1);
            own["tags"]["bot_id"] = snowflake(*bot);
            own
        });
        std::iter::once(role(snowflake(guild), "@everyone", 0, 0)).chain(own).collect()
    }

    /// Returns a message as REST answers with it.
    pub(super) fn message_object(&self, channel: u64, message: u64) -> Value {
        let state = self.channel(channel);
        let stored = &state.messages[&message];
        let mut object = json!({
            "id": message.to_string(), "channel_id": channel.to_string(), "type": 0,
            "author": self.author(&stored.author), "content": stored.content, "timestamp": TIME,
            "edited_timestamp": stored.is_edited.then_some(TIME), "tts": false,
            "mention_everyone": false, "mentions": self.mentions(stored), "mention_roles": [],
            "attachments": [], "embeds": [], "pinned": false, "flags": stored.flags,
            "components": stored.components,
        });
        if let Author::Webhook { id, .. } = &stored.author {
            object["webhook_id"] = snowflake(*id);
        }
        if let Some(application) = stored.application {
            object["application_id"] = snowflake(application);
        }
        if !stored.nonce.is_null() {
            object["nonce"] = stored.nonce.clone();
        }
        if let Some(replied) = stored.reply_to {
            object["type"] = 19.into();
            object["message_reference"] = json!({
                "type": 0, "message_id": replied.to_string(), "channel_id": channel.to_string(),
                "guild_id": state.guild.map(snowflake),
            });
            let is_there = state.messages.get(&replied).is_some_and(|it| !it.is_deleted);
            object["referenced_message"] =
                if is_there { self.message_object(channel, replied) } else { Value::Null };
        }
        object
    }

    /// Returns a message as the gateway tells a bot of it, and true if the bot sees the content
    /// without asking for contents.
    pub(super) fn message_event(&self, channel: u64, message: u64, bot: u64) -> (Value, bool) {
        let mut object = self.message_object(channel, message);
        let state = self.channel(channel);
        let stored = &state.messages[&message];
        if let Some(guild) = state.guild {
            object["guild_id"] = snowflake(guild);
            if let Author::Person(user) | Author::Bot(user) = stored.author {
                object["member"] = self.member(guild, user);
            }
        }
        let is_mentioned = self.mentioned(stored).any(|user| user == bot);
        let is_open = state.guild.is_none() || is_mentioned || stored.author == Author::Bot(bot);
        (object, is_open)
    }

    fn author(&self, author: &Author) -> Value {
        match author {
            Author::Person(user) | Author::Bot(user) => self.user(*user),
            Author::Webhook { id, name, avatar } => json!({
                "id": id.to_string(), "username": name, "discriminator": "0000", "avatar": avatar,
                "bot": true, "global_name": null,
            }),
        }
    }

    /// Returns the users that a message mentions and pings.
    fn mentioned<'a>(&self, stored: &'a KeptMessage) -> impl Iterator<Item = u64> + 'a {
        let given = &stored.allowed_mentions;
        let pings = given.is_null()
            || given["parse"].as_array().is_some_and(|kinds| kinds.iter().any(|it| it == "users"));
        let parts = stored.content.split("<@").skip(1).filter(move |_| pings);
        parts.filter_map(|part| {
            let (id, _) = part.split_once('>')?;
            id.trim_start_matches('!').parse().ok()
        })
    }

    fn mentions(&self, stored: &KeptMessage) -> Value {
        self.mentioned(stored).map(|user| self.user(user)).collect()
    }

    /// Returns a person in a server or a direct chat, as an interaction has it.
    pub(super) fn actor(&self, channel: u64, person: u64) -> (&'static str, Value) {
        let Some(guild) = self.channel(channel).guild else { return ("user", self.user(person)) };
        let mut member = self.member(guild, person);
        member["user"] = self.user(person);
        member["permissions"] = Permission::bits(&Permission::ALL).to_string().into();
        ("member", member)
    }
}

/// Returns the settings of a server, which are the same for all.
fn settings() -> Value {
    json!({
        "large": false, "unavailable": false, "icon": null, "splash": null, "banner": null,
        "discovery_splash": null, "afk_channel_id": null, "afk_timeout": 300, "hub_type": null,
        "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
        "mfa_level": 0, "nsfw_level": 0, "premium_tier": 0, "premium_progress_bar_enabled": false,
        "preferred_locale": "en-US", "features": [], "emojis": [], "stickers": [],
        "system_channel_id": null, "system_channel_flags": 0, "rules_channel_id": null,
        "public_updates_channel_id": null, "vanity_url_code": null, "description": null,
        "presences": [], "voice_states": [], "stage_instances": [], "guild_scheduled_events": [],
        "soundboard_sounds": [], "safety_alerts_channel_id": null, "application_id": null,
    })
}

/// Returns the id of the role that a bot has in a server.
fn role_of(guild: u64, bot: u64) -> Value {
    snowflake(guild ^ (bot << 1))
}
