//! Searches all conversations: settles which are meant, asks the log's index, and shows only what the viewer may see.

use moothall_kernel::ids::StreamId;
use moothall_kernel::search::Query;
use moothall_kernel::search::words::name_key;
use moothall_kernel::view::{Viewer, visible};

use crate::hall::{Hall, HallError};
use crate::ports::{Hits, ListFilter, Wanted};

/// Most conversations that the names of one query may mean.
const STREAMS_MAX: usize = 100;

/// Why nothing was searched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// No conversation has this id or name.
    #[error("No conversation has the id or name {0:?}.")]
    NoConversation(String),
    /// The names mean too many.
    #[error("`in:` means more than {STREAMS_MAX} conversations; give an id.")]
    TooManyConversations,
    /// Anything else.
    #[error(transparent)]
    Hall(#[from] HallError),
}

impl Hall {
    /// Searches what was said, the newest first. A page holds at most `limit` hits, fewer where some are not for this viewer;
    /// `cursor` is the `next` of the page before.
    ///
    /// # Errors
    /// [`SearchError`]: the query names a conversation that does not exist, or the log cannot be read.
    pub async fn search(&self, query: Query, viewer: &Viewer, limit: usize, cursor: Option<u64>) -> Result<Hits, SearchError> {
        let streams = if query.within.is_empty() { None } else { Some(self.meant(&query.within).await?) };
        let index = self.inner.log.index().ok_or_else(|| HallError::Failed("this log keeps no index".into()))?;
        let mut page = index.search(&Wanted { query, streams }, limit, cursor).await.map_err(HallError::from)?;
        page.hits.retain(|hit| visible(&hit.recorded.event, viewer));
        Ok(page)
    }

    /// The conversations that ids and names mean, all of the same name.
    async fn meant(&self, words: &[String]) -> Result<Vec<StreamId>, SearchError> {
        let mut meant = Vec::new();
        let mut names = Vec::new();
        for word in words {
            let id = StreamId::new(word);
            match self.find(&id).await {
                Ok(_) => meant.push(id),
                Err(HallError::NotFound(_)) => names.push((name_key(word), word)),
                Err(error) => return Err(error.into()),
            }
        }
        if !names.is_empty() {
            let all = self.list(ListFilter::default()).await?.streams;
            for (key, word) in names {
                let before = meant.len();
                meant.extend(all.iter().filter(|listed| name_key(&listed.catalog.title) == key).map(|listed| listed.stream.clone()));
                if meant.len() == before {
                    return Err(SearchError::NoConversation(word.chars().take(80).collect()));
                }
            }
        }
        if meant.len() > STREAMS_MAX { Err(SearchError::TooManyConversations) } else { Ok(meant) }
    }
}
