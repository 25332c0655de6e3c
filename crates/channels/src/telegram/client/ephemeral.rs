//! Ephemeral messages, which one member of a group sees.

use serde_json::{Value, json};

use super::{CallFault, Client, EditMessage, Method, SendMessage};

/// The number of an ephemeral message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralId {
    /// The number, which other messages may get later.
    Known(i64),
    /// The message was sent, but the answer cannot be read.
    Unread,
    /// An older Bot API server sent an ordinary message with this id, for the whole group.
    Public(i64),
}

/// Calls that fail with the [`CallFault`] of [`Client::call`].
impl Client {
    /// Sends a message that one member of a group sees. Only an admin may, and Telegram does not
    /// promise that the message arrives.
    pub async fn send_ephemeral(
        &self,
        message: &SendMessage,
        receiver: i64,
    ) -> Result<EphemeralId, CallFault> {
        let mut body = message.body();
        body["ephemeral_message_parameters"] = json!({ "receiver_user_id": receiver });
        let sent = self.call(Method::SendMessage, &body).await?;
        Ok(match (sent["ephemeral_message_id"].as_i64(), sent["message_id"].as_i64()) {
            (Some(id), _) => EphemeralId::Known(id),
            (None, Some(id)) if id != 0 => EphemeralId::Public(id),
            (None, _) => EphemeralId::Unread,
        })
    }

    /// Changes the text of an ephemeral message. An edit that changes nothing counts as done.
    pub async fn edit_ephemeral_text(
        &self,
        edit: &EditMessage,
        receiver: i64,
    ) -> Result<(), CallFault> {
        let mut body = edit.body();
        if let Value::Object(fields) = &mut body {
            fields.remove("message_id");
        }
        body["ephemeral_message_id"] = edit.message_id.into();
        body["receiver_user_id"] = receiver.into();
        let edited = self.done(Method::EditEphemeralMessageText, body).await;
        edited.or_else(|fault| if fault.is_not_modified() { Ok(()) } else { Err(fault) })
    }

    /// Deletes an ephemeral message.
    pub async fn delete_ephemeral(
        &self,
        chat_id: i64,
        receiver: i64,
        id: i64,
    ) -> Result<(), CallFault> {
        let body = json!({
            "chat_id": chat_id,
            "receiver_user_id": receiver,
            "ephemeral_message_id": id,
        });
        self.done(Method::DeleteEphemeralMessage, body).await
    }
}
