//! One turn: requests until one is answered, or until a further one makes no sense.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use moothall_engine::agent::{Job, Report, Reporter};
use moothall_engine::crash;
use moothall_kernel::compose::{OmittedCount, StoredSummary};
use moothall_kernel::ending::Ending;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::pass::PASS;
use moothall_kernel::text::{clean, cut, for_terminal, is_empty_looking};
use moothall_kernel::thoughts::Splitter;

use super::client::ModelAnswer;
use super::errors::{ProviderError, Retry, reported_error};
use super::halves::SurrogateJoiner;
use super::history::{Memory, PromptBudget};
use super::provider::Provider;
use super::seen::AnswerFacts;
use super::summary::Plan;
use super::wire::{Part, Request};
use super::{ANSWER_BYTES_MAX, Llm, SILENCE_MAX, backoff, history, names};

/// Least number of tokens that the money must pay for: fewer are half a sentence.
const TOKENS_MIN: u32 = 16;
/// Longest wait for the rest of an answer after its end was reported: the usage comes last.
const TAIL: Duration = Duration::from_secs(2);
/// A summary may take a third of the time that its turn has.
const SUMMARY_SHARE: u32 = 3;
/// Longest name of a model in a message to people, in bytes.
const MODEL_BYTES_MAX: usize = 80;

/// A turn being answered.
pub(super) struct Turn<'a> {
    llm: &'a Llm,
    job: &'a Job,
    out: &'a dyn Reporter,
    deadline: Instant,
    /// All requests of the turn, those for a summary included.
    calls: Vec<ModelCall>,
    /// Number of requests for the answer.
    tries: u32,
    /// True if a word of the answer was shown.
    shown: bool,
    /// The ending of the answer, if known.
    ended: Option<Ending>,
    /// The usage that was last reported.
    reported_usage: Usage,
}

/// A request, and the facts seen in its answer.
#[derive(Default)]
struct ModelCall {
    seen: AnswerFacts,
    asked_bytes: usize,
}

/// The audience of an answer while it streams. A summary has none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamAudience {
    Everyone,
    NoReader,
}

impl StreamAudience {
    /// Lets a test kill the server before a piece of an answer is reported. `text` is the text
    /// that was reported so far.
    fn crash_point(self, text: &str) {
        match self {
            StreamAudience::Everyone => {
                crash::point(if text.is_empty() { "model_first_word" } else { "model_mid_stream" })
            }
            StreamAudience::NoReader => {}
        }
    }
}

impl<'a> Turn<'a> {
    /// Returns a turn before its first request. `deadline` ends the turn's own time: no wait for a
    /// retry and no summary may outlast it.
    pub(super) fn new(
        llm: &'a Llm,
        job: &'a Job,
        out: &'a dyn Reporter,
        deadline: Instant,
    ) -> Self {
        Self {
            llm,
            job,
            out,
            deadline,
            calls: Vec::new(),
            tries: 0,
            shown: false,
            ended: None,
            reported_usage: Usage::default(),
        }
    }

    /// Returns the usage of all requests together.
    pub(super) fn usage(&self, began: Instant) -> Usage {
        self.usage_of(&self.calls, began)
    }

    /// Reports the usage so far if it has changed, because a turn that is stopped cannot report it
    /// later.
    fn tell_usage(&mut self) {
        let used = Usage { ms: 0, ..self.usage(Instant::now()) };
        if used != self.reported_usage {
            self.reported_usage = used;
            self.out.report(Report::Used(used));
        }
    }

    /// Returns the sum of tokens of these requests, with its cost and the time since `began`.
    fn usage_of(&self, calls: &[ModelCall], began: Instant) -> Usage {
        let used = calls.iter().map(|call| self.tokens_of(call).0);
        let mut usage = used.fold(Usage::default(), |sum, one| Usage {
            input_tokens: sum.input_tokens.saturating_add(one.input_tokens),
            output_tokens: sum.output_tokens.saturating_add(one.output_tokens),
            ..sum
        });
        usage.cost_micros = self.llm.spec.cost_micros(&usage);
        usage.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        usage
    }

    fn tokens_of(&self, call: &ModelCall) -> (Usage, bool) {
        call.seen.usage(call.asked_bytes, self.llm.spec.max_tokens)
    }

    fn provider(&self) -> Provider {
        self.llm.spec.provider
    }

