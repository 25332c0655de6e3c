//! Hostile input at every route: made from the description, so that a new route is tested too.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use moothall_surfaces::error::{Code, RULE_CODES};
use moothall_surfaces::jsonrpc::code::TASK_CODES;
use reqwest::Method;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::described::{Hall, REGISTRATION, api, body_of, operations, parameters};
use crate::server::{answer, soon};

mod tools;

/// Returns the smallest gathering.
fn gathering() -> Value {
    let member = |number: u64, role: &str| {
        let name = format!("h{number}");
        json!({"kind": "agent", "client": "echo", "name": name, "number": number, "role": role})
    };
    let (first, second) = (member(1, "speaker"), member(2, "speaker"));
    json!({"participants": [first, second, member(3, "harvester")]})
}

/// Returns the smallest body that a route accepts. A body without any one of its keys must be
/// refused.
fn smallest(method: &Method, path: &str, thread: &str) -> Value {
    match (method.as_str(), path) {
        ("POST", "/api/v1/auth/claim") => {
            let owner = "0190e9a0-0000-7000-8000-000000000000";
            json!({"claimToken": "none", "ownerUserId": owner})
        }
        ("POST", "/api/v1/auth/register") => json!({"name": "newcomer"}),
        ("POST", "/apps/{id}/transfer") => json!({"agent": "none"}),
        ("POST", "/channels/{channel}/bots") => json!({"agent": "none", "token": "none"}),
        ("POST", "/computers/join") => json!({"line": "none"}),
        ("POST", "/budgets/raise") => json!({"budget": "hall", "turns": 1}),
        ("POST", "/gatherings") => gathering(),
        ("POST", "/invitations/accept") => json!({"code": "inv_none"}),
        ("POST", "/links") => json!({"members": [{"session": "ann"}, {"session": "none"}]}),
        ("POST", "/permissions/{id}/answer") => json!({"thread": thread, "option": "allow"}),
        ("POST", "/tasks") => json!({"agents": ["none"]}),
        ("POST", "/session") => json!({"key": "pat_none"}),
        ("POST", "/sessions") => json!({"client": "demo"}),
        ("POST", "/sessions/{id}/messages") => json!({"message": "hello"}),
        ("POST", "/threads/{id}/commands") => json!({"text": "/help"}),
        ("POST", "/threads/{id}/events") => json!({"content": "hello"}),
        ("POST", "/invitations" | "/threads/{id}/invitations") => json!({"principal": "guest"}),
        ("POST", "/threads/{id}/presence") => json!({"state": "idle"}),
        ("POST", "/threads/{id}/preview") => json!({"content": "hello"}),
        ("PUT", "/threads/{id}/read") => json!({"seq": 1}),
        ("PUT", "/events/stream/{id}") => json!({}),
        ("POST", "/tokens") => json!({"principal": "someone"}),
        (
            "POST",
            "/gatherings/{id}/end"
            | "/gatherings/{id}/pass"
            | "/channels/{channel}/pairings"
            | "/channels/{channel}/bots/{agent}/offer"
            | "/channels/{channel}/resume"
            | "/computers/invitations"
            | "/computers/resume"
            | "/links/{id}/close"
            | "/sessions/{id}/end"
            | "/sessions/{id}/interrupt"
            | "/sessions/{id}/keys"
            | "/sessions/{id}/resume"
            | "/threads"
            | "/threads/{id}/deliveries/{delivery}/again"
            | "/threads/{id}/events/{event}/redact"
            | "/threads/{id}/kept/{seq}/publish"
            | "/threads/{id}/stop"
            | "/tokens/{id}/revoke"
            | "/turns/{id}/cancel",
        ) => json!({}),
        _ => panic!("{method} {path} takes a body: write the smallest one that it takes here"),
    }
}

/// The route for JSON-RPC messages, which has its own test.
const MCP: &str = "/mcp";

/// Returns every code that the reference lists.
fn codes() -> BTreeSet<&'static str> {
    let rules = RULE_CODES.iter().map(|(_, word, _)| *word);
    let tasks = TASK_CODES.iter().map(|(word, ..)| *word);
    rules.chain(tasks).chain(Code::VARIANTS.iter().map(<&str>::from)).collect()
}

/// One hostile request.
struct HostileRequest {
    name: String,
    body: Vec<u8>,
}

impl HostileRequest {
    fn of(name: impl Into<String>, body: &Value) -> Self {
        Self { name: name.into(), body: body.to_string().into_bytes() }
    }
}

/// Returns the types that a property may have; an empty set if it may have every type.
fn types<'a>(api: &'a Value, schema: &'a Value) -> BTreeSet<&'a str> {
    let named = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let nested = variants.flat_map(|variant| types(api, variant));
    let referred = schema["$ref"].as_str().and_then(|place| place.rsplit('/').next());
    let behind = referred.map(|name| types(api, &api["components"]["schemas"][name]));
    named.into_iter().chain(nested).chain(behind.into_iter().flatten()).collect()
}

