//! The client of the Bot API: a method, its answer as a JSON value, and whether it was sent.
//!
//! An answer is never read into a closed type: a message whose answer has an unknown word was sent
//! all the same. The token is a part of each address, so errors carry no address.

mod ephemeral;
mod fault;
mod managed;
mod methods;
mod rich;
#[cfg(test)]
mod tests;
mod token;

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::text::{cut, for_terminal};
use serde_json::Value;

pub use ephemeral::EphemeralId;
pub use fault::CallFault;
pub use managed::NewBotButton;
pub use methods::{BotCommand, BotInfo, Button, EditMessage, SendMessage};
pub use rich::{DraftForm, SendDraft, SendRichMessage};
pub use token::{BotToken, NotAToken};

/// Address of Telegram's own server.
pub const BASE_URL: &str = "https://api.telegram.org";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for one call, from its beginning to the end of its answer.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time that an answer may take beyond the time for which a poll waits.
const POLL_MARGIN: Duration = Duration::from_secs(15);
/// Time after which an unused connection is closed: before the Bot API server closes it, because a
/// message on a connection that closes is a message of which nothing is known.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// Longest description of an error that is kept, in bytes.
const WHY_BYTES_MAX: usize = 300;

/// The methods of the Bot API that channels call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is Telegram's method of that name")]
pub enum Method {
    AnswerCallbackQuery,
    DeleteEphemeralMessage,
    DeleteMessage,
    DeleteWebhook,
    EditEphemeralMessageText,
    EditMessageReplyMarkup,
    EditMessageText,
    GetChat,
    GetChatMember,
    GetManagedBotToken,
    GetMe,
    GetUpdates,
    LeaveChat,
    SendChatAction,
    SendMessage,
    SendMessageDraft,
    SendRichMessage,
    SendRichMessageDraft,
    SetManagedBotAccessSettings,
    SetMyCommands,
}

impl Method {
    /// Returns the name of the method in the path of a call.
    pub fn name(self) -> &'static str {
        match self {
            Method::AnswerCallbackQuery => "answerCallbackQuery",
            Method::DeleteEphemeralMessage => "deleteEphemeralMessage",
            Method::DeleteMessage => "deleteMessage",
            Method::DeleteWebhook => "deleteWebhook",
            Method::EditEphemeralMessageText => "editEphemeralMessageText",
            Method::EditMessageReplyMarkup => "editMessageReplyMarkup",
            Method::EditMessageText => "editMessageText",
            Method::GetChat => "getChat",
            Method::GetChatMember => "getChatMember",
            Method::GetManagedBotToken => "getManagedBotToken",
            Method::GetMe => "getMe",
            Method::GetUpdates => "getUpdates",
            Method::LeaveChat => "leaveChat",
            Method::SendChatAction => "sendChatAction",
            Method::SendMessage => "sendMessage",
            Method::SendMessageDraft => "sendMessageDraft",
            Method::SendRichMessage => "sendRichMessage",
            Method::SendRichMessageDraft => "sendRichMessageDraft",
            Method::SetManagedBotAccessSettings => "setManagedBotAccessSettings",
            Method::SetMyCommands => "setMyCommands",
        }
    }

    /// Returns the longest time for a call with this body.
    fn patience(self, body: &Value) -> Duration {
        match self {
            Method::GetUpdates => {
                Duration::from_secs(body["timeout"].as_u64().unwrap_or_default()) + POLL_MARGIN
            }
            _ => CALL_TIMEOUT,
        }
    }
}

/// Makes the HTTP client that all bots of a server share. It follows no redirects: they would take
/// the token to an address that no operator configured. It does not share connections between
/// calls that are under way, so that a dead connection costs one call.
///
/// # Errors
/// The reason in words.
pub fn connector(base_url: &str) -> Result<reqwest::Client, String> {
    // Fails if a provider is installed already. Every caller installs the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .http1_only()
        .no_gzip();
    // A system may lack certificates; an address without TLS needs none.
    let builder = if base_url.starts_with("http:") { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| error.to_string())
}

/// The calls of one bot. Clones are cheap and share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: Arc<str>,
    token: Arc<BotToken>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("token", &self.token).finish_non_exhaustive()
    }
}

impl Client {
    /// Makes the client of a bot. `http` comes from [`connector`] with the same address, which is
    /// [`BASE_URL`] unless an operator runs a Bot API server.
    pub fn new(http: reqwest::Client, base_url: &str, token: BotToken) -> Self {
        let base_url = base_url.trim_end_matches('/').into();
        Self { http, base_url, token: Arc::new(token) }
    }

    /// Returns a key that is made of the bot's token for one purpose.
    pub fn derived_key(&self, context: &str) -> [u8; 32] {
        blake3::derive_key(context, self.token.reveal().as_bytes())
    }

    /// Returns the id of the bot.
    pub fn bot_id(&self) -> i64 {
        self.token.bot_id()
    }

    /// Calls a method, and returns its result; `Null` if Telegram did it but its answer cannot be
    /// read.
    ///
    /// # Errors
    /// [`CallFault`], which says if the call may be made again.
    pub async fn call(&self, method: Method, body: &Value) -> Result<Value, CallFault> {
        let url = format!("{}/bot{}/{}", self.base_url, self.token.reveal(), method.name());
        let request = self.http.post(url).timeout(method.patience(body)).json(body);
        let response = request.send().await.map_err(|error| self.unanswered(error))?;
        let status = response.status().as_u16();
        let answer = whole(response).await;
        // Bytes that are not UTF-8 cost their letters, not the answer.
        let answer =
            answer.and_then(|bytes| serde_json::from_str(&String::from_utf8_lossy(&bytes)).ok());
        self.result(status, answer)
    }

    /// Returns the result in an answer, or the error for it. After an error of Telegram's server it
    /// is not known if the call was done.
    fn result(&self, status: u16, answer: Option<Value>) -> Result<Value, CallFault> {
        match answer {
            Some(mut answer) if answer["ok"] == true => Ok(answer["result"].take()),
            Some(answer) if answer["ok"] == false => {
                let text = answer["description"].as_str().unwrap_or("no description");
                Err(CallFault::of_answer(status, &answer, self.clean(text)))
            }
            // Telegram carried out the call, so an answer that cannot be read does not matter.
            _ if (200..300).contains(&status) => Ok(Value::Null),
            _ if status >= 500 => Err(CallFault::Maybe { why: unreadable(status) }),
            _ => Err(CallFault::NotSent { why: unreadable(status) }),
        }
    }

    /// Returns the error of a call without an answer: not sent if no connection was made, and
    /// unknown otherwise.
    fn unanswered(&self, error: reqwest::Error) -> CallFault {
        let is_unsent = error.is_connect() || error.is_builder();
        let why = self.clean(&cause(&error.without_url()));
        if is_unsent { CallFault::NotSent { why } } else { CallFault::Maybe { why } }
    }

    /// Returns a text from outside without the token, without control characters and short.
    fn clean(&self, text: &str) -> String {
        cut(&for_terminal(&self.token.strike(text)), WHY_BYTES_MAX).to_owned()
    }
}

fn unreadable(status: u16) -> String {
    format!("the server answered {status} without an answer of Telegram")
}

/// Returns the body of a response; `None` if it breaks off or is too long.
async fn whole(mut response: reqwest::Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > ANSWER_BYTES_MAX {
            return None;
        }
    }
    Some(body)
}

/// Returns the innermost cause of an error.
fn cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}
