//! `init`: writes a first configuration that names what is found on this computer.

use std::fs::OpenOptions;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use moothall_engine::registry::AgentSpec;
use serde_json::json;

use super::doctor::tmux_version;
use crate::cli::{Init, Template};
use crate::config::{self, Mode};
use crate::fault::{Exit, Fault};
use crate::paint::{Printer, note};
use crate::place::USUAL_BIND;

/// Programs that can run in a terminal, by their agent name.
const IN_TERMINALS: [&str; 3] = ["claude", "codex", "gemini"];

/// Answers for the new configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choices {
    bind: String,
    mode: Mode,
}

impl Default for Choices {
    fn default() -> Self {
        Self { bind: USUAL_BIND.to_string(), mode: Mode::Local }
    }
}

/// Writes the configuration file; with `--dry-run`, only prints it. Asks questions only at a
/// terminal, and neither with `--defaults` nor with `--json`.
pub fn run(args: &Init, printer: &Printer) -> Result<(), Fault> {
    let variables = config::environment();
    let asked = !args.defaults
        && !printer.json
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal();
    let choices = if asked { ask(&mut std::io::stdin().lock())? } else { Choices::default() };
    let found = moothall_agents::discover(
        |name| variables.get(name).cloned(),
        &format!("http://{USUAL_BIND}"),
    );
    let mut text = written(&choices, &found, tmux_version().as_deref());
    text.push_str(args.template.map_or("", settings_of));
    if args.dry_run {
        return printer.line(text.trim_end());
    }
    write(&args.file, &text)?;
    if printer.json {
        let names: Vec<&str> = found.iter().map(|spec| spec.client.as_str()).collect();
        return printer.object(&json!({"file": args.file, "found": names}));
    }
    note(&format!("Wrote {}. Review it, then: moothall serve", args.file.display()));
    Ok(())
}

/// Asks for the choices on standard error. An empty answer takes the default, which the question
/// shows in brackets.
fn ask(answers: &mut impl BufRead) -> Result<Choices, Fault> {
    let others = answer(
        answers,
        "Allow other computers to connect? Every request then needs a token. [no]",
    )?;
    let others = matches!(others.to_lowercase().as_str(), "y" | "yes");
    let port = loop {
        let port = answer(answers, &format!("Port? [{}]", USUAL_BIND.port()))?;
        match port.parse::<u16>() {
            _ if port.is_empty() => break USUAL_BIND.port(),
            Ok(port) if port > 0 => break port,
            Ok(_) | Err(_) => note("A port is a number from 1 to 65535."),
        }
    };
    Ok(match others {
        true => Choices { bind: format!("0.0.0.0:{port}"), mode: Mode::Token },
        false => Choices { bind: format!("127.0.0.1:{port}"), mode: Mode::Local },
    })
}

/// Asks one question, and returns the answer without space around it. Fails at the end of the
/// input.
fn answer(answers: &mut impl BufRead, question: &str) -> Result<String, Fault> {
    let fault = |error: std::io::Error| Fault::io("cannot ask", &error);
    write!(std::io::stderr(), "{question} ").map_err(fault)?;
    let mut line = String::new();
    match answers.read_line(&mut line).map_err(fault)? {
        0 => Err(Fault::new(Exit::Interrupted, "nothing was written")
            .try_this("use moothall init --defaults, which asks no questions")),
        _ => Ok(line.trim().to_owned()),
    }
}

/// Returns the text of the file: the choices as settings, and the found agents as comments, because
/// the server offers these without a section of their own.
fn written(choices: &Choices, found: &[AgentSpec], tmux: Option<&str>) -> String {
    let mode = moothall_engine::access::Mode::from(choices.mode);
    let mut text = format!(
        "# Moothall's configuration. Every key has a default; `moothall config example` describes them all.\n\n[server]\nbind = {:?}\nmode = \"{mode}\"\n",
        choices.bind
    );
    if choices.mode == Mode::Token {
        text.push_str(
            "\n# A certificate, to encrypt connections:\n# [server.tls]\n# cert = \"cert.pem\"\n# \
             key = \"key.pem\"\n",
        );
    }
    text.push_str(match found {
        [] => {
            "\n# No command-line agents and no keys of model providers were found. To add your \
             own agent:\n# [agents.mine]\n# command = [\"./agent.sh\"]\n"
        }
        _ => "\n# Found on this computer, and available without a section here:\n",
    });
    for spec in found {
        let summary = spec.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("#   {:<12} {summary}\n", spec.client));
    }
    let living =
        found.iter().filter(|spec| tmux.is_some() && IN_TERMINALS.contains(&spec.client.as_str()));
    for (place, spec) in living.enumerate() {
        if place == 0 {
            text.push_str(&format!(
                "\n# To run it in a terminal that you can attach to ({}):\n",
                tmux.unwrap_or("tmux")
            ));
        }
        let client = &spec.client;
        text.push_str(&format!(
            "# [agents.{client}]\n# runtime = \"terminal\"\n# command = [{client:?}]\n"
        ));
    }
    text
}