/// Returns values that a property of these types cannot have.
fn misfits(types: &BTreeSet<&str>) -> Vec<Value> {
    let values = [
        ("null", json!(null)),
        ("boolean", json!(true)),
        ("integer", json!(7)),
        ("number", json!(7.5)),
        ("string", json!("\u{202e}seven")),
        ("array", json!([[]])),
        ("object", json!({"a": {}})),
    ];
    let fits = |kind: &str| types.contains(kind) || kind == "integer" && types.contains("number");
    values.into_iter().filter(|(kind, _)| !fits(kind)).map(|(_, value)| value).collect()
}

/// Returns values that are too long, too small or too large for a property of these types.
fn extremes(types: &BTreeSet<&str>) -> Vec<Value> {
    let mut extremes = Vec::new();
    if types.contains("string") {
        extremes.push(json!("a".repeat(300_000)));
    }
    if types.contains("integer") || types.contains("number") {
        extremes.extend([json!(-1), json!(1e300)]);
    }
    extremes
}

/// Returns a body with another value at a key.
fn with(smallest: &Value, key: &str, value: Value) -> HostileRequest {
    let mut body = smallest.clone();
    let shown: String = value.to_string().chars().take(20).collect();
    body[key] = value;
    HostileRequest::of(format!("{key}: {shown}"), &body)
}

/// Returns bodies that every route must refuse: without a required key, with a key that is unknown
/// or of another type, empty, too large, or not JSON.
fn impossible(api: &Value, schema: &Value, smallest: &Value) -> Vec<HostileRequest> {
    let mut attempts = malformed();
    attempts.push(HostileRequest::of("two megabytes", &json!({"from": "a".repeat(2 << 20)})));
    let needed = smallest.as_object().unwrap();
    for key in needed.keys() {
        let mut body = needed.clone();
        body.remove(key);
        attempts.push(HostileRequest::of(format!("without {key}"), &body.into()));
    }
    for (key, property) in schema["properties"].as_object().unwrap() {
        let types = types(api, property);
        let wrong = if types.is_empty() { Vec::new() } else { misfits(&types) };
        // A key with null counts as a missing key.
        let wrong = wrong.into_iter().filter(|it| !it.is_null() || needed.contains_key(key));
        attempts.extend(wrong.map(|value| with(smallest, key, value)));
    }
    if schema["additionalProperties"] == false {
        attempts.push(with(smallest, "nonsense", json!(1)));
    }
    attempts
}

/// Returns bodies with one value that is too long or out of range. A name that is too long may also
/// be reported as not found.
fn extreme(api: &Value, schema: &Value, smallest: &Value) -> Vec<HostileRequest> {
    let properties = schema["properties"].as_object().unwrap().iter();
    let of = |(key, property): (&String, &Value)| {
        let values = extremes(&types(api, property)).into_iter();
        values.map(|value| with(smallest, key, value)).collect::<Vec<_>>()
    };
    properties.flat_map(of).collect()
}

/// Returns bodies that are not a JSON object.
fn malformed() -> Vec<HostileRequest> {
    let deep = "[".repeat(100_000);
    let texts: [&[u8]; 10] = [
        b"{",
        b"{\"from\":\"a\",\"from\":\"b\"}",
        b"{\"from\":\"\\ud800\"}",
        b"{\"from\":\"\xff\"}",
        b"{\"from\":1e400}",
        b"{\"from\":NaN}",
        b"[]",
        b"7",
        b"{}{}",
        deep.as_bytes(),
    ];
    texts
        .map(|text| HostileRequest {
            name: String::from_utf8_lossy(text).chars().take(30).collect(),
            body: text.to_vec(),
        })
        .into()
}

/// Ids that name nothing. Some of them are not valid ids.
const NOTHING: [&str; 8] = [
    "0190e9a0-0000-7000-8000-000000000000",
    "0190e9a0-0000-7000-8000-000000000000.1",
    "none",
    "-1",
    "18446744073709551616",
    "%00",
    "..%2f..%2fadmin",
    "%f0%9f%92%a3",
];

/// Returns the reason why an answer is not a refusal with a known code and a remedy.
fn objection(path: &str, status: u16, said: &Value, allowed: &[u16]) -> Option<String> {
    let (code, message) = if path.starts_with(REGISTRATION) {
        // Agents that register get errors in the shape that their programs know.
        (Some("registration"), said["error"].as_str().or(said["error"]["message"].as_str()))
    } else {
        (said["error"]["code"].as_str(), said["error"]["message"].as_str())
    };
    let known = code.is_some_and(|code| code == "registration" || codes().contains(code));
    let clear = message.is_some_and(|message| message.len() > 5);
    (!(allowed.contains(&status) && known && clear)).then(|| {
        let said: String = said.to_string().chars().take(200).collect();
        format!("{status} {said}")
    })
}

/// Sends bytes as JSON, with the operator's key.
async fn send(hall: &Hall, method: &Method, path: &str, body: Vec<u8>) -> (u16, Value) {
    let request = hall.server.client.request(method.clone(), hall.server.url(path));
    let request = request.bearer_auth(&hall.server.key).header("content-type", "application/json");
    let response = soon(request.body(body).send()).await.unwrap();
    if path.starts_with(REGISTRATION) {
        return (response.status().as_u16(), response.json().await.unwrap());
    }
    answer(response).await
}

