//! Invitations: codes that can be passed on. Each code can be exchanged for a token only one time.

use std::collections::BTreeSet;

use moothall_kernel::Conversation;
use moothall_kernel::command::{ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::{Kind, Profile};
use moothall_kernel::planted::{self, Bypass};
use moothall_kernel::time::Millis;

use super::{
    Access, AccessDenial, AccessError, AuditAction, Caller, InsertOutcome, Principal, Reach, Scope,
    Scopes, Secret, TOKEN_VALID, Token, TokenId, TokenKind, check_scopes, describe, usual_scopes,
};
use crate::answers::HallError;

/// Default validity of an invitation.
pub const INVITATION_VALID: Millis = Millis::from_secs(86_400);
/// Maximum validity of an invitation.
pub const INVITATION_VALID_MAX: Millis = Millis::from_secs(7 * 86_400);

/// A request for an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewInvitation {
    /// The conversation to invite into; `None` for the whole hall, which only administrators may.
    pub stream: Option<StreamId>,
    /// The person or agent who is invited.
    pub principal: Principal,
    /// The scopes of the token. By default the usual scopes of the kind, as far as the inviter has
    /// them.
    pub scopes: Option<Scopes>,
    /// The validity of the code; [`INVITATION_VALID`] by default.
    pub valid_for: Option<Millis>,
}

impl Access {
    /// Makes a code that can be exchanged one time for a token, which reaches one conversation or
    /// the whole hall. The inviter cannot pass on scopes that it does not have.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was made then.
    pub async fn invite(
        &self,
        by: &Caller,
        wanted: NewInvitation,
    ) -> Result<(Secret, Token), AccessError> {
        let NewInvitation { stream, principal, scopes, valid_for } = wanted;
        match &stream {
            Some(stream) => self.hall.find(stream).await.map(drop)?,
            None => by.must(Scope::ServerAdmin)?,
        }
        self.may_invite(by, &principal).await?;
        let usual =
            || usual_scopes(principal.kind).iter().filter(|scope| by.scopes.has(*scope)).collect();
        let scopes = scopes.unwrap_or_else(usual);
        scopes.iter().try_for_each(|scope| by.must(scope))?;
        check_scopes(&principal, scopes, stream.is_some())?;
        self.check_name(&principal).await?;
        if let Some(stream) = &stream {
            self.check_in(stream, &principal).await?;
        }
        let valid_for = valid_for.unwrap_or(INVITATION_VALID);
        if valid_for.0 == 0 || valid_for > INVITATION_VALID_MAX {
            return Err(AccessError::Invalid("An invitation is valid for at most a week.".into()));
        }
        let (secret, now) = (Secret::fresh(TokenKind::Invitation)?, self.hall.now());
        let token = Token {
            id: TokenId::fresh()?,
            kind: TokenKind::Invitation,
            hash: secret.hash(),
            principal,
            scopes,
            reach: stream.map_or(Reach::All, |stream| Reach::Only(BTreeSet::from([stream]).into())),
            label: String::new(),
            parent: by
                .proof
                .as_deref()
                .filter(|_| !planted::is_open(Bypass::Returning))
                .map(|proof| proof.root().clone()),
            created_at: now,
            expires_at: now + valid_for,
            last_used_at: None,
            revoked_at: None,
        };
        let entry = self.entry(by, AuditAction::Invited).about(&token.id).saying(describe(&token));
        self.store(&token, &entry).await?;
        Ok((secret, token))
    }

    /// Rejects an agent under the id of a person in the conversation, a person under the id of an
    /// agent in it, and a name that resembles another name in it.
    async fn check_in(&self, stream: &StreamId, principal: &Principal) -> Result<(), AccessError> {
        let id = principal.id.clone();
        let kind = principal.kind;
        let is_another = move |state: &Conversation| match kind {
            Kind::Agent => state.is_human(&id),
            Kind::Human => state.participant(&id).is_some_and(|known| known.kind == Kind::Agent),
        };
        if self.hall.view(stream, is_another).await? {
            return Err(AccessError::OtherKind(principal.id.clone()));
        }
        match self.hall.resembled_in(stream, &principal.id).await? {
            Some(taken) => Err(AccessError::LooksLike(principal.id.clone(), taken)),
            None => Ok(()),
        }
    }

    /// Checks that the caller may invite this principal. An administrator may invite every
    /// principal. Other callers need a credential that is not a session's. They may not invite a
    /// known principal, because the holder of the code could speak as that principal. An agent may
    /// not invite a person, because it could use the code itself.
    async fn may_invite(&self, by: &Caller, principal: &Principal) -> Result<(), AccessError> {
        if by.scopes.has(Scope::ServerAdmin) {
            return Ok(());
        }
        let own = by.principal().ok_or(AccessDenial::Proof(Scope::ParticipantsInvite))?;
        if by.session().is_some() {
            return Err(AccessDenial::Session.into());
        }
        let agent = own.kind == Kind::Agent && principal.kind == Kind::Human;
        let known =
            self.principals().principal(&principal.id).await.map_err(HallError::from)?.is_some();
        if agent || known || principal.id.as_str() == ParticipantId::USER {
            return Err(
                AccessDenial::Name { own: own.id.clone(), claimed: principal.id.clone() }.into()
            );
        }
        Ok(())
    }

