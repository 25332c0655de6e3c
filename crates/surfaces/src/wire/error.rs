//! The one shape of every error: a code, a message, and the place of the error.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// Code of the error, its meaning here, and its place.
    pub error: ErrorDetail,
}

/// The cause of one failed request, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// Stable code of the error; the reference lists all codes.
    pub code: String,
    /// Cause of the error and its remedy, in one or two sentences.
    pub message: String,
    /// Id of the thread that the error is about; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Id of the participant that the error is about; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// Id of the event in which the refused words were kept; absent if they were not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}
