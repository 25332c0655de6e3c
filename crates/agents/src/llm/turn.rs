//! One turn: requests until one is answered, or until another makes no sense.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use genai::chat::{ChatRequest, ChatStream, ChatStreamEvent};
use moothall_engine::agent::{Job, Report, Reporter};
use moothall_engine::crash;
use moothall_kernel::compose::{Remembered, Unread};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::text::{clean, cut, for_terminal};

use super::errors::{Again, ProviderError};
use super::guard::{Broken, guarded};
use super::history::{Memory, Room};
use super::provider::Provider;
use super::summary::Plan;
use super::watch::{Seen, Watch};
use super::{ANSWER_BYTES_MAX, Llm, SILENCE_MAX, backoff, history};

/// Bytes of raw events for one answer: what a longest answer takes in very small pieces, and
/// thinking beside it.
const EVENTS_BYTES_MAX: u64 = 64 * ANSWER_BYTES_MAX as u64;
/// A summary may take one such part of the time that its turn has.
const SUMMARY_SHARE: u32 = 3;
/// Longest name of a model that is repeated to people, in bytes.
const MODEL_BYTES_MAX: usize = 80;

/// A turn being answered.
pub(super) struct Turn<'a> {
    llm: &'a Llm,
    job: &'a Job,
    out: &'a dyn Reporter,
    deadline: Instant,
    /// Every request that was made.
    calls: Vec<Call>,
    /// Those that asked for the answer.
    tries: u32,
    /// Whether a word of the answer was shown.
    shown: bool,
    /// What was told of its usage.
    told: Usage,
}

/// A request, and what was seen of its answer.
struct Call {
    watch: Watch,
    asked_bytes: usize,
}

/// Who hears an answer while it comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    ByAll,
    ByNobody,
}

impl Heard {
    /// The point before a piece of an answer is told, after what was told so far.
    fn crash_point(self, told: &str) {
        match self {
            Heard::ByAll => {
                crash::point(if told.is_empty() { "model_first_word" } else { "model_mid_stream" })
            }
            Heard::ByNobody => {}
        }
    }
}

