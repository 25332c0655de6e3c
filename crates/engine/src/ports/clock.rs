//! The port to the time, and the clock of the system.

use moothall_kernel::time::Timestamp;

/// Reads the time. The engine has no other clock.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time at this moment.
    fn now(&self) -> Timestamp;
}

/// The clock of this computer, to the millisecond.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