    /// Makes requests until one is answered or no further one is allowed. Makes none, and fails
    /// with `circuit_open`, while the circuit of the model is open.
    pub(super) async fn answer(&mut self) -> Result<String, Fault> {
        // One admission for the turn: the circuit counts only the turn's outcome, and not each
        // retry.
        let admission =
            self.llm.circuit.admit(Instant::now()).map_err(|wait| self.left_alone(wait))?;
        let request = self.request().await;
        loop {
            self.tries += 1;
            self.ended = None;
            let asked = self.ask(&request, StreamAudience::Everyone).await;
            let wait = asked.as_ref().err().and_then(|trouble| self.wait_after(trouble.again));
            let (Err(trouble), Some(wait)) = (&asked, wait) else {
                admission.tell(&asked);
                if let Some(ended) = self.ended {
                    self.out.report(Report::Ended(ended));
                }
                return asked.map_err(|trouble| trouble.fault);
            };
            self.out.report(Report::Progress(format!(
                "{} Trying again in {:.1} s.",
                trouble.fault.message,
                wait.as_secs_f64()
            )));
            tokio::time::sleep(wait).await;
        }
    }

    /// Returns the request for the answer. If the memory does not fit, the model sums up the oldest
    /// part of it first. If that fails, the oldest messages are left out.
    async fn request(&mut self) -> Request {
        let (llm, prompt) = (self.llm, &self.job.prompt);
        let room = PromptBudget::of(prompt, llm.spec.system.as_deref(), llm.spec.context_tokens);
        let mut memory = Memory::of(prompt);
        if let Some(plan) = Plan::due(prompt, room.bytes) {
            match self.sum_up(&plan).await {
                Ok(summary) => {
                    memory = Memory {
                        summary: Some(Cow::Owned(summary)),
                        unread: OmittedCount::default(),
                        said: plan.kept,
                    }
                }
                Err(fault) => {
                    let message = format!(
                        "{} The oldest messages are left out instead of being summed up.",
                        fault.message
                    );
                    self.out.report(Report::Progress(message));
                }
            }
        }
        room.request(&memory)
    }

    /// Asks for a summary, with one request and within a third of the time that the turn has left.
    /// Reports the summary, so that the log stores it.
    async fn sum_up(&mut self, plan: &Plan<'_>) -> Result<StoredSummary, Fault> {
        let began = Instant::now();
        self.out.report(Report::Progress(format!(
            "{} sums up {} earlier messages.",
            self.job.name,
            plan.messages()
        )));
        let (limit, who) =
            (self.deadline.saturating_duration_since(began) / SUMMARY_SHARE, self.provider());
        let request = plan.request(&self.job.name);
        let Ok(asked) =
            tokio::time::timeout(limit, self.ask(&request, StreamAudience::NoReader)).await
        else {
            return Err(Fault::new(
                "timeout",
                format!("{who} gave no summary within {:.0} s.", limit.as_secs_f64()),
            ));
        };
        let written = asked.map_err(|trouble| trouble.fault)?;
        let summary = plan
            .remembered(&written)
            .ok_or_else(|| Fault::new("empty_output", format!("{who} wrote an empty summary.")))?;
        let usage = self.usage(began);
        self.out.report(Report::Summarised {
            through: summary.through,
            text: summary.text.clone(),
            usage,
        });
        Ok(summary)
    }

    /// Returns the fault of a turn whose model is not asked because its circuit is open.
    fn left_alone(&self, wait: Duration) -> Fault {
        let (who, seconds) = (self.provider(), wait.as_secs_f64().ceil());
        Fault::new(
            "circuit_open",
            format!(
                "This model of {who} failed in several turns in a row and is not asked for another {seconds} s."
            ),
        )
    }

    /// Returns the wait before the next request. `None` if there must not be another request.
    fn wait_after(&self, again: Retry) -> Option<Duration> {
        // Other turns may have opened the circuit meanwhile.
        if self.shown || self.tries >= backoff::TRIES_MAX || self.llm.circuit.rests(Instant::now())
        {
            return None;
        }
        let wait = match again {
            Retry::Never => return None,
            Retry::Soon => backoff::wait(&self.job.key, self.tries),
            Retry::After(wait) => wait,
        };
        // A wait that outlasts the turn is useless: end now, with the error that asked for the
        // wait.
        (wait < self.deadline.saturating_duration_since(Instant::now())).then_some(wait)
    }

    /// Makes one request, and reads the answer to its end. Stores the ending in `ended`, if the
    /// answer or its error has one.
    async fn ask(
        &mut self,
        request: &Request,
        heard: StreamAudience,
    ) -> Result<String, ProviderError> {
        let llm = self.llm;
        let client = llm
            .client()
            .map_err(|fault| ProviderError::useless(&fault.code, fault.message.clone()))?;
        let asked_bytes = request.bytes();
        let settings = llm.settings(self.affordable(asked_bytes)?);
        self.calls.push(ModelCall { asked_bytes, ..ModelCall::default() });
        let silence = (Duration::from_millis(self.job.limit.0) / 2).min(SILENCE_MAX);
        let answer = ModelAnswer::to(client, &llm.target, request, &settings, silence).await;
        let answer = answer.map_err(|broken| ProviderError::of(broken, &llm.target))?;
        crash::point(if heard == StreamAudience::Everyone {
            "model_asked"
        } else {
            "summary_asked"
        });
        let said = self.read(answer, silence, heard).await;
        crash::point(if heard == StreamAudience::Everyone {
            "model_answered"
        } else {
            "summary_answered"
        });
        self.ended = self.answer_facts().ending();
        let finished = said.and_then(|words| self.finish(words, heard));
        if let (None, Err(trouble)) = (self.ended, &finished) {
            self.ended = trouble.ending();
        }
        finished
    }