/// Returns everything that an operator can list, except what changes by reading.
async fn everything(hall: &Hall) -> Vec<Value> {
    let thread = &hall.thread;
    let paths = [
        "/threads".into(),
        format!("/threads/{thread}/state"),
        format!("/threads/{thread}/events"),
        "/sessions".into(),
        "/links".into(),
        "/gatherings".into(),
        "/tokens".into(),
        "/apps".into(),
        "/registrations".into(),
    ];
    let mut all = Vec::new();
    for path in paths {
        let (status, listed) = hall.server.as_operator(Method::GET, &path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {listed}");
        all.push(listed);
    }
    all
}

/// Statuses for an invalid body.
const BAD_BODY: [u16; 3] = [400, 413, 422];

/// Statuses for a body with an unknown or invalid name.
const BAD_NAME: [u16; 6] = [400, 401, 404, 409, 413, 422];

/// Sends each attempt. Returns the objections to the answers.
async fn objections(
    hall: &Hall,
    method: &Method,
    path: &str,
    attempts: Vec<HostileRequest>,
    allowed: &[u16],
) -> Vec<String> {
    let mut wrong = Vec::new();
    for attempt in attempts {
        let (status, said) = send(hall, method, &hall.filled(path), attempt.body).await;
        let objection = objection(path, status, &said, allowed);
        wrong.extend(objection.map(|it| format!("{method} {path}, {}: {it}", attempt.name)));
    }
    wrong
}

#[tokio::test]
async fn a_body_that_cannot_be_is_refused_by_every_route_and_changes_nothing() {
    let hall = Hall::open().await;
    let api = api();
    let before = everything(&hall).await;
    let mut wrong = Vec::new();
    for (path, method, operation) in operations(&api) {
        let Some(schema) = body_of(&api, &operation).filter(|_| path != MCP) else { continue };
        let smallest = smallest(&method, &path, &hall.thread);
        let impossible = impossible(&api, schema, &smallest);
        let extreme = extreme(&api, schema, &smallest);
        wrong.extend(objections(&hall, &method, &path, impossible, &BAD_BODY).await);
        wrong.extend(objections(&hall, &method, &path, extreme, &BAD_NAME).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(everything(&hall).await, before);
}

#[tokio::test]
async fn the_smallest_bodies_are_refused_by_no_route() {
    let hall = Hall::open().await;
    let api = api();
    for (path, method, operation) in operations(&api) {
        if body_of(&api, &operation).is_none() || path == MCP {
            continue;
        }
        let body = smallest(&method, &path, &hall.thread).to_string().into_bytes();
        let (status, said) = send(&hall, &method, &hall.filled(&path), body).await;
        // The thread has no kept words to publish, so `not_kept` also means that the body was
        // accepted.
        let taken = !BAD_BODY.contains(&status) || said["error"]["code"] == "not_kept";
        assert!(taken, "{method} {path}: {status} {said}");
    }
}

#[tokio::test]
async fn an_id_that_names_nothing_is_refused_by_every_route_and_changes_nothing() {
    let hall = Hall::open().await;
    let api = api();
    let before = everything(&hall).await;
    let mut wrong = Vec::new();
    for (path, method, operation) in operations(&api) {
        if !parameters(&operation).iter().any(|parameter| parameter["in"] == "path") {
            continue;
        }
        let body =
            body_of(&api, &operation).map_or(json!({}), |_| smallest(&method, &path, &hall.thread));
        for id in NOTHING {
            let asked = path.replace("{id}", id).replace("{agent}", id);
            let asked = asked.replace("{seq}", "1").replace("{event}", id);
            let (status, said) = send(&hall, &method, &asked, body.to_string().into_bytes()).await;
            let objection = objection(&path, status, &said, &[400, 404, 409, 422]);
            wrong.extend(objection.map(|it| format!("{method} {asked}: {it}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(everything(&hall).await, before);
}

#[tokio::test]
async fn no_address_in_a_body_is_called() {
    let hall = Hall::open().await;
    let api = api();
    let trap = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let port = trap.local_addr().unwrap().port();
    let hosts = ["127.0.0.1", "[::ffff:7f00:1]", "0177.0.0.1", "2130706433", "localhost"];
    for (path, method, operation) in operations(&api) {
        let Some(schema) = body_of(&api, &operation).filter(|_| path != MCP) else { continue };
        let smallest = smallest(&method, &path, &hall.thread);
        for (key, property) in schema["properties"].as_object().unwrap() {
            if types(&api, property).contains("object") || types(&api, property).contains("array") {
                continue;
            }
            for host in hosts {
                let address = json!(format!("http://{host}:{port}/latest/meta-data"));
                let attempt = with(&smallest, key, address);
                send(&hall, &method, &hall.filled(&path), attempt.body).await;
                let none = trap.accept().is_err_and(|none| none.kind() == ErrorKind::WouldBlock);
                assert!(none, "{method} {path} calls the address in {}", attempt.name);
            }
        }
    }
}
