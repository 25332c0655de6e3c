//! Arguments of `usage` and `budget`.

use clap::{Args, Subcommand, ValueEnum};

use super::examples;

#[derive(Clone, Debug, Args)]
#[command(after_help = examples(&[
    ("moothall usage", "all costs, and the rest of the server's budgets"),
    ("moothall usage --by agent --from 2026-01-01", "the cost of each agent"),
    ("moothall usage --conversation - --by day --json", "the conversation used last, by day"),
]))]
pub struct Usage {
    /// Group the sums by this
    #[arg(long, value_enum)]
    pub by: Option<UsageBy>,
    /// Only in this conversation
    #[arg(long, value_name = "THREAD")]
    pub conversation: Option<String>,
    /// Only this agent, by its name in `moothall agents`
    #[arg(long)]
    pub agent: Option<String>,
    /// First day (UTC), such as 2026-01-31
    #[arg(long, value_name = "DAY")]
    pub from: Option<String>,
    /// Last day (UTC), included
    #[arg(long, value_name = "DAY")]
    pub to: Option<String>,
}

/// Grouping of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum UsageBy {
    /// By agent, the most expensive first
    Agent,
    /// By conversation, the most expensive first
    #[strum(serialize = "thread")]
    Conversation,
    /// By day, newest first
    Day,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = examples(&[
    ("moothall budget --conversation -", "its remaining budget"),
    (
        "moothall budget raise --conversation - --turns 100 --for 1h",
        "100 more turns per hour, for one hour",
    ),
    (
        "moothall budget raise --agent gpt --cost 5",
        "the budget of an agent in all conversations, for one hour",
    ),
]))]
pub struct Budget {
    /// Action; without one, budgets are shown.
    #[command(subcommand)]
    pub command: Option<BudgetCommand>,
    /// Also show the budget of this conversation
    #[arg(long, value_name = "THREAD")]
    pub conversation: Option<String>,
    /// Also show the budget of this agent
    #[arg(long)]
    pub agent: Option<String>,
}

/// Actions on a budget.
#[derive(Clone, Debug, Subcommand)]
pub enum BudgetCommand {
    /// Raise a budget for a while; needs a person's credential
    Raise(BudgetRaise),
}

#[derive(Clone, Debug, Args)]
#[command(group = clap::ArgGroup::new("more").required(true).multiple(true).args(["turns", "cost"]))]
#[command(group = clap::ArgGroup::new("of").args(["conversation", "agent", "principal"]))]
pub struct BudgetRaise {
    /// Budget of this conversation [default: of the whole server]
    #[arg(long, value_name = "THREAD")]
    pub conversation: Option<String>,
    /// Budget of this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Budget of the turns that this person, agent or program triggers
    #[arg(long, value_name = "ID")]
    pub principal: Option<String>,
    /// Additional turns per hour
    #[arg(long)]
    pub turns: Option<u64>,
    /// Additional money per day
    #[arg(long)]
    pub cost: Option<f64>,
    /// Duration, such as 30m, 2h or 7d
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = length)]
    pub seconds: f64,
}

/// Parses a duration into seconds: a number with s, m, h or d.
fn length(text: &str) -> Result<f64, String> {
    let expected = || format!("{text:?} is not a duration such as 30m, 2h or 7d");
    let unit = text.chars().last().ok_or_else(expected)?;
    let number: f64 =
        text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(expected)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        'd' => 86_400.0,
        _ => return Err(expected()),
    };
    Ok(number * seconds)
}
