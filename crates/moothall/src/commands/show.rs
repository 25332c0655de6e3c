//! Formatting of events for people at a terminal.

use std::borrow::Cow;

use moothall_kernel::ending::Ending;
use moothall_kernel::text::{counted, in_order};
use moothall_surfaces::wire::{Envelope, TurnEvent, WireUsage};
use serde_json::Value;

use super::Context;
use super::circle::{self, Circle};
use super::descriptions::control;
use super::permit::describe;
use crate::client::Client;
use crate::clock::{day, time};
use crate::fault::Fault;
use crate::paint::{Printer, Style};
use crate::threads::{self, Faces};

/// Width of an event's number and time.
const PLACE_CHARS: usize = 14;

/// Printer of one conversation's events.
pub struct View<'a> {
    context: &'a Context,
    thread: &'a str,
    faces: Faces,
    /// State of the gathering; empty before its first event.
    circle: Circle,
    /// True while an event is printed that is not about the awaited message.
    is_aside: bool,
    /// Day of the latest event; today before the first.
    day: Option<String>,
}

impl<'a> View<'a> {
    /// Creates a view with the names of the participants.
    pub fn new(context: &'a Context, thread: &'a str, faces: Faces) -> Self {
        let day = day(&jiff::Timestamp::now().to_string());
        Self { context, thread, faces, circle: Circle::default(), is_aside: false, day }
    }

    /// Prints an event: a JSON object, or lines for people.
    ///
    /// # Errors
    /// Standard output is closed.
    pub async fn show(&mut self, envelope: &Envelope) -> Result<(), Fault> {
        if self.context.printer.json {
            return self.context.printer.object(envelope);
        }
        if envelope.kind == "control" {
            self.look_again(&self.context.client).await;
        }
        if envelope.kind == "gathering" {
            self.gather(&self.context.client).await;
            self.circle.hear(envelope);
        }
        let printer = &self.context.printer;
        let day = day(&envelope.ts);
        if let Some(day) = day.as_ref().filter(|_| day != self.day) {
            printer.line(&printer.paint(Style::Dim, &format!("     {day}")))?;
        }
        self.day = day;
        printer.line(&self.row(envelope))
    }

    /// Prints an event that is not about the awaited message, with a mark.
    ///
    /// # Errors
    /// Standard output is closed.
    pub async fn show_aside(&mut self, envelope: &Envelope) -> Result<(), Fault> {
        self.is_aside = true;
        let shown = self.show(envelope).await;
        self.is_aside = false;
        shown
    }

    /// Reads the participants again after a change. Keeps the old names if the server does not
    /// answer.
    async fn look_again(&mut self, client: &Client) {
        if let Ok(state) = threads::state(client, self.thread).await {
            self.faces = Faces::of(&state);
        }
    }

    /// Reads the members of the gathering, since its events contain only ids. Ids are shown if the
    /// server does not answer.
    async fn gather(&mut self, client: &Client) {
        if !self.circle.is_known()
            && let Ok(answer) = circle::ask(client, self.thread).await
        {
            self.circle = Circle::earlier(&answer);
        }
    }

    /// Returns an event as a row: number, time, sender and text, with later lines indented.
    fn row(&self, envelope: &Envelope) -> String {
        let printer = &self.context.printer;
        let place =
            printer.paint(Style::Dim, &format!("{:>4} {}", envelope.seq, clock(&envelope.ts)));
        let who = self.faces.painted(printer, &envelope.from, self.faces.width());
        // Later lines are indented, so that none can pass for another speaker.
        let indent = format!("\n{}", " ".repeat(PLACE_CHARS + 2 + self.faces.width() + 2));
        format!("{place}  {who}  {}", self.words(printer, envelope).replace('\n', &indent))
    }

