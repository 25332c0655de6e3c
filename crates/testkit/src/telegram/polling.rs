//! `getUpdates`: long polls, confirmation by offset, one poller for each token.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::ServerState;
use super::refusal::Refusal;
use super::sending::Params;
use super::world::BotState;

const TIMEOUT_S_MAX: u64 = 50;
const BATCH_MAX: usize = 100;

/// A poll that waits. It is counted until it is dropped.
struct WaitingPoll {
    shared: Arc<ServerState>,
    bot: i64,
    number: u64,
}

impl Drop for WaitingPoll {
    fn drop(&mut self) {
        self.shared.change(|world| {
            if let Some(state) = world.bot_mut(self.bot) {
                state.waiting -= 1;
            }
        });
    }
}

/// Returns the next updates of a bot, as soon as there are any.
pub(super) async fn poll(
    shared: &Arc<ServerState>,
    bot: i64,
    params: &Params,
) -> Result<Value, Refusal> {
    let number = |name: &str| params.get(name).and_then(Value::as_i64).unwrap_or_default();
    let limit =
        usize::try_from(number("limit")).ok().filter(|limit| (1..=BATCH_MAX).contains(limit));
    let seconds = u64::try_from(number("timeout")).unwrap_or(0).min(TIMEOUT_S_MAX);
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let poll = begin(shared, bot, params)?;
    let mut changes = shared.changes.subscribe();
    loop {
        if let Some(updates) = take(&poll, limit.unwrap_or(BATCH_MAX))? {
            return Ok(updates.into());
        }
        if timeout_at(deadline, changes.changed()).await.is_err() {
            return Ok(Value::Array(Vec::new()));
        }
    }
}

/// Confirms updates and ends an older poll.
fn begin(shared: &Arc<ServerState>, bot: i64, params: &Params) -> Result<WaitingPoll, Refusal> {
    let allowed = params.get("allowed_updates").and_then(Value::as_array).cloned();
    let offset = params.get("offset").and_then(Value::as_i64).unwrap_or_default();
    let number = shared.change(|world| {
        let state = world.bot_mut(bot).ok_or_else(|| Refusal::new(401, "Unauthorized"))?;
        if state.webhook {
            return Err(Refusal::conflict(
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            ));
        }
        if let Some(allowed) = allowed {
            let words = allowed.iter().filter_map(Value::as_str);
            state.allowed = words.map(str::to_owned).collect();
        }
        confirm(state, offset);
        state.polls += 1;
        state.waiting += 1;
        Ok(state.polls)
    })?;
    Ok(WaitingPoll { shared: shared.clone(), bot, number })
}

/// Forgets the updates before an offset. A negative one counts from the end.
fn confirm(state: &mut BotState, offset: i64) {
    if offset < 0 {
        let kept = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let forgotten = state.updates.len().saturating_sub(kept);
        state.updates.drain(..forgotten);
    } else {
        state.updates.retain(|update| update["update_id"].as_i64().is_none_or(|id| id >= offset));
    }
}

/// Returns the updates that are there, changed by a fault.
fn take(poll: &WaitingPoll, limit: usize) -> Result<Option<Vec<Value>>, Refusal> {
    let mut world = poll.shared.world();
    let state = world.bot(poll.bot).ok_or_else(|| Refusal::new(401, "Unauthorized"))?;
    if state.polls != poll.number {
        return Err(Refusal::conflict(
            "terminated by other getUpdates request; make sure that only one bot instance is running",
        ));
    }
    let mut updates: Vec<Value> = state.updates.iter().take(limit).cloned().collect();
    if updates.is_empty() {
        return Ok(None);
    }
    world.faults.change_updates(poll.bot, &mut updates);
    Ok(Some(updates))
}
