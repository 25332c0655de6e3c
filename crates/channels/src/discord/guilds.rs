//! The servers of a bot, as the gateway tells of them: channels, and the bot's permissions.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::client::id_in;

/// A permission that allows everything.
const ADMINISTRATOR: u64 = 1 << 3;
/// Permissions that the channel needs, with the words by which people know them.
const NEEDED: [(u64, &str); 4] = [
    (1 << 10, "View Channel"),
    (1 << 11, "Send Messages"),
    (1 << 16, "Read Message History"),
    (1 << 29, HOOKS),
];
const HOOKS: &str = "Manage Webhooks";
const SEND_IN_THREADS: (u64, &str) = (1 << 38, "Send Messages in Threads");

/// A channel or a thread of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GuildChannel {
    /// Its name, with that of its server.
    pub(super) title: String,
    /// The channel of a thread.
    pub(super) parent: Option<u64>,
    /// The words for permissions that the bot needs and does not have.
    pub(super) missing: Vec<&'static str>,
}

impl GuildChannel {
    /// True if the bot may make webhooks.
    pub(super) fn may_hook(&self) -> bool {
        !self.missing.contains(&HOOKS)
    }
}

/// A server of a bot, as the gateway told of it.
#[derive(Clone, Debug, Default)]
struct Guild {
    name: String,
    /// The id of the bot.
    bot: u64,
    /// The roles with their permissions.
    roles: BTreeMap<u64, u64>,
    /// The roles of the bot itself.
    own: Vec<u64>,
    /// The roles that belong to bots, with their bots.
    of_bots: BTreeMap<u64, u64>,
    channels: BTreeMap<u64, Value>,
}

/// The servers of a bot.
#[derive(Default)]
pub(super) struct Guilds(Mutex<BTreeMap<u64, Guild>>);

impl Guilds {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Guild>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all servers: a new session tells of them again.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// True if the gateway told of a server.
    pub(super) fn is_told(&self) -> bool {
        !self.lock().is_empty()
    }

    /// True if the gateway told of the bot's servers, and a channel is in none of them.
    pub(super) fn is_without(&self, channel: u64) -> bool {
        self.is_told() && self.channel(channel).is_none()
    }