    /// Returns the text of an event: a message with its recipient and marks, or an explanation of
    /// any other event.
    fn words(&self, printer: &Printer, envelope: &Envelope) -> String {
        if envelope.kind != "message" {
            let waits = envelope.kind == "permission" && envelope.content["event"] == "requested";
            return printer.paint(
                if waits { Style::Warn } else { Style::Dim },
                &format!("· {}", explain(envelope, &self.circle)),
            );
        }
        let text = words_of(envelope);
        let style = match envelope.meta.redacted {
            true => Style::Dim,
            false if envelope.meta.error.is_some() => Style::Bad,
            false => Style::Plain,
        };
        let target = match envelope.to.as_str() {
            "all" => String::new(),
            id => format!("→ {}: ", self.faces.painted(printer, id, 0)),
        };
        let aside = self.is_aside.then(|| "another message".to_owned());
        let marks = aside.into_iter().chain(doubt(envelope));
        let marks: String =
            marks.map(|mark: String| printer.paint(Style::Dim, &format!("({mark}) "))).collect();
        format!(
            "{marks}{target}{}{}",
            printer.paint(style, &text),
            printer.paint(Style::Dim, &ending(envelope))
        )
    }
}

/// Returns the remark after a message: its error, or the remark on its end.
fn ending(envelope: &Envelope) -> String {
    match &envelope.meta.error {
        Some(fault) => format!("  {}", fault.message),
        None => mark(envelope).map_or_else(String::new, |mark| format!("  ({mark})")),
    }
}

/// Returns a remark if a message contains only thoughts, or if its text may be incomplete.
pub fn mark(envelope: &Envelope) -> Option<String> {
    let meta = &envelope.meta;
    let ended = meta.ended.as_deref().and_then(|ended| ended.parse::<Ending>().ok()?.phrase());
    let marks = [
        meta.thought.then_some("only thoughts"),
        meta.stopped.then_some("stopped here"),
        ended.filter(|_| !meta.stopped),
    ];
    let marks: Vec<_> = marks.into_iter().flatten().collect();
    (!marks.is_empty()).then(|| marks.join("; "))
}

/// Returns the text of a message in reading order, or a note of its erasure.
pub fn words_of(envelope: &Envelope) -> Cow<'_, str> {
    if envelope.meta.redacted {
        "(erased)".into()
    } else {
        in_order(envelope.content.as_str().unwrap_or_default())
    }
}

/// Returns the reason to doubt the sender of an event. `None` if the sender is proven.
pub fn doubt(envelope: &Envelope) -> Option<String> {
    match &envelope.meta.typed_at {
        Some(at) => Some(format!("typed at {at}'s terminal")),
        None => envelope.meta.unproven.then(|| "sender not verified".into()),
    }
}

/// True for messages, for notices, and for words of people who do not take part.
pub fn is_conversation(envelope: &Envelope) -> bool {
    matches!(envelope.kind.as_str(), "message" | "notice" | "observation")
}

/// True for the events of [`is_conversation`], without notices that repeat a step of a gathering,
/// and for the steps that all members of a gathering are shown.
pub fn is_shown(envelope: &Envelope) -> bool {
    (is_conversation(envelope) && !circle::is_repeated(envelope)) || circle::is_shown(envelope)
}

/// True for the events of [`is_shown`], and for permission events.
pub fn is_read(envelope: &Envelope) -> bool {
    is_shown(envelope) || envelope.kind == "permission"
}

/// True for every event.
pub fn is_anything(_: &Envelope) -> bool {
    true
}

/// Returns hours, minutes and seconds of a time stamp, padded to the width of a time in UTC with
/// its `Z`.
pub fn clock(ts: &str) -> String {
    format!("{:<9}", time(ts))
}

/// Describes an event other than a message. `circle` must already include the event.
pub fn explain(envelope: &Envelope, circle: &Circle) -> String {
    match envelope.kind.as_str() {
        "notice" => text_of(&envelope.content, "text"),
        "observation" => format!("wrote, without taking part: {}", words_of(envelope)),
        "control" => control(&envelope.content),
        "permission" => describe(envelope).unwrap_or_else(|| envelope.content.to_string()),
        "turn" => serde_json::from_value(envelope.content.clone())
            .map_or_else(|_| envelope.content.to_string(), explain_turn),
        "gathering" => circle::step(envelope)
            .map_or_else(|| envelope.content.to_string(), |step| circle.words(&step)),
        kind => format!(
            "{kind} {}",
            if envelope.content.is_null() { String::new() } else { envelope.content.to_string() }
        ),
    }
}

fn text_of(content: &Value, key: &str) -> String {
    content.get(key).and_then(Value::as_str).map_or_else(|| content.to_string(), str::to_owned)
}