/// Returns the settings for a purpose, with comments.
const fn settings_of(template: Template) -> &'static str {
    match template {
        Template::Debate => include_str!("templates/debate.toml"),
        Template::Review => include_str!("templates/review.toml"),
        Template::Gathering => include_str!("templates/gathering.toml"),
        Template::Support => include_str!("templates/support.toml"),
    }
}

/// Creates the file. Fails if it exists already.
fn write(file: &Path, text: &str) -> Result<(), Fault> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    opened.and_then(|mut open| open.write_all(text.as_bytes())).map_err(|error| {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => Fault::new(
                Exit::Failure,
                format!("{} exists already, and was not changed", file.display()),
            )
            .try_this("use moothall init --dry-run to print the file"),
            _ => Fault::io(format!("cannot write {}", file.display()), &error),
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_asked_has_defaults_and_nonsense_is_asked_again() {
        assert_eq!(ask(&mut "\n\n".as_bytes()).unwrap(), Choices::default());
        let open = ask(&mut "yes\nmany\n0\n7000\n".as_bytes()).unwrap();
        assert_eq!(open, Choices { bind: "0.0.0.0:7000".into(), mode: Mode::Token });
        assert_eq!(ask(&mut "".as_bytes()).unwrap_err().exit, Exit::Interrupted);
    }

    /// Returns the configuration of a file that holds this text.
    fn read(text: &str) -> Result<crate::config::Config, Fault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("moothall.toml");
        write(&file, text).unwrap();
        crate::config::Config::find(Some(&file), &crate::config::Variables::new())
    }

    #[test]
    fn each_template_is_a_configuration_also_with_its_suggestions() {
        use clap::ValueEnum;
        for template in Template::value_variants() {
            let start = written(&Choices::default(), &[], None);
            let text = format!("{start}{}", settings_of(*template));
            let config = read(&text).unwrap();
            assert_ne!(config.defaults, moothall_kernel::policy::Policy::default(), "{text}");
            // A suggestion is a line such as `# key = …` or `# [section]`.
            let bare = text.lines().map(|line| {
                let rest = line.strip_prefix("# ");
                rest.filter(|rest| rest.starts_with('[') || rest.contains(" = ")).unwrap_or(line)
            });
            let bare = bare.collect::<Vec<_>>().join("\n");
            let suggested = read(&bare).unwrap_or_else(|fault| panic!("{fault}\n{bare}"));
            assert!(suggested.warnings.iter().all(|w| w.contains("is not set")), "{bare}");
        }
    }

    #[test]
    fn what_is_written_is_a_configuration_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("moothall.toml");
        let found = moothall_agents::discover(
            |name| (name == "ANTHROPIC_API_KEY").then(|| "sk-secret".to_owned()),
            "http://127.0.0.1:1",
        );
        for choices in
            [Choices::default(), Choices { bind: "0.0.0.0:7000".into(), mode: Mode::Token }]
        {
            let text = written(&choices, &found, Some("tmux 3.3a"));
            assert!(text.contains("ANTHROPIC_API_KEY") && !text.contains("sk-secret"), "{text}");
            let _ = std::fs::remove_file(&file);
            write(&file, &text).unwrap();
            let config =
                crate::config::Config::find(Some(&file), &crate::config::Variables::new()).unwrap();
            assert_eq!(
                (config.server.bind.as_deref(), config.server.mode),
                (Some(choices.bind.as_str()), choices.mode)
            );
        }
        assert!(write(&file, "").unwrap_err().what.contains("exists already"));
        assert!(written(&Choices::default(), &[], None).contains("[agents.mine]"));
    }
}
