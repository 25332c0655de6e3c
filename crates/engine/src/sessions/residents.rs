//! The port to the sessions of a hall, wherever their programs run. The engine calls sessions only
//! through this port.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, StreamId};
use moothall_kernel::participant::Address;
use moothall_kernel::talk::TalkRequest;
use moothall_kernel::time::Timestamp;
use tokio::sync::broadcast;

use super::SessionId;
use super::convening::ConversationPlan;
use super::facts::{
    Asker, Excerpt, FirstWords, FolderList, FolderQuery, Link, LinkState, Message,
    MessageElsewhere, MessageReader, NewLink, NewObserved, NewSession, ResumedSession, SendResult,
    SessionData, SessionError, Status,
};
use super::host::{PaneNews, ProgramOffer, View};
use super::keystrokes::TypingRequest;
use super::on_demand::OnDemand;
use crate::access::reach::Reach;
use crate::access::warrant::{AuthorizedRequest, Warrant};
use crate::answers::Idempotency;
use crate::ports::{LogError, UnixUser};
use crate::runtime::agent::Agent;

/// The program of a session, as a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// The session that the program runs in.
    pub session: SessionId,
    /// The name of the session.
    pub name: ParticipantId,
    /// The conversations that the session may see.
    pub reach: Reach,
    /// The user of this computer that the program runs as; `None` for the server's own.
    pub run_as: Option<UnixUser>,
}

/// The hall's port to its sessions. The default methods are those of a hall without sessions.
#[async_trait]
pub trait Residents: Send + Sync + 'static {
    /// Returns the session directory; `None` on a server without sessions.
    fn directory(&self) -> Option<&dyn SessionDirectory> {
        None
    }

    /// Returns the agent that takes the turns of a participant at this address. For a participant
    /// without an address, that agent starts a session.
    fn agent(&self, _address: Option<&Address>) -> Arc<dyn Agent> {
        Arc::new(OnDemand::default())
    }

    /// Handles events before they are committed. `state` is the conversation before these events.
    ///
    /// # Errors
    /// [`LogError`]; nothing is committed then.
    async fn before_commit(
        &self,
        _stream: &StreamId,
        _state: &Conversation,
        _events: &[RecordedEvent],
    ) -> Result<(), LogError> {
        Ok(())
    }

    /// Handles events after they are committed, before any caller gets an answer. `state` is the
    /// conversation before these events.
    async fn after_commit(
        &self,
        _stream: &StreamId,
        _state: &Conversation,
        _events: &[RecordedEvent],
    ) {
    }

    /// Checks that a question is still open, before an answer to it counts. If the question is not
    /// open, it is withdrawn when this method returns.
    async fn see_question(&self, _stream: &StreamId, _permission: &PermissionId) {}

    /// Carries out a request that a person allowed. Further calls for the same request have no
    /// effect. Then reports the outcome to the conversation.
    fn carry_out(&self, _stream: &StreamId, _request: &AllowedRequest) {}

    /// Returns the session whose secret this is, as a caller.
    fn by_token(&self, _token: &str) -> Option<Resident> {
        None
    }

    /// True if the conversation is the home of a session, living or ended.
    fn is_home(&self, _stream: &StreamId) -> bool {
        false
    }

    /// Returns the reason why a conversation cannot be deleted, and the next step for people;
    /// `None` if it can be deleted. The reason is a session that lives in it, or a link that
    /// carries words.
    fn deletion_obstacle(&self, _stream: &StreamId) -> Option<String> {
        None
    }

    /// True if a session, living or ended, has or had a name that looks like this one.
    fn is_name_used(&self, _name: &ParticipantId) -> bool {
        false
    }

    /// Returns the name of a session that has ended; `None` for any other.
    fn ended_name(&self, _session: &SessionId) -> Option<String> {
        None
    }

    /// True if a living session has exactly this name.
    fn has_living(&self, _name: &ParticipantId) -> bool {
        false
    }

    /// True if two sessions share a conversation that takes words. The home of either session
    /// counts too.
    fn meet(&self, _one: &SessionId, _other: &SessionId) -> bool {
        false
    }

    /// True if the participant and the session share a conversation that takes words.
    ///
    /// # Errors
    /// [`SessionError`], if a conversation cannot be read.
    async fn shares(
        &self,
        _participant: &ParticipantId,
        _session: &SessionId,
    ) -> Result<bool, SessionError> {
        Ok(false)
    }

    /// Resolves when the session has ended. Resolves immediately for an unknown session.
    async fn wait_for_end(&self, _session: &SessionId) {}

    /// Resolves when the session's client does not reach everything any more. Resolves immediately
    /// for an unknown session.
    async fn reach_less(&self, _session: &SessionId) {}
}

