//! Counts every request and writes one line about it: its route's template, never its path, query, headers or body.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::Response;

use crate::meters::Meters;

/// Sees every request first and every answer last.
pub fn watch(router: Router, meters: Arc<Meters>) -> Router {
    router.layer(middleware::from_fn_with_state(meters, observe))
}

async fn observe(State(meters): State<Arc<Meters>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = method_word(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    let ms = took.as_micros() as f64 / 1000.0;
    tracing::info!(target: "moothall::request", method, route, status, ms, "answered");
    meters.request_time.observe(took);
    meters.requests.count((method, route, status));
    response
}

/// Clients can make methods up; those are all the same to us.
pub(super) fn method_word(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "PATCH" => "PATCH",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
