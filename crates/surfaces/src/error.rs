//! Every error that a request can get, in one table, and the response for it.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use moothall_engine::access::{AccessDenial, AccessError, SessionRequestError};
use moothall_engine::channels::ChannelError;
use moothall_engine::computers::{ComputerError, RemoteRefusalKind};
use moothall_engine::hall::HallError;
use moothall_engine::sessions::SessionError;
use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::ids::{Seq, StreamId};
use strum::VariantArray;

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
    MalformedJson = 400 "The body is missing, or is not JSON in UTF-8.";
    DuplicateKey = 400 "An object in the body has a key twice. Programs read such objects \
        differently.";
    TooDeep = 400 "The body has more than 32 levels of nesting.";
    BadNumber = 400 "A number in the body is beyond ±(2⁵³−1) or is negative zero. Programs read \
        such numbers differently.";
    MissingFrom = 400 "The body has no `from`.";
    MissingContent = 400 "The message has no `content`.";
    UnknownType = 400 "`types` names an unknown type of event; the message lists the known types.";
    MissingState = 400 "The presence has no `state`.";
    BadIdempotencyKey = 400 "`Idempotency-Key` must have 1 to 255 visible ASCII characters and be \
        sent once.";
    BadHost = 400 "The request has no `Host` header, or more than one.";
    TlsRequired = 400 "This server speaks TLS: use an `https://` address. Only programs on the \
        server's own computer may use plain HTTP.";
    Unauthenticated = 401 "The credential is missing or not valid: unknown, mistyped, expired, \
        revoked, or of a session that has ended. Send `Authorization: Bearer <token>`, or sign in.";
    Forbidden = 403 "The caller lacks the right for this; the message says what is needed.";
    ComputerRefused = 403 "The other computer does not allow this to this one; the message says \
        what is needed there.";
    WrongOrigin = 403 "The request comes from a web page that this server does not trust.";
    OtherUser = 403 "This server admits only the user of this computer who runs it, and you are \
        another user. That user can admit all users with `other_users = true` in `[server]`, or \
        use `--mode token` and give you a token.";
    OwnerUnknown = 403 "The system does not report which user of this computer sent the request, \
        and in local mode the server admits only the user who runs it. Send a credential: use \
        `moothall` as that user, open the link that `moothall page` prints, or send \
        `Authorization: Bearer <token>`. Or let the server ask the system (a systemd service needs \
        `AF_NETLINK` in `RestrictAddressFamilies`), use `--mode token`, or set \
        `unasked = \"converse\"` in `[server]`, which lets every user of this computer converse.";
    Forwarded = 403 "The request came through a proxy, and in local mode the server admits only \
        programs of its own user. Use `--mode token` behind a proxy; to reach the server from \
        elsewhere, use `ssh -L`, which forwards connections unchanged.";
    ReservedSender = 403 "`from` is the server's own id; use another one.";
    SessionRequired = 403 "Only a session can do this: send the token from the session's \
        environment.";
    WrongSpeaker = 403 "`from` is not the caller.";
    NotFound = 404 "This path does not exist.";
    ThreadNotFound = 404 "No thread has this id.";
    UnknownEvent = 404 "The thread has no event with this id.";
    UnknownTurn = 404 "No turn has this id.";
    UnknownStream = 404 "The caller has no open event stream with this id; it may have ended. \
        `GET /events/stream` opens another.";
    UnknownToken = 404 "No token has this id; `GET /tokens` lists them.";
    UnknownAgent = 404 "No registered agent has this id or name; `GET /registrations` lists them.";
    UnknownChannel = 404 "This server has no channel of this name; `GET /channels` lists them.";
    UnknownPairing = 404 "No paired account of yours has this id; `GET /pairings` lists them.";
    UnknownApp = 404 "No agent has this app; `GET /apps` lists the apps that agents have.";
    SessionNotFound = 404 "No session has this id or name.";
    PaneNotFound = 404 "tmux has no such pane, or another program runs in it now.";
    LinkNotFound = 404 "No link has this id, or the link is closed.";
    MethodNotAllowed = 405 "The path does not accept this method; the `Allow` header lists those \
        it accepts.";
    RequestTimeout = 408 "The body did not arrive within 30 seconds.";
    TokenShown = 409 "This request already created its token, and a token is shown only once. \
        Revoke that token and create another.";
    BotTaken = 409 "The bot belongs to another agent already; the message names the agent.";
    NoManagerBot = 409 "None of the channel's bots can manage bots that people make.";
    NoPairedAccount = 409 "The caller has no paired account that a bot of the channel can write \
        to; `GET /pairings` lists the paired ones.";
    NoComputers = 409 "This server cannot be paired with other computers; the message says why.";
    ComputerTaken = 409 "The computers are paired already, or too many have one name; the message \
        says which.";
    PrincipalTaken = 409 "The principal's id is taken: it belongs to a principal of the other kind \
        (`human` or `agent`), is or was a session's name, or looks like another name. Choose \
        another id.";
    ThreadReadOnly = 409 "A newer version of Moothall wrote to the thread; this version can only \
        read it.";
    SessionEnded = 409 "The session has ended; nothing can be sent to it.";
    Elsewhere = 409 "The session runs on another computer, and this cannot be done from here; the \
        message has the command that does it there.";
    SessionConflict = 409 "This session, or another one, prevents the request; the message says \
        how.";
    ThreadDeleted = 410 "The thread was deleted with all its messages. Earlier backups still \
        contain it.";
    PreconditionFailed = 412 "Nothing here has an entity tag, so `If-Match` and \
        `If-Unmodified-Since` cannot be met. Leave them out; `Idempotency-Key` prevents a repeated \
        request from acting twice.";
    TooLarge = 413 "The body is larger than 1 MiB.";
    WrongContentType = 415 "The `Content-Type` header is not `application/json`.";
    WrongPosition = 416 "`Last-Event-ID` or `after` is not a position in this thread, or is from \
        another log.";
    WrongHost = 421 "The `Host` header names another server.";
    UnknownField = 422 "The body has an unknown key.";
    BadLine = 422 "The line is not an invitation of another computer or an answer to one of this \
        one, or it was used, or is too old; the message says which.";
    BadBotToken = 422 "The bot's token has the wrong form, or its product does not accept it.";
    InvalidField = 422 "A value in the body has the wrong type or is out of range.";
    InvalidParameter = 422 "A query parameter has the wrong type or is out of range.";
    InvalidQuery = 422 "The search query is not valid, or names a thread that does not exist.";
    InvalidToken = 422 "A token with these settings is not possible; the message says why.";
    InvalidParticipant = 422 "A participant's id must be 1 to 64 of `A-Z a-z 0-9 . _ : -`, and not \
        reserved.";
    InvalidPolicy = 422 "The policy, or one of its settings, is not valid.";
    InvalidControl = 422 "The content of the control is not valid.";
    InvalidSession = 422 "The requested session or link is not possible; the message says why.";
    ServerField = 422 "The body has a field that only the server sets: `id`, `ts`, `seq`, `via`, \
        `meta.turn`.";
    NothingToErase = 422 "The event has no text to erase. Only messages, answers in a person's own \
        words, and kept text of agents can be erased.";
    ServerType = 422 "Only the server creates events of this type; clients cannot post them.";
    UnknownReplyTo = 422 "`meta.reply_to` is not an event of this thread that can be replied to.";
    IdempotencyKeyReused = 422 "The `Idempotency-Key` was used for another request; use a new one.";
    RateLimited = 429 "The principal, thread or address has reached its rate limit. The request \
        had no effect; try again after `Retry-After` seconds.";
    TooManyStreams = 429 "The principal has the maximum number of streams open; close one first. \
        `GET /events/stream` reports new events of all threads at once.";
    TooManyConnections = 429 "This address has too many connections; use the open ones, or close \
        some.";
    Internal = 500 "The server failed; its log has the details.";
    IoError = 500 "The disk could not be read. A retry is safe; `moothall doctor` and the system's \
        log have the details.";
    Damaged = 500 "Stored data is damaged; `moothall doctor` has the details.";
    NoTerminals = 501 "This server has no terminals; `moothall doctor` says why.";
    TerminalFailed = 502 "The terminal, or the program in it, did not carry out the request.";
    ChannelUnreachable = 502 "The product of the channel cannot be reached now; try again later.";
    Overloaded = 503 "Too many requests wait. The request had no effect; try again after \
        `Retry-After` seconds.";
    NoSeats = 503 "All connections of the server are in use; the reserve is for operators. Try \
        again after `Retry-After` seconds.";
    Away = 503 "The other computer is not there, or did not answer within five seconds. The \
        message says since when.";
    ComputersOff = 503 "The computers are off, because this log was restored from a backup. A \
        person puts them on.";
    ShuttingDown = 503 "The server is shutting down. The request had no effect; try again after \
        `Retry-After` seconds.";
    DiskFull = 507 "The disk is full. The request had no effect; reading still works.";
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

