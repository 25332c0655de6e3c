//! The Model Context Protocol with the real program: a client of the protocol's own library over
//! HTTP, and over standard input and output.

use rmcp::RoleClient;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, Server};

type Client = RunningService<RoleClient, ()>;

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it never came")
}

async fn over_http(server: &Server<'_>) -> Client {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", server.url));
    soon(().serve(StreamableHttpClientTransport::with_client(server.http().clone(), config)))
        .await
        .unwrap()
}

async fn over_stdio(server: &Server<'_>, variables: &[(&str, &str)]) -> Client {
    let mut command = server.command(&["mcp"]);
    command.envs(variables.iter().copied());
    soon(().serve(TokioChildProcess::new(tokio::process::Command::from(command)).unwrap()))
        .await
        .unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().unwrap().clone();
    soon(client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)))
        .await
        .unwrap()
}

async fn done(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

#[tokio::test]
async fn a_client_talks_in_a_thread_over_both_ways() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    server.say(&thread, "Who is there?").await;
    let clients = [over_http(&server).await, over_stdio(&server, &[]).await];
    for (place, client) in clients.iter().enumerate() {
        let tools = soon(client.list_all_tools()).await.unwrap();
        assert!(tools.iter().any(|tool| tool.name == "send_message"), "{tools:?}");
        let me = format!("desk-{place}");
        let sent =
            done(client, "send_message", json!({"thread": thread, "message": "I am.", "from": me}))
                .await;
        assert_eq!((&sent["link_state"], &sent["thread"]), (&json!("none"), &json!(thread)));
        let page = done(client, "read_thread", json!({"thread": "Test"})).await;
        assert_eq!(
            (&page["messages"][0]["text"], &page["messages"][place + 1]["from"]),
            (&json!("Who is there?"), &json!(me))
        );
        let refused =
            call(client, "send_message", json!({"thread": thread, "message": "x", "from": "user"}))
                .await;
        assert_eq!(refused.structured_content.unwrap()["error"]["code"], "wrong_speaker");
        assert!(soon(client.call_tool(CallToolRequestParams::new("nothing"))).await.is_err());
    }
    for client in clients {
        soon(client.cancel()).await.unwrap();
    }
}

#[tokio::test]
async fn the_server_that_a_sessions_environment_names_is_the_one_that_is_meant() {
    let home = Home::new();
    let server = home.serve();
    let client = over_stdio(
        &server,
        &[("MOOTHALL_SERVER", "http://127.0.0.1:5111"), ("MOOTHALL_URL", &server.url)],
    )
    .await;
    assert!(done(&client, "list_threads", json!({})).await["threads"].is_array());
    soon(client.cancel()).await.unwrap();
    // An unknown session token is refused, not ignored.
    let variables =
        [("MOOTHALL_URL", server.url.as_str()), ("MOOTHALL_SESSION_TOKEN", "ses_forged")];
    let mut command = server.command(&["mcp"]);
    command.envs(variables);
    let refused =
        soon(().serve(TokioChildProcess::new(tokio::process::Command::from(command)).unwrap()))
            .await
            .unwrap_err();
    assert!(refused.to_string().contains("credential is missing"), "{refused}");
}

#[tokio::test]
async fn a_client_whose_server_is_gone_is_told_so() {
    let home = Home::new();
    let server = home.serve();
    let client = over_stdio(&server, &[]).await;
    server.kill();
    let error =
        soon(client.call_tool(CallToolRequestParams::new("list_threads"))).await.unwrap_err();
    assert!(error.to_string().contains("moothall serve"), "{error}");
    soon(client.cancel()).await.unwrap();
}

