//! Pairings: accounts of channels that act as a person, with the scopes that the person chose.
//! (Ruling 43.)

use moothall_kernel::chat::Chat;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::{Millis, Timestamp};

use super::{
    Access, AccessDenial, AccessError, AuditAction, Caller, InsertOutcome, Reach, RevocationScope,
    Scope, Scopes, Secret, TOKEN_VALID_MAX, Token, TokenHash, TokenId, TokenKind, TokenPlace,
    check_scopes, describe,
};
use crate::answers::HallError;

/// Validity of a pairing code.
pub const PAIRING_VALID: Millis = Millis::from_secs(15 * 60);
/// The scopes that a paired account may have. A phone in other hands then neither drives
/// terminals nor administers the server.
pub const PAIRING_SCOPES: Scopes = Scopes::of(&[
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ThreadsAdmin,
    Scope::ParticipantsInvite,
    Scope::TurnsControl,
    Scope::PermissionsAnswer,
]);
/// The scopes that every paired account has.
const USUAL: Scopes = Scopes::of(&[Scope::ThreadsRead, Scope::ThreadsWrite]);
/// Maximum number of times that one account is paired.
const PAIRINGS_MAX: u32 = 1_000;
/// Number of tokens in one read.
const TOKENS_PAGE: usize = 256;

/// A request for a pairing code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPairing {
    /// The channel of the account, such as `telegram`.
    pub channel: String,
    /// The scopes of the account besides `threads:read` and `threads:write`.
    pub scopes: Scopes,
}

/// The outcome of a pairing code that an account sent.
#[derive(Clone, Debug, PartialEq)]
pub enum PairingOutcome {
    /// The account now acts as the person of this token.
    Paired(Token),
    /// The account is paired already, by this token. The code was not used.
    Already(Token),
    /// The code is unknown, used or expired, or is for another channel.
    Unknown,
}

impl Access {
    /// Makes a code that pairs one account of a channel with the caller. The account gets no scope
    /// that the caller does not have.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was made then.
    pub async fn offer_pairing(
        &self,
        by: &Caller,
        wanted: NewPairing,
    ) -> Result<(Secret, Token), AccessError> {
        let principal = by.principal().ok_or(AccessDenial::Stranger)?.clone();
        if principal.kind == Kind::Agent || by.session().is_some() {
            return Err(AccessError::Invalid(
                "Only a person can pair an account, because it acts as that person.".into(),
            ));
        }
        by.must_be_unbound()?;
        let scopes: Scopes = USUAL.iter().chain(wanted.scopes.iter()).collect();
        if let Some(scope) = scopes.iter().find(|scope| !PAIRING_SCOPES.has(*scope)) {
            return Err(AccessError::Invalid(format!(
                "A paired account cannot have `{scope}`. It can have: {}.",
                PAIRING_SCOPES.words().replace(' ', ", ")
            )));
        }
        scopes.iter().try_for_each(|scope| by.must(scope))?;
        check_scopes(&principal, scopes, false)?;
        let (secret, now) = (Secret::fresh(TokenKind::Pairing)?, self.hall.now());
        let token = Token {
            id: TokenId::fresh()?,
            kind: TokenKind::Pairing,
            hash: secret.hash(),
            principal,
            scopes,
            reach: Reach::All,
            label: wanted.channel,
            parent: by.proof.as_deref().map(|proof| proof.root().clone()),
            created_at: now,
            expires_at: now + PAIRING_VALID,
            last_used_at: None,
            revoked_at: None,
        };
        let entry = self.entry(by, AuditAction::Invited).about(&token.id).saying(describe(&token));
        self.store(&token, &entry).await?;
        Ok((secret, token))
    }

    /// Pairs an account with the person who made the code. `account` is the channel, a colon and
    /// the account's id in the channel, such as `telegram:4711`. The channel proves that this
    /// account wrote the code.
    ///
    /// # Errors
    /// [`AccessError`] if the code cannot be looked up, or the pairing cannot be stored.
    pub async fn accept_pairing(
        &self,
        presented: &str,
        account: &str,
    ) -> Result<PairingOutcome, AccessError> {
        let Some(hash) = Secret::parse(presented).map(|secret| secret.hash()) else {
            return Ok(PairingOutcome::Unknown);
        };
        let (principals, now) = (self.principals(), self.hall.now());
        let found = principals.token(&hash).await.map_err(HallError::from)?;
        let channel = account.split_once(':').map_or(account, |(channel, _)| channel);
        let is_meant = |code: &Token| {
            code.kind == TokenKind::Pairing && code.label == channel && code.is_valid(now)
        };
        let Some(code) = found.filter(is_meant) else { return Ok(PairingOutcome::Unknown) };
        let (pairing, kept) = self.newest_pairing(account).await?;
        if let Some(kept) = kept {
            return Ok(PairingOutcome::Already(kept));
        }
        let token = Token {
            id: TokenId::fresh()?,
            kind: TokenKind::Account,
            hash: TokenHash::of_account(account, pairing),
            label: account.to_owned(),
            created_at: now,
            expires_at: self.end_of_pairing(&code, now).await?,
            ..code.clone()
        };
        let holder = self.holder(code.clone(), now).await;
        let entry = self
            .entry(&holder, AuditAction::Paired)
            .about(&token.id)
            .saying(format!("{account}: {}", describe(&token)));
        let kept = principals.redeem(&code.id, &token, &entry).await.map_err(HallError::from)?;
        Ok(match kept {
            InsertOutcome::Yes => PairingOutcome::Paired(token),
            InsertOutcome::OtherKind | InsertOutcome::Used => PairingOutcome::Unknown,
        })
    }

