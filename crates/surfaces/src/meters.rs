//! Counters of the surfaces, and gauges that the surrounding program adds.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use moothall_engine::meters::{CounterMap, Histogram};

/// Counters of the surfaces.
#[derive(Debug, Default)]
pub struct SurfaceMetrics {
    /// Requests by method, route template and status.
    pub requests: CounterMap<(&'static str, String, u16)>,
    /// Time from a request to the start of its answer.
    pub request_time: Histogram,
    readers: AtomicI64,
    resyncs: AtomicU64,
    connections: AtomicU64,
    stalls: AtomicU64,
    sent_away: AtomicU64,
}

impl SurfaceMetrics {
    /// Counts an event stream as open until the returned guard is dropped.
    pub fn reader(self: &Arc<Self>) -> OpenStream {
        self.readers.fetch_add(1, Ordering::Relaxed);
        OpenStream(self.clone())
    }

    /// Returns the number of open event streams.
    pub fn readers(&self) -> i64 {
        self.readers.load(Ordering::Relaxed)
    }

    /// Counts a reader of an event stream that was too slow and has to read again.
    pub fn resync(&self) {
        self.resyncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of resyncs.
    pub fn resyncs(&self) -> u64 {
        self.resyncs.load(Ordering::Relaxed)
    }

    /// Sets the number of open connections.
    pub fn connections(&self, open: usize) {
        self.connections.store(open as u64, Ordering::Relaxed);
    }

    /// Returns the number of open connections.
    pub fn connected(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts a connection that was closed because the client read nothing for too long.
    pub fn stalled(&self) {
        self.stalls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of stalled connections.
    pub fn stalls(&self) -> u64 {
        self.stalls.load(Ordering::Relaxed)
    }

    /// Counts a connection that was refused or evicted, because of the slots, the bytes or the file
    /// descriptors.
    pub fn sent_away(&self) {
        self.sent_away.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of connections that were refused or evicted.
    pub fn sendings_away(&self) -> u64 {
        self.sent_away.load(Ordering::Relaxed)
    }
}

/// An open event stream.
#[derive(Debug)]
pub struct OpenStream(Arc<SurfaceMetrics>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A value that the surrounding program measures on demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// The name of the metric, which ends with its unit.
    pub name: &'static str,
    /// One sentence for people about what is measured.
    pub help: &'static str,
    /// The current value.
    pub value: f64,
}

/// The source of all gauges.
#[derive(Clone)]
pub struct Gauges(Arc<dyn Fn() -> Vec<Gauge> + Send + Sync>);

impl Gauges {
    /// Creates a source that calls `measure` on each read.
    pub fn new(measure: impl Fn() -> Vec<Gauge> + Send + Sync + 'static) -> Self {
        Self(Arc::new(measure))
    }

    /// Returns the current values.
    pub fn measure(&self) -> Vec<Gauge> {
        (self.0)()
    }
}

impl Default for Gauges {
    fn default() -> Self {
        Self::new(Vec::new)
    }
}

impl fmt::Debug for Gauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gauges")
    }
}
