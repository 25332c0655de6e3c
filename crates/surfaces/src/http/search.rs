//! The route that searches all threads within the caller's reach.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::{Action, Door};
use moothall_engine::search::SearchError;
use moothall_kernel::search::Query;
use moothall_kernel::view::Viewer;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::Params;
use crate::wire::{ErrorBody, SearchAnswer, SearchHit};

/// Default number of hits per page.
const LIMIT: usize = 20;
/// Maximum number of hits per page. Each has to be read from the log.
const LIMIT_MAX: usize = 100;

/// Searches messages, newest first.
///
/// Words and `"phrases"` must all match. `from:` and `in:` take ids and names, `after:` and
/// `before:` take days or times.
#[utoipa::path(get, path = "/search", tag = "search",
    params(
        ("q" = String, Query, description = "E.g. `deploy \"on friday\" from:ann in:\"Launch plan\" after:2026-01-31`."),
        ("limit" = Option<u64>, Query, maximum = 100, description = "Maximum number of results (1–100; default 20)."),
        ("cursor" = Option<u64>, Query, description = "`next` of the previous page."),
        ("as" = Option<String>, Query, description = "Only what this participant may see."),
    ),
    responses((status = 200, body = SearchAnswer), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn search(State(app): State<App>, params: Params) -> ApiResult<Json<SearchAnswer>> {
    let limit = params.limit()?.unwrap_or(LIMIT);
    if limit > LIMIT_MAX {
        return Err(ApiError::new(
            Code::InvalidParameter,
            format!("'limit' takes a whole number from 1 to {LIMIT_MAX} here."),
        ));
    }
    let query = params.get("q").unwrap_or_default();
    find_messages(
        &params.door(&app.entrance),
        query,
        &params.viewer()?,
        limit,
        params.number("cursor")?,
    )
    .await
    .map(Json)
}

/// Returns a page of hits within the caller's reach.
pub(crate) async fn find_messages(
    door: &Door,
    query: &str,
    viewer: &Viewer,
    limit: usize,
    cursor: Option<u64>,
) -> ApiResult<SearchAnswer> {
    let query = Query::parse(query).map_err(|fault| invalid(fault.to_string()))?;
    let page = door.search(query, viewer, limit, cursor).await.map_err(|error| match error {
        SearchError::Hall(error) => ApiError::from(error),
        SearchError::Denied(denied) => denied.into(),
        SearchError::NoConversation(_) | SearchError::TooManyConversations => {
            invalid(error.to_string())
        }
    })?;
    let mut hits = Vec::with_capacity(page.hits.len());
    for hit in page.hits {
        let title = door.find(Action::Search, &hit.stream).await?.catalog.title;
        hits.push(SearchHit::of(hit, title));
    }
    Ok(SearchAnswer { hits, next: page.next, lag_events: page.lag })
}

fn invalid(sentence: String) -> ApiError {
    ApiError::new(Code::InvalidQuery, sentence)
}
