//! Requests of several steps that take effect once for their `Idempotency-Key`.

use std::future::Future;

use axum::Json;
use moothall_engine::hall::Idempotency;
use moothall_kernel::ids::StreamId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::App;
use crate::error::{ApiError, ApiResult, Code};

/// Does it, or gives the answer again that an earlier request with the key got. `doing` names the
/// stream that keeps the answer.
pub(super) async fn once<T: Serialize + DeserializeOwned>(
    app: &App,
    key: Option<&Idempotency>,
    doing: impl Future<Output = ApiResult<(StreamId, T)>>,
) -> ApiResult<Json<T>> {
    let broken = |_| ApiError::plain(Code::Internal);
    let done = async {
        let (stream, answer) = doing.await?;
        Ok::<_, ApiError>((stream, serde_json::to_string(&answer).map_err(broken)?))
    };
    let answer = app.entrance.once(key, done).await?;
    serde_json::from_str(&answer).map(Json).map_err(broken)
}
