//! `gather`: starts, lists, shows and ends gatherings with a talking piece, and passes the piece.

mod plan;

use jiff::Timestamp;
use moothall_surfaces::wire::{
    Actor, Envelope, GatheringAnswer, GatheringList, GatheringStep, NewPiecePass,
};

use super::Context;
use super::circle::{self, Circle, ask, numbered, path};
use super::events::{EventSelection, FollowItem, Follower};
use super::permit;
use crate::cli::{Gather, GatherEnd, GatherPass, GatherStart, Thread};
use crate::clock::time;
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};
use crate::{last, threads};

/// Role of the member that writes the harvest.
const HARVESTER: &str = "harvester";

pub async fn run(context: &Context, action: &Gather) -> Result<(), Fault> {
    match action {
        Gather::Start(args) => start(context, args).await,
        Gather::List => list(context).await,
        Gather::Show(args) => show(context, args).await,
        Gather::Pass(args) => pass(context, args).await,
        Gather::End(args) => end(context, args).await,
    }
}

/// Starts a gathering, which becomes the conversation used last. With `--wait`, follows it and
/// prints its harvest.
async fn start(context: &Context, args: &GatherStart) -> Result<(), Fault> {
    let new = plan::plan(args)?;
    let begun: GatheringAnswer = context.client.post("/gatherings", &new).await?;
    last::remember(&context.client, &begun.id);
    if context.printer.json {
        context.printer.object(&begun)?;
    } else if !args.wait {
        context.printer.line(&row(context, &begun))?;
    }
    note(&format!("To take part or follow: moothall chat {}", threads::short(&begun.id)));
    if args.wait { wait(context, &begun.id).await } else { Ok(()) }
}

/// Follows a gathering until it is closed, archived or deleted, and prints its harvest. Fails
/// without a harvest.
async fn wait(context: &Context, id: &str) -> Result<(), Fault> {
    let mut follow = Follower::new(&context.client, id, 0, EventSelection::Conversation);
    let mut heard = GatheringProgress::default();
    while !heard.is_over {
        if let FollowItem::Event(envelope) = follow.next().await? {
            heard.take(&envelope).iter().for_each(|words| note(words));
        }
    }
    let answer = follow.retry_until_reachable(async || ask(&context.client, id).await).await?;
    if context.printer.json {
        context.printer.object(&answer)?;
    }
    let Some(harvest) = &answer.harvest else { return Err(heard.without_harvest(&answer)) };
    if context.printer.json {
        return Ok(());
    }
    context.printer.line(&context.printer.paint(Style::Plain, harvest.text.trim_end()))
}

/// State of a gathering that `--wait` follows.
#[derive(Default)]
struct GatheringProgress {
    circle: Circle,
    /// Message of the latest failure of an agent; during the harvest, only of a failure since its
    /// beginning.
    failed: Option<String>,
    is_over: bool,
}

impl GatheringProgress {
    /// Applies an event. Returns the words to print about it while the gathering goes on.
    fn take(&mut self, envelope: &Envelope) -> Option<String> {
        if let Some(fault) = &envelope.meta.error {
            self.failed = Some(fault.message.clone());
        }
        // A gathering whose members could not be started is archived.
        self.is_over |= matches!(envelope.kind.as_str(), "thread.archived" | "thread.deleted");
        let Some(step) = self.circle.hear(envelope) else { return permit::describe(envelope) };
        match step {
            GatheringStep::HarvestAsked { .. } => self.failed = None,
            GatheringStep::Closed { .. } => self.is_over = true,
            GatheringStep::Opened { .. }
            | GatheringStep::RoundOpened { .. }
            | GatheringStep::PieceGiven { .. }
            | GatheringStep::Beat { .. }
            | GatheringStep::LastWordAsked
            | GatheringStep::PassAsked { .. }
            | GatheringStep::PieceReleased { .. }
            | GatheringStep::Harvested { .. } => {}
        }
        circle::is_shown(envelope).then(|| self.circle.words(&step))
    }

    /// Returns the error for a gathering that ended without a harvest: the latest failure of an
    /// agent, or the reason for the end.
    fn without_harvest(&self, answer: &GatheringAnswer) -> Fault {
        let what = "the gathering ended without a harvest";
        let fault = match &self.failed {
            Some(why) => Fault::new(Exit::AgentFailed, what).because(why),
            None => {
                let because = answer.closed_because.as_deref().map(circle::closing);
                Fault::new(Exit::Unanswered, what).because(because.unwrap_or("it did not begin"))
            }
        };
        let id = threads::short(&answer.id);
        fault.try_this(format!("read the messages: moothall tail {id} --no-follow"))
    }
}

/// Prints the gatherings, each as a line with its state.
async fn list(context: &Context) -> Result<(), Fault> {
    let list: GatheringList = context.client.get("/gatherings").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    if list.gatherings.is_empty() {
        note("No gatherings. To start one: moothall gather start --help");
    }
    list.gatherings.iter().try_for_each(|one| context.printer.line(&row(context, one)))
}

fn row(context: &Context, answer: &GatheringAnswer) -> String {
    let printer = &context.printer;
    let (id, title) =
        (printer.paint(Style::Plain, &answer.id), printer.paint(Style::Bold, &answer.title));
    format!("{id}  {title}  {}", printer.paint(Style::Dim, &standing(answer)))
}

