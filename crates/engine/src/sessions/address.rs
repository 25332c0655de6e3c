//! Addresses and delivery targets of sessions.

use moothall_kernel::participant::{Address, Participant};

use crate::ports::{Session, SessionId, Target};

/// The address kind of a participant that is a session.
pub const ADDRESS: &str = "session";

/// Returns the address of a session.
pub fn address_of(session: &Session) -> Address {
    Address {
        computer: session.computer.clone(),
        kind: ADDRESS.into(),
        local_id: session.id.to_string(),
    }
}

/// Returns the session of this computer that an address names; `None` for other addresses.
pub fn named_by(address: &Address) -> Option<SessionId> {
    address.here(ADDRESS).map(SessionId::new)
}

/// Returns the session of this computer that is this participant; `None` for any other participant.
pub fn session_of(participant: &Participant) -> Option<SessionId> {
    participant.address.as_ref().and_then(named_by)
}

/// True if the participant is this session.
pub fn is_session(participant: &Participant, session: &SessionId) -> bool {
    session_of(participant).as_ref() == Some(session)
}

/// Returns the delivery target of a session.
pub fn target(session: &SessionId) -> Target {
    Target::Session(session.clone())
}

/// Returns the delivery target of a participant that is a session of this computer; `None` for
/// others. Each prompt for such a participant is a row in the log.
pub fn target_of(participant: &Participant) -> Option<Target> {
    session_of(participant).map(Target::Session)
}
