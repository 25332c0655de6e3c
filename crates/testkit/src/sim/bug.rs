//! Bugs planted on purpose: a simulator that never fails proves nothing.
//!
//! Each is a slip of the host, or of the log, or a distortion of what the kernel decided; the kernel itself is never touched.

/// A slip that the checkers have to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A command is answered when it is decided, before it is on disk.
    AcknowledgeBeforeCommit,
    /// A result of a superseded attempt is taken for one of the current attempt.
    NoAttemptFencing,
    /// Some alarms never ring.
    LostWakeUp,
    /// A turn's range begins again at what an earlier turn has covered.
    CauseCoveredTwice,
    /// A replay forgets that a guard held the floor.
    GuardNotRestored,
    /// A participant is shown what was kept in the trace.
    AudienceLeak,
    /// Events carry the computer's time although it went backwards.
    TimeGoesBackwards,
    /// A key is given to a second stream.
    DuplicateClaim,
    /// A writer that was replaced can still append.
    NoEpochFencing,
    /// Readers are told before the append.
    PublishBeforeCommit,
    /// A repeated request takes effect again.
    RetryRunsTwice,
    /// Deadlines run on while the server was down.
    DowntimeForgotten,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 12] = [
        Bug::AcknowledgeBeforeCommit,
        Bug::NoAttemptFencing,
        Bug::LostWakeUp,
        Bug::CauseCoveredTwice,
        Bug::GuardNotRestored,
        Bug::AudienceLeak,
        Bug::TimeGoesBackwards,
        Bug::DuplicateClaim,
        Bug::NoEpochFencing,
        Bug::PublishBeforeCommit,
        Bug::RetryRunsTwice,
        Bug::DowntimeForgotten,
    ];
}
