//! A server with the real programs in its own terminals, seen from the outside.

use std::path::Path;
use std::process::Command;

use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::harness::{Home, Server, comes_about};
use crate::programs;

/// A home with a model for each program. Dropping it ends its terminals.
pub struct House {
    pub home: Home,
    models: [(&'static str, ModelServer); 3],
}

impl Drop for House {
    fn drop(&mut self) {
        let socket = self.home.data().join("tmux/tmux.sock");
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(socket)
            .arg("kill-server")
            .env_remove("TMUX")
            .output();
    }
}

impl House {
    pub async fn new() -> Self {
        let model = async || ModelServer::start().await.unwrap();
        let (home, models) = (
            Home::new(),
            [("claude", model().await), ("codex", model().await), ("gemini", model().await)],
        );
        home.sign();
        programs::settle_each(&home, [0, 1, 2].map(|at| models[at].1.url()));
        // Starting programs and reading their screens require the operator's credential.
        home.sign();
        Self { home, models }
    }

    /// Writes the configuration of the servers that start later.
    pub fn configure(&self, toml: &str) {
        self.home.configure(toml);
    }

    /// Starts a server. Its programs must not inherit `CI`, because Gemini CLI then assumes that no
    /// person is present.
    pub fn serve(&self) -> Server<'_> {
        self.serve_on("127.0.0.1:0")
    }

    /// Starts a server with the programs of a folder before all others.
    pub fn serve_with_programs(&self, folder: &Path) -> Server<'_> {
        let path = format!("{}:{}", folder.display(), programs::path());
        self.home.serve_with("127.0.0.1:0", &[("PATH", &path), ("CI", "true")])
    }

    fn serve_on(&self, bind: &str) -> Server<'_> {
        self.home.serve_with(bind, &[("PATH", &programs::path()), ("CI", "true")])
    }

    /// Kills the server with SIGKILL, and starts it again on the same port. The programs keep
    /// running.
    pub fn crash_and_restart<'a>(&'a self, server: Server<'a>) -> Server<'a> {
        let address = server.address().to_string();
        server.kill();
        self.serve_on(&address)
    }

    /// Returns the model of one program.
    pub fn model(&self, client: &str) -> &ModelServer {
        &self.models.iter().find(|(name, _)| *name == client).unwrap().1
    }

    /// Sets every model's reply to a prompt with these words.
    pub fn when(&self, words: &str, reply: &Reply) {
        self.models.iter().for_each(|(_, model)| model.when(words, reply.clone()));
    }

    /// Starts a program in a session of its name; returns the session's id.
    pub async fn run(&self, server: &Server<'_>, client: &str, args: &[&str]) -> String {
        let trusting = (client == "gemini").then_some("--skip-trust");
        let args: Vec<&str> = trusting.into_iter().chain(args.iter().copied()).collect();
        self.run_in(server, client, &args, &self.home.path().join("work")).await
    }

    /// Starts a program in this folder, with these arguments only.
    pub async fn run_in(
        &self,
        server: &Server<'_>,
        client: &str,
        args: &[&str],
        cwd: &Path,
    ) -> String {
        let started = server
            .accepted(
                "/sessions",
                json!({"client": client, "name": client, "args": args, "cwd": cwd}),
            )
            .await;
        started["id"].as_str().unwrap().to_owned()
    }

    /// Sends a POST request with the start-up credential.
    pub async fn post_as_owner(&self, server: &Server<'_>, path: &str, body: &Value) -> u16 {
        let kept: Value =
            serde_json::from_slice(&std::fs::read(self.home.data().join("startup.key")).unwrap())
                .unwrap();
        let request = server
            .http()
            .post(format!("{}{path}", server.url))
            .bearer_auth(kept["key"].as_str().unwrap());
        request.json(body).send().await.unwrap().status().as_u16()
    }
}

/// Waits for a condition; prints a session's conversation and screen on timeout.
pub async fn until(server: &Server<'_>, session: &str, what: &str, holds: impl AsyncFn() -> bool) {
    if !comes_about(holds).await {
        panic!("{what}: it never came about\n{}", server.evidence(session).await);
    }
}

/// Waits until a session is in a state.
pub async fn in_state(server: &Server<'_>, session: &str, state: &str) {
    until(server, session, state, async || {
        server.get(&format!("/sessions/{session}")).await["state"] == state
    })
    .await;
}
