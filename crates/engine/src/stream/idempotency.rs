//! Idempotency keys: a request with a key takes effect only one time. The keys are claims of
//! streams.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use moothall_kernel::ids::Seq;
use moothall_kernel::time::{Millis, Timestamp};

use super::brief::read_one;
use super::io::{PriorRequest, Verdict};
use crate::answers::{Answer, HallError, Idempotency};
use crate::ports::{Claim, EventLog};

/// Namespace of the claims for idempotency keys.
pub(crate) const IDEM: &str = "idem";
/// Namespace of the claims that hold whole answers.
pub(crate) const ANSWERED: &str = "answered";
/// Time for which a request's key is remembered.
pub(crate) const IDEM_TTL: Millis = Millis::from_secs(24 * 3600);

/// Returns the claim key for an idempotency key.
pub(crate) fn claim_key(idempotency: &Idempotency) -> String {
    format!("{}:{}", idempotency.principal, idempotency.key)
}

/// Looks up claim keys. Returns the earlier requests by key.
///
/// # Errors
/// [`HallError`] if the log cannot be read.
pub async fn look_up(
    log: &dyn EventLog,
    keys: &[String],
    now: Timestamp,
) -> Result<BTreeMap<String, PriorRequest>, HallError> {
    let mut earlier = BTreeMap::new();
    for claim in join_all(keys.iter().map(|key| log.claim(IDEM, key, now))).await {
        if let Some(claim) = claim? {
            let answer = answer_of(log, &claim).await;
            earlier.insert(claim.key, PriorRequest { fingerprint: claim.fingerprint, answer });
        }
    }
    Ok(earlier)
}

/// Returns the answer that the holder of a claim got, for a repeated request with the same key.
///
/// # Errors
/// [`HallError::KeyReused`] if the claim belongs to a different request.
pub(crate) async fn replay(
    log: &dyn EventLog,
    claim: &Claim,
    idempotency: &Idempotency,
) -> Verdict {
    if claim.fingerprint != idempotency.fingerprint {
        return Err(HallError::KeyReused);
    }
    answer_of(log, claim).await
}

/// Reads from the log the answer that the holder of a claim got.
async fn answer_of(log: &dyn EventLog, claim: &Claim) -> Verdict {
    let head = log
        .find(&claim.stream)
        .await?
        .ok_or_else(|| HallError::NotFound(claim.stream.clone()))?
        .head;
    let event = match claim.outcome.parse() {
        Ok(seq) => Some(read_one(log, &claim.stream, Seq(seq)).await?),
        // The outcome is empty if the request was accepted without an event.
        Err(_) => None,
    };
    Ok(Answer { stream: claim.stream.clone(), event, head, replayed: true })
}
