//! Principals, tokens and the audit record in memory.

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Kind;
use moothall_kernel::time::{Millis, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

use super::MemoryLog;
use crate::ports::{
    AgentCard, AuditEntry, AuditRecord, CARDS_LISTED_MAX, CardCount, ClaimOutcome, InsertOutcome,
    LogError, Principal, Principals, RegisterOutcome, Registration, RevocationScope, Token,
    TokenHash, TokenId, TokenKind, TokenPlace,
};

const HOUR: Millis = Millis::from_secs(3_600);

/// The principals, their credentials and the audit record.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    principals: BTreeMap<ParticipantId, Kind>,
    tokens: Vec<Token>,
    record: Vec<AuditEntry>,
    cards: Vec<StoredCard>,
}

/// A card, and the hash of its claim code.
#[derive(Clone, Debug)]
struct StoredCard {
    card: AgentCard,
    claim: TokenHash,
}

impl Keys {
    /// Stores a token, and its principal if that is new. Refuses a token whose principal exists as
    /// the other kind. Also removes expired sign-in tokens.
    fn add(&mut self, token: &Token, entry: &AuditEntry) -> InsertOutcome {
        let kind =
            *self.principals.entry(token.principal.id.clone()).or_insert(token.principal.kind);
        if kind != token.principal.kind {
            return InsertOutcome::OtherKind;
        }
        self.tokens
            .retain(|old| old.kind != TokenKind::SignIn || token.created_at < old.expires_at);
        self.tokens.push(token.clone());
        self.record.push(entry.clone());
        InsertOutcome::Yes
    }

    pub(super) fn record(&mut self, entry: &AuditEntry) {
        self.record.push(entry.clone());
    }

    /// Revokes the selected tokens, and returns those that were not revoked before.
    fn mark_revoked(&mut self, meant: impl Fn(&Token) -> bool, at: Timestamp) -> Vec<TokenId> {
        let valid = self.tokens.iter_mut().filter(|token| token.revoked_at.is_none());
        let revoked = valid.filter(|token| meant(token)).map(|token| {
            token.revoked_at = Some(at);
            token.id.clone()
        });
        revoked.collect()
    }

    /// Revokes the selected tokens, and records the entry if any of them was not revoked before.
    /// Returns those that were not.
    fn revoke(
        &mut self,
        meant: impl Fn(&Token) -> bool,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Vec<TokenId> {
        let revoked = self.mark_revoked(meant, at);
        if !revoked.is_empty() {
            self.record.push(entry.clone());
        }
        revoked
    }

    fn find(&mut self, id: &TokenId) -> Option<&mut Token> {
        self.tokens.iter_mut().find(|token| token.id == *id)
    }

    /// Stores a new agent with its card and token, unless its name or id is taken or a limit of
    /// registrations is reached.
    fn register(
        &mut self,
        card: &AgentCard,
        claim: &TokenHash,
        token: &Token,
        entry: &AuditEntry,
    ) -> RegisterOutcome {
        let is_named = self.cards.iter().any(|kept| kept.card.name == card.name);
        if is_named || self.principals.contains_key(&card.id) {
            return RegisterOutcome::NameTaken;
        }
        if let Some(refused) = self.count(card.created_at).refuses(card) {
            return refused;
        }
        self.add(&Token { principal: card.principal(), ..token.clone() }, entry);
        self.cards.push(StoredCard { card: card.clone(), claim: *claim });
        RegisterOutcome::Yes
    }

    /// Counts the registered agents, their bytes, and the agents that registered within the last
    /// hour.
    fn count(&self, now: Timestamp) -> CardCount {
        let lately = |kept: &&StoredCard| kept.card.created_at.is_within(HOUR, now);
        CardCount {
            all: self.cards.len() as u64,
            bytes: self.cards.iter().map(|kept| kept.card.weight()).sum(),
            lately: self.cards.iter().filter(lately).count() as u64,
        }
    }

    /// Returns a registered agent with the time of its last use. It counts as revoked if all of its
    /// tokens are revoked.
    fn registration(&self, card: &AgentCard) -> Registration {
        let own = || self.tokens.iter().filter(|token| token.principal.id == card.id);
        Registration {
            card: card.clone(),
            revoked: own().all(|token| token.revoked_at.is_some()),
            last_used_at: own().filter_map(|token| token.last_used_at).max(),
        }
    }

    /// Sets the owner of the agent with this claim, if it has none. Only this first claim is
    /// recorded.
    fn claim_card(&mut self, claim: &TokenHash, owner: &str, entry: &AuditEntry) -> ClaimOutcome {
        let Some(StoredCard { card, .. }) = self.cards.iter_mut().find(|kept| kept.claim == *claim)
        else {
            return ClaimOutcome::Unknown;
        };
        match &card.owner {
            None => {
                card.owner = Some(owner.to_owned());
                self.record.push(entry.clone());
                ClaimOutcome::First(card.id.clone())
            }
            Some(known) if known == owner => ClaimOutcome::Again(card.id.clone()),
            Some(_) => ClaimOutcome::OtherOwner,
        }
    }

    /// Returns the cards whose id or name, as `word_of` chooses, is one of these words, in the
    /// order of the words. A repeated word counts only once.
    fn cards<'a>(
        &self,
        words: impl Iterator<Item = &'a str>,
        word_of: impl Fn(&AgentCard) -> &str,
    ) -> Vec<AgentCard> {
        let mut seen = BTreeSet::new();
        words
            .filter(|word| seen.insert(*word))
            .filter_map(|word| self.cards.iter().find(|kept| word_of(&kept.card) == word))
            .map(|kept| kept.card.clone())
            .collect()
    }

