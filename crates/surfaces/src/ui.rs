//! The web page: files that `build.rs` made, embedded in the program.
//!
//! The build compresses the files and lists the hashes of the scripts and styles inside the page.
//! (`web/scripts/finish.ts`)

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::error::{ApiError, Code};

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/web"]
struct PageFiles;

/// The file with the sources that the page's policy allows besides its own: a line for each kind.
const HASHES: &str = "hashes.txt";

/// Content security policy of the page: own scripts and styles, those inside the page by their
/// hashes, images also as `data:`, and requests to this server only.
static CSP: LazyLock<String> = LazyLock::new(|| {
    let hashes = PageFiles::get(HASHES)
        .map(|file| String::from_utf8_lossy(&file.data).into_owned())
        .unwrap_or_default();
    let of = |kind: &str| hashes.lines().find_map(|line| line.strip_prefix(kind)).unwrap_or("");
    format!(
        "default-src 'none'; script-src 'self'{}; style-src 'self'{}; img-src 'self' data:; \
         connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'self'",
        of("script-src"),
        of("style-src")
    )
});
/// Cache header of files whose names change with their content.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// The encodings of compressed files: the word of the headers, and the end of the file's name. The
/// smallest comes first.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// Addresses that the page handles.
pub const PAGES: [&str; 5] = ["/", "/t/{thread}", "/t/{thread}/terminal", "/s", "/s/{session}"];

/// Returns the page itself, for each of [`PAGES`].
pub async fn page(headers: HeaderMap) -> Response {
    answer("index.html", &headers)
}

/// Returns one of the page's files.
pub async fn file(uri: Uri, headers: HeaderMap) -> Response {
    answer(uri.path().trim_start_matches('/'), &headers)
}

/// Returns the paths of the page's files.
pub fn files() -> impl Iterator<Item = String> {
    PageFiles::iter().filter(|path| is_served(path)).map(|path| format!("/{path}"))
}

/// True if a file has an address of its own.
fn is_served(path: &str) -> bool {
    let is_compressed = ENCODINGS.iter().any(|(_, end)| path.ends_with(end));
    path != "index.html" && path != HASHES && !is_compressed
}

/// Returns all routes of the page and its files.
pub fn routes() -> impl Iterator<Item = String> {
    files().chain(PAGES.map(str::to_owned))
}

/// Returns a file of the page in the smallest encoding that the client accepts, with its headers.
/// Returns 304 if the client has the file already, and 404 if it does not exist.
fn answer(path: &str, headers: &HeaderMap) -> Response {
    let Some(plain) = PageFiles::get(path) else {
        return ApiError::plain(Code::NotFound).into_response();
    };
    let kind = content_type(plain.metadata.mimetype());
    let compressed = ENCODINGS.into_iter().find_map(|(word, end)| {
        let file = PageFiles::get(&format!("{path}{end}")).filter(|_| accepts(headers, word))?;
        Some((file, word))
    });
    let (file, encoding) = match compressed {
        Some((file, word)) => (file, Some(word)),
        None => (plain, None),
    };
    // Each encoding has a tag of its own, so that a cache never mixes up two encodings.
    let tag = tag(&file);
    let status = if has_tag(headers, &tag) { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let body = if status == StatusCode::OK { Body::from(file.data) } else { Body::empty() };
    let cache = if path.starts_with("assets/") { FOREVER } else { "no-cache" };
    let mut response = (status, body).into_response();
    let all = [
        (header::CONTENT_TYPE, Some(kind.as_str())),
        (header::CACHE_CONTROL, Some(cache)),
        (header::CONTENT_SECURITY_POLICY, Some(CSP.as_str())),
        (header::VARY, Some("accept-encoding")),
        (header::ETAG, Some(tag.as_str())),
        (header::CONTENT_ENCODING, encoding),
    ];
    for (name, value) in all {
        let value = value.and_then(|value| HeaderValue::from_str(value).ok());
        value.map(|value| response.headers_mut().insert(name, value));
    }
    response
}

/// Returns the entity tag of a file: the beginning of its hash.
fn tag(file: &EmbeddedFile) -> String {
    let hash = file.metadata.sha256_hash();
    format!("\"{}\"", hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Returns the items of a header that is a list.
fn items<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// True if the client accepts an encoding. A weight of 0 refuses it.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    items(headers, &header::ACCEPT_ENCODING).any(|item| {
        let (word, weight) = item.split_once(';').unwrap_or((item, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok());
        word.trim().eq_ignore_ascii_case(encoding) && weight.unwrap_or(1.0_f32) > 0.0
    })
}

/// True if the client has the file already. A proxy may have made the tag weak.
fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    items(headers, &header::IF_NONE_MATCH)
        .any(|item| item == "*" || item.trim_start_matches("W/") == tag)
}

/// Returns the content type, with UTF-8 as the charset of text.
fn content_type(mime: &str) -> String {
    if mime.starts_with("text/") { format!("{mime}; charset=utf-8") } else { mime.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn asking(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[tokio::test]
    async fn the_page_and_its_files_are_there() {
        let page = page(HeaderMap::new()).await;
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(page.headers()[header::CONTENT_SECURITY_POLICY], CSP.as_str());
        for path in files() {
            let file = file(path.parse().unwrap(), HeaderMap::new()).await;
            assert_eq!(file.status(), StatusCode::OK, "{path}");
            assert!(!file.headers().contains_key(header::CONTENT_ENCODING), "{path}");
        }
    }

    #[tokio::test]
    async fn other_paths_are_not_found() {
        for path in ["/assets/none.js", "/../Cargo.toml", "/index.html/x", "//"] {
            let answer = file(path.parse().unwrap(), HeaderMap::new()).await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[tokio::test]
    async fn a_file_that_the_client_has_is_not_sent_again() {
        let first = page(HeaderMap::new()).await;
        let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        for given in [tag.clone(), format!("\"x\", W/{tag}"), "*".into()] {
            let again = page(asking(header::IF_NONE_MATCH, &given)).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{given}");
            assert_eq!(again.headers()[header::ETAG], tag.as_str());
            let body = axum::body::to_bytes(again.into_body(), 1).await.unwrap();
            assert!(body.is_empty());
        }
        let other = page(asking(header::IF_NONE_MATCH, "\"x\"")).await;
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_compressed_file_is_sent_to_clients_that_accept_it() {
        let is_there = |end: &str| PageFiles::get(&format!("index.html{end}")).is_some();
        for (word, end) in ENCODINGS {
            let answer = page(asking(header::ACCEPT_ENCODING, word)).await;
            let encoding = answer.headers().get(header::CONTENT_ENCODING);
            assert_eq!(encoding.is_some_and(|sent| sent == word), is_there(end), "{word}");
            assert_eq!(answer.headers()[header::VARY], "accept-encoding");
        }
    }

    #[test]
    fn a_weight_of_zero_refuses_an_encoding() {
        let asked = |value: &str| accepts(&asking(header::ACCEPT_ENCODING, value), "br");
        for value in ["br", "gzip, br", "gzip;q=0.5, BR;q=0.1", "br;q=x"] {
            assert!(asked(value), "{value}");
        }
        for value in ["", "gzip", "brx", "br;q=0", "gzip, br; q=0.0"] {
            assert!(!asked(value), "{value}");
        }
    }
}
