//! What it costs to paste into ten terminals, beside ten bare pastes that nobody looks at; and what idle terminals cost.
//!
//! Prints numbers and judges nothing. `cargo bench -p moothall-agents --bench pastes`; needs tmux.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_agents::terminal::{Plain, Program, Reads, TmuxHost};
use moothall_engine::sessions::{HostFault, Key, Launch, Pane, PaneNews, PaneState, SessionHost};
use moothall_testkit::fake_tui;

const TERMINALS: usize = 10;
const IDLE_TERMINALS: usize = 50;
const IDLE_FOR: Duration = Duration::from_secs(5);
const TEXT: &str = "Ann (1):\n\nWhat do you make of this? Three lines,\nas they are pasted.\n[moothall:0123abcd]";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Within a terminal this very program is the stand-in.
    fake_tui::act();
    if Command::new("tmux").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("tmux is not installed; nothing was measured");
        return Ok(());
    }
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let (argv, env) = fake_tui::within("none", &[]);
    let program = Program { env, reads: Reads::Claude, ..Program::new(argv) };
    let programs = BTreeMap::from([("fake".to_owned(), program)]);
    let host = TmuxHost::new(folder.path(), programs, Arc::new(Plain))?;
    let mut panes = Vec::new();
    for number in 0..IDLE_TERMINALS {
        panes.push(start(&host, folder.path(), number).await?);
    }
    let socket = folder.path().join("tmux.sock").to_string_lossy().into_owned();
    let server = tmux(&socket, &["display-message", "-p", "#{pid}"])?;

    let (before, own) = (cpu(&server), cpu("self"));
    tokio::time::sleep(IDLE_FOR).await;
    let (tmux_ms, own_ms) = (cpu(&server) - before, cpu("self") - own);
    println!("{IDLE_TERMINALS} idle terminals for {} s: {tmux_ms} ms of CPU in tmux, {own_ms} ms here", IDLE_FOR.as_secs());

    let panes = &panes[..TERMINALS];
    for round in 1..=3 {
        let started = Instant::now();
        let pastes = futures_util::future::join_all(panes.iter().map(|pane| host.paste(pane, "fake", TEXT))).await;
        let pasted = started.elapsed();
        pastes.into_iter().collect::<Result<Vec<()>, HostFault>>()?;
        for pane in panes {
            host.press(pane, Key::Enter).await?;
            idle(&host, pane).await?;
        }
        let bare = bare_pastes(&socket, panes)?;
        for pane in panes {
            tmux(&socket, &["send-keys", "-t", &pane.id, "Enter"])?;
            idle(&host, pane).await?;
        }
        let ratio = pasted.as_secs_f64() / bare.as_secs_f64();
        println!(
            "round {round}: {TERMINALS} pastes, looked at before and after, {pasted:.1?}; the floor, bare processes, {bare:.1?}; ratio {ratio:.2}"
        );
    }
    tmux(&socket, &["kill-server"])?;
    Ok(())
}

async fn start(host: &TmuxHost, cwd: &std::path::Path, number: usize) -> Result<Pane, HostFault> {
    let launch = Launch {
        session: format!("bench-{number}").as_str().into(),
        name: format!("bench-{number}"),
        client: "fake".to_owned(),
        args: Vec::new(),
        cwd: cwd.to_owned(),
        env: BTreeMap::new(),
    };
    let pane = host.start(&launch).await?;
    idle(host, &pane).await?;
    Ok(pane)
}

async fn idle(host: &TmuxHost, pane: &Pane) -> Result<(), HostFault> {
    let mut news = host.watch(pane, "fake").await?;
    loop {
        let view = host.view(pane, "fake").await?;
        if view.state == PaneState::Idle && view.composer.as_deref() == Some("") {
            return Ok(());
        }
        if news.recv().await == Ok(PaneNews::Died) {
            return Err(HostFault::Gone("the stand-in ended".to_owned()));
        }
    }
}

/// `load-buffer` and `paste-buffer`, each a process of its own, one after another.
fn bare_pastes(socket: &str, panes: &[Pane]) -> std::io::Result<Duration> {
    let file = format!("{socket}.text");
    std::fs::write(&file, TEXT)?;
    let started = Instant::now();
    for pane in panes {
        tmux(socket, &["load-buffer", "-b", "bare", &file])?;
        tmux(socket, &["paste-buffer", "-p", "-d", "-b", "bare", "-t", &pane.id])?;
    }
    Ok(started.elapsed())
}

fn tmux(socket: &str, arguments: &[&str]) -> std::io::Result<String> {
    let output = Command::new("tmux").env_remove("TMUX").args(["-S", socket]).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Milliseconds of CPU that a process has used, as Linux counts them: in hundredths of a second.
fn cpu(process: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10
}
