//! The table of all methods and notifications: names, parameters, results and specific errors.
//! Calls are read with it, and the OpenRPC document is made from it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use strum::VariantArray;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::code::{RpcCode, RpcError};
use super::params;
use crate::wire::rpc;

/// The side that sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Sender {
    /// The client calls, and the server responds.
    Client,
    /// The server notifies, or calls and the client responds.
    Server,
}

/// A wire type, as the document needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) name: fn() -> String,
    /// Adds the type's schema, and those that it refers to, with their names.
    pub(super) collect: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl Shape {
    const fn of<T: ToSchema>() -> Self {
        Self { name: || T::name().into_owned(), collect: collect::<T> }
    }
}

fn collect<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((T::name().into_owned(), <T as PartialSchema>::schema()));
    T::schemas(schemas);
}

/// A row of the table, as the document shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) sender: Sender,
    pub(super) params: Shape,
    /// `None` for a notification, which gets no response.
    pub(super) result: Option<Shape>,
    /// The errors beyond those of every method.
    pub(super) errors: &'static [RpcCode],
}

/// Errors that every method of a client may return.
pub(super) const ERRORS_OF_ALL: [RpcCode; 4] =
    [RpcCode::InvalidParams, RpcCode::Unauthorized, RpcCode::RateLimited, RpcCode::InternalError];

/// Reads the result of the server's own request, for example as [`rpc::TaskDecided`].
///
/// # Errors
/// A sentence that names the wrong field and the expected value.
pub fn read_result<T: DeserializeOwned>(result: Value) -> Result<T, String> {
    if result.is_object() { params::read(result) } else { Err("the result takes an object".into()) }
}

macro_rules! calls {
    ($($name:ident = $word:literal $meaning:literal
        ($params:ident) -> $result:ident [$($error:ident)*];)*) => {
        /// A method that clients can call, in the order of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
        pub enum Method {
            $(#[doc = $meaning] #[strum(serialize = $word)] $name,)*
        }

        impl Method {
            const fn row(self) -> Row {
                match self { $(Method::$name => Row {
                    name: $word,
                    summary: $meaning,
                    sender: Sender::Client,
                    params: Shape::of::<rpc::$params>(),
                    result: Some(Shape::of::<rpc::$result>()),
                    errors: &[$(RpcCode::$error),*],
                },)* }
            }
        }

        /// A call with its parameters, read strictly.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Call {
            $(#[doc = $meaning] $name(rpc::$params),)*
        }

        impl Call {
            /// Returns the method of the call.
            pub const fn method(&self) -> Method {
                match self { $(Call::$name(_) => Method::$name,)* }
            }

            fn given(method: Method, params: Value) -> Result<Self, String> {
                match method { $(Method::$name => params::read(params).map(Call::$name),)* }
            }
        }
    };
}

calls! {
    NetworkConnect = "network/connect"
        "Identifies the caller and the versions it supports; the first call of a connection."
        (NetworkConnect) -> HelloOk [ProtocolMismatch AlreadyConnected];
    NetworkPing = "network/ping" "Checks that the server answers, and returns its time."
        (NetworkPing) -> Pong [];
    AgentsLookup = "agents/lookup" "Returns agents by their ids; unknown ids are left out."
        (AgentsLookup) -> AgentCards [Forbidden];
    AgentsLookupByName = "agents/lookupByName"
        "Returns agents by their names; unknown names are left out."
        (AgentsLookupByName) -> AgentCards [Forbidden];
    AgentsList = "agents/list" "Lists the agents that the caller may see."
        (AgentsList) -> AgentMap [Forbidden];
    AppsRegister = "apps/register"
        "Makes this connection the manager of an app's tasks until the connection closes."
        (AppRegistration) -> AppRegistered [Forbidden Conflict];
    TaskRequest = "task/request"
        "Requests a task with the caller and other agents; its manager accepts or rejects it."
        (TaskRequest) -> TaskRequested
        [Forbidden NotFound Conflict NotInContacts ConversationFull ParticipantNotAdmitted
            TaskRejected];
    TaskList = "task/list" "Lists the tasks in which the caller takes part, newest first."
        (TaskList) -> TaskPage [Forbidden];
    TaskLeave = "task/leave" "Removes the caller from a task and from all its conversations."
        (TaskLeave) -> Done [Forbidden NotFound];
    TaskClose = "task/close" "Closes a task and archives its conversations; only for its manager."
        (TaskClose) -> TaskClosed [Forbidden NotFound];
    TaskAddParticipant = "task/addParticipant" "Admits an agent to a task; only for its manager."
        (TaskAddParticipant) -> TaskParticipantAdded [Forbidden NotFound Conflict NotInContacts];
    TaskRemoveParticipant = "task/removeParticipant"
        "Removes an agent from a task, but not from its conversations; only for its manager."
        (TaskRemoveParticipant) -> Done [Forbidden NotFound];
    ConversationCreate = "task/conversation/create"
        "Creates a conversation of agents admitted to the task; only for its manager."
        (ConversationCreate) -> ConversationMade
        [Forbidden NotFound Conflict NotInContacts ConversationFull ParticipantNotAdmitted];
    ConversationList = "task/conversation/list"
        "Lists the conversations in which the caller takes part, including archived ones."
        (ConversationList) -> ConversationPage [Forbidden];
    ConversationArchive = "task/conversation/archive"
        "Archives a conversation, which then takes no more messages; only for the task's manager."
        (ConversationArchive) -> Done [Forbidden NotFound];
    ConversationUnarchive = "task/conversation/unarchive"
        "Reopens an archived conversation; only for the task's manager."
        (ConversationUnarchive) -> Done [Forbidden NotFound];
    ParticipantAdd = "task/conversation/participants/add"
        "Adds an agent of the task to a conversation; only for the task's manager."
        (ParticipantAdd) -> Done [Forbidden NotFound ConversationFull ParticipantNotAdmitted];
    ParticipantRemove = "task/conversation/participants/remove"
        "Removes an agent from a conversation, but not from the task; only for the task's manager."
        (ParticipantRemove) -> Done [Forbidden NotFound];
    MessagesSend = "messages/send" "Sends a message to a conversation."
        (MessagesSend) -> MessageSent
        [Forbidden NotFound Conflict HookBlocked TaskClosed ConversationArchived];
    MessagesList = "messages/list" "Lists the messages of a conversation, oldest first."
        (MessagesList) -> MessagePage [Forbidden NotFound];
    PresenceSubscribe = "presence/subscribe"
        "Subscribes to the presence of these agents only, and returns their current presence."
        (PresenceSubscribe) -> PresenceStatuses [Forbidden];
}

impl Method {
    /// Returns the name on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the description, in one sentence.
    pub const fn summary(self) -> &'static str {
        self.row().summary
    }
}

