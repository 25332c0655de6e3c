//! The terminal of a computer's session. It takes one turn at a time, and lives on while its server
//! is down.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::agent::{Agent, Job, Probe, Report, Reporter, TurnKey};
use moothall_engine::answers::Idempotency;
use moothall_engine::residents::{ResidentHall, WeakHall};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::Seq;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};
use tokio::time::{Instant, sleep, sleep_until};

use super::super::rng::Rng;
use super::ledger::{SharedLedger, lock as lock_ledger};
use super::life::Life;

/// Time after which a start, or an end, is reported again.
const AGAIN: Duration = Duration::from_secs(30);

/// A terminal.
pub(super) struct Terminal {
    rng: Mutex<Rng>,
    /// The turns whose prompts were typed, until their ends are in the log.
    typed: Mutex<BTreeMap<TurnKey, TypedTurn>>,
}

#[derive(Clone)]
struct TypedTurn {
    ends_at: Instant,
    result: Result<String, Fault>,
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Terminal {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: Mutex::new(Rng::new(seed)), typed: Mutex::default() }
    }

    /// Returns the terminal of a log that was restored: nothing was typed there.
    pub(super) fn anew(&self) -> Self {
        Self::new(lock(&self.rng).below(u64::MAX))
    }

    fn has(&self, key: &TurnKey) -> bool {
        lock(&self.typed).contains_key(key)
    }

    /// Returns a time before a turn begins, as of a program that is busy.
    fn pause(&self) -> Duration {
        let mut rng = lock(&self.rng);
        let millis = [0, rng.below(5_000), rng.below(60_000)][rng.weighted(&[2, 3, 2])];
        Duration::from_millis(millis)
    }

    /// Types the prompt of a turn. Its answer, if it has one, is of this serial.
    fn type_in(&self, key: &TurnKey, serial: u64) -> Instant {
        let mut rng = lock(&self.rng);
        let millis = [rng.below(5_000), rng.below(60_000), rng.below(1_500_000)];
        let ends_at = Instant::now() + Duration::from_millis(millis[rng.weighted(&[5, 4, 1])]);
        let result = match rng.weighted(&[6, 2, 2]) {
            0 => Ok(words("answer", serial)),
            1 => Ok("[PASS]".to_owned()),
            _ => Err(Fault::new("broken", "the program ended")),
        };
        lock(&self.typed).insert(key.clone(), TypedTurn { ends_at, result });
        ends_at
    }
}

/// Returns words that no other words resemble.
pub(super) fn words(kind: &str, serial: u64) -> String {
    let mut rng = Rng::new(serial);
    let mut word = || format!("{:08x}", rng.below(1 << 32));
    format!("{kind} {serial} {} {} {}", word(), word(), word())
}

/// Returns the serial of words of a kind.
pub(super) fn serial_of(kind: &str, text: &str) -> Option<u64> {
    let mut words = text.split(' ');
    if words.next() != Some(kind) {
        return None;
    }
    words.next()?.parse().ok()
}

/// The part of a process that brings turns to the terminal.
pub(super) struct TerminalTask {
    pub(super) own: usize,
    pub(super) terminal: Arc<Terminal>,
    pub(super) life: Arc<Life>,
    pub(super) ledger: SharedLedger,
    pub(super) hall: OnceLock<WeakHall>,
    pub(super) desk: Mutex<Desk>,
}

/// The turns that wait for the terminal, and the one that it has.
#[derive(Default)]
pub(super) struct Desk {
    jobs: BTreeMap<TurnKey, Seq>,
    queue: VecDeque<TurnKey>,
    busy: Option<TurnKey>,
}

impl TerminalTask {
    fn hall(&self) -> Option<ResidentHall> {
        let hall = self.hall.get()?.enter()?;
        (!self.life.is_dead()).then_some(hall)
    }

