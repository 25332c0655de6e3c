//! Guards on the wire: those that hold, refuse or wait, and those near their limit.

use moothall_engine::door::{BudgetGuard, GuardItem, GuardSubject};
use moothall_engine::reservations::{Shortage, TurnReservation};
use moothall_kernel::budget::{BudgetOwner, Measure};
use moothall_kernel::event::Guard;
use moothall_kernel::guards::{Check, Count, GuardRow, GuardState, Lift, OwnWordsRow, Speakers};
use moothall_kernel::ids::ParticipantId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::usage::owner_words;

/// Answer of `GET /guards`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GuardsAnswer {
    /// Currency of money, as an ISO 4217 code.
    pub currency: String,
    /// The guards: first those of the whole server, then those of each thread.
    pub guards: Vec<GuardEntry>,
    /// The `cursor` of the next page; absent if no more threads are to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One guard with its current state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GuardEntry {
    /// Id of the guard's thread; absent for a guard of the whole server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Title of that thread; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kind of the guard: `hold`, `pause`, `stop`, `mute`, `exchanges`, `pair`, `repeat`, `queue`,
    /// `queue_share`, `replies`, `pace`, `refused`, `budget`, `waiting` or `own_words`.
    pub guard: String,
    /// State of the guard: `held`, `refused`, `waiting`, `reserved` or `near`.
    pub state: String,
    /// Description of the guard for people, in a few words.
    pub says: String,
    /// Cause of a hold: `exchanges`, `pair`, `repeat` or `stopped`; absent for other guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    /// Ids of the participants that the guard is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub who: Vec<String>,
    /// Kind of owner of the budget, or of the budget that a call waits for: `hall`, `conversation`,
    /// `agent` or `principal`; absent for other guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Name of the agent or principal that owns the budget; absent for other owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// Measure of a budget or of a waiting call: `turns`, `unattended_turns` or `cost_micros`;
    /// absent for other guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// Current count; absent for a guard without a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Maximum of `count`; absent for a guard without a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Part of the limit that is reserved for calls in progress; absent if it is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
    /// Amount that a waiting call lacks, in millionths of the currency; absent for other guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Time since which the guard has been in this state; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Time at which the guard ends by itself; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Remedy for the guard; absent if the reader is an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<GuardLift>,
}

/// The remedy for a guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GuardLift {
    /// Kind of the remedy: `resume`, `unmute`, `config`, `stop`, `raise` (a budget), `words` (of a
    /// person) or `time`.
    pub by: String,
    /// Slash command of the remedy in the thread, such as `/resume`; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the remedy needs a person's credential.
    pub proof: bool,
    /// Number of times that a person without a credential can still lift the guard by speaking
    /// within the hour; absent if words do not lift it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_left: Option<u64>,
}

impl GuardEntry {
    /// Returns a guard for the wire, with its remedy if the reader is a person.
    pub(crate) fn of(item: &GuardItem, is_for_people: bool) -> Self {
        let entry = match &item.guard {
            GuardSubject::Floor(row) => Self::of_floor(row),
            GuardSubject::Budget(guard) => Self::of_budget(guard),
            GuardSubject::Waiting(call) => Self::of_waiting(call),
            GuardSubject::OwnWords(row) => Self::of_own_words(row),
        };
        let (thread, name) = item.thread.clone().unzip();
        Self {
            thread: thread.map(|id| id.to_string()),
            name,
            lift: entry.lift.filter(|_| is_for_people),
            ..entry
        }
    }

    /// Returns the entry of a guard that belongs to the rules of one thread: a hold, a pause, a
    /// mute, or a limit.
    fn of_floor(row: &GuardRow) -> Self {
        let hold = if let Check::Hold(guard) = row.guard { Some(guard) } else { None };
        let until = if let Lift::Until(at) = row.lift { Some(at) } else { None };
        Self {
            guard: row.guard.to_string(),
            state: row.state.to_string(),
            says: floor_words(&row.guard),
            hold: hold.map(|guard| guard.to_string()),
            who: participants_of(&row.guard).into_iter().map(ToString::to_string).collect(),
            since: row.since.map(|at| at.to_string()),
            until: until.map(|at| at.to_string()),
            lift: Some(GuardLift {
                by: lift_word(&row.lift).into(),
                command: row.lift.command(),
                proof: row.proof,
                words_left: row.words_left.map(|left| left as u64),
            }),
            ..Self::counting(row.count)
        }
    }

    /// Returns the entry of a budget, with a raise as its remedy.
    fn of_budget(guard: &BudgetGuard) -> Self {
        let budget = &guard.budget;
        Self {
            guard: "budget".into(),
            state: guard.state().map(|state| state.to_string()).unwrap_or_default(),
            says: budget_words(budget.measure, &budget.owner),
            measure: Some(budget.measure.to_string()),
            reserved: Some(guard.reserved).filter(|reserved| *reserved > 0),
            until: Some(budget.until.to_string()),
            ..Self::counting(Some(Count { count: budget.spent, limit: budget.limit }))
        }
        .raised(&budget.owner)
    }