    /// True unless, since the invitation was made, the inviter or the invited principal was removed
    /// from the conversation, or the inviter's credential was revoked. Removing a participant also
    /// cancels its codes, so that they stay invalid if the participant returns. This check covers a
    /// server that died before it cancelled them.
    async fn still_invites(&self, invitation: &Token) -> Result<bool, HallError> {
        let mut concerned = vec![invitation.principal.id.clone()];
        if let Some(parent) = &invitation.parent {
            match self.principals().token_of(parent).await? {
                Some(maker) if maker.revoked_at.is_some() => return Ok(false),
                Some(maker) => concerned.push(maker.principal.id),
                None if parent.is_startup() => concerned.push(ParticipantId::user()),
                None => {}
            }
        }
        let made = invitation.created_at;
        let Some(only) = invitation.reach.only() else { return Ok(true) };
        for stream in only.iter() {
            let concerned = concerned.clone();
            let left =
                move |state: &Conversation| concerned.iter().any(|id| state.left_after(id, made));
            if self.hall.view(stream, left).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Exchanges an invitation for a token, and lists an invited person as a participant. Returns
    /// `None` if the invitation is not valid. The secret is shown only in this answer.
    ///
    /// # Errors
    /// [`AccessError`], if the invitation cannot be looked up, or the token cannot be stored.
    pub async fn accept(&self, presented: &str) -> Result<Option<(Secret, Token)>, AccessError> {
        let Some(hash) = Secret::parse(presented).map(|secret| secret.hash()) else {
            return Ok(None);
        };
        let (principals, now) = (self.principals(), self.hall.now());
        let found = principals.token(&hash).await.map_err(HallError::from)?;
        let Some(invitation) =
            found.filter(|token| token.kind == TokenKind::Invitation && token.is_valid(now))
        else {
            return Ok(None);
        };
        if !self.leads_somewhere(&invitation).await? || !self.still_invites(&invitation).await? {
            return Ok(None);
        }
        let kind = TokenKind::of(invitation.principal.kind);
        let secret = Secret::fresh(kind)?;
        let token = Token {
            id: TokenId::fresh()?,
            kind,
            hash: secret.hash(),
            label: "by invitation".into(),
            created_at: now,
            expires_at: now + TOKEN_VALID,
            ..invitation.clone()
        };
        let guest = self.anonymous();
        let entry = self
            .entry(&guest, AuditAction::Accepted)
            .about(&token.id)
            .saying(format!("invitation {}", invitation.id));
        let kept =
            principals.redeem(&invitation.id, &token, &entry).await.map_err(HallError::from)?;
        if kept != InsertOutcome::Yes {
            return Ok(None);
        }
        self.join(&token).await;
        Ok(Some((secret, token)))
    }

    /// Makes an invited person a participant of the conversations that the token reaches, so that
    /// others can address the person. The step uses the person's own rights. If these rights do not
    /// suffice, the person can use the conversations without being listed.
    async fn join(&self, token: &Token) {
        if token.principal.kind != Kind::Human {
            return;
        }
        let door = self.hall.as_(self.holder(token.clone(), self.hall.now()).await);
        let Ok(Some(by)) = door.named_actor(None) else { return };
        let facts = self.hall.registry().facts("human");
        let profile = Profile { client: Some("human".to_owned()), ..Profile::default() };
        let invite = Invite::new(by.id.as_str(), profile, facts);
        let command = ClientCommand::Control { by, controls: vec![Control::Invite(invite)] };
        for stream in token.reach.only().iter().flat_map(|streams| streams.iter()) {
            let id = token.principal.id.clone();
            let is_listed = move |state: &Conversation| state.participant(&id).is_some();
            // An agent that was invited under this name in the meantime stays an agent.
            if self.hall.view(stream, is_listed).await.unwrap_or(true) {
                continue;
            }
            let joined = match door.permit(stream, command.clone()).await {
                Ok(permitted) => door.submit(permitted, None).await.map(drop),
                Err(_) => continue,
            };
            if let Err(error) = joined {
                tracing::debug!(%stream, %error, "an invited person is not listed");
            }
        }
    }

    /// True if the conversations of an invitation still exist.
    async fn leads_somewhere(&self, invitation: &Token) -> Result<bool, AccessError> {
        let streams = invitation.reach.only();
        for stream in streams.iter().flat_map(|streams| streams.iter()) {
            match self.hall.find(stream).await {
                Ok(_) => {}
                Err(HallError::NotFound(_) | HallError::Deleted(_)) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}
