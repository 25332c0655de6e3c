//! Hostile requests at the level of HTTP.

use moothall_engine::access::Mode;
use serde_json::json;

use crate::server::{Server, answer, soon};

async fn with_headers(server: &Server, headers: &str) -> u16 {
    let request = format!("GET /threads HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n");
    server.raw(request).await.0
}

#[tokio::test]
async fn only_our_own_names_are_served() {
    let server = Server::start().await;
    let port = server.address.port();
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")]
    {
        assert_eq!(with_headers(&server, &format!("Host: {host}")).await, 200, "{host}");
    }
    let foreign = [
        "evil.com".into(),
        format!("evil.com:{port}"),
        format!("localhost.evil.com:{port}"),
        "localhost:1".into(),
        "localhost".into(),
        format!("localhost.:{port}"),
        format!("127.0.0.1.:{port}"),
        format!("0.0.0.0:{port}"),
        format!("[::]:{port}"),
        format!("user@localhost:{port}"),
        format!("2130706433:{port}"),
    ];
    for host in foreign {
        let status = with_headers(&server, &format!("Host: {host}")).await;
        assert!(matches!(status, 400 | 421), "{host}: {status}");
    }
    assert_eq!(
        with_headers(&server, &format!("Host: localhost:{port}\r\nHost: localhost:{port}")).await,
        400
    );
    assert_eq!(with_headers(&server, "Accept: */*").await, 400);
    let absolute = format!(
        "GET http://evil.com/threads HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(server.raw(absolute).await.0, 421);
}

#[tokio::test]
async fn only_our_own_pages_may_ask() {
    let server = Server::start().await;
    let port = server.address.port();
    for origin in [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")] {
        assert_eq!(
            with_headers(&server, &format!("Host: localhost:{port}\r\nOrigin: {origin}")).await,
            200,
            "{origin}"
        );
    }
    let foreign = [
        "null".into(),
        "http://evil.com".into(),
        format!("http://localhost.evil.com:{port}"),
        format!("https://localhost:{port}"),
        "http://localhost:444".into(),
        format!("http://localhost:{port}0"),
        format!("http://localhost:{port}/"),
        format!("http://localhost:{port}@evil.com"),
        format!("HTTP://LOCALHOST:{port}"),
    ];
    for origin in foreign {
        for path in ["/threads", "/events/stream", "/docs/", "/"] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n"
            );
            assert_eq!(server.raw(request).await.0, 403, "{origin} {path}");
        }
    }
}

#[tokio::test]
async fn pages_of_others_embed_nothing_of_ours_but_may_link_to_it() {
    let server = Server::start().await;
    let fetched = |site: &str, mode: &str, dest: &str| {
        format!(
            "Host: {}\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {dest}",
            server.address
        )
    };
    for (site, mode, dest) in [
        ("cross-site", "no-cors", "image"),
        ("same-site", "no-cors", "script"),
        ("cross-site", "navigate", "iframe"),
    ] {
        assert_eq!(
            with_headers(&server, &fetched(site, mode, dest)).await,
            403,
            "{site} {mode} {dest}"
        );
    }
    for (site, mode, dest) in [
        ("cross-site", "navigate", "document"),
        ("same-origin", "cors", "empty"),
        ("none", "navigate", "document"),
    ] {
        assert_eq!(
            with_headers(&server, &fetched(site, mode, dest)).await,
            200,
            "{site} {mode} {dest}"
        );
    }
}