    /// Returns the entry of a call that waits for money. Its remedy is a raise of the short budget,
    /// or time if the call only waits for an earlier one.
    fn of_waiting(call: &TurnReservation) -> Self {
        let entry = Self {
            guard: "waiting".into(),
            state: GuardState::Waiting.to_string(),
            says: format!("a call of {} waits for money", call.agent),
            who: vec![call.agent.clone()],
            measure: Some(Measure::Money.to_string()),
            ..Self::default()
        };
        // A call without a short budget waits for an earlier call, so only time helps.
        match &call.short {
            Some(Shortage { owner, micros }) => {
                Self { missing: Some(*micros), ..entry }.raised(owner)
            }
            None => Self { lift: Some(GuardLift::time()), ..entry },
        }
    }

    /// Returns the entry of the hourly limit of own words: messages of agents that answer no turn.
    /// Its state is `near` until the limit is reached, and then `refused`.
    fn of_own_words(row: &OwnWordsRow) -> Self {
        let state = if row.count.is_full() { GuardState::Refused } else { GuardState::Near };
        let (says, who) = match &row.of {
            Speakers::Hall => ("own words of all agents within an hour".to_owned(), None),
            Speakers::Participant(id) => (format!("own words of {id} within an hour"), Some(id)),
            Speakers::Credential(id) => {
                (format!("own words with the credential {id} within an hour"), None)
            }
        };
        Self {
            guard: "own_words".into(),
            state: state.to_string(),
            says,
            who: who.into_iter().cloned().collect(),
            until: Some(row.until.to_string()),
            lift: Some(GuardLift::time()),
            ..Self::counting(Some(row.count))
        }
    }

    /// Returns an empty entry with a count and its limit, if the guard counts.
    fn counting(count: Option<Count>) -> Self {
        let (count, limit) = count.map(|count| (count.count, count.limit)).unzip();
        Self { count, limit, ..Self::default() }
    }

    /// Adds the owner of a budget, and as the remedy a raise, which needs a credential.
    fn raised(self, owner: &BudgetOwner) -> Self {
        let (budget, whose) = owner_words(owner);
        let lift = GuardLift { by: "raise".into(), proof: true, ..GuardLift::time() };
        Self { budget: Some(budget.into()), whose: whose.map(Into::into), lift: Some(lift), ..self }
    }
}

impl GuardLift {
    fn time() -> Self {
        Self { by: "time".into(), command: None, proof: false, words_left: None }
    }
}

const fn lift_word(lift: &Lift) -> &'static str {
    match lift {
        Lift::Resume => "resume",
        Lift::Unmute(_) => "unmute",
        Lift::Config { .. } => "config",
        Lift::Stop => "stop",
        Lift::Words => "words",
        Lift::Until(_) => "time",
    }
}

/// Returns the participants that a guard is about. The list is empty if the guard is about the
/// whole thread.
fn participants_of(check: &Check) -> Vec<&ParticipantId> {
    match check {
        Check::Stop(id) | Check::Mute(id) | Check::QueueShare(id) | Check::Refused(id) => vec![id],
        Check::Pair(one, other) => vec![one, other],
        Check::Hold(_)
        | Check::Pause
        | Check::Exchanges
        | Check::Repeat
        | Check::Queue
        | Check::Replies
        | Check::Pace => Vec::new(),
    }
}

/// Returns the description of a thread's guard for people, in a few words.
fn floor_words(check: &Check) -> String {
    match check {
        Check::Hold(Guard::Exchanges) => "agents talked too long without a person".into(),
        Check::Hold(Guard::Pair) => "two agents answered each other too often".into(),
        Check::Hold(Guard::Repeat) => "the same message was repeated too often".into(),
        Check::Hold(Guard::Stopped) => "a person stopped the gathering".into(),
        Check::Pause => "paused: agents do not respond".into(),
        Check::Stop(by) => format!("{by} stopped it: agents' own words wait"),
        Check::Mute(id) => format!("{id} is muted"),
        Check::Exchanges => "messages of agents since a person spoke".into(),
        Check::Pair(one, other) => {
            format!("messages of {one} that triggered {other} within a minute")
        }
        Check::Repeat => "equal messages among the latest".into(),
        Check::Queue => "waiting messages".into(),
        Check::QueueShare(id) => format!("waiting messages of {id}"),
        Check::Replies => "replies to the newest message".into(),
        Check::Pace => "agents' own words within a minute".into(),
        Check::Refused(id) => format!("kept refused words of {id}"),
    }
}

/// Returns the description of a budget for people: its measure and its owner.
fn budget_words(measure: Measure, owner: &BudgetOwner) -> String {
    let what = match measure {
        Measure::Turns => "turns an hour",
        Measure::Unattended => "turns an hour without a person",
        Measure::Money => "money a day",
    };
    match owner {
        BudgetOwner::Hall => format!("{what}, whole server"),
        BudgetOwner::Conversation => format!("{what}, this conversation"),
        BudgetOwner::Agent(agent) => format!("{what}, agent {agent}"),
        BudgetOwner::Principal(by) => format!("{what}, triggered by {by}"),
    }
}
