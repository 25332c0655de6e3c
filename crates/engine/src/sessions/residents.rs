//! The port to those who live in a hall: sessions of programs, wherever these run. The engine knows
//! of them what stands here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, PermissionId, StreamId};
use moothall_kernel::participant::Address;
use moothall_kernel::talk::TalkRequest;
use tokio::sync::broadcast;

use super::SessionId;
use super::convening::ConversationPlan;
use super::facts::{
    Asker, Excerpt, MessageReader, FirstWords, Link, LinkState, Message, NewLink, NewObserved, NewSession,
    ResumedSession, SendResult, SessionData, SessionError, Status,
};
use super::host::{PaneNews, View};
use super::on_demand::OnDemand;
use crate::access::reach::Reach;
use crate::access::warrant::{Authorized, Warrant};
use crate::answers::Idempotency;
use crate::ports::{LogError, UnixUser};
use crate::runtime::agent::Agent;

/// The program of a session as somebody who asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// The session that the program runs in.
    pub session: SessionId,
    /// What the session is called.
    pub name: ParticipantId,
    /// The conversations that it may see.
    pub reach: Reach,
    /// The user of this computer that it runs as, where that is not the server's own.
    pub run_as: Option<UnixUser>,
}

/// What a hall asks of those who live in it. Where nothing is said, nobody does.
#[async_trait]
pub trait Residents: Send + Sync + 'static {
    /// What can be asked about sessions; nothing where there can be none.
    fn directory(&self) -> Option<&dyn SessionDirectory> {
        None
    }

    /// What takes the turns of a participant at this address; for one that has none yet, a session
    /// is begun.
    fn agent(&self, _address: Option<&Address>) -> Arc<dyn Agent> {
        Arc::new(OnDemand::default())
    }

    /// Hears what is about to be committed; `state` is how the conversation was before.
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

    /// Hears what was committed, before anybody is answered; `state` is how the conversation was
    /// before.
    async fn after_commit(&self, _stream: &StreamId, _state: &Conversation, _events: &[RecordedEvent]) {}

    /// Sees whether what was asked is asked still, before somebody answers it: what is not is
    /// withdrawn when this returns.
    async fn see_question(&self, _stream: &StreamId, _permission: &PermissionId) {}

    /// Carries out what a person allowed, once however often it is asked, and tells the
    /// conversation what came of it.
    fn carry_out(&self, _stream: &StreamId, _errand: &AllowedRequest) {}

    /// Whose program holds this secret.
    fn by_token(&self, _token: &str) -> Option<Resident> {
        None
    }

    /// Whether a conversation is the home of a session, living or ended.
    fn is_home(&self, _stream: &StreamId) -> bool {
        false
    }

    /// What keeps a conversation from being deleted, and the way forward: a session that lives in
    /// it, or a link that carries words.
    fn keeps(&self, _stream: &StreamId) -> Option<String> {
        None
    }

    /// Whether any session, living or ended, is or was called like this.
    fn was_called(&self, _name: &ParticipantId) -> bool {
        false
    }

    /// Whether a living session is called so.
    fn has_living(&self, _name: &ParticipantId) -> bool {
        false
    }

    /// True if two sessions are in a conversation together that takes words, the home of one of
    /// them included.
    fn meet(&self, _one: &SessionId, _other: &SessionId) -> bool {
        false
    }

    /// Whether a participant is somewhere where a session is.
    ///
    /// # Errors
    /// [`SessionError`] when that cannot be read.
    async fn shares(
        &self,
        _participant: &ParticipantId,
        _session: &SessionId,
    ) -> Result<bool, SessionError> {
        Ok(false)
    }

    /// Resolves when a session is over; at once where there is none.
    async fn over(&self, _session: &SessionId) {}

    /// Resolves when a session that reached everything does so no more; at once where there is
    /// none.
    async fn reach_less(&self, _session: &SessionId) {}
}

/// Nobody: of a hall in which nothing lives.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResidents;

impl Residents for NoResidents {}

/// What can be asked about sessions and links. The door says who may. (`door/sessions.rs`)
#[async_trait]
pub trait SessionDirectory: Send + Sync {
    /// The programs that can be started, with one sentence each.
    fn programs(&self) -> Vec<(String, String)>;

    /// All sessions that live, and those that ended too if wanted, oldest first.
    fn list(&self, include_ended: bool) -> Vec<Status>;

    /// A session by its id, the beginning of it, or its name. Of several with a name, the one that
    /// lives, or lived last.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], or [`SessionError::Invalid`] when more than one is meant.
    fn find(&self, word: &str) -> Result<Status, SessionError> {
        self.find_among(word, &|_| true)
    }

