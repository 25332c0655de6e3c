//! What a provider's raw events say beside the text: tokens used, which model answered, whether the
//! answer is complete.
//!
//! Read here and not through the library, whose counts are 32 bits wide: an absurd count must be
//! seen to be refused.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use moothall_kernel::event::Usage;
use serde_json::Value;

/// Events longer than this are not looked into; what they could say fits into far less.
const EVENT_BYTES_MAX: usize = 1 << 20;

/// Watches the events of one answer. Cheap to clone; all clones see the same.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

/// What the events of one answer have said so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Events that are in the provider's form.
    pub(super) events: u64,
    /// Bytes of all events.
    pub(super) bytes: u64,
    /// Whether the provider said that the answer is complete.
    pub(super) finished: bool,
    /// The model that it says answered.
    pub(super) model: Option<String>,
    input: f64,
    output: f64,
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen so far.
    pub(super) fn seen(&self) -> Seen {
        self.lock().clone()
    }
}

impl ChatFrameSink for Watch {
    fn on_frame(&self, _ctx: &FrameCtx, frame: RawFrameRef<'_>) {
        self.lock().event(frame.event, frame.data);
    }
}

/// Words that only occur in events worth reading, or now and then in somebody's text.
const TELLING: [&str; 5] = ["sage", "finish", "eval_count", "\"done\":true", "\"done\": true"];

impl Seen {
    fn event(&mut self, name: Option<&str>, data: &str) {
        self.bytes = self.bytes.saturating_add(data.len() as u64);
        let is_end = data == "[DONE]";
        if !is_end && !data.starts_with('{') {
            return;
        }
        self.events += 1;
        self.finished |= is_end
            || matches!(name, Some("message_stop" | "response.completed" | "response.incomplete"));
        let worth_reading = self.model.is_none() || TELLING.iter().any(|word| data.contains(word));
        if worth_reading
            && data.len() <= EVENT_BYTES_MAX
            && let Ok(value) = serde_json::from_str(data)
        {
            self.read(&value);
        }
    }

    fn read(&mut self, value: &Value) {
        let at = |path: &str| value.pointer(path);
        let models = ["/model", "/message/model", "/response/model", "/modelVersion"];
        if let Some(model) = models.iter().find_map(|path| at(path)?.as_str()) {
            self.model = Some(model.to_owned());
        }
        let ends = ["/choices/0/finish_reason", "/candidates/0/finishReason"];
        self.finished |= ends.iter().any(|path| at(path).is_some_and(Value::is_string))
            || at("/done") == Some(&Value::Bool(true));
        let [input, output] = tokens(value);
        self.input = input.unwrap_or(self.input);
        self.output = output.unwrap_or(self.output);
    }

    /// The usage, and whether it had to be corrected. What cannot be is not believed: nobody reads
    /// more tokens than there are bytes, apart from what the provider adds, and nobody writes more
    /// than was allowed.
    pub(super) fn usage(&self, asked_bytes: usize, max_tokens: Option<u32>) -> (Usage, bool) {
        let input = clamp(self.input, asked_bytes as u64 + ADDED_TOKENS_MAX);
        let output = clamp(self.output, max_tokens.map_or(OUTPUT_TOKENS_MAX, u64::from));
        let usage = Usage { input_tokens: input.0, output_tokens: output.0, ..Usage::default() };
        (usage, input.1 || output.1)
    }
}

/// Tokens a provider may add to a request: instructions of its own.
const ADDED_TOKENS_MAX: u64 = 65_536;
/// Tokens of an answer, thinking included, where no limit was set.
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;

fn clamp(count: f64, max: u64) -> (u64, bool) {
    let clamped = count.clamp(0.0, max as f64);
    (clamped as u64, (clamped - count).abs() >= 1.0)
}

/// Tokens read and written, as far as an event says.
fn tokens(value: &Value) -> [Option<f64>; 2] {
    let sum = |root: &str, names: &[&str]| {
        let counts =
            names.iter().filter_map(|name| value.pointer(&format!("{root}/{name}"))?.as_f64());
        counts.fold(None, |sum: Option<f64>, count| Some(sum.unwrap_or_default() + count))
    };
    for root in ["/usage", "/message/usage", "/response/usage"] {
        // OpenAI's chat says prompt and completion; the others say input and output.
        let input = sum(root, &["prompt_tokens"]).or_else(|| {
            sum(root, &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"])
        });
        let output = sum(root, &["completion_tokens"]).or_else(|| sum(root, &["output_tokens"]));
        if input.is_some() || output.is_some() {
            return [input, output];
        }
    }
    [
        sum("/usageMetadata", &["promptTokenCount", "toolUsePromptTokenCount"])
            .or_else(|| sum("", &["prompt_eval_count"])),
        sum("/usageMetadata", &["candidatesTokenCount", "thoughtsTokenCount"])
            .or_else(|| sum("", &["eval_count"])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(events: &[(Option<&str>, &str)]) -> Seen {
        let mut seen = Seen::default();
        events.iter().for_each(|(name, data)| seen.event(*name, data));
        seen
    }

    #[test]
    fn every_provider_says_it_in_its_own_way() {
        let anthropic = [
            (
                Some("message_start"),
                r#"{"message":{"model":"m","usage":{"input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}"#,
            ),
            (Some("message_delta"), r#"{"usage":{"output_tokens":7}}"#),
            (Some("message_stop"), "{}"),
        ];
        let chat = [
            (None, r#"{"model":"m","choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#),
            (
                None,
                r#"{"model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
            ),
            (None, "[DONE]"),
        ];
        let responses = [(
            Some("response.completed"),
            r#"{"response":{"model":"m","usage":{"input_tokens":5,"output_tokens":7}}}"#,
        )];
        let gemini = [(
            None,
            r#"{"modelVersion":"m","candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3,"thoughtsTokenCount":4}}"#,
        )];
        let ollama = [(None, r#"{"model":"m","done":true,"prompt_eval_count":5,"eval_count":7}"#)];
        for events in [&anthropic[..], &chat, &responses, &gemini, &ollama] {
            let seen = seen(events);
            let expected = Usage { input_tokens: 5, output_tokens: 7, ..Usage::default() };
            assert_eq!(seen.usage(100, None), (expected, false), "{events:?}");
            assert!(seen.finished && seen.model.as_deref() == Some("m"), "{events:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_not_believed() {
        let of = |data: &str, max| seen(&[(None, data)]).usage(1_000, max);
        let usage =
            |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        assert_eq!(
            of(r#"{"usage":{"prompt_tokens":-5,"completion_tokens":-1}}"#, None),
            (usage(0, 0), true)
        );
        assert_eq!(
            of(r#"{"usage":{"prompt_tokens":1000000000000,"completion_tokens":1e30}}"#, None),
            (usage(66_536, 1_000_000), true)
        );
        assert_eq!(
            of(r#"{"usage":{"prompt_tokens":9,"completion_tokens":900}}"#, Some(100)),
            (usage(9, 100), true)
        );
        assert_eq!(
            of(r#"{"usage":{"prompt_tokens":"9","completion_tokens":null}}"#, None),
            (usage(0, 0), false)
        );
        assert_eq!(of("{}", None), (usage(0, 0), false));
    }

    #[test]
    fn a_page_is_no_event() {
        assert_eq!(seen(&[(None, ""), (None, "<html>")]).events, 0);
        assert!(!seen(&[(None, r#"{"choices":[{"finish_reason":null}],"done":false}"#)]).finished);
    }
}
