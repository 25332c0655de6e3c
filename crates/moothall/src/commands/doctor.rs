//! `doctor`: checks this computer, the configuration and the server, and says how to fix each
//! problem.

mod agents;
mod bundle;
mod channels;
mod computers;
mod folder;
mod models;
mod repair;
mod server;

pub use folder::warning as warning_of_folder;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use moothall_kernel::text::counted;
use moothall_surfaces::here;
use moothall_surfaces::wire::Ping;
use nix::sys::resource::{Resource, getrlimit};
use serde::Serialize;

use crate::accounts;
use crate::cli::{Doctor, Global};
use crate::client::Client;
use crate::config::{self, Config, Mode, UnknownPeerRule};
use crate::credential::CredentialOptions;
use crate::fault::{Exit, Fault};
use crate::gauges;
use crate::own_program::LINKED;
use crate::owner;
use crate::paint::{Printer, Style};
use crate::place::{StartupSettings, look, settle};
use repair::Repair;

/// Free space in bytes below which a check fails, and below which it warns.
const FREE_BYTES_MIN: u64 = 64 << 20;
const FREE_BYTES_WARN: u64 = 1 << 30;
/// First SQLite without the checkpoint race that can damage a write-ahead log.
const SQLITE_MIN: (u32, u32, u32) = (3, 51, 3);
/// Limit of open files below which a busy server delays connections.
pub const FILES_MIN: u64 = 1024;
/// First tmux with the paste and control-client features that sessions need.
const TMUX_MIN: (u32, u32) = (3, 2);
/// Earliest plausible clock, in seconds since the epoch: 2026-01-01.
const CLOCK_SECONDS_MIN: u64 = 1_767_225_600;
/// Name of the check for local mode, which needs a system that tells the user of each connection.
const OWNER: &str = "users";
/// Time limit for a server's answer.
const PING_WITHIN: Duration = Duration::from_secs(2);

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Info,
    Warn,
    Fail,
}

/// Result of a check, and the fix for a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// Repair that `--fix` makes.
    #[serde(skip)]
    repair: Option<Repair>,
}

impl Finding {
    fn new(check: &'static str, verdict: Verdict, found: impl Into<String>) -> Self {
        Self { check, verdict, found: found.into(), fix: None, repair: None }
    }

