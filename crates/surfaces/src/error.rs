//! Every error that a request can get, in one table, and the response for it.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use moothall_engine::access::{AccessDenial, AccessError, SessionRequestError};
use moothall_engine::hall::HallError;
use moothall_engine::sessions::SessionError;
use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::ids::{Seq, StreamId};

use crate::json::{JsonFault, JsonFaultKind};
use crate::next_steps::Reader;
use crate::peer::UnknownPeer;
use crate::wire::{ErrorBody, ErrorDetail};

macro_rules! codes {
    ($($name:ident = $status:literal $meaning:literal;)*) => {
        /// Error codes of the server itself, with their status. Codes of the conversation rules are
        /// in [`RULE_CODES`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[derive(strum::IntoStaticStr, strum::VariantArray)]
        #[strum(serialize_all = "snake_case")]
        pub enum Code {
            $(#[doc = $meaning] $name,)*
        }

        impl Code {
            /// Returns the HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Code::$name => $status,)* }
            }

            /// Returns the meaning, and the client's next step.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    MalformedJson = 400 "The body is not JSON in UTF-8, or there is none.";
    DuplicateKey = 400 "An object in the body names a key twice, so programs would read it differently.";
    TooDeep = 400 "The body nests deeper than 32.";
    BadNumber = 400 "A number in the body is beyond ±(2⁵³−1) or is negative zero, so programs would read it differently.";
    MissingFrom = 400 "The body has no `from`.";
    MissingContent = 400 "The message has no `content`.";
    UnknownType = 400 "`types` names a type of events that there is not; the message lists those there are.";
    MissingState = 400 "The presence has no `state`.";
    BadIdempotencyKey = 400 "`Idempotency-Key` takes 1 to 255 visible ASCII characters, once.";
    BadHost = 400 "The request has no `Host` header, or several.";
    TlsRequired = 400 "This server speaks TLS: write `https://` in its address. Plain HTTP is for programs on its own computer.";
    Unauthenticated = 401 "There is no credential, or one that is worth nothing: unknown, mistyped, expired, revoked, or of a session that has ended. Send `Authorization: Bearer <token>`, or sign in.";
    Forbidden = 403 "The credential, or having none, does not allow this; the message says what does.";
    WrongOrigin = 403 "The request comes from a web page that this server does not trust.";
    OtherUser = 403 "You are another user of this computer than the one who runs this server. They can let every user in with `other_users = true` in `[server]`, or use `--mode token` and give you a token.";
    OwnerUnknown = 403 "The system does not say which user of this computer asks, and in local mode the server is for the one who runs it. Show a credential: use `moothall` as that user, open the page at the address that `moothall page` prints, or send `Authorization: Bearer <token>`. Or let the server ask (a service of systemd needs `AF_NETLINK` in `RestrictAddressFamilies`), use `--mode token`, or write `unasked = \"converse\"` in `[server]`, which lets every user of this computer converse.";
    Forwarded = 403 "The request came through a proxy, and in local mode the server is for the programs of its own user. Use `--mode token` behind a proxy; to reach it from elsewhere, `ssh -L` passes connections on as they are.";
    ReservedSender = 403 "`from` names the server itself.";
    SessionRequired = 403 "Only a session can do this: the request has to bring the token of its environment.";
    WrongSpeaker = 403 "`from` names somebody else than the one who asks.";
    NotFound = 404 "There is nothing at this path.";
    ThreadNotFound = 404 "There is no thread with this id.";
    UnknownEvent = 404 "There is no event with this id in the thread.";
    UnknownTurn = 404 "There is no turn with this id.";
    UnknownToken = 404 "There is no token with this id; `GET /tokens` lists them.";
    UnknownAgent = 404 "No registered agent has this id or name; `GET /registrations` lists them.";
    UnknownApp = 404 "No agent has this app; `GET /apps` lists those that one has.";
    SessionNotFound = 404 "There is no session with this id or name.";
    PaneNotFound = 404 "There is no such pane of tmux, or another program has it by now.";
    LinkNotFound = 404 "There is no link with this id, or it is closed.";
    MethodNotAllowed = 405 "The path exists, but not for this method; `Allow` lists those it takes.";
    RequestTimeout = 408 "The body did not arrive within 30 seconds.";
    TokenShown = 409 "This request has made its token already, and a token is shown once. Revoke that one and make another.";
    PrincipalTaken = 409 "The principal is known as a person where an agent is named, or the other way round; or it is, or was, the name of a session, or looks like the name of another.";
    ThreadReadOnly = 409 "A newer version of Moothall wrote to the thread; it can be read here, not written.";
    SessionEnded = 409 "The session is over; nothing can be sent to it.";
    SessionConflict = 409 "The session, or another one, is in the way of this; the message says how.";
    ThreadDeleted = 410 "The thread was deleted, with everything that was said in it. Backups that were made before still hold it.";
    PreconditionFailed = 412 "Nothing here has an entity tag, so `If-Match` and `If-Unmodified-Since` cannot hold. Leave them out; `Idempotency-Key` keeps a repeated request from acting twice.";
    TooLarge = 413 "The body is larger than 1 MiB.";
    WrongContentType = 415 "The `Content-Type` header is not `application/json`.";
    WrongPosition = 416 "`Last-Event-ID` or `after` is not a position of this thread, or is one of another log.";
    WrongHost = 421 "The `Host` header names another server.";
    UnknownField = 422 "The body has a key that means nothing here.";
    InvalidField = 422 "A value in the body is of the wrong kind or outside its range.";
    InvalidParameter = 422 "A parameter of the query is of the wrong kind or outside its range.";
    InvalidQuery = 422 "The search is not understood, or names a thread that does not exist.";
    InvalidToken = 422 "The token that is asked for cannot be.";
    InvalidParticipant = 422 "A participant's id is not 1 to 64 of `A-Z a-z 0-9 . _ : -`, or is reserved.";
    InvalidPolicy = 422 "The policy, or one of its settings, is not understood.";
    InvalidControl = 422 "The content of the control is not understood.";
    InvalidSession = 422 "The session or link that is asked for makes no sense; the message says why.";
    ServerField = 422 "The body gives something that only the server may say: `id`, `ts`, `seq`, `via`, `meta.turn`.";
    NothingToErase = 422 "The event has no words of its own; only messages, answers in words, and what was kept of an agent, can be erased.";
    ServerType = 422 "Events of this type are the server's; clients cannot post them.";
    UnknownReplyTo = 422 "`meta.reply_to` names nothing in this thread that can be replied to.";
    IdempotencyKeyReused = 422 "The `Idempotency-Key` was used for another request.";
    RateLimited = 429 "More was asked for than one principal, thread or address may have in this time. Nothing was decided; try again after `Retry-After` seconds.";
    TooManyStreams = 429 "The principal has as many streams open as one may have; close one first. `GET /events/stream` tells of all threads at once.";
    TooManyConnections = 429 "Too many connections come from this address; use those there are, or close some.";
    Internal = 500 "The server made a mistake; its log says more.";
    IoError = 500 "The disk could not be read. Nothing is lost by asking again; `moothall doctor` and the system's log say more.";
    Damaged = 500 "What is stored is damaged; `moothall doctor` says more.";
    NoTerminals = 501 "This server has no terminals; `moothall doctor` says why.";
    TerminalFailed = 502 "The terminal, or the program in it, did not do what it was told.";
    Overloaded = 503 "Too much is waiting. Nothing was decided; try again after `Retry-After` seconds.";
    NoSeats = 503 "Every connection that the server can hold is taken, and what is kept back is for operators. Try again after `Retry-After` seconds.";
    ShuttingDown = 503 "The server is going down. Nothing was decided; try again after `Retry-After` seconds.";
    DiskFull = 507 "The disk is full. Nothing was decided; reads go on.";
}

/// A failed request.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    detail: Box<ErrorDetail>,
    refused: Option<RefusalNote>,
    later: Option<RetryTime>,
}

/// The time after which a retry makes sense, sent as `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RetryTime {
    seconds: u64,
    /// The limit that was used up, as the `RateLimit` header names it.
    of: Option<&'static str>,
}

