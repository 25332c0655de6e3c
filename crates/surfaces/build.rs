//! Builds the page in `web/` into `OUT_DIR/web`, where `ui.rs` embeds it.
//!
//! It runs only when something under `web/` changed. Without a Node that is new enough, or when npm
//! fails, a plain page takes its place that says how to get the real one, so that the server can
//! always be built with Rust alone. `MOOTHALL_SKIP_WEB=1` asks for that page.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// The sources of the page, below `web/`.
const SOURCES: [&str; 8] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "scripts",
    "svelte.config.js",
];
/// The copy of the lock file from which `node_modules` was installed.
const INSTALLED: &str = "node_modules/.moothall-lock";
/// The page that replaces it in a build without Node.
const FALLBACK: &str = "src/ui/fallback";

fn main() -> io::Result<()> {
    let crate_dir = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let web = crate_dir.join("../../web");
    let out = PathBuf::from(variable("OUT_DIR")?).join("web");
    watch(&web);
    if let Err(reason) = build(&web, &out) {
        println!("cargo:warning=The server is built without its web page: {reason}.");
        replace(&crate_dir.join(FALLBACK), &out)?;
    }
    Ok(())
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

fn watch(web: &Path) {
    println!("cargo:rerun-if-env-changed=MOOTHALL_SKIP_WEB");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={FALLBACK}");
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", web.join(source).display());
    }
}

/// Builds the page, or says why not.
fn build(web: &Path, out: &Path) -> Result<(), String> {
    if env::var("MOOTHALL_SKIP_WEB").is_ok_and(|value| !value.is_empty() && value != "0") {
        return Err("MOOTHALL_SKIP_WEB is set".into());
    }
    if !web.join("package.json").exists() {
        return Err("there is no web folder".into());
    }
    check_node()?;
    install(web)?;
    let out = out.to_str().ok_or("the path of the build folder is not UTF-8")?;
    npm(web, &["run", "build", "--", "--outDir", out, "--emptyOutDir", "--logLevel", "warn"])
}

/// Fails if Node is missing, or too old to build the page. An old Node's own error does not say
/// that.
fn check_node() -> Result<(), String> {
    let way = "install Node 20.19 or newer with npm, `touch web/package.json` and build again";
    let output = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("Node cannot be run ({error}); {way}"))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if is_usable(&version) {
        Ok(())
    } else {
        Err(format!("Node {version} is too old for it; {way}"))
    }
}

/// The versions that `web/package.json` asks for.
fn is_usable(version: &str) -> bool {
    let mut numbers =
        version.trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(20), Some(minor)) => minor >= 19,
        (Some(22), Some(minor)) => minor >= 12,
        (Some(major), _) => major > 22,
        (None, _) => false,
    }
}

/// Installs what the lock file names, if it names something else than last time.
fn install(web: &Path) -> Result<(), String> {
    let lock = fs::read(web.join("package-lock.json"))
        .map_err(|error| format!("package-lock.json: {error}"))?;
    let installed = web.join(INSTALLED);
    if fs::read(&installed).is_ok_and(|before| before == lock) {
        return Ok(());
    }
    npm(web, &["ci", "--no-audit", "--no-fund", "--ignore-scripts"])?;
    fs::write(&installed, lock).map_err(|error| format!("{INSTALLED}: {error}"))
}

fn npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    // Cargo reads this program's standard output, so npm must not write there.
    let output =
        Command::new(program).args(arguments).current_dir(web).stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        format!("npm cannot be run ({error}); it comes with Node, or as a package of its own")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    said.lines()
        .rev()
        .take(20)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .for_each(|line| println!("cargo:warning=npm: {line}"));
    Err(format!("`npm {}` failed with {}", arguments.first().unwrap_or(&""), output.status))
}

/// Puts the files of one folder into another that is made anew.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
