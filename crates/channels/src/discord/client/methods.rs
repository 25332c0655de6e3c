//! The calls that the channel makes, with their bodies.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{CallTarget, RestClient, RestFailure};

/// Number of messages that one call reads.
pub const PAGE: usize = 100;
/// The flag of a message that one person alone sees.
const EPHEMERAL: u64 = 64;
/// Kind of an answer to an interaction that follows later.
const DEFERRED: u64 = 5;
/// Buttons of a row, and rows of a message.
const ROW: usize = 5;

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardButton {
    /// Label.
    pub label: String,
    /// Id of a press, at most 100 characters.
    pub id: String,
}

/// A webhook with its token, which is a credential.
#[derive(Clone, PartialEq, Eq)]
pub struct HookKey {
    /// Id.
    pub id: u64,
    /// Token.
    pub token: String,
}

/// A slash command that Discord offers to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEntry {
    /// Name without the slash.
    pub name: String,
    /// The effect of the command, for people.
    pub does: String,
    /// The meaning of its option, if it has one.
    pub option: Option<String>,
}

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewMessage {
    /// Text in Discord's Markdown.
    pub content: String,
    /// The message that it replies to.
    pub reply_to: Option<u64>,
    /// The key by which Discord recognizes a repetition of the message for some minutes.
    pub nonce: Option<String>,
    /// Buttons.
    pub buttons: Vec<CardButton>,
}

impl NewMessage {
    /// Returns a text without anything else.
    pub fn text(content: &str) -> Self {
        Self { content: content.to_owned(), ..Self::default() }
    }

    /// Returns the body of the call. It pings no user, even if the text mentions one.
    fn body(&self) -> Value {
        let mut body = json!({"content": self.content, "allowed_mentions": no_pings()});
        if let Some(replied) = self.reply_to {
            // The message is sent even if the one that it replies to was deleted.
            body["message_reference"] =
                json!({"message_id": replied.to_string(), "fail_if_not_exists": false});
        }
        if let Some(nonce) = &self.nonce {
            body["nonce"] = nonce.as_str().into();
            body["enforce_nonce"] = true.into();
        }
        if !self.buttons.is_empty() {
            body["components"] = rows(&self.buttons);
        }
        body
    }
}

/// Returns the mentions that may ping: none, also not the author of a message that is replied to.
fn no_pings() -> Value {
    json!({"parse": [], "replied_user": false})
}

/// Returns buttons in rows.
fn rows(buttons: &[CardButton]) -> Value {
    let button =
        |it: &CardButton| json!({"type": 2, "style": 2, "label": it.label, "custom_id": it.id});
    let row = |row: &[CardButton]| json!({"type": 1, "components": row.iter().map(button).collect::<Vec<_>>()});
    buttons.chunks(ROW).take(ROW).map(row).collect()
}

/// Returns an id in an answer.
pub fn id_in(answer: &Value, name: &str) -> Option<u64> {
    answer[name].as_str()?.parse().ok()
}

impl RestClient {
    async fn get(&self, path: String) -> Result<Value, RestFailure> {
        self.call(CallTarget::of_bot(Method::GET, path), None).await
    }