/// A short reason why a request was denied. Travels with the response to the layer that records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalNote(pub String);

/// The same error worded for an agent, which runs no commands. Travels with the response to the
/// layer that knows the caller.
#[derive(Clone)]
struct ForAgents(ErrorDetail);

/// Returns a response, with its error worded for an agent if its reader is one.
pub fn reword_for_reader(mut response: Response, reader: Reader) -> Response {
    let for_agents = response.extensions_mut().remove::<ForAgents>();
    match for_agents.filter(|_| reader == Reader::HttpAgent) {
        Some(ForAgents(error)) => {
            *response.body_mut() = axum::Json(ErrorBody { error }).into_response().into_body();
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response
        }
        None => response,
    }
}

/// The header with the rest of a limit and the time until it is refilled.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The result of a handler: a response, or the error in the request.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// Creates an error of this code with its own message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self::with_status(code.status(), code.into(), message.into())
    }

    fn with_status(status: u16, code: &str, message: String) -> Self {
        let detail =
            ErrorDetail { code: code.into(), message, thread: None, participant: None, kept: None };
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            detail: Box::new(detail),
            refused: None,
            later: None,
        }
    }

    /// Creates an error of this code with the message of the table.
    pub fn plain(code: Code) -> Self {
        Self::new(code, code.meaning())
    }

    /// Returns the error for a missing or invalid credential. The message is the same for every
    /// reason.
    pub fn unauthenticated() -> Self {
        Self {
            refused: Some(RefusalNote("without a valid credential".into())),
            ..Self::plain(Code::Unauthenticated)
        }
    }

    /// Returns the error for a caller who lacks a right.
    pub fn forbidden(message: impl Into<String>, briefly: impl Into<String>) -> Self {
        Self { refused: Some(RefusalNote(briefly.into())), ..Self::new(Code::Forbidden, message) }
    }

    /// Returns the error for a caller without a credential whose process owner is unknown.
    pub fn owner_unknown(why: UnknownPeer) -> Self {
        let message = format!("{} Why it does not say so: {why}.", Code::OwnerUnknown.meaning());
        Self {
            refused: Some(RefusalNote(
                "by a user of this computer whom the system does not name".into(),
            )),
            ..Self::new(Code::OwnerUnknown, message)
        }
    }

    /// Returns the error for a rate limit, with the time until it is refilled.
    pub fn rate_limited(of: &'static str, wait: Duration) -> Self {
        let seconds = (wait.as_millis().div_ceil(1000) as u64).max(1);
        let message =
            format!("Too many {of} in this time. Nothing was decided; try again in {seconds} s.");
        Self {
            later: Some(RetryTime { seconds, of: Some(of) }),
            ..Self::new(Code::RateLimited, message)
        }
    }

    /// Returns the error for a principal that has the maximum number of streams open.
    pub fn too_many_streams(most: u32) -> Self {
        let message = format!(
            "You have {most} streams open, which is all that one principal may have: close one first."
        );
        Self {
            later: Some(RetryTime { seconds: 5, of: Some("streams") }),
            ..Self::new(Code::TooManyStreams, message)
        }
    }

    /// Returns the error for a position beyond the thread's head. A client ahead of the log would
    /// miss the next events.
    pub fn no_position(head: Seq) -> Self {
        let message = format!(
            "A position of this thread is a number from 0 to {head}. Whoever is ahead of that read what a restored backup does not hold: \
             read again with after=0."
        );
        Self::new(Code::WrongPosition, message)
    }

    /// Returns the error for a position of another log: this one was restored from a backup, or is
    /// a copy.
    pub fn of_another_log() -> Self {
        Self::new(
            Code::WrongPosition,
            "Your position is one of another log: this one was restored from a backup, or is a copy, and its numbers stand for other events. \
             Forget what you read, take the id of the log from the `moothall-log` header of this answer, and read again from the beginning.",
        )
    }

    /// Adds the thread that the error is about.
    #[must_use]
    pub fn in_thread(mut self, stream: &StreamId) -> Self {
        self.detail.thread = Some(stream.to_string());
        self
    }

    /// Returns the error for a thread that is missing or hidden from the caller.
    pub fn no_thread(id: &str) -> Self {
        let shown: String = id.chars().take(64).collect();
        let mut error = Self::new(
            Code::ThreadNotFound,
            format!("There is no thread {shown:?}. `GET /threads` lists them."),
        );
        error.detail.thread = Some(shown);
        error
    }

    /// Converts an error of the door about a request to this stream.
    pub fn at_door(error: AccessError, stream: &StreamId) -> Self {
        match error {
            AccessError::Hall(error) => Self::of_hall(error, Some(stream)),
            other => other.into(),
        }
    }

    /// Converts an error of the engine about a request to this stream.
    pub fn of_hall(error: HallError, stream: Option<&StreamId>) -> Self {
        let text = error.to_string();
        let answer = match error {
            HallError::Rejected(rejection) => Self::of_rejection(&rejection),
            HallError::NotFound(id) => return Self::no_thread(id.as_str()),
            HallError::Deleted(id) => return Self::plain(Code::ThreadDeleted).in_thread(&id),
            HallError::KeyReused => Self::plain(Code::IdempotencyKeyReused),
            HallError::Overloaded => Self::plain(Code::Overloaded),
            HallError::DiskFull => Self::plain(Code::DiskFull),
            HallError::ReadOnly { .. } => Self::new(Code::ThreadReadOnly, text),
            HallError::Damaged(_) | HallError::Broken { .. } => Self::new(Code::Damaged, text),
            HallError::Unreadable(_) => {
                tracing::error!(error = text, "the disk could not be read");
                Self::plain(Code::IoError)
            }
            HallError::ShuttingDown => Self::plain(Code::ShuttingDown),
            HallError::Failed(_) => {
                tracing::error!(error = text, "a request failed");
                Self::plain(Code::Internal)
            }
        };
        match stream {
            Some(stream) => answer.in_thread(stream),
            None => answer,
        }
    }

    fn of_rejection(rejection: &Rejection) -> Self {
        let status = match rejection.refusal {
            Refusal::Invalid => 422,
            Refusal::Forbidden => 403,
            Refusal::NotFound => 404,
            Refusal::Gone => 410,
            Refusal::Conflict => 409,
            Refusal::TooLarge => 413,
            Refusal::TooSoon => 429,
        };
        let mut error = Self::with_status(status, rejection.code, rejection.message.clone());
        error.detail.participant = rejection.participant.as_ref().map(ToString::to_string);
        error.detail.kept = rejection.kept.as_ref().map(ToString::to_string);
        error.later =
            rejection.wait.map(|wait| RetryTime { seconds: wait.0.div_ceil(1000), of: None });
        error
    }
}

