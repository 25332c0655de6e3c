//! `help`, `completions` and `man`: documentation of the program itself.

use std::fs;
use std::io;
use std::path::Path;

use clap_complete::Shell as Kind;
use moothall_surfaces::error::meanings as error_codes;
use serde_json::json;

use crate::cli::{self, Completions, Help, Man, Shell};
use crate::config::nearest;
use crate::fault::{Exit, Fault};
use crate::paint::{Printer, note, output_fault};

/// Help topics other than commands.
const TOPICS: [(&str, &str); 2] = [
    (
        "environment",
        "MOOTHALL_SERVER    the server to use, like --server\n\
         MOOTHALL_PROFILE   a server that you joined, like --profile\n\
         MOOTHALL_TOKEN     the token to use; a file is safer: --token-file\n\
         MOOTHALL_CACERT    certificates to trust, like --cacert\n\
         MOOTHALL_LOG       log level of `serve`: error, warn, info, debug\n\
         MOOTHALL_SECTION__KEY\n\
         \x20                  a key of the configuration, e.g. MOOTHALL_SERVER__BIND=127.0.0.1:7000\n\
         NO_COLOR, CLICOLOR_FORCE, TERM, TZ, HTTPS_PROXY, NO_PROXY, XDG_*\n\
         \x20                  with their usual meaning\n\
         An empty variable counts as not set. Flags override variables, variables override\n\
         ./moothall.toml, and ./moothall.toml overrides moothall/moothall.toml in the XDG\n\
         configuration folder.",
    ),
    (
        "conversations",
        "Commands accept a conversation by its id, an id prefix of at least four characters, its\n\
         exact name, or the name of a session, which stands for its home. A single - is the\n\
         conversation that you used last from here. Commands accept a message by its number in\n\
         `moothall tail`. Put text that begins with - after --.",
    ),
];
const EXIT_CODES: &str = "exit-codes";
const ERROR: &str = "error";

/// Prints the overview for `moothall` without a command.
///
/// # Errors
/// Standard output cannot be written.
pub fn overview() -> Result<(), Fault> {
    print(&mut cli::command(), false)
}

/// Prints a topic, or else the help of the command that the words name. Without words, prints the
/// overview.
pub fn run(args: &Help, printer: &Printer) -> Result<(), Fault> {
    let [first, rest @ ..] = args.words.as_slice() else { return overview() };
    if first == ERROR {
        return error(rest, printer);
    }
    let topic = match first.as_str() {
        EXIT_CODES => Some(Exit::table()),
        word => TOPICS.iter().find(|(name, _)| *name == word).map(|(_, text)| (*text).to_owned()),
    };
    if let Some(text) = topic {
        let text = text.trim_end();
        return if printer.json {
            printer.object(&json!({"topic": first, "text": text}))
        } else {
            printer.line(text)
        };
    }
    let mut command = cli::command();
    command.build();
    let mut found = &mut command;
    for word in std::iter::once(first).chain(rest) {
        let shown = found.get_subcommands().filter(|inner| !inner.is_hide_set());
        let known: Vec<String> = shown.map(|inner| inner.get_name().to_owned()).collect();
        found = found.find_subcommand_mut(word).ok_or_else(|| unknown(word, &known))?;
    }
    print(found, true)
}

/// Prints the meaning of an error code. Without a code, lists all codes.
fn error(words: &[String], printer: &Printer) -> Result<(), Fault> {
    let Some(code) = words.first() else {
        let codes: Vec<&str> = error_codes().map(|(code, _)| code).collect();
        return if printer.json {
            printer.object(&json!({"codes": codes}))
        } else {
            printer.line(&codes.join("\n"))
        };
    };
    let Some((_, meaning)) = error_codes().find(|(known, _)| known == code) else {
        let known: Vec<&str> = error_codes().map(|(known, _)| known).collect();
        let way = nearest(code, &known).map_or_else(
            || "moothall help error, which lists all codes".to_owned(),
            |near| format!("moothall help error {near}"),
        );
        let what = format!("the error code {code:?} does not exist");
        return Err(Fault::new(Exit::Usage, what).try_this(way));
    };
    if printer.json {
        return printer.object(&json!({"code": code, "meaning": meaning}));
    }
    printer.line(&format!("{code}: {meaning}"))
}

