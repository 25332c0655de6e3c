//! Decides about the chats outside of the server to which a conversation is bound, and about the
//! keys that it holds.

use crate::decide::Decider;
use crate::decide::control::needs_proof;
use crate::model::chat::{Chat, SCHEME, TARGET_BYTES_MAX};
use crate::model::command::{Actor, Refusal, Rejection};
use crate::model::event::Change;

impl Decider<'_> {
    /// Returns the change that binds a chat. The conversation's words then leave the server for
    /// that chat, so the caller must be a proven person.
    pub(super) fn bind_chat(&self, by: &Actor, chat: &Chat) -> Result<Vec<Change>, Rejection> {
        if !by.proven {
            return Err(needs_proof("Binding a chat"));
        }
        let target = chat.to_string();
        if self.state.bindings().any(|bound| bound == target) {
            let message = format!("The conversation is bound to {} already.", chat.key());
            return Err(Rejection::new(Refusal::Conflict, "chat_bound", message));
        }
        Ok(vec![Change::Bound { target }])
    }

    /// Returns the change that unbinds a chat. The members of the chat then miss all later words,
    /// so the caller must be a proven person.
    pub(super) fn unbind_chat(&self, by: &Actor, chat: &Chat) -> Result<Vec<Change>, Rejection> {
        if !by.proven {
            return Err(needs_proof("Unbinding a chat"));
        }
        let target = chat.to_string();
        if self.state.bindings().any(|bound| bound == target) {
            return Ok(vec![Change::Unbound { target }]);
        }
        let message = format!("The conversation is not bound to {}.", chat.key());
        Err(Rejection::new(Refusal::Conflict, "chat_not_bound", message))
    }

    /// Rejects the binding of a further chat unless the person confirms it, because the members of
    /// all bound chats then read each other's words. (Ruling 44.)
    pub(super) fn check_audiences(
        &self,
        changes: &[Change],
        confirmed: bool,
    ) -> Result<(), Rejection> {
        let added: Vec<Chat> = changes.iter().filter_map(bound_chat).collect();
        let released = |chat: &Chat| {
            let target = chat.to_string();
            changes.iter().any(|change| *change == Change::Unbound { target: target.clone() })
        };
        let kept = self.state.chats().filter(|chat| !released(chat));
        let chats: Vec<String> = kept.chain(added.iter().cloned()).map(|chat| chat.key()).collect();
        if added.is_empty() || chats.len() < 2 || confirmed {
            return Ok(());
        }
        let message = format!(
            "The members of {} would read each other's words. Send `confirm` as well if they may.",
            chats.join(" and ")
        );
        Err(Rejection::new(Refusal::Conflict, "second_chat", message))
    }
}

fn bound_chat(change: &Change) -> Option<Chat> {
    match change {
        Change::Bound { target } => Chat::of_target(target),
        _ => None,
    }
}

/// Returns a key that the conversation may hold. Rejects a chat: words go to it, so it is bound by
/// [`Decider::bind_chat`] alone.
pub(super) fn checked_key(key: String) -> Result<String, Rejection> {
    let is_key = key.contains(':')
        && key.len() <= TARGET_BYTES_MAX
        && key.bytes().all(|byte| byte.is_ascii_graphic())
        && !key.starts_with(SCHEME);
    if is_key {
        return Ok(key);
    }
    let message = "A key has a word, a colon and at most 256 visible ASCII characters in all.";
    Err(Rejection::new(Refusal::Invalid, "invalid_target", message))
}
