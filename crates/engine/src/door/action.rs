//! All that a caller can do here, in one table: what each action needs, and what it acts on.
//!
//! This is the only table. Routes and tools name an [`Action`]. A command is one action, or
//! several if it asks for several things.

use moothall_kernel::command::{ClientCommand, Control};

use crate::access::{Scope, SessionAction};

/// The proof that an action asks of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing; the credential is not looked at.
    Nothing,
    /// In token mode any credential, whatever it allows; in local mode nothing.
    Entry,
    /// This scope. In local mode every caller has the scopes of conversations.
    Scope(Scope),
    /// A credential with this scope, in local mode too.
    Proof(Scope),
}

/// The targets of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionTarget {
    /// No conversation.
    Nowhere,
    /// One conversation. One out of the caller's reach is not found.
    Thread,
    /// The conversation of one turn.
    Turn,
    /// Many conversations. The caller is shown those within reach.
    Reachable,
    /// Sessions and links that the caller sees, or a new one that becomes the caller's. Not for
    /// credentials that are bound to conversations.
    Own,
    /// One session, and the right to it that the action takes.
    Session(SessionAction),
    /// Tasks and their conversations: those that the caller is admitted to or takes part in.
    Task,
    /// One link. One out of the caller's reach is not found.
    Link,
    /// The whole server. Not for credentials that are bound to conversations.
    Everywhere,
}

const READ: Need = Need::Scope(Scope::ThreadsRead);
const WRITE: Need = Need::Scope(Scope::ThreadsWrite);
const CONTROL: Need = Need::Scope(Scope::TurnsControl);
const INVITE: Need = Need::Scope(Scope::ParticipantsInvite);
const MANAGE: Need = Need::Scope(Scope::ThreadsAdmin);
const ERASE: Need = Need::Proof(Scope::ThreadsAdmin);
const ADMIN: Need = Need::Proof(Scope::ServerAdmin);
/// Starting a terminal, typing into one, reading one and ending one take a scope of their own.
const DRIVE: Need = Need::Proof(Scope::SessionsDrive);
const ANSWER: Need = Need::Proof(Scope::PermissionsAnswer);

macro_rules! actions {
    ($($name:ident = $need:expr, $place:expr, $meaning:literal;)*) => {
        /// An action of a caller.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $meaning] $name,)*
        }

        impl Action {
            /// Every action, in the order of the table.
            pub const ALL: &'static [Action] = &[$(Action::$name,)*];

            /// Returns the proof that this action asks of a caller.
            pub const fn need(self) -> Need {
                match self { $(Action::$name => $need,)* }
            }

            /// Returns the targets of this action, which the caller's reach has to include.
            pub const fn acts_on(self) -> ActionTarget {
                match self { $(Action::$name => $place,)* }
            }
        }
    };
}

