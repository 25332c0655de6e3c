//! Who stands behind a request, as far as its credentials tell.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use moothall_engine::hall::Hall;
use moothall_engine::sessions::{Asker, Status};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;

use crate::error::{ApiError, ApiResult, Code};
use crate::http::App;
use crate::request::sender;

/// What the token of a session begins with.
const SESSION_TOKEN: &str = "ses_";

/// Who asks.
#[derive(Clone, Debug)]
pub enum Caller {
    /// The program of a session, by the token of its environment.
    Session(Box<Status>),
    /// Nobody is proven: the request's own word counts.
    Anyone,
}

impl Caller {
    /// Who sends such headers.
    pub fn of(hall: &Hall, headers: &HeaderMap) -> ApiResult<Self> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = given.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match bearer.map(|(_, token)| token.trim()).filter(|token| token.starts_with(SESSION_TOKEN)) {
            None => Ok(Self::Anyone),
            Some(token) => Self::of_session(hall, token),
        }
    }

    fn of_session(hall: &Hall, token: &str) -> ApiResult<Self> {
        let refused = || ApiError::plain(Code::UnknownToken);
        let sessions = hall.sessions().map_err(|_| refused())?;
        let id = sessions.by_token(token).ok_or_else(refused)?;
        let status = sessions.find(id.as_str()).map_err(|_| refused())?;
        if status.session.ended.is_some() {
            return Err(refused());
        }
        Ok(Self::Session(Box::new(status)))
    }

    /// Its session.
    pub fn session(&self) -> Option<&Status> {
        match self {
            Self::Session(status) => Some(status),
            Self::Anyone => None,
        }
    }

    /// The one who asks: the session, or whom the request names. A session speaks for itself only.
    pub fn asker(&self, from: Option<&str>) -> ApiResult<Asker> {
        let from = from.filter(|from| !from.is_empty());
        match self {
            Self::Anyone => sender(from.unwrap_or(ParticipantId::USER)).map(Asker::Actor),
            Self::Session(status) => {
                let own = |from: &str| from == status.session.name.as_str() || from == status.session.id.as_str();
                if from.is_none_or(own) {
                    return Ok(Asker::Session(status.session.id.clone()));
                }
                let message = format!("The token is that of the session {}; leave `from` out.", status.session.name);
                Err(ApiError::new(Code::WrongSpeaker, message))
            }
        }
    }

    /// The same, as the rules of conversations know it.
    pub fn actor(&self, from: Option<&str>) -> ApiResult<Actor> {
        match (self.asker(from)?, self) {
            (Asker::Actor(actor), _) => Ok(actor),
            (Asker::Session(_), Self::Session(status)) => Ok(Actor::named(status.session.name.as_str())),
            (Asker::Session(id), Self::Anyone) => Ok(Actor::named(id.as_str())),
        }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        Self::of(&app.hall, &parts.headers)
    }
}
