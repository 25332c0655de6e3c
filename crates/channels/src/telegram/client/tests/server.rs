//! A server that reads one request on each connection and gives the next of its replies.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The reaction of the server to a request that it has read.
pub enum Reply {
    Status(u16, Vec<u8>),
    Redirect(String),
    /// Begins an answer of success and closes in the middle of it.
    Torn,
    /// Closes the connection in order.
    Close,
    /// Resets the connection.
    Reset,
    /// Never answers.
    Silence,
}

impl Reply {
    pub fn ok(result: &Value) -> Self {
        Self::status(200, &json!({ "ok": true, "result": result }).to_string())
    }

    pub fn status(status: u16, body: &str) -> Self {
        Reply::Status(status, body.as_bytes().to_vec())
    }
}

type Calls = Arc<Mutex<Vec<(String, Value)>>>;

pub struct TestServer {
    url: String,
    calls: Calls,
    count: watch::Receiver<usize>,
}

impl TestServer {
    pub async fn start(replies: impl IntoIterator<Item = Reply, IntoIter: Send + 'static>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (calls, (counter, count)) = (Calls::default(), watch::channel(0));
        let (replies, journal) = (replies.into_iter(), Arc::clone(&calls));
        tokio::spawn(async move {
            for reply in replies {
                let (mut stream, _) = listener.accept().await.unwrap();
                let call = request(&mut stream).await;
                journal.lock().unwrap().push(call);
                counter.send_modify(|count| *count += 1);
                give(stream, reply).await;
            }
        });
        Self { url, calls, count }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the paths and bodies of the requests so far.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.calls.lock().unwrap().clone()
    }

    /// Waits until a request was read.
    pub async fn taken(&self) {
        self.count.clone().wait_for(|count| *count > 0).await.unwrap();
    }
}

/// Returns an address on which no server listens.
pub async fn unused_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

async fn request(stream: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "the request breaks off");
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.unwrap().parse().unwrap() {
            let path = head.split(' ').nth(1).unwrap().to_owned();
            return (path, serde_json::from_str(body).unwrap());
        }
    }
}

async fn give(mut stream: TcpStream, reply: Reply) {
    let head = |status: u16, length: usize, more: &str| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n"
        )
    };
    match reply {
        Reply::Status(status, body) => {
            let _ = stream.write_all(head(status, body.len(), "").as_bytes()).await;
            // A client may stop reading before the end.
            let _ = stream.write_all(&body).await;
        }
        Reply::Redirect(url) => {
            let to = format!("location: {url}\r\n");
            let _ = stream.write_all(head(302, 0, &to).as_bytes()).await;
        }
        Reply::Torn => {
            let _ = stream.write_all(head(200, 1_000, "").as_bytes()).await;
            let _ = stream.write_all(b"{\"ok\":true,").await;
        }
        Reply::Close => {}
        Reply::Reset => stream.set_zero_linger().unwrap(),
        Reply::Silence => {
            tokio::spawn(async move {
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
            });
        }
    }
}
