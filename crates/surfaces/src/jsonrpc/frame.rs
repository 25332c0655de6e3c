//! Reads a frame into a request or a response, and writes the server's frames.
//!
//! A frame is one object without unknown members. Batches are not supported, ids are strings, and
//! clients send no notifications.

use serde::Serialize;
use serde_json::{Map, Value};

use super::code::{RpcCode, RpcError, RpcFault};
use crate::json::{self, JsonFaultKind};

/// The supported version of JSON-RPC.
const VERSION: &str = "2.0";

/// A frame of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A request.
    Request {
        /// The id for the response.
        id: String,
        /// The name of the method, which may be unknown.
        method: String,
        /// The parameters, not read yet.
        params: Option<Value>,
    },
    /// A response to a request of the server.
    Response {
        /// The id of that request. A response without an id counts as a refused frame.
        id: Option<String>,
        /// The result or the error.
        outcome: Result<Value, RpcFault>,
    },
}

impl Frame {
    /// Reads the text of one frame.
    ///
    /// # Errors
    /// The error to send with the id null: [`RpcCode::ParseError`] or [`RpcCode::InvalidRequest`].
    pub fn read(text: &str) -> Result<Self, RpcError> {
        let invalid = || RpcError::plain(RpcCode::InvalidRequest);
        let value = json::read(text.as_bytes()).map_err(|fault| match fault.kind {
            JsonFaultKind::Malformed => RpcError::plain(RpcCode::ParseError),
            // Valid JSON, but two programs could read it differently or run out of stack.
            JsonFaultKind::DuplicateKey | JsonFaultKind::TooDeep | JsonFaultKind::BadNumber => {
                invalid().because(&fault.detail)
            }
        })?;
        let Value::Object(members) = value else { return Err(invalid()) };
        Self::of(members).ok_or_else(invalid)
    }

    /// Reads the members of a frame: a request if it has a method, and otherwise a response.
    /// Returns `None` for any other form, and for unknown members.
    fn of(mut members: Map<String, Value>) -> Option<Self> {
        if members.remove("jsonrpc")? != VERSION {
            return None;
        }
        let id = members.remove("id")?;
        let frame = match members.remove("method") {
            Some(method) => Self::request(id, method, members.remove("params"))?,
            None => Self::response(id, members.remove("result"), members.remove("error"))?,
        };
        members.is_empty().then_some(frame)
    }

    fn request(id: Value, method: Value, params: Option<Value>) -> Option<Self> {
        let (Value::String(id), Value::String(method)) = (id, method) else { return None };
        (!method.is_empty()).then_some(Self::Request { id, method, params })
    }

    /// Reads a response: exactly one of a result and an error, and an id that is a string or null.
    /// `None` for every other form.
    fn response(id: Value, result: Option<Value>, error: Option<Value>) -> Option<Self> {
        let id = match id {
            Value::Null => None,
            Value::String(id) => Some(id),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let outcome = match (result, error) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) if error.is_object() => Err(serde_json::from_value(error).ok()?),
            _ => return None,
        };
        Some(Self::Response { id, outcome })
    }
}

