//! Self-registration of agents. Each agent gets an id, a credential, and a claim with which its
//! owner becomes known.

use std::net::IpAddr;

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::names::check_chosen_id;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Millis;

use super::{
    Access, AccessError, AuditAction, AuditEntry, Caller, Mode, Principal, RandomnessError, Reach,
    Secret, TOKEN_VALID_MAX, Token, TokenHash, TokenId, TokenKind, registering, usual_scopes,
};
use crate::answers::HallError;
use crate::hall::inner::fresh_id;
use crate::ports::{AgentCard, CARDS_AN_HOUR_MAX, ClaimOutcome, RegisterOutcome, fresh_claim};

/// The prefix of claims.
const CLAIM: &str = "MZAP-";

/// An agent that asks to be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAgent {
    /// The agent's name: 3 to 32 of lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// The agent's description of itself.
    pub description: Option<String>,
}

/// A newly registered agent. The credential and the claim are shown only here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewlyRegistered {
    /// The agent's id: a UUID.
    pub agent: ParticipantId,
    /// The key with which the agent connects.
    pub key: Secret,
    /// The token with which the owner claims the agent.
    pub claim: String,
}

/// The reason why a registration or a claim failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RegistrationError {
    /// The invite code is missing or wrong.
    #[error("Invalid or missing invite code")]
    Code,
    /// The name is another agent's, or could be confused with another.
    #[error("The name {0:?} is taken, or too similar to another name. Choose another one.")]
    NameTaken(String),
    /// Too many agents registered within an hour.
    #[error(
        "Too many registrations {of}: at most {most} an hour. Wait, or use the existing agents."
    )]
    TooMany {
        /// The limit that was reached, as the end of a sentence: from this address, with this
        /// invite code, in this hall.
        of: &'static str,
        /// The maximum number within an hour.
        most: u64,
        /// The time to wait.
        wait: Millis,
    },
    /// The hall has the maximum number of agents.
    #[error(
        "This hall has reached its maximum number of agents. A person can free a name: moothall \
         agents free NAME"
    )]
    Full,
    /// The claim belongs to no agent.
    #[error("Invalid claim token")]
    NoClaim,
    /// The agent has another owner.
    #[error("Agent already claimed by a different owner")]
    OtherOwner,
    /// The log failed, or access was denied.
    #[error(transparent)]
    Access(#[from] AccessError),
}

impl From<HallError> for RegistrationError {
    fn from(error: HallError) -> Self {
        RegistrationError::Access(error.into())
    }
}

impl From<RandomnessError> for RegistrationError {
    fn from(error: RandomnessError) -> Self {
        RegistrationError::Access(error.into())
    }
}

/// Returns the hash of a claim or a code. Only hashes are stored and compared.
fn hash_of(text: &str) -> TokenHash {
    TokenHash::from_bytes(*blake3::hash(text.as_bytes()).as_bytes())
}

impl Access {
    /// Sets the code that agents need to register; `None` for no code.
    #[must_use]
    pub fn with_registration_code(self, code: Option<&str>) -> Self {
        Self { registration: code.map(hash_of), ..self }
    }

    /// Checks an invite code. If the server has no code, local mode lets all agents register, and
    /// token mode rejects all of them.
    fn check_code(&self, given: Option<&str>) -> Result<(), RegistrationError> {
        let lets_in = match &self.registration {
            Some(code) => given.is_some_and(|given| hash_of(given) == *code),
            None => self.mode() == Mode::Local,
        };
        if lets_in { Ok(()) } else { Err(RegistrationError::Code) }
    }

    /// Registers an agent under a name that is not used and resembles no other name. Its credential
    /// reaches no conversation by itself.
    ///
    /// # Errors
    /// [`RegistrationError`]; nothing was stored then.
    pub async fn register(
        &self,
        by: &Caller,
        agent: NewAgent,
        code: Option<&str>,
        from: Option<IpAddr>,
    ) -> Result<NewlyRegistered, RegistrationError> {
        self.check_code(code)?;
        self.registering.admit(from, self.registration.as_ref(), self.hall.now())?;
        let NewAgent { name, description } = agent;
        // The name has no principal yet, so an empty id exempts none from the comparison.
        let (called, nobody) = (ParticipantId::new(&name), ParticipantId::new(""));
        let means_another = check_chosen_id(&name).is_err()
            || self.hall.inner.residents.is_name_used(&called)
            || self.hall.resembled(&name, &nobody, None).await?.is_some();
        if means_another {
            return Err(RegistrationError::NameTaken(name));
        }
        let (key, now) = (Secret::fresh(TokenKind::Agent)?, self.hall.now());
        let id = ParticipantId::new(fresh_id(now).as_str());
        let claim = format!("{CLAIM}{}", fresh_claim()?.to_uppercase());
        let card = AgentCard {
            id: id.clone(),
            name: name.clone(),
            description,
            owner: None,
            created_at: now,
        };
        let token = Token {
            id: TokenId::fresh()?,
            kind: TokenKind::Agent,
            hash: key.hash(),
            principal: Principal { id: id.clone(), kind: Kind::Agent },
            scopes: usual_scopes(Kind::Agent),
            // The agent reaches its tasks and their conversations by being admitted to them.
            reach: Reach::Only(<_>::default()),
            label: name.clone(),
            parent: None,
            created_at: now,
            expires_at: now + TOKEN_VALID_MAX,
            last_used_at: None,
            revoked_at: None,
        };
        let entry = AuditEntry::of(by, AuditAction::Registered, now)
            .about(&token.id)
            .saying(format!("{name} as {id}"));
        let kept = self.principals().register(&card, &hash_of(&claim), &token, &entry).await;
        match kept.map_err(HallError::from)? {
            RegisterOutcome::Yes => Ok(NewlyRegistered { agent: id, key, claim }),
            RegisterOutcome::NameTaken => Err(RegistrationError::NameTaken(name)),
            RegisterOutcome::Full => Err(RegistrationError::Full),
            RegisterOutcome::TooMany => Err(RegistrationError::TooMany {
                of: "in this hall",
                most: CARDS_AN_HOUR_MAX,
                wait: registering::WINDOW,
            }),
        }
    }

    /// Sets the owner of an agent. An owner never changes. Returns the agent, and true if it had no
    /// owner before.
    ///
    /// # Errors
    /// [`RegistrationError`].
    pub async fn claim(
        &self,
        by: &Caller,
        claim: &str,
        owner: &str,
        code: Option<&str>,
    ) -> Result<(ParticipantId, bool), RegistrationError> {
        if self.registration.is_some() {
            self.check_code(code)?;
        }
        let entry =
            AuditEntry::of(by, AuditAction::Claimed, self.hall.now()).saying(format!("by {owner}"));
        let claimed = self.principals().claim_card(&hash_of(claim), owner, &entry).await;
        match claimed.map_err(HallError::from)? {
            ClaimOutcome::First(agent) => Ok((agent, true)),
            ClaimOutcome::Again(agent) => Ok((agent, false)),
            ClaimOutcome::OtherOwner => Err(RegistrationError::OtherOwner),
            ClaimOutcome::Unknown => Err(RegistrationError::NoClaim),
        }
    }
}
