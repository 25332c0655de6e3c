//! `page`: prints a sign-in link for the page, and a QR code of it for a phone.

use serde_json::json;

use super::Context;
use super::invitation::outside;
use crate::cli::Page;
use crate::fault::{Exit, Fault};
use crate::paint::note;
use crate::qr;
use crate::reach::is_loopback;

/// Prints a sign-in link with this client's credential. With `--qr`, the first of `others`, the
/// server's addresses for other computers, replaces a loopback address in the link, and a QR code
/// of the link follows. Fails with [`Exit::Denied`] without a credential.
pub fn run(context: &Context, args: &Page, others: &[String]) -> Result<(), Fault> {
    let used = context.client.base();
    let server = if args.qr { outside(&used, None, others) } else { used };
    let none = || {
        Fault::new(Exit::Denied, format!("no credential for {server} was found here"))
            .because("the page needs a credential to sign you in")
            .try_this(
                "run this as the user that runs the server, name its data folder with --data DIR, \
                 or give a token with --token-file FILE",
            )
    };
    let key = context.client.credential().ok_or_else(none)?;
    // The credential is in the fragment, which a browser does not send, so neither requests nor
    // logs contain it.
    let page = format!("{server}/#key={key}");
    if context.printer.json {
        return context.printer.object(&json!({ "page": page }));
    }
    context.printer.line(&page)?;
    if args.qr && is_loopback(&server) {
        note(
            "No QR code: the server listens on this computer only. Start it with --mode token and \
             --bind ADDRESS for others.",
        );
        return Ok(());
    }
    if args.qr { qr::print(&context.printer, &page) } else { Ok(()) }
}
