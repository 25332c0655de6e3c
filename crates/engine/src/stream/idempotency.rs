//! Keys under which requests take effect once, as claims of their streams.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use moothall_kernel::ids::Seq;
use moothall_kernel::time::{Millis, Timestamp};

use super::brief::read_one;
use super::io::{PriorRequest, Verdict};
use crate::answers::{Answer, HallError, Idempotency};
use crate::ports::{Claim, EventLog};

/// The claims that idempotency keys take.
pub(crate) const IDEM: &str = "idem";
/// The claims that hold whole answers.
pub(crate) const ANSWERED: &str = "answered";
/// How long a request's key is remembered.
pub(crate) const IDEM_TTL: Millis = Millis::from_secs(24 * 3600);

/// The key of the claim that an idempotency key takes.
pub(crate) fn claim_key(idempotency: &Idempotency) -> String {
    format!("{}:{}", idempotency.principal, idempotency.key)
}

/// What is known about claim keys.
///
/// # Errors
/// [`HallError`] when nobody can tell.
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

/// The answer that the holder of a claim got, for another request with its key.
///
/// # Errors
/// [`HallError::KeyReused`] when it belongs to another request.
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

/// The answer that the holder of a claim got, read back from the log.
async fn answer_of(log: &dyn EventLog, claim: &Claim) -> Verdict {
    let head = log
        .find(&claim.stream)
        .await?
        .ok_or_else(|| HallError::NotFound(claim.stream.clone()))?
        .head;
    let event = match claim.outcome.parse() {
        Ok(seq) => Some(read_one(log, &claim.stream, Seq(seq)).await?),
        Err(_) => None,
    };
    Ok(Answer { stream: claim.stream.clone(), event, head, replayed: true })
}
