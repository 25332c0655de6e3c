//! Plays a transcript against its own server: reads the clients' frames from the transcript, and
//! writes the received frames below them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use futures_util::future::join_all;
use moothall_surfaces::openrpc;
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Agent, Client, DEFAULT_APP, open_server, register};
use super::names::Names;
use crate::server::Server;

/// Time without frames after which a newly written transcript continues.
const QUIET: Duration = Duration::from_millis(250);
/// Number of times that each connection is checked for unexpected frames.
const LOOKS: usize = 3;
/// Errors of frames that do not belong to a method.
const OF_NO_METHOD: [i64; 3] = [-32700, -32600, -32601];

pub struct Stage {
    server: Server,
    agents: BTreeMap<String, Agent>,
    /// The connections, in the order in which they were opened.
    lines: Vec<(String, Option<Client>)>,
    names: Names,
    calls: u64,
    /// Method of each request, by id.
    methods: BTreeMap<String, String>,
    codes: BTreeMap<String, Vec<i64>>,
    blessing: bool,
    /// Errors that the document does not promise.
    pub wrong: Vec<String>,
}

impl Stage {
    pub async fn new(blessing: bool) -> Self {
        let mut names = Names::default();
        names.give(DEFAULT_APP, "default app");
        names.give("aaaaaaaa-0000-4000-8000-000000000001", "app one");
        names.give("aaaaaaaa-0000-4000-8000-000000000002", "app two");
        names.give("99999999-9999-4999-8999-999999999999", "nobody");
        Self {
            server: open_server().await,
            agents: BTreeMap::new(),
            lines: Vec::new(),
            names,
            calls: 0,
            methods: BTreeMap::new(),
            codes: declared(),
            blessing,
            wrong: Vec::new(),
        }
    }

    /// Returns the transcript with the frames of this run.
    pub async fn play(&mut self, script: &str) -> String {
        let (mut out, lines) = (String::new(), script.lines().collect::<Vec<_>>());
        let mut rest = &lines[..];
        while let Some((line, after)) = rest.split_first() {
            let answers = after.iter().take_while(|line| is_answer(line)).count();
            rest = &after[answers..];
            let _ = writeln!(out, "{line}");
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.step(line, &mut out).await;
            self.collect(line, &after[..answers], &mut out).await;
        }
        out
    }

    async fn step(&mut self, line: &str, out: &mut String) {
        let words: Vec<_> = line.splitn(3, ' ').collect();
        match words[..] {
            ["agents", ..] => {
                for name in line.split(' ').skip(1) {
                    self.register(name).await;
                    self.connect(name, name).await;
                }
            }
            ["registers", name] => self.register(name).await,
            ["again", name, line] => self.connect(name, line).await,
            ["guest", name] => {
                let client = Client::open(&self.server).await;
                self.lines.push((name.to_owned(), Some(client)));
            }
            ["gone", name] => self.line(name).take().unwrap().leave().await,
            ["operator", "->", request] => self.operate(request, out).await,
            [name, "->", frame] => {
                let frame = self.framed(&self.names.show(frame));
                self.line(name).as_mut().unwrap().send(frame).await;
            }
            _ => panic!("{line}"),
        }
    }

    async fn register(&mut self, name: &str) {
        let agent = register(&self.server, name).await;
        self.names.give(&agent.id, name);
        self.names.give(&agent.key, &format!("key of {name}"));
        self.agents.insert(name.to_owned(), agent);
    }

    async fn connect(&mut self, name: &str, line: &str) {
        let client = Client::of(&self.server, &self.agents[name]).await;
        self.lines.push((line.to_owned(), Some(client)));
    }

    fn line(&mut self, name: &str) -> &mut Option<Client> {
        let line = self.lines.iter_mut().find(|(line, _)| line == name);
        &mut line.unwrap_or_else(|| panic!("nobody is called {name}")).1
    }

    /// Sends a request of the operator over HTTP.
    async fn operate(&mut self, request: &str, out: &mut String) {
        let request = self.names.show(request);
        let mut words = request.splitn(3, ' ');
        let method: Method = words.next().unwrap().parse().unwrap();
        let path = words.next().unwrap();
        let body = words.next().map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let (status, _) = self.server.as_operator(method, path, body).await;
        let _ = writeln!(out, "operator <- {status}");
    }

