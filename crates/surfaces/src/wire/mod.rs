//! The types that cross the wire, and nothing else: bodies that clients send and answers that they
//! get, converted by hand from the kernel's types. The command line reads them too. Durations are
//! in seconds, times are RFC 3339 in UTC. The types of JSON-RPC follow the rules in [`rpc`].

mod envelope;
mod types;
mod control;
mod turn;
mod gathering;
mod gathering_step;
mod state;
mod requests;
mod answers;
mod search;
mod assist;
mod upkeep;
mod usage;
mod guards;
mod occupation;
mod need;
mod access;
mod apps;
mod channels;
mod computers;
mod registrations;
mod screen;
mod session;
mod folder;
mod link;
mod error;
mod follow;
pub mod arguments;
mod tool_answers;
pub mod rpc;

pub use access::{
    AuditPage, AuditRow, InvitationAccepted, InvitationCode, InvitationRequest, PrincipalRef,
    RevokeRequest, SignIn, SignedOut, TokenCreated, TokenEntry, TokenList, TokenRequest,
    TokenRevoked, WhoAmI,
};
pub use answers::{
    Accepted, AgentEntry, AgentList, Bell, Cancelled, DeltaSignal, EventPage, HallSessions,
    HallStart, Health, JoinPrompt, LastMessage, Ping, PresenceAccepted, PresenceEntry,
    PresenceList, PresenceUpdate, ProgressSignal, StopAccepted, ThreadCreated, ThreadEntry,
    ThreadList,
};
pub use apps::{AppEntry, AppFreed, AppPage, AppTransfer, NewTask, TaskBegun};
pub use assist::{
    CommandList, CommandRan, CommandUsage, Draft, ForecastEntry, NewCommand, Preview, Published,
};
pub use channels::{
    BotEntry, BotOffered, BotRemoved, ChannelEntry, ChannelList, ChannelResumed, ChatEntry,
    DeliveryEntry, DeliveryList, DeliveryResent, NewBot, PairingCode, PairingEnded, PairingEntry,
    PairingLinkEntry, PairingList, PairingRequest,
};
pub use computers::{
    ComputerEntry, ComputerForgotten, ComputerInvitation, ComputerInvited, ComputerJoin,
    ComputerJoined, ComputerList, ComputersResumed, PostEntry,
};
pub use control::{
    NewControl, NewDiscussion, NewInvite, NewRaise, NewUninvite, Resume, Switch, Targets,
    WireProfile, changes_as_content,
};
pub use envelope::{CauseRef, Envelope, MentionPlace, Meta};
pub use error::{ErrorBody, ErrorDetail};
pub use folder::{FolderAnswer, FolderPlace};
pub use follow::{FollowSignal, FollowsChanged, NewFollow, NewFollows, StreamOpened};
pub use gathering::{
    GatheringAnswer, GatheringList, GatheringMember, Harvest, NewGathering, NewGatheringMember,
    NewPiecePass, PieceHolder,
};
pub use gathering_step::{GatheringRules, GatheringStep};
pub use guards::{GuardEntry, GuardLift, GuardsAnswer};
pub use link::{LinkAnswer, LinkEntry, LinkList, LinkMember, NewLink, NewLinkMember};
pub use need::{NeedEntry, NeedsAnswer, NeedsSignal};
pub use occupation::{OccupationEntry, StatesAnswer, StatesSignal};
pub use registrations::{AgentFreed, AgentRevoked, RegistrationEntry, RegistrationPage};
pub use requests::{Actor, McpMessage, NewEvent, NewMeta, NewPass, NewPresence, NewThread, Pass};
pub use screen::{
    DialogEntry, KeysTyped, NewKeys, NewKeystroke, ScreenAnswer, ScreenCursor, ScreenRun,
};
pub use search::{SearchAnswer, SearchHit, SnippetPiece};
pub use session::{
    Adoption, AttachAnswer, AwayComputer, MessageSent, NewAnswer, NewMessage, NewSession,
    OptionEntry, PermissionAnswered, ProgramEntry, SendAnswer, SessionActed, SessionDataAnswer,
    SessionEnd, SessionEntry, SessionList, SessionResumed, SilentComputer, StartAnswer, StartAsked,
};
pub use state::{
    DiscussionState, InvitedEntry, LeftEntry, OpenTurn, ParticipantsState, SwitchState,
    ThreadState, ThreadStateAnswer, UpcomingEntry,
};
pub use tool_answers::{
    SessionStarted, ToolInvited, ToolMessage, ToolMessages, ToolReasons, ToolThread,
    ToolThreadBegun, ToolThreads,
};
pub use turn::{
    NoAgentAsked, PendingAnswers, TurnContext, TurnEntry, TurnEvent, TurnList, UnaskedMessage,
    WireFault, WireUsage, turn_id,
};
pub use types::EventTypes;
pub use upkeep::{NewReadMark, ReadMark, Redacted, ThreadDeleted};
pub use usage::{BudgetEntry, BudgetRaise, BudgetRaised, UsageAnswer, UsageRow};

/// Pattern of a participant's id.
pub(crate) const ID_PATTERN: &str = "^[A-Za-z0-9._:-]{1,64}$";
