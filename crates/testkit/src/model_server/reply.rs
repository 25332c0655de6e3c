//! Behaviour of a fake model for a request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::responses::of_server;

/// Token counts as the provider reports them, even absurd ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens read by the model.
    pub input: i64,
    /// Tokens written by the model.
    pub output: i64,
}

/// A gate that lets the pieces of a reply through one by one, when the test opens it.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// Lets `pieces` more pieces through.
    pub fn open(&self, pieces: usize) {
        self.0.add_permits(pieces);
    }

    /// Waits for the next piece's turn.
    pub(crate) async fn pass(&self) {
        // The semaphore is never closed.
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

/// The action after the headers, or in place of them.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Says these pieces and ends properly.
    Say(Vec<String>),
    /// Says these words, if any, and calls a tool.
    Call { before: String, name: String, arguments: Value },
    /// Rejects with a status.
    Refuse { status: u16, kind: Option<String>, retry_after: Option<String>, message: String },
    /// Rejects with 500 and an endless body.
    RefuseEndlessly,
    /// Never answers: sends no headers and no bytes.
    Hang,
    /// Says these pieces, then stays silent with the connection open.
    Stall(Vec<String>),
    /// Says these pieces, then half a character, then breaks the connection.
    Break(Vec<String>),
    /// Says these pieces, then ends the body properly, but without the provider's own end mark.
    End(Vec<String>),
    /// Begins a tool call and breaks the connection inside its arguments.
    BreakInCall,
    /// Sends a web page, with status 200.
    Page,
    /// Repeats this piece endlessly.
    Endless(String),
    /// Sends a single piece of this many bytes, in one event.
    Flood(usize),
    /// Sends these bytes, piece by piece, and then treats the connection as told.
    Raw { content_type: &'static str, pieces: Vec<Bytes>, then: ConnectionFate },
    /// Says these pieces, then an error inside the stream.
    Fail { after: Vec<String>, kind: String, message: String },
}

/// The fate of a connection after the last bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionFate {
    /// The body ends properly.
    Ends,
    /// The connection breaks.
    Breaks,
    /// The connection stays open without further bytes.
    Holds,
}

/// Behaviour of a fake model for one request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) act: Act,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) pace: Duration,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
}

/// The token counts of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Usage {
    /// Estimated: a quarter of the characters.
    Estimated,
    /// Given by the test.
    Given(Tokens),
    /// Left out of the answer.
    Missing,
}

impl Reply {
    fn new(act: Act) -> Self {
        Self {
            act,
            delay: Duration::ZERO,
            gate: None,
            pace: Duration::ZERO,
            usage: Usage::Estimated,
            model: None,
        }
    }

    /// Says this text, word by word.
    pub fn text(text: &str) -> Self {
        Self::new(Act::Say(text.split_inclusive(' ').map(str::to_owned).collect()))
    }

