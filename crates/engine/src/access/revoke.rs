//! Revoking tokens: those that are revoked together, and those that stay valid.

use std::collections::BTreeSet;

use super::{
    Access, AccessError, AuditAction, AuditEntry, Caller, RevocationScope, Token, TokenId,
    TokenPlace,
};
use crate::answers::HallError;

/// The outcome of revoking a token.
#[derive(Clone, Debug, PartialEq)]
pub struct Revocation {
    /// The tokens that were valid before, including the named one.
    pub revoked: Vec<TokenId>,
    /// The tokens made from its invitations that are still valid.
    pub left: Vec<Token>,
}

impl Access {
    /// Revokes a token, its browser sign-ins, and its unused invitations. With
    /// [`RevocationScope::All`], also revokes the tokens made from its invitations. Returns the
    /// revoked tokens, and the tokens made from its invitations that are still valid.
    ///
    /// # Errors
    /// [`AccessError::Unknown`]; [`AccessError::Hall`], if the revocation cannot be stored.
    pub async fn revoke(
        &self,
        by: &Caller,
        id: &TokenId,
        descent: RevocationScope,
    ) -> Result<Revocation, AccessError> {
        if self.principals().token_of(id).await.map_err(HallError::from)?.is_none() {
            return Err(AccessError::Unknown);
        }
        let entry = self.entry(by, AuditAction::TokenRevoked).about(id);
        let revoked = self.take_back(id, descent, &entry).await?;
        Ok(Revocation { revoked, left: self.came_of(id).await? })
    }

    /// Returns the valid tokens made from a token's invitations, directly or through others.
    ///
    /// # Errors
    /// [`HallError`], if the tokens cannot be read.
    pub async fn came_of(&self, id: &TokenId) -> Result<Vec<Token>, HallError> {
        let mut left = self.made_from_others().await?;
        let (mut known, now) = (BTreeSet::from([id.clone()]), self.hall.now());
        let mut found = Vec::new();
        loop {
            let of_known =
                |token: &Token| token.parent.as_ref().is_some_and(|parent| known.contains(parent));
            let (more, others): (Vec<Token>, Vec<Token>) = left.into_iter().partition(of_known);
            if more.is_empty() {
                break;
            }
            known.extend(more.iter().map(|token| token.id.clone()));
            found.extend(more);
            left = others;
        }
        found.retain(|token| token.is_valid(now) && !token.depends_on_parent());
        Ok(found)
    }

    /// Returns the tokens that have a parent.
    async fn made_from_others(&self) -> Result<Vec<Token>, HallError> {
        const PAGE: usize = 1000;
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.tokens(after.as_ref(), PAGE).await?;
            after = page.last().map(TokenPlace::of);
            let is_last = page.len() < PAGE;
            all.extend(page.into_iter().filter(|token| token.parent.is_some()));
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Revokes a token and the tokens that depend on it, as `descent` says. Then announces them, so
    /// that all connections that they opened close. Returns the tokens that were not revoked
    /// before.
    pub(super) async fn take_back(
        &self,
        id: &TokenId,
        descent: RevocationScope,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, HallError> {
        let revoked = self.principals().revoke(id, descent, self.hall.now(), entry).await?;
        self.tell_revoked(&revoked);
        Ok(revoked)
    }

    /// Notifies all connections that these tokens opened.
    pub(super) fn tell_revoked(&self, revoked: &[TokenId]) {
        for id in revoked {
            // An error means that the list of listeners is empty.
            let _ = self.revoked.send(id.clone());
        }
    }
}