impl From<AccessDenial> for ApiError {
    fn from(denied: AccessDenial) -> Self {
        if denied == AccessDenial::Stranger {
            Self::unauthenticated()
        } else {
            Self::forbidden(denied.to_string(), denied.briefly())
        }
    }
}

impl From<AccessError> for ApiError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Denied(denied) => denied.into(),
            AccessError::Hall(error) => error.into(),
            AccessError::Invalid(message) => Self::new(Code::InvalidToken, message),
            AccessError::Session(error) => error.into(),
            AccessError::Unfit(unfit) => unfit.into(),
            AccessError::NameOfOther(..) => Self::new(Code::InvalidParticipant, error.to_string()),
            AccessError::OtherKind(_) | AccessError::OfSession(_) | AccessError::LooksLike(..) => {
                Self::new(Code::PrincipalTaken, error.to_string())
            }
            AccessError::UnknownAgent(_) => Self::new(Code::UnknownAgent, error.to_string()),
            AccessError::UnknownApp(_) => Self::new(Code::UnknownApp, error.to_string()),
            AccessError::Unknown => Self::plain(Code::UnknownToken),
        }
    }
}

impl From<SessionRequestError> for ApiError {
    fn from(unfit: SessionRequestError) -> Self {
        let code = match unfit {
            SessionRequestError::OnlySessions => Code::SessionRequired,
            SessionRequestError::BothWays | SessionRequestError::Arguments => Code::InvalidField,
            SessionRequestError::TooLong(_) | SessionRequestError::TooLongToShow => Code::TooLarge,
            SessionRequestError::NoWords => Code::MissingContent,
            SessionRequestError::NoThread => Code::ThreadNotFound,
        };
        Self::new(code, unfit.to_string())
    }
}

