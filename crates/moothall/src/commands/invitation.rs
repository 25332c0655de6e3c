//! `invitation`: creates links that admit a person or an agent without a token into one
//! conversation.

use moothall_surfaces::wire::{InvitationCode, InvitationRequest};
use serde_json::json;

use super::Context;
use super::join::LINK_MARK;
use crate::cli::{Invitation, NewInvitation};
use crate::fault::Fault;
use crate::paint::note;
use crate::reach::is_loopback;
use crate::threads;

pub async fn run(context: &Context, command: &Invitation, others: &[String]) -> Result<(), Fault> {
    match command {
        Invitation::Create(args) => create(context, args, others).await,
    }
}

/// Creates an invitation and prints its link. `others` are the server's addresses for other
/// computers, one of which replaces a loopback address in the link.
async fn create(context: &Context, args: &NewInvitation, others: &[String]) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let request = InvitationRequest {
        principal: args.principal.clone(),
        kind: Some(if args.agent { "agent" } else { "human" }.into()),
        scopes: (!args.scope.is_empty()).then(|| args.scope.clone()),
        expires_in_hours: args.expires,
    };
    let made: InvitationCode =
        context.client.post(&threads::path(&thread, "invitations"), &request).await?;
    let server = outside(&context.client.base(), args.url.as_deref(), others);
    let link = format!("{}/{LINK_MARK}{}", server.trim_end_matches('/'), made.code);
    if context.printer.json {
        return context
            .printer
            .object(&json!({"link": link, "code": made.code, "expires_at": made.expires_at}));
    }
    context.printer.line(&link)?;
    let until = made.expires_at.map_or_else(String::new, |at| format!(", until {at}"));
    note(&format!(
        "It works once{until}: in a browser, or with `moothall join`. The first to use it becomes \
         {}.",
        args.principal
    ));
    if is_loopback(&server) {
        note(
            "Its address works only on this computer; name the address for other computers with \
             --url.",
        );
    }
    Ok(())
}

/// Returns the server's address for the invited side.
fn outside(used: &str, named: Option<&str>, others: &[String]) -> String {
    let known = others.first().filter(|_| is_loopback(used)).map(String::as_str);
    named.or(known).unwrap_or(used).to_owned()
}

#[cfg(test)]
mod tests {
    use super::outside;

    #[test]
    fn a_link_names_an_address_that_others_reach() {
        let others = ["https://hall.test".to_owned()];
        assert_eq!(outside("http://127.0.0.1:5111", None, &others), "https://hall.test");
        assert_eq!(outside("http://192.0.2.1:5111", None, &others), "http://192.0.2.1:5111");
        assert_eq!(
            outside("http://127.0.0.1:5111", Some("https://x.test"), &others),
            "https://x.test"
        );
        assert_eq!(outside("http://127.0.0.1:5111", None, &[]), "http://127.0.0.1:5111");
    }
}
