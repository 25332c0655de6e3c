//! Search in all conversations: resolves the names in a query, asks the log's index, and returns
//! only what the viewer may see.

use moothall_kernel::ids::StreamId;
use moothall_kernel::search::Query;
use moothall_kernel::search::tokens::name_key;
use moothall_kernel::view::{Viewer, visible};

use crate::access::{AccessDenial, Reach};
use crate::answers::HallError;
use crate::hall::Hall;
use crate::ports::{Hits, ListFilter, SearchRequest};

/// Maximum number of conversations that the names of one query may match.
const STREAMS_MAX: usize = 100;

/// The reason why a search failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// No conversation has this id or name.
    #[error("No conversation has the id or name {0:?}.")]
    NoConversation(String),
    /// The names match too many conversations.
    #[error("`in:` matches more than {STREAMS_MAX} conversations; give an id.")]
    TooManyConversations,
    /// The caller may not search.
    #[error(transparent)]
    Denied(#[from] AccessDenial),
    /// The search, or a read that it needs, failed in the hall.
    #[error(transparent)]
    Hall(#[from] HallError),
}

impl Hall {
    /// Searches messages, the newest first. A page holds at most `limit` hits, and fewer if this
    /// viewer may not see some of them. `cursor` is the `next` of the previous page.
    ///
    /// # Errors
    /// [`SearchError`] if the query names a conversation that does not exist, or the log cannot be
    /// read.
    pub async fn search(
        &self,
        query: Query,
        viewer: &Viewer,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, SearchError> {
        self.search_within(&Reach::All, query, viewer, limit, cursor).await
    }

    /// Searches messages in the conversations within reach. All others are treated as missing.
    ///
    /// # Errors
    /// As for [`Hall::search`].
    pub async fn search_within(
        &self,
        reach: &Reach,
        query: Query,
        viewer: &Viewer,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, SearchError> {
        let streams = match (query.within.is_empty(), reach.only()) {
            (true, reachable) => reachable.map(|streams| streams.iter().cloned().collect()),
            (false, _) => Some(self.resolve_conversations(&query.within, reach).await?),
        };
        let mut page = self
            .inner
            .store
            .search
            .search(&SearchRequest { query, streams }, limit, cursor)
            .await
            .map_err(HallError::from)?;
        page.hits.retain(|hit| visible(&hit.recorded.event, viewer));
        Ok(page)
    }

    /// Returns the conversations with these ids or names. A name stands for all conversations of
    /// that name.
    async fn resolve_conversations(
        &self,
        words: &[String],
        reach: &Reach,
    ) -> Result<Vec<StreamId>, SearchError> {
        let mut meant = Vec::new();
        let mut names = Vec::new();
        for word in words {
            let id = StreamId::new(word);
            match self.find(&id).await {
                Ok(_) if reach.includes(&id) => meant.push(id),
                Ok(_) | Err(HallError::NotFound(_) | HallError::Deleted(_)) => {
                    names.push((name_key(word), word))
                }
                Err(error) => return Err(error.into()),
            }
        }
        if !names.is_empty() {
            let all = self.list(ListFilter::of_conversations()).await?.streams;
            for (key, word) in names {
                let before = meant.len();
                let named = all.iter().filter(|listed| {
                    name_key(&listed.catalog.title) == key && reach.includes(&listed.stream)
                });
                meant.extend(named.map(|listed| listed.stream.clone()));
                if meant.len() == before {
                    return Err(SearchError::NoConversation(word.chars().take(80).collect()));
                }
            }
        }
        if meant.len() > STREAMS_MAX { Err(SearchError::TooManyConversations) } else { Ok(meant) }
    }
}