/// Writes a successful response to the request with this id.
pub fn response(id: &str, result: &impl Serialize) -> String {
    let (id, result) = (Value::from(id), written(result));
    format!(r#"{{"jsonrpc":"{VERSION}","id":{id},"result":{result}}}"#)
}

/// Writes an error response to the request with this id, or with the id null.
pub fn error(id: Option<&str>, error: &RpcError) -> String {
    let (id, error) = (Value::from(id), error.to_value());
    format!(r#"{{"jsonrpc":"{VERSION}","id":{id},"error":{error}}}"#)
}

/// Writes a request of the server.
pub fn request(id: &str, method: &str, params: &impl Serialize) -> String {
    let (id, method, params) = (Value::from(id), Value::from(method), written(params));
    format!(r#"{{"jsonrpc":"{VERSION}","id":{id},"method":{method},"params":{params}}}"#)
}

/// Writes a notification of the server.
pub fn notification(method: &str, params: &impl Serialize) -> String {
    let (method, params) = (Value::from(method), written(params));
    format!(r#"{{"jsonrpc":"{VERSION}","method":{method},"params":{params}}}"#)
}

/// Writes a value as JSON. Wire types always succeed, because their keys are strings.
fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> RpcCode {
        Frame::read(text).unwrap_err().code
    }

    #[test]
    fn a_request_has_an_id_a_method_and_perhaps_params() {
        let read = |text: &str| Frame::read(text).unwrap();
        let request =
            |params: Option<Value>| Frame::Request { id: "1".into(), method: "a/b".into(), params };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"1","method":"a/b"}"#), request(None));
        let with = r#" {"params":[1],"method":"a/b","id":"1","jsonrpc":"2.0"} "#;
        assert_eq!(read(with), request(Some(json!([1]))));
        let null = r#"{"jsonrpc":"2.0","id":"1","method":"a/b","params":null}"#;
        assert_eq!(read(null), request(Some(Value::Null)));
    }

    #[test]
    fn a_response_has_a_result_or_an_error() {
        let read = |text: &str| Frame::read(text).unwrap();
        let done = Frame::Response { id: Some("7".into()), outcome: Ok(Value::Null) };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"7","result":null}"#), done);
        let fault = RpcFault { code: -1, message: "no".into(), data: None };
        let failed = Frame::Response { id: None, outcome: Err(fault) };
        let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#;
        assert_eq!(read(text), failed);
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for bad in ["", "{", "{} {}", "nul", "{\"jsonrpc\":\"2.0\",}", "\u{feff}{}"] {
            assert_eq!(refused(bad), RpcCode::ParseError, "{bad}");
        }
        let answer = error(None, &Frame::read("{").unwrap_err());
        let wanted =
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON"}}"#;
        assert_eq!(answer, wanted);
    }

    #[test]
    fn json_that_is_no_frame_is_an_invalid_request() {
        for bad in [
            "1",
            "null",
            "\"a\"",
            "[]",
            "{}",
            r#"[{"jsonrpc":"2.0","id":"1","method":"a"}]"#,
            r#"{"id":"1","method":"a"}"#,
            r#"{"jsonrpc":"1.0","id":"1","method":"a"}"#,
            r#"{"jsonrpc":2.0,"id":"1","method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":""}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":7}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":null}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"a","type":"request"}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"a","result":1}"#,
            r#"{"jsonrpc":"2.0","id":"1"}"#,
            r#"{"jsonrpc":"2.0","result":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":1,"params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":1,"error":{"code":1,"message":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":"1","error":null}"#,
            r#"{"jsonrpc":"2.0","id":"1","error":[1,"a"]}"#,
            r#"{"jsonrpc":"2.0","id":"1","error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":"1","error":{"code":1.5,"message":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":"1","error":{"code":1,"message":"a","more":1}}"#,
            r#"{"jsonrpc":"2.0","id":"1","id":"2","method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"a","params":{"b":1,"b":2}}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"a","params":{"b":9007199254740993}}"#,
        ] {
            assert_eq!(refused(bad), RpcCode::InvalidRequest, "{bad}");
            assert_eq!(Frame::read(bad).unwrap_err().message, "Invalid request frame");
        }
    }

    #[test]
    fn what_is_deep_or_long_is_refused_and_harms_nobody() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":"1","method":"a","params":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(refused(&deep), RpcCode::InvalidRequest);
        assert_eq!(refused(&"[".repeat(1_000_000)), RpcCode::InvalidRequest);
        let one = r#"{"jsonrpc":"2.0","id":"1","method":"network/ping"}"#;
        let batch = format!("[{}]", vec![one; 100_000].join(","));
        assert_eq!(refused(&batch), RpcCode::InvalidRequest);
    }

    #[test]
    fn frames_are_written_with_their_members_in_order() {
        let params = json!({"b": 1, "a": "\"\n"});
        assert_eq!(
            response("\"1\"", &params),
            r#"{"jsonrpc":"2.0","id":"\"1\"","result":{"b":1,"a":"\"\n"}}"#
        );
        assert_eq!(
            request("s1", "task/create", &json!({})),
            r#"{"jsonrpc":"2.0","id":"s1","method":"task/create","params":{}}"#
        );
        assert_eq!(
            notification("task/created", &params),
            r#"{"jsonrpc":"2.0","method":"task/created","params":{"b":1,"a":"\"\n"}}"#
        );
        let full = RpcError::new(RpcCode::NotFound, "Task not found").with_data(json!([1]));
        assert_eq!(
            error(Some("1"), &full),
            r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32002,"message":"Task not found","data":[1]}}"#
        );
    }
}
