//! Bugs planted on purpose, in the rules and in the engine: a simulator that never fails proves
//! nothing.
//!
//! They exist only with the cargo feature `planted-bugs`, which releases do not have. A bug acts
//! only after [`plant`] chose it.

/// A bug that the simulator has to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::VariantArray)]
pub enum Bug {
    /// A request is answered when it is decided, before it is appended.
    AcknowledgeBeforeCommit,
    /// Readers are notified before the append.
    PublishBeforeCommit,
    /// A report of an old attempt counts for the current attempt.
    NoAttemptFencing,
    /// Some timers never fire.
    LostWakeUp,
    /// A turn's range includes events that an earlier turn covered.
    CauseCoveredTwice,
    /// A replay forgets that a guard held the floor.
    GuardNotRestored,
    /// A participant is shown words that were kept in the trace.
    AudienceLeak,
    /// Events carry the clock's time although the clock went backwards.
    TimeGoesBackwards,
    /// A claimed key is given to a second stream.
    DuplicateClaim,
    /// A writer that was replaced can still append.
    NoEpochFencing,
    /// A repeated request takes effect again.
    RetryRunsTwice,
    /// Deadlines keep running while the server is down.
    DowntimeForgotten,
    /// The engine's own retries are dropped when the disk is full.
    RetryLostWhenFull,
    /// A writer that was replaced continues as if its append had succeeded.
    FencedWriterGoesOn,
    /// A decision's charges are taken from the budgets twice.
    ChargedTwice,
    /// Charges of a decision that was not appended are not given back.
    ChargeNotGivenBack,
    /// Requests that were decided together get each other's answers.
    AnswersSwapped,
    /// A runtime is not told that its turn was cancelled.
    CancelForgotten,
    /// Turns stay open in an archived conversation.
    ArchiveLeavesTurns,
    /// A state read from a snapshot has lost the recent words of the repeat guard.
    SnapshotForgets,
    /// A message is decided although the app's manager did not agree to it in time.
    SilenceIsConsent,
    /// The claim of a command from another stream lapses before its delivery is settled.
    CommandClaimLapses,
    /// An agent that is cooling down is skipped for a person's message instead of asked later.
    CooldownDrops,
    /// An agent whose turn a person cancelled is asked again about the same message.
    CancelledIsAskedAgain,
    /// An agent whose turn broke off is asked again about an older message of that turn.
    OlderCauseAskedAgain,
    /// The end of a round's patience is never checked.
    PatienceForgotten,
    /// A round keeps waiting for its turn although another message has waited for its patience.
    RoundWaitsOn,
    /// A late answer is charged to the newest message.
    LateAnswerChargedToNewest,
    /// A widened turn that may still start with its earlier causes reserves no reply to their
    /// messages.
    FirstMessageNotReserved,
    /// A read-only client is granted turns.
    ReaderGetsTurns,
    /// An agent that has reacted to a message is asked to react again.
    ReactsTwice,
    /// A person's reply to an agent does not address that agent.
    ReplyAddressesNobody,
    /// The agents that a person names with `/ask` are not asked.
    AskForcesNobody,
    /// A prompt is typed before its delivery is stored as being sent.
    TypedBeforeKept,
    /// A prompt that the program does not confirm is typed a second time.
    TypedAgain,
    /// A screen without a trace of a prompt counts as proof that it was never typed.
    ScreenIsProof,
    /// A report about another turn's prompt counts for the current turn.
    AnyTagAccepted,
    /// Agents' own words are checked by no guard.
    OwnWordsPassGuards,
    /// An answer is pressed without a look at the dialog.
    AnswerPressedBlindly,
    /// Rows of another computer are acknowledged before the log has taken them.
    AcknowledgedBeforeTaken,
    /// The mark of a row is written in another append than the row.
    MarkApart,
    /// Numbers of rows for another computer are counted from the rows that are open.
    NumberUsedAgain,
    /// A log that was restored continues the channels of the log before.
    RestoredSenderGoesOn,
    /// A restarted server seals with the keys and the counter of its former start.
    NonceTwice,
    /// An answer in the home of a session covers a waiting turn of another computer.
    HostedMerged,
    /// An offer of a turn that is open already is taken again.
    HostedTwice,
    /// Turns that wait stay open when their session leaves the conversation.
    PartedStillTyped,
    /// An answer counts for the open turn of its participant, whichever turn it is about.
    CancelledAnswerTaken,
    /// A link lives on the computer that asks for it.
    HomeChosenTwice,
    /// The refusal of an offer leaves its turn open.
    RefusedLeftOpen,
}

/// An authority check that is left out: the access tests have to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray)]
pub enum Bypass {
    /// Words are typed into a terminal without checking that their caller drives sessions.
    Typing,
    /// An invitation brings a terminal without checking that its caller drives sessions.
    Granting,
    /// An agent starts a program without a card for a person.
    Starting,
    /// A caller whose process is not known triggers a turn that runs a program.
    Spending,
    /// An agent brings a person into a conversation.
    Seating,
    /// A credential reads a conversation beyond its reach.
    Reading,
    /// A credential speaks under the name of another.
    Naming,
    /// An invitation forgets its maker, so that its code works after the maker was removed.
    Returning,
}

#[cfg(feature = "planted-bugs")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
    static OPEN: std::cell::Cell<Option<Bypass>> = const { std::cell::Cell::new(None) };
}

/// Disables one check, or none, in this thread until the next call.
#[cfg(feature = "planted-bugs")]
pub fn open(bypass: Option<Bypass>) {
    OPEN.set(bypass);
}

/// True if this check is disabled.
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

/// Plants one bug, or none, in this thread until the next call.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Does nothing: the cargo feature `planted-bugs` is off.
#[cfg(not(feature = "planted-bugs"))]
pub fn plant(_bug: Option<Bug>) {}

/// True if this bug is planted in this thread.
#[cfg(feature = "planted-bugs")]
pub fn has(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Returns `false`: the cargo feature `planted-bugs` is off.
#[cfg(not(feature = "planted-bugs"))]
#[inline(always)]
pub const fn has(_bug: Bug) -> bool {
    false
}
