//! Credentials: what they look like, and what is kept of them.
//!
//! A credential is a prefix that says what it is, 256 bits from the operating system and a
//! checksum, so that scanners find one that leaked and a mistyped one is refused without being
//! looked up. Only its hash is ever stored.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;
use strum::VariantArray;

use super::{Principal, Scopes};
use crate::access::reach::Reach;

/// Random bytes of a credential.
const SECRET_BYTES: usize = 32;
/// Hexadecimal digits of its checksum.
const CHECK_CHARS: usize = 8;

/// What kind of credential it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum::Display, strum::EnumString, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TokenKind {
    /// The start-up credential: of one run of the server, never stored.
    Startup,
    /// For a person's programs, which act as that person.
    Personal,
    /// For an agent, which acts as itself.
    Agent,
    /// A browser that signed in with another credential.
    #[strum(serialize = "session")]
    SignIn,
    /// An invitation that turns into a token once.
    Invitation,
}

impl TokenKind {
    /// What its credentials begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            TokenKind::Startup => "boot_",
            TokenKind::Personal => "pat_",
            TokenKind::Agent => "agt_",
            TokenKind::SignIn => "usr_",
            TokenKind::Invitation => "inv_",
        }
    }

    /// What the tokens of a principal are.
    pub const fn of(principal: Kind) -> TokenKind {
        match principal {
            Kind::Human => TokenKind::Personal,
            Kind::Agent => TokenKind::Agent,
        }
    }
}

/// A credential in clear. It is shown once and printed nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A fresh one.
    ///
    /// # Errors
    /// The operating system gives no random bytes; nothing weaker is used instead.
    pub fn fresh(kind: TokenKind) -> Result<Secret, RandomnessError> {
        let mut text = String::from(kind.prefix());
        text.push_str(&random_hex::<SECRET_BYTES>()?);
        let check = checksum(&text);
        text.push_str(&check);
        Ok(Secret(text))
    }

    /// Reads what somebody presents; nothing where it cannot be a credential of ours.
    pub fn parse(text: &str) -> Option<Secret> {
        let kind = *TokenKind::VARIANTS.iter().find(|kind| text.starts_with(kind.prefix()))?;
        let length = kind.prefix().len() + 2 * SECRET_BYTES + CHECK_CHARS;
        let plain = text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (body, check) = plain.then(|| text.split_at(length - CHECK_CHARS))?;
        (checksum(body) == check).then(|| Secret(text.to_owned()))
    }

    /// The credential itself, for the one who is to have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash(blake3::hash(self.0.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.0.split('_').next().unwrap_or_default();
        write!(f, "{kind}_…")
    }
}

fn checksum(body: &str) -> String {
    blake3::hash(body.as_bytes()).to_hex().chars().take(CHECK_CHARS).collect()
}

/// The operating system gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gives no random numbers")]
pub struct RandomnessError;

fn random_hex<const BYTES: usize>() -> Result<String, RandomnessError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| RandomnessError)?;
    Ok(bytes.iter().fold(String::with_capacity(2 * BYTES), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// What the claim of an agent is made of: 128 bits, in hexadecimal digits.
///
/// # Errors
/// As for [`Secret::fresh`].
pub fn fresh_claim() -> Result<String, RandomnessError> {
    random_hex::<16>()
}

/// The hash of a credential. Comparing two takes the same time wherever they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(blake3::Hash);

impl TokenHash {
    /// From how it is stored.
    pub fn from_bytes(bytes: [u8; 32]) -> TokenHash {
        TokenHash(blake3::Hash::from_bytes(bytes))
    }

    /// As it is stored.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

/// The place of a token in the order of a listing: those of one moment follow their ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenPlace {
    /// When it was made.
    pub created_at: Timestamp,
    /// Its public id.
    pub id: TokenId,
}

impl TokenPlace {
    /// The place of a token.
    pub fn of(token: &Token) -> Self {
        Self { created_at: token.created_at, id: token.id.clone() }
    }
}

/// What the names of start-up credentials begin with.
const STARTUP_ID: &str = "start-";

/// The public name of a credential: in lists and in the audit record, where the credential itself
/// never is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(String);

impl TokenId {
    /// A fresh one.
    ///
    /// # Errors
    /// As for [`Secret::fresh`].
    pub fn fresh() -> Result<TokenId, RandomnessError> {
        random_hex::<8>().map(TokenId)
    }

    /// A fresh one for a start-up credential. It tells apart what was made in one run of the server
    /// from what was made in another.
    ///
    /// # Errors
    /// As for [`Secret::fresh`].
    pub fn fresh_startup() -> Result<TokenId, RandomnessError> {
        random_hex::<8>().map(|hex| TokenId(format!("{STARTUP_ID}{hex}")))
    }

    /// Wraps a stored or given id.
    pub fn new(text: impl Into<String>) -> TokenId {
        TokenId(text.into())
    }

    /// The id as it is stored and sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is stored about a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The public half, by which lists and audits name it.
    pub id: TokenId,
    /// What kind it is.
    pub kind: TokenKind,
    /// The hash of the credential.
    pub hash: TokenHash,
    /// The person or agent whose token it is.
    pub principal: Principal,
    /// What whoever holds it may do.
    pub scopes: Scopes,
    /// The conversations that it reaches.
    pub reach: Reach,
    /// What people call it.
    pub label: String,
    /// The credential that this one was made from. A browser's is worth nothing without it, and
    /// neither is an invitation's code; a token that came of an invitation has its maker's.
    pub parent: Option<TokenId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is worth nothing.
    pub expires_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked, or used up.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// True if it is worth nothing without its parent.
    pub fn depends_on_parent(&self) -> bool {
        matches!(self.kind, TokenKind::SignIn | TokenKind::Invitation)
    }

    /// True if it is an invitation into this conversation and no other.
    pub fn invites_into(&self, stream: &StreamId) -> bool {
        self.kind == TokenKind::Invitation
            && self.reach.only().is_some_and(|only| only.iter().eq([stream]))
    }

    /// Whether it is worth something now.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// Reads a stored list of conversations.
pub fn reach_of(threads: Option<&str>) -> Reach {
    match threads {
        None => Reach::All,
        Some(list) => {
            Reach::Only(list.split_whitespace().map(StreamId::new).collect::<BTreeSet<_>>().into())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_credential_reads_back_and_shows_itself_to_nobody() {
        for &kind in TokenKind::VARIANTS {
            let secret = Secret::fresh(kind).unwrap();
            assert!(secret.reveal().starts_with(kind.prefix()));
            assert_eq!(Secret::parse(secret.reveal()), Some(secret.clone()));
            let shown = format!("{secret:?}");
            assert_eq!(shown, format!("{}…", kind.prefix()));
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_ne!(
            Secret::fresh(TokenKind::Agent).unwrap().hash(),
            Secret::fresh(TokenKind::Agent).unwrap().hash()
        );
    }

    #[test]
    fn a_mistyped_credential_is_none() {
        let secret = Secret::fresh(TokenKind::Personal).unwrap();
        let text = secret.reveal();
        let other = if text.ends_with('0') { '1' } else { '0' };
        let changed = format!("{}{other}", &text[..text.len() - 1]);
        let long = text.repeat(10_000);
        for bad in [
            "",
            "pat_",
            &text[1..],
            &text[..text.len() - 1],
            &changed,
            &long,
            &text.replacen("pat_", "agt_", 1),
            &text.to_uppercase(),
        ] {
            assert_eq!(Secret::parse(bad), None, "{}", bad.chars().take(90).collect::<String>());
        }
    }
}