impl Call {
    /// Reads a call. Absent parameters count as an empty object.
    ///
    /// # Errors
    /// [`RpcCode::MethodNotFound`], or [`RpcCode::InvalidParams`] with the reason as its data.
    pub fn read(method: &str, params: Option<Value>) -> Result<Self, RpcError> {
        let known: Method = method.parse().map_err(|_| RpcError::method_not_found(method))?;
        let read = match params.unwrap_or_else(|| Value::Object(Map::new())) {
            params @ Value::Object(_) => Self::given(known, params),
            _ => Err("takes an object".to_owned()),
        };
        read.map_err(|reason| RpcError::invalid_params(method, &reason))
    }
}

macro_rules! sent {
    ($(#[$doc:meta])* $kind:ident;
        $($name:ident = $word:literal $meaning:literal ($params:ident) $(-> $result:ident)?;)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum $kind {
            $(#[doc = $meaning] $name(rpc::$params),)*
        }

        impl $kind {
            const ROWS: &'static [Row] = &[$(Row {
                name: $word,
                summary: $meaning,
                sender: Sender::Server,
                params: Shape::of::<rpc::$params>(),
                result: sent!(@result $($result)?),
                errors: &[],
            },)*];

            /// Returns the name on the wire.
            pub const fn word(&self) -> &'static str {
                match self { $($kind::$name(_) => $word,)* }
            }
        }
    };
    (@result) => { None };
    (@result $result:ident) => { Some(Shape::of::<rpc::$result>()) };
}

sent! {
    /// A request of the server to the connection that manages a task. Serialised as its parameters.
    ServerRequest;
    TaskCreate = "task/create" "Asks the manager of an app if a task may begin."
        (TaskCreate) -> TaskDecided;
    MessagesAuthorize = "messages/authorize" "Asks the manager of a task which agents receive a \
        message."
        (MessagesAuthorize) -> MessageAuthorized;
}

sent! {
    /// A notification of the server. Serialised as its payload.
    Notification;
    TaskCreated = "task/created" "A task began; sent to its participants." (TaskCreated);
    TaskFailed = "task/failed" "A task was rejected; sent to the agents that would have taken \
        part." (TaskFailed);
    TaskClosed = "task/closed" "A task was closed; sent to its participants." (TaskClosed);
    ConversationCreated = "task/conversation/created"
        "A conversation was created; sent to its participants." (ConversationCreated);
    ConversationArchived = "task/conversation/archived"
        "A conversation was archived; sent to its participants." (ConversationArchived);
    ConversationUnarchived = "task/conversation/unarchived"
        "A conversation was reopened; sent to its participants." (ConversationUnarchived);
    ConversationHeld = "task/conversation/held"
        "A guard holds a conversation until a person continues it; sent to its participants and to \
         the task's manager."
        (ConversationHeld);
    ParticipantAdded = "task/conversation/participants/added"
        "An agent was added to a conversation; sent to all participants, including the new \
         one." (ParticipantAdded);
    ParticipantRemoved = "task/conversation/participants/removed"
        "An agent left or was removed; sent to all former participants, including that agent."
        (ParticipantRemoved);
    MessageReceived = "messages/received" "A message was delivered; sent to its recipients."
        (MessageReceived);
    PresenceChanged = "presence/changed" "An agent connected or disconnected; sent to its \
        subscribers."
        (Presence);
}

/// Returns the whole table: client calls, server requests, notifications.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    let called = Method::VARIANTS.iter().map(|method| method.row());
    called.chain(ServerRequest::ROWS.iter().copied()).chain(Notification::ROWS.iter().copied())
}

#[cfg(test)]
mod tests;
