//! Faults: queued for a bot's method, or at random from a seed.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model_server::Gate;
use crate::sim::rng::Rng;

/// A fault of the network or of the service.
#[derive(Clone, Debug)]
pub enum TelegramFault {
    /// Closes the connection before the call is done.
    Drop,
    /// Does the call and resets the connection in place of an answer.
    ResetAfter,
    /// Waits for the gate before the call is done.
    Hold(Gate),
    /// Does the call and waits for the gate before its answer.
    HoldAnswer(Gate),
    /// Waits for this time before the call is done.
    Delay(Duration),
    /// Refuses with 429 and this `retry_after`: any JSON value.
    TooMany(Value),
    /// Answers 502 with a page of HTML; the call is not done.
    BadGateway,
    /// Does the call and answers 502 with a page of HTML.
    BadGatewayAfter,
    /// Refuses with this code and description.
    Refuse(u16, String),
    /// Refuses with 409, as if another program polled.
    Conflict,
    /// Adds unknown fields and blocks to the result.
    OddAnswer,
    /// Leaves this field out of the result, as an older server does.
    OldAnswer(String),
    /// Does the call and answers 200 with a text that is not JSON.
    UnreadableAnswer,
    /// Gives each update of the next batch twice.
    DuplicateUpdates,
    /// Gives the next batch of at least two updates in the opposite order.
    ReorderUpdates,
    /// Puts an update of an unknown kind before the next batch.
    UnknownUpdate,
}

impl TelegramFault {
    /// True if the fault changes a batch of updates.
    fn is_of_updates(&self) -> bool {
        matches!(self, Self::DuplicateUpdates | Self::ReorderUpdates | Self::UnknownUpdate)
    }
}

/// Faults that come by themselves.
struct RandomFaults {
    rng: Rng,
    percent: u64,
    choices: Vec<TelegramFault>,
}

/// The faults to come.
#[derive(Default)]
pub(super) struct Faults {
    queues: BTreeMap<(i64, String), VecDeque<TelegramFault>>,
    random: Option<RandomFaults>,
}

impl Faults {
    pub(super) fn queue(&mut self, bot: i64, method: &str, fault: TelegramFault) {
        self.queues.entry((bot, method.to_lowercase())).or_default().push_back(fault);
    }

    pub(super) fn clear(&mut self) {
        self.queues.clear();
    }

    pub(super) fn at_random(&mut self, seed: u64, percent: u64, choices: Vec<TelegramFault>) {
        self.random = Some(RandomFaults { rng: Rng::new(seed), percent, choices });
    }

    /// Takes the fault of a call, but not one that changes updates.
    pub(super) fn take(&mut self, bot: i64, method: &str) -> Option<TelegramFault> {
        let queue = self.queues.get_mut(&(bot, method.to_lowercase()));
        let queued = queue.and_then(|queue| queue.pop_front_if(|fault| !fault.is_of_updates()));
        let polls = method.eq_ignore_ascii_case("getUpdates");
        // Only a poll can be in the way of another.
        let fits = |fault: &TelegramFault| {
            !fault.is_of_updates() && (polls || !matches!(fault, TelegramFault::Conflict))
        };
        queued.or_else(|| self.draw(fits))
    }

    /// Changes a batch of updates by the next fault, if that fits the batch.
    pub(super) fn change_updates(&mut self, bot: i64, updates: &mut Vec<Value>) {
        let fits = |fault: &TelegramFault| {
            let least = if matches!(fault, TelegramFault::ReorderUpdates) { 2 } else { 1 };
            fault.is_of_updates() && updates.len() >= least
        };
        let queue = self.queues.get_mut(&(bot, "getupdates".to_owned()));
        let queued = queue.and_then(|queue| queue.pop_front_if(|fault| fits(fault)));
        match queued.or_else(|| self.draw(fits)) {
            Some(TelegramFault::DuplicateUpdates) => {
                *updates =
                    updates.iter().flat_map(|update| [update.clone(), update.clone()]).collect();
            }
            Some(TelegramFault::ReorderUpdates) => updates.reverse(),
            Some(TelegramFault::UnknownUpdate) => {
                // The number is that of the first update: the batch is confirmed as before.
                let id = updates.first().map_or(Value::Null, |update| update["update_id"].clone());
                updates.insert(0, json!({"update_id": id, "thought_received": {"thought": 1}}));
            }
            _ => {}
        }
    }

    fn draw(&mut self, fits: impl Fn(&TelegramFault) -> bool) -> Option<TelegramFault> {
        let RandomFaults { rng, percent, choices } = self.random.as_mut()?;
        let fitting: Vec<&TelegramFault> = choices.iter().filter(|fault| fits(fault)).collect();
        if fitting.is_empty() || !rng.chance(*percent) {
            return None;
        }
        rng.pick(&fitting).map(|fault| (*fault).clone())
    }
}

/// Adds fields and blocks that no client knows to a result.
pub(super) fn make_odd(result: &mut Value) {
    let Some(object) = result.as_object_mut() else { return };
    object.insert("mood_ring".to_owned(), json!({"colour": "unknown"}));
    if object.contains_key("message_id") {
        let blocks = json!([{"type": "hologram", "depth": {"layers": 3}}]);
        object.insert("rich_message".to_owned(), json!({"blocks": blocks}));
    }
    if let Some(chat) = object.get_mut("chat") {
        chat["type"] = "hall".into();
    }
}
