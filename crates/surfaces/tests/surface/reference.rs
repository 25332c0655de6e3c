//! Generated pages and descriptions in the repository are up to date.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use moothall_engine::door::Need;
use moothall_kernel::ending::Ending;
use moothall_kernel::event::{Guard, Outcome, SuppressedBecause, TurnReason, WhyNot};
use moothall_kernel::gathering::{HoldEnd, Phase};
use moothall_kernel::occupation::StateWord;
use moothall_kernel::permission::WithdrawalReason;
use moothall_kernel::policy::PolicyName;
use moothall_surfaces::error::{Code, RULE_CODES};
use moothall_surfaces::jsonrpc::code::TASK_CODES;
use moothall_surfaces::next_steps::{self, WAYS};
use moothall_surfaces::{ROUTES, openapi, openrpc, reference};
use serde_json::{Value, json};
use strum::VariantArray;

use crate::server::Server;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a TypeScript type of all words of an enum.
fn union<T: Display>(name: &str, words: &[T]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("  | '{word}'\n")).collect();
    let mut made = format!("export type {name} =\n{}", words.concat());
    made.truncate(made.trim_end().len());
    made + ";\n"
}

/// Returns the words of the wire for the page, whose texts are keyed by them: the page is not
/// built if it has no text for a word.
fn words_of_the_wire() -> String {
    let unions = [
        union("TurnReason", TurnReason::VARIANTS),
        union("WhyNot", WhyNot::VARIANTS),
        union("Outcome", Outcome::VARIANTS),
        union("KeptBecause", SuppressedBecause::VARIANTS),
        union("Guard", Guard::VARIANTS),
        union("Ending", Ending::VARIANTS),
        union("PolicyName", PolicyName::VARIANTS),
        union("StateWord", StateWord::VARIANTS),
        union("Phase", Phase::VARIANTS),
        union("HoldEnd", HoldEnd::VARIANTS),
        union("Withdrawal", WithdrawalReason::VARIANTS),
    ];
    let head = "/**\n * Words of the wire. Generated from the server's enums: \
                MOOTHALL_BLESS=1 cargo test -p moothall-surfaces.\n */\n";
    format!("{head}\n{}", unions.join("\n"))
}

/// Compares with a file of the repository. With `MOOTHALL_BLESS=1` the file is written instead.
fn compare(path: &str, made: &str) {
    let path = root().join(path);
    if std::env::var_os("MOOTHALL_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, made).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    let hint = "run MOOTHALL_BLESS=1 cargo test -p moothall-surfaces --test surface reference and look at the difference";
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
fn the_words_of_the_page_are_those_of_the_wire() {
    compare("web/src/lib/wire.ts", &words_of_the_wire());
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

/// Returns the lines of sources that are not comments and name an HTTP path.
fn lines_with_paths(text: &str) -> impl Iterator<Item = &str> {
    const METHODS: [&str; 5] = ["GET /", "POST /", "PUT /", "PATCH /", "DELETE /"];
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.filter(|line| METHODS.iter().any(|method| line.contains(method)))
}

/// Messages name paths. The command line and MCP replace each path with a command or tool of their
/// own.
#[test]
fn each_path_in_a_message_is_a_way_that_each_surface_has() {
    let mut text = String::new();
    for source in ["kernel", "engine", "terminals", "agents", "surfaces"] {
        sources(&root().join("crates").join(source).join("src"), &mut text);
    }
    let table = fs::read_to_string(root().join("crates/surfaces/src/next_steps.rs")).unwrap();
    let text = text.replace(&table, "");
    let mut found = BTreeSet::new();
    for line in lines_with_paths(&text) {
        // Requests in tests, and the texts about the cookie, are not messages.
        let is_message = !["HTTP/1.1", "OF_COOKIE"].iter().any(|word| line.contains(word));
        for (at, _) in line.match_indices(" /").filter(|_| is_message) {
            let start = line[..at].rfind(['`', ' ', '"']).unwrap_or(0);
            let code = line[start..].strip_prefix('`').and_then(|rest| rest.split('`').next());
            let code = code.unwrap_or_else(|| panic!("a path without backticks: {line}"));
            let (way, _) = next_steps::find(code).unwrap_or_else(|| panic!("not in WAYS: {code}"));
            found.insert(way.path);
        }
    }
    let listed: BTreeSet<_> = WAYS.iter().map(|way| way.path).collect();
    assert_eq!(found, listed, "each way is named by a message");
}

#[test]
fn each_way_leads_somewhere() {
    let described = serde_json::to_value(openapi()).unwrap();
    let tools = moothall_surfaces::actions_of_tools();
    for way in WAYS {
        let (method, path) = way.path.split_once(' ').unwrap();
        let path = path.replace("{}", "{id}");
        let operation = &described["paths"][&path][method.to_lowercase()];
        assert!(operation.is_object(), "{}", way.path);
        let known = way.tool.is_none_or(|tool| tools.iter().any(|(name, _)| *name == tool));
        assert!(known, "{:?}", way.tool);
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

/// Returns the security of an operation as a client generator reads it, in the words of the table
/// of routes.
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
