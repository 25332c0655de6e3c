//! How far somebody has read.

use axum::Json;
use axum::extract::State;
use moothall_kernel::ids::Seq;
use serde_json::Value;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, ThreadId};
use crate::wire::{ErrorBody, NewReadMark, ReadMark};

/// Notes that somebody has read a thread up to a position. The mark never goes back, so devices may tell it in any order.
#[utoipa::path(put, path = "/threads/{id}/read", operation_id = "mark_read", tag = "threads", request_body = NewReadMark,
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = ReadMark), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn mark(State(app): State<App>, ThreadId(stream): ThreadId, body: Body) -> ApiResult<Json<ReadMark>> {
    // `seq` is where somebody is, not something that only the server may say.
    let mut fields = body.fields.clone();
    let seq = fields.remove("seq").as_ref().and_then(Value::as_u64);
    let seq = seq.ok_or_else(|| ApiError::new(Code::InvalidField, "'seq' must be a position: a whole number from 0 on."))?;
    Body::only_in(&fields, &["from"])?;
    let reader = body.asker()?.id;
    let unread = body.door(&app.hall).mark_read(&stream, &reader, Seq(seq)).await.map_err(|error| ApiError::at_door(error, &stream))?;
    Ok(Json(ReadMark { thread: stream.to_string(), reader: reader.to_string(), read: unread.read.0, unread: unread.messages as u64 }))
}
