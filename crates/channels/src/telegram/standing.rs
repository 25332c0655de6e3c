//! The bots that are in a bound group, and if each bot receives all messages there. If no update
//! has shown it, the server asks Telegram: after a start, and before the first line of a chat.

use std::collections::BTreeSet;

use super::Telegram;
use super::bot::Bot;
use super::client::CallFault;
use super::room::Room;
use super::update::MemberStatus;

impl Telegram {
    /// Asks Telegram, after a start, in which bound groups a bot is. If an update about the bot in
    /// a group arrives meanwhile, the update counts, because it is newer.
    pub(super) async fn look_around(&self, bot: &Bot) {
        let bound = match self.inbox.hall().bound_chats().await {
            Ok(bound) => bound,
            Err(error) => {
                tracing::debug!(bot = bot.agent, %error, "the bound chats could not be read");
                return;
            }
        };
        let rooms = bound.iter().filter_map(|(chat, _)| Room::of(chat)).filter(Room::is_group);
        let groups: BTreeSet<i64> = rooms.map(|room| room.chat).collect();
        for group in groups {
            // A refusal concerns this group alone, so the next group is asked. If Telegram does not
            // answer or demands a pause, the remaining groups are not asked. Later updates show the
            // bot there.
            if let Err(fault) = self.look_into(bot, group).await {
                tracing::debug!(bot = bot.agent, group, %fault, "a group could not be looked at");
                if !matches!(fault, CallFault::Refused { retry_after: None, .. }) {
                    return;
                }
            }
        }
    }

    /// Asks Telegram which bots are in a group that a conversation was bound to.
    pub(super) async fn look_from_all(&self, room: &Room) {
        for bot in self.bots().iter().filter(|bot| room.is_group() && bot.can_send()) {
            if let Err(fault) = self.look_into(bot, room.chat).await {
                tracing::debug!(bot = bot.agent, %fault, "a group could not be looked at");
            }
        }
    }

    /// Asks Telegram if a bot is in a group, unless that is known. Notes the answer, unless it is a
    /// status that this version does not know.
    ///
    /// # Errors
    /// [`CallFault`] if the call failed for another reason than that the bot is not in the group.
    pub(super) async fn look_into(&self, bot: &Bot, chat: i64) -> Result<(), CallFault> {
        if self.places.get(chat).is_some_and(|place| place.knows(&bot.agent)) {
            return Ok(());
        }
        let status = match bot.client.get_chat_member(chat, bot.id()).await {
            Ok(status) => status,
            Err(fault) if fault.is_gone() => MemberStatus::Left,
            Err(fault) => return Err(fault),
        };
        if matches!(status, MemberStatus::Unknown(_)) {
            return Ok(());
        }
        let found = match status.is_inside() {
            true => bot.client.get_chat(chat).await?,
            false => None,
        };
        self.places.change(chat, |place| {
            if place.knows(&bot.agent) {
                return;
            }
            if !status.is_inside() {
                place.gone.insert(bot.agent.clone());
                return;
            }
            place.bots.insert(bot.agent.clone(), status.is_admin() || !bot.is_private());
            if let Some(found) = found {
                place.title = found.title.unwrap_or_default();
            }
        });
        Ok(())
    }
}
