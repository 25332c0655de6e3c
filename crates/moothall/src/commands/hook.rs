//! `hook`: what a program in a terminal runs to report. Nothing that goes wrong here is the
//! program's business, so it always succeeds.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;

use moothall_agents::terminal::hooks::{PAYLOAD_BYTES_MAX, Surroundings, report};

use crate::cli::Hook;
use crate::paint::note;

pub fn run(args: &Hook) {
    let mut words = args.words.iter().map(|word| word.to_string_lossy());
    let (program, event) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let said = said(args.words.get(2..).and_then(<[_]>::last).map(|word| word.as_os_str()));
    let here = Surroundings::of(|name| std::env::var_os(name));
    let (answer, kept) = report(here.as_ref(), &program, &event, &said);
    if let Err(error) = kept {
        note(&format!("moothall hook: not reported: {error}"));
    }
    if !answer.is_empty() {
        // A program that has closed it does not want to know.
        let _ = writeln!(io::stdout(), "{answer}");
    }
}

/// What the program says: the last argument, or standard input. All of it is read, so that the
/// program can write all of it.
fn said(argument: Option<&OsStr>) -> Vec<u8> {
    let mut said = Vec::new();
    if let Some(argument) = argument {
        said.extend_from_slice(argument.as_bytes());
    } else if !io::stdin().is_terminal() {
        let mut input = io::stdin().lock();
        // One byte more than is kept tells that there was more. What cannot be read is as good as
        // not said.
        let _ = input.by_ref().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut said);
        let _ = io::copy(&mut input, &mut io::sink());
    }
    said
}
