//! All that a caller can do here, in one table: what each action needs, and what it acts on.
//!
//! There is no other table of rights. Routes and tools name an [`Action`]. A command is one action,
//! or several if it asks for several things.

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
    /// One conversation. A conversation out of the caller's reach is not found.
    Thread,
    /// The conversation of one turn.
    Turn,
    /// Many conversations. The caller gets only those within reach.
    Reachable,
    /// Sessions and links that the caller sees, the caller's own accounts, or a new thing that
    /// becomes the caller's. Not for credentials that are bound to conversations.
    Own,
    /// One session, and the right over it that the action needs.
    Session(SessionAction),
    /// Tasks and their conversations: those that the caller is admitted to or takes part in.
    Task,
    /// One link. A link out of the caller's reach is not found.
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
/// Binding a chat copies a conversation out of the server.
const BIND: Need = Need::Proof(Scope::ThreadsAdmin);
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
    CheckHealth = Need::Nothing, ActionTarget::Nowhere, "Check if the server is up.";
    SignIn = Need::Nothing, ActionTarget::Nowhere, "Exchange a credential for a browser's cookie.";
    AcceptInvitation = Need::Nothing, ActionTarget::Nowhere, "Exchange an invitation for a token.";
    ReadDescription = Need::Entry, ActionTarget::Nowhere, "Read the descriptions of the \
                                                           interfaces.";
    ReadMetrics = Need::Entry, ActionTarget::Everywhere, "Read the metrics.";
    AskWhoIAm = Need::Entry, ActionTarget::Nowhere, "Read the owner and the rights of the \
                                                     caller's credential.";
    SignOut = Need::Entry, ActionTarget::Nowhere, "Sign a browser out.";
    CallTools = Need::Entry, ActionTarget::Reachable, "Call tools; each tool checks its own \
                                                       action.";
    HandOutInvitation = Need::Proof(Scope::ParticipantsInvite), ActionTarget::Thread, "Make an \
                                                                                       invitation \
                                                                                       code.";
    ListTokens = ADMIN, ActionTarget::Everywhere, "List tokens.";
    CreateToken = ADMIN, ActionTarget::Everywhere, "Make a token.";
    RevokeToken = ADMIN, ActionTarget::Everywhere, "Revoke a token.";
    ReadAudit = ADMIN, ActionTarget::Everywhere, "Read the audit record of credentials and \
                                                  refusals.";
    ReadUsage = READ, ActionTarget::Reachable, "Read the cost of turns.";
    ReadGuards = READ, ActionTarget::Reachable, "Read active guards, and limits that are nearly \
                                                 reached.";
    RaiseBudget = ADMIN, ActionTarget::Everywhere, "Raise the budget of the hall, of an agent, or of a principal.";
    ReadNeeds = READ, ActionTarget::Reachable, "Read what waits for a reader.";
    ReadStates = READ, ActionTarget::Reachable, "Read what participants do now.";
    ListAgents = READ, ActionTarget::Nowhere, "List the agents of the registry, and slash commands.";

    ListChannels = READ, ActionTarget::Reachable, "List channels, their bots and their chats.";
    ManageChannels = ADMIN, ActionTarget::Everywhere, "Give agents bots in channels, and take them \
                                                       away.";
    ListComputers = READ, ActionTarget::Everywhere, "List the computers that are paired with this one.";
    ManageComputers = ADMIN, ActionTarget::Everywhere, "Pair other computers with this one, end \
                                                        that, and put them on after a restore.";
    PairAccount = Need::Proof(Scope::ThreadsRead), ActionTarget::Own, "Pair an account of a channel \
                                                                       with oneself, or end that.";

    ListThreads = READ, ActionTarget::Reachable, "List conversations.";
    BeginThread = WRITE, ActionTarget::Own, "Begin a conversation.";
    ListenToAll = READ, ActionTarget::Reachable, "Stream the notifications of conversations.";
    Search = READ, ActionTarget::Reachable, "Search messages.";
    ReadThread = READ, ActionTarget::Thread, "Read and stream a conversation.";
    ListTurns = READ, ActionTarget::Thread, "Read turns with their reasons.";
    Preview = READ, ActionTarget::Thread, "Preview which agents would answer a draft.";
    MarkRead = READ, ActionTarget::Thread, "Store a reader's position.";
    ReadPresence = READ, ActionTarget::Thread, "Read the presence of participants.";
    TellPresence = WRITE, ActionTarget::Thread, "Report one's presence.";
    ReadContext = READ, ActionTarget::Turn, "Read the input of a turn; only its participant \
                                             and operators may.";

    Post = WRITE, ActionTarget::Thread, "Send an event; it may need further rights, as the \
                                         command that it contains.";
    RunCommand = WRITE, ActionTarget::Thread, "Run a slash command; it may need further rights.";
    Say = WRITE, ActionTarget::Thread, "Post a message.";
    PostCustom = WRITE, ActionTarget::Thread, "Post an event of one's own type.";
    Pass = WRITE, ActionTarget::Thread, "End one's own turn without a message.";
    Rename = WRITE, ActionTarget::Thread, "Rename a conversation.";
    Archive = MANAGE, ActionTarget::Thread, "Archive or unarchive a conversation.";
    Delete = ERASE, ActionTarget::Thread, "Delete a conversation with its whole content.";
    Erase = ERASE, ActionTarget::Thread, "Erase the content of an event.";
    Invite = INVITE, ActionTarget::Thread, "Invite and remove participants.";
    Steer = CONTROL, ActionTarget::Thread, "Mute, pause, resume, and change the rules of a \
                                            conversation.";
    Prod = Need::Scope(Scope::AgentsRun), ActionTarget::Thread, "Give an agent a turn without a \
                                                                 message.";
    Bind = BIND, ActionTarget::Thread, "Copy a conversation to a chat outside of the server, or end \
                                         that.";
    RaiseThreadBudget = Need::Proof(Scope::TurnsControl), ActionTarget::Thread, "Raise the budget of a conversation.";
    SendAgain = CONTROL, ActionTarget::Thread, "Send a message to a chat again whose sending failed or is \
                                                in doubt.";
    Stop = CONTROL, ActionTarget::Thread, "Cancel every open turn.";
    CancelTurn = CONTROL, ActionTarget::Turn, "Cancel one turn.";
    Publish = CONTROL, ActionTarget::Thread, "Publish kept text.";
    Gather = CONTROL, ActionTarget::Thread, "End a gathering.";
    StartGathering = WRITE, ActionTarget::Own, "Begin a gathering; to bring or start a session \
                                                needs further rights.";
    ListGatherings = READ, ActionTarget::Reachable, "List gatherings.";
    ReadGathering = READ, ActionTarget::Thread, "Read the state of a gathering.";
    AnswerPermission = ANSWER, ActionTarget::Reachable, "Answer an agent's permission request.";

    ListSessions = READ, ActionTarget::Own, "List sessions and startable programs.";
    StartSession = DRIVE, ActionTarget::Own, "Start a program in a terminal, or adopt a running \
                                              one.";
    ListFolders = DRIVE, ActionTarget::Own, "List the folders in which a program could be started.";
    ReadSession = READ, ActionTarget::Session(SessionAction::Seeing), "Read the state of a \
                                                                       session.";
    // A screen, and the input of the program from elsewhere, can contain more than a reader of
    // conversations is allowed to see.
    ReadScreen = DRIVE, ActionTarget::Session(SessionAction::Looking), "Read the screen of a \
                                                                        session's terminal.";
    ReadSessionData = DRIVE, ActionTarget::Session(SessionAction::Telling), "Read the input and \
                                                                             answers of a session.";
    Attach = DRIVE, ActionTarget::Session(SessionAction::Sitting), "Attach to the terminal of a \
                                                                    session.";
    TypeKeys = DRIVE, ActionTarget::Session(SessionAction::Sitting), "Type in the terminal of a \
                                                                     session.";
    SendMessage = DRIVE, ActionTarget::Session(SessionAction::Messaging), "Send a message to a \
                                                                           session.";
    Interrupt = DRIVE, ActionTarget::Session(SessionAction::Steering), "Interrupt a session.";
    EndSession = DRIVE, ActionTarget::Session(SessionAction::Steering), "End a session.";
    ResumeSession = DRIVE, ActionTarget::Session(SessionAction::Sitting), "Resume an ended \
                                                                           session.";
    ListLinks = READ, ActionTarget::Own, "List links.";
    MakeLink = DRIVE, ActionTarget::Own, "Link sessions.";
    ReadLink = READ, ActionTarget::Link, "Read a link.";
    RegisterAgent = Need::Nothing, ActionTarget::Nowhere, "Register an agent, which gets its own \
                                                           credential.";
    ClaimAgent = Need::Nothing, ActionTarget::Nowhere, "Set the owner of an agent with its claim.";
    OpenConnection = Need::Nothing, ActionTarget::Nowhere, "Open a connection over which an agent \
                                                            identifies itself.";
    AttendTasks = Need::Proof(Scope::ThreadsRead), ActionTarget::Task, "Connect as a registered \
                                                                        agent.";
    LookUpAgents = READ, ActionTarget::Task, "Look up agents and their presence.";
    BeginTask = WRITE, ActionTarget::Task, "Request a task.";
    ReadTask = READ, ActionTarget::Task, "Read tasks and their messages.";
    LeaveTask = WRITE, ActionTarget::Task, "Leave a task.";
    ManageTask = WRITE, ActionTarget::Task, "Manage a task or an app; the task's rules decide who \
                                             may.";
    SayInTask = WRITE, ActionTarget::Task, "Post a message in a conversation of a task.";
    ListRegistrations = ADMIN, ActionTarget::Everywhere, "List registered agents.";
    RevokeAgent = ADMIN, ActionTarget::Everywhere, "Revoke the keys of a registered agent.";
    FreeAgent = ADMIN, ActionTarget::Everywhere, "Free the name of a registered agent.";
    BeginTaskFor = ADMIN, ActionTarget::Everywhere, "Begin a task for registered agents.";
    ListApps = ADMIN, ActionTarget::Everywhere, "List apps and the agents that manage their tasks.";
    TransferApp = ADMIN, ActionTarget::Everywhere, "Transfer an app and its tasks to another \
                                                    agent.";
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

    /// Returns the action that a caller must be allowed to take for this control.
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
            Control::Hold(_)
            | Control::Release(_)
            | Control::BindChat(_)
            | Control::UnbindChat(_) => Action::Bind,
            Control::RaiseBudget { .. } => Action::RaiseThreadBudget,
        }
    }
}
