//! What the surfaces count about themselves, and what the program around them adds.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use moothall_engine::meters::{CounterMap, Histogram};

/// What the surfaces count.
#[derive(Debug, Default)]
pub struct SurfaceMetrics {
    /// Requests by method, route template and status.
    pub requests: CounterMap<(&'static str, String, u16)>,
    /// How long it took until an answer began.
    pub request_time: Histogram,
    readers: AtomicI64,
    resyncs: AtomicU64,
    connections: AtomicU64,
    stalls: AtomicU64,
    sent_away: AtomicU64,
}

impl SurfaceMetrics {
    /// A stream of events begins; it lasts as long as what this gives.
    pub fn reader(self: &Arc<Self>) -> OpenStream {
        self.readers.fetch_add(1, Ordering::Relaxed);
        OpenStream(self.clone())
    }

    /// Streams of events that are open.
    pub fn readers(&self) -> i64 {
        self.readers.load(Ordering::Relaxed)
    }

    /// A reader was too slow and has to read again.
    pub fn resync(&self) {
        self.resyncs.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that has happened.
    pub fn resyncs(&self) -> u64 {
        self.resyncs.load(Ordering::Relaxed)
    }

    /// So many connections are open.
    pub fn connections(&self, open: usize) {
        self.connections.store(open as u64, Ordering::Relaxed);
    }

    /// Connections that are open.
    pub fn connected(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// A connection took nothing for too long and was closed.
    pub fn stalled(&self) {
        self.stalls.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that has happened.
    pub fn stalls(&self) -> u64 {
        self.stalls.load(Ordering::Relaxed)
    }

    /// A connection was closed because there was no seat for it, or another one needed its own.
    pub fn sent_away(&self) {
        self.sent_away.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that has happened.
    pub fn sendings_away(&self) -> u64 {
        self.sent_away.load(Ordering::Relaxed)
    }
}

/// An open stream of events.
#[derive(Debug)]
pub struct OpenStream(Arc<SurfaceMetrics>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A number that the program around the surfaces measures when it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// Its name, with its unit last.
    pub name: &'static str,
    /// What it counts, in one sentence for people.
    pub help: &'static str,
    /// How much it is now.
    pub value: f64,
}

/// Measures all of them.
#[derive(Clone)]
pub struct Gauges(Arc<dyn Fn() -> Vec<Gauge> + Send + Sync>);

impl Gauges {
    /// Measured like this, each time somebody asks.
    pub fn new(measure: impl Fn() -> Vec<Gauge> + Send + Sync + 'static) -> Self {
        Self(Arc::new(measure))
    }

    /// As they are now.
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
