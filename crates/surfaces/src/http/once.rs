//! Multi-step requests that take effect once per `Idempotency-Key`.

use std::future::Future;

use axum::Json;
use moothall_engine::hall::Idempotency;
use moothall_kernel::ids::StreamId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::App;
use crate::error::{ApiError, ApiResult, Code};

/// Runs `doing`, or returns the answer that an earlier request with this key got. `doing` also
/// returns the stream in which the answer is kept.
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