/// Describes the state of a gathering on one line.
fn standing(answer: &GatheringAnswer) -> String {
    if answer.status != "active" {
        let because = answer
            .closed_because
            .as_deref()
            .map_or(String::new(), |because| format!(": {}", circle::closing(because)));
        return format!("{}{because}", answer.status);
    }
    let holder = answer.holder.as_ref().map_or(String::new(), |holder| {
        let beat = format!("beat {} of {}", answer.beat, answer.beats);
        format!("; {} has the piece, {beat}", numbered(&holder.name, holder.number))
    });
    let stopped = if answer.stopped { "; stopped by a person" } else { "" };
    format!("{}{holder}{stopped}", phase(answer))
}

/// Describes the phase of a gathering: its round, or, in the phase `close`, the member that writes
/// the harvest.
fn phase(answer: &GatheringAnswer) -> String {
    match answer.phase.as_deref() {
        Some("close") | None => {
            let harvester = answer.participants.iter().find(|member| member.role == HARVESTER);
            let who = harvester.map_or_else(
                || "the harvester".into(),
                |member| numbered(&member.name, member.number),
            );
            format!("close, {who} writes the harvest")
        }
        Some(phase) => format!("{phase}, round {} of {}", answer.round, answer.rounds),
    }
}

/// Prints a gathering as a line, and its details below.
async fn show(context: &Context, args: &Thread) -> Result<(), Fault> {
    let id = threads::resolve(&context.client, &args.thread).await?;
    let answer = ask(&context.client, &id).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    context.printer.line(&row(context, &answer))?;
    for (label, words) in details(&answer, Timestamp::now()) {
        let (label, words) = (
            context.printer.paint(Style::Dim, &format!("{label:<10}")),
            context.printer.paint(Style::Plain, &words),
        );
        context.printer.line(&format!("{label}  {}", words.replace('\n', "\n            ")))?;
    }
    Ok(())
}

/// Returns the details of a gathering, each with a label. Leaves out empty details.
fn details(answer: &GatheringAnswer, now: Timestamp) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("question", answer.opening_question.clone()),
        ("rule", answer.rule.clone().unwrap_or_default()),
        ("piece", piece(answer, now).unwrap_or_default()),
    ];
    let circle = Circle::of(answer);
    let to_come: Vec<_> = answer.order.iter().map(|id| circle.named(id)).collect();
    lines.push(("to come", to_come.join(", ")));
    let members = answer.participants.iter();
    lines.extend(members.map(|member| {
        let role = if member.role == HARVESTER { "harvester" } else { "speaker" };
        let kind = if member.kind == "human" { "a person" } else { "an agent" };
        let name = numbered(&member.name, member.number);
        (role, format!("{name}, {kind}, as {}", member.participant_id))
    }));
    lines.push(("pulse", answer.pulse.clone().unwrap_or_default()));
    lines.push(("your seed", answer.seed.clone().unwrap_or_default().trim_end().to_owned()));
    let harvest = answer.harvest.as_ref();
    lines.push((
        "harvest",
        harvest.map_or_else(String::new, |harvest| match harvest.text.trim_end() {
            "" => "(erased)".into(),
            text => text.to_owned(),
        }),
    ));
    lines.retain(|(_, words)| !words.is_empty());
    lines
}

/// Describes the holder of the piece, the start of their turn, and the time of the next beat or of
/// the end of the last word. `None` without a holder.
fn piece(answer: &GatheringAnswer, now: Timestamp) -> Option<String> {
    let holder = answer.holder.as_ref()?;
    let since =
        answer.since.as_ref().map_or(String::new(), |since| format!(" since {}", time(since)));
    let next = answer.next_beat_at.as_ref().and_then(|at| {
        let left = circle::seconds_until(at.parse().ok()?, now);
        let what = if answer.last_word { "time for a last word ends" } else { "next beat" };
        Some(format!(", {what} at {} (in {left} s)", time(at)))
    });
    Some(format!(
        "{}{since}: beat {} of {}{}",
        numbered(&holder.name, holder.number),
        answer.beat,
        answer.beats,
        next.unwrap_or_default()
    ))
}

/// Passes the talking piece to the named member or, without a name, to the next in order.
async fn pass(context: &Context, args: &GatherPass) -> Result<(), Fault> {
    let id = threads::resolve(&context.client, &args.thread.thread).await?;
    let pass = NewPiecePass {
        from: args.from.clone(),
        to: args.to.clone().or_else(|| args.named.clone()),
    };
    let answer: GatheringAnswer = context.client.post(&path(&id, "/pass"), &pass).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    context.printer.line(&row(context, &answer))
}

/// Ends the rounds of a gathering, so that its harvest is written. During the harvest, closes the
/// gathering without it.
async fn end(context: &Context, args: &GatherEnd) -> Result<(), Fault> {
    let id = threads::resolve(&context.client, &args.thread.thread).await?;
    let by = Actor { from: args.from.clone() };
    let answer: GatheringAnswer = context.client.post(&path(&id, "/end"), &by).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    note(match answer.status.as_str() {
        "closed" => "The gathering is closed.",
        _ => {
            "The rounds have ended; the harvest is being written. End it again to close it \
             without a harvest."
        }
    });
    context.printer.line(&row(context, &answer))
}

#[cfg(test)]
pub(crate) mod tests;
