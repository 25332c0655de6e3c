//! Credentials: their format, and the facts that are stored about them.
//!
//! A credential is a prefix for its kind, random bits from the operating system and a checksum. It
//! has 256 random bits, but a pairing code has 192. The prefix lets scanners find leaked
//! credentials. The checksum lets the server refuse a mistyped one without a look-up. Only the hash
//! of a credential is ever stored.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;
use strum::VariantArray;

use super::{Principal, Scopes};
use crate::access::reach::Reach;

/// Number of random bytes in a credential.
const SECRET_BYTES: usize = 32;
/// Number of random bytes in a pairing code. With its prefix and its checksum it fits into the 64
/// characters that Telegram's links carry.
const PAIRING_BYTES: usize = 24;
/// Context in which accounts of channels are hashed, so that no credential has the hash of an
/// account.
const ACCOUNT_CONTEXT: &str = "moothall 2026 account of a channel";
/// Number of hexadecimal digits of a credential's checksum.
const CHECK_CHARS: usize = 8;

/// The kind of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum::Display, strum::EnumString, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TokenKind {
    /// The start-up credential: for one run of the server, never stored.
    Startup,
    /// For a person's programs, which act as that person.
    Personal,
    /// For an agent, which acts as itself.
    Agent,
    /// For a browser that signed in with another credential.
    #[strum(serialize = "session")]
    SignIn,
    /// An invitation, which can be exchanged for a token only one time.
    Invitation,
    /// A code by which an account of a channel is paired with a person. It can be used only one
    /// time.
    Pairing,
    /// A paired account of a channel. The channel proves the writer, so the account has no secret.
    Account,
}

impl TokenKind {
    /// Returns the prefix of its credentials.
    pub const fn prefix(self) -> &'static str {
        match self {
            TokenKind::Startup => "boot_",
            TokenKind::Personal => "pat_",
            TokenKind::Agent => "agt_",
            TokenKind::SignIn => "usr_",
            TokenKind::Invitation => "inv_",
            TokenKind::Pairing => "pair_",
            TokenKind::Account => "acc_",
        }
    }

    /// Returns the number of random bytes in its credentials.
    const fn secret_bytes(self) -> usize {
        match self {
            TokenKind::Pairing => PAIRING_BYTES,
            _ => SECRET_BYTES,
        }
    }

    /// True if a request may show a credential of this kind. Codes have to be exchanged first, and
    /// accounts are proven by their channel.
    pub const fn is_presented(self) -> bool {
        !matches!(self, TokenKind::Invitation | TokenKind::Pairing | TokenKind::Account)
    }

    /// Returns the kind of token for a principal.
    pub const fn of(principal: Kind) -> TokenKind {
        match principal {
            Kind::Human => TokenKind::Personal,
            Kind::Agent => TokenKind::Agent,
        }
    }
}

/// A credential in clear text. It is shown only at its making and never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a new credential.
    ///
    /// # Errors
    /// [`RandomnessError`] if the operating system gives no random bytes; no weaker source is used.
    pub fn fresh(kind: TokenKind) -> Result<Secret, RandomnessError> {
        let mut text = String::from(kind.prefix());
        let random = random_hex::<SECRET_BYTES>()?;
        text.push_str(&random[..2 * kind.secret_bytes()]);
        let check = checksum(&text);
        text.push_str(&check);
        Ok(Secret(text))
    }

    /// Parses a presented credential; `None` if it is not well-formed.
    pub fn parse(text: &str) -> Option<Secret> {
        let kind = *TokenKind::VARIANTS.iter().find(|kind| text.starts_with(kind.prefix()))?;
        let length = kind.prefix().len() + 2 * kind.secret_bytes() + CHECK_CHARS;
        let plain = text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (body, check) = plain.then(|| text.split_at(length - CHECK_CHARS))?;
        (checksum(body) == check).then(|| Secret(text.to_owned()))
    }

    /// Returns the first pairing code within a text, such as in a link that pairs an account.
    pub fn pairing_code_in(text: &str) -> Option<&str> {
        let kind = TokenKind::Pairing;
        let length = kind.prefix().len() + 2 * kind.secret_bytes() + CHECK_CHARS;
        let places = text.match_indices(kind.prefix()).map(|(at, _)| at);
        let mut pieces = places.filter_map(|at| text.get(at..at + length));
        pieces.find(|piece| Secret::parse(piece).is_some())
    }

    /// Returns the clear text, for its recipient.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the hash. Only the hash is stored.
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
#[error("the operating system returned no random numbers")]
pub struct RandomnessError;

