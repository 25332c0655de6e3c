//! Each reader gets remedies for its own surface: agents get no commands, and other readers no path
//! or tool of another surface.

use std::fs;
use std::path::Path;

use moothall_engine::access::{AccessDenial, AccessError, Mode, Scope, SessionRequestError};
use moothall_engine::sessions::SessionError;
use moothall_kernel::silence::Reason;
use moothall_surfaces::actions_of_tools;
use moothall_surfaces::error::{ApiError, Code, RULE_CODES};
use moothall_surfaces::jsonrpc::code::{RpcCode, RpcError, TASK_CODES};
use moothall_surfaces::next_steps::Reader;
use reqwest::Method;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::access::token;
use crate::mcp::{call, rpc};
use crate::server::Server;

/// Beginnings of HTTP paths.
const PATHS: [&str; 5] = ["GET /", "POST /", "PUT /", "PATCH /", "DELETE /"];

/// Returns the text of each string literal of a source, with continued lines joined.
fn literals(source: &str) -> Vec<String> {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "");
    let (mut found, mut text, mut is_text) = (Vec::new(), String::new(), false);
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        match (is_text, letter) {
            (_, '"') => {
                found.extend(is_text.then(|| std::mem::take(&mut text)));
                is_text = !is_text;
            }
            (true, '\\') => match letters.next() {
                Some('\n') => while letters.next_if(|c| c.is_whitespace()).is_some() {},
                Some(escaped) => text.push(escaped),
                None => {}
            },
            (true, letter) => text.push(letter),
            (false, _) => {}
        }
    }
    found
}

fn texts_of(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts_of(&path, texts);
        } else if path.extension().is_some_and(|kind| kind == "rs")
            && !path.ends_with("next_steps.rs")
        {
            texts.extend(literals(&fs::read_to_string(path).unwrap()));
        }
    }
}

/// Returns one refusal of each kind that names a remedy.
fn refusals() -> Vec<ApiError> {
    let name = || "ada".into();
    let denied = [
        AccessDenial::Stranger,
        AccessDenial::Scope(Scope::ServerAdmin),
        AccessDenial::Proof(Scope::SessionsDrive),
        AccessDenial::Unbinding("telegram:-1".into()),
        AccessDenial::Archiving("telegram:-1".into()),
        AccessDenial::Registered(name()),
        AccessDenial::NotStarted(name()),
        AccessDenial::NotMet(name()),
        AccessDenial::Session,
    ];
    let sessions = [
        SessionError::Unavailable("no pty".into()),
        SessionError::NotFound("ada".into()),
        SessionError::Elsewhere { name: "ada".into(), computer: "workstation".into() },
        SessionError::Ended { name: name(), why: "it exited".into() },
        SessionError::NoLink,
        SessionError::NoPane("%1".into()),
        SessionError::Conflict("ada is live; `moothall attach ada` shows it.".into()),
    ];
    let access = [
        AccessError::Unknown,
        AccessError::UnknownAgent("ada".into()),
        AccessError::UnknownApp("app".into()),
        AccessError::Unfit(SessionRequestError::OnlySessions),
        AccessError::Unfit(SessionRequestError::NoThread),
    ];
    let all = denied.map(ApiError::from).into_iter().chain(sessions.map(ApiError::from));
    all.chain(access.map(ApiError::from)).chain([ApiError::no_thread("x")]).collect()
}

