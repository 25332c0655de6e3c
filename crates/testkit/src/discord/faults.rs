//! FaultQueue: queued for a route of the REST interface, at random from a seed, and of the gateway.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::model_server::Gate;
use crate::sim::rng::Rng;

/// A fault of the network or of the service in a call.
#[derive(Clone, Debug)]
pub enum RestFault {
    /// Closes the connection before the call is done.
    Drop,
    /// Does the call and resets the connection in place of an answer.
    ResetAfter,
    /// Waits for the gate before the call is done.
    Hold(Gate),
    /// Does the call and waits for the gate before its answer.
    HoldAnswer(Gate),
    /// Refuses with 429 and these seconds, for this bot and route.
    TooMany(f64),
    /// Refuses with 429 and these seconds, for all calls of the bot.
    TooManyEverywhere(f64),
    /// Refuses with 429, these seconds in a header and a page of HTML, as the proxy before the
    /// service does.
    Banned(u64),
    /// Answers 502 with a page of HTML; the call is not done.
    BadGateway,
    /// Does the call and answers 502 with a page of HTML.
    BadGatewayAfter,
    /// Does the call and answers 200 with a text that is not JSON.
    UnreadableAnswer,
    /// Refuses with this status, code and message.
    Refuse(u16, u64, String),
}

/// A fault of the gateway.
#[derive(Clone, Debug)]
pub enum GatewayFault {
    /// Breaks the connection without a close.
    Cut,
    /// Keeps the connection and sends nothing more on it.
    Silence,
    /// Keeps the next connection and sends nothing on it, not even the first greeting.
    Mute,
    /// Asks for a new connection (op 7).
    Reconnect,
    /// Declares the session invalid (op 9); true if it can be resumed.
    InvalidSession(bool),
    /// Closes the connection with this code.
    Close(u16),
    /// Sends this text.
    Raw(String),
    /// Sends an event with this name and data, with the next number of the session.
    Event(String, Value),
}

/// FaultQueue that come by themselves.
struct DrawnFaults {
    rng: Rng,
    percent: u64,
    choices: Vec<RestFault>,
}

/// The faults of calls to come.
#[derive(Default)]
pub(super) struct FaultQueue {
    queues: BTreeMap<String, VecDeque<RestFault>>,
    random: Option<DrawnFaults>,
}

impl FaultQueue {
    pub(super) fn queue(&mut self, route: &str, fault: RestFault) {
        self.queues.entry(route.to_owned()).or_default().push_back(fault);
    }

    pub(super) fn at_random(&mut self, seed: u64, percent: u64, choices: Vec<RestFault>) {
        self.random = Some(DrawnFaults { rng: Rng::new(seed), percent, choices });
    }

    /// Takes the fault of a call.
    pub(super) fn take(&mut self, route: &str) -> Option<RestFault> {
        let queued = self.queues.get_mut(route).and_then(VecDeque::pop_front);
        queued.or_else(|| {
            let DrawnFaults { rng, percent, choices } = self.random.as_mut()?;
            if choices.is_empty() || !rng.chance(*percent) {
                return None;
            }
            rng.pick(choices).cloned()
        })
    }
}
