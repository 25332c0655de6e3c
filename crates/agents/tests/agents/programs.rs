//! The real programs in real terminals, against fake models. Asked for by name, with `MOOTHALL_REAL_AGENTS` naming the folder in which
//! `claude`, `codex` and `gemini` are: `./scripts/test agents` installs them into `target/real-agents/node_modules/.bin`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use moothall_agents::terminal::Program;
use moothall_engine::sessions::{Key, Launch, PaneState, SessionHost, View};
use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::json;

use super::terminal::Terminals;

const KEY: &str = "fake-key-0123456789abcdefghij";

/// A program with a home of its own, so that nobody's settings matter.
struct Setting {
    client: &'static str,
    folder: PathBuf,
    home: tempfile::TempDir,
    env: BTreeMap<String, String>,
}

impl Setting {
    fn new(client: &'static str, server: &ModelServer) -> Self {
        let folder = std::env::var_os("MOOTHALL_REAL_AGENTS").expect("MOOTHALL_REAL_AGENTS: the folder of the real programs").into();
        let home = tempfile::tempdir().unwrap();
        let mut setting = Self { client, folder, home, env: BTreeMap::new() };
        setting.set("HOME", setting.home.path().to_str().unwrap().to_owned());
        match client {
            "claude" => setting.claude(&server.url()),
            "codex" => setting.codex(&server.url()),
            _ => setting.gemini(&server.url()),
        }
        setting
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.insert(name.to_owned(), value.into());
    }

    fn cwd(&self) -> PathBuf {
        let cwd = self.home.path().join("project");
        std::fs::create_dir_all(&cwd).unwrap();
        cwd.canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn claude(&mut self, url: &str) {
        let settings = json!({
            "hasCompletedOnboarding": true,
            "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
            "projects": {self.cwd().to_str().unwrap(): {"hasTrustDialogAccepted": true}},
        });
        self.write(".claude.json", &settings.to_string());
        self.set("ANTHROPIC_BASE_URL", url);
        self.set("ANTHROPIC_API_KEY", KEY);
        for variable in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"] {
            self.set(variable, "1");
        }
    }

    fn codex(&mut self, url: &str) {
        let config = format!(
            "model = \"fake\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n\
             [projects.{:?}]\ntrust_level = \"trusted\"\n",
            self.cwd()
        );
        self.write("codex/config.toml", &config);
        self.set("CODEX_HOME", self.home.path().join("codex").to_str().unwrap());
        self.set("FAKE_KEY", KEY);
    }

    fn gemini(&mut self, url: &str) {
        self.write(".gemini/settings.json", &json!({"security": {"auth": {"selectedType": "gemini-api-key"}}}).to_string());
        self.set("GEMINI_API_KEY", KEY);
        self.set("GOOGLE_GEMINI_BASE_URL", url);
    }

    fn program(&self) -> Program {
        let known = Program::known().remove(self.client).unwrap();
        let file = self.folder.join(self.client).to_str().unwrap().to_owned();
        let more = if self.client == "gemini" { Some("--skip-trust".to_owned()) } else { None };
        Program { argv: std::iter::once(file).chain(more).collect(), env: self.env.clone(), ..known }
    }
}

fn is_free(view: &View) -> bool {
    view.state == PaneState::Idle && view.composer.as_deref() == Some("")
}

fn was_asked(server: &ModelServer, words: &str) -> bool {
    let words = serde_json::to_string(words).unwrap();
    server.requests().iter().any(|request| request.body.to_string().contains(words.trim_matches('"')))
}

async fn talks(client: &'static str) {
    let server = ModelServer::start().await.unwrap();
    let setting = Setting::new(client, &server);
    let Some(terminals) = Terminals::new(&[(client, setting.program())]) else { return };
    let pane = terminals.host.start(&Launch { cwd: setting.cwd(), ..terminals.launch(client) }).await.unwrap();
    let mut program = terminals.started(pane, client).await;
    program.until("an empty composer", is_free).await;

    program.paste("Ann:\n\nHow do you do?\n[moothall:0123abcd]").await.unwrap();
    program.press(Key::Enter).await;
    program.until("an answer", |view| is_free(view) && view.text.contains("a fake model")).await;
    assert!(was_asked(&server, "How do you do?\n[moothall:0123abcd]"), "it arrives as one prompt");

    let long: String = (0..400).map(|line| format!("{line}: the quick brown fox and the lazy dog\n")).collect();
    program.paste(&format!("{long}that was long")).await.unwrap();
    program.press(Key::Enter).await;
    program.until("an empty composer", is_free).await;
    assert!(was_asked(&server, "399: the quick brown fox and the lazy dog\nthat was long"));

    server.always(KEY, Reply::hang());
    program.paste("Wait for ever.").await.unwrap();
    program.press(Key::Enter).await;
    program.until("work", |view| view.state == PaneState::Busy).await;
    program.press(Key::Escape).await;
    program.until("an empty composer", is_free).await;

    terminals.tmux(&["send-keys", "-t", &program.pane.id, "-l", "a person"]);
    program.until("typed words", |view| view.composer.as_deref() == Some("a person")).await;
    assert!(program.refused().await.contains("composer is not empty"));
    terminals.host.end(&program.pane).await.unwrap();
    program.died().await;
}

#[tokio::test]
#[ignore = "needs the real programs, in MOOTHALL_REAL_AGENTS"]
async fn claude_talks() {
    talks("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs, in MOOTHALL_REAL_AGENTS"]
async fn codex_talks() {
    talks("codex").await;
}

#[tokio::test]
#[ignore = "needs the real programs, in MOOTHALL_REAL_AGENTS"]
async fn gemini_talks() {
    talks("gemini").await;
}