/// Returns each text of an error, a warning or a reason.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> =
        refusals().iter().map(|error| error.detail().message.clone()).collect();
    texts.extend(Code::VARIANTS.iter().map(|code| code.meaning().to_owned()));
    texts.extend(RULE_CODES.iter().map(|(.., meaning)| (*meaning).to_owned()));
    texts.extend(TASK_CODES.iter().map(|(.., meaning)| (*meaning).to_owned()));
    texts.extend(RpcCode::VARIANTS.iter().map(|code| code.message().to_owned()));
    texts.extend(Reason::ALL.iter().map(|reason| reason.row().cure.to_owned()));
    for source in ["kernel", "engine", "terminals", "agents", "surfaces"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        texts_of(&root.join(source).join("src"), &mut texts);
    }
    let names_a_way = |text: &String| {
        let is_request = text.contains("HTTP/1.1");
        !is_request && (text.contains("`moothall") || PATHS.iter().any(|path| text.contains(path)))
    };
    texts.retain(names_a_way);
    texts
}

fn names_command(text: &str) -> bool {
    text.contains("`moothall ") || text.contains("`moothall`")
}

fn names_path(text: &str) -> bool {
    PATHS.iter().any(|path| text.contains(path))
}

fn names_tool(text: &str) -> bool {
    actions_of_tools().iter().any(|(tool, _)| text.contains(&format!("`{tool}`")))
}

#[test]
fn no_text_for_a_reader_names_the_way_of_another() {
    let texts = texts();
    assert!(texts.len() > 40, "{}", texts.len());
    for text in &texts {
        let tools = Reader::Tools.reword(text);
        assert!(!names_command(&tools) && !names_path(&tools), "{tools}");
        let http = Reader::HttpAgent.reword(text);
        assert!(!names_command(&http) && !names_tool(&http), "{http}");
        for message in [Reader::Rpc.reword(text), RpcError::new(RpcCode::Conflict, text).message] {
            assert!(
                ![names_command, names_path, names_tool].iter().any(|is| is(&message)),
                "{message}"
            );
        }
        let command_line = Reader::CommandLine.reword(text);
        assert!(!names_tool(&command_line), "{command_line}");
    }
}

/// Without its remedy, a refusal still has to state the cause.
#[test]
fn each_refusal_says_more_to_an_agent_than_whom_to_ask() {
    for error in refusals() {
        for agent in [Reader::Tools, Reader::HttpAgent, Reader::Rpc] {
            let message = agent.reword(&error.detail().message);
            assert!(message.len() > "Ask a person.".len(), "{:?}", error.detail());
        }
    }
}

#[tokio::test]
async fn tools_warn_of_tools_and_name_a_person_for_what_only_people_do() {
    let (server, _stage) = Server::with_terminals().await;
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "hello").await;
    let reasons = call(&server, None, "read_thread", json!({"thread": thread, "why": 0})).await;
    assert_eq!(reasons["unasked"][0]["cure"], "Invite one: `invite`.", "{reasons}");
    let arguments = json!({"thread": thread, "client": "stranger", "from": "planner"});
    let invited = call(&server, None, "invite", arguments).await;
    let warning = invited["warnings"][0].as_str().unwrap();
    assert!(warning.ends_with("has to connect by itself. Ask a person."), "{warning}");
    let ended = rpc(
        &server,
        None,
        "tools/call",
        json!({"name": "read_thread", "arguments": {"thread": "x"}}),
    );
    let text = ended.await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("`list_threads`") && !names_path(&text), "{text}");
}

#[tokio::test]
async fn an_agent_over_http_is_told_of_no_command_and_a_person_is() {
    let server = Server::start_in(Mode::Token).await;
    let (_, agent) = token(&server, json!({"principal": "bot", "kind": "agent"})).await;
    let (_, person) =
        token(&server, json!({"principal": "ann", "kind": "human", "scopes": ["threads:read"]}))
            .await;
    let mut messages = Vec::new();
    for token in [&agent, &person] {
        let (status, refused) = server.with(token, Method::GET, "/tokens", Value::Null).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{refused}");
        messages.push(refused["error"]["message"].as_str().unwrap().to_owned());
    }
    assert!(
        messages[0].ends_with("which your credential does not have. Ask a person."),
        "{}",
        messages[0]
    );
    assert!(messages[1].contains("`moothall token create NAME --scope "), "{}", messages[1]);
}