impl<'a> Turn<'a> {
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
            told: Usage::default(),
        }
    }

    /// What all requests together used.
    pub(super) fn usage(&self, began: Instant) -> Usage {
        self.usage_of(&self.calls, began)
    }

    /// Tells what was used by now: who stops the turn leaves nobody who could tell it later.
    fn tell_usage(&mut self) {
        let used = Usage { ms: 0, ..self.usage(Instant::now()) };
        if used != self.told {
            self.told = used;
            self.out.report(Report::Used(used));
        }
    }

    fn usage_of(&self, calls: &[Call], began: Instant) -> Usage {
        let used = calls.iter().map(|call| self.tokens_of(call, &call.watch.seen()).0);
        let mut usage = used.fold(Usage::default(), |sum, one| Usage {
            input_tokens: sum.input_tokens.saturating_add(one.input_tokens),
            output_tokens: sum.output_tokens.saturating_add(one.output_tokens),
            ..sum
        });
        usage.cost_micros = self.llm.spec.cost_micros(&usage);
        usage.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        usage
    }

    fn tokens_of(&self, call: &Call, seen: &Seen) -> (Usage, bool) {
        seen.usage(call.asked_bytes, self.llm.spec.max_tokens)
    }

    fn who(&self) -> Provider {
        self.llm.spec.provider
    }

    /// Asks until there is an answer.
    pub(super) async fn answer(&mut self) -> Result<String, Fault> {
        // One for the turn: however often it asks, what comes of it in the end is what counts.
        let admission =
            self.llm.circuit.admit(Instant::now()).map_err(|wait| self.left_alone(wait))?;
        let request = self.request().await;
        loop {
            self.tries += 1;
            let asked = self.ask(request.clone(), Heard::ByAll).await;
            let wait = asked.as_ref().err().and_then(|trouble| self.wait_after(trouble.again));
            let (Err(trouble), Some(wait)) = (&asked, wait) else {
                admission.tell(&asked);
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

    /// What the model is asked. Where not all of the memory fits, the oldest part of it is summed
    /// up first; without a summary it is left out.
    async fn request(&mut self) -> ChatRequest {
        let (llm, prompt) = (self.llm, &self.job.prompt);
        let room = Room::of(prompt, llm.spec.system.as_deref(), llm.spec.context_tokens);
        let mut memory = Memory::of(prompt);
        if let Some(plan) = Plan::due(prompt, room.bytes) {
            match self.sum_up(&plan).await {
                Ok(summary) => {
                    memory = Memory {
                        summary: Some(Cow::Owned(summary)),
                        unread: Unread::default(),
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

    /// One request, within a part of the turn's time.
    async fn sum_up(&mut self, plan: &Plan<'_>) -> Result<Remembered, Fault> {
        let began = Instant::now();
        self.out.report(Report::Progress(format!(
            "{} sums up {} earlier messages.",
            self.job.name,
            plan.messages()
        )));
        let (limit, who) =
            (self.deadline.saturating_duration_since(began) / SUMMARY_SHARE, self.who());
        let request = plan.request(&self.job.name);
        let Ok(asked) = tokio::time::timeout(limit, self.ask(request, Heard::ByNobody)).await
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

    fn left_alone(&self, wait: Duration) -> Fault {
        let (who, seconds) = (self.who(), wait.as_secs_f64().ceil());
        Fault::new(
            "circuit_open",
            format!(
                "This model of {who} failed in several turns in a row and is not asked for another {seconds} s."
            ),
        )
    }

    /// How long to wait before the next request; nothing when there is to be none.
    fn wait_after(&self, again: Again) -> Option<Duration> {
        // Other turns may have shown meanwhile that it is no use.
        if self.shown || self.tries >= backoff::TRIES_MAX || self.llm.circuit.rests(Instant::now())
        {
            return None;
        }
        let wait = match again {
            Again::Never => return None,
            Again::Soon => backoff::wait(&self.job.key, self.tries),
            Again::After(wait) => wait,
        };
        // A wait that outlasts the turn helps nobody: it ends at once, and says what it waited for.
        (wait < self.deadline.saturating_duration_since(Instant::now())).then_some(wait)
    }

    /// Makes one request, and reads the answer to its end.
    async fn ask(&mut self, request: ChatRequest, heard: Heard) -> Result<String, ProviderError> {
        let client = self
            .llm
            .client()
            .map_err(|fault| ProviderError::useless(&fault.code, fault.message.clone()))?;
        let watch = Watch::default();
        let said: usize = request.messages.iter().map(|message| message.size()).sum();
        let asked_bytes = said + request.system.as_deref().map_or(0, str::len);
        self.calls.push(Call { watch: watch.clone(), asked_bytes });
        let silence = (Duration::from_millis(self.job.limit.0) / 2).min(SILENCE_MAX);
        let options = self.llm.options(silence, watch.clone(), self.affordable(asked_bytes));
        let response = client.exec_chat_stream(self.llm.service(), request, Some(&options)).await;
        let stream = response.map_err(|error| ProviderError::of(&error, &self.llm.target))?.stream;
        let said = self.read(stream, &watch, heard).await?;
        crash::point(if heard == Heard::ByAll { "model_answered" } else { "summary_answered" });
        self.finish(said, &watch.seen())
    }

    /// The tokens that the rest of the turn's money pays for.
    fn affordable(&self, asked_bytes: usize) -> Option<u32> {
        let used = self.usage(Instant::now()).cost_micros;
        let micros = self.out.allowance()?.saturating_sub(used);
        self.llm.spec.tokens_for(micros, asked_bytes)
    }

    async fn read(
        &mut self,
        mut stream: ChatStream,
        watch: &Watch,
        heard: Heard,
    ) -> Result<Said, ProviderError> {
        let mut said = Said::default();
        while let Some(event) = self.next(&mut stream).await? {
            match event {
                ChatStreamEvent::Chunk(chunk) => {
                    heard.crash_point(&said.text);
                    let piece = self.hear(&mut said.text, &chunk.content)?;
                    if heard == Heard::ByAll && !piece.is_empty() {
                        self.shown = true;
                        self.tell_usage();
                        self.out.report(Report::Delta(piece));
                    }
                }
                ChatStreamEvent::ToolCallChunk(chunk) => said.tool = Some(chunk.tool_call.fn_name),
                ChatStreamEvent::End(_) => break,
                ChatStreamEvent::Start => crash::point(if heard == Heard::ByAll {
                    "model_asked"
                } else {
                    "summary_asked"
                }),
                ChatStreamEvent::ReasoningChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::Heartbeat => {}
            }
            if watch.seen().bytes > EVENTS_BYTES_MAX {
                return Err(self.too_much());
            }
        }
        Ok(said)
    }

    async fn next(
        &self,
        stream: &mut ChatStream,
    ) -> Result<Option<ChatStreamEvent>, ProviderError> {
        match guarded(stream.next()).await {
            Ok(event) => event.transpose().map_err(|error| self.trouble(&error)),
            Err(Broken::Work) => Err(self.too_much()),
            Err(Broken::Panic) => Err(ProviderError::bad_response(format!(
                "{} answered something that makes no sense.",
                self.who()
            ))),
        }
    }

    /// What an error means: after the first word, silence means that the answer was cut.
    fn trouble(&self, error: &genai::Error) -> ProviderError {
        let trouble = ProviderError::of(error, &self.llm.target);
        if self.shown && trouble.fault.code == "provider_unavailable" {
            ProviderError::cut(self.who())
        } else {
            trouble
        }
    }

    /// Adds a piece of an answer, as far as people can read it.
    fn hear(&self, text: &mut String, piece: &str) -> Result<String, ProviderError> {
        if text.len() + piece.len() > ANSWER_BYTES_MAX {
            return Err(self.too_much());
        }
        let piece = history::visible(&clean(piece));
        text.push_str(&piece);
        Ok(piece)
    }

    fn too_much(&self) -> ProviderError {
        ProviderError::useless(
            "output_too_large",
            format!("{} said more than {} KiB and was ended.", self.who(), ANSWER_BYTES_MAX / 1024),
        )
    }

    fn finish(&self, said: Said, seen: &Seen) -> Result<String, ProviderError> {
        let who = self.who();
        if seen.events == 0 {
            let message = format!(
                "{who} answered something that is not in its own form. Check base_url of this agent."
            );
            return Err(ProviderError::bad_response(message));
        }
        if !seen.finished {
            return Err(ProviderError::cut(who));
        }
        self.remark(seen);
        match said.tool {
            Some(_) if said.text.trim().is_empty() => Err(ProviderError::useless(
                "provider_bad_response",
                format!("{who} asked for a tool, and none was offered."),
            )),
            _ => Ok(said.text),
        }
    }

    /// Tells people what is odd about an answer that is otherwise fine.
    fn remark(&self, seen: &Seen) {
        if self.calls.last().is_some_and(|call| self.tokens_of(call, seen).1) {
            self.out.report(Report::Progress(format!(
                "{} reports a number of tokens that cannot be; it was corrected.",
                self.who()
            )));
        }
        let configured = &self.llm.spec.model;
        if let Some(model) = seen.model.as_deref().filter(|model| !same_model(configured, model)) {
            let model = for_terminal(model);
            self.out.report(Report::Progress(format!(
                "{} says that the model {} answered.",
                self.who(),
                cut(&model, MODEL_BYTES_MAX)
            )));
        }
    }
}

/// What a model said.
#[derive(Default)]
struct Said {
    text: String,
    tool: Option<String>,
}

/// Whether a reported model may be the configured one: providers add a date or a tag, or leave it
/// out.
fn same_model(configured: &str, reported: &str) -> bool {
    let configured = configured.trim_start_matches("models/");
    let reported = reported.trim_start_matches("models/");
    reported.starts_with(configured) || configured.starts_with(reported)
}
