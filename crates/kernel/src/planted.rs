//! Bugs planted on purpose, in the rules and in the engine: a simulator that never fails proves
//! nothing.
//!
//! Only with the cargo feature `planted-bugs`, which no release has, and only where one was chosen
//! by [`plant`]; otherwise all of this is nothing.

/// A slip that the simulator has to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::VariantArray)]
pub enum Bug {
    /// A request is answered when it is decided, before it is appended.
    AcknowledgeBeforeCommit,
    /// Readers are told before the append.
    PublishBeforeCommit,
    /// A report of an old attempt is taken for one of the current attempt.
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
    /// A repeated request takes effect again.
    RetryRunsTwice,
    /// Deadlines run on while the server was down.
    DowntimeForgotten,
    /// What the engine owes is forgotten when the disk is full.
    RetryLostWhenFull,
    /// A writer that was replaced goes on as if its append were kept.
    FencedWriterGoesOn,
    /// What a decision spends is taken from the purses twice.
    ChargedTwice,
    /// What was spent on something that was not kept is not given back.
    ChargeNotGivenBack,
    /// Requests that were decided together get each other's answers.
    AnswersSwapped,
    /// A runtime is not told that nobody wants its turn any more.
    CancelForgotten,
    /// Turns go on in a conversation that is archived.
    ArchiveLeavesTurns,
    /// A state that is read back has forgotten what was said last.
    SnapshotForgets,
    /// What nobody agreed to in time is decided all the same.
    SilenceIsConsent,
    /// The claim of a command from another stream lapses before its delivery is settled.
    CommandClaimLapses,
    /// A person's message is not put before somebody who spoke a moment ago.
    CooldownDrops,
    /// Whose turn a person cancelled is asked again for the same message.
    CancelledIsAskedAgain,
    /// Whose turn broke off is asked again for a message that the turn was about and not asked for
    /// last.
    OlderCauseAskedAgain,
    /// Nobody looks whether a round has waited long enough.
    PatienceForgotten,
    /// A round waits for its turn although another message has waited as long as it may.
    RoundWaitsOn,
    /// An answer that comes late counts for the message that is dealt with now.
    LateAnswerChargedToNewest,
    /// A turn that got another cause, and may still begin without it, has no reply to its earlier
    /// messages kept for it.
    FirstMessageNotReserved,
    /// A client that only reads is given turns.
    ReaderGetsTurns,
    /// Whoever has reacted to a message is asked to react again.
    ReactsTwice,
    /// A reply to an agent does not address it.
    ReplyAddressesNobody,
    /// Whom a person has answer is not asked.
    AskForcesNobody,
    /// A prompt is typed before it is kept that it will be.
    TypedBeforeKept,
    /// A prompt of which the program says nothing is typed once more.
    TypedAgain,
    /// A screen without a trace of a prompt is taken for proof that it was never typed.
    ScreenIsProof,
    /// A report of any turn's prompt counts for the current one.
    AnyTagAccepted,
    /// The own words of agents pass no guard.
    OwnWordsPassGuards,
    /// An answer is pressed without a look at the dialog.
    AnswerPressedBlindly,
}

/// A question of authority that is left out: the table of who reaches what has to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray)]
pub enum Bypass {
    /// Words are typed into a terminal without the question whether their caller drives sessions.
    Typing,
    /// An invitation brings a terminal without the question whether its caller drives sessions.
    Granting,
    /// An agent starts a program without a card for a person.
    Starting,
    /// A caller whose process is not known sets off a turn that runs a program.
    Spending,
    /// An agent seats a person.
    Seating,
    /// A conversation beyond the reach of a credential is read.
    Reading,
    /// A credential speaks under the name of another.
    Naming,
    /// An invitation forgets who made it, so that its code opens after its maker was thrown out.
    Returning,
}

#[cfg(feature = "planted-bugs")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
    static OPEN: std::cell::Cell<Option<Bypass>> = const { std::cell::Cell::new(None) };
}

/// Leaves one question out in this thread from now on, or none.
#[cfg(feature = "planted-bugs")]
pub fn open(bypass: Option<Bypass>) {
    OPEN.set(bypass);
}

/// Returns whether a question is left out.
#[cfg(feature = "planted-bugs")]
pub fn is_open(bypass: Bypass) -> bool {
    OPEN.get() == Some(bypass)
}

/// Returns `false`: the cargo feature `planted-bugs` is off.
#[cfg(not(feature = "planted-bugs"))]
#[inline(always)]
pub const fn is_open(_bypass: Bypass) -> bool {
    false
}

/// From now on, everything in this thread has this bug, or none.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Nothing: the cargo feature `planted-bugs` is off.
#[cfg(not(feature = "planted-bugs"))]
pub fn plant(_bug: Option<Bug>) {}

/// Whether this bug was planted.
#[cfg(feature = "planted-bugs")]
pub fn has(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Never: the cargo feature `planted-bugs` is off.
#[cfg(not(feature = "planted-bugs"))]
#[inline(always)]
pub const fn has(_bug: Bug) -> bool {
    false
}