    /// Returns the number of tokens that the rest of the turn's money pays for; `None` if the turn
    /// has no limit of money, or if the model has no price for output and the money pays for the
    /// prompt.
    ///
    /// # Errors
    /// `over_budget` if the money pays for fewer tokens than [`TOKENS_MIN`], or than `max_tokens`
    /// if that is lower.
    fn affordable(&self, asked_bytes: usize) -> Result<Option<u32>, ProviderError> {
        let Some(most) = self.out.allowance() else { return Ok(None) };
        let micros = most.saturating_sub(self.usage(Instant::now()).cost_micros);
        let least = self.llm.spec.max_tokens.unwrap_or(TOKENS_MIN).min(TOKENS_MIN);
        match self.llm.spec.tokens_for(micros, asked_bytes) {
            Some(tokens) if tokens < least => Err(ProviderError::useless(
                "over_budget",
                "What is left of the budget does not pay for an answer to so long a prompt.".into(),
            )),
            tokens => Ok(tokens),
        }
    }

    /// Reads the answer to its end, and reports each piece if the answer has an audience. `silence`
    /// is the longest wait for more of it. After the provider reported the ending, the wait is only
    /// [`TAIL`], and a fault of the connection is ignored.
    async fn read(
        &mut self,
        mut answer: ModelAnswer,
        silence: Duration,
        heard: StreamAudience,
    ) -> Result<ModelWords, ProviderError> {
        let (wire, mut words) = (self.llm.target.wire(), ModelWords::of(&self.job.name, self.llm));
        while !self.answer_facts().over {
            let finished = self.answer_facts().ended.is_some();
            let frame = match answer.next(if finished { TAIL } else { silence }).await {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                // The answer is complete, so a broken connection does not matter.
                Err(_) if finished => break,
                Err(broken) => {
                    return Err(self.interrupted(ProviderError::of(broken, &self.llm.target)));
                }
            };
            let Some(parts) = wire.read(&frame) else { continue };
            self.answer_facts().frames += 1;
            for part in parts {
                self.answer_facts().note(&part);
                self.take(part, &mut words, heard)?;
            }
        }
        let rest = words.splitter.end();
        self.tell(rest, &mut words, heard);
        Ok(words)
    }

    /// Returns the facts seen in the answer to the last request.
    fn answer_facts(&mut self) -> &mut AnswerFacts {
        if self.calls.is_empty() {
            self.calls.push(ModelCall::default());
        }
        let last = self.calls.len() - 1;
        &mut self.calls[last].seen
    }

    /// Adds the words or thoughts in a part of an answer. Fails for an error that the provider
    /// reports before the ending, and for too long an answer.
    fn take(
        &mut self,
        part: Part,
        words: &mut ModelWords,
        heard: StreamAudience,
    ) -> Result<(), ProviderError> {
        match part {
            Part::Words(piece) => self.hear(&piece, words, heard)?,
            Part::AllWords(piece) if words.bytes == 0 => self.hear(&piece, words, heard)?,
            // After its end the answer is complete, so a later error does not matter.
            Part::Failure(value) if self.answer_facts().ended.is_none() => {
                return Err(self.interrupted(reported_error(&value, &self.llm.target)));
            }
            Part::Thoughts(piece) if heard == StreamAudience::Everyone => self.think(&piece),
            Part::AllWords(_)
            | Part::Failure(_)
            | Part::Thoughts(_)
            | Part::Refusal(_)
            | Part::Tool(_)
            | Part::Model(_)
            | Part::Tokens { .. }
            | Part::End(_)
            | Part::Over => {}
        }
        Ok(())
    }

    /// Turns an unavailable provider into a cut answer if a word was already shown.
    fn interrupted(&self, trouble: ProviderError) -> ProviderError {
        if self.shown && trouble.fault.code == "provider_unavailable" {
            ProviderError::cut(self.provider())
        } else {
            trouble
        }
    }

    /// Reports thoughts of the model.
    fn think(&mut self, piece: &str) {
        self.tell_usage();
        self.out.report(Report::Thought(history::visible(&clean(piece))));
    }

