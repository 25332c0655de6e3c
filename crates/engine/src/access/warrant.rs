//! What a caller was allowed to do with a terminal or a program. Only the checks of this folder
//! make one, and the ports that type, start, look or end take nothing else.

use crate::ports::SessionId;
use crate::sessions::facts::Status;

/// What is wanted of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    /// To see that it is there, and what it is doing.
    Seeing,
    /// To say something to it. A session that has not met it asks a person first.
    Messaging,
    /// To link it, to invite it, and to read what it was told and said where the caller may read.
    Telling,
    /// To look at its terminal.
    Looking,
    /// To interrupt it and to end it.
    Steering,
    /// To sit down at its terminal, or to run it again: a person's.
    Sitting,
}
/// One session, and what its caller may do with it.
#[derive(Debug)]
pub struct Warrant {
    act: SessionAction,
    status: Status,
}

impl Warrant {
    pub(super) fn new(act: SessionAction, status: Status) -> Self {
        Self { act, status }
    }

    /// Returns what was allowed.
    pub fn act(&self) -> SessionAction {
        self.act
    }

    /// Returns the session that it is about.
    pub fn session(&self) -> &SessionId {
        &self.status.session.id
    }

    /// Returns the session as it was when this was allowed.
    pub fn into_status(self) -> Status {
        self.status
    }
}

/// Something that a caller asked for and may have: a program, a message, a link, a gathering.
#[derive(Debug)]
pub struct Authorized<T>(T);

impl<T> Authorized<T> {
    pub(super) fn new(wanted: T) -> Self {
        Self(wanted)
    }

    /// Returns what was asked for, to look at.
    pub fn wanted(&self) -> &T {
        &self.0
    }

    /// Returns what was asked for.
    pub fn into_inner(self) -> T {
        self.0
    }
}
