//! `page`: prints a sign-in link for the page.

use serde_json::json;

use super::Context;
use crate::fault::{Exit, Fault};

/// Prints a sign-in link with this client's credential. Returns `Denied` without a credential.
pub fn run(context: &Context) -> Result<(), Fault> {
    let server = context.client.base();
    let none = || {
        Fault::new(Exit::Denied, format!("no credential for {server} was found here"))
            .because("the page needs a credential to sign you in")
            .try_this(
                "run this as the user that runs the server, name its data folder with --data DIR, \
                 or give a token with --token-file FILE",
            )
    };
    let key = context.client.credential().ok_or_else(none)?;
    // A browser keeps a fragment to itself: neither requests nor logs contain it.
    let page = format!("{server}/#key={key}");
    if context.printer.json {
        context.printer.object(&json!({ "page": page }))
    } else {
        context.printer.line(&page)
    }
}