    fn cards_of(&self, owner: &str) -> Vec<AgentCard> {
        let cards = self.cards.iter().map(|kept| &kept.card);
        let mut own: Vec<_> =
            cards.filter(|card| card.owner.as_deref() == Some(owner)).cloned().collect();
        own.sort_by_key(|card| card.created_at);
        own.truncate(CARDS_LISTED_MAX);
        own
    }
}

#[async_trait]
impl Principals for MemoryLog {
    async fn add_token(
        &self,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<InsertOutcome, LogError> {
        Ok(self.to_write()?.keys.add(token, entry))
    }

    async fn redeem(
        &self,
        invitation: &TokenId,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<InsertOutcome, LogError> {
        let keys = &mut self.to_write()?.keys;
        let usable = |found: &mut Token| found.is_code() && found.is_valid(entry.at);
        if !keys.find(invitation).is_some_and(usable) {
            return Ok(InsertOutcome::Used);
        }
        let kept = keys.add(token, entry);
        if let (InsertOutcome::Yes, Some(used)) = (kept, keys.find(invitation)) {
            used.revoked_at = Some(entry.at);
        }
        Ok(kept)
    }

    async fn token(&self, hash: &TokenHash) -> Result<Option<Token>, LogError> {
        Ok(self.tables().keys.tokens.iter().find(|token| token.hash == *hash).cloned())
    }

    async fn tokens(
        &self,
        after: Option<&TokenPlace>,
        limit: usize,
    ) -> Result<Vec<Token>, LogError> {
        let mut tokens = self.tables().keys.tokens.clone();
        tokens.sort_by_key(TokenPlace::of);
        tokens.retain(|token| after.is_none_or(|after| TokenPlace::of(token) > *after));
        tokens.truncate(limit);
        Ok(tokens)
    }

    async fn token_of(&self, id: &TokenId) -> Result<Option<Token>, LogError> {
        Ok(self.tables().keys.tokens.iter().find(|token| token.id == *id).cloned())
    }

    async fn revoke(
        &self,
        id: &TokenId,
        descent: RevocationScope,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError> {
        let keys = &mut self.to_write()?.keys;
        let mut meant = BTreeSet::from([id.clone()]);
        // A parent is always stored before the tokens made from it, so one pass finds all of them.
        for token in &keys.tokens {
            let goes = descent == RevocationScope::All || token.depends_on_parent();
            if goes && token.parent.as_ref().is_some_and(|parent| meant.contains(parent)) {
                meant.insert(token.id.clone());
            }
        }
        Ok(keys.revoke(|token| meant.contains(&token.id), at, entry))
    }

    async fn revoke_all(
        &self,
        principal: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError> {
        let keys = &mut self.to_write()?.keys;
        Ok(keys.revoke(|token| token.principal.id == *principal, at, entry))
    }

    /// Revokes the invitations of a participant, and those that the participant's tokens made. Only
    /// invitations into this conversation alone are revoked.
    async fn cancel_invitations(
        &self,
        stream: &StreamId,
        of: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError> {
        let keys = &mut self.to_write()?.keys;
        let own: BTreeSet<TokenId> = keys
            .tokens
            .iter()
            .filter(|token| token.principal.id == *of)
            .map(|token| token.id.clone())
            .collect();
        let meant = |token: &Token| {
            let is_own = |parent: &TokenId| {
                own.contains(parent) || (parent.is_startup() && *of == ParticipantId::user())
            };
            let made = token.parent.as_ref().is_some_and(is_own);
            token.invites_into(stream) && (made || token.principal.id == *of)
        };
        Ok(keys.revoke(meant, at, entry))
    }

    async fn note_use(&self, id: &TokenId, at: Timestamp) -> Result<(), LogError> {
        if let Some(token) = self.to_write()?.keys.find(id) {
            token.last_used_at = Some(at);
        }
        Ok(())
    }

    async fn names(&self) -> Result<Vec<(String, ParticipantId)>, LogError> {
        let keys = &self.tables().keys;
        let ids = keys.principals.keys().map(|id| (id.to_string(), id.clone()));
        let cards = keys.cards.iter().map(|kept| (kept.card.name.clone(), kept.card.id.clone()));
        Ok(ids.chain(cards).collect())
    }

    async fn principal(&self, id: &ParticipantId) -> Result<Option<Principal>, LogError> {
        Ok(self
            .tables()
            .keys
            .principals
            .get(id)
            .map(|kind| Principal { id: id.clone(), kind: *kind }))
    }

    async fn register(
        &self,
        card: &AgentCard,
        claim: &TokenHash,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<RegisterOutcome, LogError> {
        Ok(self.to_write()?.keys.register(card, claim, token, entry))
    }

    async fn registrations(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Registration>, LogError> {
        let keys = &self.tables().keys;
        let mut cards: Vec<_> = keys.cards.iter().map(|kept| &kept.card).collect();
        cards.sort_by(|one, other| one.name.cmp(&other.name));
        let rest = cards.into_iter().filter(|card| after.is_none_or(|after| *card.name > *after));
        Ok(rest.take(limit).map(|card| keys.registration(card)).collect())
    }

    async fn free_card(
        &self,
        agent: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Option<Vec<TokenId>>, LogError> {
        let keys = &mut self.to_write()?.keys;
        let Some(place) = keys.cards.iter().position(|kept| kept.card.id == *agent) else {
            return Ok(None);
        };
        keys.cards.remove(place);
        keys.record.push(entry.clone());
        Ok(Some(keys.mark_revoked(|token| token.principal.id == *agent, at)))
    }

    async fn cards(&self, ids: &[ParticipantId]) -> Result<Vec<AgentCard>, LogError> {
        let ids = ids.iter().map(ParticipantId::as_str);
        Ok(self.tables().keys.cards(ids, |card| card.id.as_str()))
    }

    async fn cards_named(&self, names: &[String]) -> Result<Vec<AgentCard>, LogError> {
        let names = names.iter().map(String::as_str);
        Ok(self.tables().keys.cards(names, |card| &card.name))
    }

    async fn cards_of(&self, owner: &str) -> Result<Vec<AgentCard>, LogError> {
        Ok(self.tables().keys.cards_of(owner))
    }

    async fn claim_card(
        &self,
        claim: &TokenHash,
        owner: &str,
        entry: &AuditEntry,
    ) -> Result<ClaimOutcome, LogError> {
        Ok(self.to_write()?.keys.claim_card(claim, owner, entry))
    }

    async fn record(&self, entry: &AuditEntry) -> Result<(), LogError> {
        self.to_write()?.keys.record(entry);
        Ok(())
    }

    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, LogError> {
        let tables = self.tables();
        let numbered = tables.keys.record.iter().enumerate().rev();
        let numbered = numbered
            .map(|(place, entry)| AuditRecord { number: place as u64 + 1, entry: entry.clone() });
        Ok(numbered
            .filter(|row| before.is_none_or(|before| row.number < before))
            .take(limit)
            .collect())
    }
}
