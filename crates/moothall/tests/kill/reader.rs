//! A reader that follows a thread, and after every crash resumes after the last seen event.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use moothall_surfaces::wire::EventTypes;
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Events and faults that a reader saw.
#[derive(Default)]
struct SeenEvents {
    events: Vec<Value>,
    faults: Vec<String>,
    connections: u64,
}

/// A running reader. Dropping it ends it.
pub struct Reader {
    /// Id of the viewer; `None` for an operator, who sees everything.
    viewer: Option<String>,
    seen: Arc<Mutex<SeenEvents>>,
    /// Position of the newest seen event.
    pub head: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Reader {
    /// Follows a thread from its beginning, across restarts of the server.
    pub fn of(
        thread: &str,
        viewer: Option<&str>,
        address: watch::Receiver<Option<String>>,
    ) -> Self {
        let seen = Arc::<Mutex<SeenEvents>>::default();
        let (heads, head) = watch::channel(0);
        let query = viewer.map(|viewer| format!("&as={viewer}")).unwrap_or_default();
        let path = format!(
            "/threads/{thread}/events/stream?after=0&types={}{query}",
            EventTypes::EVERY.list()
        );
        let reading = EventReader {
            path,
            gapless: viewer.is_none(),
            seen: seen.clone(),
            heads,
            http: crate::house::plain().build().unwrap(),
        };
        Self {
            viewer: viewer.map(Into::into),
            seen,
            head,
            task: tokio::spawn(reading.run(address)),
        }
    }

    /// Returns the differences between the seen events and the log. All events must have been seen.
    pub fn faults(&self, events: &[Value]) -> Vec<String> {
        let name = self.viewer.as_deref().unwrap_or("the operator");
        let seen = self.seen.lock().unwrap();
        let mut faults: Vec<String> =
            seen.faults.iter().map(|fault| format!("{name}: {fault}")).collect();
        if let Some((saw, is)) = seen
            .events
            .iter()
            .zip(events)
            .find(|(saw, is)| saw != is && lasting(saw) != lasting(is))
        {
            faults.push(format!("{name} saw {saw}, and it is {is}"));
        }
        if seen.events.len() != events.len() {
            faults.push(format!("{name} saw {} events of {}", seen.events.len(), events.len()));
        }
        faults
    }

    /// Returns the faults noticed while reading.
    pub fn complaints(&self) -> Vec<String> {
        self.seen.lock().unwrap().faults.clone()
    }

    pub fn viewer(&self) -> Option<&str> {
        self.viewer.as_deref()
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> u64 {
        self.seen.lock().unwrap().connections
    }
}

struct EventReader {
    path: String,
    gapless: bool,
    seen: Arc<Mutex<SeenEvents>>,
    heads: watch::Sender<u64>,
    http: Client,
}

impl EventReader {
    async fn run(self, mut address: watch::Receiver<Option<String>>) {
        loop {
            let at = address.borrow_and_update().clone();
            let connected = match &at {
                Some(at) => self.connect(at).await,
                None => None,
            };
            match connected {
                Some(stream) => self.read(stream).await,
                None if address.changed().await.is_err() => return,
                None => {}
            }
        }
    }

    async fn connect(&self, address: &str) -> Option<Response> {
        let after = self.heads.borrow().to_string();
        let request =
            self.http.get(format!("{address}{}", self.path)).header("Last-Event-ID", after);
        let answer = request.send().await.ok().filter(|answer| answer.status().is_success())?;
        self.seen.lock().unwrap().connections += 1;
        Some(answer)
    }

    async fn read(&self, stream: Response) {
        let mut bytes = stream.bytes_stream();
        let mut text = Vec::new();
        while let Some(Ok(chunk)) = bytes.next().await {
            text.extend_from_slice(&chunk);
            while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = text.drain(..end + 2).collect();
                self.take(&String::from_utf8(frame).unwrap());
            }
        }
    }

    /// Checks that every seen event is still in the log of the current server.
    fn check_head(&self, head: u64) {
        let last = *self.heads.borrow();
        if head < last {
            self.seen
                .lock()
                .unwrap()
                .faults
                .push(format!("event {last} was seen, and the log ends at {head}"));
        }
    }

    /// Handles a frame. Named frames are signals; frames without data tell the head of the log.
    fn take(&self, frame: &str) {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
        if let Some(head) = field(": head ").and_then(|head| head.parse::<u64>().ok()) {
            self.check_head(head);
        }
        let (None, Some(data)) = (field("event: "), field("data: ")) else { return };
        let event: Value = serde_json::from_str(data).unwrap();
        let (seq, last) = (event["seq"].as_u64().unwrap(), *self.heads.borrow());
        let mut seen = self.seen.lock().unwrap();
        if field("id: ") != Some(&seq.to_string()) {
            seen.faults.push(format!("the frame of event {seq} has another id: {frame}"));
        }
        if seq <= last || (self.gapless && seq != last + 1) {
            seen.faults.push(format!("event {seq} came after event {last}"));
        }
        seen.events.push(event);
        drop(seen);
        self.heads.send_replace(seq);
    }
}

/// Removes the parts of an event that may change later: a summary's text is erased by the next
/// summary.
fn lasting(event: &Value) -> Value {
    let mut event = event.clone();
    if event["content"]["event"] == "summarised" {
        event["content"]["text"] = Value::Null;
        event["meta"] = Value::Null;
    }
    event
}