    /// Adds a repair that `--fix` can make. Its text is also the fix.
    fn repair(self, repair: Repair) -> Self {
        Self { fix: Some(repair.to_string()), repair: Some(repair), ..self }
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Finding>,
}

/// Runs all checks and prints them. Checks a running server only if `--server` or its variable
/// names it. With `--fix`, makes the repairs; with `--bundle`, writes the file. Returns an error if
/// a check has failed and was not repaired; warnings do not count.
pub async fn run(args: &Doctor, global: &Global, printer: &Printer) -> Result<(), Fault> {
    let mut checks = examine(args).await;
    let server = global.server.as_deref().filter(|server| !server.is_empty());
    let said = CredentialOptions {
        server,
        token_file: global.token_file.as_deref(),
        data: None,
        profile: global.profile.as_deref(),
        cacert: global.cacert.as_deref(),
    };
    if server.is_some() {
        checks.extend(server::examine(&said).await);
    }
    if !printer.json {
        checks.iter().try_for_each(|finding| print(printer, finding))?;
    }
    if args.fix {
        checks = repair::make(checks, args.yes, printer)?;
    }
    let failed = checks.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    let report = Report { ok: failed == 0, checks };
    if printer.json {
        printer.object(&report)?;
    }
    if let Some(file) = &args.bundle {
        bundle::write(file, args, &said, &report, printer).await?;
    }
    match failed {
        0 => Ok(()),
        1 => Err(Fault::new(Exit::Failure, "one check failed")),
        several => Err(Fault::new(Exit::Failure, format!("{several} checks failed"))),
    }
}

/// Prints a finding: its verdict, its check and its text, and below them the fix, if any.
fn print(printer: &Printer, finding: &Finding) -> Result<(), Fault> {
    let (style, word) = match finding.verdict {
        Verdict::Ok => (Style::Good, "ok  "),
        Verdict::Info => (Style::Dim, "info"),
        Verdict::Warn => (Style::Warn, "warn"),
        Verdict::Fail => (Style::Bad, "FAIL"),
    };
    printer.line(&format!(
        "{}  {:<14} {}",
        printer.paint(style, word),
        finding.check,
        printer.paint(Style::Plain, &finding.found)
    ))?;
    finding.fix.as_ref().map_or(Ok(()), |fix| {
        printer.line(&format!("      {:<14} → {}", "", printer.paint(Style::Bold, fix)))
    })
}

/// Checks this computer and the configuration. With an invalid configuration, leaves out the checks
/// that need it.
async fn examine(args: &Doctor) -> Vec<Finding> {
    let mut findings = vec![version(), sqlite(), clock(), files()];
    // Only `--ping` needs the values of keys, which commands of the configuration may give. `look`
    // runs no such command.
    let settings = if args.ping { settle } else { look };
    match settings(&args.place, &config::environment()) {
        Err(fault) => {
            let fix = fault.forward.unwrap_or_else(|| "correct it at that position".into());
            let why = fault.why.map_or_else(String::new, |why| format!(": {why}"));
            findings.insert(
                0,
                Finding::new("configuration", Verdict::Fail, format!("{}{why}", fault.what))
                    .fix(fix),
            );
            findings.push(tmux(tmux_version().as_deref(), false));
        }
        Ok(settled) => {
            findings.splice(0..0, configuration(&settled.config));
            let mut agents = settled.config.agents.values();
            let wanted = agents.any(|agent| agent.is_enabled() && agent.lives_in_session());
            findings.push(tmux(tmux_version().as_deref(), wanted));
            findings.extend(data_folder(&settled.data));
            findings.push(address(settled.bind).await);
            findings.extend(owner(&settled));
            findings.extend(agents::examine(&settled.config, args.ping).await);
        }
    }
    findings
}

/// Returns the finding about the file, and one for each warning of the configuration. If this
/// process may not run sessions as the user of `[sessions]`, returns only that failure.
fn configuration(config: &Config) -> Vec<Finding> {
    let found = match &config.file {
        Some(file) => format!(
            "{}, {} configured",
            file.display(),
            counted(config.agents.len() as u64, "agent")
        ),
        None => "no file; every key has its default".into(),
    };
    let found = match accounts::named(config)
        .iter()
        .find(|named| named.section == "[sessions]")
        .map(accounts::NamedUser::allowed)
    {
        Some(Err(why)) => {
            let fix = "run this as the user of the server, or correct `run_as` in [sessions]";
            return vec![
                Finding::new(
                    "configuration",
                    Verdict::Fail,
                    format!("in [sessions], `run_as`: {why}"),
                )
                .fix(fix),
            ];
        }
        Some(Ok(_)) | None => found,
    };
    let finding = |verdict, found: &str| Finding::new("configuration", verdict, found);
    let warnings = config.warnings.iter().map(|warning| {
        let about = |file: &&PathBuf| warning.starts_with(&format!("{} ", file.display()));
        let warned = finding(Verdict::Warn, warning);
        match config.exposed.iter().find(about) {
            Some(file) => warned.repair(Repair::Mode(file.clone(), 0o600)),
            None => warned,
        }
    });
    std::iter::once(finding(Verdict::Ok, &found)).chain(warnings).collect()
}

/// Returns this program's version, commit, linkage and path. This check cannot fail.
fn version() -> Finding {
    let commit =
        option_env!("MOOTHALL_COMMIT").map_or_else(String::new, |commit| format!(" ({commit})"));
    let file = std::env::current_exe()
        .map_or_else(|_| String::new(), |file| format!(", {}", file.display()));
    Finding::new(
        "moothall",
        Verdict::Ok,
        format!("{}{commit}, {LINKED}{file}", env!("CARGO_PKG_VERSION")),
    )
}

/// Checks the version of SQLite, and fails if it is older than [`SQLITE_MIN`].
fn sqlite() -> Finding {
    let version = moothall_store::sqlite_version();
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    if (next(), next(), next()) >= SQLITE_MIN {
        Finding::new("sqlite", Verdict::Ok, version)
    } else {
        Finding::new("sqlite", Verdict::Fail, format!("version {version} can damage the log"))
            .fix("build with the bundled SQLite, 3.51.3 or newer")
    }
}

/// Checks the clock, and fails if it is before [`CLOCK_SECONDS_MIN`].
fn clock() -> Finding {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    if now < CLOCK_SECONDS_MIN {
        return Finding::new("clock", Verdict::Fail, "the clock is in the past")
            .fix("set it, e.g. timedatectl set-ntp true");
    }
    let millis = i64::try_from(now).unwrap_or(i64::MAX).saturating_mul(1000);
    Finding::new(
        "clock",
        Verdict::Ok,
        moothall_kernel::time::Timestamp::from_millis(millis).to_string(),
    )
}

/// Checks the limit of open files, and warns if it is below [`FILES_MIN`].
fn files() -> Finding {
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, _)) if soft < FILES_MIN => {
            Finding::new("open files", Verdict::Warn, format!("at most {soft}"))
                .fix(format!("raise it with ulimit -n {FILES_MIN} or more"))
        }
        Ok((soft, _)) => Finding::new("open files", Verdict::Ok, format!("at most {soft}")),
        Err(error) => {
            Finding::new("open files", Verdict::Info, format!("the limit is unknown: {error}"))
        }
    }
}

