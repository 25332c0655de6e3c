//! `matrix`: writes the registration by which a homeserver and this server know each other.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;

use moothall_channels::matrix::registration;
use serde_json::json;

use crate::cli::{MatrixCommand, NewRegistration};
use crate::fault::{Exit, Fault};
use crate::paint::{Printer, note};

pub fn run(command: &MatrixCommand, printer: &Printer) -> Result<(), Fault> {
    match command {
        MatrixCommand::Registration(args) => register(args, printer),
    }
}

/// Writes a registration with new tokens into a new file, which only this user can read.
fn register(args: &NewRegistration, printer: &Printer) -> Result<(), Fault> {
    if args.domain.is_empty() || args.domain.contains(['/', '@', ' ']) {
        return Err(Fault::new(Exit::Usage, "the domain is not the name of a homeserver")
            .try_this("name the part behind the colon in @ann:example.org"));
    }
    let made = registration::fresh(&args.domain, &args.url)
        .map_err(|error| Fault::new(Exit::Failure, "cannot make the tokens").because(error))?;
    let text = format!("{made:#}\n");
    let name = args.out.display();
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&args.out).map_err(
            |error| match error.kind() {
                ErrorKind::AlreadyExists => Fault::new(Exit::Usage, format!("{name} exists"))
                    .try_this("name another file with --out; a homeserver may use this one"),
                _ => Fault::io(format!("cannot write {name}"), &error),
            },
        )?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| Fault::io(format!("cannot write {name}"), &error))?;
    if printer.json {
        return printer.object(&json!({"file": args.out, "url": args.url}));
    }
    note(&format!(
        "Wrote {name}. Name it in the homeserver's app_service_config_files and in [channels.matrix] \
         as `registration`, and let the homeserver read it. Then restart both."
    ));
    Ok(())
}
