//! The protocols of providers: one module each, which makes the body of a request and reads the
//! frames of an answer.
//!
//! A server that ignores `stream` answers with one document. Each module reads that too.

mod chat;
mod responses;
mod anthropic;
mod gemini;
mod ollama;

use moothall_kernel::ending::Ending;
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::frames::Frame;
use super::halves;
use super::names::Effort;

/// The protocol of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

/// A request to a model, in no protocol yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Request {
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
}

/// A message to a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) text: String,
}

/// The author of a message to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

/// The settings of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings<'a> {
    pub(super) model: &'a str,
    pub(super) effort: Option<Effort>,
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<f64>,
    /// Tokens of request and answer together.
    pub(super) window: usize,
}

/// One fact or piece of text in a frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Words(String),
    /// All words of the answer together. They count only if no words came before.
    AllWords(String),
    Thoughts(String),
    /// Words by which the model refuses to answer.
    Refusal(String),
    /// The name of a tool that the model asks for.
    Tool(String),
    Model(String),
    Tokens {
        input: Option<f64>,
        output: Option<f64>,
    },
    End(Ending),
    /// The rest of the answer does not matter.
    Over,
    /// An error that the provider reports.
    Failure(Value),
}

impl Request {
    /// Returns the length in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.system.len() + self.messages.iter().map(|message| message.text.len()).sum::<usize>()
    }
}

impl Message {
    /// Makes a message of others to the model.
    pub(super) fn of_others(text: String) -> Self {
        Self { role: Role::User, text }
    }

    /// Makes a message of the model's own.
    pub(super) fn said(text: String) -> Self {
        Self { role: Role::Assistant, text }
    }
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

impl Wire {
    /// Returns the last part of the path of a request.
    pub(super) const fn endpoint(self) -> &'static str {
        match self {
            Wire::Chat => "chat/completions",
            Wire::Responses => "responses",
            Wire::Anthropic => "messages",
            Wire::Gemini => "models",
            Wire::Ollama => "api/chat",
        }
    }

    /// Returns the address of a request, with the query that the base address has. `None` if the
    /// base address is not a URL.
    pub(super) fn url(self, base: &str, model: &str) -> Option<Url> {
        let mut url = Url::parse(base).ok()?;
        let path = format!("{}/{}", url.path().trim_end_matches('/'), self.endpoint());
        url.set_path(&path);
        if self == Wire::Gemini {
            let model = model.trim_start_matches("models/");
            url.set_path(&format!("{path}/{model}:streamGenerateContent"));
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        Some(url)
    }

    /// Returns the headers that carry the key.
    pub(super) fn key_headers(self, url: &Url, key: &str) -> Vec<(&'static str, String)> {
        match self {
            Wire::Chat | Wire::Responses => {
                let azure = url.host_str().is_some_and(|host| host.ends_with(".azure.com"));
                let bearer = ("authorization", format!("Bearer {key}"));
                let own = azure.then(|| ("api-key", key.to_owned()));
                std::iter::once(bearer).chain(own).collect()
            }
            Wire::Anthropic => vec![
                ("x-api-key", key.to_owned()),
                ("anthropic-version", anthropic::VERSION.to_owned()),
            ],
            Wire::Gemini => vec![("x-goog-api-key", key.to_owned())],
            Wire::Ollama => Vec::new(),
        }
    }

    /// Returns the body of a request.
    pub(super) fn body(self, request: &Request, settings: &Settings<'_>) -> Value {
        match self {
            Wire::Chat => chat::body(request, settings),
            Wire::Responses => responses::body(request, settings),
            Wire::Anthropic => anthropic::body(request, settings),
            Wire::Gemini => gemini::body(request, settings),
            Wire::Ollama => ollama::body(request, settings),
        }
    }

    /// Reads a frame; `None` if it is not in the provider's form.
    pub(super) fn read(self, frame: &Frame) -> Option<Vec<Part>> {
        if frame.data.trim() == "[DONE]" {
            return Some(vec![Part::End(Ending::Stop), Part::Over]);
        }
        let value = halves::parse(&frame.data).filter(Value::is_object)?;
        let parts = match self {
            Wire::Chat => chat::read(&value),
            Wire::Responses => responses::read(frame.name.as_deref(), &value),
            Wire::Anthropic => anthropic::read(frame.name.as_deref(), &value),
            Wire::Gemini => gemini::read(&value),
            Wire::Ollama => ollama::read(&value),
        };
        Some(parts)
    }
}

/// Returns the ending that a provider's word means; `None` for a word that means "not yet ended".
/// An unknown word counts as an ordinary end.
pub(super) fn ending(word: &str) -> Option<Ending> {
    Some(match word.trim().to_ascii_lowercase().as_str() {
        "" | "null" | "none" | "finish_reason_unspecified" | "in_progress" | "queued" => {
            return None;
        }
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "max_length"
        | "model_context_window_exceeded"
        | "context_length_exceeded" => Ending::Length,
        "content_filter"
        | "content_filtered"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "language"
        | "image_safety"
        | "sensitive"
        | "guardrail_intervened"
        | "moderation"
        | "model_armor" => Ending::Filter,
        "refusal" => Ending::Refusal,
        "tool_calls"
        | "tool_use"
        | "tool_call"
        | "function_call"
        | "unexpected_tool_call"
        | "malformed_function_call"
        | "too_many_tool_calls" => Ending::Tool,
        "error"
        | "failed"
        | "abort"
        | "cancelled"
        | "network_error"
        | "other"
        | "insufficient_system_resource"
        | "engine_overloaded" => Ending::Error,
        _ => Ending::Stop,
    })
}

/// The parts that one value holds.
#[derive(Default)]
struct PartCollector(Vec<Part>);

impl PartCollector {
    fn words(&mut self, value: Option<&Value>, part: fn(String) -> Part) {
        if let Some(text) = value.map(text_of).filter(|text| !text.is_empty()) {
            self.0.push(part(text));
        }
    }

