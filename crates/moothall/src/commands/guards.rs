//! `guards` and `command`: shows active and near guards, and runs the slash commands that lift
//! them.

use std::fmt::Write;

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{
    CommandRan, Envelope, GuardEntry, GuardLift, GuardsAnswer, NewCommand,
};

use super::Context;
use super::show::cost;
use crate::cli::{Guards, SlashCommand};
use crate::client::segment;
use crate::clock::day_and_time;
use crate::fault::Fault;
use crate::hints::{quoted, repeated};
use crate::paint::{Style, note};
use crate::threads;

/// Maximum width of a column. A longer text pushes the rest of its line to the right.
const COLUMN_MAX: usize = 48;
/// Name of the scope that all conversations share.
const WHOLE_SERVER: &str = "(whole server)";

/// Reads all pages of guards, of one conversation or of the whole server, and prints them.
pub async fn run(context: &Context, args: &Guards) -> Result<(), Fault> {
    let mut asked = match &args.conversation {
        Some(word) => {
            let thread = threads::resolve(&context.client, word).await?;
            format!("/guards?thread={}", segment(&thread))
        }
        None => "/guards".to_owned(),
    };
    let mut answer: GuardsAnswer = context.client.get(&asked).await?;
    while let Some(next) = answer.next.take() {
        asked = format!("/guards?cursor={}", segment(&next));
        let page: GuardsAnswer = context.client.get(&asked).await?;
        answer.guards.extend(page.guards);
        answer.next = page.next;
    }
    if context.printer.json {
        return context.printer.object(&answer);
    }
    if answer.guards.is_empty() {
        note("No active guards or refusals, and no nearly reached limits.");
    }
    table(context, &answer)
}

/// Prints the guards as rows of aligned columns.
fn table(context: &Context, answer: &GuardsAnswer) -> Result<(), Fault> {
    let rows: Vec<[String; 4]> =
        answer.guards.iter().map(|guard| cells(guard, &answer.currency)).collect();
    let longest = |column: usize| {
        let widths = rows.iter().map(|row| super::width(&row[column]));
        widths.max().unwrap_or(0).min(COLUMN_MAX)
    };
    let widths = [longest(0), longest(1), longest(2)];
    for (row, guard) in rows.iter().zip(&answer.guards) {
        let padded = |column: usize| {
            let room = widths[column].saturating_sub(super::width(&row[column]));
            format!("{}{}", row[column], " ".repeat(room))
        };
        let state = context.printer.paint(style(guard), &padded(2));
        let line = format!("{}  {}  {state}  {}", padded(0), padded(1), row[3]);
        context.printer.line(line.trim_end())?;
    }
    Ok(())
}

fn style(guard: &GuardEntry) -> Style {
    match guard.state.as_str() {
        "held" | "refused" => Style::Bad,
        "near" | "waiting" => Style::Warn,
        _ => Style::Dim,
    }
}

/// Returns the cells of a guard's row: the conversation, the guard, its state, and the command that
/// lifts it.
fn cells(guard: &GuardEntry, currency: &str) -> [String; 4] {
    let name = guard.name.clone().unwrap_or_else(|| WHOLE_SERVER.to_owned());
    let lift = repeated(&lifted_by(guard)).into_owned();
    [name, guard.says.clone(), state(guard, currency), lift]
}

/// Describes a guard's state: the used and the reserved part of its limit. Without numbers, the
/// name of the state, and the start of a hold.
fn state(guard: &GuardEntry, currency: &str) -> String {
    let is_money = guard.measure.as_deref() == Some("cost_micros");
    let (Some(count), Some(limit)) = (guard.count, guard.limit) else {
        let since = guard.since.as_deref().filter(|_| guard.state == "held");
        return since.map_or_else(
            || guard.state.clone(),
            |since| format!("{} since {}", guard.state, at(since)),
        );
    };
    if !is_money {
        return format!("{count} of {limit}");
    }
    let limit = format!("{} {currency}", cost(limit));
    match (guard.reserved, count) {
        (Some(reserved), 0) => format!("reserved {} of {limit}", cost(reserved)),
        (Some(reserved), _) => {
            format!("spent {}, reserved {} of {limit}", cost(count), cost(reserved))
        }
        (None, _) => format!("spent {} of {limit}", cost(count)),
    }
}

/// Formats a time for people.
fn at(time: &str) -> String {
    day_and_time(time).unwrap_or_else(|| time.to_owned())
}

/// Returns the command for a shell that lifts the guard, or words that say that it ends by itself,
/// with the time if it is known. Empty if the server names no remedy.
fn lifted_by(guard: &GuardEntry) -> String {
    let Some(lift) = &guard.lift else { return String::new() };
    match (lift.by.as_str(), guard.thread.as_deref().map(threads::short)) {
        ("raise", _) => raise(guard),
        ("stop", Some(thread)) => format!("moothall stop {thread}"),
        ("words", Some(thread)) => format!("moothall say {thread} \"Go on.\""),
        (_, Some(thread)) if lift.command.is_some() => slash(thread, lift),
        _ => match &guard.until {
            Some(until) => format!("by itself at {}", at(until)),
            None => "by itself".to_owned(),
        },
    }
}

