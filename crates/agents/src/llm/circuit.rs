//! A circuit breaker for each model: after failures in several turns in a row the model is not
//! asked for a while, and then tried with one turn.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::errors::ProviderError;
use super::provider::{Provider, Target};

/// Number of failed turns in a row that opens a circuit.
pub(super) const STRIKES_MAX: u32 = 5;
/// Time that a circuit stays open.
pub(super) const REST: Duration = Duration::from_secs(30);

/// The circuit breaker of one model at one address with one key, shared by all agents that ask it.
/// An address may be a gateway to many models, so a failure of one model or key says nothing about
/// the others.
#[derive(Default)]
pub(super) struct Circuit(Mutex<State>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The model is asked. The last `strikes` turns failed.
    Closed { strikes: u32 },
    /// The model is not asked before this time.
    Open { until: Instant },
    /// One turn tries if the model works again.
    Trying,
}

impl Default for State {
    fn default() -> Self {
        State::Closed { strikes: 0 }
    }
}

/// The circuits of agents that exist. They are global because a model's health is the same for all
/// halls of a process.
static CIRCUITS: LazyLock<Mutex<HashMap<Endpoint, Weak<Circuit>>>> = LazyLock::new(Mutex::default);

/// The key of a circuit.
#[derive(PartialEq, Eq, Hash)]
struct Endpoint {
    provider: Provider,
    address: String,
    model: String,
    api_key: Option<String>,
}

impl Circuit {
    /// Returns the circuit of a target. All agents with the same provider, address, model and key
    /// share it.
    pub(super) fn of(target: &Target) -> Arc<Self> {
        let asked = Endpoint {
            provider: target.provider,
            address: target.address().to_owned(),
            model: target.model.clone(),
            api_key: target.api_key.clone(),
        };
        let mut circuits = CIRCUITS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(circuit) = circuits.get(&asked).and_then(Weak::upgrade) {
            return circuit;
        }
        circuits.retain(|_, circuit| circuit.strong_count() > 0);
        let circuit = Arc::new(Self::default());
        circuits.insert(asked, Arc::downgrade(&circuit));
        circuit
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the circuit is open and its time is not over.
    pub(super) fn rests(&self, now: Instant) -> bool {
        matches!(*self.state(), State::Open { until } if now < until)
    }

    /// Admits a turn to make its requests.
    ///
    /// # Errors
    /// The time until the next turn may try; while another turn tries, always a second.
    pub(super) fn admit(self: &Arc<Self>, now: Instant) -> Result<Admission, Duration> {
        let mut state = self.state();
        match *state {
            State::Closed { .. } => {}
            State::Open { until } if now < until => return Err(until - now),
            State::Open { .. } => *state = State::Trying,
            State::Trying => return Err(Duration::from_secs(1)),
        }
        Ok(Admission {
            circuit: self.clone(),
            trying: (*state == State::Trying).then_some(now),
            settled: false,
        })
    }
}

/// The permission of a turn to make requests. The outcome of these requests is reported through it.
/// If it is dropped without a report, the turn counts neither as failed nor as answered.
pub(super) struct Admission {
    circuit: Arc<Circuit>,
    trying: Option<Instant>,
    settled: bool,
}

impl Admission {
    /// Reports the outcome of a turn's requests. An error of the provider's own counts as a failed
    /// turn. Any other outcome closes the circuit, also another error.
    pub(super) fn tell<T>(self, asked: &Result<T, ProviderError>) {
        match asked {
            Err(trouble) if trouble.strike => self.failed(Instant::now()),
            Ok(_) | Err(_) => self.worked(),
        }
    }

    /// Closes the circuit: the provider answered.
    pub(super) fn worked(mut self) {
        self.settled = true;
        *self.circuit.state() = State::default();
    }

    /// Counts a failed turn. The [`STRIKES_MAX`]th in a row opens the circuit, and so does a failed
    /// trial.
    pub(super) fn failed(mut self, now: Instant) {
        self.settled = true;
        let mut state = self.circuit.state();
        *state = match *state {
            State::Closed { strikes } if strikes + 1 < STRIKES_MAX => {
                State::Closed { strikes: strikes + 1 }
            }
            State::Closed { .. } | State::Trying => State::Open { until: now + REST },
            State::Open { until } => State::Open { until },
        };
    }
}

impl Drop for Admission {
    /// If a trial was dropped without a report, lets the next turn try immediately.
    fn drop(&mut self) {
        if let (false, Some(now)) = (self.settled, self.trying) {
            *self.circuit.state() = State::Open { until: now };
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::llm::Provider;

    fn broken(now: Instant) -> Arc<Circuit> {
        let circuit = Arc::new(Circuit::default());
        for _ in 0..STRIKES_MAX {
            circuit.admit(now).unwrap().failed(now);
        }
        circuit
    }

    #[test]
    fn it_opens_after_failures_in_a_row_only() {
        let (circuit, now) = (Arc::new(Circuit::default()), Instant::now());
        for _ in 0..3 {
            for _ in 1..STRIKES_MAX {
                circuit.admit(now).unwrap().failed(now);
            }
            circuit.admit(now).unwrap().worked();
        }
        assert!(circuit.admit(now).is_ok());
        assert_eq!(broken(now).admit(now).err(), Some(REST));
    }

    #[test]
    fn after_its_rest_one_request_tries() {
        let now = Instant::now();
        let (circuit, later) = (broken(now), now + REST);
        let trial = circuit.admit(later).unwrap();
        assert!(circuit.admit(later).is_err(), "one at a time");
        trial.failed(later);
        assert_eq!(circuit.admit(later).err(), Some(REST));
        circuit.admit(later + REST).unwrap().worked();
        assert!(circuit.admit(later + REST).is_ok());
    }

    #[test]
    fn a_trial_that_was_taken_away_does_not_close_the_door_for_ever() {
        let now = Instant::now();
        let circuit = broken(now);
        drop(circuit.admit(now + REST).unwrap());
        assert!(circuit.admit(now + REST).is_ok());
    }

    fn target(url: &str, model: &str, key: &str) -> Target {
        Target {
            provider: Provider::Openai,
            model: model.into(),
            base_url: Some(url.into()),
            api_key: Some(key.into()),
        }
    }

    #[test]
    fn agents_that_ask_the_same_share_it_while_they_live() {
        let target = target("http://shared.invalid/", "m", "k");
        let one = Circuit::of(&target);
        assert!(Arc::ptr_eq(&one, &Circuit::of(&target)));
        let now = Instant::now();
        (0..STRIKES_MAX).for_each(|_| one.admit(now).unwrap().failed(now));
        assert!(one.rests(now) && !one.rests(now + REST));
        drop(one);
        assert!(Circuit::of(&target).admit(now).is_ok());
    }

    #[test]
    fn another_address_model_or_key_has_its_own() {
        let one = Circuit::of(&target("http://one.invalid/", "m", "k"));
        for (url, model, key) in [
            ("http://other.invalid/", "m", "k"),
            ("http://one.invalid/", "other", "k"),
            ("http://one.invalid/", "m", "other"),
        ] {
            assert!(
                !Arc::ptr_eq(&one, &Circuit::of(&target(url, model, key))),
                "{url} {model} {key}"
            );
        }
    }
}