actions! {
    CheckHealth = Need::Nothing, ActionTarget::Nowhere, "Ask whether the server is there.";
    SignIn = Need::Nothing, ActionTarget::Nowhere, "Turn a credential into the cookie of a browser.";
    AcceptInvitation = Need::Nothing, ActionTarget::Nowhere, "Turn an invitation into a token.";
    ReadDescription = Need::Entry, ActionTarget::Nowhere, "Read what the interface is like.";
    ReadMetrics = Need::Entry, ActionTarget::Everywhere, "Read what is counted.";
    AskWhoIAm = Need::Entry, ActionTarget::Nowhere, "Ask whose credential this is.";
    SignOut = Need::Entry, ActionTarget::Nowhere, "Sign a browser out.";
    CallTools = Need::Entry, ActionTarget::Reachable, "Call tools, each of which is an action of its own.";
    HandOutInvitation = Need::Proof(Scope::ParticipantsInvite), ActionTarget::Thread, "Make a code that lets somebody in.";
    ListTokens = ADMIN, ActionTarget::Everywhere, "List tokens.";
    CreateToken = ADMIN, ActionTarget::Everywhere, "Make a token.";
    RevokeToken = ADMIN, ActionTarget::Everywhere, "Revoke a token.";
    ReadAudit = ADMIN, ActionTarget::Everywhere, "Read the record of credentials and refusals.";
    ReadUsage = READ, ActionTarget::Reachable, "Read what turns have cost.";
    ReadGuards = READ, ActionTarget::Reachable, "Read what guards hold, and what is near its limit.";
    RaiseBudget = ADMIN, ActionTarget::Everywhere, "Raise the budget of the hall, of an agent, or of a principal.";
    ListAgents = READ, ActionTarget::Nowhere, "List the agents of the registry, and slash commands.";

    ListThreads = READ, ActionTarget::Reachable, "List conversations.";
    BeginThread = WRITE, ActionTarget::Own, "Begin a conversation.";
    ListenToAll = READ, ActionTarget::Reachable, "Hear the notifications of conversations.";
    Search = READ, ActionTarget::Reachable, "Search what was said.";
    ReadThread = READ, ActionTarget::Thread, "Read a conversation, and listen to it.";
    ListTurns = READ, ActionTarget::Thread, "Read who was asked, and why.";
    Preview = READ, ActionTarget::Thread, "Ask who would answer a draft.";
    MarkRead = READ, ActionTarget::Thread, "Note how far somebody has read.";
    ReadPresence = READ, ActionTarget::Thread, "Read who is here.";
    TellPresence = WRITE, ActionTarget::Thread, "Say how one is.";
    ReadContext = READ, ActionTarget::Turn, "Read what an open turn is to answer: its participant's, and operators'.";

    Post = WRITE, ActionTarget::Thread, "Send an event; what it says may need more, as the command that it is.";
    RunCommand = WRITE, ActionTarget::Thread, "Run a slash command; what it does may need more, as the command that it is.";
    Say = WRITE, ActionTarget::Thread, "Say something.";
    PostCustom = WRITE, ActionTarget::Thread, "Keep an event of one's own kind.";
    Pass = WRITE, ActionTarget::Thread, "End an own turn without words.";
    Rename = WRITE, ActionTarget::Thread, "Give a conversation another title.";
    Archive = MANAGE, ActionTarget::Thread, "Archive a conversation, or open it again.";
    Delete = ERASE, ActionTarget::Thread, "Delete a conversation, with everything that was said in it.";
    Erase = ERASE, ActionTarget::Thread, "Erase the words of an event.";
    Invite = INVITE, ActionTarget::Thread, "Invite participants and take them out.";
    Steer = CONTROL, ActionTarget::Thread, "Mute, pause, go on, change the rules of a conversation.";
    Prod = Need::Scope(Scope::AgentsRun), ActionTarget::Thread, "Make an agent take a turn without a message.";
    Bind = MANAGE, ActionTarget::Thread, "Send what is said to an outside target too.";
    RaiseThreadBudget = Need::Proof(Scope::TurnsControl), ActionTarget::Thread, "Raise the budget of a conversation.";
    Stop = CONTROL, ActionTarget::Thread, "Cancel every open turn.";
    CancelTurn = CONTROL, ActionTarget::Turn, "Cancel one turn.";
    Publish = CONTROL, ActionTarget::Thread, "Make words visible that were kept.";
    Gather = CONTROL, ActionTarget::Thread, "End a gathering.";
    StartGathering = WRITE, ActionTarget::Own, "Begin a gathering; bringing a session, or starting one, needs more.";
    ListGatherings = READ, ActionTarget::Reachable, "List gatherings.";
    ReadGathering = READ, ActionTarget::Thread, "Look how a gathering is.";
    AnswerPermission = ANSWER, ActionTarget::Reachable, "Answer what an agent asks permission for.";

    ListSessions = READ, ActionTarget::Own, "List sessions, and programs that can be started.";
    StartSession = DRIVE, ActionTarget::Own, "Start a program in a terminal, or take one over.";
    ReadSession = READ, ActionTarget::Session(SessionAction::Seeing), "Look how a session is.";
    // A screen, and what the program was told elsewhere, may hold more than a reader of
    // conversations is to see.
    ReadScreen = DRIVE, ActionTarget::Session(SessionAction::Looking), "Look at the terminal of a session.";
    ReadSessionData = DRIVE, ActionTarget::Session(SessionAction::Telling), "Read what a session was asked and said.";
    Attach = DRIVE, ActionTarget::Session(SessionAction::Sitting), "Sit down at the terminal of a session.";
    SendMessage = DRIVE, ActionTarget::Session(SessionAction::Messaging), "Say something to a session.";
    Interrupt = DRIVE, ActionTarget::Session(SessionAction::Steering), "Interrupt a session.";
    EndSession = DRIVE, ActionTarget::Session(SessionAction::Steering), "End a session.";
    ResumeSession = DRIVE, ActionTarget::Session(SessionAction::Sitting), "Run a session that ended again.";
    ListLinks = READ, ActionTarget::Own, "List links.";
    MakeLink = DRIVE, ActionTarget::Own, "Link sessions.";
    ReadLink = READ, ActionTarget::Link, "Look at a link.";
    RegisterAgent = Need::Nothing, ActionTarget::Nowhere, "Register an agent, which gets a credential of its own.";
    ClaimAgent = Need::Nothing, ActionTarget::Nowhere, "Say whose an agent is, with the claim that it got.";
    OpenConnection = Need::Nothing, ActionTarget::Nowhere, "Open a connection over which an agent says who it is.";
    AttendTasks = Need::Proof(Scope::ThreadsRead), ActionTarget::Task, "Connect as an agent that registered.";
    LookUpAgents = READ, ActionTarget::Task, "Look up agents, and whether they are here.";
    BeginTask = WRITE, ActionTarget::Task, "Ask for a task.";
    ReadTask = READ, ActionTarget::Task, "Read tasks, and what is said in them.";
    LeaveTask = WRITE, ActionTarget::Task, "Leave a task.";
    ManageTask = WRITE, ActionTarget::Task, "Manage a task, or an app: who may is the task's own to say.";
    SayInTask = WRITE, ActionTarget::Task, "Say something in a conversation of a task.";
    ListRegistrations = ADMIN, ActionTarget::Everywhere, "List agents that registered.";
    RevokeAgent = ADMIN, ActionTarget::Everywhere, "Revoke the keys of an agent that registered.";
    FreeAgent = ADMIN, ActionTarget::Everywhere, "Free the name of an agent that registered.";
    ListApps = ADMIN, ActionTarget::Everywhere, "List apps, and the agents that manage their tasks.";
    TransferApp = ADMIN, ActionTarget::Everywhere, "Give an app, and its tasks, to another agent.";
    FreeApp = ADMIN, ActionTarget::Everywhere, "Take an app from its agent.";
    CloseLink = DRIVE, ActionTarget::Link, "End a link.";
}

