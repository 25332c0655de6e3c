//! Submission of commands by the surfaces.

use moothall_engine::door::Door;
use moothall_engine::hall::{Answer, Idempotency};
use moothall_kernel::command::ClientCommand;
use moothall_kernel::ids::StreamId;

use crate::error::{ApiError, ApiResult};
use crate::rates::Rates;

/// Submits a command, if the caller has the right and is within the rate limits.
pub async fn submit(
    door: &Door,
    rates: &Rates,
    stream: &StreamId,
    command: ClientCommand,
    key: Option<Idempotency>,
) -> ApiResult<Answer> {
    let permitted = door.permit(stream, command).await?;
    rates.command(door.caller(), &permitted)?;
    door.submit(permitted, key).await.map_err(|error| ApiError::of_hall(error, Some(stream)))
}
