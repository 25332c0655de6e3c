//! One turn: requests until one is answered, or until another makes no sense.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use genai::chat::{ChatRequest, ChatStream, ChatStreamEvent};
use moothall_engine::agent::{Job, Report, Reporter};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::text::{clean, cut, for_terminal};

use super::guard::{Broken, guarded};
use super::trouble::{Again, Trouble};
use super::watch::{Seen, Watch};
use super::{ANSWER_BYTES_MAX, Llm, SILENCE_MAX, backoff, history};

/// Bytes of raw events for one answer: what a longest answer takes in very small pieces, and thinking beside it.
const EVENTS_BYTES_MAX: u64 = 64 * ANSWER_BYTES_MAX as u64;
/// Longest name of a model that is repeated to people, in bytes.
const MODEL_BYTES_MAX: usize = 80;

/// A turn being answered.
pub(super) struct Turn<'a> {
    llm: &'a Llm,
    job: &'a Job,
    out: &'a dyn Reporter,
    deadline: Instant,
    request: ChatRequest,
    asked_bytes: usize,
    /// One for each request that was made.
    watches: Vec<Watch>,
    /// Whether a word of the answer was shown.
    shown: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(llm: &'a Llm, job: &'a Job, out: &'a dyn Reporter, deadline: Instant) -> Self {
        let request = history::request(&job.prompt, llm.spec.system.as_deref(), llm.spec.context_tokens);
        let said: usize = request.messages.iter().map(|message| message.size()).sum();
        let asked_bytes = said + request.system.as_deref().map_or(0, str::len);
        Self { llm, job, out, deadline, request, asked_bytes, watches: Vec::new(), shown: false }
    }

    /// What all requests together used.
    pub(super) fn usage(&self) -> Usage {
        let used = self.watches.iter().map(|watch| self.usage_of(&watch.seen()).0);
        used.fold(Usage::default(), |sum, one| Usage {
            input_tokens: sum.input_tokens.saturating_add(one.input_tokens),
            output_tokens: sum.output_tokens.saturating_add(one.output_tokens),
            ..sum
        })
    }

    fn usage_of(&self, seen: &Seen) -> (Usage, bool) {
        seen.usage(self.asked_bytes, self.llm.spec.max_tokens)
    }

    fn who(&self) -> &'static str {
        self.llm.spec.provider.as_str()
    }

    /// Asks until there is an answer.
    pub(super) async fn answer(&mut self) -> Result<String, Fault> {
        let mut last: Option<Fault> = None;
        loop {
            let admission = match self.llm.circuit.admit(Instant::now()) {
                Ok(admission) => admission,
                Err(wait) => return Err(last.unwrap_or_else(|| self.left_alone(wait))),
            };
            let trouble = match self.attempt().await {
                Ok(text) => {
                    admission.worked();
                    return Ok(text);
                }
                Err(trouble) => trouble,
            };
            if trouble.strike {
                admission.failed(Instant::now());
            } else {
                admission.worked();
            }
            let Some(wait) = self.wait_after(trouble.again) else { return Err(trouble.fault) };
            self.out.report(Report::Progress(format!("{} Trying again in {:.1} s.", trouble.fault.message, wait.as_secs_f64())));
            last = Some(trouble.fault);
            tokio::time::sleep(wait).await;
        }
    }

    fn left_alone(&self, wait: Duration) -> Fault {
        let (who, seconds) = (self.who(), wait.as_secs_f64().ceil());
        Fault::new("circuit_open", format!("{who} failed several times in a row and is not asked for another {seconds} s."))
    }

    /// How long to wait before the next request; nothing when there is to be none.
    fn wait_after(&self, again: Again) -> Option<Duration> {
        let tries = u32::try_from(self.watches.len()).unwrap_or(u32::MAX);
        if self.shown || tries >= backoff::TRIES_MAX {
            return None;
        }
        let wait = match again {
            Again::Never => return None,
            Again::Soon => backoff::wait(&self.job.key, tries),
            Again::After(wait) => wait,
        };
        // A wait that outlasts the turn helps nobody: it ends at once, and says what it waited for.
        (wait < self.deadline.saturating_duration_since(Instant::now())).then_some(wait)
    }

    /// One request.
    async fn attempt(&mut self) -> Result<String, Trouble> {
        let client = self.llm.client().map_err(|fault| Trouble::useless(&fault.code, fault.message.clone()))?;
        let watch = Watch::default();
        self.watches.push(watch.clone());
        let silence = (Duration::from_millis(self.job.limit.0) / 2).min(SILENCE_MAX);
        let options = self.llm.options(silence, watch.clone());
        let response = client.exec_chat_stream(self.llm.service(), self.request.clone(), Some(&options)).await;
        let stream = response.map_err(|error| Trouble::of(&error, &self.llm.target))?.stream;
        let said = self.read(stream, &watch).await?;
        self.finish(said, &watch.seen())
    }

    async fn read(&mut self, mut stream: ChatStream, watch: &Watch) -> Result<Said, Trouble> {
        let mut said = Said::default();
        while let Some(event) = self.next(&mut stream).await? {
            match event {
                ChatStreamEvent::Chunk(chunk) => self.hear(&mut said.text, &chunk.content)?,
                ChatStreamEvent::ToolCallChunk(chunk) => said.tool = Some(chunk.tool_call.fn_name),
                ChatStreamEvent::End(_) => break,
                ChatStreamEvent::Start
                | ChatStreamEvent::ReasoningChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::Heartbeat => {}
            }
            if watch.seen().bytes > EVENTS_BYTES_MAX {
                return Err(self.too_much());
            }
        }
        Ok(said)
    }

    async fn next(&self, stream: &mut ChatStream) -> Result<Option<ChatStreamEvent>, Trouble> {
        match guarded(stream.next()).await {
            Ok(event) => event.transpose().map_err(|error| self.trouble(&error)),
            Err(Broken::Work) => Err(self.too_much()),
            Err(Broken::Panic) => Err(Trouble::bad_response(format!("{} answered something that makes no sense.", self.who()))),
        }
    }

    /// What an error means: after the first word, silence means that the answer was cut.
    fn trouble(&self, error: &genai::Error) -> Trouble {
        let trouble = Trouble::of(error, &self.llm.target);
        if self.shown && trouble.fault.code == "provider_unavailable" { Trouble::cut(self.who()) } else { trouble }
    }

    fn hear(&mut self, text: &mut String, piece: &str) -> Result<(), Trouble> {
        if text.len() + piece.len() > ANSWER_BYTES_MAX {
            return Err(self.too_much());
        }
        let piece = history::visible(&clean(piece));
        if piece.is_empty() {
            return Ok(());
        }
        text.push_str(&piece);
        self.shown = true;
        self.out.report(Report::Delta(piece));
        Ok(())
    }

    fn too_much(&self) -> Trouble {
        Trouble::useless("output_too_large", format!("{} said more than {} KiB and was ended.", self.who(), ANSWER_BYTES_MAX / 1024))
    }

    fn finish(&self, said: Said, seen: &Seen) -> Result<String, Trouble> {
        let who = self.who();
        if seen.events == 0 {
            let message = format!("{who} answered something that is not in its own form. Check base_url of this agent.");
            return Err(Trouble::bad_response(message));
        }
        if !seen.finished {
            return Err(Trouble::cut(who));
        }
        self.remark(seen);
        match said.tool {
            Some(_) if said.text.trim().is_empty() => {
                Err(Trouble::useless("provider_bad_response", format!("{who} asked for a tool, and none was offered.")))
            }
            _ => Ok(said.text),
        }
    }

    /// Tells people what is odd about an answer that is otherwise fine.
    fn remark(&self, seen: &Seen) {
        if self.usage_of(seen).1 {
            self.out.report(Report::Progress(format!("{} reports a number of tokens that cannot be; it was corrected.", self.who())));
        }
        let configured = &self.llm.spec.model;
        if let Some(model) = seen.model.as_deref().filter(|model| !same_model(configured, model)) {
            let model = for_terminal(model);
            self.out.report(Report::Progress(format!("{} says that the model {} answered.", self.who(), cut(&model, MODEL_BYTES_MAX))));
        }
    }
}

/// What a model said.
#[derive(Default)]
struct Said {
    text: String,
    tool: Option<String>,
}

/// Whether a reported model may be the configured one: providers add a date or a tag, or leave it out.
fn same_model(configured: &str, reported: &str) -> bool {
    let configured = configured.trim_start_matches("models/");
    let reported = reported.trim_start_matches("models/");
    reported.starts_with(configured) || configured.starts_with(reported)
}
