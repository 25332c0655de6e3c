//! Pages and descriptions in the repository are those that the code makes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use moothall_engine::door::Need;
use moothall_surfaces::error::{Code, RULE_CODES};
use moothall_surfaces::jsonrpc::code::TASK_CODES;
use moothall_surfaces::{ROUTES, openapi, openrpc, reference};
use serde_json::{Value, json};
use strum::VariantArray;

use crate::server::Server;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares with a file of the repository; with `MOOTHALL_BLESS=1` it writes the file instead.
fn compare(path: &str, made: &str) {
    let path = root().join(path);
    if std::env::var_os("MOOTHALL_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, made).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    let hint = "run MOOTHALL_BLESS=1 cargo test -p moothall-surfaces and look at the difference";
    if let Some(line) = differs {
        let (kept, made) = (kept.lines().nth(line).unwrap(), made.lines().nth(line).unwrap());
        panic!(
            "{}:{}: the repository says\n  {kept}\nand the code says\n  {made}\n{hint}",
            path.display(),
            line + 1
        );
    }
    assert_eq!(kept.len(), made.len(), "{} has another length; {hint}", path.display());
}

#[test]
fn the_openapi_description_is_the_one_in_the_repository() {
    compare("docs/reference/openapi.json", &(openapi().to_pretty_json().unwrap() + "\n"));
}

#[test]
fn the_openrpc_description_is_the_one_in_the_repository() {
    compare("docs/reference/openrpc.json", &format!("{:#}\n", openrpc()));
}

#[test]
fn the_errors_page_is_the_one_in_the_repository() {
    compare("docs/reference/errors.md", &reference::errors_page());
}

#[test]
fn the_page_about_tools_is_the_one_in_the_repository() {
    compare("docs/reference/mcp.md", &reference::mcp_page());
}

fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_code_of_the_rules_is_listed_and_no_other() {
    let mut text = String::new();
    sources(&root().join("crates/kernel/src"), &mut text);
    sources(&root().join("crates/engine/src"), &mut text);
    let listed: BTreeSet<&str> = RULE_CODES
        .iter()
        .map(|(_, word, _)| *word)
        .chain(TASK_CODES.iter().map(|(word, ..)| *word))
        .chain(Code::VARIANTS.iter().map(<&str>::from))
        .collect();
    for tail in text.split("Rejection::new(").skip(1) {
        let second = tail.split_once(',').unwrap().1.trim_start();
        if let Some(word) = second.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            assert!(
                listed.contains(word.0),
                "the code {:?} of the rules is not in RULE_CODES",
                word.0
            );
        }
    }
    for (_, word, _) in RULE_CODES {
        assert!(
            text.contains(&format!("\"{word}\"")),
            "nothing in the rules says {word:?} any more"
        );
    }
}

#[test]
fn operations_have_names_of_their_own() {
    let api = serde_json::to_value(openapi()).unwrap();
    let paths = api["paths"].as_object().unwrap();
    let names: Vec<&str> = paths
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
        .map(|op| op["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

/// What a client generator makes of an operation's security, in the words of the table of routes.
fn need_said(operation: &Value) -> String {
    let ways = operation["security"]
        .as_array()
        .unwrap_or_else(|| panic!("{operation} says nothing of credentials"));
    let names: Vec<&str> =
        ways.iter().flat_map(|way| way.as_object().unwrap().keys()).map(String::as_str).collect();
    let scopes: BTreeSet<String> = ways
        .iter()
        .flat_map(|way| way.as_object().unwrap().values())
        .map(Value::to_string)
        .collect();
    if ways.is_empty() {
        return "nothing".into();
    }
    assert_eq!(names, ["bearer", "cookie"], "{operation}");
    let scope = scopes.into_iter().collect::<Vec<_>>().join(" or ");
    if ways[0] == json!({}) { format!("in token mode {scope}") } else { format!("always {scope}") }
}

#[test]
fn every_operation_says_which_credential_it_needs() {
    let api = serde_json::to_value(openapi()).unwrap();
    for route in ROUTES {
        let Some(path) = api["paths"].get(route.path) else { continue };
        let wanted = match route.action.need() {
            Need::Nothing => "nothing".to_owned(),
            Need::Entry => "in token mode []".to_owned(),
            Need::Scope(scope) => format!("in token mode [\"{scope}\"]"),
            Need::Proof(scope) => format!("always [\"{scope}\"]"),
        };
        let operation = &path[route.method.to_lowercase()];
        assert_eq!(need_said(operation), wanted, "{} {}", route.method, route.path);
    }
    let operations = api["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    assert!(operations.map(need_said).any(|need| need == "always [\"server:admin\"]"));
    let schemes = &api["components"]["securitySchemes"];
    assert_eq!(
        (&schemes["bearer"]["scheme"], &schemes["cookie"]["in"]),
        (&json!("bearer"), &json!("cookie"))
    );
}

#[tokio::test]
async fn the_served_description_of_methods_is_the_one_in_the_repository() {
    let server = Server::start().await;
    let (status, document) = server.get("/openrpc.json").await;
    assert_eq!((status, document), (200, openrpc()));
}

#[tokio::test]
async fn the_served_description_names_the_cookie_of_this_server() {
    let server = Server::start().await;
    let (_, api) = server.get("/openapi.json").await;
    let port = server.url("").rsplit_once(':').unwrap().1.to_owned();
    assert_eq!(api["components"]["securitySchemes"]["cookie"]["name"], format!("moothall_{port}"));
}