    /// Turns a method with parameters into a frame. A frame is returned unchanged.
    fn framed(&mut self, text: &str) -> String {
        let Some((method, params)) = text.split_once(' ').filter(|_| is_call(text)) else {
            return text.strip_prefix("raw ").unwrap_or(text).to_owned();
        };
        self.calls += 1;
        let id = self.calls.to_string();
        self.methods.insert(id.clone(), method.to_owned());
        let (id, method) = (json!(id), json!(method));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
    }

    /// Writes the frames that came after a step, connection by connection: answers first, then the
    /// rest by name, because the events of two conversations have no common order.
    async fn collect(&mut self, step: &str, expected: &[&str], out: &mut String) {
        let mut came: Vec<(String, Vec<String>)> = Vec::new();
        for (name, line) in &mut self.lines {
            let Some(client) = line else { continue };
            let wanted = expected.iter().filter(|line| line.starts_with(&format!("{name} <- ")));
            let wanted = wanted.count();
            while !self.blessing && client.kept() < wanted && client.keep().await {}
            came.push((name.clone(), Vec::new()));
        }
        if self.blessing {
            let open = self.lines.iter_mut().filter_map(|(_, line)| line.as_mut());
            join_all(open.map(until_quiet)).await;
        }
        for _ in 0..LOOKS {
            for (name, line) in &mut self.lines {
                let Some(client) = line else { continue };
                let (_, frames) = came.iter_mut().find(|(one, _)| one == name).unwrap();
                frames.extend(client.settle().await);
                if let Some((code, reason)) = client.end.take() {
                    frames.push(format!("{{\"closed\":{code},\"reason\":\"{reason}\"}}"));
                    *line = None;
                }
            }
        }
        let first = step.split(' ').next().unwrap_or_default().to_owned();
        came.sort_by_key(|(name, _)| *name != first);
        for (name, frames) in came {
            self.write(&name, frames, out);
        }
    }

    fn write(&mut self, name: &str, frames: Vec<String>, out: &mut String) {
        let read = |text: &String| serde_json::from_str::<Value>(text).unwrap();
        let mut frames: Vec<_> = frames.iter().map(|text| (read(text), text.clone())).collect();
        let word = |frame: &Value| frame["method"].as_str().unwrap_or_default().to_owned();
        frames.sort_by_key(|(frame, _)| word(frame));
        frames.iter().for_each(|(frame, _)| self.names.learn(frame));
        let mut shown: Vec<_> =
            frames.iter().map(|(frame, text)| (word(frame), self.names.hide(text))).collect();
        // Notifications of one name are sorted by their text, which is now the same in each run.
        shown.sort_by(|one, other| match one.0.is_empty() && other.0.is_empty() {
            true => std::cmp::Ordering::Equal,
            false => one.cmp(other),
        });
        for (_, text) in shown {
            let _ = writeln!(out, "{name} <- {text}");
        }
        frames.iter().for_each(|(frame, _)| self.check_declared(frame));
    }

    /// Checks that the document promises this error for its method.
    fn check_declared(&mut self, frame: &Value) {
        let Some(code) = frame["error"]["code"].as_i64() else { return };
        let Some(method) = frame["id"].as_str().and_then(|id| self.methods.get(id)) else { return };
        let declared = self.codes.get(method).is_none_or(|codes| codes.contains(&code));
        if code == -32603 || !(declared || OF_NO_METHOD.contains(&code)) {
            self.wrong.push(format!("{method} does not declare {frame}"));
        }
    }
}

async fn until_quiet(client: &mut Client) {
    while tokio::time::timeout(QUIET, client.keep()).await == Ok(true) {}
}

fn is_call(text: &str) -> bool {
    !text.starts_with(['{', '[', '"']) && !text.starts_with("raw ")
}

fn is_answer(line: &str) -> bool {
    line.split(' ').nth(1) == Some("<-")
}

/// Returns the errors that the document promises for each method.
fn declared() -> BTreeMap<String, Vec<i64>> {
    let document = openrpc();
    let errors = &document["components"]["errors"];
    let code = |error: &Value| {
        let name = error["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        errors[name]["code"].as_i64().unwrap()
    };
    let methods = document["methods"].as_array().unwrap().iter();
    let codes = |method: &Value| {
        let own = method["errors"].as_array().into_iter().flatten();
        own.map(code).collect::<Vec<_>>()
    };
    methods.map(|method| (method["name"].as_str().unwrap().to_owned(), codes(method))).collect()
}