    /// Takes an event about servers and channels. Returns the channels that the bot lost by it.
    pub(super) fn note(&self, event: &str, data: &Value, bot: u64) -> Vec<u64> {
        let id = id_in(data, "id").unwrap_or_default();
        let guild = id_in(data, "guild_id").unwrap_or_default();
        let of_bot = || Guild { bot, ..Guild::default() };
        let mut all = self.lock();
        match event {
            "GUILD_CREATE" => {
                all.insert(id, Guild::read(data, bot));
                Vec::new()
            }
            // A server that is only out of order comes back.
            "GUILD_DELETE" if data["unavailable"] != true => all
                .remove(&id)
                .map(|guild| guild.channels.into_keys().collect())
                .unwrap_or_default(),
            "GUILD_UPDATE" => {
                all.entry(id).or_insert_with(of_bot).update(data);
                Vec::new()
            }
            "GUILD_MEMBER_UPDATE" if id_in(&data["user"], "id") == Some(bot) => {
                all.entry(guild).or_insert_with(of_bot).own = ids(&data["roles"]);
                Vec::new()
            }
            "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
                all.entry(guild).or_insert_with(of_bot).add_role(&data["role"]);
                Vec::new()
            }
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                all.entry(guild).or_insert_with(of_bot).channels.insert(id, kept(data));
                Vec::new()
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => {
                all.entry(guild).or_insert_with(of_bot).channels.remove(&id);
                vec![id]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the roles that belong to bots, with their bots. People mention such a role as easily
    /// as the bot, because both have one name.
    pub(super) fn bot_roles(&self) -> BTreeMap<u64, u64> {
        let all = self.lock();
        all.values().flat_map(|guild| &guild.of_bots).map(|(role, bot)| (*role, *bot)).collect()
    }

    /// Returns a channel or a thread, if the gateway told of it.
    pub(super) fn channel(&self, channel: u64) -> Option<GuildChannel> {
        let all = self.lock();
        let (id, guild) = all.iter().find(|(_, guild)| guild.channels.contains_key(&channel))?;
        let data = &guild.channels[&channel];
        let parent = id_in(data, "parent_id").filter(|_| is_thread(data));
        // A thread has the permissions of its channel.
        let ruled = parent.and_then(|parent| guild.channels.get(&parent)).unwrap_or(data);
        let bits = guild.bits(*id, ruled);
        let needed = NEEDED.iter().chain(parent.is_some().then_some(&SEND_IN_THREADS));
        let missing = needed.filter(|(bit, _)| bits & bit == 0).map(|(_, word)| *word);
        let name = data["name"].as_str().unwrap_or_default();
        let title = format!("#{name} ({})", guild.name);
        Some(GuildChannel { title, parent, missing: missing.collect() })
    }
}

/// True for the kinds of threads.
fn is_thread(channel: &Value) -> bool {
    matches!(channel["type"].as_u64(), Some(10..=12))
}

/// Returns the channel of a thread in an answer about it.
pub(super) fn parent_in(channel: &Value) -> Option<u64> {
    id_in(channel, "parent_id").filter(|_| is_thread(channel))
}

/// Returns the fields of a channel that are used.
fn kept(data: &Value) -> Value {
    let names = ["id", "type", "name", "parent_id", "permission_overwrites"];
    names.iter().map(|name| ((*name).to_owned(), data[*name].clone())).collect()
}

fn ids(list: &Value) -> Vec<u64> {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.filter_map(|id| id.parse().ok()).collect()
}

fn bits_in(object: &Value, name: &str) -> u64 {
    object[name].as_str().and_then(|bits| bits.parse().ok()).unwrap_or_default()
}

impl Guild {
    fn read(data: &Value, bot: u64) -> Self {
        let mut guild = Self { bot, ..Self::default() };
        guild.update(data);
        let list = |name: &str| data[name].as_array().cloned().unwrap_or_default();
        let own = list("members").into_iter().find(|it| id_in(&it["user"], "id") == Some(bot));
        guild.own = own.map(|member| ids(&member["roles"])).unwrap_or_default();
        for channel in list("channels").iter().chain(&list("threads")) {
            if let Some(id) = id_in(channel, "id") {
                guild.channels.insert(id, kept(channel));
            }
        }
        guild
    }

    fn update(&mut self, data: &Value) {
        self.name = data["name"].as_str().unwrap_or_default().to_owned();
        data["roles"].as_array().into_iter().flatten().for_each(|role| self.add_role(role));
    }

    fn add_role(&mut self, role: &Value) {
        if let Some(id) = id_in(role, "id") {
            self.roles.insert(id, bits_in(role, "permissions"));
            if let Some(bot) = id_in(&role["tags"], "bot_id") {
                self.of_bots.insert(id, bot);
            }
        }
    }

    /// Returns the permissions of the bot in a channel. The role of all members has the id of the
    /// server. An overwrite of the bot itself counts more than those of its roles, and these more
    /// than that of all.
    fn bits(&self, guild: u64, channel: &Value) -> u64 {
        let roles = self.own.iter().chain([&guild]).filter_map(|role| self.roles.get(role));
        let mut bits = roles.fold(0, |bits, more| bits | more);
        if bits & ADMINISTRATOR != 0 {
            return u64::MAX;
        }
        let overwrites = channel["permission_overwrites"].as_array();
        let over = |is_meant: &dyn Fn(u64, bool) -> bool| {
            let all = overwrites.into_iter().flatten();
            let meant =
                all.filter(|it| id_in(it, "id").is_some_and(|id| is_meant(id, it["type"] == 1)));
            meant.fold((0, 0), |(allowed, denied), it| {
                (allowed | bits_in(it, "allow"), denied | bits_in(it, "deny"))
            })
        };
        let steps: [&dyn Fn(u64, bool) -> bool; 3] = [
            &|id, is_member| id == guild && !is_member,
            &|id, is_member| self.own.contains(&id) && !is_member,
            // Discord sends the overwrites of all members.
            &|id, is_member| id == self.bot && is_member,
        ];
        for step in steps {
            let (allowed, denied) = over(step);
            bits = bits & !denied | allowed;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn guild(overwrites: Value) -> Value {
        let all: u64 = NEEDED.iter().map(|(bit, _)| bit).sum();
        json!({
            "id": "1", "name": "Judges", "members": [{"user": {"id": "9"}, "roles": ["2"]}],
            "roles": [{"id": "1", "permissions": "0"}, {"id": "2", "permissions": all.to_string()}],
            "channels": [
                {"id": "5", "type": 0, "name": "review", "permission_overwrites": overwrites},
            ],
            "threads": [{"id": "6", "type": 11, "name": "details", "parent_id": "5"}],
        })
    }

    #[test]
    fn missing_permissions_are_named() {
        let guilds = Guilds::default();
        guilds.note("GUILD_CREATE", &guild(json!([])), 9);
        let channel = guilds.channel(5).unwrap();
        assert_eq!((channel.title.as_str(), channel.missing.len()), ("#review (Judges)", 0));
        let thread = guilds.channel(6).unwrap();
        assert_eq!((thread.parent, thread.missing), (Some(5), vec!["Send Messages in Threads"]));
        let hooks = (1 << 29).to_string();
        let denied = json!([
            {"id": "1", "type": 0, "allow": "0", "deny": hooks},
            {"id": "2", "type": 0, "allow": hooks, "deny": "0"},
            {"id": "9", "type": 1, "allow": "0", "deny": (1 << 11).to_string()},
        ]);
        guilds.note("GUILD_CREATE", &guild(denied), 9);
        assert_eq!(guilds.channel(5).unwrap().missing, ["Send Messages"]);
        guilds.note(
            "GUILD_ROLE_UPDATE",
            &json!({
                "guild_id": "1", "role": {"id": "2", "permissions": ADMINISTRATOR.to_string()},
            }),
            9,
        );
        assert!(guilds.channel(6).unwrap().missing.is_empty());
    }

    #[test]
    fn an_overwrite_of_another_member_changes_nothing_for_the_bot() {
        let guilds = Guilds::default();
        let missing = |overwrites: Value| {
            guilds.note("GUILD_CREATE", &guild(overwrites), 9);
            guilds.channel(5).unwrap().missing
        };
        let hooks = (1 << 29).to_string();
        let of_member = |id: &str, allow: &str, deny: &str| -> Value {
            json!({"id": id, "type": 1, "allow": allow, "deny": deny})
        };
        assert!(missing(json!([of_member("8", "0", &hooks)])).is_empty());
        let for_another = json!([of_member("9", "0", &hooks), of_member("8", &hooks, "0")]);
        assert_eq!(missing(for_another), [HOOKS]);
    }

    #[test]
    fn a_bot_that_is_removed_loses_the_channels() {
        let guilds = Guilds::default();
        guilds.note("GUILD_CREATE", &guild(json!([])), 9);
        let away = json!({"id": "1", "unavailable": true});
        assert!(guilds.note("GUILD_DELETE", &away, 9).is_empty());
        assert_eq!(guilds.note("GUILD_DELETE", &json!({"id": "1"}), 9), [5, 6]);
        assert_eq!(guilds.channel(5), None);
    }
}
