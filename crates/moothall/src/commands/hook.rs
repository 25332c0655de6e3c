//! `hook`: reports an event of a program in a terminal. It always succeeds, because its failure
//! must not disturb the program.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;

use moothall_agents::terminal::hooks::{PAYLOAD_BYTES_MAX, Surroundings, report};

use crate::cli::Hook;
use crate::paint::note;

/// Reports an event, and prints the answer that the program expects. A failed report is only noted
/// on standard error.
pub fn run(args: &Hook) {
    let mut words = args.words.iter().map(|word| word.to_string_lossy());
    let (program, event) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let said = event_data(args.words.get(2..).and_then(<[_]>::last).map(|word| word.as_os_str()));
    let here = Surroundings::of(|name| std::env::var_os(name));
    let (answer, kept) = report(here.as_ref(), &program, &event, &said);
    if let Err(error) = kept {
        note(&format!("moothall hook: the event was not reported: {error}"));
    }
    if !answer.is_empty() {
        // The program may have closed its end of the pipe.
        let _ = writeln!(io::stdout(), "{answer}");
    }
}

/// Returns the data of the event: the argument if there is one, otherwise standard input. Reads all
/// input, so that the program's writes never block.
fn event_data(argument: Option<&OsStr>) -> Vec<u8> {
    let mut said = Vec::new();
    if let Some(argument) = argument {
        said.extend_from_slice(argument.as_bytes());
    } else if !io::stdin().is_terminal() {
        let mut input = io::stdin().lock();
        // One byte more than the maximum shows that the data was too long. A read error counts as
        // the end of the data.
        let _ = input.by_ref().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut said);
        let _ = io::copy(&mut input, &mut io::sink());
    }
    said
}
