//! What somebody may do with a session: the one place for it, for the routes, the tools and what a
//! conversation can bring about.

use moothall_kernel::participant::Kind;

use super::{AccessError, Caller, Denied, Reach};
use crate::hall::Hall;
use crate::sessions::{SessionError, Starter, Status};

/// What is wanted of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAct {
    /// To see that it is there, and what it is doing.
    Seeing,
    /// To say something to it, to link it, to invite it, and to read what it was told and said
    /// where the caller may read.
    Telling,
    /// To look at its terminal.
    Looking,
    /// To interrupt it and to end it.
    Steering,
    /// To sit down at its terminal: a person's.
    Sitting,
}

/// How somebody stands to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// They may do everything.
    Above,
    /// It is their own.
    Own,
    /// They had it started.
    Starter,
    /// They are in a conversation with it.
    Beside,
    /// They see it, and no more.
    Apart,
    /// They do not know of it.
    Nowhere,
}

impl Hall {
    /// The session that a word means, if the caller may do this with it. Whether they need a
    /// credential at all, the row of the route says.
    ///
    /// # Errors
    /// [`AccessError::Denied`]; [`AccessError::Session`] where there is none that the caller sees.
    pub async fn permit_over(
        &self,
        caller: &Caller,
        over: SessionAct,
        word: &str,
    ) -> Result<Status, AccessError> {
        let status = self.sessions()?.find(word)?;
        let name = || status.session.name.clone();
        let unseen = || AccessError::Session(SessionError::NotFound(word.trim().to_owned()));
        match (over, self.stands(caller, &status).await?) {
            (_, Stands::Above) => Ok(status),
            (_, Stands::Nowhere) => Err(unseen()),
            (SessionAct::Seeing, _) => Ok(status),
            (SessionAct::Telling, Stands::Own | Stands::Starter | Stands::Beside) => Ok(status),
            (SessionAct::Telling, Stands::Apart) => Err(Denied::NotMet(name()).into()),
            (SessionAct::Looking, Stands::Own | Stands::Starter)
            | (SessionAct::Steering, Stands::Starter) => Ok(status),
            (SessionAct::Looking, Stands::Beside | Stands::Apart)
            | (SessionAct::Steering, Stands::Own | Stands::Beside | Stands::Apart) => {
                Err(Denied::NotStarted(name()).into())
            }
            (
                SessionAct::Sitting,
                Stands::Own | Stands::Starter | Stands::Beside | Stands::Apart,
            ) => Err(Denied::Person("sit down at the terminal of a session").into()),
        }
    }

    /// Whether the caller sees that a session is there.
    pub fn sees(&self, caller: &Caller, status: &Status) -> bool {
        let Some(own) = caller.session() else { return true };
        let id = &status.session.id;
        caller.reach == Reach::All
            || own == id
            || status.session.started_by == Some(Starter::Session(own.clone()))
            || { self.inner.residents.meet(own, id) }
    }

    async fn stands(&self, caller: &Caller, status: &Status) -> Result<Stands, AccessError> {
        let Some(proof) = caller.proof.as_deref() else { return Ok(Stands::Above) };
        if proof.principal.kind == Kind::Human {
            return Ok(Stands::Above);
        }
        let (id, started_by) = (&status.session.id, status.session.started_by.as_ref());
        let Some(own) = &proof.session else {
            let started = started_by == Some(&Starter::Agent(proof.principal.id.clone()));
            let beside = !started && self.inner.residents.shares(&proof.principal.id, id).await?;
            return Ok(if started {
                Stands::Starter
            } else if beside {
                Stands::Beside
            } else {
                Stands::Apart
            });
        };
        Ok(if own == id {
            Stands::Own
        } else if started_by == Some(&Starter::Session(own.clone())) {
            Stands::Starter
        } else if self.sees(caller, status) {
            Stands::Beside
        } else {
            Stands::Nowhere
        })
    }
}
