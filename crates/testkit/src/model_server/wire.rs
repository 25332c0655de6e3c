//! The five protocols for the same answer.

use serde_json::Value;

use super::reply::Tokens;
use super::{anthropic, gemini, ollama, openai, responses};

/// The protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
    Ollama,
}

/// An answer, independent of the protocol.
#[derive(Clone, Debug)]
pub(super) struct Speech {
    pub(super) model: String,
    pub(super) tokens: Option<Tokens>,
    /// The whole text. A stream that ends early sends it piece by piece.
    pub(super) text: String,
    /// The tool to call, and its arguments.
    pub(super) call: Option<(String, Value)>,
}

impl Wire {
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Wire::Anthropic | Wire::Chat | Wire::Responses | Wire::Gemini => "text/event-stream",
            Wire::Ollama => "application/x-ndjson",
        }
    }

    /// Returns the whole answer as one document.
    pub(super) fn whole(self, speech: &Speech) -> Value {
        match self {
            Wire::Anthropic => anthropic::whole(speech),
            Wire::Chat => openai::whole(speech),
            Wire::Responses => responses::whole(speech, "completed"),
            Wire::Gemini => gemini::whole(speech),
            Wire::Ollama => ollama::whole(speech),
        }
    }

    /// Returns the part before the first piece.
    pub(super) fn opening(self, speech: &Speech) -> String {
        match self {
            Wire::Anthropic => anthropic::opening(speech),
            Wire::Chat => openai::opening(speech),
            Wire::Responses => responses::opening(speech),
            Wire::Gemini | Wire::Ollama => String::new(),
        }
    }

    /// Returns a piece of the text.
    pub(super) fn piece(self, speech: &Speech, text: &str) -> String {
        match self {
            Wire::Anthropic => anthropic::piece(text),
            Wire::Chat => openai::piece(speech, text),
            Wire::Responses => responses::piece(text),
            Wire::Gemini => gemini::piece(speech, text),
            Wire::Ollama => ollama::piece(speech, text),
        }
    }

    /// Returns the tool call, if any, with the words before it.
    pub(super) fn call(self, speech: &Speech) -> String {
        let Some((name, arguments)) = &speech.call else { return String::new() };
        match self {
            Wire::Anthropic => anthropic::call(speech, name, arguments),
            Wire::Chat => openai::call(speech, name, arguments),
            Wire::Responses => responses::call(speech, name, arguments),
            Wire::Gemini => gemini::call(speech, name, arguments),
            Wire::Ollama => ollama::call(speech, name, arguments),
        }
    }

    /// Returns the part after the last piece.
    pub(super) fn closing(self, speech: &Speech) -> String {
        match self {
            Wire::Anthropic => anthropic::closing(speech),
            Wire::Chat => openai::closing(speech),
            Wire::Responses => responses::closing(speech),
            Wire::Gemini => gemini::closing(speech),
            Wire::Ollama => ollama::closing(speech),
        }
    }

    /// Returns the body of an error response.
    pub(super) fn refusal(self, status: u16, kind: Option<&str>, message: &str) -> Value {
        let kind = kind.unwrap_or_else(|| kind_of(status));
        match self {
            Wire::Anthropic => anthropic::error(kind, message),
            Wire::Chat | Wire::Responses => openai::error(kind, message),
            Wire::Gemini => gemini::error(status, kind, message),
            Wire::Ollama => ollama::error(message),
        }
    }

    /// Returns an error inside a stream.
    pub(super) fn failure(self, kind: &str, message: &str) -> String {
        match self {
            Wire::Anthropic => event("error", &anthropic::error(kind, message)),
            Wire::Chat => data(&openai::error(kind, message)),
            Wire::Responses => responses::failure(kind, message),
            Wire::Gemini => data(&gemini::error(500, kind, message)),
            Wire::Ollama => line(&ollama::error(message)),
        }
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

/// Formats a named server-sent event.
pub(super) fn event(name: &str, value: &Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}

/// Formats an unnamed server-sent event.
pub(super) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Formats a line of JSON.
pub(super) fn line(value: &Value) -> String {
    format!("{value}\n")
}
