//! `token`: creates, lists and revokes tokens.

use std::collections::BTreeSet;

use moothall_surfaces::wire::{
    RevokeRequest, TokenCreated, TokenEntry, TokenList, TokenRequest, TokenRevoked,
};

use super::{Context, confirmation};
use crate::cli::{NewToken, RevokedToken, Token, TokenId};
use crate::client::{Client, segment};
use crate::fault::{Exit, Fault};
use crate::paint::{Style, note};
use crate::threads;

/// Rows per request.
const ROWS: usize = 1000;
/// Minimum number of characters with which the beginning of an id means a token. Fewer may be a
/// slip.
const ID_CHARS_MIN: usize = 6;

pub async fn run(context: &Context, command: &Token) -> Result<(), Fault> {
    match command {
        Token::Create(args) => create(context, args).await,
        Token::List => list(context).await,
        Token::Revoke(args) => revoke(context, args).await,
    }
}

/// Creates a token and prints it. The server never shows it again.
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
        "The token is shown only now. Programs send it as `Authorization: Bearer …`; the command \
         line reads it from MOOTHALL_TOKEN or --token-file, and the page accepts it as its key.",
    );
    Ok(())
}

/// Prints all tokens, also the revoked ones.
async fn list(context: &Context) -> Result<(), Fault> {
    let list = all(&context.client).await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    if list.tokens.is_empty() {
        note("No tokens yet. To create one: moothall token create ann");
    }
    list.tokens.iter().try_for_each(|token| context.printer.line(&row(context, token)))
}

/// Reads all tokens, page by page.
pub async fn all(client: &Client) -> Result<TokenList, Fault> {
    let (mut tokens, mut next) = (Vec::new(), None);
    loop {
        let from = next.map_or_else(String::new, |next: String| format!("&cursor={next}"));
        let page: TokenList = client.get(&format!("/tokens?limit={ROWS}{from}")).await?;
        tokens.extend(page.tokens);
        next = page.next;
        if next.is_none() {
            return Ok(TokenList { tokens, next });
        }
    }
}

/// Returns a token as a line: id, principal, rights, conversations, and validity or revocation.
fn row(context: &Context, token: &TokenEntry) -> String {
    let (style, standing) = match (&token.revoked_at, &token.last_used_at) {
        (Some(at), _) => (Style::Dim, format!("revoked {at}")),
        (None, Some(at)) => (Style::Plain, format!("until {}, last seen {at}", token.expires_at)),
        (None, None) => (Style::Plain, format!("until {}, never seen", token.expires_at)),
    };
    let place = match token.threads.as_deref() {
        None => String::new(),
        // The tasks of such an agent decide what it reaches.
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

/// Revokes a token after a confirmation. With `--with-children`, also revokes the tokens that its
/// invitations issued. Otherwise prints those tokens, because they stay valid.
async fn revoke(context: &Context, args: &RevokedToken) -> Result<(), Fault> {
    let TokenId { id: word, sure, .. } = &args.token;
    let tokens = all(&context.client).await?.tokens;
    let id = &meant(context, &tokens, word)?;
    if sure.dry_run && !tokens.iter().any(|token| token.id == *id) {
        return Err(Fault::new(Exit::Failure, format!("no token has the id {id:?}"))
            .try_this("moothall token list"));
    }
    let children = came_of(tokens, id);
    if args.with_children && !context.printer.json {
        children.iter().try_for_each(|token| context.printer.line(&row(context, token)))?;
    }
    let others = match (args.with_children, children.len()) {
        (true, 1) => ", and the token above, which its invitations issued".into(),
        (true, count @ 2..) => {
            format!(", and the {count} tokens above, which its invitations issued")
        }
        _ => String::new(),
    };
    if confirmation::ask(
        context,
        sure,
        &format!(
            "Revoke token {id}, the browsers that signed in with it and its open invitations{others}?"
        ),
    )?.is_rehearsal() {
        return Ok(());
    }
    let request = RevokeRequest { with_children: args.with_children.then_some(true) };
    let path = format!("/tokens/{}/revoke", segment(id));
    let revoked: TokenRevoked = context.client.post(&path, &request).await?;
    if context.printer.json {
        return context.printer.object(&revoked);
    }
    note(if revoked.changed {
        "The token is revoked, with the browsers that signed in with it and its open invitations."
    } else {
        "The token was revoked already."
    });
    if !revoked.children.is_empty() {
        note(&format!(
            "Its invitations issued these tokens, which are still valid. To revoke them too: \
             moothall token revoke {id} --with-children"
        ));
        revoked.children.iter().try_for_each(|token| context.printer.line(&row(context, token)))?;
    }
    Ok(())
}

/// Returns the id of the token that a word means: an id, the beginning of one, or the person or
/// agent who has a single valid token. A word that means none stays as it is, and the server says
/// so.
fn meant(context: &Context, tokens: &[TokenEntry], word: &str) -> Result<String, Fault> {
    if tokens.iter().any(|token| token.id == word) {
        return Ok(word.to_owned());
    }
    let means = |token: &TokenEntry| {
        let begins = word.len() >= ID_CHARS_MIN && token.id.starts_with(word);
        token.revoked_at.is_none() && (begins || token.principal.id == word && stands_alone(token))
    };
    let found: Vec<_> = tokens.iter().filter(|token| means(token)).collect();
    match &found[..] {
        [] => Ok(word.to_owned()),
        [one] => Ok(one.id.clone()),
        several => {
            let rows: Vec<_> = several.iter().map(|token| row(context, token)).collect();
            Err(Fault::new(Exit::Failure, format!("{word:?} means {} tokens", several.len()))
                .because(rows.join("\n"))
                .try_this("name one by its id: moothall token revoke ID"))
        }
    }
}

/// True if a token was made for its holder, and not from another one for a browser.
fn stands_alone(token: &TokenEntry) -> bool {
    ["personal", "agent", "account"].contains(&token.kind.as_str())
}

/// Returns the tokens that the invitations of a token issued, and the tokens that the invitations
/// of those tokens issued in turn. Leaves out revoked tokens, invitations, and the credentials of
/// browsers.
fn came_of(mut left: Vec<TokenEntry>, id: &str) -> Vec<TokenEntry> {
    let (mut known, mut found) = (BTreeSet::from([id.to_owned()]), Vec::new());
    loop {
        let of_known =
            |token: &TokenEntry| token.parent.as_ref().is_some_and(|parent| known.contains(parent));
        let (more, others): (Vec<TokenEntry>, Vec<TokenEntry>) =
            left.into_iter().partition(of_known);
        if more.is_empty() {
            break;
        }
        known.extend(more.iter().map(|token| token.id.clone()));
        found.extend(more);
        left = others;
    }
    found.retain(|token| token.revoked_at.is_none() && stands_alone(token));
    found
}