    fn model(&mut self, value: Option<&Value>) {
        if let Some(model) = value.and_then(Value::as_str).filter(|model| !model.is_empty()) {
            self.0.push(Part::Model(model.to_owned()));
        }
    }

    /// Adds token counts: each side is the sum of the counts under its names.
    fn tokens(&mut self, usage: Option<&Value>, input: &[&str], output: &[&str]) {
        let sum = |names: &[&str]| {
            let counts = names.iter().filter_map(|name| usage?.get(name)?.as_f64());
            counts.reduce(|sum, count| sum + count)
        };
        let (input, output) = (sum(input), sum(output));
        if input.is_some() || output.is_some() {
            self.0.push(Part::Tokens { input, output });
        }
    }

    fn tool(&mut self, name: Option<&Value>) {
        let name = name.and_then(Value::as_str).unwrap_or_default();
        self.0.push(Part::Tool(name.to_owned()));
    }

    /// Adds the ending that a provider's word means; nothing for a word that means "not yet ended".
    fn end(&mut self, word: Option<&Value>) {
        let word = word.and_then(Value::as_str);
        self.0.extend(word.and_then(ending).map(Part::End));
    }

    /// Ends the answer: the document is all of it.
    fn whole(&mut self) {
        if !self.0.iter().any(|part| matches!(part, Part::End(_))) {
            self.0.push(Part::End(Ending::Stop));
        }
        self.0.push(Part::Over);
    }
}

/// Returns the words of a string, or of a list of parts that have a text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Returns the error that a value reports, in any of the forms in use.
fn failure(value: &Value) -> Option<Part> {
    let has = |name: &str| value.get(name).is_some_and(|value| !value.is_null());
    let plain = value.get("object").is_some_and(|kind| kind == "error")
        || has("detail") && !has("choices") && !has("message");
    let has_error = value.get("error").is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(error) => !error.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    });
    // The `error` may wrap an envelope with an `error` of its own: report the inner one.
    let envelope = value.get("error").filter(|error| error.get("error").is_some());
    (plain || has_error).then(|| Part::Failure(envelope.unwrap_or(value).clone()))
}

/// Returns the messages in the form that most protocols share.
fn messages(request: &Request) -> Vec<Value> {
    let message = |message: &Message| json!({"role": message.role.name(), "content": message.text});
    request.messages.iter().map(message).collect()
}

/// Returns the messages, preceded by the system text.
fn messages_with_system(request: &Request) -> Vec<Value> {
    let system = json!({"role": "system", "content": request.system});
    let system = (!request.system.is_empty()).then_some(system);
    system.into_iter().chain(messages(request)).collect()
}

/// Adds a setting if it has a value.
fn set(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests;
