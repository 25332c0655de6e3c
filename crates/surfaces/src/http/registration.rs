//! Routes with which agents register and people claim them. Errors have the form that agents of the
//! MoltZap protocol expect: one sentence, and a code if there is one.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use moothall_engine::access::{NewAgent, RegistrationError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::App;
use crate::error::ApiError;
use crate::jsonrpc::read_object;
use crate::request::{Address, Body};
use crate::wire::rpc::{
    AgentClaim, AgentClaimed, AgentRegistered, AgentRegistration, RegistrationRefused, Uuid,
};

const CLAIM_PATH: &str = "/api/v1/auth/claim";

/// Time until an agent should try again if the hall is full, in milliseconds.
const HOUR_MS: u64 = 3_600_000;

/// An error response, with the seconds until another try makes sense.
struct Refusal(StatusCode, RegistrationRefused, Option<u64>);

impl Refusal {
    fn new(status: StatusCode, error: impl Into<String>, code: Option<&str>) -> Self {
        let code = code.map(str::to_owned);
        Self(status, RegistrationRefused { error: error.into(), code, detail: None }, None)
    }

    fn after(mut self, wait_ms: u64) -> Self {
        self.2 = Some(wait_ms.div_ceil(1000).max(1));
        self
    }

    fn because(mut self, detail: String) -> Self {
        self.1.detail = Some(detail);
        self
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, body, retry_after) = self;
        let mut response = (status, Json(body)).into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<ApiError> for Refusal {
    /// Returns the error in the form of this protocol. The sentence for a bad request is fixed, and
    /// `detail` has the server's own.
    fn from(error: ApiError) -> Self {
        let (status, said) = (error.status(), error.detail());
        if status == StatusCode::BAD_REQUEST {
            return Self::new(status, "Invalid JSON", None).because(said.message.clone());
        }
        Self::new(status, said.message.clone(), None)
    }
}

impl From<RegistrationError> for Refusal {
    /// Returns the status and code of an error, with the time until another try if waiting helps.
    /// The client does not see the reason of an internal error, which is logged.
    fn from(error: RegistrationError) -> Self {
        let say = |status, code| Self::new(status, error.to_string(), code);
        match &error {
            RegistrationError::Code => say(StatusCode::FORBIDDEN, None),
            RegistrationError::NameTaken(_) => {
                say(StatusCode::CONFLICT, Some("REGISTRATION_CONFLICT"))
            }
            RegistrationError::TooMany { wait, .. } => {
                say(StatusCode::TOO_MANY_REQUESTS, Some("RATE_LIMITED")).after(wait.0)
            }
            RegistrationError::Full => {
                say(StatusCode::TOO_MANY_REQUESTS, Some("REGISTRATION_FULL")).after(HOUR_MS)
            }
            RegistrationError::NoClaim => say(StatusCode::UNAUTHORIZED, Some("CLAIM_NOT_FOUND")),
            RegistrationError::OtherOwner => {
                say(StatusCode::FORBIDDEN, Some("CLAIM_OWNER_MISMATCH"))
            }
            RegistrationError::Access(fault) => {
                tracing::warn!(error = %fault, "an agent could not register");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Registration failed", None)
            }
        }
    }
}

/// Reads the fields of a body. Returns the body as well, because it names the caller.
fn read<T: DeserializeOwned>(body: Result<Body, ApiError>) -> Result<(Body, T), Refusal> {
    let body = body?;
    let wrong =
        |detail| Refusal::new(StatusCode::BAD_REQUEST, "Invalid parameters", None).because(detail);
    let read = read_object(Value::Object(body.fields.clone())).map_err(wrong)?;
    Ok((body, read))
}

/// Returns the response for a failed registration or claim. A wrong code or claim counts as a wrong
/// key, and after too many of them the response is that of the rate limit.
fn refused(app: &App, address: Option<IpAddr>, error: RegistrationError) -> Refusal {
    let is_wrong = matches!(error, RegistrationError::Code | RegistrationError::NoClaim);
    let limited = if is_wrong { app.rates.wrong_key(address) } else { None };
    limited.map_or_else(|| error.into(), Refusal::from)
}

fn answer(status: StatusCode, body: impl Serialize) -> Response {
    (status, Json(body)).into_response()
}

/// Registers an agent, which can connect at once.
///
/// In token mode, or if the operator set an invite code, the request needs that code.
#[utoipa::path(post, path = "/api/v1/auth/register", operation_id = "register_agent", tag = "agents", request_body = AgentRegistration,
    responses((status = 201, body = AgentRegistered), (status = "4XX", body = RegistrationRefused)))]
pub async fn register(
    State(app): State<App>,
    Address(address): Address,
    headers: HeaderMap,
    body: Result<Body, ApiError>,
) -> Response {
    let registering = async {
        let (body, registration) = read::<AgentRegistration>(body)?;
        let AgentRegistration { name, description, invite_code } = registration;
        let agent = NewAgent { name: name.into(), description: description.map(Into::into) };
        let code = invite_code.as_deref();
        let new = app.access.register(body.caller(), agent, code, address).await;
        let new = new.map_err(|error| refused(&app, address, error))?;
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let scheme = if app.over_tls { "https" } else { "http" };
        Ok::<_, Refusal>(AgentRegistered {
            agent_id: Uuid(uuid::Uuid::try_parse(new.agent.as_str()).unwrap_or_default()),
            api_key: new.key.reveal().to_owned(),
            claim_token: new.claim,
            claim_url: format!("{scheme}://{}{CLAIM_PATH}", host.unwrap_or_default()),
        })
    };
    match registering.await {
        Ok(registered) => answer(StatusCode::CREATED, registered),
        Err(refusal) => refusal.into_response(),
    }
}

/// Sets the owner of an agent, with the claim token from its registration. Repeating the request
/// changes nothing. The owner cannot be changed.
#[utoipa::path(post, path = "/api/v1/auth/claim", operation_id = "claim_agent", tag = "agents", request_body = AgentClaim,
    responses((status = 200, body = AgentClaimed), (status = 201, body = AgentClaimed), (status = "4XX", body = RegistrationRefused)))]
pub async fn claim(
    State(app): State<App>,
    Address(address): Address,
    body: Result<Body, ApiError>,
) -> Response {
    let claiming = async {
        let (body, claim) = read::<AgentClaim>(body)?;
        let AgentClaim { claim_token, owner_user_id, invite_code } = claim;
        let owner = owner_user_id.to_string();
        let code = invite_code.as_deref();
        let claimed = app.access.claim(body.caller(), &claim_token, &owner, code).await;
        let (agent, first) = claimed.map_err(|error| refused(&app, address, error))?;
        let agent_id = Uuid(uuid::Uuid::try_parse(agent.as_str()).unwrap_or_default());
        let status = if first { StatusCode::CREATED } else { StatusCode::OK };
        Ok::<_, Refusal>((status, AgentClaimed { agent_id, owner_user_id }))
    };
    match claiming.await {
        Ok((status, claimed)) => answer(status, claimed),
        Err(refusal) => refusal.into_response(),
    }
}
