//! Checks of a running server: its reachability and version, the caller's identity, the channels
//! and the other computers.

use moothall_surfaces::error::Code;
use moothall_surfaces::wire::{Ping, WhoAmI};
use tokio::time::timeout;

use super::{Finding, OWNER, PING_WITHIN, Verdict, channels, computers};
use crate::client::Client;
use crate::config;
use crate::credential::{CredentialOptions, ResolvedServer};
use crate::fault::Fault;
use crate::owner;

const CHECK: &str = "server";

/// Checks the named server. If it does not answer as a Moothall server, returns only that failure.
pub async fn examine(said: &CredentialOptions<'_>) -> Vec<Finding> {
    let reached = ResolvedServer::find(said, &config::environment()).and_then(|meant| {
        let client = Client::new(&meant.server, meant.cacert.as_deref())?.at_home(meant.spool);
        Ok(client.with(meant.credential))
    });
    let client = match reached {
        Ok(client) => client,
        Err(fault) => return vec![failed(&fault)],
    };
    let base = client.base();
    match timeout(PING_WITHIN, client.get::<Ping>("/ping")).await {
        Ok(Ok(ping)) if ping.server == "moothall" => {
            let mut findings = vec![version(&base, &ping.version), proof(&client).await];
            findings.extend(unasked(&base, said).await);
            findings.extend(channels::examine(&client).await);
            findings.extend(computers::examine(&client).await);
            findings
        }
        Ok(Ok(_)) => vec![
            Finding::new(CHECK, Verdict::Fail, format!("another program answers at {base}"))
                .fix("name the right server with --server"),
        ],
        Ok(Err(fault)) => vec![failed(&fault)],
        Err(_) => vec![
            Finding::new(
                CHECK,
                Verdict::Fail,
                format!("{base} did not answer within {} s", PING_WITHIN.as_secs()),
            )
            .fix("start the server with `moothall serve`, or name the right one with --server"),
        ],
    }
}

/// Compares the server's version with this program's, and warns if they differ.
fn version(base: &str, version: &str) -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    let found = format!("{base} answers, version {version}");
    if version == own {
        return Finding::new(CHECK, Verdict::Ok, found);
    }
    let fix = "restart the server after an upgrade, or use the program of its version";
    Finding::new(CHECK, Verdict::Warn, format!("{found}, but this program has version {own}"))
        .fix(fix)
}

/// Reports the caller's identity, as the server sees it. A missing credential is only information.
async fn proof(client: &Client) -> Finding {
    match timeout(PING_WITHIN, client.get::<WhoAmI>("/session")).await {
        Ok(Ok(WhoAmI { mode, principal: Some(principal), .. })) => {
            let kind = if principal.kind == "human" { "a person" } else { "an agent" };
            Finding::new(
                "proof",
                Verdict::Ok,
                format!("{mode} mode; you are {}, {kind}", principal.id),
            )
        }
        Ok(Ok(WhoAmI { mode, principal: None, .. })) => Finding::new(
            "proof",
            Verdict::Info,
            format!(
                "{mode} mode without a credential: you may converse, but have no rights of a person"
            ),
        )
        .fix(
            "run this as the user of the server, or with --token-file FILE (moothall token create)",
        ),
        Ok(Err(fault)) => Finding { check: "proof", ..failed(&fault) },
        Err(_) => Finding::new("proof", Verdict::Fail, "the server did not report your identity")
            .fix("check its log"),
    }
}

/// Sends a request without a credential, as any user of this computer could. Returns a warning if
/// the server rejects the request because the operating system does not name its user.
async fn unasked(base: &str, said: &CredentialOptions<'_>) -> Option<Finding> {
    let stranger = Client::new(base, said.cacert).ok()?;
    let refused = timeout(PING_WITHIN, stranger.get::<WhoAmI>("/session")).await.ok()?.err()?;
    (refused.code.as_deref() == Some(<&str>::from(Code::OwnerUnknown))).then(|| {
        let found = format!("{base} rejects requests without a credential: {}", refused.what);
        Finding::new(OWNER, Verdict::Warn, found).fix(owner::CURE)
    })
}

fn failed(fault: &Fault) -> Finding {
    let why = fault.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let fix = fault.forward.clone().unwrap_or_else(|| {
        "start the server with `moothall serve`, or name the right one with --server".to_owned()
    });
    Finding::new(CHECK, Verdict::Fail, format!("{}{why}", fault.what)).fix(fix)
}