    /// Says exactly these pieces.
    pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::Say(owned(pieces)))
    }

    /// Calls a tool.
    pub fn tool(name: &str, arguments: Value) -> Self {
        Self::text_and_tool("", name, arguments)
    }

    /// Says this text, and calls a tool in the same answer.
    pub fn text_and_tool(text: &str, name: &str, arguments: Value) -> Self {
        Self::new(Act::Call { before: text.to_owned(), name: name.to_owned(), arguments })
    }

    /// Rejects with a status, in the provider's format.
    pub fn status(status: u16) -> Self {
        Self::refusal(status, &format!("as scripted: {status}"))
    }

    /// Rejects with a status and a message.
    pub fn refusal(status: u16, message: &str) -> Self {
        let (kind, retry_after, message) = (None, None, message.to_owned());
        Self::new(Act::Refuse { status, kind, retry_after, message })
    }

    /// Rejects with status 500 and an endless body.
    pub fn endless_refusal() -> Self {
        Self::new(Act::RefuseEndlessly)
    }

    /// Accepts the request and never answers.
    pub fn hang() -> Self {
        Self::new(Act::Hang)
    }

    /// Says these pieces and then nothing more, with the connection open.
    pub fn stall<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::Stall(owned(pieces)))
    }

    /// Says these pieces and breaks the connection inside a character.
    pub fn cut<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::Break(owned(pieces)))
    }

    /// Says these pieces and ends without the provider's end mark.
    pub fn unfinished<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::End(owned(pieces)))
    }

    /// Breaks the connection inside the arguments of a tool call.
    pub fn cut_in_tool_call() -> Self {
        Self::new(Act::BreakInCall)
    }

    /// Sends a web page, with status 200.
    pub fn html() -> Self {
        Self::new(Act::Page)
    }

    /// Repeats this piece endlessly.
    pub fn endless(piece: &str) -> Self {
        Self::new(Act::Endless(piece.to_owned()))
    }

    /// Sends `bytes` bytes in one event.
    pub fn flood(bytes: usize) -> Self {
        Self::new(Act::Flood(bytes))
    }

    /// Says these pieces, and then sends an error.
    pub fn failing<'a>(
        pieces: impl IntoIterator<Item = &'a str>,
        kind: &str,
        message: &str,
    ) -> Self {
        Self::new(Act::Fail {
            after: owned(pieces),
            kind: kind.to_owned(),
            message: message.to_owned(),
        })
    }

    /// Sends exactly these pieces, with status 200 and this content type.
    pub fn raw<'a>(content_type: &'static str, pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let pieces = pieces.into_iter().map(Bytes::copy_from_slice).collect();
        Self::new(Act::Raw { content_type, pieces, then: ConnectionFate::Ends })
    }

    /// Breaks the connection after the raw bytes.
    #[must_use]
    pub fn breaking(self) -> Self {
        self.then(ConnectionFate::Breaks)
    }

    /// Holds the connection open after the raw bytes.
    #[must_use]
    pub fn holding(self) -> Self {
        self.then(ConnectionFate::Holds)
    }

    fn then(mut self, next: ConnectionFate) -> Self {
        if let Act::Raw { then, .. } = &mut self.act {
            *then = next;
        }
        self
    }

    /// Sets `Retry-After` on a rejection.
    #[must_use]
    pub fn retry_after(mut self, value: &str) -> Self {
        if let Act::Refuse { retry_after, .. } = &mut self.act {
            *retry_after = Some(value.to_owned());
        }
        self
    }

    /// Sets the kind of the error on a rejection.
    #[must_use]
    pub fn of_kind(mut self, value: &str) -> Self {
        if let Act::Refuse { kind, .. } = &mut self.act {
            *kind = Some(value.to_owned());
        }
        self
    }

    /// Delays the answer.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Delays each piece by `pace` after the one before.
    #[must_use]
    pub fn every(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Sends each piece only when the gate lets it through.
    #[must_use]
    pub fn gated(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Reports these token counts.
    #[must_use]
    pub fn usage(mut self, input: i64, output: i64) -> Self {
        self.usage = Usage::Given(Tokens { input, output });
        self
    }

    /// Reports no token counts.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = Usage::Missing;
        self
    }

    /// Claims that this model answered.
    #[must_use]
    pub fn claiming(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// True if a request allows this reply: a tool must be among the offered ones.
    pub(super) fn offered(&self, body: &Value) -> bool {
        let Act::Call { name, .. } = &self.act else { return true };
        let tools = body.get("tools").map(Value::to_string).unwrap_or_default();
        let has = |name: &str| tools.contains(&format!("\"name\":\"{name}\""));
        has(name) || of_server(name).is_some_and(|(server, tool)| has(server) && has(tool))
    }

    /// Returns the token counts to report, for the lengths of the request and the answer.
    pub(super) fn tokens(&self, asked_chars: usize, said_chars: usize) -> Option<Tokens> {
        let estimate = |chars: usize| i64::try_from(chars.div_ceil(4)).unwrap_or(i64::MAX);
        match self.usage {
            Usage::Estimated => {
                Some(Tokens { input: estimate(asked_chars), output: estimate(said_chars) })
            }
            Usage::Given(tokens) => Some(tokens),
            Usage::Missing => None,
        }
    }
}

fn owned<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    pieces.into_iter().map(str::to_owned).collect()
}
