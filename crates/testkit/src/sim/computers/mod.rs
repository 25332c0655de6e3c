//! Computers that owe each other rows, and a post between them that loses, repeats, delays and
//! reorders. A computer can pause, die and start again at every step, and its log can be restored
//! from an earlier state. In two of three worlds the computers also converse: sessions take turns
//! for conversations of other computers, and have links with each other.
//!
//! The halls, their logs, the pairs and the whole bridge are the real ones, with their tasks on one
//! thread under virtual time. Simulated are the post, the people who owe rows, converse and pair
//! computers, and the sessions with their terminals. Watchers around the log and the post see each
//! operation before and after it. There a process dies, and there the checks look.

mod rows;
mod life;
mod ledger;
mod check;
mod log;
mod post;
mod turns;
mod terminal;
mod sessions;
mod links;
mod hall;
mod world;
mod acts;
mod talk;

use moothall_kernel::planted::Bug;

use super::Report;
use world::ComputersWorld;

/// True if a bug is planted in the rows between computers.
pub(super) fn is_of_computers(bug: Bug) -> bool {
    matches!(
        bug,
        Bug::AcknowledgedBeforeTaken
            | Bug::MarkApart
            | Bug::NumberUsedAgain
            | Bug::RestoredSenderGoesOn
            | Bug::NonceTwice
            | Bug::HostedMerged
            | Bug::HostedTwice
            | Bug::PartedStillTyped
            | Bug::CancelledAnswerTaken
            | Bug::HomeChosenTwice
            | Bug::RefusedLeftOpen
    )
}

/// Plays the life of two or three computers, to its end or an objection.
pub(super) fn run(seed: u64, with_story: bool) -> Report {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    let runtime = runtime.unwrap_or_else(|error| unreachable!("one thread has a runtime: {error}"));
    runtime.block_on(async {
        let mut world = ComputersWorld::new(seed, with_story);
        let objection = world.live().await.err();
        world.report(seed, objection)
    })
}
