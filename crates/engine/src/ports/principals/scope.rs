//! The permissions of credentials: a closed list of scopes.

use std::fmt;

use strum::VariantArray;

/// One permission of a credential, the least powerful first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
pub enum Scope {
    /// Read conversations, listen to them and search them.
    #[strum(serialize = "threads:read")]
    ThreadsRead,
    /// Create conversations, post in them, rename them.
    #[strum(serialize = "threads:write")]
    ThreadsWrite,
    /// See the trace, archive conversations, erase words.
    #[strum(serialize = "threads:admin")]
    ThreadsAdmin,
    /// Invite and remove participants.
    #[strum(serialize = "participants:invite")]
    ParticipantsInvite,
    /// Stop, pause, mute and resume; change the policy of a conversation.
    #[strum(serialize = "turns:control")]
    TurnsControl,
    /// Make an agent take a turn without a message.
    #[strum(serialize = "agents:run")]
    AgentsRun,
    /// Start, prompt, link and end terminal sessions.
    #[strum(serialize = "sessions:drive")]
    SessionsDrive,
    /// Answer agents' requests for permission.
    #[strum(serialize = "permissions:answer")]
    PermissionsAnswer,
    /// Everything: tokens, the audit record, speaking as others.
    #[strum(serialize = "server:admin")]
    ServerAdmin,
}

impl Scope {
    const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// True if only people may have the scope. Agents do not answer their own questions, see the
    /// trace, or administer a conversation or the server.
    pub const fn is_for_people_only(self) -> bool {
        matches!(self, Scope::PermissionsAnswer | Scope::ServerAdmin | Scope::ThreadsAdmin)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u16);

impl Scopes {
    /// The set without any scope.
    pub const NONE: Scopes = Scopes(0);
    /// The set of all scopes.
    pub const ALL: Scopes = Scopes((1 << Scope::VARIANTS.len()) - 1);

    /// Returns the set of these scopes.
    pub const fn of(scopes: &[Scope]) -> Scopes {
        let (mut bits, mut place) = (0, 0);
        while place < scopes.len() {
            bits |= scopes[place].bit();
            place += 1;
        }
        Scopes(bits)
    }

    /// True if the set has this scope. `server:admin` includes all others.
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & (scope.bit() | Scope::ServerAdmin.bit()) != 0
    }

    /// Returns the named scopes, in the order of the list.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::VARIANTS.iter().copied().filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Returns the stored form: the words, separated by spaces.
    pub fn words(self) -> String {
        self.iter().map(<&str>::from).collect::<Vec<_>>().join(" ")
    }

    /// Parses the stored form. Words of a newer version are ignored.
    pub fn parse(words: &str) -> Scopes {
        words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Scopes(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_unknown_ones_allow_nothing() {
        for scope in Scope::VARIANTS {
            assert_eq!(scope.to_string().parse(), Ok(*scope));
        }
        assert_eq!(Scopes::parse(&Scopes::ALL.words()), Scopes::ALL);
        assert_eq!(Scopes::parse("threads:read files:write"), Scopes::of(&[Scope::ThreadsRead]));
        assert!("Threads:read".parse::<Scope>().is_err());
    }

    #[test]
    fn the_administrator_may_do_everything_and_others_what_they_were_given() {
        let (admin, reader) =
            (Scopes::of(&[Scope::ServerAdmin]), Scopes::of(&[Scope::ThreadsRead]));
        for scope in Scope::VARIANTS {
            assert!(admin.has(*scope));
            assert_eq!(reader.has(*scope), *scope == Scope::ThreadsRead);
            assert!(!Scopes::NONE.has(*scope));
        }
    }
}
