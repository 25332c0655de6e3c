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

    /// Returns the agent that takes the turns of a participant at this address. A session is begun
    /// for a participant without an address.
    fn agent(&self, _address: Option<&Address>) -> Arc<dyn Agent> {
        Arc::new(OnDemand::default())
    }

    /// Handles events before they are committed. `state` is the conversation before them.
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
    /// conversation before them.
    async fn after_commit(
        &self,
        _stream: &StreamId,
        _state: &Conversation,
        _events: &[RecordedEvent],
    ) {
    }

    /// Checks, before an answer counts, that a question still stands. If it does not, it is
    /// withdrawn when this returns.
    async fn see_question(&self, _stream: &StreamId, _permission: &PermissionId) {}

    /// Carries out what a person allowed, once, however often it is called. Then reports the
    /// outcome to the conversation.
    fn carry_out(&self, _stream: &StreamId, _request: &AllowedRequest) {}

    /// Returns the program that holds this secret.
    fn by_token(&self, _token: &str) -> Option<Resident> {
        None
    }

    /// True if the conversation is the home of a session, living or ended.
    fn is_home(&self, _stream: &StreamId) -> bool {
        false
    }

    /// Returns the reason for which a conversation cannot be deleted, and what to do; `None` if it
    /// can. A session lives in it, or it is a link that carries words.
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

    /// True if two sessions share a conversation that takes words. The home of either counts too.
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

    /// Resolves when the session has ended; at once for an unknown session.
    async fn wait_for_end(&self, _session: &SessionId) {}

    /// Resolves when the session's client does not reach everything any more; at once for an
    /// unknown session.
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

    /// Finds a session by its id, the beginning of its id, or its name. Among several with a name,
    /// prefers the living one, then the newest.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Invalid`], if the word means more than one.
    fn find(&self, word: &str) -> Result<Status, SessionError> {
        self.find_among(word, &|_| true)
    }

    /// Finds a session among those that a caller sees, as [`SessionDirectory::find`]. The answer
    /// reveals nothing about the others.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Invalid`], if the word means more than one.
    fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError>;

    /// Starts a program in a terminal, with a home for messages to it, once per key. The caller
    /// prevents concurrent calls with one key.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
    async fn start_once(
        &self,
        new: AuthorizedRequest<NewSession>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError>;

    /// Makes a session of a running program, once per key.
    ///
    /// # Errors
    /// [`SessionError`]; the program is left alone then.
    async fn observe_once(
        &self,
        new: AuthorizedRequest<NewObserved>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError>;

    /// Returns the folder in which an agent may start a program without asking a person; `None` if
    /// it has to ask.
    fn starts_alone(&self, new: &NewSession) -> Option<PathBuf>;

    /// Asks a person to allow the start of a program, in the home of the session that asks, or in
    /// `thread`. Returns the conversation and the permission.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is asked then.
    async fn ask_start(
        &self,
        thread: Option<&StreamId>,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<(StreamId, PermissionId), SessionError>;

    /// Asks a person, in the home of a session, if it may talk to another. Returns the conversation
    /// and the permission. The answer reveals nothing about the other session.
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

    /// Types into the session's terminal for a person, or releases it. Returns the time at which it
    /// is released without another request; `None` if it was released.
    ///
    /// # Errors
    /// [`SessionError`]; [`SessionError::Conflict`] if another person types there.
    async fn type_keys(
        &self,
        warrant: &Warrant,
        by: &Actor,
        request: TypingRequest,
    ) -> Result<Option<Timestamp>, SessionError>;

    /// Interrupts the session. Its turn is cancelled, if it has one.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn interrupt(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError>;

    /// Ends the session: its program, its turns, and its places in links. If its program has
    /// already exited, only the places are left to end.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn end(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError>;

    /// Runs the program of an ended session again.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
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

    /// Sends a message to a session, once per key.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was said then.
    async fn send_once(
        &self,
        message: AuthorizedRequest<Message>,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError>;

    /// Sends words to a session of another computer over the link of the two, or over their
    /// smallest link, which is then closed; once per key. Returns `None` if they have no such link.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was said then, unless only the closing failed.
    async fn send_elsewhere(
        &self,
        message: AuthorizedRequest<MessageElsewhere>,
        key: Option<Idempotency>,
    ) -> Result<Option<SendResult>, SessionError>;

    /// True if a session shares a link with a session of another computer, which is named by its
    /// id or name there.
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

    /// Begins a conversation with all members, or not at all. If one does not come, the programs
    /// started for it are ended.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is left of the conversation then.
    async fn convene(
        &self,
        new: AuthorizedRequest<ConversationPlan>,
    ) -> Result<StreamId, SessionError>;

    /// Makes a link, or returns the one with exactly these members.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was made then.
    async fn link(
        &self,
        new: AuthorizedRequest<NewLink>,
    ) -> Result<(Link, LinkState), SessionError>;

    /// Returns the active links, of one session or of all.
    ///
    /// # Errors
    /// [`SessionError`], if a link cannot be read.
    async fn links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError>;

    /// Returns the closed links that reopen once the sessions that they wait for are resumed or
    /// ended, of one session or of all.
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
