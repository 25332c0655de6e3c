//! Conversion of host and log errors into session errors.

use moothall_engine::ports::LogError;
use moothall_engine::sessions::{HostFault, SessionError};

/// Converts a fault of the terminals' host to the error of a session.
pub(super) fn host_error(fault: HostFault) -> SessionError {
    match fault {
        HostFault::Unavailable(why) => SessionError::Unavailable(why),
        HostFault::UnknownProgram(why) => SessionError::Invalid(why),
        HostFault::Refused(why) => SessionError::Conflict(why),
        HostFault::Gone(why) => SessionError::NoPane(why),
        HostFault::Failed(why) => SessionError::Host(why),
    }
}

pub(super) fn log_error(error: LogError) -> SessionError {
    SessionError::Hall(error.into())
}