#[tokio::test]
async fn forms_of_other_pages_change_nothing() {
    let server = Server::start().await;
    let body = r#"{"name":"forged"}"#;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonp",
        "",
    ] {
        let response = server
            .client
            .post(server.url("/threads"))
            .header("content-type", kind)
            .body(body)
            .send()
            .await
            .unwrap();
        let (status, answer) = answer(response).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (415, &json!("wrong_content_type")),
            "{kind}"
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains("Content-Type"));
        let response = server
            .client
            .post(server.url("/threads"))
            .header("content-type", kind)
            .header("origin", "http://evil.com")
            .body(body)
            .send()
            .await;
        assert_eq!(response.unwrap().status(), 403);
    }
    let response = server.client.post(server.url("/threads")).body(body).send().await.unwrap();
    assert_eq!(response.status(), 415);
    let utf8 = server
        .client
        .post(server.url("/threads"))
        .header("content-type", "application/json; charset=utf-8")
        .body(body)
        .send()
        .await;
    assert_eq!(utf8.unwrap().status(), 200);
    assert_eq!(server.get("/threads").await.1["threads"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_browsers_in_check() {
    let server = Server::start().await;
    for path in [
        "/",
        "/threads",
        "/nothing",
        "/docs/",
        "/docs/nothing.js",
        "/threads/x/events",
        "/openapi.json",
    ] {
        let response = soon(server.client.get(server.url(path)).send()).await.unwrap();
        let headers = response.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("script-src 'unsafe") && !policy.contains("http"),
            "{path}: {policy}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        // The page may be cached but must be revalidated each time. Nothing else may be cached.
        let cached = if path == "/" { "no-cache" } else { "no-store" };
        assert_eq!(headers["cache-control"], cached, "{path}");
        assert!(headers.get("access-control-allow-origin").is_none());
    }
}

#[tokio::test]
async fn smuggled_and_malformed_heads_are_refused() {
    let server = Server::start().await;
    let host = format!("Host: localhost:{}", server.address.port());
    let heads = [
        format!(
            "POST /threads HTTP/1.1\r\n{host}\r\nContent-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{{}}"
        ),
        format!("GET /threads HTTP/1.1\r\n{host}\r\nX: a\r\n b\r\nConnection: close\r\n\r\n"),
        format!("GET /threads HTTP/1.1\r\n{host}\r\nX: a\0b\r\nConnection: close\r\n\r\n"),
        format!("GET /threads HTTP/1.1\r\n{host}\r\nX : a\r\nConnection: close\r\n\r\n"),
        format!(
            "POST /threads HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked, identity\r\nConnection: close\r\n\r\n"
        ),
        format!(
            "GET /threads HTTP/1.1\r\n{host}\r\n{}Connection: close\r\n\r\n",
            "X: y\r\n".repeat(1000)
        ),
        format!("GET /{} HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n", "a".repeat(100_000)),
    ];
    for head in heads {
        let (status, text) = server.raw(&head).await;
        assert!((400..500).contains(&status), "{:?} got {text:?}", &head[..head.len().min(120)]);
    }
    let both = format!(
        "POST /threads HTTP/1.1\r\n{host}\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\n{{}}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n"
    );
    // The chunks count, and nothing after them is read. Two servers could disagree about the
    // length, so the connection is closed.
    let (_, text) = server.raw(both).await;
    assert!(
        text.matches("HTTP/1.1").count() == 1 && text.contains("connection: close"),
        "{text:?}"
    );
}

#[tokio::test]
async fn limits_outside_the_range_are_refused() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for limit in ["0", "-1", "1000000000", "abc", "1.5", "", "1001", "%201"] {
        for path in [
            format!("/threads/{thread}/events"),
            format!("/threads/{thread}/turns"),
            "/threads".into(),
        ] {
            let (status, answer) = server.get(&format!("{path}?limit={limit}")).await;
            assert_eq!(
                (status, &answer["error"]["code"]),
                (422, &json!("invalid_parameter")),
                "{path} {limit}"
            );
        }
    }
    for query in
        ["after=-1", "after=x", "since=tomorrow", "limit=1&limit=2", "as=a%2Fb", "as=", "limit=%ff"]
    {
        assert_eq!(
            server.get(&format!("/threads/{thread}/events?{query}")).await.0,
            422,
            "{query}"
        );
    }
}

#[tokio::test]
async fn paths_that_lead_elsewhere_lead_nowhere() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let host = format!("Host: localhost:{}", server.address.port());
    let long = format!("/threads/{}/state", "a".repeat(5000));
    let paths = [
        "/threads/..%2f..%2fadmin/state",
        "/threads/../../etc/passwd",
        "/threads//state",
        "//threads",
        "/threads/%00/state",
        "/threads/a;b/state",
        "/threads/%ff/state",
        "/threads/%2e%2e/events",
        "/threads/0190e9a0-0000-7000-8000-000000000000/state",
        "/threads/0190e9a0-0000-7000-8000-000000000000/events",
        "/threads/0190e9a0-0000-7000-8000-000000000000/events/stream",
        "/threads/0190e9a0-0000-7000-8000-000000000000/presence",
        "/threads/0190e9a0-0000-7000-8000-000000000000/turns",
        "/docs/../threads",
        "/docs/%2e%2e/%2e%2e/etc/passwd",
        "/nothing",
        long.as_str(),
    ];
    for path in paths {
        let (status, text) =
            server.raw(format!("GET {path} HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n")).await;
        assert_eq!(status, 404, "{path}");
        assert!(text.contains("{\"error\":{\"code\":"), "{path}: {text}");
    }
    for (path, body) in [
        ("/threads/nowhere/events", json!({"from": "user", "content": "x"})),
        ("/threads/nowhere/stop", json!({})),
        ("/threads/nowhere/presence", json!({"from": "a", "state": "idle"})),
    ] {
        assert_eq!(server.post(path, body).await.0, 404, "{path}");
    }
    let response = server
        .client
        .delete(server.url(&format!("/threads/{thread}/events")))
        .send()
        .await
        .unwrap();
    let allow = response.headers()["allow"].to_str().unwrap().to_owned();
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
    assert_eq!(answer(response).await.0, 405);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let server = Server::start().await;
    let host = format!("Host: localhost:{}", server.address.port());
    let announced = format!(
        "POST /threads HTTP/1.1\r\n{host}\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\nConnection: close\r\n\r\n"
    );
    let (status, text) = server.raw(announced).await;
    assert_eq!(status, 413, "{text}");
    assert!(text.contains("too_large"));
    let padded = |bytes: usize| format!("{{\"name\":\"{}\"}}", "a".repeat(bytes - 11));
    let chunks: Vec<std::io::Result<String>> = (0..20).map(|_| Ok("a".repeat(64 * 1024))).collect();
    let (status, _) = server
        .post_raw("/threads", reqwest::Body::wrap_stream(futures_util::stream::iter(chunks)))
        .await;
    assert_eq!(status, 413);
    let (status, answer) = server.post_raw("/threads", padded(1 << 20)).await;
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("title_too_long")));
}

