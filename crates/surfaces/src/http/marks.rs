//! The route that stores a reader's position in a thread.

use axum::Json;
use axum::extract::State;
use moothall_kernel::ids::Seq;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, ThreadId};
use crate::strict::Inbound;
use crate::wire::{ErrorBody, NewReadMark, ReadMark};

/// Stores how far a participant has read in a thread, and returns the number of unread messages.
/// The mark never moves back, so devices may report it in any order.
#[utoipa::path(put, path = "/threads/{id}/read", operation_id = "mark_read", tag = "threads", request_body = NewReadMark,
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = ReadMark), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn mark(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    body: Body,
) -> ApiResult<Json<ReadMark>> {
    let NewReadMark { from, seq } = body.read()?;
    let reader = body.asker_named(from.as_deref())?.id;
    let unread = body
        .door(&app.entrance)
        .mark_read(&stream, &reader, Seq(seq))
        .await
        .map_err(|error| ApiError::at_door(error, &stream))?;
    Ok(Json(ReadMark {
        thread: stream.to_string(),
        reader: reader.to_string(),
        read: unread.read.0,
        unread: unread.messages as u64,
    }))
}

impl Inbound for NewReadMark {
    fn missing(field: &str) -> ApiError {
        Self::wrong("", field, "")
    }

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        let message = match field {
            "seq" => "'seq' must be a position: a whole number, 0 or more.".to_owned(),
            other => format!("'{other}' {takes}."),
        };
        ApiError::new(Code::InvalidField, message)
    }
}