/// The error of a response, worded for an agent, which runs no commands. Travels with the response
/// to the layer that knows the caller.
#[derive(Clone)]
struct ForAgents(ErrorDetail);

/// Returns a response. If the reader is an agent over HTTP, the error in it is reworded for agents.
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
        let message = format!("{} Reason: {why}.", Code::OwnerUnknown.meaning());
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
        let message = format!(
            "Too many {of} in this time. The request had no effect; try again in {seconds} s."
        );
        Self {
            later: Some(RetryTime { seconds, of: Some(of) }),
            ..Self::new(Code::RateLimited, message)
        }
    }

    /// Returns the error for a principal that has the maximum number of streams open.
    pub fn too_many_streams(most: u32) -> Self {
        let message = format!(
            "You have {most} streams open, the maximum for one principal; close one first."
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
            "A position in this thread is a number from 0 to {head}. A higher position is from \
             before a backup was restored: read again with after=0."
        );
        Self::new(Code::WrongPosition, message)
    }

    /// Returns the error for a position that belongs to another log: the server's log was restored
    /// from a backup, or is a copy.
    pub fn of_another_log() -> Self {
        Self::new(
            Code::WrongPosition,
            "Your position is from another log. This log was restored from a backup, or is a copy, \
             and its positions belong to other events. Discard the events that you have, take the \
             log's id from the `moothall-log` header of this answer, and read again from the \
             beginning.",
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
            format!("No thread has the id {shown:?}. `GET /threads` lists them."),
        );
        error.detail.thread = Some(shown);
        error
    }

    /// Converts an error of the door about a request to this thread.
    pub fn at_door(error: AccessError, stream: &StreamId) -> Self {
        match error {
            AccessError::Hall(error) => Self::of_hall(error, Some(stream)),
            other => other.into(),
        }
    }

    /// Converts an error of the engine. `stream` is the thread of the request, if it has one.
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
            HallError::Failed(_) | HallError::Taken { .. } => {
                tracing::error!(error = text, "a request failed");
                Self::plain(Code::Internal)
            }
        };
        match stream {
            Some(stream) => answer.in_thread(stream),
            None => answer,
        }
    }

    /// Converts an error of a channel.
    fn of_channel(error: &ChannelError) -> Self {
        let code = match error {
            ChannelError::Unknown(_) => Code::UnknownChannel,
            ChannelError::BadToken(_) => Code::BadBotToken,
            ChannelError::NoAgent(_) => Code::UnknownAgent,
            ChannelError::Taken(_) => Code::BotTaken,
            ChannelError::NoManager(_) => Code::NoManagerBot,
            ChannelError::NoAccount(_) => Code::NoPairedAccount,
            ChannelError::Unreachable(_) => Code::ChannelUnreachable,
            ChannelError::NotKept(_) => Code::IoError,
        };
        Self::new(code, error.to_string())
    }

    /// Converts an error about other computers.
    fn of_computer(error: &ComputerError) -> Self {
        let code = match error {
            ComputerError::Absent => Code::NoComputers,
            ComputerError::Invalid(_) => Code::InvalidField,
            ComputerError::BadLine(_) => Code::BadLine,
            ComputerError::Taken(_) => Code::ComputerTaken,
            ComputerError::Away { .. } => Code::Away,
            ComputerError::Off => Code::ComputersOff,
            ComputerError::Refused { refusal, .. } => match refusal.kind {
                RemoteRefusalKind::NotAllowed | RemoteRefusalKind::Other => Code::ComputerRefused,
                RemoteRefusalKind::SessionNotFound => Code::SessionNotFound,
                RemoteRefusalKind::SessionEnded => Code::SessionEnded,
                RemoteRefusalKind::Invalid => Code::InvalidSession,
            },
            ComputerError::NotKept(_) => Code::IoError,
        };
        Self::new(code, error.to_string())
    }

    /// Converts a rejection by a rule. Its kind gives the status, the rule gives the code and the
    /// message.
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
            AccessError::Channel(error) => Self::of_channel(&error),
            AccessError::Computer(error) => Self::of_computer(&error),
            AccessError::UnknownApp(_) => Self::new(Code::UnknownApp, error.to_string()),
            AccessError::Unknown => Self::plain(Code::UnknownToken),
        }
    }
}