/// Returns the version line of tmux, if tmux is installed.
pub fn tmux_version() -> Option<String> {
    let output = std::process::Command::new("tmux")
        .arg("-V")
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Checks tmux, in which sessions run. A missing or old tmux fails only if the configuration needs
/// it.
fn tmux(version: Option<&str>, wanted: bool) -> Finding {
    let found = |trouble: &str| match wanted {
        true => Finding::new(
            "tmux",
            Verdict::Fail,
            format!("{trouble}, and agents with runtime = \"terminal\" are configured"),
        ),
        false => Finding::new(
            "tmux",
            Verdict::Info,
            format!("{trouble}; programs in terminals need it (`moothall run`)"),
        ),
    };
    let fix = format!("install tmux {}.{} or newer", TMUX_MIN.0, TMUX_MIN.1);
    match version {
        None => found("not installed").fix(fix),
        Some(version) if numbers(version).is_some_and(|numbers| numbers < TMUX_MIN) => {
            found(&format!("{version} is too old")).fix(fix)
        }
        Some(version) => Finding::new("tmux", Verdict::Ok, version),
    }
}

/// Returns the numbers in `tmux 3.3a`; `None` for versions such as `tmux master`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_whitespace().nth(1)?.split_once('.')?;
    let digits = minor.find(|c: char| !c.is_ascii_digit()).unwrap_or(minor.len());
    Some((major.parse().ok()?, minor.get(..digits)?.parse().ok()?))
}

/// Checks the data folder. If it does not exist yet, checks its nearest existing ancestor, without
/// the checks of permissions, owner, log and credential.
fn data_folder(folder: &Path) -> Vec<Finding> {
    let Some(existing) = folder
        .ancestors()
        .find(|path| path.exists())
        .filter(|path| !path.as_os_str().is_empty())
        .or(Some(Path::new(".")))
    else {
        return Vec::new();
    };
    let mut findings = vec![writable(folder, existing)];
    if existing == folder {
        findings.extend(folder::private(folder));
        findings.extend(folder::owned(folder));
        findings.extend(folder::log(folder));
        findings.extend(folder::key(folder));
    }
    findings.extend(folder::read_only(existing));
    findings.extend(free_space(existing));
    findings.extend(file_system(existing));
    findings
}

/// Checks that a file can be created, synchronised and removed in `existing`, which is the data
/// folder or its nearest existing ancestor.
fn writable(folder: &Path, existing: &Path) -> Finding {
    let probe = existing.join(format!(".moothall-doctor-{}", std::process::id()));
    let tried = std::fs::OpenOptions::new().write(true).create_new(true).open(&probe);
    let tried = tried.and_then(|file| file.sync_all()).and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) if existing == folder => {
            Finding::new("data folder", Verdict::Ok, folder.display().to_string())
        }
        Ok(()) => Finding::new(
            "data folder",
            Verdict::Ok,
            format!("{} will be created", folder.display()),
        ),
        Err(error) => {
            let fix = format!(
                "get the permission to write to {}, or name another folder with --data",
                existing.display()
            );
            Finding::new(
                "data folder",
                Verdict::Fail,
                format!("cannot write to {}: {error}", existing.display()),
            )
            .fix(fix)
        }
    }
}

/// Checks the free space of a folder's disk. `None` if the system does not tell it.
fn free_space(folder: &Path) -> Option<Finding> {
    let free = gauges::free_bytes(folder)?;
    let found = format!("{} MiB free", free >> 20);
    Some(match free {
        ..FREE_BYTES_MIN => Finding::new("disk", Verdict::Fail, found)
            .fix("free some space; on a full disk, every message is rejected"),
        FREE_BYTES_MIN..FREE_BYTES_WARN => {
            Finding::new("disk", Verdict::Warn, found).fix("free some space soon")
        }
        _ => Finding::new("disk", Verdict::Ok, found),
    })
}