    /// Makes a pairing code invalid because other people read it in `chat`, and each of them could
    /// pair an account with the person who made the code. Returns true if the code was valid until
    /// then. The channel of the code does not matter.
    ///
    /// # Errors
    /// [`AccessError`] if the code cannot be looked up, or its end cannot be stored.
    pub async fn void_pairing_code(
        &self,
        presented: &str,
        chat: &Chat,
    ) -> Result<bool, AccessError> {
        let Some(secret) = Secret::parse(presented) else { return Ok(false) };
        let (principals, now) = (self.principals(), self.hall.now());
        let found = principals.token(&secret.hash()).await.map_err(HallError::from)?;
        let is_live = |code: &Token| code.kind == TokenKind::Pairing && code.is_valid(now);
        let Some(code) = found.filter(is_live) else { return Ok(false) };
        let holder = self.holder(code.clone(), now).await;
        let entry = self
            .entry(&holder, AuditAction::TokenRevoked)
            .about(&code.id)
            .saying(format!("A pairing code that others could read in {chat}."));
        let revoked = self.take_back(&code.id, RevocationScope::Own, &entry).await?;
        Ok(!revoked.is_empty())
    }

    /// Returns the time at which a pairing ends: when the credential that made its code expires,
    /// and after ten years at the latest. A credential for an hour must not become a credential for
    /// ten years.
    async fn end_of_pairing(&self, code: &Token, now: Timestamp) -> Result<Timestamp, HallError> {
        let latest = now + TOKEN_VALID_MAX;
        let Some(parent) = &code.parent else { return Ok(latest) };
        let maker = self.principals().token_of(parent).await?;
        Ok(maker.map_or(latest, |maker| maker.expires_at.min(latest)))
    }

    /// Returns the caller that an account of a channel is paired with; `None` if the account is not
    /// paired. The channel has proven the account.
    ///
    /// # Errors
    /// [`HallError`] if the pairing cannot be looked up.
    pub async fn identify_account(&self, account: &str) -> Result<Option<Caller>, HallError> {
        let (_, kept) = self.newest_pairing(account).await?;
        Ok(match kept {
            Some(token) => Some(self.holder(token, self.hall.now()).await),
            None => None,
        })
    }

    /// Returns the number of the account's next pairing and no token, or the number of its present
    /// pairing and the token of it.
    async fn newest_pairing(&self, account: &str) -> Result<(u32, Option<Token>), HallError> {
        let now = self.hall.now();
        for pairing in 0..PAIRINGS_MAX {
            match self.principals().token(&TokenHash::of_account(account, pairing)).await? {
                None => return Ok((pairing, None)),
                Some(token) if token.is_valid(now) => return Ok((pairing, Some(token))),
                Some(_) => {}
            }
        }
        Err(HallError::Failed(format!("{account} was paired too often")))
    }

    /// Returns the valid tokens of paired accounts, the oldest first.
    ///
    /// # Errors
    /// [`HallError`] if the tokens cannot be read.
    pub async fn accounts(&self) -> Result<Vec<Token>, HallError> {
        let (mut found, mut after, now) = (Vec::new(), None, self.hall.now());
        loop {
            let page = self.tokens(after.as_ref(), TOKENS_PAGE).await?;
            after = page.last().map(TokenPlace::of);
            let is_last = page.len() < TOKENS_PAGE;
            let is_account =
                |token: &Token| token.kind == TokenKind::Account && token.is_valid(now);
            found.extend(page.into_iter().filter(is_account));
            if is_last {
                return Ok(found);
            }
        }
    }

    /// Records in the audit log that a person gave a command by a paired account.
    ///
    /// # Errors
    /// [`HallError`] if the row cannot be stored.
    pub async fn record_command(&self, by: &Caller, detail: String) -> Result<(), HallError> {
        let entry = self.entry(by, AuditAction::Commanded).saying(detail);
        Ok(self.principals().record(&entry).await?)
    }
}
