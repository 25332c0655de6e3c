//! The types that cross the wire of the JSON-RPC surface: its parameters, results and payloads.
//!
//! Every object is closed in both directions, because its clients refuse unknown fields. An absent
//! value is left out. Only the few fields that say so are null instead. Ids are UUIDs, times are
//! RFC 3339 in UTC with milliseconds, and bounds are checked while a value is read.

mod bounds;
mod values;
mod network;
mod agents;
mod apps;
mod tasks;
mod conversations;
mod messages;
mod presence;
mod registration;

pub use agents::{
    AgentCard, AgentCards, AgentKind, AgentMap, AgentMetadata, AgentStatus, AgentsList,
    AgentsLookup, AgentsLookupByName,
};
pub use apps::{
    AppLimits, AppRegistered, AppRegistration, ConversationTemplate, Hook, Hooks, Manifest,
    ParticipantFilter,
};
pub use bounds::{
    AgentIds, AgentName, AgentNames, AltText, Description, FileName, Invitees, Limit, MessageText,
    MimeType, Name, OutOfBounds, Participants, Parts, PresenceIds, Reason, TimeoutMs,
};
pub use conversations::{
    Conversation, ConversationArchive, ConversationArchived, ConversationCreate,
    ConversationCreated, ConversationEntry, ConversationHeld, ConversationList, ConversationMade,
    ConversationMetadata, ConversationPage, ConversationUnarchive, ConversationUnarchived,
    ParticipantAdd, ParticipantAdded, ParticipantRemove, ParticipantRemoved, RemovalReason,
    TaskManager,
};
pub use messages::{
    DispatchDecision, Message, MessageAuthorized, MessageHeld, MessagePage, MessageReceived,
    MessageSent, MessageVerdict, MessagesAuthorize, MessagesList, MessagesSend, Part,
};
pub use network::{
    AgentConnect, Done, HelloOk, NetworkConnect, NetworkPing, Policy, Pong, RateLimits,
    SessionConnect,
};
pub use presence::{Presence, PresenceStatus, PresenceStatuses, PresenceSubscribe};
pub use registration::{
    AgentClaim, AgentClaimed, AgentRegistered, AgentRegistration, RegistrationRefused,
};
pub use tasks::{
    InitialConversation, Task, TaskAddParticipant, TaskClose, TaskClosed, TaskCreate, TaskCreated,
    TaskDecided, TaskFailed, TaskLeave, TaskList, TaskPage, TaskParticipant, TaskParticipantAdded,
    TaskRemoveParticipant, TaskRequest, TaskRequested, TaskStatus, TaskVerdict,
};
pub use values::{ChosenName, DateTime, Uri, Uuid};