impl From<SessionRequestError> for ApiError {
    fn from(unfit: SessionRequestError) -> Self {
        let code = match unfit {
            SessionRequestError::OnlySessions => Code::SessionRequired,
            SessionRequestError::BothWays
            | SessionRequestError::Arguments
            | SessionRequestError::Keystrokes => Code::InvalidField,
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
    /// Converts an error about a session, with the client's next step added if there is one.
    fn from(error: SessionError) -> Self {
        let text = error.to_string();
        if let SessionError::Ended { name, .. } = &error {
            let forward = format!("`POST /sessions/{name}/resume` runs it again, with its links.");
            return Self::new(Code::SessionEnded, sentence(&text, &forward));
        }
        if let SessionError::Elsewhere { name, computer } = &error {
            let forward = format!("Attach there: `ssh {computer} moothall attach {name}`.");
            return Self::new(Code::Elsewhere, sentence(&text, &forward));
        }
        let (code, forward) = match error {
            SessionError::Unavailable(_) => {
                (Code::NoTerminals, "`moothall doctor` shows what is missing.")
            }
            SessionError::NotFound(_) => (
                Code::SessionNotFound,
                "`GET /sessions` lists the sessions; an agent sees only those with which it shares \
                 a conversation.",
            ),
            SessionError::Ended { .. } => (Code::SessionEnded, ""),
            SessionError::Elsewhere { .. } => (Code::Elsewhere, ""),
            SessionError::NoLink => (Code::LinkNotFound, "`GET /links` lists the links."),
            SessionError::NoPane(_) => (
                Code::PaneNotFound,
                "`tmux -L SOCKET list-panes -a` lists the panes of a socket; a session without its \
                 pane can be ended.",
            ),
            SessionError::Invalid(_) => (Code::InvalidSession, ""),
            SessionError::Conflict(_) => (Code::SessionConflict, ""),
            SessionError::Host(_) => (Code::TerminalFailed, ""),
            SessionError::Hall(error) => return Self::from(error),
            SessionError::Computer(error) => return Self::of_computer(&error),
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
    /// Writes the error as JSON. A 429 or 503 has `Retry-After`, of one second if the error names
    /// no time. The text for agents and the reason for the access log go along as extensions.
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

/// Returns each error code of HTTP with its meaning: of the server, then of the conversation rules.
pub fn meanings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = Code::VARIANTS.iter().map(|code| (code.into(), code.meaning()));
    own.chain(RULE_CODES.iter().map(|(_, word, meaning)| (*word, *meaning)))
}

/// Codes of the conversation rules, which are not in [`Code`]: status, code, meaning. A test
/// compares them with the kernel.
pub const RULE_CODES: &[(u16, &str, &str)] = &[
    (403, "humans_only", "Only people may do this; agents can invite and uninvite agents."),
    (
        403,
        "kind_is_the_servers",
        "Only the server decides who is a person: agents cannot set or clear `human`. Principals, \
         and people in this thread, keep their kind.",
    ),
    (
        403,
        "needs_proof",
        "Raising a limit, lifting a guard, and ending a mute or pause by a proven person need a \
         person's credential, also on this computer.",
    ),
    (
        403,
        "not_agreed",
        "The request needs the consent of a person or a manager, which was refused; the message \
         says why.",
    ),
    (404, "not_invited", "The participant is not invited to this thread."),
    (409, "participant_muted", "The participant is muted; its message was kept in the trace."),
    (
        409,
        "thread_paused",
        "The thread is paused, so agents do not respond; the message was kept in the trace.",
    ),
    (
        409,
        "thread_archived",
        "The thread is archived and takes no more messages; unarchive it first.",
    ),
    (
        409,
        "depth_limit",
        "The message is too many steps away from a human message; it was kept in the trace.",
    ),
    (
        409,
        "turn_limit",
        "The agents have used their replies to the last human message; the message was kept in the \
         trace.",
    ),
    (
        409,
        "held",
        "A guard holds the thread. Until a person speaks, agents' messages that answer no turn are \
         only kept in the trace. A post returns 200 with this word in `warnings`.",
    ),
    (
        409,
        "stopped",
        "A person stopped the thread. Until a person speaks, agents' messages that answer no turn \
         are only kept in the trace. A post returns 200 with this word in `warnings`.",
    ),
    (409, "name_taken", "The id or nickname looks like another participant's."),
    (409, "too_many_participants", "A thread has at most 200 participants."),
    (409, "no_open_turn", "The participant has no open turn to pass, or to ask a permission for."),
    (409, "turn_ended", "The turn has already ended."),
    (
        409,
        "permission_closed",
        "The permission was answered or has expired; the message says by whom, how and when.",
    ),
    (
        409,
        "permission_withdrawn",
        "The program no longer asks this question, or asks another one; the answer had no effect.",
    ),
    (
        409,
        "not_a_participant",
        "The caller is not an agent of that thread; name one in which it takes part.",
    ),
    (
        409,
        "too_many_questions",
        "Eight questions of this agent wait for a person; ask again when one is answered.",
    ),
    (
        409,
        "too_many_starts",
        "Eight requests of this agent, to start a program or to talk to a session, wait in the \
         thread. Wait until a person answers one.",
    ),
    (
        409,
        "over_budget",
        "The budget has no money left for what this answer would allow; the question stays open.",
    ),
    (409, "exists", "The thread or task exists already."),
    (
        409,
        "turn_stopped",
        "A person stopped this turn. The part of its answer that was shown stays in the \
         conversation; the rest is not published.",
    ),
    (409, "erased", "The text was erased and can no longer be published."),
    (409, "already_published", "The text was published before; the message names the event."),
    (409, "taken", "Another thread has this binding."),
    (
        409,
        "not_undelivered",
        "The message to a chat was sent, or waits; only one whose sending failed or is in doubt is sent again.",
    ),
    (409, "no_channel", "The server has no channel to this chat; configure one first."),
    (409, "chat_bound", "The thread is bound to this chat already."),
    (409, "chat_not_bound", "The thread is not bound to this chat."),
    (409, "group_exists", "The chat of this thread has a group already."),
    (
        409,
        "second_chat",
        "The thread is bound to another chat, whose members would read along. Send `confirm` as well.",
    ),
    (409, "gathering_open", "This ends a gathering or its harvest, and has to be confirmed."),
    (409, "nested_gathering", "A gathering is already open here."),
    (409, "wrong_policy", "A gathering needs the policy `talking_piece`."),
    (409, "no_gathering", "No gathering is open here."),
    (404, "gathering_not_found", "No gathering has this id; `GET /gatherings` lists them."),
    (
        409,
        "not_your_piece",
        "Another participant holds the talking piece; the message was kept in the trace.",
    ),
    (
        422,
        "no_terminal",
        "`reach` sets whose messages reach a terminal, and the participant has no terminal.",
    ),
    (
        409,
        "needs_gathering",
        "The policy is only for gatherings. Without one in the thread, no agent would ever answer.",
    ),
    (
        409,
        "piece_rules",
        "In a gathering only the holder of the talking piece speaks; other participants cannot be \
         asked.",
    ),
    (409, "no_budget", "No limit of this kind is set, so it cannot be raised."),
    (
        409,
        "unanswered",
        "The request needs the consent of a person or a manager, and none came in time. The \
         request had no effect; sending it again asks again.",
    ),
    (
        409,
        "talk_refused",
        "Within the last hour, a person refused to let this session talk to that one.",
    ),
    (409, "chain_too_long", "Too many requests triggered each other; this one was stopped."),
    (
        413,
        "start_too_large",
        "The program's start is too long to show whole to a person; give fewer arguments or a \
         shorter message.",
    ),
    (
        413,
        "message_too_large",
        "The maximum is 64 KiB for a person's message, 256 KiB for an agent's, and 4 KiB for an \
         answer in words.",
    ),
    (
        422,
        "unknown_option",
        "The answer matches none of the permission's options, or several; the message lists them.",
    ),
    (422, "takes_no_text", "The option does not take text; the message lists the options that do."),
    (
        422,
        "text_missing",
        "The option needs an answer in the person's own words, and `text` has no visible \
         character.",
    ),
    (
        422,
        "ambiguous_name",
        "A name in the command matches more than one participant; the message lists them.",
    ),
    (422, "takes_no_turns", "Only agents take turns, and this participant is a person."),
    (422, "bad_command", "The slash command is not valid."),
    (422, "empty_message", "A message needs some text."),
    (422, "unknown_recipient", "`to` is not a participant of this thread."),
    (422, "title_too_long", "The title is too long."),
    (422, "empty_control", "The control contains no change."),
    (422, "incomplete_profile", "The first invite needs `profile.client` and `profile.model`."),
    (422, "invalid_profile", "A word of the profile is empty or too long."),
    (422, "too_many_roles", "The profile has too many roles."),
    (
        422,
        "invalid_name",
        "An id or nickname is empty, too long, or has a character that is not allowed.",
    ),
    (
        422,
        "reserved_name",
        "The id or nickname is reserved for everyone, a person or the server, or looks like a \
         reserved one.",
    ),
    (422, "cannot_mute_human", "People cannot be muted."),
    (422, "no_targets", "`targets` is empty."),
    (
        422,
        "invalid_hosted",
        "Another computer offered a turn whose prompt is too long, unclean or wrongly divided.",
    ),
    (
        422,
        "invalid_joined",
        "Another computer placed a session in a conversation whose members or title are not valid.",
    ),
    (
        409,
        "not_joined",
        "Another computer offered a turn of a conversation in which the session takes no part.",
    ),
    (
        409,
        "too_many_joined",
        "A session takes part in at most 64 conversations of other computers.",
    ),
    (422, "invalid_target", "A binding looks like `chat:telegram:-100123`."),
    (422, "invalid_raise", "A raise adds turns or money to a budget, for one minute to 31 days."),
    (422, "not_kept", "Only kept text can be published."),
    (422, "invalid_gathering", "The plan of the gathering is not valid, or out of range."),
    (422, "invalid_circle", "A gathering needs at least two speakers and exactly one harvester."),
    (
        429,
        "own_words_rate",
        "An agent, a credential or the thread has reached the limit per minute, without a person's \
         message, for messages that answer no turn. The request had no effect; try again after \
         `Retry-After` seconds.",
    ),
    (
        429,
        "own_words_limit",
        "An agent, a credential or the server has reached the hourly limit for messages that \
         answer no turn. The request had no effect; try again after `Retry-After` seconds.",
    ),
];

#[cfg(test)]
mod tests;
