//! The web page: files that `build.rs` made, embedded in the program.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::error::{ApiError, Code};

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/web"]
struct PageFiles;

/// Content security policy of the page: own scripts and styles, images also as `data:`, and
/// requests to this server only.
pub const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
                       frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
/// Cache header of files whose names change with their content.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Addresses that the page handles.
pub const PAGES: [&str; 4] = ["/", "/t/{thread}", "/s", "/s/{session}"];

/// Returns the page itself, for each of [`PAGES`].
pub async fn page() -> Response {
    answer("index.html")
}

/// Returns one of the page's files.
pub async fn file(uri: Uri) -> Response {
    answer(uri.path().trim_start_matches('/'))
}

/// Returns the paths of the page's files.
pub fn files() -> impl Iterator<Item = String> {
    PageFiles::iter().filter(|path| path != "index.html").map(|path| format!("/{path}"))
}

/// Returns all routes of the page and its files.
pub fn routes() -> impl Iterator<Item = String> {
    files().chain(PAGES.map(str::to_owned))
}

fn answer(path: &str) -> Response {
    match PageFiles::get(path) {
        Some(file) => found(path, file),
        None => ApiError::plain(Code::NotFound).into_response(),
    }
}

fn found(path: &str, file: EmbeddedFile) -> Response {
    let kind = HeaderValue::from_str(&content_type(file.metadata.mimetype()))
        .unwrap_or(HeaderValue::from_static("text/plain"));
    let cache = if path.starts_with("assets/") { FOREVER } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP)),
    ];
    (StatusCode::OK, headers, Body::from(file.data.into_owned())).into_response()
}

/// Returns the content type, with UTF-8 as the charset of text.
fn content_type(mime: &str) -> String {
    if mime.starts_with("text/") { format!("{mime}; charset=utf-8") } else { mime.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn the_page_and_its_files_are_there() {
        let page = page().await;
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(page.headers()[header::CONTENT_SECURITY_POLICY], CSP);
        for path in files() {
            assert_eq!(file(path.parse().unwrap()).await.status(), StatusCode::OK, "{path}");
        }
    }

    #[tokio::test]
    async fn other_paths_are_not_found() {
        for path in ["/assets/none.js", "/../Cargo.toml", "/index.html/x", "//"] {
            assert_eq!(file(path.parse().unwrap()).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
