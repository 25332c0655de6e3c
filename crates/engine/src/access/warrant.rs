//! Proofs that a caller may use a terminal or a program. Only the checks of this folder make one,
//! and the ports that type, start, look or end accept nothing else.

use crate::ports::SessionId;
use crate::sessions::facts::Status;

/// An act on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    /// Seeing that the session exists, and its state.
    Seeing,
    /// Sending a message. A session that has not met this one asks a person first.
    Messaging,
    /// Linking and inviting the session, and reading the words to it and from it in conversations
    /// within reach.
    Telling,
    /// Looking at the session's terminal.
    Looking,
    /// Interrupting or ending the session.
    Steering,
    /// Attaching to the terminal, typing in it, or running the session again. Only for people.
    Sitting,
}
/// The right to one act on one session.
#[derive(Debug)]
pub struct Warrant {
    act: SessionAction,
    status: Status,
}

impl Warrant {
    pub(super) fn new(act: SessionAction, status: Status) -> Self {
        Self { act, status }
    }

    /// Returns the act that is allowed.
    pub fn act(&self) -> SessionAction {
        self.act
    }

    /// Returns the session.
    pub fn session(&self) -> &SessionId {
        &self.status.session.id
    }

    /// Returns the session's status at the time of the check.
    pub fn into_status(self) -> Status {
        self.status
    }
}

/// A request that its caller may make: for a program, a message, a link or a gathering.
#[derive(Debug)]
pub struct AuthorizedRequest<T>(T);

impl<T> AuthorizedRequest<T> {
    pub(super) fn new(wanted: T) -> Self {
        Self(wanted)
    }

    /// Returns the request.
    pub fn wanted(&self) -> &T {
        &self.0
    }

    /// Returns the request. The proof is used up.
    pub fn into_inner(self) -> T {
        self.0
    }
}
