//! `page`: prints a sign-in link for the page.

use serde_json::json;

use super::Context;
use crate::fault::{Exit, Fault};

pub fn run(context: &Context) -> Result<(), Fault> {
    let server = context.client.base();
    let none = || {
        Fault::new(Exit::Denied, format!("there is no credential for {server} here"))
            .because("the page needs one to sign in with")
            .try_this("be the user who runs the server, name its data folder with --data DIR, or show a token with --token-file FILE")
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