/// A no-op implementation for a server without sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResidents;

impl Residents for NoResidents {}

/// Requests about sessions and links. The door checks the caller's rights. (`door/sessions.rs`)
#[async_trait]
pub trait SessionDirectory: Send + Sync {
    /// Returns the programs for terminals, in the order of their names.
    fn programs(&self) -> Vec<ProgramOffer>;

    /// Returns a folder and the folders inside it, as the user of a program sees them. An empty
    /// path is the folder in which the program works by default.
    ///
    /// # Errors
    /// [`SessionError`], if the program is unknown, or the folder cannot be read.
    async fn folders(
        &self,
        request: &AuthorizedRequest<FolderQuery>,
    ) -> Result<FolderList, SessionError>;

    /// Returns the living sessions, and the ended ones if wanted, oldest first.
    fn list(&self, include_ended: bool) -> Vec<Status>;

    /// Finds a session by its id, the beginning of its id, or its name. Of several sessions with
    /// one name, prefers the living session, then the newest.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Invalid`], if the word means more than one.
    fn find(&self, word: &str) -> Result<Status, SessionError> {
        self.find_among(word, &|_| true)
    }

    /// Finds a session among those that a caller sees, in the way of [`SessionDirectory::find`].
    /// The answer reveals nothing about the others.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Invalid`], if the word means more than one.
    fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError>;

