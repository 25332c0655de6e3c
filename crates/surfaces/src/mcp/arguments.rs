//! The arguments of a call, read strictly: nothing that the tool does not know, and nothing of the wrong kind.

use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};

use super::tools::Tool;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::text_of;
use crate::strict;

/// What a call brought.
pub struct Arguments(pub Map<String, Value>);

impl Arguments {
    /// The arguments of a call, all of which the tool knows.
    pub fn new(tool: Tool, given: Map<String, Value>) -> ApiResult<Self> {
        strict::check_known(&given, &tool.arguments())?;
        Ok(Self(given))
    }

    /// A text, if there is any.
    pub fn text(&self, key: &str) -> ApiResult<Option<&str>> {
        Ok(text_of(&self.0, key)?.filter(|text| !text.is_empty()))
    }

    /// A text that has to be there.
    pub fn required(&self, key: &str) -> ApiResult<&str> {
        let text = text_of(&self.0, key)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| invalid(format!("'{key}' is missing.")))
    }

    /// A truth value; false where it is missing.
    pub fn flag(&self, key: &str) -> ApiResult<bool> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(_) => Err(invalid(format!("'{key}' is true or false."))),
        }
    }

    /// A whole number.
    pub fn number(&self, key: &str) -> ApiResult<Option<u64>> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| invalid(format!("'{key}' is a whole number from 0."))),
        }
    }

    /// How many, within what there can be.
    pub fn limit(&self, usual: usize, most: usize) -> ApiResult<usize> {
        let Some(number) = self.number("limit")? else { return Ok(usual) };
        let limit = usize::try_from(number).ok().filter(|limit| (1..=most).contains(limit));
        limit.ok_or_else(|| invalid(format!("'limit' is a whole number from 1 to {most}.")))
    }

    /// A time.
    pub fn time(&self, key: &str) -> ApiResult<Option<Timestamp>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let refused = || invalid(format!("'{key}' is a time such as 2026-01-21T01:30:49.826Z."));
        text.parse().map(Some).map_err(|_| refused())
    }
}

fn invalid(message: String) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}