fn print(command: &mut clap::Command, long: bool) -> Result<(), Fault> {
    let printed = if long { command.print_long_help() } else { command.print_help() };
    printed.map_err(|error| output_fault(&error))
}

/// Returns the error for a help topic that does not exist, with the nearest one or with all.
fn unknown(word: &str, known: &[String]) -> Fault {
    let topics = TOPICS.iter().map(|(name, _)| *name).chain([EXIT_CODES, ERROR]);
    let all: Vec<&str> = known.iter().map(String::as_str).chain(topics).collect();
    let fault = Fault::new(Exit::Usage, format!("help about {word:?} does not exist"));
    match nearest(word, &all) {
        Some(near) => fault.try_this(format!("moothall help {near}")),
        None => fault.try_this(format!("choose one of {}", all.join(", "))),
    }
}

/// Prints the completion script for a shell.
pub fn completions(args: &Completions, printer: &Printer) -> Result<(), Fault> {
    let shell = match args.shell {
        Shell::Bash => Kind::Bash,
        Shell::Zsh => Kind::Zsh,
        Shell::Fish => Kind::Fish,
        Shell::Power => Kind::PowerShell,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "moothall", &mut text);
    let text = knowing(args.shell, &String::from_utf8_lossy(&text));
    if printer.json {
        return printer.object(&json!({"script": text}));
    }
    io::Write::write_all(&mut io::stdout(), text.as_bytes()).map_err(|error| output_fault(&error))
}

/// Adds the completion of names that only the server knows to a completion script.
fn knowing(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{}", include_str!("completions/known.bash")),
        Shell::Fish => format!("{script}{}", include_str!("completions/known.fish")),
        Shell::Power => powershell(script),
        Shell::Zsh => {
            // Ask the server instead of using zsh's default completion. The function goes before
            // the script's last lines, which run when zsh loads the script.
            let asking = script.replace(":_default'", ":_moothall_known'");
            let (before, loaded) = asking.rsplit_once("\nif [").unwrap_or((&asking, ""));
            format!("{before}{}\nif [{loaded}", include_str!("completions/known.zsh"))
        }
    }
}

/// Adds code to the script for PowerShell that replaces the candidates for a word by the server's,
/// if the server has any.
fn powershell(script: &str) -> String {
    let known = include_str!("completions/known.ps1");
    let (before, rest) = script.split_once("    $completions.Where{").unwrap_or((script, ""));
    format!("{before}{known}    $completions.Where{{{rest}")
}

/// Writes a manual page for each command into a folder, which is created if it is missing.
pub fn man(args: &Man, printer: &Printer) -> Result<(), Fault> {
    let fault = |error: io::Error| {
        Fault::io(format!("cannot write into {}", args.folder.display()), &error)
    };
    fs::create_dir_all(&args.folder).map_err(fault)?;
    let mut command = cli::command();
    let examples = command.get_after_long_help().cloned().unwrap_or_default();
    command = command.after_long_help(format!("{examples}\n\n{}", Exit::table()));
    command.build();
    let pages = pages(&command, &args.folder).map_err(fault)?;
    if printer.json {
        return printer.object(&json!({"folder": args.folder, "pages": pages}));
    }
    note(&format!(
        "{pages} pages are in {}. If that is a folder of manual pages: man moothall",
        args.folder.display()
    ));
    Ok(())
}

/// Writes the page of a command and the pages of its subcommands, without hidden ones. Returns the
/// number of pages.
fn pages(command: &clap::Command, folder: &Path) -> io::Result<usize> {
    if command.is_hide_set() {
        return Ok(0);
    }
    let title = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    fs::write(folder.join(format!("{title}.1")), text)?;
    command.get_subcommands().try_fold(1, |done, inner| Ok(done + pages(inner, folder)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powershell_asks_the_server_before_it_offers_its_own_words() {
        let mut text = Vec::new();
        clap_complete::generate(Kind::PowerShell, &mut cli::command(), "moothall", &mut text);
        let script = knowing(Shell::Power, &String::from_utf8_lossy(&text));
        let asks = script.find("complete '--' @asked").unwrap_or(usize::MAX);
        let offers = script.find("$completions.Where{").unwrap_or_default();
        assert!(asks < offers, "{}", &script[script.len().saturating_sub(1500)..]);
        assert!(script.trim_end().ends_with('}'));
    }
}
