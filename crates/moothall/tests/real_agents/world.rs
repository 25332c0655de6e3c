//! One real program in a terminal, launched for a session, with all its reports.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_agents::terminal::Vendor;
use moothall_agents::terminal::hooks::{HookInjector, HookSink, Spool, SpoolFolder};
use moothall_engine::sessions::{Hook, HookNews, Permit, ReportOutcome, SessionError, SessionId};
use moothall_kernel::occupation::ToolUse;
use moothall_testkit::model_server::ModelServer;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::harness::{Home, PATIENCE};
use crate::programs;
use crate::terminal::Terminal;

pub const SESSION: &str = "01980000-0000-7000-8000-000000000001";
pub const TOKEN: &str = "CANARY-0123456789abcdef";

/// Input of the server.
#[derive(Debug)]
pub enum Came {
    Report(Hook),
    Question(Hook),
}

struct Ear {
    came: mpsc::UnboundedSender<Came>,
    permit: Permit,
}

#[async_trait]
impl HookSink for Ear {
    async fn handle_report(&self, hook: Hook) -> Result<ReportOutcome, SessionError> {
        self.came.send(Came::Report(hook)).unwrap();
        Ok(ReportOutcome::Yes)
    }

    async fn ask(&self, hook: Hook) -> Permit {
        self.came.send(Came::Question(hook)).unwrap();
        self.permit.clone()
    }
}

/// A reader of one session's spool.
pub struct SpoolListener {
    pub injector: HookInjector,
    came: mpsc::UnboundedReceiver<Came>,
    /// The reported uses of tools, and their ends.
    pub uses: Vec<Option<ToolUse>>,
    reader: tokio::task::JoinHandle<()>,
    _kept: TempDir,
}

impl Drop for SpoolListener {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl SpoolListener {
    /// Starts reading, and answers every permission request with `permit`.
    pub fn new(permit: Permit) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let spool = SpoolFolder::new(kept.path().join("spool"));
        let opened = Spool::open(spool.clone()).expect("a spool");
        let (sender, came) = mpsc::unbounded_channel();
        let ear: Arc<dyn HookSink> = Arc::new(Ear { came: sender, permit });
        let reader = tokio::spawn(async move { opened.run(ear).await });
        let injector = HookInjector {
            moothall: env!("CARGO_BIN_EXE_moothall").into(),
            url: "http://127.0.0.1:9".into(),
            spool,
            outside: None,
        };
        Self { injector, came, uses: Vec::new(), reader, _kept: kept }
    }

    /// Returns the next input, and keeps the uses of tools before it.
    pub async fn next(&mut self) -> Came {
        loop {
            let came = tokio::time::timeout(PATIENCE, self.came.recv()).await;
            match came.expect("a report, and none came").unwrap() {
                Came::Report(Hook { news: HookNews::Uses(tool), .. }) => self.uses.push(tool),
                other => return other,
            }
        }
    }

    /// Returns the next report.
    pub async fn news(&mut self) -> HookNews {
        match self.next().await {
            Came::Report(hook) => {
                assert_eq!((hook.session.as_str(), hook.token.as_str()), (SESSION, TOKEN));
                hook.news
            }
            question @ Came::Question(_) => panic!("{question:?}"),
        }
    }

    /// Checks that the next report is a prompt with these words.
    pub async fn prompted(&mut self, words: &str) {
        let news = self.news().await;
        assert!(
            matches!(&news, HookNews::Prompt { text } if text.contains(words)),
            "{words}: {news:?}"
        );
    }

    /// Checks that the next report is the end of a turn; returns its text.
    pub async fn stopped(&mut self) -> Option<String> {
        match self.news().await {
            HookNews::Stopped { text, .. } => text,
            news => panic!("{news:?}"),
        }
    }
}

/// A program in a terminal, and its reports.
pub struct World {
    pub models: ModelServer,
    pub terminal: Terminal,
    pub home: Home,
    pub listening: SpoolListener,
}

impl World {
    /// Starts a program, and waits until it accepts input.
    pub async fn of(client: &str, args: &[&str], ready: &[&str], permit: Permit) -> Self {
        let (home, models) = (Home::new(), ModelServer::start().await.unwrap());
        let work = programs::settle(&home, &models.url());
        let listening = SpoolListener::new(permit);
        let mut env = programs::variables(&home);
        let launch_command = listening
            .injector
            .of(Vendor::of(client), &SessionId::new(SESSION), TOKEN, &env)
            .unwrap();
        let mut argv = vec![programs::file(client)];
        argv.extend(args.iter().map(|arg| (*arg).to_owned()).chain(launch_command.args));
        env.extend(launch_command.env);
        let terminal = Terminal::start(&argv, &env, &work);
        terminal.drawn(ready);
        Self { models, terminal, home, listening }
    }
}
