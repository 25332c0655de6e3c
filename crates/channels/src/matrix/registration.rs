//! The registration: the file by which a homeserver and this server know each other.

use std::fmt;
use std::path::Path;

use moothall_engine::access::TokenKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::names::{PREFIX, RELAY};

/// The identifier of the application service at the homeserver.
const ID: &str = "moothall";

/// The parts of a registration that the server uses. Homeservers read YAML, and JSON is YAML too.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The identifier of the application service.
    pub id: String,
    /// The address at which the homeserver reaches this server.
    pub url: String,
    /// The token by which this server speaks to the homeserver.
    pub as_token: String,
    /// The token by which the homeserver speaks to this server.
    pub hs_token: String,
    /// The localpart of the relay.
    pub sender_localpart: String,
}

// A token in a log would let its readers speak as all ghosts.
impl fmt::Debug for Registration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Registration {{ id: {:?}, url: {:?}, … }}", self.id, self.url)
    }
}

/// The error of a registration that cannot be used, as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RegistrationFault(String);

impl Registration {
    /// Reads a registration.
    ///
    /// # Errors
    /// [`RegistrationFault`] with the next step.
    pub fn read(path: &Path) -> Result<Self, RegistrationFault> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            RegistrationFault(format!(
                "the registration {name} cannot be read: {error}. `moothall matrix registration` \
                 writes one"
            ))
        })?;
        let read: Self = serde_json::from_str(&text).map_err(|error| {
            RegistrationFault(format!(
                "the registration {name} is not as `moothall matrix registration` writes it, in \
                 JSON: {error}"
            ))
        })?;
        let is_weak = |token: &str| token.len() < 32;
        if is_weak(&read.as_token) || is_weak(&read.hs_token) || read.as_token == read.hs_token {
            return Err(RegistrationFault(format!(
                "the registration {name} needs two different tokens of at least 32 letters. \
                 `moothall matrix registration` makes them"
            )));
        }
        if read.sender_localpart != RELAY {
            return Err(RegistrationFault(format!(
                "the sender_localpart in the registration {name} must be {RELAY:?}"
            )));
        }
        Ok(read)
    }

    /// Returns the address on which the server listens for the homeserver, if the registration
    /// tells it: its URL is plain HTTP, and names a port.
    pub fn bind(&self) -> Option<String> {
        let address = self.url.strip_prefix("http://")?.trim_end_matches('/');
        let (_, port) = address.rsplit_once(':')?;
        port.parse::<u16>().is_ok().then(|| address.to_owned())
    }
}

/// Returns a new registration as a homeserver reads it, with fresh tokens. `domain` is the
/// homeserver's name, the part of its users' ids after the colon.
///
/// # Errors
/// [`RegistrationFault`] if the computer has no randomness.
pub fn fresh(domain: &str, url: &str) -> Result<Value, RegistrationFault> {
    let token = || {
        let secret = moothall_engine::access::Secret::fresh(TokenKind::Startup);
        let secret = secret.map_err(|error| RegistrationFault(error.to_string()))?;
        Ok(blake3::hash(secret.reveal().as_bytes()).to_hex().to_string())
    };
    let domain = domain.replace('.', "\\.");
    Ok(json!({
        "id": ID,
        "url": url,
        "as_token": token()?,
        "hs_token": token()?,
        "sender_localpart": RELAY,
        "rate_limited": false,
        "namespaces": {
            "users": [{"exclusive": true, "regex": format!("@{PREFIX}.*:{domain}")}],
            "aliases": [{"exclusive": true, "regex": format!("#{PREFIX}.*:{domain}")}],
            "rooms": [],
        },
    }))
}
