//! The states of this computer, of those that are paired with it, and of their post.

use std::sync::Arc;
use std::time::Duration;

use moothall_engine::computers::{
    ComputerState, ComputerStatus, ComputersStatus, PostPersistence, PostStatus,
};
use moothall_engine::ports::Target;
use moothall_kernel::time::Millis;
use tokio::time::timeout;

use super::off::OFF_CURE;
use super::run::kernel_id;
use super::{Directory, lock};
use crate::pairs::Pairs;
use crate::post::PostError;
use crate::redis_post::{PostHealth, RedisPost};

/// Longest wait for the state of the post. A Redis that does not answer is met by several steps, of
/// which each has a limit of its own.
const HEALTH_WITHIN: Duration = Duration::from_secs(4);

impl Directory {
    /// Returns all states. Asks the Redis for the state of the post, unless the computers are off.
    pub(super) async fn status(&self) -> ComputersStatus {
        let Some(pairs) = self.book() else { return ComputersStatus::default() };
        let mut others = self.other_statuses(&pairs).await;
        others.sort_by(|one, other| one.name.cmp(&other.name));
        let computers = [self.own_status(&pairs)].into_iter().chain(others).collect();
        ComputersStatus { computers, post: Some(self.post_status(&pairs).await) }
    }

    /// Returns the states of the paired computers, with the numbers of rows that are owed to each
    /// of them and by each of them.
    async fn other_statuses(&self, pairs: &Pairs) -> Vec<ComputerStatus> {
        let hall = self.hall.weak().enter();
        let owed = match &hall {
            Some(hall) => hall.store().outbox.owed().await.unwrap_or_default(),
            None => Default::default(),
        };
        let link = lock(&self.tasks).as_ref().map(|running| running.tasks.asker());
        let is_off = self.is_off();
        let status = |pair| {
            let mut status = self.peers.status(pair);
            status.owed_to =
                owed.get(&Target::Computer(kernel_id(pair.id))).copied().unwrap_or_default();
            status.owed_by = link.as_ref().and_then(|link| link.incoming.owed_by(pair.id));
            if is_off {
                (status.state, status.cure) = (ComputerState::Off, Some(OFF_CURE.to_owned()));
            }
            status
        };
        pairs.all().iter().map(status).collect()
    }

    /// Returns the post of the tasks, or a new one if no tasks run; `None` if the address or the
    /// file of certificates cannot be used.
    fn post(&self, pairs: &Pairs) -> Option<Arc<RedisPost>> {
        let running = lock(&self.tasks).as_ref().and_then(|running| running.server.clone());
        let own = pairs.own();
        let once = || RedisPost::new(own.id, own.redis.clone(), own.ca.as_deref()).ok();
        running.or_else(|| once().map(Arc::new))
    }

    /// Returns the state of the post. Waits up to [`HEALTH_WITHIN`] for the Redis, and asks it
    /// nothing while the computers are off.
    async fn post_status(&self, pairs: &Pairs) -> PostStatus {
        let address = pairs.own().redis.to_string();
        let mut status = PostStatus {
            address,
            fault: None,
            round_trip: None,
            eviction: None,
            persistence: None,
            cure: None,
        };
        if self.is_off() {
            let off = "it is not used while the computers are off".to_owned();
            return PostStatus { fault: Some(off), ..status };
        }
        let Some(post) = self.post(pairs) else {
            let unfit = "the address, or the file of certificates, cannot be used";
            return PostStatus { fault: Some(unfit.to_owned()), ..status };
        };
        let silent = |_| Err(PostError::Away("no answer in time".into()));
        match timeout(HEALTH_WITHIN, post.health()).await.unwrap_or_else(silent) {
            Ok(health) => {
                if health.evicts() {
                    status.cure = Some(
                        "This Redis drops what does not fit its memory. Nothing is lost, but what \
                         is dropped is sent again, and late. Set `maxmemory-policy noeviction`."
                            .to_owned(),
                    );
                }
                let micros = u64::try_from(health.ping.as_micros()).unwrap_or(u64::MAX);
                status.round_trip = Some(Millis(micros.div_ceil(1_000)));
                status.persistence = persistence(&health);
                status.eviction = health.eviction;
                let refused = lock(&self.tasks).as_ref().and_then(|it| it.tasks.refusal());
                status.fault = refused.map(|error| error.to_string());
            }
            Err(error) => status.fault = Some(error.to_string()),
        }
        status
    }

    /// Returns the state of this computer: off, refused because another server has its id, or up.
    fn own_status(&self, pairs: &Pairs) -> ComputerStatus {
        let own = pairs.own();
        let (state, cure) = match (self.is_off(), self.peers.is_doubled()) {
            (true, _) => (ComputerState::Off, Some(OFF_CURE)),
            (false, true) => (ComputerState::Refused, Some(DOUBLED_CURE)),
            (false, false) => (ComputerState::Up, None),
        };
        ComputerStatus {
            name: own.name.to_string(),
            id: own.id.to_string(),
            is_this: true,
            state,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            seen_at: Some(self.hall.now()),
            clock_ahead: None,
            cure: cure.map(str::to_owned),
            owed_to: 0,
            owed_by: None,
            sessions: None,
        }
    }
}

/// The next step if another server has the id of this computer.
const DOUBLED_CURE: &str = "Another server runs with the id of this computer, perhaps on a copy of \
    its data folder. Stop one of the two, delete `computers.json` in the copy, and start this one \
    again.";

/// Returns the way in which a Redis stores its memory; `None` if it does not tell.
fn persistence(health: &PostHealth) -> Option<PostPersistence> {
    match (health.append_only, health.snapshots) {
        (Some(true), _) => Some(PostPersistence::Commands),
        (_, Some(true)) => Some(PostPersistence::Snapshots),
        (Some(false), Some(false)) => Some(PostPersistence::Nothing),
        (None, _) | (_, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redis_that_does_not_tell_all_is_not_said_to_keep_nothing() {
        let health = |append_only, snapshots| PostHealth {
            ping: Duration::ZERO,
            clock_ahead_ms: None,
            version: None,
            eviction: None,
            memory_max: None,
            append_only,
            snapshots,
        };
        for (append_only, snapshots, keeps) in [
            (Some(true), None, Some(PostPersistence::Commands)),
            (Some(true), Some(true), Some(PostPersistence::Commands)),
            (Some(false), Some(true), Some(PostPersistence::Snapshots)),
            (None, Some(true), Some(PostPersistence::Snapshots)),
            (Some(false), Some(false), Some(PostPersistence::Nothing)),
            (Some(false), None, None),
            (None, Some(false), None),
            (None, None, None),
        ] {
            assert_eq!(persistence(&health(append_only, snapshots)), keeps);
        }
    }
}
