//! The one shape of every error: a code, a message, and where it happened.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The code, what it means here, and where it happened.
    pub error: ErrorDetail,
}

/// What went wrong with one request, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// Stable word; the reference lists them all.
    pub code: String,
    /// What was wrong and what to do, in one or two sentences.
    pub message: String,
    /// The thread it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The participant it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// The event that kept the words all the same, where they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}