fn slash(thread: &str, lift: &GuardLift) -> String {
    format!("moothall command {thread} {}", lift.command.as_deref().unwrap_or_default())
}

/// Returns the command that raises a budget by half of its limit, or by the missing amount if the
/// limit is not known.
fn raise(guard: &GuardEntry) -> String {
    let half = guard.limit.map_or_else(|| guard.missing.unwrap_or_default(), |limit| limit / 2);
    let mut command = "moothall budget raise".to_owned();
    let more = if guard.measure.as_deref() == Some("cost_micros") {
        format!("--cost {}", if half == 0 { "1".to_owned() } else { cost(half) })
    } else {
        format!("--turns {}", half.max(1))
    };
    let of = match (guard.budget.as_deref(), &guard.whose, &guard.thread) {
        (Some("conversation"), _, Some(thread)) => Some(("conversation", thread)),
        (Some("agent"), Some(agent), _) => Some(("agent", agent)),
        (Some("principal"), Some(principal), _) => Some(("principal", principal)),
        _ => None,
    };
    if let Some((option, value)) = of {
        let _ = write!(command, " --{option} {}", quoted(value));
    }
    format!("{command} {more}")
}

/// Runs a slash command in a conversation, and prints its answer.
pub async fn command(context: &Context, args: &SlashCommand) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let from = context.client.name().to_owned();
    run_slash(context, &thread, from, args.words.join(" ")).await.map(drop)
}

/// Runs a slash command as a participant, and prints its answer. Returns the event that it caused,
/// if any.
pub async fn run_slash(
    context: &Context,
    thread: &str,
    from: String,
    text: String,
) -> Result<Option<Envelope>, Fault> {
    let wanted = NewCommand { from: Some(from), text };
    let ran: CommandRan = context.client.post(&threads::path(thread, "commands"), &wanted).await?;
    if context.printer.json {
        context.printer.object(&ran)?;
    } else {
        context.printer.line(for_terminal(ran.text.trim_end()).as_str())?;
    }
    Ok(ran.event)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an almost spent budget whose owner's name needs quoting in a shell.
    fn budget(measure: &str, spent: u64, limit: u64) -> GuardEntry {
        GuardEntry {
            guard: "budget".into(),
            state: "near".into(),
            budget: Some("agent".into()),
            whose: Some("it's big".into()),
            measure: Some(measure.into()),
            count: Some(spent),
            limit: Some(limit),
            ..GuardEntry::default()
        }
    }

    #[test]
    fn money_says_how_much_is_spent_and_how_much_is_reserved() {
        let of = |spent, reserved| {
            let guard = GuardEntry { reserved, ..budget("cost_micros", spent, 20_000_000) };
            state(&guard, "EUR")
        };
        assert_eq!(of(0, Some(1_200_000)), "reserved 1.20 of 20.00 EUR");
        assert_eq!(of(3_000_000, Some(1_200_000)), "spent 3.00, reserved 1.20 of 20.00 EUR");
        assert_eq!(of(20_000_000, None), "spent 20.00 of 20.00 EUR");
    }

    #[test]
    fn a_budget_is_raised_by_half_or_by_what_is_missing_and_its_name_is_one_word_of_the_shell() {
        let raised = |measure, limit| raise(&budget(measure, 0, limit));
        let agent = r"moothall budget raise --agent 'it'\''s big'";
        assert_eq!(raised("cost_micros", 20_000_000), format!("{agent} --cost 10.00"));
        assert_eq!(raised("cost_micros", 0), format!("{agent} --cost 1"));
        assert_eq!(raised("turns", 1), format!("{agent} --turns 1"));
        let waits = GuardEntry { limit: None, missing: Some(250), ..budget("cost_micros", 0, 0) };
        assert_eq!(raise(&waits), format!("{agent} --cost 0.00025"));
    }

    #[test]
    fn a_hold_says_since_when_and_time_alone_when_it_is_over() {
        let held = GuardEntry {
            state: "held".into(),
            since: Some("2026-11-25T05:01:07.123Z".into()),
            ..GuardEntry::default()
        };
        assert_eq!(state(&held, "USD"), "held since 2026-11-25 05:01:07Z");
        let lift = GuardLift { by: "time".into(), command: None, proof: false, words_left: None };
        let over = GuardEntry { until: held.since.clone(), lift: Some(lift), ..held };
        assert_eq!(lifted_by(&over), "by itself at 2026-11-25 05:01:07Z");
    }
}
