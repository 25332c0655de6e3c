//! The description of the interface and the server are equally strict.

use std::sync::Arc;

use moothall_surfaces::{ROUTES, openapi};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;
use crate::stage::FakeHost;

pub fn api() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

/// Returns every operation with its path and method.
pub fn operations(api: &Value) -> Vec<(String, Method, Value)> {
    let paths = api["paths"].as_object().unwrap().iter();
    let of = |(path, methods): (&String, &Value)| {
        let path = path.clone();
        let methods = methods.as_object().unwrap().clone();
        methods.into_iter().map(move |(method, operation)| {
            (path.clone(), method.to_uppercase().parse().unwrap(), operation)
        })
    };
    paths.flat_map(of).collect()
}

pub fn parameters(operation: &Value) -> Vec<Value> {
    operation["parameters"].as_array().cloned().unwrap_or_default()
}

#[test]
fn every_answer_is_described_and_every_operation_can_be_refused() {
    let api = api();
    for (path, method, operation) in operations(&api) {
        let responses = operation["responses"].as_object().unwrap();
        for (status, response) in responses {
            let text = response["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{method} {path} does not say what {status} means");
        }
        assert!(responses.contains_key("4XX") && responses.contains_key("5XX"), "{method} {path}");
    }
}

#[test]
fn parameters_have_the_ranges_that_the_server_reads() {
    let api = api();
    for (path, method, operation) in operations(&api) {
        for parameter in parameters(&operation) {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let said = match (parameter["in"].as_str().unwrap(), name) {
                ("query", "limit") => {
                    schema["minimum"] == 1
                        && schema["maximum"].as_u64().is_some_and(|most| most <= 1000)
                }
                ("query", "as") => schema["pattern"] == "^[A-Za-z0-9._:-]{1,64}$",
                ("query", "since" | "until") => schema["format"] == "date-time",
                ("header", "Idempotency-Key") => {
                    schema["pattern"] == "^[!-~]{1,255}$" && schema["type"] == "string"
                }
                _ => schema["type"] != "integer" || schema["maximum"] == 9_007_199_254_740_991_u64,
            };
            assert!(said, "{method} {path}: {parameter}");
        }
    }
}

/// A server with one thing of each kind, so that every path leads to something.
pub struct Hall {
    pub server: Server,
    pub thread: String,
    pub session: String,
    pub link: String,
    event: String,
    pub stage: Arc<FakeHost>,
}

impl Hall {
    pub async fn open() -> Self {
        let (server, stage) = Server::with_terminals().await;
        let thread = server.thread("mention_only").await;
        let event = server.say(&thread, "ann", "words").await["id"].as_str().unwrap().to_owned();
        let session = server.session("ann").await["id"].as_str().unwrap().to_owned();
        server.session("ben").await;
        let pair = json!({"members": [{"session": "ann"}, {"session": "ben"}]});
        let (status, made) = server.as_operator(Method::POST, "/links", pair).await;
        assert_eq!(status, 200, "{made}");
        let link = made["link"]["id"].as_str().unwrap().to_owned();
        Self { server, thread, session, link, event, stage }
    }

    /// Returns a path for an operation's template.
    pub fn filled(&self, template: &str) -> String {
        let named = [
            ("/threads/", self.thread.clone()),
            ("/turns/", format!("{}.1", self.thread)),
            ("/sessions/", self.session.clone()),
        ];
        let links = [("/links/", self.link.clone())];
        let of_kind = named.into_iter().chain(links).find(|(start, _)| template.starts_with(start));
        let id = of_kind.map_or_else(|| "none".into(), |(_, id)| id);
        template.replace("{id}", &id).replace("{seq}", "1").replace("{event}", &self.event)
    }
}

