//! How an address names a session, and what is delivered to it.

use moothall_kernel::participant::{Address, Participant};

use crate::ports::{Session, SessionId};

/// The address kind of a participant that is a session.
pub const ADDRESS: &str = "session";

/// Where a session is reached.
pub fn address_of(session: &Session) -> Address {
    Address {
        computer: session.computer.clone(),
        kind: ADDRESS.into(),
        local_id: session.id.to_string(),
    }
}

/// The session that an address names.
pub fn named_by(address: &Address) -> Option<SessionId> {
    (address.kind == ADDRESS).then(|| SessionId::new(&address.local_id))
}

/// The session that a participant is.
pub fn session_of(participant: &Participant) -> Option<SessionId> {
    participant.address.as_ref().and_then(named_by)
}

/// Whether a participant is this session.
pub fn is_session(participant: &Participant, session: &SessionId) -> bool {
    session_of(participant).as_ref() == Some(session)
}

/// The delivery target of a session.
pub fn target(session: &SessionId) -> String {
    format!("{ADDRESS}:{session}")
}

/// The delivery target of a participant that is a session: what it is prompted with is a row in the
/// log.
pub fn target_of(participant: &Participant) -> Option<String> {
    session_of(participant).map(|session| target(&session))
}