impl From<HallError> for ApiError {
    fn from(error: HallError) -> Self {
        Self::of_hall(error, None)
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let text = error.to_string();
        if let SessionError::Ended { name, .. } = &error {
            let forward = format!("`POST /sessions/{name}/resume` runs it again, with its links.");
            return Self::new(Code::SessionEnded, sentence(&text, &forward));
        }
        let (code, forward) = match error {
            SessionError::Unavailable(_) => {
                (Code::NoTerminals, "`moothall doctor` says what is missing.")
            }
            SessionError::NotFound(_) => (
                Code::SessionNotFound,
                "`GET /sessions` shows the sessions; an agent sees those with which it shares a conversation.",
            ),
            SessionError::Ended { .. } => (Code::SessionEnded, ""),
            SessionError::NoLink => (Code::LinkNotFound, "`GET /links` shows the links."),
            SessionError::NoPane(_) => (
                Code::PaneNotFound,
                "`tmux -L SOCKET list-panes -a` shows those of a socket; a session without its pane can be ended.",
            ),
            SessionError::Invalid(_) => (Code::InvalidSession, ""),
            SessionError::Conflict(_) => (Code::SessionConflict, ""),
            SessionError::Host(_) => (Code::TerminalFailed, ""),
            SessionError::Hall(error) => return Self::from(error),
        };
        Self::new(code, sentence(&text, forward))
    }
}

