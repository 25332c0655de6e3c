//! Everything that somebody can do here, in one table: what each needs, and where it reaches.
//!
//! There is no second table. Routes and tools name an [`Action`]; a command is one too, or several
//! where it asks for several things.

use moothall_kernel::command::{ClientCommand, Control};

use crate::access::{Scope, SessionAct};

/// What somebody has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing, and nothing is looked at.
    Nothing,
    /// A credential in token mode, whatever it allows; in local mode nothing.
    Entry,
    /// This scope. In local mode everybody has the scopes of conversations.
    Scope(Scope),
    /// A credential with this scope, in local mode too.
    Proof(Scope),
}

/// Where an action reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActsOn {
    /// No conversation is touched.
    Nowhere,
    /// One conversation: what is out of the caller's reach is not found.
    Thread,
    /// The conversation of one turn.
    Turn,
    /// Many conversations, of which the caller is shown those within reach.
    Reachable,
    /// Sessions and links that the caller sees, or something new that becomes theirs: not for
    /// credentials that are bound to conversations.
    Own,
    /// One session, and what is wanted of it.
    Session(SessionAct),
    /// Tasks, and conversations of tasks: the caller's own, by being admitted to them or in them.
    Task,
    /// One link: what is out of the caller's reach is not found.
    Link,
    /// The whole server: not for credentials that are bound to conversations.
    Everywhere,
}

const READ: Need = Need::Scope(Scope::ThreadsRead);
const WRITE: Need = Need::Scope(Scope::ThreadsWrite);
const CONTROL: Need = Need::Scope(Scope::TurnsControl);
const INVITE: Need = Need::Scope(Scope::ParticipantsInvite);
const MANAGE: Need = Need::Scope(Scope::ThreadsAdmin);
const ERASE: Need = Need::Proof(Scope::ThreadsAdmin);
const ADMIN: Need = Need::Proof(Scope::ServerAdmin);
/// Nothing that starts, types into, reads or ends a terminal is a conversation call.
const DRIVE: Need = Need::Proof(Scope::SessionsDrive);
const ANSWER: Need = Need::Proof(Scope::PermissionsAnswer);

macro_rules! actions {
    ($($name:ident = $need:expr, $place:expr, $meaning:literal;)*) => {
        /// Something that somebody can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $meaning] $name,)*
        }

        impl Action {
            /// Every action, in the order of the table.
            pub const ALL: &'static [Action] = &[$(Action::$name,)*];

            /// What a caller has to show for it.
            pub const fn need(self) -> Need {
                match self { $(Action::$name => $need,)* }
            }

            /// What it reaches, and so what a caller's reach has to include.
            pub const fn acts_on(self) -> ActsOn {
                match self { $(Action::$name => $place,)* }
            }
        }
    };
}

