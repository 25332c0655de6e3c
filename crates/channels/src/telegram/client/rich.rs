//! Rich messages: Markdown that Telegram draws whole, with headings, lists and tables.

use serde_json::{Value, json};

use super::methods::put_place;
use super::{CallFault, Client, Method};

/// A rich message to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendRichMessage {
    /// Chat that gets the message.
    pub chat_id: i64,
    /// Topic of the chat; `None` for the General topic.
    pub thread: Option<i64>,
    /// Telegram's Markdown, at most 32,768 characters.
    pub markdown: String,
    /// Message to reply to. The message is sent without it if it is deleted meanwhile.
    pub reply_to: Option<i64>,
}

/// Returns Markdown as the content of a message. Telegram finds no names, tags and addresses in
/// it, so that words of agents notify only the chat.
fn content(markdown: &str) -> Value {
    json!({ "markdown": markdown, "skip_entity_detection": true })
}

impl Client {
    /// Sends a rich message. Returns its id; `None` if it was sent but the answer cannot be read.
    ///
    /// # Errors
    /// [`CallFault`], as of [`Client::call`].
    pub async fn send_rich_message(
        &self,
        message: &SendRichMessage,
    ) -> Result<Option<i64>, CallFault> {
        let mut body =
            json!({ "chat_id": message.chat_id, "rich_message": content(&message.markdown) });
        put_place(&mut body, message.thread, message.reply_to);
        let sent = self.call(Method::SendRichMessage, &body).await?;
        Ok(sent["message_id"].as_i64())
    }
}
