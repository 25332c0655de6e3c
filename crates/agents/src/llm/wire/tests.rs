//! The frames of each protocol: endings, tokens, thoughts, errors.
#![allow(clippy::unwrap_used)]
use super::*;

const WIRES: [Wire; 5] = [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini, Wire::Ollama];

fn frame(name: Option<&str>, data: &str) -> Frame {
    Frame { name: name.map(str::to_owned), data: data.to_owned(), event: true }
}

fn parts(wire: Wire, data: &str) -> Vec<Part> {
    wire.read(&frame(None, data)).unwrap()
}

fn words(text: &str) -> Part {
    Part::Words(text.to_owned())
}

#[test]
fn tokens_stand_in_another_place_of_each_protocol() {
    for (wire, data) in [
        (
            Wire::Anthropic,
            r#"{"type":"message_start","message":{"usage":{"input_tokens":2,"cache_read_input_tokens":3,"output_tokens":7}}}"#,
        ),
        (Wire::Chat, r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#),
        (
            Wire::Responses,
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":7}}}"#,
        ),
        (
            Wire::Gemini,
            r#"{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3,"thoughtsTokenCount":4}}"#,
        ),
        (Wire::Ollama, r#"{"done":false,"prompt_eval_count":5,"eval_count":7}"#),
    ] {
        let expected = Part::Tokens { input: Some(5.0), output: Some(7.0) };
        assert!(parts(wire, data).contains(&expected), "{wire:?}");
    }
}

#[test]
fn an_ending_is_read_in_the_words_of_each_protocol() {
    for (wire, data, ending) in [
        (Wire::Chat, r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#, Ending::Length),
        (Wire::Chat, r#"{"choices":[{"finish_reason":"content_filter"}]}"#, Ending::Filter),
        (Wire::Chat, r#"{"choices":[{"finish_reason":"tool_calls"}]}"#, Ending::Tool),
        (Wire::Chat, r#"{"choices":[{"finish_reason":"whatever"}]}"#, Ending::Stop),
        (
            Wire::Anthropic,
            r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}"#,
            Ending::Length,
        ),
        (
            Wire::Anthropic,
            r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
            Ending::Refusal,
        ),
        (Wire::Gemini, r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#, Ending::Length),
        (Wire::Gemini, r#"{"candidates":[{"finishReason":"RECITATION"}]}"#, Ending::Filter),
        (Wire::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, Ending::Filter),
        (
            Wire::Responses,
            r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}"#,
            Ending::Filter,
        ),
        (Wire::Ollama, r#"{"done":true,"done_reason":"length"}"#, Ending::Length),
        (Wire::Ollama, r#"{"done":true}"#, Ending::Stop),
    ] {
        let end = parts(wire, data).into_iter().find_map(|part| match part {
            Part::End(ending) => Some(ending),
            _ => None,
        });
        assert_eq!(end, Some(ending), "{data}");
    }
    for open in ["\"\"", "null", "\"null\""] {
        let data = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{open}}}]}}"#);
        assert_eq!(parts(Wire::Chat, &data), [], "{open}");
    }
}

#[test]
fn an_answer_in_one_document_is_read_to_its_end() {
    for (wire, data) in [
        (Wire::Chat, r#"{"choices":[{"message":{"content":"hi"},"finish_reason":null}]}"#),
        (
            Wire::Responses,
            r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}"#,
        ),
        (Wire::Anthropic, r#"{"type":"message","content":[{"type":"text","text":"hi"}]}"#),
        (Wire::Ollama, r#"{"message":{"content":"hi"},"done":true}"#),
    ] {
        let parts = parts(wire, data);
        let said = parts
            .iter()
            .any(|part| matches!(part, Part::Words(text) | Part::AllWords(text) if text == "hi"));
        assert!(said && parts.ends_with(&[Part::End(Ending::Stop), Part::Over]), "{parts:?}");
    }
}

#[test]
fn thoughts_are_not_words_in_whichever_field_they_come() {
    let thought = |text: &str| Part::Thoughts(text.to_owned());
    for (wire, data) in [
        (Wire::Chat, r#"{"choices":[{"delta":{"reasoning_content":"hm","content":"so"}}]}"#),
        (
            Wire::Chat,
            r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":null,"content":"so"}}]}"#,
        ),
        (
            Wire::Chat,
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"so"}]}}]}"#,
        ),
        (
            Wire::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"so"}]}}]}"#,
        ),
        (Wire::Ollama, r#"{"message":{"thinking":"hm","content":"so"},"done":false}"#),
    ] {
        assert_eq!(parts(wire, data), [thought("hm"), words("so")], "{data}");
    }
}

#[test]
fn an_error_is_one_only_if_it_says_something() {
    for wire in WIRES {
        let failed =
            |data: &str| parts(wire, data).iter().any(|part| matches!(part, Part::Failure(_)));
        assert!(failed(r#"{"error":{"message":"busy"}}"#), "{wire:?}");
        assert!(failed(r#"{"error":"busy"}"#), "{wire:?}");
        for none in [r#"{"error":null}"#, r#"{"error":""}"#, r#"{"error":{}}"#] {
            assert!(!failed(none), "{wire:?} {none}");
        }
    }
    let old = parts(Wire::Chat, r#"{"object":"error","message":"no such model","code":404}"#);
    assert!(matches!(old[..], [Part::Failure(_)]), "{old:?}");
}

#[test]
fn an_address_keeps_its_query() {
    let url = |wire: Wire, base| wire.url(base, "m").unwrap().to_string();
    assert_eq!(
        url(Wire::Chat, "https://a.example/openai/v1/?api-version=1"),
        "https://a.example/openai/v1/chat/completions?api-version=1"
    );
    assert_eq!(
        url(Wire::Gemini, "http://localhost:1/v1beta/"),
        "http://localhost:1/v1beta/models/m:streamGenerateContent?alt=sse"
    );
    assert_eq!(url(Wire::Ollama, "http://localhost:1/"), "http://localhost:1/api/chat");
}