/// Warns of a remote file system, because the write-ahead log needs locks and shared memory, and
/// they perhaps do not work there.
#[cfg(target_os = "linux")]
fn file_system(folder: &Path) -> Option<Finding> {
    use nix::sys::statfs;
    let kind = statfs::statfs(folder).ok()?.filesystem_type();
    let remote = [
        (statfs::NFS_SUPER_MAGIC, "NFS"),
        (statfs::SMB_SUPER_MAGIC, "SMB"),
        (statfs::FUSE_SUPER_MAGIC, "FUSE"),
    ];
    Some(match remote.into_iter().find(|(magic, _)| *magic == kind) {
        Some((_, name)) => Finding::new(
            "file system",
            Verdict::Warn,
            format!("{name}: locks and shared memory may not work on it"),
        )
        .fix("use a local disk"),
        None => Finding::new("file system", Verdict::Ok, "local"),
    })
}

/// Only Linux identifies a file system by a number.
#[cfg(not(target_os = "linux"))]
fn file_system(_: &Path) -> Option<Finding> {
    None
}

/// Checks the premise of local mode: the system can tell the user of each request. `None` in token
/// mode and with `other_users`, which do not need that.
fn owner(settled: &StartupSettings) -> Option<Finding> {
    let server = &settled.config.server;
    if settled.mode == Mode::Token || server.other_users {
        return None;
    }
    Some(match owner::unknown(settled) {
        None => Finding::new(OWNER, Verdict::Ok, "the system reports the user of each request"),
        Some(why) => {
            let what = match server.unasked {
                UnknownPeerRule::Refuse => {
                    "a server started here rejects requests without a credential"
                }
                UnknownPeerRule::Converse => {
                    "a server started here lets all users of this computer converse"
                }
            };
            Finding::new(OWNER, Verdict::Warn, format!("{why}; {what}")).fix(owner::CURE)
        }
    })
}

/// Checks the listen address. It is fine if a Moothall server answers there, or if the address is
/// free.
async fn address(bind: SocketAddr) -> Finding {
    if bind.port() != 0
        && let Ok(client) = Client::new(&here(bind), None)
        && let Ok(Ok(ping)) = tokio::time::timeout(PING_WITHIN, client.get::<Ping>("/ping")).await
        && ping.server == "moothall"
    {
        return Finding::new(
            "address",
            Verdict::Ok,
            format!("a server of version {} answers on {bind}", ping.version),
        );
    }
    match TcpListener::bind(bind) {
        Ok(_) => Finding::new("address", Verdict::Ok, format!("{bind} is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            Finding::new("address", Verdict::Fail, format!("another program listens on {bind}"))
                .fix("stop that program, or use --bind 127.0.0.1:0")
        }
        Err(error) => {
            Finding::new("address", Verdict::Fail, format!("cannot listen on {bind}: {error}"))
                .fix("use another address with --bind")
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn verdict_of(findings: &[Finding], check: &str) -> Verdict {
        findings.iter().find(|finding| finding.check == check).unwrap().verdict
    }

    #[test]
    fn the_bundled_sqlite_is_new_enough() {
        assert_eq!(sqlite().verdict, Verdict::Ok);
    }

    #[test]
    fn tmux_is_missed_where_it_is_needed() {
        assert_eq!(tmux(None, false).verdict, Verdict::Info);
        assert_eq!(tmux(None, true).verdict, Verdict::Fail);
        assert_eq!(tmux(Some("tmux 2.9a"), true).verdict, Verdict::Fail);
        for fine in ["tmux 3.2", "tmux 3.3a", "tmux 10.0", "tmux master", "tmux next-3.6"] {
            assert_eq!(tmux(Some(fine), true).verdict, Verdict::Ok, "{fine}");
        }
    }

    #[test]
    fn a_folder_that_others_can_read_is_worth_a_word() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(verdict_of(&data_folder(folder.path()), "permissions"), Verdict::Warn);
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(verdict_of(&data_folder(folder.path()), "permissions"), Verdict::Fail);
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(verdict_of(&data_folder(folder.path()), "permissions"), Verdict::Ok);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the probe is gone");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(verdict_of(&data_folder(&file.join("data")), "data folder"), Verdict::Fail);
    }

    #[tokio::test]
    async fn a_port_that_another_program_has_is_a_failure() {
        let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bind = other.local_addr().unwrap();
        let hanging_up = tokio::spawn(async move { while other.accept().await.is_ok() {} });
        assert_eq!(address(bind).await.verdict, Verdict::Fail);
        hanging_up.abort();
        assert!(hanging_up.await.is_err_and(|error| error.is_cancelled()));
        assert_eq!(address(bind).await.verdict, Verdict::Ok);
    }
}