    /// Starts a program in a terminal, with a home for messages to it. A second call with the same
    /// key returns the same session. The caller prevents concurrent calls with one key.
    ///
    /// # Errors
    /// [`SessionError`]. No program runs then, unless only its terminal could not be stored.
    async fn start_once(
        &self,
        new: AuthorizedRequest<NewSession>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError>;

    /// Makes a session of a running program. A second call with the same key returns the same
    /// session.
    ///
    /// # Errors
    /// [`SessionError`]; the program is not touched then.
    async fn observe_once(
        &self,
        new: AuthorizedRequest<NewObserved>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError>;

    /// Returns the folder in which an agent may start a program without asking a person; `None` if
    /// it has to ask.
    fn starts_alone(&self, new: &NewSession) -> Option<PathBuf>;

    /// Asks a person to allow the start of a program. The question is in the home of the session
    /// that asks, or in `thread`. Returns the conversation and the permission.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is asked then.
    async fn ask_start(
        &self,
        thread: Option<&StreamId>,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<(StreamId, PermissionId), SessionError>;

    /// Asks a person, in the home of the session `own`, if it may talk to another session. Returns
    /// the conversation and the permission. The answer reveals nothing about the other session.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is asked then.
    async fn ask_talk(
        &self,
        own: &SessionId,
        talk: TalkRequest,
    ) -> Result<(StreamId, PermissionId), SessionError>;

    /// Returns an invitation of a session under its own name.
    ///
    /// # Errors
    /// [`SessionError`], if the session has ended.
    fn invite(&self, id: &SessionId) -> Result<Invite, SessionError>;

    /// Returns the present screen of the session's terminal.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn screen(&self, warrant: &Warrant) -> Result<View, SessionError>;

    /// Subscribes to changes of the session's terminal.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn watch(&self, warrant: &Warrant)
    -> Result<broadcast::Receiver<PaneNews>, SessionError>;

    /// Returns the command with which a person on this computer opens the terminal and types into
    /// it.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn attach(&self, warrant: &Warrant) -> Result<Vec<String>, SessionError>;

    /// Types into the session's terminal for a person, or releases the terminal. Returns the time
    /// at which the terminal is released without another request; `None` if it was released.
    ///
    /// # Errors
    /// [`SessionError`]; [`SessionError::Conflict`] if another person types there.
    async fn type_keys(
        &self,
        warrant: &Warrant,
        by: &Actor,
        request: TypingRequest,
    ) -> Result<Option<Timestamp>, SessionError>;

    /// Interrupts the session. If it has a running turn, the turn is cancelled.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn interrupt(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError>;

    /// Ends the session: its program, its turns, and its places in links. If its program has exited
    /// before, only the places in links end.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn end(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError>;

    /// Runs the program of an ended session again.
    ///
    /// # Errors
    /// [`SessionError`]. The program does not run then, unless only a step after its start failed.
    async fn resume(&self, warrant: &Warrant, by: &Actor) -> Result<ResumedSession, SessionError>;

    /// Returns the links that a living session has not rejoined, each with the sessions that the
    /// link waits for.
    ///
    /// # Errors
    /// [`SessionError`] if a link cannot be read.
    async fn waits_of(
        &self,
        id: &SessionId,
    ) -> Result<BTreeMap<StreamId, Vec<SessionId>>, SessionError>;

    /// Sends a message to a session. A second call with the same key sends nothing.
    ///
    /// # Errors
    /// [`SessionError`]. No words were posted then, unless only the closing of the link failed.
    async fn send_once(
        &self,
        message: AuthorizedRequest<Message>,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError>;

    /// Sends words to a session of another computer, over the link that has exactly these two
    /// sessions. To close a link, sends the words over the smallest link that has both, and then
    /// closes that link. A second call with the same key sends no words. Returns `None` if the
    /// sessions do not have such a link.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was said then, unless only the closing failed.
    async fn send_elsewhere(
        &self,
        message: AuthorizedRequest<MessageElsewhere>,
        key: Option<Idempotency>,
    ) -> Result<Option<SendResult>, SessionError>;

    /// True if a session shares a link with a session of another computer. `word` is the other
    /// session's id, or its name on that computer.
    ///
    /// # Errors
    /// [`SessionError`], if a link cannot be read.
    async fn meets_elsewhere(
        &self,
        session: &SessionId,
        computer: &ComputerId,
        word: &str,
    ) -> Result<bool, SessionError>;

    /// Returns the messages that a session got, and its answers, as far as the reader may see them.
    ///
    /// # Errors
    /// [`SessionError`], if the session does not exist or cannot be read.
    async fn data(
        &self,
        warrant: &Warrant,
        excerpt: Excerpt,
        eyes: &MessageReader,
    ) -> Result<SessionData, SessionError>;

    /// Begins a conversation with all members, or not at all. If a member does not come, the
    /// programs that were started for the conversation are ended.
    ///
    /// # Errors
    /// [`SessionError`]; no open conversation is left then.
    async fn convene(
        &self,
        new: AuthorizedRequest<ConversationPlan>,
    ) -> Result<StreamId, SessionError>;

    /// Makes a link, or returns the existing link between exactly these members.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was made then.
    async fn link(
        &self,
        new: AuthorizedRequest<NewLink>,
    ) -> Result<(Link, LinkState), SessionError>;

    /// Returns the active links of one session, or of all sessions.
    ///
    /// # Errors
    /// [`SessionError`], if a link cannot be read.
    async fn links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError>;

    /// Returns the closed links, of one session or of all, that reopen when the sessions that they
    /// wait for are resumed or ended.
    ///
    /// # Errors
    /// [`SessionError`], if a link cannot be read.
    async fn waiting_links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError>;

    /// Returns a link, active or closed.
    ///
    /// # Errors
    /// [`SessionError::NoLink`], if the conversation is not a link.
    async fn link_of(&self, id: &StreamId) -> Result<Link, SessionError>;

    /// Ends a link for all its members. A person or any member may do so. (Ruling 27.)
    ///
    /// # Errors
    /// [`SessionError`].
    async fn close_link(&self, id: &StreamId, by: &Asker) -> Result<Link, SessionError>;
}
