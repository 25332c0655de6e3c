//! The state of the channel: if the homeserver is reached, if it knows the token, and if it reaches
//! this server.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use moothall_engine::channels::BotState;
use moothall_kernel::time::Timestamp;

use super::Matrix;
use super::client::MatrixFault;
use super::names::Ghost;

/// Pause between two checks while all is well.
const CHECK_PAUSE: Duration = Duration::from_secs(30);
/// First and longest pause between two checks after a failure.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

/// The state of the channel.
pub(super) struct Health(Mutex<HealthFacts>);

/// Known facts about the connection to the homeserver.
struct HealthFacts {
    state: BotState,
    since: Timestamp,
    cure: Option<String>,
    heard_at: Option<Timestamp>,
    /// The homeserver's name, once it is known.
    domain: Option<String>,
}

/// The state of the channel as surfaces show it.
pub(super) struct HealthReport {
    pub(super) state: BotState,
    pub(super) since: Timestamp,
    pub(super) cure: Option<String>,
    pub(super) heard_at: Option<Timestamp>,
}

impl Health {
    pub(super) fn new(now: Timestamp) -> Self {
        let facts = HealthFacts {
            state: BotState::Starting,
            since: now,
            cure: None,
            heard_at: None,
            domain: None,
        };
        Self(Mutex::new(facts))
    }

    fn facts(&self) -> MutexGuard<'_, HealthFacts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the state and the next step for people, and the time if the state is a new one.
    fn set(&self, state: BotState, cure: Option<String>, now: Timestamp) {
        let mut facts = self.facts();
        if facts.state != state {
            tracing::info!(%state, "the state of the channel to Matrix changed");
            (facts.state, facts.since) = (state, now);
        }
        facts.cure = cure;
    }

    /// Notes that the homeserver sent something.
    pub(super) fn note_heard(&self, now: Timestamp) {
        self.facts().heard_at = Some(now);
    }

    /// Returns the state of the channel.
    pub(super) fn report(&self) -> HealthReport {
        let facts = self.facts();
        HealthReport {
            state: facts.state,
            since: facts.since,
            cure: facts.cure.clone(),
            heard_at: facts.heard_at,
        }
    }

    /// Returns the homeserver's name, once it is known.
    pub(super) fn domain(&self) -> Option<String> {
        self.facts().domain.clone()
    }
}

/// Checks the connection until the channel is closed.
pub(super) async fn watch(matrix: Weak<Matrix>) {
    let mut retry = RETRY_PAUSES.0;
    loop {
        let Some(open) = matrix.upgrade() else { return };
        let is_well = open.check().await;
        drop(open);
        let pause = if is_well { CHECK_PAUSE } else { retry };
        retry = if is_well { RETRY_PAUSES.0 } else { (2 * retry).min(RETRY_PAUSES.1) };
        tokio::time::sleep(pause).await;
    }
}

impl Matrix {
    /// Returns the homeserver's name: the part after the colon in the ids of its users.
    ///
    /// # Errors
    /// [`MatrixFault`] if the homeserver cannot be asked now.
    pub(super) async fn domain(&self) -> Result<String, MatrixFault> {
        if let Some(domain) = self.health.domain() {
            return Ok(domain);
        }
        let relay = self.client.whoami().await?;
        let Some((_, domain)) = relay.split_once(':') else {
            return Err(MatrixFault::Maybe { why: format!("{relay} is not the id of a user") });
        };
        self.health.facts().domain = Some(domain.to_owned());
        Ok(domain.to_owned())
    }

    /// Checks both directions, and sets the state. Returns true if all is well. While the channel
    /// is stopped, calls nothing and returns false.
    async fn check(&self) -> bool {
        let now = self.inbox.hall().now();
        if self.is_stopped() {
            self.health.set(BotState::Stopped, Some(STOPPED.to_owned()), now);
            return false;
        }
        match self.check_both_ways().await {
            Ok(()) => {
                self.health.set(BotState::Hearing, None, now);
                self.look_around().await;
            }
            Err(fault) => {
                let (state, cure) = self.judge(&fault);
                self.health.set(state, Some(cure), now);
            }
        }
        self.health.report().state == BotState::Hearing
    }

    /// Asks the homeserver for the relay's id, makes the relay's account, and lets the homeserver
    /// try to reach this server.
    async fn check_both_ways(&self) -> Result<(), MatrixFault> {
        self.client.whoami().await?;
        self.prepare(&Ghost::Relay).await?;
        let relay = Ghost::Relay.user_id(&self.domain().await?).unwrap_or_default();
        match self.client.ping(&self.registration.id, &relay).await {
            // An older homeserver cannot be asked to try.
            Err(fault) if fault.is("M_UNRECOGNIZED") => Ok(()),
            answer => answer,
        }
    }

    /// Returns the state that follows from a fault, with the next step for people.
    fn judge(&self, fault: &MatrixFault) -> (BotState, String) {
        let homeserver = &self.settings.homeserver;
        let MatrixFault::Refused { code, .. } = fault else {
            let cure = format!(
                "The homeserver {homeserver} cannot be reached. Messages wait, and are sent by \
                 themselves later."
            );
            return (BotState::Unreachable, cure);
        };
        match code.as_str() {
            "M_CONNECTION_FAILED" | "M_CONNECTION_TIMED_OUT" | "M_BAD_STATUS" | "M_URL_NOT_SET" => {
                let cure = format!(
                    "The homeserver cannot reach this server at {}. Check that address in the \
                     registration, and that the homeserver has read this registration: {fault}",
                    self.registration.url
                );
                (BotState::Unreachable, cure)
            }
            _ => {
                let cure = format!(
                    "The homeserver {homeserver} does not know this registration. Name the file {} \
                     in the homeserver's configuration (app_service_config_files), and restart it: \
                     {fault}",
                    self.settings.registration
                );
                (BotState::Revoked, cure)
            }
        }
    }

    /// Sets the state of the channel after a fault of a call, if the fault shows that the
    /// homeserver is not reached or does not know the token. Other refusals are about one call
    /// alone.
    pub(super) fn note_fault(&self, fault: &MatrixFault) {
        if fault.is_unauthorised() || !matches!(fault, MatrixFault::Refused { .. }) {
            let (state, cure) = self.judge(fault);
            self.health.set(state, Some(cure), self.inbox.hall().now());
        }
    }
}

/// The next step for people if the log was restored.
const STOPPED: &str = "The log was restored or copied. If no other server uses this registration, \
                       let it speak again: moothall channels resume matrix";
