//! Drafts: previews of messages that bots are writing, in private chats alone.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::TelegramServer;
use super::refusal::Refusal;
use super::sending::{MessageContent, Params};
use super::world::{ChatId, ChatKind, TelegramWorld};

/// Time after which the service forgets a draft.
const KEPT: Duration = Duration::from_secs(30);

/// A draft that the service keeps.
#[derive(Clone, Debug)]
pub(super) struct StoredDraft {
    draft: ShownDraft,
    keep_on_stop: bool,
    at: Instant,
}

/// A draft as its person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDraft {
    /// Its number.
    pub id: i64,
    /// Text, or the Markdown of a rich draft; empty if the bot only thinks.
    pub text: String,
    /// True for a rich draft.
    pub is_rich: bool,
    /// True if the person can stop it.
    pub can_stop: bool,
}

impl TelegramWorld {
    /// Shows a draft in place of an earlier one.
    pub(super) fn show_draft(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        if self.chat(chat).kind != ChatKind::Private {
            return Err(Refusal::bad("TEXTDRAFT_PEER_INVALID"));
        }
        self.thread_of(chat, params)?;
        let id = params.get("draft_id").and_then(Value::as_i64).unwrap_or_default();
        if id == 0 {
            return Err(Refusal::bad("RANDOM_ID_INVALID"));
        }
        let flag = |name: &str| params.get(name) == Some(&Value::Bool(true));
        let is_rich = params.contains_key("rich_message");
        let is_empty = params.get("text").is_none_or(|text| text == "");
        let text =
            if is_rich || !is_empty { MessageContent::of(params)?.text } else { String::new() };
        let draft = ShownDraft { id, text, is_rich, can_stop: flag("can_stop") };
        let stored = StoredDraft { draft, keep_on_stop: flag("keep_on_stop"), at: Instant::now() };
        self.chat_mut(chat).draft = Some(stored);
        Ok(true.into())
    }
}

impl TelegramServer {
    /// Returns the draft that the person of a private chat sees now.
    pub fn shown_draft(&self, chat: ChatId) -> Option<ShownDraft> {
        let world = self.shared.world();
        let stored = world.chat(chat).draft.as_ref();
        stored.filter(|stored| stored.at.elapsed() < KEPT).map(|stored| stored.draft.clone())
    }

    /// Stops the draft of a private chat, as its person. It vanishes unless the bot keeps it.
    ///
    /// # Panics
    /// The person sees no draft with a button.
    pub fn stop_draft(&self, chat: ChatId) {
        let draft = self.shown_draft(chat).filter(|draft| draft.can_stop);
        let draft = draft.expect("a draft with a button");
        self.stop_draft_of(chat, draft.id);
    }

    /// Stops a draft that need not be shown any more, as on an old screen.
    pub fn stop_draft_of(&self, chat: ChatId, id: i64) {
        self.shared.change(|world| {
            let update = json!({"chat": world.chat_object(chat), "draft_id": id});
            let state = world.chat_mut(chat);
            if state.draft.as_ref().is_some_and(|stored| !stored.keep_on_stop) {
                state.draft = None;
            }
            if let Some(bot) = chat.bot {
                world.push(bot, "stopped_message_generation", update);
            }
        });
    }
}