    /// Returns the bot's own user.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn me(&self) -> Result<Value, RestFailure> {
        self.get("/users/@me".into()).await
    }

    /// Returns the bot's application.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn application(&self) -> Result<Value, RestFailure> {
        self.get("/applications/@me".into()).await
    }

    /// Returns a channel.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn channel(&self, channel: u64) -> Result<Value, RestFailure> {
        self.get(format!("/channels/{channel}")).await
    }

    /// Returns the oldest [`PAGE`] messages that came after one, oldest first.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn messages_after(
        &self,
        channel: u64,
        after: u64,
    ) -> Result<Vec<Value>, RestFailure> {
        let path = format!("/channels/{channel}/messages?limit={PAGE}&after={after}");
        let mut page = match self.get(path).await? {
            Value::Array(page) => page,
            _ => return Err(RestFailure::Maybe { why: "the answer has no messages".into() }),
        };
        // Discord gives the newest first.
        page.sort_by_key(|message| id_in(message, "id"));
        Ok(page)
    }

    /// Returns the time that the next message to a channel has to wait because of Discord's limits.
    pub fn wait_to_send(&self, channel: u64, hook: Option<&HookKey>) -> Duration {
        let target = match hook {
            Some(hook) => hook_target(hook, None),
            None => send_target(channel),
        };
        self.limits.wait(&target.bucket, Instant::now())
    }

    /// Sends a message, and returns its id.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn send(
        &self,
        channel: u64,
        message: &NewMessage,
    ) -> Result<Option<u64>, RestFailure> {
        let sent = self.call(send_target(channel), Some(&message.body())).await?;
        Ok(id_in(&sent, "id"))
    }

    /// Changes the text of a message of the bot, and takes its buttons away.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn edit(&self, channel: u64, message: u64, content: &str) -> Result<(), RestFailure> {
        let path = format!("/channels/{channel}/messages/{message}");
        let body = json!({
            "content": content, "components": [], "allowed_mentions": no_pings(),
        });
        self.call(CallTarget::of_bot(Method::PATCH, path), Some(&body)).await.map(drop)
    }

    /// Deletes a message. A message that does not exist any more counts as deleted.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn delete(&self, channel: u64, message: u64) -> Result<(), RestFailure> {
        let path = format!("/channels/{channel}/messages/{message}");
        gone_is_done(self.call(CallTarget::of_bot(Method::DELETE, path), None).await)
    }

    /// Shows for some seconds that the bot is typing.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn show_typing(&self, channel: u64) -> Result<(), RestFailure> {
        let path = format!("/channels/{channel}/typing");
        self.call(CallTarget::of_bot(Method::POST, path), None).await.map(drop)
    }

    /// Returns the webhook of a channel that the bot made; `None` if there is none.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn own_hook(&self, channel: u64) -> Result<Option<HookKey>, RestFailure> {
        let all = self.get(format!("/channels/{channel}/webhooks")).await?;
        Ok(all.as_array().into_iter().flatten().find_map(key_of))
    }

    /// Makes a webhook.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn make_hook(&self, channel: u64, name: &str) -> Result<HookKey, RestFailure> {
        let target = CallTarget::of_bot(Method::POST, format!("/channels/{channel}/webhooks"));
        let made = self.call(target, Some(&json!({"name": name}))).await?;
        key_of(&made).ok_or_else(|| RestFailure::Maybe { why: "the answer has no webhook".into() })
    }

    /// Sends a message under a name by a webhook, in the webhook's channel or in the given thread
    /// of that channel. Returns the id of the message.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn send_by_hook(
        &self,
        hook: &HookKey,
        thread: Option<u64>,
        (name, picture): (&str, Option<&str>),
        content: &str,
    ) -> Result<Option<u64>, RestFailure> {
        let mut body = json!({
            "content": content, "username": name, "allowed_mentions": no_pings(),
        });
        if let Some(picture) = picture {
            body["avatar_url"] = picture.into();
        }
        let sent = self.call(hook_target(hook, thread), Some(&body)).await?;
        Ok(id_in(&sent, "id"))
    }

    /// Deletes a message of a webhook. A message that does not exist any more counts as deleted.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn delete_by_hook(
        &self,
        hook: &HookKey,
        thread: Option<u64>,
        message: u64,
    ) -> Result<(), RestFailure> {
        let thread = thread.map_or_else(String::new, |thread| format!("?thread_id={thread}"));
        let path = format!("/webhooks/{}/{}/messages/{message}{thread}", hook.id, hook.token);
        gone_is_done(self.call(CallTarget::signed(Method::DELETE, path), None).await)
    }

    /// Replaces the slash commands that Discord offers for the bot.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn set_commands(
        &self,
        application: u64,
        commands: &[CommandEntry],
    ) -> Result<(), RestFailure> {
        let entry = |command: &CommandEntry| {
            let option = command.option.iter().map(|meaning| {
                json!({"type": 3, "name": "text", "description": meaning, "required": false})
            });
            json!({
                "name": command.name, "type": 1, "description": command.does,
                "options": option.collect::<Vec<_>>(),
            })
        };
        let body: Value = commands.iter().map(entry).collect();
        let path = format!("/applications/{application}/commands");
        self.call(CallTarget::of_bot(Method::PUT, path), Some(&body)).await.map(drop)
    }

    /// Announces that the answer to an interaction follows, for its person alone. Discord waits
    /// three seconds for this call.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn defer(&self, interaction: u64, token: &str) -> Result<(), RestFailure> {
        let path = format!("/interactions/{interaction}/{token}/callback");
        let body = json!({"type": DEFERRED, "data": {"flags": EPHEMERAL}});
        self.call(CallTarget::signed(Method::POST, path), Some(&body)).await.map(drop)
    }

    /// Gives the answer to an interaction that was deferred.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn answer(
        &self,
        application: u64,
        token: &str,
        content: &str,
        buttons: &[CardButton],
    ) -> Result<(), RestFailure> {
        let path = format!("/webhooks/{application}/{token}/messages/@original");
        let body = json!({
            "content": content, "components": rows(buttons), "allowed_mentions": no_pings(),
        });
        self.call(CallTarget::signed(Method::PATCH, path), Some(&body)).await.map(drop)
    }

    /// Adds to the answer to an interaction.
    ///
    /// # Errors
    /// [`RestFailure`], as for each call.
    pub async fn answer_more(
        &self,
        application: u64,
        token: &str,
        content: &str,
    ) -> Result<(), RestFailure> {
        let path = format!("/webhooks/{application}/{token}");
        let body = json!({
            "content": content, "flags": EPHEMERAL, "allowed_mentions": no_pings(),
        });
        self.call(CallTarget::signed(Method::POST, path), Some(&body)).await.map(drop)
    }
}

/// Returns the call that sends a message to a channel.
fn send_target(channel: u64) -> CallTarget {
    CallTarget::of_bot(Method::POST, format!("/channels/{channel}/messages"))
}

/// Returns the call that sends a message by a webhook.
fn hook_target(hook: &HookKey, thread: Option<u64>) -> CallTarget {
    let thread = thread.map_or_else(String::new, |thread| format!("&thread_id={thread}"));
    let path = format!("/webhooks/{}/{}?wait=true{thread}", hook.id, hook.token);
    CallTarget::signed(Method::POST, path)
}

fn gone_is_done(result: Result<Value, RestFailure>) -> Result<(), RestFailure> {
    match result {
        Err(fault) if !fault.is_message_gone() => Err(fault),
        _ => Ok(()),
    }
}

/// Returns the key of a webhook that the bot made: Discord shows the token only to the bot that
/// made the webhook.
fn key_of(webhook: &Value) -> Option<HookKey> {
    let token = webhook["token"].as_str()?.to_owned();
    Some(HookKey { id: id_in(webhook, "id")?, token })
}