#[tokio::test]
async fn an_installed_client_has_a_token_of_its_own_until_it_is_taken_out() {
    let home = Home::new();
    let server = home.serve();
    for _ in 0..2 {
        server.ok(&["mcp", "install", "codex", "--write"]);
    }
    let config = std::fs::read_to_string(home.path().join(".codex/config.toml")).unwrap();
    let config: toml::Table = config.parse().unwrap();
    let entry = &config["mcp_servers"]["moothall"];
    assert_eq!(entry["args"][1].as_str(), Some(server.url.as_str()), "{entry}");
    let file = entry["env"]["MOOTHALL_AGENT_TOKEN_FILE"].as_str().unwrap().to_owned();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let tokens = server.json(&["token", "list"])["tokens"].clone();
    assert_eq!(tokens.as_array().unwrap().len(), 1, "{tokens}");
    assert_eq!(tokens[0]["principal"], json!({"id": "mcp-codex", "kind": "agent"}));

    let thread = server.thread().await;
    let client = over_stdio(&server, &[("MOOTHALL_AGENT_TOKEN_FILE", file.as_str())]).await;
    done(&client, "send_message", json!({"thread": thread, "message": "It is me."})).await;
    let said = server.events(&thread).await;
    assert!(
        said.iter().any(|event| event["from"] == "mcp-codex" && event["content"] == "It is me."),
        "{said:?}"
    );

    server.ok(&["mcp", "uninstall", "codex"]);
    let config = std::fs::read_to_string(home.path().join(".codex/config.toml")).unwrap();
    assert!(!config.contains("moothall") && !std::path::Path::new(&file).exists(), "{config}");
    let refused =
        soon(client.call_tool(CallToolRequestParams::new("list_threads"))).await.unwrap_err();
    assert!(refused.to_string().contains("credential is missing"), "{refused}");
    soon(client.cancel()).await.unwrap();
}

#[test]
fn a_clients_configuration_is_shown_or_written() {
    let home = Home::new();
    let shown = home.run(&["mcp", "install", "codex"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("[mcp_servers.moothall]"), "{shown:?}");
    assert!(!home.path().join(".codex").exists(), "it was only shown");
    for (client, file) in [
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("claude", ".mcp.json"),
    ] {
        for _ in 0..2 {
            let written = home.run(&["mcp", "install", client, "--write"]);
            assert!(written.status.success(), "{written:?}");
        }
        let text = std::fs::read_to_string(home.path().join(file)).unwrap();
        assert_eq!(
            text.matches("MOOTHALL_URL").count(),
            if client == "codex" { 1 } else { 2 },
            "{text}"
        );
    }
    for how in [&["--server", "http://127.0.0.1:7000"][..], &[]] {
        let mut command = home.command(&[how, &["mcp", "install", "codex"]].concat());
        let command = if how.is_empty() {
            command.env("MOOTHALL_SERVER", "http://127.0.0.1:7000")
        } else {
            &mut command
        };
        let shown = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(
            shown.contains("\"--server\", \"http://127.0.0.1:7000\", \"mcp\""),
            "{how:?}: {shown}"
        );
    }
}

/// Returns the answers of `moothall mcp` to these bytes, one per line.
fn answers(mut command: std::process::Command, said: &[u8]) -> Vec<Value> {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(said).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_line_that_is_not_text_is_answered_and_the_next_one_too() {
    let home = Home::new();
    let server = home.serve();
    let lines =
        b"\xff{}\n{\"a\":\"\xe2\x82\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n";
    let said = answers(server.command(&["mcp"]), lines);
    let broken = said.iter().filter(|answer| answer["error"]["code"] == -32700).count();
    assert_eq!((said.len(), broken), (3, 2), "{said:?}");
    assert!(said.iter().any(|answer| answer["id"] == 7 && answer["result"] == json!({})));
}

#[tokio::test]
async fn an_answer_that_is_lost_on_the_way_is_not_told_as_no_server() {
    use std::io::Read;
    let home = Home::new();
    let server = home.serve();
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let deaf = std::thread::spawn(move || {
        // The server reads part of the request, and closes the connection.
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 1024]);
    });
    let mut command = server.command(&["mcp"]);
    command.args(["--server", &address]);
    let call = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"send_message\"}}\n";
    let said = answers(command, call);
    let message = said[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("was lost") && message.contains("`key`"), "{message}");
    deaf.join().unwrap();
}