/// Describes a turn event with ids and reasons, as the trace shows it.
fn explain_turn(event: TurnEvent) -> String {
    match event {
        TurnEvent::Granted { turn, participant, why, .. } => {
            format!("turn {} to {participant} ({why})", number(&turn))
        }
        TurnEvent::Widened { turn, why, .. } => {
            format!("turn {} has another cause ({why})", number(&turn))
        }
        TurnEvent::Started { turn, attempt, from_seq, through_seq, .. } => {
            format!(
                "turn {} started, attempt {attempt}, covers {}..{through_seq}",
                number(&turn),
                from_seq + 1
            )
        }
        TurnEvent::Released { turn } => {
            format!("the round no longer waits for turn {}, which continues", number(&turn))
        }
        TurnEvent::Lost { turn, attempt } => {
            format!("turn {} lost attempt {attempt} in a restart", number(&turn))
        }
        TurnEvent::Ended { turn, participant, outcome, fault, usage, .. } => {
            let fault = fault.map_or_else(String::new, |fault| format!(": {}", fault.message));
            format!(
                "turn {} of {participant}: {outcome} after {}{fault}",
                number(&turn),
                spent(&usage)
            )
        }
        TurnEvent::Skipped { participant, why_not, detail, .. } => {
            let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
            format!("{participant} is not asked ({why_not}){detail}")
        }
        TurnEvent::Kept { participant, because, text, .. } => {
            format!("not shown, from {participant} ({because}): {text}")
        }
        TurnEvent::Unkept { participant, count, bytes, until } => {
            let until = until.map_or_else(String::new, |until| {
                format!("; further ones are only counted until {until}")
            });
            let (count, are) =
                (counted(count, "refused message"), if count == 1 { "is" } else { "are" });
            format!("{count} of {participant} {are} not stored ({bytes} bytes){until}")
        }
        TurnEvent::Summarised { participant, through_seq, usage, text, .. } => {
            let text = if text.is_empty() { "(erased)" } else { &text };
            format!("{participant} summarised 1..{through_seq} ({}): {text}", spent(&usage))
        }
        TurnEvent::Taken { cause } => format!("message {} is processed", cause.seq),
        TurnEvent::RoundOpened { cause, cap, forced, polled } => {
            format!(
                "round about {}: at most {}; must answer: {}; may: {}",
                cause.seq,
                counted(cap.into(), "answer"),
                names(&forced),
                names(&polled)
            )
        }
        TurnEvent::ReactionOpened { forced, polled } => {
            format!("reactions; must: {}; may: {}", names(&forced), names(&polled))
        }
        TurnEvent::RoundClosed => "round closed".into(),
        TurnEvent::RoundReopened { cause, reply } => {
            format!("{reply} was late: the others may react to it, about {}", cause.seq)
        }
        TurnEvent::Facts { participant, runtime, known } => {
            format!(
                "{participant} runs as {runtime} now{}",
                if known { "" } else { ", unknown to the registry" }
            )
        }
    }
}

/// Formats the usage of a turn: time, tokens if a model reported them, and cost if prices are
/// configured.
pub fn spent(usage: &WireUsage) -> String {
    spent_in(usage, "")
}

/// Formats the usage of a turn, with the currency of the cost.
pub fn spent_in(usage: &WireUsage, currency: &str) -> String {
    let tokens = match (usage.input_tokens, usage.output_tokens) {
        (0, 0) => String::new(),
        (input, output) => format!(", {input} + {output} tokens"),
    };
    let cost = if usage.cost_micros == 0 {
        String::new()
    } else {
        format!(", cost {} {currency}", cost(usage.cost_micros))
    };
    let cost = cost.trim_end();
    format!("{:.2} s{tokens}{cost}", usage.seconds)
}

/// Formats millionths as a decimal number without zeros at its end, but with at least two decimals.
pub fn cost(micros: u64) -> String {
    let exact = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let digits = exact.trim_end_matches('0').len().max(exact.len() - 4);
    exact[..digits].to_owned()
}

fn names(ids: &[String]) -> String {
    if ids.is_empty() { "none".into() } else { ids.join(", ") }
}

/// Returns the number at the end of a turn's id.
fn number(turn: &str) -> &str {
    turn.rsplit('.').next().unwrap_or(turn)
}
