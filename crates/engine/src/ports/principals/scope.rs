//! What somebody may do: a closed list of scopes.

use std::fmt;

macro_rules! scopes {
    ($($name:ident = $word:literal $meaning:literal;)*) => {
        /// One thing that a credential may allow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope {
            $(#[doc = $meaning] $name,)*
        }

        impl Scope {
            /// All of them, the harmless first.
            pub const ALL: &'static [Scope] = &[$(Scope::$name,)*];

            /// Its word in the store and on the wire, which never changes.
            pub const fn word(self) -> &'static str {
                match self { $(Scope::$name => $word,)* }
            }

            /// What it allows, for people.
            pub const fn meaning(self) -> &'static str {
                match self { $(Scope::$name => $meaning,)* }
            }
        }
    };
}

scopes! {
    ThreadsRead = "threads:read" "Read conversations, listen to them and search them.";
    ThreadsWrite = "threads:write" "Begin conversations, speak in them, rename them.";
    ThreadsAdmin = "threads:admin" "See the trace, archive, erase words.";
    ParticipantsInvite = "participants:invite" "Invite participants and take them out.";
    TurnsControl = "turns:control" "Stop, pause, mute, go on; change the rules of a conversation.";
    AgentsRun = "agents:run" "Make an agent take a turn without a message.";
    SessionsDrive = "sessions:drive" "Start, prompt, link and end terminal sessions.";
    PermissionsAnswer = "permissions:answer" "Answer what agents ask permission for.";
    ServerAdmin = "server:admin" "Everything: tokens, the audit record, speaking as others.";
}

impl Scope {
    /// The scope that has this word; nothing where none has.
    pub fn parse(word: &str) -> Option<Scope> {
        Self::ALL.iter().copied().find(|scope| scope.word() == word)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Agents may never answer their own questions, and nothing that runs by itself administers the
    /// server.
    pub const fn is_for_people_only(self) -> bool {
        matches!(self, Scope::PermissionsAnswer | Scope::ServerAdmin)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u16);

impl Scopes {
    /// The set without any scope.
    pub const NONE: Scopes = Scopes(0);
    /// The set of all scopes.
    pub const ALL: Scopes = Scopes((1 << Scope::ALL.len()) - 1);

    /// The set of just these scopes.
    pub const fn of(scopes: &[Scope]) -> Scopes {
        let (mut bits, mut place) = (0, 0);
        while place < scopes.len() {
            bits |= scopes[place].bit();
            place += 1;
        }
        Scopes(bits)
    }

    /// Whether one is in it. Who administers the server may do everything.
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & (scope.bit() | Scope::ServerAdmin.bit()) != 0
    }

    /// Those that were named, in the order of the list.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// The words, with spaces between them, as they are stored.
    pub fn words(self) -> String {
        self.iter().map(Scope::word).collect::<Vec<_>>().join(" ")
    }

    /// Reads stored words; those that only a newer version knows allow nothing here.
    pub fn parse(words: &str) -> Scopes {
        words.split_whitespace().filter_map(Scope::parse).collect()
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
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.word()), Some(*scope));
        }
        assert_eq!(Scopes::parse(&Scopes::ALL.words()), Scopes::ALL);
        assert_eq!(Scopes::parse("threads:read files:write"), Scopes::of(&[Scope::ThreadsRead]));
        assert_eq!(Scope::parse("Threads:read"), None);
    }

    #[test]
    fn the_administrator_may_do_everything_and_others_what_they_were_given() {
        let (admin, reader) =
            (Scopes::of(&[Scope::ServerAdmin]), Scopes::of(&[Scope::ThreadsRead]));
        for scope in Scope::ALL {
            assert!(admin.has(*scope));
            assert_eq!(reader.has(*scope), *scope == Scope::ThreadsRead);
            assert!(!Scopes::NONE.has(*scope));
        }
    }
}