actions! {
    CheckHealth = Need::Nothing, ActsOn::Nowhere, "Ask whether the server is there.";
    SignIn = Need::Nothing, ActsOn::Nowhere, "Turn a credential into the cookie of a browser.";
    AcceptInvitation = Need::Nothing, ActsOn::Nowhere, "Turn an invitation into a token.";
    ReadDescription = Need::Entry, ActsOn::Nowhere, "Read what the interface is like.";
    ReadMetrics = Need::Entry, ActsOn::Everywhere, "Read what is counted.";
    AskWhoIAm = Need::Entry, ActsOn::Nowhere, "Ask whose credential this is.";
    SignOut = Need::Entry, ActsOn::Nowhere, "Sign a browser out.";
    CallTools = Need::Entry, ActsOn::Reachable, "Call tools, each of which is an action of its own.";
    HandOutInvitation = Need::Proof(Scope::ParticipantsInvite), ActsOn::Thread, "Make a code that lets somebody in.";
    ListTokens = ADMIN, ActsOn::Everywhere, "List tokens.";
    CreateToken = ADMIN, ActsOn::Everywhere, "Make a token.";
    RevokeToken = ADMIN, ActsOn::Everywhere, "Revoke a token.";
    ReadAudit = ADMIN, ActsOn::Everywhere, "Read the record of credentials and refusals.";
    ReadUsage = READ, ActsOn::Reachable, "Read what turns have cost.";
    ReadGuards = READ, ActsOn::Reachable, "Read what guards hold, and what is near its limit.";
    RaiseBudget = ADMIN, ActsOn::Everywhere, "Raise the budget of the hall, of an agent, or of a principal.";
    ListAgents = READ, ActsOn::Nowhere, "List the agents of the registry, and slash commands.";

    ListThreads = READ, ActsOn::Reachable, "List conversations.";
    BeginThread = WRITE, ActsOn::Own, "Begin a conversation.";
    ListenToAll = READ, ActsOn::Reachable, "Hear the notifications of conversations.";
    Search = READ, ActsOn::Reachable, "Search what was said.";
    ReadThread = READ, ActsOn::Thread, "Read a conversation, and listen to it.";
    ListTurns = READ, ActsOn::Thread, "Read who was asked, and why.";
    Preview = READ, ActsOn::Thread, "Ask who would answer a draft.";
    MarkRead = READ, ActsOn::Thread, "Note how far somebody has read.";
    ReadPresence = READ, ActsOn::Thread, "Read who is here.";
    TellPresence = WRITE, ActsOn::Thread, "Say how one is.";
    ReadContext = READ, ActsOn::Turn, "Read what an open turn is to answer: its participant's, and operators'.";

    Post = WRITE, ActsOn::Thread, "Send an event; what it says may need more, as the command that it is.";
    RunCommand = WRITE, ActsOn::Thread, "Run a slash command; what it does may need more, as the command that it is.";
    Say = WRITE, ActsOn::Thread, "Say something.";
    PostCustom = WRITE, ActsOn::Thread, "Keep an event of one's own kind.";
    Pass = WRITE, ActsOn::Thread, "End an own turn without words.";
    Rename = WRITE, ActsOn::Thread, "Give a conversation another title.";
    Archive = MANAGE, ActsOn::Thread, "Archive a conversation, or open it again.";
    Delete = ERASE, ActsOn::Thread, "Delete a conversation, with everything that was said in it.";
    Erase = ERASE, ActsOn::Thread, "Erase the words of an event.";
    Invite = INVITE, ActsOn::Thread, "Invite participants and take them out.";
    Steer = CONTROL, ActsOn::Thread, "Mute, pause, go on, change the rules of a conversation.";
    Prod = Need::Scope(Scope::AgentsRun), ActsOn::Thread, "Make an agent take a turn without a message.";
    Bind = MANAGE, ActsOn::Thread, "Send what is said to an outside target too.";
    RaiseThreadBudget = Need::Proof(Scope::TurnsControl), ActsOn::Thread, "Raise the budget of a conversation.";
    Stop = CONTROL, ActsOn::Thread, "Cancel every open turn.";
    CancelTurn = CONTROL, ActsOn::Turn, "Cancel one turn.";
    Publish = CONTROL, ActsOn::Thread, "Make words visible that were kept.";
    Gather = CONTROL, ActsOn::Thread, "End a gathering.";
    StartGathering = WRITE, ActsOn::Own, "Begin a gathering; bringing a session, or starting one, needs more.";
    ListGatherings = READ, ActsOn::Reachable, "List gatherings.";
    ReadGathering = READ, ActsOn::Thread, "Look how a gathering is.";
    AnswerPermission = ANSWER, ActsOn::Reachable, "Answer what an agent asks permission for.";

    ListSessions = READ, ActsOn::Own, "List sessions, and programs that can be started.";
    StartSession = DRIVE, ActsOn::Own, "Start a program in a terminal, or take one over.";
    ReadSession = READ, ActsOn::Session(SessionAct::Seeing), "Look how a session is.";
    // What a terminal shows, and what its program was told elsewhere, may be more than a reader of
    // conversations is to see.
    ReadScreen = DRIVE, ActsOn::Session(SessionAct::Looking), "Look at the terminal of a session.";
    ReadSessionData = DRIVE, ActsOn::Session(SessionAct::Telling), "Read what a session was asked and said.";
    Attach = DRIVE, ActsOn::Session(SessionAct::Sitting), "Sit down at the terminal of a session.";
    SendMessage = DRIVE, ActsOn::Session(SessionAct::Messaging), "Say something to a session.";
    Interrupt = DRIVE, ActsOn::Session(SessionAct::Steering), "Interrupt a session.";
    EndSession = DRIVE, ActsOn::Session(SessionAct::Steering), "End a session.";
    ResumeSession = DRIVE, ActsOn::Session(SessionAct::Sitting), "Run a session that ended again.";
    ListLinks = READ, ActsOn::Own, "List links.";
    MakeLink = DRIVE, ActsOn::Own, "Link sessions.";
    ReadLink = READ, ActsOn::Link, "Look at a link.";
    RegisterAgent = Need::Nothing, ActsOn::Nowhere, "Register an agent, which gets a credential of its own.";
    ClaimAgent = Need::Nothing, ActsOn::Nowhere, "Say whose an agent is, with the claim that it got.";
    OpenConnection = Need::Nothing, ActsOn::Nowhere, "Open a connection over which an agent says who it is.";
    AttendTasks = Need::Proof(Scope::ThreadsRead), ActsOn::Task, "Connect as an agent that registered.";
    LookUpAgents = READ, ActsOn::Task, "Look up agents, and whether they are here.";
    BeginTask = WRITE, ActsOn::Task, "Ask for a task.";
    ReadTask = READ, ActsOn::Task, "Read tasks, and what is said in them.";
    LeaveTask = WRITE, ActsOn::Task, "Leave a task.";
    ManageTask = WRITE, ActsOn::Task, "Manage a task, or an app: who may is the task's own to say.";
    SayInTask = WRITE, ActsOn::Task, "Say something in a conversation of a task.";
    ListRegistrations = ADMIN, ActsOn::Everywhere, "List agents that registered.";
    RevokeAgent = ADMIN, ActsOn::Everywhere, "Revoke the keys of an agent that registered.";
    FreeAgent = ADMIN, ActsOn::Everywhere, "Free the name of an agent that registered.";
    ListApps = ADMIN, ActsOn::Everywhere, "List apps, and the agents that manage their tasks.";
    TransferApp = ADMIN, ActsOn::Everywhere, "Give an app, and its tasks, to another agent.";
    FreeApp = ADMIN, ActsOn::Everywhere, "Take an app from its agent.";
    CloseLink = DRIVE, ActsOn::Link, "End a link.";
}

impl Action {
    /// What a command comes to. Controls that ask for several things are several actions.
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
