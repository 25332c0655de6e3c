//! Permissions of members, and the checks that refuse a call without them.

use super::refusal::RestRefusal;
use super::world::{ChannelKind, DiscordWorld};

/// A permission, as its bit on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// See a channel.
    View,
    /// Write in a channel.
    Send,
    /// Delete messages of others.
    ManageMessages,
    /// Read what was written before.
    ReadHistory,
    /// Make webhooks.
    ManageWebhooks,
    /// Write in threads.
    SendInThreads,
}

impl Permission {
    /// All that a bot needs.
    pub const ALL: [Self; 6] = [
        Self::View,
        Self::Send,
        Self::ManageMessages,
        Self::ReadHistory,
        Self::ManageWebhooks,
        Self::SendInThreads,
    ];

    /// Returns the bit on the wire.
    pub fn bit(self) -> u64 {
        match self {
            Self::View => 1 << 10,
            Self::Send => 1 << 11,
            Self::ManageMessages => 1 << 13,
            Self::ReadHistory => 1 << 16,
            Self::ManageWebhooks => 1 << 29,
            Self::SendInThreads => 1 << 38,
        }
    }

    /// Returns the bits of several permissions.
    pub(super) fn bits(all: &[Self]) -> u64 {
        all.iter().fold(0, |bits, permission| bits | permission.bit())
    }
}

impl DiscordWorld {
    /// Returns the bits that a user has in a channel; `None` if the user is not there.
    pub(super) fn bits_in(&self, channel: u64, user: u64) -> Option<u64> {
        let state = self.channels.get(&channel)?;
        match state.kind {
            ChannelKind::Direct { person, bot } => {
                [person, bot].contains(&user).then(|| Permission::bits(&Permission::ALL))
            }
            ChannelKind::Thread { parent } => self.bits_in(parent, user),
            ChannelKind::Text => {
                let guild = self.guilds.get(&state.guild?)?;
                let denied = state.denied.get(&user).copied().unwrap_or_default();
                guild.members.get(&user).map(|bits| bits & !denied)
            }
        }
    }

    /// Checks that a bot may do something in a channel.
    pub(super) fn check(&self, channel: u64, bot: u64, act: Permission) -> Result<(), RestRefusal> {
        if !self.channels.contains_key(&channel) {
            return Err(RestRefusal::unknown(10_003, "Unknown Channel"));
        }
        let bits = self.bits_in(channel, bot).unwrap_or_default();
        if bits & Permission::View.bit() == 0 {
            return Err(RestRefusal::forbidden(50_001, "Missing Access"));
        }
        if bits & act.bit() == 0 {
            return Err(RestRefusal::forbidden(50_013, "Missing Permissions"));
        }
        Ok(())
    }

    /// Returns the permission that writing in a channel needs.
    pub(super) fn to_write(&self, channel: u64) -> Permission {
        let kind = self.channels.get(&channel).map(|state| &state.kind);
        match kind {
            Some(ChannelKind::Thread { .. }) => Permission::SendInThreads,
            _ => Permission::Send,
        }
    }
}