fn random_hex<const BYTES: usize>() -> Result<String, RandomnessError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| RandomnessError)?;
    Ok(bytes.iter().fold(String::with_capacity(2 * BYTES), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Returns a new claim code for an agent: 128 random bits, in hexadecimal digits.
///
/// # Errors
/// As for [`Secret::fresh`].
pub fn fresh_claim() -> Result<String, RandomnessError> {
    random_hex::<16>()
}

/// The hash of a credential. Comparisons take constant time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(blake3::Hash);

impl TokenHash {
    /// Makes a hash from its stored bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> TokenHash {
        TokenHash(blake3::Hash::from_bytes(bytes))
    }

    /// Returns the hash of an account of a channel, such as `telegram:4711`, at its pairing with
    /// this number, from 0. An account that is paired again after its pairing ended has another
    /// hash, so that the earlier row stays.
    pub fn of_account(account: &str, pairing: u32) -> TokenHash {
        let mut hasher = blake3::Hasher::new_derive_key(ACCOUNT_CONTEXT);
        hasher.update(&pairing.to_be_bytes()).update(account.as_bytes());
        TokenHash(hasher.finalize())
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

/// The place of a token in a listing: by time, then by id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenPlace {
    /// Time at which the token was made.
    pub created_at: Timestamp,
    /// The token's public id.
    pub id: TokenId,
}

impl TokenPlace {
    /// Returns the place of a token.
    pub fn of(token: &Token) -> Self {
        Self { created_at: token.created_at, id: token.id.clone() }
    }
}

/// Prefix of the public ids of start-up credentials. The log has no rows of them, because they are
/// not stored. The holder of each is [`ParticipantId::user`].
pub const STARTUP_ID: &str = "start-";

/// The public id of a credential, for lists and the audit record, which never contain the
/// credential itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(String);

impl TokenId {
    /// Makes a new id.
    ///
    /// # Errors
    /// As for [`Secret::fresh`].
    pub fn fresh() -> Result<TokenId, RandomnessError> {
        random_hex::<8>().map(TokenId)
    }

    /// Makes a new id for a start-up credential. It distinguishes the tokens made in one run of the
    /// server from those of another.
    ///
    /// # Errors
    /// As for [`Secret::fresh`].
    pub fn fresh_startup() -> Result<TokenId, RandomnessError> {
        random_hex::<8>().map(|hex| TokenId(format!("{STARTUP_ID}{hex}")))
    }

    /// True if it is the id of a start-up credential.
    pub fn is_startup(&self) -> bool {
        self.0.starts_with(STARTUP_ID)
    }

    /// Wraps a stored or given id.
    pub fn new(text: impl Into<String>) -> TokenId {
        TokenId(text.into())
    }

    /// Returns the id as it is stored and sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A credential, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The public id, for lists and the audit record.
    pub id: TokenId,
    /// The kind of credential.
    pub kind: TokenKind,
    /// The hash of the credential.
    pub hash: TokenHash,
    /// The person or agent whose token it is.
    pub principal: Principal,
    /// The permissions of its holder.
    pub scopes: Scopes,
    /// The conversations that it gives access to.
    pub reach: Reach,
    /// The name that people gave it.
    pub label: String,
    /// The credential from which this one was made. Sign-ins and invitations are invalid without
    /// it. For a token made from an invitation, the credential of the invitation's maker.
    pub parent: Option<TokenId>,
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Time at which it expires.
    pub expires_at: Timestamp,
    /// Time of its last use, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Time at which it was revoked or used up.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// True if it can be exchanged for another credential, only one time.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, TokenKind::Invitation | TokenKind::Pairing)
    }

    /// True if it is invalid without its parent.
    pub fn depends_on_parent(&self) -> bool {
        matches!(self.kind, TokenKind::SignIn | TokenKind::Invitation | TokenKind::Pairing)
    }

    /// True if it is an invitation into this conversation and no other.
    pub fn invites_into(&self, stream: &StreamId) -> bool {
        self.kind == TokenKind::Invitation
            && self.reach.only().is_some_and(|only| only.iter().eq([stream]))
    }

    /// True if it is neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// Parses a stored list of conversations; `None` for all of them.
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
