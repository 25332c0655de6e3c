//! What a fake model does with a request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::responses::of_server;

/// Token counts as the provider reports them, absurd ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens that the model read.
    pub input: i64,
    /// Tokens that the model wrote.
    pub output: i64,
}

/// Lets the pieces of a reply through one by one, when the test says so.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// Lets so many more pieces through.
    pub fn open(&self, pieces: usize) {
        self.0.add_permits(pieces);
    }

    /// Waits for the next piece's turn.
    pub(super) async fn pass(&self) {
        // The semaphore is never closed.
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

/// What happens after the headers, or instead of them.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Says these pieces and ends properly.
    Say(Vec<String>),
    /// Says this, if anything, and asks for a tool.
    Call { before: String, name: String, arguments: Value },
    /// Refuses with a status.
    Refuse { status: u16, kind: Option<String>, retry_after: Option<String>, message: String },
    /// Refuses with 500 and words without end.
    RefuseEndlessly,
    /// Never answers: no headers, no bytes.
    Hang,
    /// Says these pieces, then nothing more, with the connection open.
    Stall(Vec<String>),
    /// Says these pieces, then half a character, then the connection breaks.
    Break(Vec<String>),
    /// Says these pieces, then the body ends in good order, without the provider's own end.
    End(Vec<String>),
    /// Begins to ask for a tool; the connection breaks inside its arguments.
    BreakInCall,
    /// A web page, with status 200.
    Page,
    /// This piece again and again, for ever.
    Endless(String),
    /// A single piece of so many bytes, in one event.
    Flood(usize),
    /// These bytes, piece by piece, and what becomes of the connection behind them.
    Raw { content_type: &'static str, pieces: Vec<Bytes>, then: ConnectionFate },
    /// Says these pieces, then an error inside the stream.
    Fail { after: Vec<String>, kind: String, message: String },
}

/// The fate of a connection behind the last bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionFate {
    /// The body ends in good order.
    Ends,
    /// The connection breaks.
    Breaks,
    /// It stays open, and nothing comes.
    Holds,
}

/// What a fake model does with one request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) act: Act,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) pace: Duration,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
}

/// What it says about tokens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Usage {
    /// A quarter of the characters.
    Estimated,
    /// As many as the test says.
    Given(Tokens),
    /// The answer does not say how many.
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

    /// Says this, word by word.
    pub fn text(text: &str) -> Self {
        Self::new(Act::Say(text.split_inclusive(' ').map(str::to_owned).collect()))
    }

    /// Says this in exactly these pieces.
    pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::Say(owned(pieces)))
    }

    /// Asks for a tool.
    pub fn tool(name: &str, arguments: Value) -> Self {
        Self::text_and_tool("", name, arguments)
    }

    /// Says this, and asks for a tool in the same answer.
    pub fn text_and_tool(text: &str, name: &str, arguments: Value) -> Self {
        Self::new(Act::Call { before: text.to_owned(), name: name.to_owned(), arguments })
    }

    /// Refuses with a status, in its provider's form.
    pub fn status(status: u16) -> Self {
        Self::refusal(status, &format!("as scripted: {status}"))
    }

    /// Refuses with a status and these words.
    pub fn refusal(status: u16, message: &str) -> Self {
        let (kind, retry_after, message) = (None, None, message.to_owned());
        Self::new(Act::Refuse { status, kind, retry_after, message })
    }

    /// Refuses with status 500 and says why for ever.
    pub fn endless_refusal() -> Self {
        Self::new(Act::RefuseEndlessly)
    }

    /// Takes the request and never answers.
    pub fn hang() -> Self {
        Self::new(Act::Hang)
    }

    /// Says these pieces and then nothing, for ever.
    pub fn stall<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::Stall(owned(pieces)))
    }

    /// Says these pieces and breaks off inside a character.
    pub fn cut<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::Break(owned(pieces)))
    }

    /// Says these pieces and ends without saying so.
    pub fn unfinished<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Act::End(owned(pieces)))
    }

    /// Breaks off inside the arguments of a tool call.
    pub fn cut_in_tool_call() -> Self {
        Self::new(Act::BreakInCall)
    }

    /// A web page, with status 200.
    pub fn html() -> Self {
        Self::new(Act::Page)
    }

    /// Says this for ever.
    pub fn endless(piece: &str) -> Self {
        Self::new(Act::Endless(piece.to_owned()))
    }

    /// Says so many bytes in one event.
    pub fn flood(bytes: usize) -> Self {
        Self::new(Act::Flood(bytes))
    }

    /// Says these pieces, and then that something went wrong.
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

    /// These bytes, in exactly these pieces, with status 200 and this content type.
    pub fn raw<'a>(content_type: &'static str, pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let pieces = pieces.into_iter().map(Bytes::copy_from_slice).collect();
        Self::new(Act::Raw { content_type, pieces, then: ConnectionFate::Ends })
    }

    /// Breaks the connection behind its raw bytes.
    #[must_use]
    pub fn breaking(self) -> Self {
        self.then(ConnectionFate::Breaks)
    }

    /// Holds the connection open behind its raw bytes.
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

    /// With this `Retry-After`, where it refuses.
    #[must_use]
    pub fn retry_after(mut self, value: &str) -> Self {
        if let Act::Refuse { retry_after, .. } = &mut self.act {
            *retry_after = Some(value.to_owned());
        }
        self
    }

    /// Names the kind of its error so, if it refuses.
    #[must_use]
    pub fn of_kind(mut self, value: &str) -> Self {
        if let Act::Refuse { kind, .. } = &mut self.act {
            *kind = Some(value.to_owned());
        }
        self
    }

    /// Waits this long before it answers.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Each piece so long after the one before.
    #[must_use]
    pub fn every(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Each piece only when the gate lets it through.
    #[must_use]
    pub fn gated(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// With these token counts.
    #[must_use]
    pub fn usage(mut self, input: i64, output: i64) -> Self {
        self.usage = Usage::Given(Tokens { input, output });
        self
    }

    /// Without a word about tokens.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = Usage::Missing;
        self
    }

    /// Claiming that this model answered.
    #[must_use]
    pub fn claiming(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    /// Whether a request leaves room for it: a tool must be among those that are offered.
    pub(super) fn offered(&self, body: &Value) -> bool {
        let Act::Call { name, .. } = &self.act else { return true };
        let tools = body.get("tools").map(Value::to_string).unwrap_or_default();
        let has = |name: &str| tools.contains(&format!("\"name\":\"{name}\""));
        has(name) || of_server(name).is_some_and(|(server, tool)| has(server) && has(tool))
    }

    /// The token counts to report, for a request of so many characters.
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
