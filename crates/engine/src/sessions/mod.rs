//! Sessions, as the engine knows them: the ports between a hall and its sessions, and the facts
//! about sessions, their programs, terminals and reports.
//!
//! A session is one live run of a program. It has a *home*: a conversation of its own, whose id is
//! the session's id. The home has the words that people and other sessions send to this session
//! alone, and the words that a person types in its terminal. In every other conversation a session
//! is a participant whose address names it. The crate `terminals` implements sessions through
//! [`Residents`], as any other way to run programs would.

mod address;
mod convening;
pub(crate) mod facts;
mod host;
mod hooks;
mod keystrokes;
mod on_demand;
mod picture;
mod residents;

pub use address::{ADDRESS, address_of, is_session, named_by, session_of, target, target_of};
pub use convening::{ConversationPlan, JoiningSession, SessionSource};
pub use facts::{
    Activity, Asker, ClientRights, Excerpt, FirstWords, FolderList, FolderQuery, GatheringPlace,
    LINK_EXCHANGES_MAX, Link, LinkState, Member, Message, MessageElsewhere, MessageReader, NewLink,
    NewObserved, NewSession, RemoteMember, ResumedSession, SendResult, SessionData, SessionError,
    SessionLine, Status, check_working_folder,
};
pub use hooks::{Hook, HookNews, Permit, ReportOutcome, ReportedChoice, ReportedQuestion};
pub use host::{
    AdoptRequest, Dialog, Field, FolderEntry, HostFault, Key, LastWords, Launch, NewestTurn,
    PaneNews, PaneState, Paste, PasteReport, ProgramOffer, Record, RecordEnd, RecordQuery, Reports,
    ResumeArgs, SessionHost, View,
};
pub use keystrokes::{KEYSTROKES_MAX, Keystroke, NamedKey, TYPED_BYTES_MAX, TypingRequest};
pub use on_demand::{OnDemand, fail_turn};
pub use picture::{CellColor, CellStyle, CursorCell, Picture, StyledRun};
pub use residents::{NoResidents, Resident, Residents, SessionDirectory};

pub use crate::access::reach::ReachableStreams;
pub use crate::ports::{LeftLink, Origin, Pane, Session, SessionId, Starter, UnixUser};
