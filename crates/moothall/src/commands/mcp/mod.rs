//! `mcp`: an MCP server on standard input and output, which forwards all calls to the running
//! server.

mod install;

use std::io::BufRead;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Context;
use crate::cli::{Mcp, McpAction};
use crate::client::Client;
use crate::config::environment;
use crate::fault::Fault;
use crate::in_session::is_inside;
use crate::own_program;
use crate::place::USUAL_SERVER;

/// Maximum number of messages waiting to be forwarded. Reading pauses when it is reached.
const WAITING_MAX: usize = 64;
/// Key of the protocol's revision in a message.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Error code if the server gives no answer. It is in the range that JSON-RPC leaves to
/// implementations.
const NOT_ANSWERED: i64 = -32000;
/// Error code for a message that is not JSON.
const NOT_JSON: i64 = -32700;

/// Serves MCP, or changes the configuration of an MCP client. `person` is a client for the same
/// server with the caller's own credential, which only the second case uses.
pub async fn run(context: &Context, person: &Client, args: &Mcp) -> Result<(), Fault> {
    let Some(action) = &args.action else {
        own_program::note_use();
        return serve(context).await;
    };
    let variables = environment();
    match action {
        McpAction::Install { client, write } => {
            // A session's own server may have another address the next time, so it is not written.
            let server = Some(person.base())
                .filter(|server| *server != USUAL_SERVER && !is_inside(&variables));
            install::run(&context.printer, person, *client, *write, server.as_deref(), &variables)
                .await
        }
        McpAction::Uninstall { client, dry_run } => {
            install::undo(&context.printer, person, *client, *dry_run, &variables).await
        }
    }
}

/// Forwards each line of the input to the server, several lines at the same time, and prints the
/// answers. Returns when the input has ended and all lines are answered.
async fn serve(context: &Context) -> Result<(), Fault> {
    let (mut lines, mut calls) = (lines(), JoinSet::new());
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => {
                    let client = context.client.clone();
                    calls.spawn(async move { answer(&client, &line).await });
                }
                None => break,
            },
            Some(answered) = calls.join_next() => say(context, answered.ok().flatten())?,
        }
    }
    while let Some(answered) = calls.join_next().await {
        say(context, answered.ok().flatten())?;
    }
    Ok(())
}

fn say(context: &Context, answer: Option<Value>) -> Result<(), Fault> {
    answer.map_or(Ok(()), |answer| context.printer.object(&answer))
}

/// Reads lines of standard input as bytes, so that a line that is not UTF-8 still gets an error.
fn lines() -> mpsc::Receiver<Vec<u8>> {
    let (sender, lines) = mpsc::channel(WAITING_MAX);
    std::thread::spawn(move || {
        let read = std::io::stdin()
            .lock()
            .split(b'\n')
            .map_while(Result::ok)
            .filter(|line| !line.trim_ascii().is_empty());
        read.map(|line| sender.blocking_send(line)).take_while(Result::is_ok).for_each(drop);
    });
    lines
}

/// Forwards one message, and returns the answer. If the server gives none, returns an error for a
/// request, and `None` for other messages.
async fn answer(client: &Client, line: &[u8]) -> Option<Value> {
    let text = str::from_utf8(line).ok();
    let Some((line, message)) =
        text.and_then(|text| Some((text, serde_json::from_str(text).ok()?)))
    else {
        return Some(refused(&Value::Null, NOT_JSON, "This line is not JSON in UTF-8."));
    };
    let message: Value = message;
    let id = message.get("id").filter(|_| message.get("method").is_some());
    match client.pass_on("/mcp", &headers(&message), line.to_owned()).await {
        Ok((status, text)) => match serde_json::from_str::<Value>(&text) {
            Ok(said) if said.get("jsonrpc").is_some() => Some(said),
            _ if status.is_success() => None,
            said => id.map(|id| refused(id, NOT_ANSWERED, &reason(said.ok(), status.as_u16()))),
        },
        Err(fault) => id.map(|id| refused(id, NOT_ANSWERED, &fault.to_string())),
    }
}

/// Returns the headers that repeat parts of a message, so that proxies can route by them.
fn headers(message: &Value) -> Vec<(&'static str, String)> {
    let params = &message["params"];
    let text = |value: &Value| {
        value.as_str().filter(|text| text.bytes().all(|b| b.is_ascii_graphic())).map(str::to_owned)
    };
    let method = text(&message["method"]);
    let named = match method.as_deref() {
        Some("tools/call" | "prompts/get") => text(&params["name"]),
        Some("resources/read" | "resources/subscribe" | "resources/unsubscribe") => {
            text(&params["uri"])
        }
        _ => None,
    };
    let version = text(&params["_meta"][VERSION]);
    let all = [("Mcp-Method", method), ("Mcp-Name", named), ("MCP-Protocol-Version", version)];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn reason(said: Option<Value>, status: u16) -> String {
    let message =
        said.as_ref().and_then(|said| said["error"]["message"].as_str()).map(str::to_owned);
    message.unwrap_or_else(|| format!("the server answered {status}"))
}

fn refused(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_repeat_what_a_message_says() {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "_meta": {VERSION: "2026-07-28"}}});
        let expected = [
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "search"),
            ("MCP-Protocol-Version", "2026-07-28"),
        ];
        assert_eq!(headers(&call), expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(headers(&json!({"id": 1, "result": {}})), []);
        assert_eq!(
            headers(&json!({"method": "evil\r\nX: y"})),
            [],
            "nothing that would end a header"
        );
    }
}
