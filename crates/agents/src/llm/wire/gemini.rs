//! The body of a request to the Gemini API of Google, and the parts of its answers.

use moothall_kernel::ending::Ending;
use serde_json::{Map, Value, json};

use super::{Message, Part, PartCollector, Request, Role, Settings, failure, set};
use crate::llm::names::{self, GeminiThinking};

/// Returns the body of a request. The address of the request has the name of the model.
pub(super) fn body(request: &Request, settings: &Settings<'_>) -> Value {
    let mut body = Map::new();
    let system = json!({"parts": [{"text": request.system}]});
    set(&mut body, "systemInstruction", (!request.system.is_empty()).then_some(system));
    let content = |message: &Message| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        json!({"role": role, "parts": [{"text": message.text}]})
    };
    set(&mut body, "contents", Some(request.messages.iter().map(content).collect::<Vec<_>>()));
    let mut config = Map::new();
    set(&mut config, "temperature", settings.temperature);
    set(&mut config, "maxOutputTokens", settings.max_tokens);
    let thinking =
        settings.effort.and_then(|effort| names::gemini_thinking(settings.model, effort));
    let thinking = thinking.map(|thinking| match thinking {
        GeminiThinking::Level(level) => json!({"thinkingLevel": level}),
        GeminiThinking::Budget(tokens) => json!({"thinkingBudget": tokens}),
    });
    set(&mut config, "thinkingConfig", thinking);
    set(&mut body, "generationConfig", (!config.is_empty()).then_some(config));
    Value::Object(body)
}

/// Returns the parts of a piece of an answer. A prompt that Google blocked ends as filtered.
pub(super) fn read(value: &Value) -> Vec<Part> {
    let mut parts = PartCollector::default();
    parts.model(value.get("modelVersion"));
    let candidate = value.pointer("/candidates/0");
    let said = candidate.and_then(|candidate| candidate.pointer("/content/parts")?.as_array());
    for piece in said.into_iter().flatten() {
        let thought = piece.get("thought").and_then(Value::as_bool).unwrap_or_default();
        parts.words(piece.get("text"), if thought { Part::Thoughts } else { Part::Words });
        if let Some(call) = piece.get("functionCall") {
            parts.tool(call.get("name"));
        }
    }
    parts.tokens(
        value.get("usageMetadata"),
        &["promptTokenCount", "toolUsePromptTokenCount"],
        &["candidatesTokenCount", "thoughtsTokenCount"],
    );
    parts.0.extend(failure(value));
    let blocked = value.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
    if blocked.is_some_and(|why| !matches!(why, "" | "BLOCK_REASON_UNSPECIFIED")) {
        parts.0.push(Part::End(Ending::Filter));
    }
    parts.end(candidate.and_then(|candidate| candidate.get("finishReason")));
    parts.0
}
