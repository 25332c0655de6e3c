//! Metrics in the text format of Prometheus. Labels come from closed sets, and never contain
//! threads, names or messages.

use std::fmt::{Display, Write};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use moothall_engine::meters::{EngineCounts, HistogramSnapshot};

use super::App;
use crate::error::ApiResult;
use crate::meters::SurfaceMetrics;
use crate::request::Params;

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the metrics of the server, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", operation_id = "read_metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn metrics(State(app): State<App>, params: Params) -> ApiResult<Response> {
    let mut page = MetricsPage::default();
    page.engine(&params.door(&app.entrance).counted().await?);
    page.surfaces(&app.meters);
    if let Some((running, waiting)) = app.entrance.registry().places().map(|places| places.counts())
    {
        page.one(
            "moothall_programs_running",
            "gauge",
            "Programs that are running for a turn.",
            running,
        );
        page.one(
            "moothall_programs_waiting",
            "gauge",
            "Turns that are waiting for a program to end.",
            waiting,
        );
    }
    for gauge in app.gauges.measure() {
        page.one(gauge.name, "gauge", gauge.help, gauge.value);
    }
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], page.0).into_response())
}

#[derive(Default)]
struct MetricsPage(String);

impl MetricsPage {
    /// Adds the metrics of the engine: events, turns, queues, deliveries, and their cost.
    fn engine(&mut self, counted: &EngineCounts) {
        self.one(
            "moothall_events_appended_total",
            "counter",
            "Events that were committed and synced.",
            counted.events,
        );
        let appends =
            counted.appends.iter().map(|(result, count)| (format!("result=\"{result}\""), *count));
        self.many("moothall_appends_total", "counter", "Appends, by result.", appends);
        let broken =
            counted.broken.iter().map(|(rule, count)| (format!("rule=\"{rule}\""), *count));
        self.many(
            "moothall_broken_rules_total",
            "counter",
            "Decisions discarded because they broke a rule. Each is a bug in Moothall.",
            broken,
        );
        self.spread(
            "moothall_append_seconds",
            "Time from the request of an append to its sync.",
            &counted.append_time,
        );
        let turns = counted.turns.iter().map(|((runtime, outcome), count)| {
            (format!("runtime=\"{runtime}\",outcome=\"{outcome}\""), *count)
        });
        self.many("moothall_turns_total", "counter", "Turns that ended.", turns);
        let open = counted
            .open_turns
            .iter()
            .map(|(runtime, count)| (format!("runtime=\"{runtime}\""), *count));
        self.many("moothall_turns_open", "gauge", "Turns that are waiting or running.", open);
        self.one("moothall_live_threads", "gauge", "Conversations held in memory.", counted.live);
        let queues = [("threads", counted.waiting_requests), ("log", counted.waiting_appends)];
        let queues =
            queues.into_iter().map(|(queue, length)| (format!("queue=\"{queue}\""), length as u64));
        self.many(
            "moothall_queue_length",
            "gauge",
            "Items in the queues: requests for a conversation, and appends to the disk.",
            queues,
        );
        let deliveries =
            counted.deliveries.iter().map(|(state, count)| (format!("state=\"{state}\""), *count));
        self.many(
            "moothall_deliveries",
            "gauge",
            "Deliveries that are not done, by state.",
            deliveries,
        );
        self.spending(counted);
    }

    /// Adds the tokens and the money that turns used, and the rest of the server's budgets.
    fn spending(&mut self, counted: &EngineCounts) {
        let tokens = [("input", counted.input_tokens), ("output", counted.output_tokens)];
        let tokens = tokens
            .into_iter()
            .map(|(direction, count)| (format!("direction=\"{direction}\""), count));
        self.many("moothall_tokens_total", "counter", "Tokens that models read and wrote.", tokens);
        let help = format!("Cost of turns, in millionths of one {}.", counted.currency);
        self.one("moothall_cost_micros_total", "counter", &help, counted.cost_micros);
        self.one(
            "moothall_turns_over_budget_total",
            "counter",
            "Turns that did not run because a budget was used up.",
            counted.over_budget,
        );
        let left = counted.budgets.iter();
        let left = left.map(|state| {
            (format!("measure=\"{}\"", state.measure), state.limit.saturating_sub(state.spent))
        });
        self.many(
            "moothall_budget_left",
            "gauge",
            "Rest of the server's budgets: turns in this hour, money in this day.",
            left,
        );
    }

    /// Adds the metrics of the surfaces: requests, event streams and connections.
    fn surfaces(&mut self, meters: &SurfaceMetrics) {
        let counts = meters.requests.counts();
        let requests = counts.iter().map(|((method, route, status), count)| {
            (format!("method=\"{method}\",route=\"{route}\",status=\"{status}\""), *count)
        });
        self.many(
            "moothall_http_requests_total",
            "counter",
            "Requests that were answered.",
            requests,
        );
        self.spread(
            "moothall_http_request_seconds",
            "Time from a request to the beginning of its response.",
            &meters.request_time.spread(),
        );
        self.one("moothall_sse_readers", "gauge", "Open event streams.", meters.readers());
        self.one(
            "moothall_sse_resyncs_total",
            "counter",
            "Readers that were disconnected because they were too slow.",
            meters.resyncs(),
        );
        self.one("moothall_connections", "gauge", "Open connections.", meters.connected());
        self.one(
            "moothall_connections_stalled_total",
            "counter",
            "Connections that were closed because they accepted no data for 30 s.",
            meters.stalls(),
        );
        let sent_away = meters.sendings_away();
        self.one(
            "moothall_connections_sent_away_total",
            "counter",
            "Connections that were closed because all slots were in use.",
            sent_away,
        );
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a metric with a single value and no labels.
    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    /// Adds a metric with a value for each set of labels.
    fn many(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        values: impl Iterator<Item = (String, u64)>,
    ) {
        self.head(name, kind, help);
        for (labels, value) in values {
            let _ = writeln!(self.0, "{name}{{{labels}}} {value}");
        }
    }

    /// Adds a histogram.
    fn spread(&mut self, name: &str, help: &str, spread: &HistogramSnapshot) {
        self.head(name, "histogram", help);
        for (bound, count) in &spread.buckets {
            let _ = writeln!(self.0, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(
            self.0,
            "{name}_bucket{{le=\"+Inf\"}} {0}\n{name}_sum {1}\n{name}_count {0}",
            spread.count, spread.sum
        );
    }
}
