//! The errors with which the post answered last. A Redis may answer a ping and still refuse the
//! commands of this computer: its memory is used up, it became a replica, or its user lacks a
//! right.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::lock;
use crate::post::PostError;

/// A use of the post, which may fail while the others succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PostUse {
    Renewing,
    Reading,
    Putting,
}

/// The last error of each use of the post, until that use succeeds or the post is away.
#[derive(Default)]
pub(super) struct PostRefusals(Mutex<BTreeMap<PostUse, PostError>>);

impl PostRefusals {
    /// Notes the outcome of a use.
    pub(super) fn note<T>(&self, of: PostUse, outcome: &Result<T, PostError>) {
        match outcome {
            // The status pings the Redis, and so shows by itself that the Redis is away.
            Ok(_) | Err(PostError::Away(_)) => lock(&self.0).remove(&of),
            // A renewal finds the memory full too, and shows within seconds if there is room again.
            // Entries are put only now and then, so their error would be shown for too long.
            Err(PostError::Full) if of == PostUse::Putting => None,
            Err(error) => lock(&self.0).insert(of, error.clone()),
        };
    }

    /// Returns an error that has not ended, if there is one.
    pub(super) fn current(&self) -> Option<PostError> {
        lock(&self.0).values().next().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_lasts_until_the_same_use_succeeds() {
        let refusals = PostRefusals::default();
        refusals.note::<()>(PostUse::Renewing, &Err(PostError::Full));
        refusals.note::<()>(PostUse::Reading, &Err(PostError::WrongPassword));
        assert_eq!(refusals.current(), Some(PostError::Full));
        refusals.note(PostUse::Renewing, &Ok(()));
        assert_eq!(refusals.current(), Some(PostError::WrongPassword));
        refusals.note::<()>(PostUse::Reading, &Err(PostError::Away("no answer".into())));
        assert_eq!(refusals.current(), None);
    }

    #[test]
    fn an_error_of_a_put_counts_only_if_it_is_about_puts() {
        let refusals = PostRefusals::default();
        refusals.note::<()>(PostUse::Putting, &Err(PostError::Full));
        assert_eq!(refusals.current(), None);
        let denied = PostError::Denied("no permissions to run the 'xadd' command".into());
        refusals.note::<()>(PostUse::Putting, &Err(denied.clone()));
        assert_eq!(refusals.current(), Some(denied));
    }
}
