//! Managed bots: the button by which a person makes one, its token, and the accounts that may
//! write.

use serde_json::{Value, json};

use super::{BotToken, CallFault, Client, Method, SendMessage};

/// A button by which a person makes a bot that the asking bot manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBotButton {
    /// Text of the button.
    pub text: String,
    /// Number of the request. The buttons of one message have different ones.
    pub request: i32,
    /// Name that the person may change, at most 64 characters.
    pub name: String,
    /// Username that the person may change.
    pub username: Option<String>,
}

impl NewBotButton {
    fn body(&self) -> Value {
        let mut request = json!({ "request_id": self.request, "suggested_name": self.name });
        if let Some(username) = &self.username {
            request["suggested_username"] = username.as_str().into();
        }
        json!({ "text": self.text, "request_managed_bot": request })
    }
}

/// Calls of a bot that may manage others. They fail with the [`CallFault`] of [`Client::call`].
impl Client {
    /// Sends a message to a private chat, with these buttons in the place of the person's keyboard.
    /// Without buttons the usual keyboard comes back.
    pub async fn send_with_keyboard(
        &self,
        message: &SendMessage,
        buttons: &[NewBotButton],
    ) -> Result<(), CallFault> {
        let mut body = message.body();
        body["reply_markup"] = if buttons.is_empty() {
            json!({ "remove_keyboard": true })
        } else {
            let rows: Value = buttons.iter().map(|button| json!([button.body()])).collect();
            json!({ "keyboard": rows, "resize_keyboard": true })
        };
        self.done(Method::SendMessage, body).await
    }

    /// Returns the token of a bot that this one manages.
    pub async fn get_managed_bot_token(&self, bot: i64) -> Result<BotToken, CallFault> {
        let answer = self.call(Method::GetManagedBotToken, &json!({ "user_id": bot })).await?;
        let token = answer.as_str().and_then(|text| text.parse::<BotToken>().ok());
        token.filter(|token| token.bot_id() == bot).ok_or_else(|| CallFault::Maybe {
            why: format!("the answer to {} has no such token", Method::GetManagedBotToken.name()),
        })
    }

    /// Lets only these accounts and the owner write to a bot that this one manages. Telegram takes
    /// at most 10 accounts.
    pub async fn restrict_managed_bot(&self, bot: i64, accounts: &[i64]) -> Result<(), CallFault> {
        let body = json!({
            "user_id": bot,
            "is_access_restricted": true,
            "added_user_ids": accounts,
        });
        self.done(Method::SetManagedBotAccessSettings, body).await
    }
}
