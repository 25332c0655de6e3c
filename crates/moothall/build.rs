//! Passes facts about the build to the program: its target, and the commit of its sources.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=MOOTHALL_COMMIT");
    println!("cargo::rustc-env=MOOTHALL_TARGET={}", env::var("TARGET").unwrap_or_default());
    // Without optimisation the commit is left out, or each commit would build all tests again.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if env::var_os("MOOTHALL_COMMIT").is_some() || !is_release {
        return;
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    // The sources may lie in the checkout of another project, which has another commit.
    let is_own = git(&["ls-files", "build.rs"]).is_some_and(|files| !files.is_empty());
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_own);
    if let Some(commit) = commit {
        println!("cargo::rustc-env=MOOTHALL_COMMIT={commit}");
    }
}

/// Returns the output of a git command; `None` without git or a checkout.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}
