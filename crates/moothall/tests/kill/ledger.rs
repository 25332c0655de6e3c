//! Record of all requests and acknowledgements, kept outside of the server.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use reqwest::{Client, RequestBuilder};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::house::PATIENCE;

/// One request, with an idempotency key, and its answer, if any.
pub struct KeyedRequest {
    pub path: String,
    pub body: Value,
    pub key: String,
    pub answer: OnceLock<Value>,
}

impl KeyedRequest {
    /// Returns the event that the answer acknowledges.
    pub fn event(&self) -> Option<&Value> {
        self.answer.get().map(|answer| &answer["event"]).filter(|event| !event.is_null())
    }
}

/// Returns the credential of a request that is made now.
type Sign = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// Record of all requests.
pub struct Ledger {
    http: Client,
    sign: Sign,
    asked: Mutex<Vec<Arc<KeyedRequest>>>,
    /// Reason of the latest lost answer.
    loss: Mutex<String>,
    /// Number of first acknowledgements.
    pub acknowledged: watch::Sender<u64>,
    /// Number of repeated answers.
    pub repeated: AtomicU64,
}

impl Ledger {
    /// Makes a record of requests without a credential.
    pub fn new() -> Self {
        Self::signed(|| None)
    }

    /// Makes a record of requests that bear a credential.
    pub fn signed(sign: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        let http = crate::house::plain().timeout(PATIENCE).build().unwrap();
        Self {
            http,
            sign: Box::new(sign),
            asked: Mutex::default(),
            loss: Mutex::default(),
            acknowledged: watch::channel(0).0,
            repeated: AtomicU64::new(0),
        }
    }

    /// Records a request before it is sent.
    pub fn note(&self, path: String, body: Value, key: String) -> Arc<KeyedRequest> {
        let asked = Arc::new(KeyedRequest { path, body, key, answer: OnceLock::new() });
        self.asked.lock().unwrap().push(asked.clone());
        asked
    }

    pub fn all(&self) -> Vec<Arc<KeyedRequest>> {
        self.asked.lock().unwrap().clone()
    }

    /// Sends a request; returns `None` if the server is away or dies. A repeated request must get
    /// the same answer.
    pub async fn ask(&self, address: &str, asked: &KeyedRequest) -> Option<Value> {
        let (status, answer) = self.post(address, asked).await?;
        if status == 503 {
            return self.lost(&asked.path, &answer);
        }
        assert_eq!(status, 200, "{} {} was refused: {answer}", asked.path, asked.body);
        match asked.answer.get() {
            Some(before) => {
                assert_eq!(*before, answer, "the key {} got another answer than before", asked.key);
                self.repeated.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                asked.answer.set(answer.clone()).unwrap();
                self.acknowledged.send_modify(|count| *count += 1);
            }
        }
        Some(answer)
    }

    /// Sends a request without a stored effect.
    pub async fn tell(&self, address: &str, asked: &KeyedRequest) -> Option<()> {
        let (status, answer) = self.post(address, asked).await?;
        assert!(matches!(status, 200 | 503), "{} {} was refused: {answer}", asked.path, asked.body);
        if status == 200 { Some(()) } else { self.lost(&asked.path, &answer) }
    }

    async fn post(&self, address: &str, asked: &KeyedRequest) -> Option<(u16, Value)> {
        let request = self
            .http
            .post(format!("{address}{}", asked.path))
            .header("Idempotency-Key", &asked.key)
            .json(&asked.body);
        self.answer(address, &asked.path, request).await
    }

    async fn answer(
        &self,
        address: &str,
        path: &str,
        request: RequestBuilder,
    ) -> Option<(u16, Value)> {
        let request = match (self.sign)() {
            Some(credential) => request.bearer_auth(credential),
            None => request,
        };
        let read = async {
            let answer = request.send().await?;
            let status = answer.status().as_u16();
            Ok::<_, reqwest::Error>((status, answer.text().await?))
        };
        match read.await {
            // Some answers contain the server's address, which changes at each restart.
            Ok((status, text)) => {
                Some((status, serde_json::from_str(&text.replace(address, "http://here")).unwrap()))
            }
            Err(error) => self.lost(path, &format!("{error:?}")),
        }
    }

    fn lost<T>(&self, path: &str, why: &dyn Display) -> Option<T> {
        *self.loss.lock().unwrap() = format!("{path}: {why}");
        None
    }

    /// Returns the reason of the latest lost answer.
    pub fn loss(&self) -> String {
        self.loss.lock().unwrap().clone()
    }

    pub async fn get(&self, address: &str, path: &str) -> Option<Value> {
        let (status, body) =
            self.answer(address, path, self.http.get(format!("{address}{path}"))).await?;
        assert!(matches!(status, 200 | 503), "GET {path}: {status} {body}");
        if status == 200 { Some(body) } else { self.lost(path, &body) }
    }

    /// Waits until this number of requests is acknowledged.
    pub async fn reached(&self, count: u64) {
        let mut acknowledged = self.acknowledged.subscribe();
        let reached = timeout(PATIENCE, acknowledged.wait_for(|now| *now >= count)).await;
        reached
            .unwrap_or_else(|_| panic!("{count} acknowledgements, and they did not come"))
            .unwrap();
    }
}
