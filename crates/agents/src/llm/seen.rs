//! The facts in an answer other than its words: its ending, the tokens used, the model that
//! answered.

use moothall_kernel::ending::Ending;
use moothall_kernel::event::Usage;

use super::history::BYTES_PER_TOKEN;
use super::wire::Part;

/// Length of a refusal, in bytes, after which its further words are ignored.
const REFUSAL_BYTES_MAX: usize = 4 * 1024;

/// The facts in the frames of one answer so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnswerFacts {
    /// Number of frames in the provider's form.
    pub(super) frames: u64,
    /// The ending that the provider reported first.
    pub(super) ended: Option<Ending>,
    /// True if the rest of the answer does not matter.
    pub(super) over: bool,
    /// The model that answered, as the provider reports it.
    pub(super) model: Option<String>,
    /// The tool that the model asked for.
    pub(super) tool: Option<String>,
    /// The words by which the model refused, apart from those of its answer.
    pub(super) refusal: String,
    /// Bytes of words and thoughts received.
    pub(super) heard_bytes: usize,
    input: f64,
    output: f64,
}

impl AnswerFacts {
    /// Records the facts in a part of an answer.
    pub(super) fn note(&mut self, part: &Part) {
        match part {
            Part::Model(model) => self.model = Some(model.clone()),
            Part::Tool(name) => self.tool = Some(name.clone()),
            Part::Tokens { input, output } => {
                self.input = input.unwrap_or(self.input);
                self.output = output.unwrap_or(self.output);
            }
            // The first ending counts: `[DONE]` comes after every one.
            Part::End(ending) => self.ended = self.ended.or(Some(*ending)),
            Part::Over => self.over = true,
            Part::Refusal(words) if self.refusal.len() < REFUSAL_BYTES_MAX => {
                self.refusal.push_str(words);
            }
            Part::Words(text) | Part::Thoughts(text) => self.heard_bytes += text.len(),
            Part::Refusal(_) | Part::AllWords(_) | Part::Failure(_) => {}
        }
    }

    /// Returns the ending, corrected: a refusal and a tool call may be reported as an ordinary end.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ended.map(|ended| match ended {
            Ending::Stop if !self.refusal.is_empty() => Ending::Refusal,
            Ending::Stop if self.tool.is_some() => Ending::Tool,
            ended => ended,
        })
    }

    /// Returns the usage, and true if a reported count had to be corrected. An answer that broke
    /// off before its provider reported any count gets an estimate, which is not a correction.
    /// Impossible counts are clamped: a model reads at most one token per byte, apart from the
    /// provider's own additions, and writes at most `max_tokens`.
    pub(super) fn usage(&self, asked_bytes: usize, max_tokens: Option<u32>) -> (Usage, bool) {
        if let Some(estimated) = self.estimated(asked_bytes, max_tokens) {
            return (estimated, false);
        }
        let input = clamp(self.input, asked_bytes as u64 + ADDED_TOKENS_MAX);
        let output = clamp(self.output, max_tokens.map_or(OUTPUT_TOKENS_MAX, u64::from));
        let usage = Usage { input_tokens: input.0, output_tokens: output.0, ..Usage::default() };
        (usage, input.1 || output.1)
    }
}

impl AnswerFacts {
    /// Returns an estimate of the usage if an unfinished answer has words or thoughts, and its
    /// usage is not known yet: most providers report it at the end.
    fn estimated(&self, asked_bytes: usize, max_tokens: Option<u32>) -> Option<Usage> {
        let is_reported = self.input != 0.0 || self.output != 0.0;
        if self.ended.is_some() || is_reported || self.heard_bytes == 0 {
            return None;
        }
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        let most = max_tokens.map_or(OUTPUT_TOKENS_MAX, u64::from);
        let (input_tokens, output_tokens) =
            (tokens(asked_bytes), tokens(self.heard_bytes).min(most));
        Some(Usage { input_tokens, output_tokens, ..Usage::default() })
    }
}

/// Most tokens that a provider adds to a request: its own instructions.
const ADDED_TOKENS_MAX: u64 = 65_536;
/// Most tokens of an answer, thoughts included, if no limit was set.
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;

fn clamp(count: f64, max: u64) -> (u64, bool) {
    let clamped = count.clamp(0.0, max as f64);
    (clamped as u64, (clamped - count).abs() >= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_not_believed() {
        let of = |input: f64, output: f64, max| {
            let mut seen = AnswerFacts::default();
            seen.note(&Part::Tokens { input: Some(input), output: Some(output) });
            seen.usage(1_000, max)
        };
        let usage =
            |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        assert_eq!(of(-5.0, -1.0, None), (usage(0, 0), true));
        assert_eq!(of(1e12, 1e30, None), (usage(66_536, 1_000_000), true));
        assert_eq!(of(9.0, 900.0, Some(100)), (usage(9, 100), true));
        assert_eq!(AnswerFacts::default().usage(1_000, None), (usage(0, 0), false));
    }

    #[test]
    fn an_unfinished_answer_costs_what_was_heard_of_it() {
        let mut seen = AnswerFacts::default();
        assert_eq!(seen.usage(400, None).0, Usage::default(), "nothing was heard");
        seen.note(&Part::Words("x".repeat(40)));
        let usage = Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() };
        assert_eq!(seen.usage(400, None), (usage, false));
        seen.note(&Part::End(Ending::Stop));
        assert_eq!(seen.usage(400, None).0, Usage::default(), "it had the chance to tell");
    }

    #[test]
    fn the_first_ending_counts() {
        let mut seen = AnswerFacts::default();
        [Ending::Length, Ending::Stop].into_iter().for_each(|end| seen.note(&Part::End(end)));
        assert_eq!(seen.ended, Some(Ending::Length));
    }
}
