//! Rich messages, which Telegram draws with headings, lists and tables, and drafts of messages that
//! are being written.

use serde_json::{Value, json};

use super::methods::put_place;
use super::{CallFault, Client, Method};
use crate::telegram::text::Part;

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

/// A draft of a message: a preview in a private chat, which Telegram forgets after 30 seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SendDraft {
    /// Private chat that shows the draft.
    pub chat_id: i64,
    /// Number of the draft, not 0. A newer version has the same one.
    pub draft_id: i64,
    /// Topic of the chat.
    pub thread: Option<i64>,
    /// Content of the draft.
    pub form: DraftForm,
    /// True if the person gets a button that stops the draft.
    pub can_stop: bool,
}

/// The content of a draft.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftForm {
    /// Text with entities. Without text Telegram shows that the bot thinks.
    Text(Part),
    /// Telegram's Markdown.
    Rich(String),
}

impl SendDraft {
    /// Returns the method that shows the draft.
    pub fn method(&self) -> Method {
        match self.form {
            DraftForm::Text(_) => Method::SendMessageDraft,
            DraftForm::Rich(_) => Method::SendRichMessageDraft,
        }
    }

    fn body(&self) -> Value {
        let mut body = json!({ "chat_id": self.chat_id, "draft_id": self.draft_id });
        put_place(&mut body, self.thread, None);
        match &self.form {
            DraftForm::Text(part) => {
                body["text"] = part.text.as_str().into();
                if !part.entities.is_empty() {
                    body["entities"] = json!(part.entities);
                }
            }
            DraftForm::Rich(markdown) => body["rich_message"] = content(markdown),
        }
        if self.can_stop {
            body["can_stop"] = true.into();
        }
        body
    }
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

    /// Shows a draft, or a newer version of it.
    ///
    /// # Errors
    /// [`CallFault`], as of [`Client::call`].
    pub async fn send_draft(&self, draft: &SendDraft) -> Result<(), CallFault> {
        self.done(draft.method(), draft.body()).await
    }
}
