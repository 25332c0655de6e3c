//! The threads and terminals that one event stream follows.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::ErrorDetail;

/// Body of `PUT /events/stream/{id}`: all that the stream follows from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFollows {
    /// The threads; none if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 16)]
    pub threads: Vec<NewFollow>,
    /// The sessions whose screens are shown, each by its id, the beginning of its id, or its name;
    /// none if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 4)]
    pub screens: Vec<String>,
}

/// A thread to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFollow {
    /// Id of the thread. Required.
    pub thread: String,
    /// Position after which the thread's events are sent. If absent, the stream continues with the
    /// thread, or begins with new events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// Answer of `PUT /events/stream/{id}`: what the stream is asked to follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FollowsChanged {
    /// Id of the stream.
    pub stream: String,
    /// Ids of the threads.
    pub threads: Vec<String>,
    /// The sessions whose screens are shown.
    pub screens: Vec<String>,
}

/// The `open` signal: the first event of a stream that follows sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamOpened {
    /// Id of the stream, valid until it ends.
    pub stream: String,
}

/// The signals `following`, `refused` and `left` of a stream, about one of its sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FollowSignal {
    /// Id of the thread; absent for a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The session of the terminal, as the client named it; absent for a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Position after which the thread's events are sent, for `following`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Reason of the refusal, for `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
}