    /// Adds a piece of an answer, without characters that people cannot read, and reports it if it
    /// has an audience. Fails if the answer gets longer than [`ANSWER_BYTES_MAX`].
    fn hear(
        &mut self,
        piece: &str,
        words: &mut ModelWords,
        heard: StreamAudience,
    ) -> Result<(), ProviderError> {
        words.bytes += piece.len();
        if words.bytes > ANSWER_BYTES_MAX {
            return Err(ProviderError::too_much(self.provider()));
        }
        let piece = history::visible(&clean(&words.halves.join(piece)));
        heard.crash_point(&words.text);
        let part = words.splitter.push(&piece);
        self.tell(part, words, heard);
        Ok(())
    }

    /// Adds words and thoughts to the answer, and reports them if it has an audience.
    fn tell(
        &mut self,
        part: moothall_kernel::thoughts::AnswerPart,
        words: &mut ModelWords,
        heard: StreamAudience,
    ) {
        if heard == StreamAudience::Everyone && !part.thoughts.is_empty() {
            self.think(&part.thoughts);
        }
        words.thoughts.push_str(&part.thoughts);
        words.text.push_str(&part.words);
        if heard == StreamAudience::Everyone && !part.words.is_empty() {
            self.shown = true;
            self.tell_usage();
            self.out.report(Report::Delta(part.words));
        }
    }

    /// Returns the text of an answer that was read to its end. If the answer's text has only
    /// thoughts, returns a pass in a turn that may pass, and otherwise these thoughts. Fails if the
    /// answer is cut or in another form. Fails if all of it came as thoughts in a field of their
    /// own, and the turn must not pass. Fails also if it has no words for another reason than the
    /// model's choice.
    fn finish(
        &mut self,
        words: ModelWords,
        heard: StreamAudience,
    ) -> Result<String, ProviderError> {
        let (who, seen) = (self.provider(), self.answer_facts().clone());
        if seen.frames == 0 {
            let message = format!(
                "{who} answered something that is not in its own form. Check base_url of this agent."
            );
            return Err(ProviderError::bad_response(message));
        }
        let Some(ended) = seen.ending() else { return Err(ProviderError::cut(who)) };
        self.remark(&seen);
        // If a model put its whole answer into its thoughts, they are the answer, unless it may
        // pass. A summary is never made of thoughts.
        let only_thought = heard == StreamAudience::Everyone
            && matches!(ended, Ending::Stop | Ending::Length)
            && is_empty_looking(&words.text)
            && !is_empty_looking(&words.thoughts);
        if only_thought && self.job.may_pass {
            return Ok(PASS.to_owned());
        }
        if only_thought {
            self.out.report(Report::OnlyThought);
            return Ok(words.thoughts);
        }
        let thought = seen.heard_bytes > 0 && is_empty_looking(&words.text);
        if thought && ended == Ending::Stop && !self.job.may_pass {
            return Err(ProviderError::useless(
                "only_thoughts",
                format!("A model of {who} thought and said nothing. The trace has its thoughts."),
            ));
        }
        if is_empty_looking(&words.text)
            && let Some(why) = ProviderError::wordless(ended, &seen.refusal, &self.llm.target)
        {
            return Err(why);
        }
        Ok(words.text)
    }

    /// Reports to people an impossible number of tokens, and another model than the configured one,
    /// in an answer that is otherwise fine.
    fn remark(&self, seen: &AnswerFacts) {
        if self.calls.last().is_some_and(|call| self.tokens_of(call).1) {
            self.out.report(Report::Progress(format!(
                "{} reports a number of tokens that cannot be; it was corrected.",
                self.provider()
            )));
        }
        let (configured, _) = names::split(&self.llm.spec.model);
        if let Some(model) = seen.model.as_deref().filter(|model| !same_model(configured, model)) {
            let model = for_terminal(model);
            self.out.report(Report::Progress(format!(
                "{} says that the model {} answered.",
                self.provider(),
                cut(&model, MODEL_BYTES_MAX)
            )));
        }
    }
}

/// The text of an answer so far.
struct ModelWords {
    text: String,
    /// The thoughts found in the answer's text, not those in a field of their own.
    thoughts: String,
    /// Bytes received of both.
    bytes: usize,
    halves: SurrogateJoiner,
    splitter: Splitter,
}

impl ModelWords {
    fn of(name: &str, llm: &Llm) -> Self {
        Self {
            text: String::new(),
            thoughts: String::new(),
            bytes: 0,
            halves: SurrogateJoiner::default(),
            splitter: Splitter::new(name, llm.spec.thinks_first),
        }
    }
}

/// True if a reported model may be the configured one: providers add a date or a tag, or leave it
/// out.
fn same_model(configured: &str, reported: &str) -> bool {
    let configured = configured.trim_start_matches("models/");
    let reported = reported.trim_start_matches("models/");
    reported.starts_with(configured) || configured.starts_with(reported)
}