    /// Finds the same among the sessions that a caller sees. Of the others its answer tells
    /// nothing.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], or [`SessionError::Invalid`] when more than one is meant.
    fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError>;

    /// Starts a program with a home to talk to it in, once for a key. Of two at a time, the caller
    /// takes care.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
    async fn start_once(
        &self,
        new: Authorized<NewSession>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError>;

    /// Makes a session of a program that runs already, once for a key.
    ///
    /// # Errors
    /// [`SessionError`]; the program is left alone then.
    async fn observe_once(
        &self,
        new: Authorized<NewObserved>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError>;

    /// The folder in which an agent may start a program without asking anybody; nothing where it
    /// has to ask.
    fn starts_alone(&self, new: &NewSession) -> Option<PathBuf>;

    /// Asks people whether a program may be started, in the home of the session that asks, or in
    /// `thread`. The answer is the conversation and the permission.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is asked then.
    async fn ask_start(
        &self,
        thread: Option<&StreamId>,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<(StreamId, PermissionId), SessionError>;

    /// Asks people, in the home of a session, if it may talk to another. The answer is the
    /// conversation and the permission, and tells nothing about the other.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is asked then.
    async fn ask_talk(
        &self,
        own: &SessionId,
        talk: TalkRequest,
    ) -> Result<(StreamId, PermissionId), SessionError>;

    /// How a session takes part in a conversation, under its own name.
    ///
    /// # Errors
    /// [`SessionError`] when it does not live.
    fn invite(&self, id: &SessionId) -> Result<Invite, SessionError>;

    /// What its terminal shows.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn screen(&self, warrant: &Warrant) -> Result<View, SessionError>;

    /// Listens to its terminal.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn watch(&self, warrant: &Warrant)
    -> Result<broadcast::Receiver<PaneNews>, SessionError>;

    /// The command with which a person on this computer looks at it and types into it.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn attach(&self, warrant: &Warrant) -> Result<Vec<String>, SessionError>;

    /// Interrupts what it is doing: its turn is cancelled, if it has one.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn interrupt(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError>;

    /// Ends it: its program, its turns, its place in links. If its program went by itself or with
    /// the computer, its places are what is left to end.
    ///
    /// # Errors
    /// [`SessionError`].
    async fn end(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError>;

    /// Runs the program of a session that ended again.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
    async fn resume(&self, warrant: &Warrant, by: &Actor) -> Result<ResumedSession, SessionError>;

    /// Returns the links that a living session is not back in, each with the sessions for which
    /// the link waits.
    ///
    /// # Errors
    /// [`SessionError`] if a link cannot be read.
    async fn waits_of(
        &self,
        id: &SessionId,
    ) -> Result<BTreeMap<StreamId, Vec<SessionId>>, SessionError>;

    /// Sends words to a session, once for a key.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was said then.
    async fn send_once(
        &self,
        message: Authorized<Message>,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError>;

    /// What a session was asked and said, as far as these eyes see.
    ///
    /// # Errors
    /// [`SessionError`] when it does not exist or cannot be read.
    async fn data(
        &self,
        warrant: &Warrant,
        excerpt: Excerpt,
        eyes: &MessageReader,
    ) -> Result<SessionData, SessionError>;

    /// Begins a conversation with all who come, or with nobody: then nothing that was started for
    /// it runs on.
    ///
    /// # Errors
    /// [`SessionError`]; nothing is left of it then.
    async fn convene(&self, new: Authorized<ConversationPlan>) -> Result<StreamId, SessionError>;

    /// Makes a link, or finds the one that has just these members.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was made then.
    async fn link(&self, new: Authorized<NewLink>) -> Result<(Link, LinkState), SessionError>;

    /// The links that carry words now, of one session or of all.
    ///
    /// # Errors
    /// [`SessionError`] when one cannot be read.
    async fn links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError>;

    /// Returns the closed links that come back once the sessions that they wait for are resumed or
    /// ended, of one session or of all.
    ///
    /// # Errors
    /// [`SessionError`] if one cannot be read.
    async fn waiting_links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError>;

    /// A link, active or closed.
    ///
    /// # Errors
    /// [`SessionError::NoLink`] when the conversation is none.
    async fn link_of(&self, id: &StreamId) -> Result<Link, SessionError>;

    /// Ends a link for all its members. A person may, and so may any member. (Ruling 27.)
    ///
    /// # Errors
    /// [`SessionError`].
    async fn close_link(&self, id: &StreamId, by: &Asker) -> Result<Link, SessionError>;
}
