//! `config`: checks and prints the configuration.

use serde_json::json;

use crate::accounts;
use crate::cli::{ConfigAction, ConfigFile};
use crate::config::{self, Config, Setting, needs_restart};
use crate::fault::Fault;
use crate::paint::{Printer, Style, note};

pub fn run(action: &ConfigAction, printer: &Printer) -> Result<(), Fault> {
    match action {
        ConfigAction::Check(file) => check(file, printer),
        ConfigAction::Schema => schema(printer),
        ConfigAction::Example => config::example().lines().try_for_each(|line| printer.line(line)),
        ConfigAction::Show { file, origin } => show(file, *origin, printer),
    }
}

/// Prints the JSON Schema of the configuration.
fn schema(printer: &Printer) -> Result<(), Fault> {
    if printer.json {
        return printer.object(&config::schema());
    }
    printer.line(&format!("{:#}", config::schema()))
}

/// Checks the configuration and the users in its `run_as`. Runs no command of a `${cmd:…}`. Prints
/// the result, and for each key that is set one of two lines: the next reload applies a change of
/// the key, or the change needs a restart of the server.
fn check(file: &ConfigFile, printer: &Printer) -> Result<(), Fault> {
    let mut config = Config::inspect(file.config.as_deref(), &config::environment())?;
    for warning in accounts::check(&config)? {
        config.warnings.push(warning);
    }
    let agents: Vec<&String> = config.agents.keys().collect();
    let set = config::settings(file.config.as_deref(), &config::environment())?;
    let lasting: Vec<&str> =
        set.iter().map(|setting| setting.key.as_str()).filter(|key| needs_restart(key)).collect();
    if printer.json {
        return printer
            .object(&json!({"ok": true, "file": config.file, "agents": agents, "warnings": config.warnings, "needs_restart": lasting}));
    }
    config.warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
    let place = config.file.map_or_else(
        || "no file; every key has its default".to_owned(),
        |file| file.display().to_string(),
    );
    printer.line(&format!(
        "{}  {}",
        printer.paint(Style::Good, "ok"),
        printer.paint(Style::Plain, &place)
    ))?;
    set.iter().try_for_each(|setting| printer.line(&taken_over(&setting.key, printer)))
}

/// Returns the line that says if a running server applies a change of this key at a reload, or
/// needs a restart.
fn taken_over(key: &str, printer: &Printer) -> String {
    let (style, when) = if needs_restart(key) {
        (Style::Warn, "needs a restart")
    } else {
        (Style::Dim, "applies at the next reload")
    };
    format!("    {}  {}", printer.paint(Style::Plain, key), printer.paint(style, when))
}

/// Prints the keys that are set, with `origin` each with its place.
fn show(file: &ConfigFile, origin: bool, printer: &Printer) -> Result<(), Fault> {
    let settings = config::settings(file.config.as_deref(), &config::environment())?;
    if printer.json {
        return printer.object(&json!({ "settings": settings }));
    }
    if settings.is_empty() {
        note("No key is set; for the defaults, see `moothall config example`");
    }
    settings.iter().try_for_each(|setting| printer.line(&row(setting, origin, printer)))
}

/// Returns a setting as a line of TOML.
fn row(setting: &Setting, origin: bool, printer: &Printer) -> String {
    let line = printer.paint(Style::Plain, &format!("{} = {}", setting.key, setting.value));
    if origin {
        format!("{line}  {}", printer.paint(Style::Dim, &format!("# {}", setting.origin)))
    } else {
        line
    }
}
