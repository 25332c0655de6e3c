//! The routes beside messages, and the table of all routes.

use serde_json::{Value, json};

use super::objects::{id_of, snowflake};
use super::permission::Permission;
use super::refusal::RestRefusal;
use super::routes::RouteCall;
use super::world::DiscordWorld;

const COMMANDS_MAX: usize = 100;
const NAME_MAX: usize = 32;
const DESCRIPTION_MAX: usize = 100;

impl DiscordWorld {
    /// Carries out a checked call. `bot` is 0 for a call with a token in its path.
    pub(super) fn run(&mut self, bot: u64, call: &RouteCall) -> Result<Value, RestRefusal> {
        match call.spec.name {
            "GET /gateway/bot" => Ok(self.gateway()),
            "GET /users/@me" => Ok(self.own_user(bot)),
            "GET /oauth2/applications/@me" | "GET /applications/@me" => Ok(self.application(bot)),
            "POST /users/@me/channels" => self.open_direct(bot, call),
            "PUT /applications/{}/commands" => self.set_commands(bot, call),
            "GET /channels/{}" => {
                self.check(call.id(0), bot, Permission::View)?;
                Ok(self.channel_object(call.id(0)))
            }
            "GET /channels/{}/messages" => self.read_messages(bot, call),
            "GET /channels/{}/messages/{}" => self.read_message(bot, call),
            "POST /channels/{}/messages" => self.create_message(bot, call),
            "PATCH /channels/{}/messages/{}" => self.edit_message(bot, call),
            "DELETE /channels/{}/messages/{}" => self.delete_message(bot, call),
            "POST /channels/{}/typing" => self.show_typing(bot, call),
            "GET /channels/{}/webhooks" => self.webhooks_of(bot, call),
            "POST /channels/{}/webhooks" => self.create_webhook(bot, call),
            "POST /webhooks/{}/{}" => self.execute_webhook(call),
            "PATCH /webhooks/{}/{}/messages/{}" => self.edit_by_webhook(call),
            "DELETE /webhooks/{}/{}/messages/{}" => self.delete_by_webhook(call),
            "POST /interactions/{}/{}/callback" => self.call_back(call),
            _ => Err(RestRefusal::no_route()),
        }
    }

    fn gateway(&self) -> Value {
        json!({
            "url": self.gateway_url, "shards": 1, "session_start_limit": {
                "total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1,
            },
        })
    }

    fn open_direct(&mut self, bot: u64, call: &RouteCall) -> Result<Value, RestRefusal> {
        let person = call.body.get("recipient_id").and_then(id_of).unwrap_or_default();
        if !self.people.contains_key(&person) {
            return Err(RestRefusal::new(400, 50_033, "Invalid Recipient(s)"));
        }
        let channel = self.direct(person, bot);
        Ok(self.channel_object(channel))
    }

    fn set_commands(&mut self, bot: u64, call: &RouteCall) -> Result<Value, RestRefusal> {
        if call.id(0) != bot {
            return Err(RestRefusal::forbidden(
                20_012,
                "You are not authorized for this application",
            ));
        }
        let list = call.body.get("list").cloned().unwrap_or_default();
        let all = list.as_array().map_or(&[][..], Vec::as_slice);
        if all.len() > COMMANDS_MAX {
            return Err(RestRefusal::new(
                400,
                30_032,
                "Maximum number of application commands reached",
            ));
        }
        for command in all {
            check_command(command)?;
        }
        if let Some(state) = self.bots.get_mut(&bot) {
            state.commands = list.clone();
        }
        Ok(all.iter().map(|command| self.command_object(bot, command)).collect())
    }
}

impl DiscordWorld {
    /// Returns a command as the service keeps it.
    fn command_object(&mut self, bot: u64, command: &Value) -> Value {
        let mut object = command.clone();
        object["id"] = snowflake(self.next_id());
        object["version"] = object["id"].clone();
        object["application_id"] = snowflake(bot);
        object["default_member_permissions"] = Value::Null;
        object["nsfw"] = false.into();
        if object["type"].is_null() {
            object["type"] = 1.into();
        }
        object
    }
}

/// Checks a command, or an option of one, and the options in it.
fn check_command(command: &Value) -> Result<(), RestRefusal> {
    let is_name = |letter: char| {
        letter == '-' || letter == '_' || letter.is_ascii_digit() || letter.is_lowercase()
    };
    let name = command["name"].as_str().unwrap_or_default();
    if !(1..=NAME_MAX).contains(&name.chars().count()) || !name.chars().all(is_name) {
        let message = "Command name is invalid";
        return Err(RestRefusal::field("0.name", "APPLICATION_COMMAND_INVALID_NAME", message));
    }
    let described = command["description"].as_str().unwrap_or_default().chars().count();
    if !(1..=DESCRIPTION_MAX).contains(&described) {
        return Err(RestRefusal::length("0.description", DESCRIPTION_MAX));
    }
    command["options"].as_array().into_iter().flatten().try_for_each(check_command)
}
