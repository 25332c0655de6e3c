//! The server in numbers, as Prometheus reads them. Labels come from closed sets: no thread, no name, nobody's words.

use std::fmt::{Display, Write};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use moothall_engine::meters::{Counted, Spread};
use moothall_engine::ports::DeliveryState;

use super::App;
use crate::error::ApiResult;
use crate::meters::Meters;

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The server in numbers, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", operation_id = "read_metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn metrics(State(app): State<App>) -> ApiResult<Response> {
    let mut page = Page::default();
    page.engine(&app.hall.counted().await?);
    page.surfaces(&app.meters);
    for gauge in app.gauges.measure() {
        page.one(gauge.name, "gauge", gauge.help, gauge.value);
    }
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], page.0).into_response())
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn engine(&mut self, counted: &Counted) {
        self.one("moothall_events_appended_total", "counter", "Events that were committed and synced.", counted.events);
        let appends = counted.appends.iter().map(|(result, count)| (format!("result=\"{result}\""), *count));
        self.many("moothall_appends_total", "counter", "Appends, by what came of them.", appends);
        self.spread("moothall_append_seconds", "From asking for an append to its being synced.", &counted.append_time);
        let turns =
            counted.turns.iter().map(|((runtime, outcome), count)| (format!("runtime=\"{runtime}\",outcome=\"{outcome}\""), *count));
        self.many("moothall_turns_total", "counter", "Turns that ended.", turns);
        let open = counted.open_turns.iter().map(|(runtime, count)| (format!("runtime=\"{runtime}\""), *count));
        self.many("moothall_turns_open", "gauge", "Turns that wait or run.", open);
        self.one("moothall_live_threads", "gauge", "Conversations held in memory.", counted.live);
        let queues = [("threads", counted.waiting_requests), ("log", counted.waiting_appends)];
        let queues = queues.into_iter().map(|(queue, length)| (format!("queue=\"{queue}\""), length as u64));
        self.many("moothall_queue_length", "gauge", "What waits: requests for their conversation, appends for the disk.", queues);
        let deliveries = counted.deliveries.iter().map(|(state, count)| (format!("state=\"{}\"", delivery_word(*state)), *count));
        self.many("moothall_deliveries", "gauge", "Deliveries that are not done, by state.", deliveries);
    }

    fn surfaces(&mut self, meters: &Meters) {
        let counts = meters.requests.counts();
        let requests = counts
            .iter()
            .map(|((method, route, status), count)| (format!("method=\"{method}\",route=\"{route}\",status=\"{status}\""), *count));
        self.many("moothall_http_requests_total", "counter", "Requests that were answered.", requests);
        self.spread("moothall_http_request_seconds", "From a request to the beginning of its answer.", &meters.request_time.spread());
        self.one("moothall_sse_readers", "gauge", "Streams of events that are open.", meters.readers());
        self.one("moothall_sse_resyncs_total", "counter", "Readers that were too slow and were cut off.", meters.resyncs());
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn many(&mut self, name: &str, kind: &str, help: &str, values: impl Iterator<Item = (String, u64)>) {
        self.head(name, kind, help);
        for (labels, value) in values {
            let _ = writeln!(self.0, "{name}{{{labels}}} {value}");
        }
    }

    fn spread(&mut self, name: &str, help: &str, spread: &Spread) {
        self.head(name, "histogram", help);
        for (bound, count) in &spread.buckets {
            let _ = writeln!(self.0, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(self.0, "{name}_bucket{{le=\"+Inf\"}} {0}\n{name}_sum {1}\n{name}_count {0}", spread.count, spread.sum);
    }
}

const fn delivery_word(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Pending => "pending",
        DeliveryState::Sending => "sending",
        DeliveryState::Sent => "sent",
        DeliveryState::Accepted => "accepted",
        DeliveryState::Done => "done",
        DeliveryState::Failed => "failed",
        DeliveryState::Unknown => "unknown",
    }
}
