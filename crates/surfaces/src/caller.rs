//! Who asks, in the words of sessions.

use moothall_engine::access::Caller;
use moothall_engine::hall::Hall;
use moothall_engine::sessions::{Asker, Status};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;

use crate::error::ApiResult;
use crate::request;

/// The one who asks: a session, or somebody at a surface.
pub fn asker(caller: &Caller, by: Actor) -> Asker {
    caller.session().map_or(Asker::Actor(by), |session| Asker::Session(session.clone()))
}

/// The one who asks, as the rules of conversations know it: whoever the credential says, or else `from`, or else `user`.
pub fn actor(caller: &Caller, from: Option<&str>) -> ApiResult<Actor> {
    Ok(request::actor(caller, from)?.unwrap_or_else(|| Actor::unproven(ParticipantId::USER)))
}

/// The session whose program asks.
pub fn session(hall: &Hall, caller: &Caller) -> ApiResult<Option<Status>> {
    let Some(id) = caller.session() else { return Ok(None) };
    Ok(Some(hall.sessions()?.find(id.as_str())?))
}