/// Joins the fault, as a sentence of its own, with the client's next step.
fn sentence(text: &str, forward: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}. {forward}", letters.as_str()).trim_end().to_owned()
}

impl From<JsonFault> for ApiError {
    fn from(fault: JsonFault) -> Self {
        let code = match fault.kind {
            JsonFaultKind::Malformed => Code::MalformedJson,
            JsonFaultKind::DuplicateKey => Code::DuplicateKey,
            JsonFaultKind::TooDeep => Code::TooDeep,
            JsonFaultKind::BadNumber => Code::BadNumber,
        };
        Self::new(code, format!("The body cannot be read: {}.", fault.detail))
    }
}

impl ApiError {
    /// Returns the reason for the access log, if access was denied.
    pub fn refused(&self) -> Option<&RefusalNote> {
        self.refused.as_ref()
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the error's code and message, for surfaces other than HTTP.
    pub fn detail(&self) -> &ErrorDetail {
        &self.detail
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let busy = self.status == StatusCode::SERVICE_UNAVAILABLE
            || self.status == StatusCode::TOO_MANY_REQUESTS;
        let later = self.later.or(busy.then_some(RetryTime { seconds: 1, of: None }));
        let nameless = self.status == StatusCode::UNAUTHORIZED;
        let for_agents = Reader::HttpAgent.reword(&self.detail.message);
        let for_agents = (for_agents != self.detail.message)
            .then(|| ForAgents(ErrorDetail { message: for_agents, ..(*self.detail).clone() }));
        let body = ErrorBody { error: *self.detail };
        let mut response = (self.status, axum::Json(body)).into_response();
        if let Some(for_agents) = for_agents {
            response.extensions_mut().insert(for_agents);
        }
        if let Some(RetryTime { seconds, of }) = later {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            let left =
                of.and_then(|of| HeaderValue::from_str(&format!("\"{of}\";r=0;t={seconds}")).ok());
            left.and_then(|left| response.headers_mut().insert(RATE_LIMIT, left));
        }
        if nameless {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(refused) = self.refused {
            response.extensions_mut().insert(refused);
        }
        response
    }
}

/// Codes of the conversation rules, which are not in [`Code`]: status, code, meaning. A test
/// compares them with the kernel.
pub const RULE_CODES: &[(u16, &str, &str)] = &[
    (403, "humans_only", "Only people may do this; agents can invite and uninvite agents."),
    (
        403,
        "kind_is_the_servers",
        "Who is a person is the server's to say: an agent neither gives nor takes `human`, and a principal and whoever was a person here keep their kind.",
    ),
    (
        403,
        "needs_proof",
        "Raising a limit, lifting a guard, and ending a mute or pause of somebody who was proven, need a person with a credential, also on this computer.",
    ),
    (403, "not_agreed", "Somebody has to agree to this request and did not; the message says why."),
    (404, "not_invited", "The participant is not invited here."),
    (409, "participant_muted", "The participant is muted; its words were kept in the trace."),
    (409, "thread_paused", "Agents stand still here; the words were kept in the trace."),
    (409, "thread_archived", "The thread takes no more messages; unarchive it to go on."),
    (
        409,
        "depth_limit",
        "The words are too many steps away from a human message; they were kept in the trace.",
    ),
    (
        409,
        "turn_limit",
        "The agents have used their replies to the last human message; the words were kept in the trace.",
    ),
    (
        409,
        "held",
        "A guard holds the thread, and an agent's words that answer no turn wait until a person speaks; they were kept in the trace. A post is answered with 200 and this word in `warnings`.",
    ),
    (
        409,
        "stopped",
        "A person stopped the thread, and an agent's words that answer no turn wait until a person speaks; they were kept in the trace. A post is answered with 200 and this word in `warnings`.",
    ),
    (409, "name_taken", "The id or nickname looks like that of somebody else here."),
    (409, "too_many_participants", "A thread has at most 200 participants."),
    (409, "no_open_turn", "There is no turn to pass, or to ask a permission for."),
    (409, "turn_ended", "The turn is over already."),
    (
        409,
        "permission_closed",
        "The permission was answered, or its time ran out; the message says by whom, how and when.",
    ),
    (
        409,
        "permission_withdrawn",
        "What was asked is not asked any more, or something else is; nothing was done.",
    ),
    (
        409,
        "not_a_participant",
        "Whoever asks is no agent of that thread; name one in which it takes part.",
    ),
    (
        409,
        "too_many_questions",
        "Eight questions of this agent wait for a person; ask again when one of them is answered.",
    ),
    (
        409,
        "too_many_starts",
        "Eight requests of this agent to start something, or to talk, wait in the thread; wait for a person.",
    ),
    (
        409,
        "over_budget",
        "No money is left for what this answer would let the agent do; the question stays open.",
    ),
    (409, "exists", "The thread, or the task, exists already."),
    (
        409,
        "turn_stopped",
        "A person stopped this turn; what had been shown of its answer stands in the conversation, and nothing more of it is published.",
    ),
    (409, "erased", "The words were erased; there is nothing left to publish."),
    (409, "already_published", "The words were published before; the message says as which event."),
    (409, "taken", "Another thread holds this binding."),
    (409, "gathering_open", "This ends a gathering or its harvest, and has to be confirmed."),
    (409, "nested_gathering", "A gathering is going on here already."),
    (409, "wrong_policy", "A gathering needs the policy `talking_piece`."),
    (409, "no_gathering", "There is no gathering going on here."),
    (
        404,
        "gathering_not_found",
        "There is no gathering with this id; `GET /gatherings` lists them.",
    ),
    (
        409,
        "not_your_piece",
        "Somebody else holds the talking piece; the words were kept in the trace.",
    ),
    (
        422,
        "no_terminal",
        "`reach` says whose words reach a terminal, and the participant has none.",
    ),
    (
        409,
        "needs_gathering",
        "The policy is a gathering's, and none is held in the thread: nobody would ever answer.",
    ),
    (
        409,
        "piece_rules",
        "In a gathering whoever holds the talking piece speaks; nobody else can be asked.",
    ),
    (409, "no_budget", "There is no limit of that kind, so there is nothing to raise."),
    (
        409,
        "unanswered",
        "Somebody has to agree to this request and said nothing in time. Nothing was decided; sending it again asks again.",
    ),
    (
        409,
        "talk_refused",
        "A person refused within the last hour that this session talks to that one.",
    ),
    (
        409,
        "chain_too_long",
        "The request follows from so many others between threads that it must not lead to another.",
    ),
    (
        413,
        "start_too_large",
        "What would be started cannot be shown whole to a person; give fewer arguments or a shorter message.",
    ),
    (
        413,
        "message_too_large",
        "A message takes 64 KiB from a person, 256 KiB from an agent; an answer in words takes 4 KiB.",
    ),
    (
        422,
        "unknown_option",
        "The answer means none of the permission's options, or several; the message lists them.",
    ),
    (
        422,
        "takes_no_text",
        "The option takes no words of one's own; the message lists those that do.",
    ),
    (
        422,
        "text_missing",
        "The option is answered in words of one's own, and `text` has none that can be seen.",
    ),
    (
        422,
        "ambiguous_name",
        "More than one participant answers to a name in the command; the message lists them.",
    ),
    (422, "takes_no_turns", "Only agents are asked to answer, and this is a person."),
    (422, "bad_command", "The slash command is not understood."),
    (422, "empty_message", "A message needs some text."),
    (422, "unknown_recipient", "`to` names somebody who is not invited here."),
    (422, "title_too_long", "The title is too long."),
    (422, "empty_control", "The control asks for nothing."),
    (422, "incomplete_profile", "The first invite needs `profile.client` and `profile.model`."),
    (422, "invalid_profile", "A word of the profile is empty or too long."),
    (422, "too_many_roles", "The profile names too many roles."),
    (
        422,
        "invalid_name",
        "An id or nickname is empty, too long, or holds a character that is not allowed.",
    ),
    (
        422,
        "reserved_name",
        "The id or nickname means everyone, a person or the server, or looks as if it did.",
    ),
    (422, "cannot_mute_human", "People cannot be muted."),
    (422, "no_targets", "`targets` names nobody."),
    (422, "invalid_target", "A binding looks like `chat:telegram:-100123`."),
    (422, "invalid_raise", "A budget is raised by some turns or money, for one minute to 31 days."),
    (422, "not_kept", "Only text that was kept can be published."),
    (
        422,
        "invalid_gathering",
        "The plan of the gathering is not understood, or outside its ranges.",
    ),
    (422, "invalid_circle", "A gathering needs at least two speakers and exactly one harvester."),
    (
        429,
        "own_words_rate",
        "An agent, a credential or the thread has had as many words that answer no turn as a minute takes without a person's. Nothing was decided; try again after `Retry-After` seconds.",
    ),
    (
        429,
        "own_words_limit",
        "An agent, a credential or the server has had as many words that answer no turn as an hour takes. Nothing was decided; try again after `Retry-After` seconds.",
    ),
];

#[cfg(test)]
mod tests;
