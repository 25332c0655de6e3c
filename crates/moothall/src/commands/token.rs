//! `token`: makes, lists and revokes tokens.

use moothall_surfaces::wire::{TokenCreated, TokenEntry, TokenList, TokenRequest, TokenRevoked};
use serde_json::json;

use super::{Context, sure};
use crate::cli::{NewToken, Token, TokenId};
use crate::client::segment;
use crate::fault::Fault;
use crate::paint::{Style, note};
use crate::threads;

pub async fn run(context: &Context, command: &Token) -> Result<(), Fault> {
    match command {
        Token::Create(args) => create(context, args).await,
        Token::List(_) => list(context).await,
        Token::Revoke(args) => revoke(context, args).await,
    }
}

async fn create(context: &Context, args: &NewToken) -> Result<(), Fault> {
    let mut bound = Vec::new();
    for word in &args.thread {
        bound.push(threads::resolve(&context.client, word).await?);
    }
    let some = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    let request = TokenRequest {
        principal: args.principal.clone(),
        kind: Some(if args.agent { "agent" } else { "human" }.into()),
        scopes: some(&args.scope),
        threads: some(&bound),
        label: args.label.clone(),
        expires_in_days: args.days,
    };
    let created: TokenCreated = context.client.post("/tokens", &request).await?;
    if context.printer.json {
        return context.printer.object(&created);
    }
    context.printer.line(&created.token)?;
    let entry = &created.entry;
    note(&format!(
        "Token {} of {}, until {}: {}.",
        entry.id,
        entry.principal.id,
        entry.expires_at,
        entry.scopes.join(", ")
    ));
    note(
        "It is shown this once. Programs send it as `Authorization: Bearer …`; the command line takes it from MOOTHALL_TOKEN or --token-file, \
         and the page as its key.",
    );
    Ok(())
}

async fn list(context: &Context) -> Result<(), Fault> {
    let list: TokenList = context.client.get("/tokens").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    if list.tokens.is_empty() {
        note("There is no token yet. Make one: moothall token create ann");
    }
    list.tokens.iter().try_for_each(|token| context.printer.line(&row(context, token)))
}

fn row(context: &Context, token: &TokenEntry) -> String {
    let (style, standing) = match (&token.revoked_at, &token.last_used_at) {
        (Some(at), _) => (Style::Dim, format!("revoked {at}")),
        (None, Some(at)) => (Style::Plain, format!("until {}, last seen {at}", token.expires_at)),
        (None, None) => (Style::Plain, format!("until {}, never seen", token.expires_at)),
    };
    let place = match token.threads.as_deref() {
        None => String::new(),
        // What such an agent reaches is said by its tasks.
        Some([]) => " in its tasks".into(),
        Some(threads) => format!(" in {}", threads.join(", ")),
    };
    let label = if token.label.is_empty() { String::new() } else { format!("  ({})", token.label) };
    let facts = format!("{:<10} {}{place}  {standing}{label}", token.kind, token.scopes.join(" "));
    format!(
        "{}  {}  {}",
        token.id,
        context.printer.paint(Style::Bold, &token.principal.id),
        context.printer.paint(style, &facts)
    )
}

async fn revoke(context: &Context, args: &TokenId) -> Result<(), Fault> {
    sure::ask(
        context,
        &args.sure,
        &format!("Make token {} worthless, and every browser that signed in with it?", args.id),
    )?;
    let revoked: TokenRevoked =
        context.client.post(&format!("/tokens/{}/revoke", segment(&args.id)), &json!({})).await?;
    if context.printer.json {
        return context.printer.object(&revoked);
    }
    note(if revoked.changed {
        "It is worth nothing any more, and neither is what signed in with it."
    } else {
        "It was worth nothing already."
    });
    Ok(())
}
