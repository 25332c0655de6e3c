//! A system that does not report the owner of a connection's process. Local mode is for one user,
//! so every request needs a credential.

use moothall_engine::access::Mode;
use moothall_surfaces::{HttpOptions, ROUTES, Route, UnknownPeerRights};
use moothall_testkit::filter::without_netlink;
use reqwest::Method;
use serde_json::{Value, json};

use crate::access::sign_in;
use crate::server::{Server, soon};

const NOWHERE: &str = "00000000-0000-7000-8000-000000000000";

/// Runs a test on a simulated system without that report.
fn on_such_a_computer(story: impl AsyncFnOnce() + Send) {
    without_netlink(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(story());
    });
}

/// Requests a route with empty values in its path and body; returns the status and the code.
async fn asked(server: &Server, route: &Route, credential: Option<&str>) -> (u16, String) {
    let path = ["id", "seq", "event", "*rest"]
        .iter()
        .fold(route.path.to_owned(), |path, part| path.replace(&format!("{{{part}}}"), NOWHERE));
    let method = Method::from_bytes(route.method.as_bytes()).unwrap();
    let request = server.client.request(method, server.url(&path)).json(&json!({}));
    let request = match credential {
        Some(credential) => request.bearer_auth(credential),
        None => request,
    };
    let response = soon(request.send()).await.unwrap();
    let status = response.status().as_u16();
    // A stream never ends.
    let text = if status == 200 { String::new() } else { response.text().await.unwrap() };
    let body = serde_json::from_str::<Value>(&text).unwrap_or_default();
    (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn without_a_credential_every_route_is_refused_but_those_that_let_a_person_in() {
    on_such_a_computer(async || {
        let server = Server::start().await;
        for route in ROUTES {
            let (status, code) = asked(&server, route, None).await;
            match route.path {
                "/ping" | "/healthz" | "/health" => assert_eq!(status, 200, "{route:?}"),
                // The body is read, and its key is missing.
                "/session" if route.method == "POST" => assert_eq!(code, "invalid_field"),
                _ => assert_eq!((status, &*code), (403, "owner_unknown"), "{route:?}"),
            }
        }
        let page = soon(server.client.get(server.url("/")).send()).await.unwrap();
        assert_eq!(page.status(), 200, "the page loads, to sign in");
        let (_, refused) = server.get("/threads").await;
        let words = refused["error"]["message"].as_str().unwrap();
        for word in ["AF_NETLINK", "unasked = \"converse\"", "moothall page", "not supported"] {
            assert!(words.contains(word), "{word}: {words}");
        }
        let (_, record) = server.as_operator(Method::GET, "/audit?limit=1", Value::Null).await;
        let detail = record["rows"][0]["detail"].as_str().unwrap();
        assert!(detail.ends_with(": by a user of this computer whom the system does not name"));
    });
}

#[test]
fn a_credential_is_all_that_its_owner_needs() {
    on_such_a_computer(async || {
        let server = Server::start().await;
        for route in ROUTES {
            let (status, code) = asked(&server, route, Some(&server.key)).await;
            assert!(code != "owner_unknown", "{route:?} {status} {code}");
        }
        let cookie = sign_in(&server, &server.key).await;
        let mut with_cookie = server.client.get(server.url("/threads")).header("cookie", &cookie);
        assert_eq!(soon(with_cookie.send()).await.unwrap().status(), 200);
        with_cookie = server.client.get(server.url("/threads")).header("cookie", "moothall=x");
        assert_eq!(soon(with_cookie.send()).await.unwrap().status(), 403);
        let worthless = server.with("boot_x", Method::GET, "/threads", Value::Null).await;
        assert_eq!(worthless.0, 401);
    });
}

#[test]
fn an_operator_may_let_all_of_them_converse_and_none_runs_a_program() {
    on_such_a_computer(async || {
        let converse = |options| HttpOptions { unasked: UnknownPeerRights::Converse, ..options };
        let server = Server::open_with(Mode::Local, None, converse).await;
        let thread = server.thread("hybrid").await;
        let (status, said) = server
            .post(&format!("/threads/{thread}/events"), json!({"from": "ann", "content": "hello"}))
            .await;
        assert_eq!(status, 200, "{said}");
        let (status, refused) = server.post("/tokens", json!({"principal": "ann"})).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")));
    });
}

#[test]
fn where_every_user_may_come_and_in_token_mode_the_system_is_not_asked() {
    on_such_a_computer(async || {
        let others = |options| HttpOptions { other_users: true, ..options };
        let server = Server::open_with(Mode::Local, None, others).await;
        assert_eq!(server.get("/threads").await.0, 200);
        let server = Server::start_in(Mode::Token).await;
        assert_eq!(server.get("/threads").await.0, 401);
    });
}
