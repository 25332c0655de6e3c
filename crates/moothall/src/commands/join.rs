//! `join`: turns an invitation into a token, and stores the token.

use moothall_surfaces::wire::{InvitationAccepted, TokenCreated};
use serde_json::json;

use crate::cli::Join;
use crate::client::Client;
use crate::config;
use crate::credential::{CredentialOptions, ResolvedServer};
use crate::fault::{Exit, Fault};
use crate::paint::{Printer, note};
use crate::profile::Profile;

/// Text before the code in a link. The code is in the fragment, which neither requests nor logs
/// contain.
pub const LINK_MARK: &str = "#join=";
/// Prefix of a code.
const CODE: &str = "inv_";

/// Exchanges an invitation for a token. Stores the token in a profile or, with `--print`, prints it
/// instead.
pub async fn run(
    said: &CredentialOptions<'_>,
    printer: &Printer,
    args: &Join,
) -> Result<(), Fault> {
    let variables = config::environment();
    let (server, code) = match split(&args.link)? {
        (Some(server), code) => (server, code),
        (None, code) => (
            ResolvedServer::find(&CredentialOptions { profile: None, ..*said }, &variables)?.server,
            code,
        ),
    };
    let client = Client::new(&server, said.cacert)?;
    let body = InvitationAccepted { code: code.to_owned() };
    let accepted: TokenCreated = client
        .post("/invitations/accept", &body)
        .await
        .map_err(|fault| worthless(fault, &server))?;
    if args.print {
        return if printer.json {
            printer.object(&accepted)
        } else {
            printer.line(&accepted.token)
        };
    }
    let name = said.profile.map_or_else(|| Profile::usual_name(&server), str::to_owned);
    let cacert = said
        .cacert
        .map(std::path::absolute)
        .transpose()
        .map_err(|error| Fault::io("cannot find the certificates", &error))?;
    let principal = accepted.entry.principal.id.clone();
    let profile = Profile {
        server: server.clone(),
        token: accepted.token,
        principal: principal.clone(),
        cacert,
    };
    let file = profile.write(&name, &variables)?;
    if printer.json {
        let threads = accepted.entry.threads;
        return printer.object(&json!({"server": server, "principal": principal, "threads": threads, "profile": name, "file": file}));
    }
    note(&format!(
        "You are {principal} at {server}, until {}. The token is saved in {}.",
        accepted.entry.expires_at,
        file.display()
    ));
    note(&format!(
        "Next: moothall --profile {name} list   For all commands: export MOOTHALL_PROFILE={name}"
    ));
    Ok(())
}

/// Splits a link into its server and its code; a bare code has no server.
fn split(link: &str) -> Result<(Option<String>, &str), Fault> {
    let link = link.trim();
    let found = match link.split_once(LINK_MARK) {
        Some((server, code)) => (Some(server.trim_end_matches('/').to_owned()), code),
        None => (None, link),
    };
    if found.1.starts_with(CODE) && found.0.as_deref() != Some("") {
        return Ok(found);
    }
    Err(Fault::new(Exit::Usage, "this is not an invitation").try_this(
        "give a link such as https://hall.example.org/#join=inv_…, or a code such as inv_…; quote \
         the link, because the shell reads # as a comment",
    ))
}

/// Names the invitation as the cause of a denied request. Returns other errors as they are.
fn worthless(fault: Fault, server: &str) -> Fault {
    if fault.exit != Exit::Denied {
        return fault;
    }
    Fault::new(Exit::Denied, format!("the invitation is unknown to {server}, used or expired"))
        .try_this("ask for a new one: moothall invitation create [THREAD] --for NAME")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_link_says_where_and_a_code_what() {
        assert_eq!(
            split("https://hall.test/#join=inv_1").unwrap(),
            (Some("https://hall.test".into()), "inv_1")
        );
        assert_eq!(split(" inv_1\n").unwrap(), (None, "inv_1"));
        for bad in
            ["https://hall.test/", "#join=inv_1", "pat_1", "https://hall.test/#key=boot_1", ""]
        {
            assert_eq!(split(bad).unwrap_err().exit, Exit::Usage, "{bad}");
        }
    }
}
