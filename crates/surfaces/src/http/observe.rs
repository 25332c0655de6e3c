//! Counts each request and logs one line about it. The line names the route's template, the caller
//! and its address, and never the path, query, headers or body.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request};
use axum::http::Method;
use axum::response::Response;
use moothall_engine::access::Caller;

use crate::meters::SurfaceMetrics;

/// The name of a request's caller. It travels with the response until it is logged.
#[derive(Clone)]
struct CallerNote(String);

/// Notes the caller for the log, if it showed a credential.
pub(super) fn note_caller(response: &mut Response, caller: &Caller) {
    if let Some(principal) = caller.principal() {
        response.extensions_mut().insert(CallerNote(principal.id.to_string()));
    }
}

/// A request without an answer yet.
pub(super) struct ObservedRequest {
    begun: Instant,
    method: &'static str,
    route: Option<MatchedPath>,
    peer: Option<IpAddr>,
}

impl ObservedRequest {
    pub(super) fn of(request: &Request) -> Self {
        Self {
            begun: Instant::now(),
            method: method_word(request.method()),
            route: request.extensions().get().cloned(),
            peer: request
                .extensions()
                .get::<ConnectInfo<SocketAddr>>()
                .map(|ConnectInfo(peer)| peer.ip()),
        }
    }

    /// Counts and logs the answer.
    pub(super) fn answered(&self, meters: &SurfaceMetrics, response: &Response) {
        let (method, route) =
            (self.method, self.route.as_ref().map_or("none", MatchedPath::as_str));
        let (status, took) = (response.status().as_u16(), self.begun.elapsed());
        let ms = took.as_micros() as f64 / 1000.0;
        let caller = response.extensions().get::<CallerNote>().map(|CallerNote(name)| name);
        let peer = self.peer.map(tracing::field::display);
        tracing::info!(target: "moothall::request", method, route, status, ms, caller, peer, "answered");
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