#[tokio::test]
async fn a_server_that_goes_down_says_when_to_come_back() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.hall.drain(moothall_kernel::time::Millis::from_secs(5)).await;
    let request = server
        .client
        .post(server.url(&format!("/threads/{thread}/events")))
        .json(&json!({"from": "user", "content": "x"}));
    let response = soon(request.send()).await.unwrap();
    assert_eq!(response.headers()["retry-after"], "1");
    let (status, refused) = answer(response).await;
    assert_eq!((status, &refused["error"]["code"]), (503, &json!("shutting_down")));
    assert_eq!(server.events(&thread, "").await.len(), 1);
}

#[tokio::test]
async fn idempotency_keys_are_short_and_plain() {
    let server = Server::start().await;
    for key in ["", " ", "a b", "k\u{e9}", &"k".repeat(256), &"k".repeat(4096)] {
        let response = server
            .client
            .post(server.url("/threads"))
            .header("idempotency-key", key)
            .json(&json!({}))
            .send()
            .await
            .unwrap();
        let (status, answer) = answer(response).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (400, &json!("bad_idempotency_key")),
            "{key:?}"
        );
    }
    let response = server
        .client
        .post(server.url("/threads"))
        .header("idempotency-key", "a")
        .header("idempotency-key", "b")
        .json(&json!({}))
        .send()
        .await;
    assert_eq!(response.unwrap().status(), 400);
    assert_eq!(server.post_with_key("/threads", &"k".repeat(255), json!({})).await.0, 200);
}

#[tokio::test]
async fn nothing_changes_under_a_condition_that_cannot_be_checked() {
    let server = Server::start().await;
    for (name, value) in [
        ("if-match", "*"),
        ("if-match", "\"stale\""),
        ("if-match", "W/\"weak\""),
        ("if-match", ""),
        ("if-unmodified-since", "Sat, 29 Oct 1994 19:43:31 GMT"),
    ] {
        let request = server.client.post(server.url("/threads")).header(name, value);
        let (status, refused) = answer(soon(request.json(&json!({})).send()).await.unwrap()).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (412, &json!("precondition_failed")),
            "{name}: {value}"
        );
        let read = server.client.get(server.url("/threads")).header(name, value);
        let (status, listed) = answer(soon(read.send()).await.unwrap()).await;
        assert_eq!((status, &listed["threads"]), (200, &json!([])), "{name}: {value}");
    }
}

#[tokio::test]
async fn what_a_proxy_passes_on_is_not_its_owners_word_in_local_mode() {
    let local = Server::start().await;
    let token = Server::start_in(Mode::Token).await;
    for header in ["X-Forwarded-For", "x-forwarded-proto", "Forwarded", "Via", "X-Real-IP"] {
        let asked = async |server: &Server, path: &str| {
            let request = server.client.get(server.url(path)).header(header, "for=192.0.2.7");
            answer(soon(request.bearer_auth(&server.key).send()).await.unwrap()).await
        };
        let (status, refused) = asked(&local, "/threads").await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forwarded")), "{header}");
        assert_eq!(asked(&local, "/ping").await.0, 200, "{header}");
        assert_eq!(asked(&token, "/threads").await.0, 200, "{header}");
    }
}
