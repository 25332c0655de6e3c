//! `usage` and `budget`: shows costs, and shows and raises budgets.

use moothall_kernel::text::counted;
use moothall_surfaces::wire::{BudgetEntry, BudgetRaise, BudgetRaised, UsageAnswer, UsageRow};
use serde_json::{Value, json};

use super::Context;
use super::show::cost;
use crate::cli::{Budget, BudgetCommand, BudgetRaise as Raise, Usage};
use crate::client::segment;
use crate::fault::Fault;
use crate::paint::{Printer, Style, note};
use crate::threads;

/// Prints the usage per row of the chosen grouping, its total, and the budgets that apply.
pub async fn usage(context: &Context, args: &Usage) -> Result<(), Fault> {
    let by = args.by.map(<&str>::from);
    let thread = resolved(context, args.conversation.as_deref()).await?;
    let asked = [
        ("by", by),
        ("thread", thread.as_deref()),
        ("agent", args.agent.as_deref()),
        ("from", args.from.as_deref()),
        ("to", args.to.as_deref()),
    ];
    let answer: UsageAnswer = context.client.get(&path(&asked)).await?;
    if context.printer.json {
        return context.printer.object(&answer);
    }
    let width = answer
        .rows
        .iter()
        .map(|row| super::width(name_of(row)))
        .chain([5])
        .max()
        .unwrap_or(5)
        .min(40);
    for row in &answer.rows {
        context.printer.line(&line(name_of(row), width, row, &answer.currency))?;
    }
    context.printer.line(
        &context.printer.paint(Style::Bold, &line("total", width, &answer.total, &answer.currency)),
    )?;
    budgets(&context.printer, &answer.budgets, &answer.currency)
}

/// Prints the budgets of a conversation, of an agent, or all; with `raise`, raises a budget
/// instead.
pub async fn budget(context: &Context, args: &Budget) -> Result<(), Fault> {
    if let Some(BudgetCommand::Raise(raise)) = &args.command {
        return raised(context, raise).await;
    }
    let thread = resolved(context, args.conversation.as_deref()).await?;
    let answer: UsageAnswer = context
        .client
        .get(&path(&[("thread", thread.as_deref()), ("agent", args.agent.as_deref())]))
        .await?;
    if context.printer.json {
        return context
            .printer
            .object(&json!({"currency": answer.currency, "budgets": answer.budgets}));
    }
    if answer.budgets.is_empty() {
        note("No budgets with a limit here. Set them in [budgets] of moothall.toml.");
    }
    budgets(&context.printer, &answer.budgets, &answer.currency)
}

/// Raises a budget for a limited time: of a conversation, an agent or a principal, or of the whole
/// server if none is named.
async fn raised(context: &Context, args: &Raise) -> Result<(), Fault> {
    if let Some(word) = &args.conversation {
        let thread = threads::resolve(&context.client, word).await?;
        let mut budget = json!({"seconds": args.seconds});
        if let Some(turns) = args.turns {
            budget["turns"] = json!(turns);
        }
        if let Some(cost) = args.cost {
            budget["cost"] = json!(cost);
        }
        let event = json!({"type": "control", "from": context.client.name(), "content": {"budget": budget}});
        let accepted: Value =
            context.client.post(&threads::path(&thread, "events"), &event).await?;
        if context.printer.json {
            return context.printer.object(&accepted);
        }
        note(
            "The budget is raised. To ask agents again that were not asked, use /ask or a new \
             message.",
        );
        return Ok(());
    }
    let (budget, whose) = match (&args.agent, &args.principal) {
        (Some(agent), _) => ("agent", Some(agent.clone())),
        (None, Some(principal)) => ("principal", Some(principal.clone())),
        (None, None) => ("hall", None),
    };
    let request = BudgetRaise {
        budget: budget.into(),
        whose,
        turns: args.turns,
        cost: args.cost,
        seconds: Some(args.seconds),
    };
    let raised: BudgetRaised = context.client.post("/budgets/raise", &request).await?;
    if context.printer.json {
        return context.printer.object(&raised);
    }
    note(&format!("The budget is raised until {}.", raised.until));
    Ok(())
}

async fn resolved(context: &Context, word: Option<&str>) -> Result<Option<String>, Fault> {
    match word {
        Some(word) => threads::resolve(&context.client, word).await.map(Some),
        None => Ok(None),
    }
}

fn path(asked: &[(&str, Option<&str>)]) -> String {
    let given: Vec<_> = asked
        .iter()
        .filter_map(|(key, value)| value.map(|value| format!("{key}={}", segment(value))))
        .collect();
    if given.is_empty() { "/usage".into() } else { format!("/usage?{}", given.join("&")) }
}

fn name_of(row: &UsageRow) -> &str {
    let named = row.name.as_deref().or(row.agent.as_deref()).or(row.day.as_deref());
    named.or(row.thread.as_deref()).unwrap_or_default()
}

fn line(name: &str, width: usize, row: &UsageRow, currency: &str) -> String {
    let pad = " ".repeat(width.saturating_sub(super::width(name)));
    format!("{name}{pad}  {}", summed(row, currency))
}

/// Formats the usage in a row: turns, tokens if any are counted, and the cost if it is not 0.
pub fn summed(row: &UsageRow, currency: &str) -> String {
    let turns = counted(row.turns, "turn");
    let tokens = match (row.input_tokens, row.output_tokens) {
        (0, 0) => String::new(),
        (input, output) => format!(", {input} + {output} tokens"),
    };
    let money = if row.cost_micros == 0 {
        String::new()
    } else {
        format!(", {} {currency}", cost(row.cost_micros))
    };
    format!("{turns}{tokens}{money}")
}

/// Prints each budget with its spent part, its window and the window's end.
fn budgets(printer: &Printer, budgets: &[BudgetEntry], currency: &str) -> Result<(), Fault> {
    for budget in budgets {
        let whose = budget.whose.as_deref().map_or(String::new(), |whose| format!(" {whose}"));
        let (amount, window) = match budget.measure.as_str() {
            "cost_micros" => {
                (format!("{} of {} {currency}", cost(budget.spent), cost(budget.limit)), "per day")
            }
            "unattended_turns" => (
                format!("{} of {} (automatic)", budget.spent, counted(budget.limit, "turn")),
                "per hour",
            ),
            _ => (format!("{} of {}", budget.spent, counted(budget.limit, "turn")), "per hour"),
        };
        let style = if budget.spent >= budget.limit { Style::Bad } else { Style::Dim };
        printer.line(&printer.paint(
            style,
            &format!(
                "budget of {}{whose}: {amount} {window}, until {}",
                budget.budget, budget.until
            ),
        ))?;
    }
    Ok(())
}
