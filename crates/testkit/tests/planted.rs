//! Every bug planted in the engine or the kernel has to be caught by a checker that watches the
//! broken promise.

use moothall_testkit::sim::{self, Bug, known_seed};
use strum::VariantArray;

/// Returns the checkers that may catch a bug first.
fn watchers(bug: Bug) -> &'static [&'static str] {
    match bug {
        Bug::AcknowledgeBeforeCommit => &["acknowledged"],
        // Readers may see an unsaved event before its acknowledgement is checked.
        Bug::FencedWriterGoesOn => &["acknowledged", "audience"],
        Bug::NoAttemptFencing => &["words"],
        Bug::LostWakeUp => &["turns", "silence", "piece", "owed"],
        Bug::CauseCoveredTwice => &["coverage"],
        Bug::GuardNotRestored => &["guards"],
        Bug::AudienceLeak | Bug::PublishBeforeCommit => &["audience"],
        Bug::TimeGoesBackwards => &["order", "invariants"],
        Bug::ArchiveLeavesTurns => &["invariants"],
        Bug::DuplicateClaim => &["claims"],
        Bug::NoEpochFencing => &["fencing", "order"],
        Bug::RetryRunsTwice => &["words"],
        Bug::DowntimeForgotten => &["deadlines"],
        Bug::RetryLostWhenFull => &["words", "turns", "deadlines"],
        Bug::ChargedTwice | Bug::ChargeNotGivenBack => &["purses"],
        Bug::AnswersSwapped => &["answers"],
        Bug::SilenceIsConsent => &["consent"],
        Bug::CommandClaimLapses => &["errands"],
        Bug::CancelForgotten => &["runtimes"],
        Bug::SnapshotForgets => &["snapshots"],
        Bug::CooldownDrops | Bug::ReplyAddressesNobody | Bug::AskForcesNobody => &["owed"],
        Bug::CancelledIsAskedAgain
        | Bug::LateAnswerChargedToNewest
        | Bug::FirstMessageNotReserved
        | Bug::OlderCauseAskedAgain
        | Bug::ReactsTwice
        | Bug::OwnWordsPassGuards => &["limits"],
        Bug::PatienceForgotten | Bug::RoundWaitsOn => &["deadlines"],
        Bug::ReaderGetsTurns => &["silence"],
        Bug::TypedBeforeKept => &["kept"],
        Bug::TypedAgain => &["kept", "typed"],
        Bug::ScreenIsProof => &["typed"],
        Bug::AnyTagAccepted => &["words"],
        Bug::AnswerPressedBlindly => &["keys"],
        Bug::AcknowledgedBeforeTaken => &["acknowledged"],
        Bug::MarkApart => &["taken"],
        Bug::NumberUsedAgain | Bug::RestoredSenderGoesOn => &["numbers"],
        Bug::NonceTwice => &["nonces"],
        Bug::HostedMerged => &["cause"],
        Bug::HostedTwice => &["hosted"],
        Bug::PartedStillTyped => &["parted"],
        Bug::CancelledAnswerTaken => &["words"],
        Bug::HomeChosenTwice => &["links"],
        Bug::RefusedLeftOpen => &["open"],
    }
}

#[test]
fn every_planted_bug_is_caught() {
    for &bug in Bug::VARIANTS {
        let caught = sim::run(known_seed(bug), Some(bug), false).objection;
        let Some(objection) = caught else {
            panic!("{bug:?} was not caught with seed {}", known_seed(bug))
        };
        assert!(
            watchers(bug).contains(&objection.checker),
            "{bug:?} was noticed by {}: {}",
            objection.checker,
            objection.message
        );
    }
}

#[test]
fn a_bug_has_one_name() {
    assert_eq!("LostWakeUp".parse(), Ok(Bug::LostWakeUp));
    assert!("lost".parse::<Bug>().is_err());
}
