//! The names of the server's accounts on a homeserver: the relay, and a ghost for each agent and
//! for each person who speaks from elsewhere.

/// Beginning of the names of all ghosts, and of the aliases of rooms.
pub const PREFIX: &str = "moothall_";
/// Name of the relay, by which the server itself speaks.
pub const RELAY: &str = "moothall";
/// Beginning of the names of people's ghosts. An agent's id in its encoded form has no underscore.
const PERSON: &str = "person_";
/// Longest id of a user, in bytes.
const USER_BYTES_MAX: usize = 255;

/// An account of the server. The relay comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ghost {
    /// The account of the server itself.
    Relay,
    /// The account of an agent, by its id.
    Agent(String),
    /// The account of a person who speaks from elsewhere, by the person's id.
    Person(String),
}

impl Ghost {
    /// Returns the localpart of the account's id.
    pub fn localpart(&self) -> String {
        match self {
            Ghost::Relay => RELAY.to_owned(),
            Ghost::Agent(id) => format!("{PREFIX}{}", encoded(id)),
            Ghost::Person(id) => format!("{PREFIX}{PERSON}{}", encoded(id)),
        }
    }

    /// Returns the id of the account; `None` if it would be too long.
    pub fn user_id(&self, domain: &str) -> Option<String> {
        let id = format!("@{}:{domain}", self.localpart());
        (id.len() <= USER_BYTES_MAX).then_some(id)
    }

    /// Returns the account of this server with this id; `None` for any other account of a
    /// homeserver.
    pub fn of(user_id: &str, domain: &str) -> Option<Self> {
        let (local, of) = user_id.strip_prefix('@')?.split_once(':')?;
        if of != domain {
            return None;
        }
        if local == RELAY {
            return Some(Ghost::Relay);
        }
        let name = local.strip_prefix(PREFIX)?;
        match name.strip_prefix(PERSON) {
            Some(person) => Some(Ghost::Person(decoded(person)?)),
            None => Some(Ghost::Agent(decoded(name)?)),
        }
    }
}

/// Returns an id in the letters that a localpart may have. Others are written as `=` and two
/// hexadecimal digits, so that the id can be read back.
fn encoded(id: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' => char::from(byte).to_string(),
        other => format!("={other:02x}"),
    };
    id.bytes().map(letter).collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '=' {
            bytes.push(u8::from_str_radix(rest.get(1..3)?, 16).ok()?);
            rest = &rest[3..];
        } else {
            bytes.push(u8::try_from(first).ok()?);
            rest = &rest[first.len_utf8()..];
        }
    }
    let id = String::from_utf8(bytes).ok()?;
    // One account has one spelling.
    (!id.is_empty() && encoded(&id) == text).then_some(id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn accounts_read_back_and_others_are_none() {
        for id in ["analyst", "Analyst", "a_b", "person_x", "personX", "a:b", "x.y-1"] {
            for ghost in [Ghost::Agent(id.into()), Ghost::Person(id.into()), Ghost::Relay] {
                let user = ghost.user_id("example.org").unwrap();
                assert!(user.bytes().all(|byte| !byte.is_ascii_uppercase()), "{user}");
                assert_eq!(Ghost::of(&user, "example.org"), Some(ghost), "{user}");
                assert_eq!(Ghost::of(&user, "other.org"), None);
            }
        }
        for other in ["@ann:example.org", "moothall", "@moothall_:example.org", "@moothall_a=4"] {
            assert_eq!(Ghost::of(other, "example.org"), None, "{other}");
        }
        // Another spelling of the same id would be a second account of it.
        assert_eq!(Ghost::of("@moothall_=61:example.org", "example.org"), None);
        assert_eq!(Ghost::Agent("=".repeat(100)).user_id("example.org"), None);
    }
}
