//! Counts each request and logs one line about it. The line names the route's template, and never
//! the path, query, headers or body.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::response::Response;

use crate::meters::SurfaceMetrics;

/// A request without an answer yet.
pub(super) struct ObservedRequest {
    begun: Instant,
    method: &'static str,
    route: Option<MatchedPath>,
}

impl ObservedRequest {
    pub(super) fn of(request: &Request) -> Self {
        Self {
            begun: Instant::now(),
            method: method_word(request.method()),
            route: request.extensions().get().cloned(),
        }
    }

    /// Counts and logs the answer.
    pub(super) fn answered(&self, meters: &SurfaceMetrics, response: &Response) {
        let (method, route) =
            (self.method, self.route.as_ref().map_or("none", MatchedPath::as_str));
        let (status, took) = (response.status().as_u16(), self.begun.elapsed());
        let ms = took.as_micros() as f64 / 1000.0;
        tracing::info!(target: "moothall::request", method, route, status, ms, "answered");
        meters.request_time.observe(took);
        meters.requests.count((method, route.to_owned(), status));
    }
}

/// Returns the method as a label. Unknown methods share one, because clients can invent any number.
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