impl Action {
    /// Returns the actions that a command consists of. Each control is one action.
    pub fn of(command: &ClientCommand) -> Vec<Action> {
        let one = match command {
            ClientCommand::Control { controls, .. } => {
                return controls.iter().map(Action::of_control).collect();
            }
            ClientCommand::Create { .. } => Action::BeginThread,
            ClientCommand::Rename { .. } => Action::Rename,
            ClientCommand::Archive { .. } => Action::Archive,
            ClientCommand::Delete { .. } => Action::Delete,
            ClientCommand::Post(_) => Action::Say,
            ClientCommand::PostCustom(_) => Action::PostCustom,
            ClientCommand::Pass { .. } => Action::Pass,
            ClientCommand::Stop { .. } => Action::Stop,
            ClientCommand::Cancel { .. } => Action::CancelTurn,
            ClientCommand::Publish { .. } => Action::Publish,
            ClientCommand::Redact { .. } => Action::Erase,
            ClientCommand::Gather { .. } | ClientCommand::CloseGathering { .. } => Action::Gather,
            ClientCommand::AnswerPermission { .. } => Action::AnswerPermission,
        };
        vec![one]
    }

    const fn of_control(control: &Control) -> Action {
        match control {
            Control::Invite(_) | Control::Uninvite(_) => Action::Invite,
            Control::Prod(_) => Action::Prod,
            Control::Mute(_)
            | Control::Unmute(_)
            | Control::Pause(_)
            | Control::Resume
            | Control::Discussion { .. }
            | Control::InvitedAuto(_)
            | Control::Confirm
            | Control::Policy(_)
            | Control::PolicyNamed(_)
            | Control::Config(_) => Action::Steer,
            Control::Bind(_) | Control::Unbind(_) => Action::Bind,
            Control::RaiseBudget { .. } => Action::RaiseThreadBudget,
        }
    }
}