#[tokio::test]
async fn a_parameter_that_nobody_reads_is_refused_everywhere() {
    let hall = Hall::open().await;
    let (server, thread) = (&hall.server, &hall.thread);
    let api = api();
    for (path, method, operation) in operations(&api) {
        let asked = format!("{}?nonsense=1", hall.filled(&path));
        let (status, answer) = server.as_operator(method.clone(), &asked, json!({})).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (422, &json!("invalid_parameter")),
            "{method} {path}: {answer}"
        );
        let message = answer["error"]["message"].as_str().unwrap();
        for parameter in
            parameters(&operation).iter().filter(|parameter| parameter["in"] == "query")
        {
            let name = parameter["name"].as_str().unwrap();
            assert!(message.contains(name), "{method} {path}: {message} does not name {name}");
        }
    }
    let (_, answer) = server.get(&format!("/threads/{thread}/turns?before=5")).await;
    assert_eq!(
        answer["error"]["message"],
        "Unknown parameter \"before\"; known are message, limit, as."
    );
    let (_, answer) = server.get("/agents?as=ann").await;
    assert_eq!(answer["error"]["message"], "Unknown parameter \"as\"; this route takes none.");
}

/// Returns the schema of a body, with its reference resolved.
pub fn body_of<'a>(api: &'a Value, operation: &'a Value) -> Option<&'a Value> {
    let given = operation["requestBody"]["content"].get("application/json")?.get("schema")?;
    let place = given.get("$ref").or_else(|| given["oneOf"][0].get("$ref")).and_then(Value::as_str);
    Some(
        place.map_or(given, |place| {
            &api["components"]["schemas"][place.rsplit('/').next().unwrap()]
        }),
    )
}

/// Routes with open bodies: an event's unknown keys get a warning, and `/mcp` follows its own
/// protocol.
pub const OPEN: [&str; 2] = ["/threads/{id}/events", "/mcp"];

/// Routes on which agents register. Their errors have the shape that the agents' programs know.
pub const REGISTRATION: &str = "/api/v1/auth/";

#[tokio::test]
async fn a_key_that_a_body_does_not_have_is_refused_everywhere() {
    let hall = Hall::open().await;
    let api = api();
    let bodies = operations(&api).into_iter().filter(|(path, ..)| !OPEN.contains(&path.as_str()));
    for (path, method, operation) in bodies {
        let Some(body) = body_of(&api, &operation) else { continue };
        assert_eq!(body["additionalProperties"], false, "{method} {path}");
        let asked = hall.filled(&path);
        let mut given = json!({"nonsense": 1});
        if body["properties"].get("seq").is_some() {
            given["seq"] = json!(1);
        }
        if path.starts_with(REGISTRATION) {
            let refused = hall.server.request(method, &asked).json(&given).send().await.unwrap();
            let status = refused.status().as_u16();
            let said: Value = refused.json().await.unwrap();
            assert_eq!((status, &said["error"]), (400, &json!("Invalid parameters")));
            continue;
        }
        let (status, answer) = hall.server.as_operator(method.clone(), &asked, given).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (422, &json!("unknown_field")),
            "{method} {path}: {answer}"
        );
    }
}

#[tokio::test]
async fn numbers_that_programs_read_differently_are_no_positions() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for path in [
        format!("/threads/{thread}/events?after="),
        format!("/threads/{thread}/events?before="),
        "/threads?after=".into(),
    ] {
        // A read cannot continue from a position beyond the head of a thread.
        let largest = if path.ends_with("events?after=") { 416 } else { 200 };
        for (number, wanted) in [
            ("9007199254740991", largest),
            ("9007199254740992", 422),
            ("18446744073709551615", 422),
        ] {
            assert_eq!(server.get(&format!("{path}{number}")).await.0, wanted, "{path}{number}");
        }
    }
}

#[test]
fn every_route_with_a_description_is_in_the_table_and_the_other_way_round() {
    let api = api();
    let described = operations(&api);
    for route in ROUTES.iter().filter(|route| {
        !route.path.starts_with("/docs") && !["/openapi.json", "/health"].contains(&route.path)
    }) {
        assert!(
            described
                .iter()
                .any(|(path, method, _)| path == route.path && method.as_str() == route.method),
            "{route:?}"
        );
    }
}