    /// Takes the next turn, if the terminal has none.
    fn go_on(self: &Arc<Self>) {
        let key = {
            let mut desk = lock(&self.desk);
            if desk.busy.is_some() {
                return;
            }
            let Some(key) = desk.queue.pop_front() else { return };
            desk.busy = Some(key.clone());
            key
        };
        let own = self.clone();
        tokio::spawn(async move {
            sleep(own.terminal.pause()).await;
            while let Some(through) = own.may_start(&key)
                && let Some(hall) = own.hall()
            {
                hall.report(&key, Report::Started { through });
                drop(hall);
                sleep(AGAIN).await;
            }
        });
    }

    /// Returns the range of a turn that the terminal has and that has not begun.
    fn may_start(&self, key: &TurnKey) -> Option<Seq> {
        let desk = lock(&self.desk);
        let is_at_hand = desk.busy.as_ref() == Some(key) && !self.terminal.has(key);
        desk.jobs.get(key).copied().filter(|_| is_at_hand)
    }

    /// Reports the end of a typed turn when it has come, until it is in the log.
    fn follow(self: &Arc<Self>, key: TurnKey, ends_at: Instant) {
        let own = self.clone();
        tokio::spawn(async move {
            sleep_until(ends_at).await;
            loop {
                let typed = lock(&own.terminal.typed).get(&key).cloned();
                let Some((TypedTurn { result, .. }, hall)) = typed.zip(own.hall()) else { return };
                let end = Report::Finished { result, usage: Usage::default() };
                let TurnKey { stream, turn, attempt } = &key;
                let once = Idempotency {
                    principal: "terminal".into(),
                    key: format!("{stream}/{turn}/{attempt}"),
                    fingerprint: String::new(),
                };
                let kept = own.life.lives_through(hall.keep_report(&key, end, once)).await;
                drop(hall);
                match kept {
                    None => return,
                    Some(Ok(_)) => return own.leave(&key),
                    Some(Err(error)) if error.is_gone() => return own.leave(&key),
                    Some(Err(_)) => sleep(AGAIN).await,
                }
            }
        });
    }

    /// Ends the work on a turn.
    fn leave(self: &Arc<Self>, key: &TurnKey) {
        lock(&self.terminal.typed).remove(key);
        {
            let mut desk = lock(&self.desk);
            desk.jobs.remove(key);
            desk.queue.retain(|waiting| waiting != key);
            if desk.busy.as_ref() != Some(key) {
                return;
            }
            desk.busy = None;
        }
        self.go_on();
    }
}

/// The agent of the session.
pub(super) struct SessionAgent(pub(super) Arc<TerminalTask>);

#[async_trait]
impl Agent for SessionAgent {
    fn runtime(&self) -> Runtime {
        Runtime::TERMINAL
    }

    fn abilities(&self) -> Abilities {
        Abilities::TERMINAL
    }

    fn on_lost(&self) -> OnLost {
        OnLost::Fail
    }

    fn waits(&self) -> bool {
        true
    }

    fn ensure(&self, job: Job, _: Arc<dyn Reporter>) {
        let typed = lock(&self.0.terminal.typed).get(&job.key).map(|typed| typed.ends_at);
        {
            let mut desk = lock(&self.0.desk);
            let is_new = desk.jobs.insert(job.key.clone(), job.through).is_none();
            match typed {
                Some(_) if !is_new => return,
                Some(_) => {
                    let other = desk.busy.replace(job.key.clone());
                    other.into_iter().for_each(|other| desk.queue.push_front(other));
                }
                None if is_new => desk.queue.push_back(job.key.clone()),
                None => {}
            }
        }
        match typed {
            Some(ends_at) => self.0.follow(job.key, ends_at),
            None => self.0.go_on(),
        }
    }

    fn confirm_start(&self, key: &TurnKey, _: Option<u64>) {
        if self.0.may_start(key).is_none() {
            return;
        }
        let serial = lock_ledger(&self.0.ledger).note_typed(self.0.own, key);
        let ends_at = self.0.terminal.type_in(key, serial);
        self.0.follow(key.clone(), ends_at);
    }

    async fn probe(&self, key: &TurnKey) -> Probe {
        if self.0.terminal.has(key) { Probe::Running } else { Probe::Unknown }
    }

    fn cancel(&self, key: &TurnKey) {
        self.0.leave(key);
    }
}
