//! `invitation`: creates links that admit a person or an agent without a token into one
//! conversation or into the whole hall, lists them and revokes them.

use jiff::Timestamp;
use moothall_surfaces::wire::{
    InvitationCode, InvitationRequest, RevokeRequest, TokenEntry, TokenList, TokenRevoked,
};
use serde_json::json;

use super::join::LINK_MARK;
use super::{Context, confirmation, token};
use crate::cli::{Invitation, InvitationId, NewInvitation};
use crate::client::segment;
use crate::fault::Fault;
use crate::paint::{Style, note};
use crate::qr;
use crate::reach::is_loopback;
use crate::threads;

pub async fn run(context: &Context, command: &Invitation, others: &[String]) -> Result<(), Fault> {
    match command {
        Invitation::Create(args) => create(context, args, others).await,
        Invitation::List => list(context).await,
        Invitation::Revoke(args) => revoke(context, args).await,
    }
}

/// Creates an invitation and prints its link, with a QR code on a terminal. `others` are the
/// server's addresses for other computers. The first replaces a loopback address in the link,
/// unless `--url` names another.
async fn create(context: &Context, args: &NewInvitation, others: &[String]) -> Result<(), Fault> {
    let path = match &args.thread {
        Some(word) => threads::path(&threads::resolve(&context.client, word).await?, "invitations"),
        None => "/invitations".into(),
    };
    let request = InvitationRequest {
        principal: args.principal.clone(),
        kind: Some(if args.agent { "agent" } else { "human" }.into()),
        scopes: (!args.scope.is_empty()).then(|| args.scope.clone()),
        expires_in_hours: args.expires,
    };
    let made: InvitationCode = context.client.post(&path, &request).await?;
    let server = outside(&context.client.base(), args.url.as_deref(), others);
    let link = format!("{}/{LINK_MARK}{}", server.trim_end_matches('/'), made.code);
    if context.printer.json {
        return context.printer.object(
            &json!({"link": link, "code": made.code, "id": made.id, "expires_at": made.expires_at}),
        );
    }
    context.printer.line(&link)?;
    if !is_loopback(&server) {
        qr::print(&context.printer, &link)?;
    }
    let until = made.expires_at.map_or_else(String::new, |at| format!(", until {at}"));
    let place = if args.thread.is_some() { "in this conversation" } else { "in the whole hall" };
    note(&format!(
        "It works once{until}: in a browser, or with `moothall join`. The first to use it becomes \
         {} {place}.",
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

/// Lists the invitations that can still be accepted.
async fn list(context: &Context) -> Result<(), Fault> {
    let now = Timestamp::now();
    let is_open = |token: &TokenEntry| {
        token.kind == "invitation"
            && token.revoked_at.is_none()
            && token.expires_at.parse::<Timestamp>().is_ok_and(|at| now < at)
    };
    let TokenList { mut tokens, next } = token::all(&context.client).await?;
    tokens.retain(is_open);
    if context.printer.json {
        return context.printer.object(&TokenList { tokens, next });
    }
    if tokens.is_empty() {
        note("No open invitations. To create one: moothall invitation create --for ann");
    }
    tokens.iter().try_for_each(|token| context.printer.line(&row(context, token)))
}

/// Returns an invitation as a line: id, invited principal, place and expiry.
fn row(context: &Context, token: &TokenEntry) -> String {
    let place = match token.threads.as_deref() {
        None => "the whole hall".to_owned(),
        Some(threads) => threads.join(", "),
    };
    let name = context.printer.paint(Style::Bold, &token.principal.id);
    let facts = format!("{}, into {place}, until {}", token.principal.kind, token.expires_at);
    format!("{}  {name}  {}", token.id, context.printer.paint(Style::Plain, &facts))
}

/// Revokes an invitation after a confirmation.
async fn revoke(context: &Context, args: &InvitationId) -> Result<(), Fault> {
    let InvitationId { id, sure } = args;
    if confirmation::ask(context, sure, &format!("Revoke invitation {id}?"))?.is_rehearsal() {
        return Ok(());
    }
    let path = format!("/tokens/{}/revoke", segment(id));
    let revoked: TokenRevoked = context.client.post(&path, &RevokeRequest::default()).await?;
    if context.printer.json {
        return context.printer.object(&revoked);
    }
    note(if revoked.changed {
        "The invitation is revoked."
    } else {
        "The invitation was revoked or used already; `moothall token list` shows its token."
    });
    Ok(())
}

/// Returns the address for the link: `named`, or the first of `others` if `used` is a loopback
/// address, or else `used`.
pub fn outside(used: &str, named: Option<&str>, others: &[String]) -> String {
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
