//! Notes of a delivery while it is under way: the parts that were sent, and the part that is being
//! sent. The notes are stored with the delivery's row. After a crash they show which parts were
//! sent, and which part perhaps arrived.

use serde::{Deserialize, Serialize};

/// A message that was sent for a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentPart {
    /// The agent whose bot sent it.
    pub bot: String,
    /// The id of the chat in its product.
    pub chat: String,
    /// The id of the message in that chat. `None` if the product's answer did not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The id of the account that alone sees the message, in a chat with several people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_to: Option<String>,
}

impl SentPart {
    /// True if only this account sees the message: in the account's private chat, whose id is the
    /// account's id, or in another chat by a message for this account alone.
    pub fn is_only_to(&self, account: &str) -> bool {
        self.only_to.as_deref().unwrap_or(&self.chat) == account
    }
}

/// A message that may have been sent or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartInDoubt {
    /// The message, without its id.
    pub part: SentPart,
    /// Time of the first attempt, in milliseconds since 1970.
    pub since: i64,
}

/// The notes of one delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarryNotes {
    /// The messages that were sent, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<SentPart>,
    /// The number of the part that is being sent, from 0. After a crash it may have arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sending: Option<usize>,
    /// The part that is being sent, if the channel can look for it in the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<PartInDoubt>,
    /// True if the product refused the formatting, so that the parts are plain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// True if the text was begun in the product's rich form.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rich: bool,
    /// The number of rich messages after which the rest of the text goes in another form, because
    /// the product refused a rich message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_after: Option<usize>,
    /// The question that the messages show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    /// The reason of the delivery's state at its end, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl CarryNotes {
    /// Parses the notes of a delivery. Any other text, and no text, gives empty notes.
    pub fn read(evidence: &str) -> Self {
        serde_json::from_str(evidence).unwrap_or_default()
    }

    /// Returns the reason in the evidence of a delivery. It is the reason in the notes, or the
    /// whole text if it is not notes.
    pub fn reason(evidence: &str) -> Option<String> {
        match serde_json::from_str::<Self>(evidence) {
            Ok(notes) => notes.why,
            Err(_) => Some(evidence.to_owned()).filter(|text| !text.is_empty()),
        }
    }

    /// Returns the notes with which a person sends the delivery again. The part in doubt is sent
    /// again, and the parts before it are not.
    #[must_use]
    pub fn to_go_on(self) -> Self {
        Self { sending: None, doubt: None, why: None, ..self }
    }

    /// Returns the text to store with the delivery.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_read_back_and_other_text_is_empty_notes() {
        let part = SentPart {
            bot: "analyst".into(),
            chat: "-100".into(),
            id: Some("7".into()),
            only_to: None,
        };
        let notes = CarryNotes { sent: vec![part], sending: Some(1), ..CarryNotes::default() };
        assert_eq!(CarryNotes::read(&notes.text()), notes);
        for text in ["", "the disk was full", "[1]"] {
            assert_eq!(CarryNotes::read(text), CarryNotes::default());
        }
        assert_eq!(CarryNotes::reason("the disk was full"), Some("the disk was full".into()));
        assert_eq!(CarryNotes::reason(&notes.text()), None);
        assert_eq!(notes.to_go_on().sending, None);
    }
}
