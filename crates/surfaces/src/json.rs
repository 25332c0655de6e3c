//! Strict JSON reading. Rejects input that two programs could read differently.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum nesting depth of arrays and objects.
pub const DEPTH_MAX: usize = 32;

/// Largest integer that programs with floating-point numbers keep exact.
pub(crate) const SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The reason why a text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// The kind of the fault.
    pub kind: JsonFaultKind,
    /// The fault in words, with its line and column.
    pub detail: String,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFaultKind {
    /// Invalid JSON, invalid UTF-8, or an invalid escape.
    Malformed,
    /// An object names a key twice.
    DuplicateKey,
    /// The text nests deeper than [`DEPTH_MAX`].
    TooDeep,
    /// A number that programs read differently: beyond ±(2⁵³−1), or negative zero.
    BadNumber,
}

/// Reads a whole text.
///
/// # Errors
/// [`JsonFault`] for input that is not plain, unambiguous JSON.
pub fn read(bytes: &[u8]) -> Result<Value, JsonFault> {
    let kind = Cell::new(JsonFaultKind::Malformed);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0, fault: &kind }.deserialize(&mut deserializer);
    value
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| JsonFault { kind: kind.get(), detail: error.to_string() })
}

/// A value at a nesting depth. The kind of a fault is stored on the side, because serde's own error
/// is only text.
#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    fault: &'a Cell<JsonFaultKind>,
}

impl Strict<'_> {
    fn refuse<E: serde::de::Error>(&self, kind: JsonFaultKind, message: impl fmt::Display) -> E {
        self.fault.set(kind);
        E::custom(message)
    }

    /// Returns the rule for the next level of nesting. Rejects a level beyond [`DEPTH_MAX`].
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(self.refuse(
                JsonFaultKind::TooDeep,
                format_args!("more than {DEPTH_MAX} levels of nesting"),
            ));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Value, E> {
        if number > SAFE_INTEGER {
            return Err(self.refuse(JsonFaultKind::BadNumber, "a number beyond 2^53-1"));
        }
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Value, E> {
        if number.unsigned_abs() > SAFE_INTEGER {
            return Err(self.refuse(JsonFaultKind::BadNumber, "a number below -(2^53-1)"));
        }
        Ok(Value::Number(number.into()))
    }

    /// Accepts a number with a fraction or an exponent; a whole one becomes an integer. Rejects
    /// negative zero and numbers beyond 2^53-1.
    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Value, E> {
        let ambiguous =
            number.abs() > SAFE_INTEGER as f64 || (number == 0.0 && number.is_sign_negative());
        // 5.0 is the whole number 5, as in JSON Schema and canonical JSON.
        if !ambiguous && number.fract() == 0.0 {
            return Ok(Value::Number((number as i64).into()));
        }
        match Number::from_f64(number) {
            Some(number) if !ambiguous => Ok(Value::Number(number)),
            _ => Err(self
                .refuse(JsonFaultKind::BadNumber, "a number that is too large, or negative zero")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    /// Reads an object. Rejects a key that comes twice.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                let shown: String = key.chars().take(40).collect();
                return Err(self.refuse(
                    JsonFaultKind::DuplicateKey,
                    format_args!("the key {shown:?} comes twice"),
                ));
            }
            let value = entries.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Returns a value as JSON text, with the keys of each object sorted. Equal values have equal
/// texts.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let inner: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", inner.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;
    use moothall_testkit::fuzz;
    use serde_json::json;

    fn fault(text: impl AsRef<[u8]>) -> JsonFaultKind {
        read(text.as_ref()).unwrap_err().kind
    }

    #[test]
    fn plain_json_reads_as_it_is() {
        let text = r#"{"a": [1, -2, 2.5, true, null, "é😀\n"], "b": {"a": {}}}"#;
        assert_eq!(
            read(text.as_bytes()).unwrap(),
            json!({"a": [1, -2, 2.5, true, null, "é😀\n"], "b": {"a": {}}})
        );
    }

    #[test]
    fn a_whole_number_is_one_however_it_is_written() {
        for (text, number) in [("5.0", 5), ("0.0", 0), ("-2.0", -2), ("3e2", 300)] {
            assert_eq!(read(text.as_bytes()).unwrap(), json!(number), "{text}");
        }
    }

    #[test]
    fn a_key_that_comes_twice_is_refused_at_any_depth() {
        assert_eq!(fault(r#"{"from":"a","from":"b"}"#), JsonFaultKind::DuplicateKey);
        assert_eq!(fault(r#"{"x":[{"a":1,"\u0061":2}]}"#), JsonFaultKind::DuplicateKey);
        assert!(read(br#"{"a":{"b":1},"c":{"b":1}}"#).is_ok());
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert_eq!(fault(nested(DEPTH_MAX + 1)), JsonFaultKind::TooDeep);
        assert_eq!(fault("[".repeat(100_000)), JsonFaultKind::TooDeep);
        assert_eq!(fault(r#"{"a":"#.repeat(100_000)), JsonFaultKind::TooDeep);
    }

    #[test]
    fn numbers_that_programs_read_differently_are_refused() {
        for bad in [
            "9007199254740992",
            "-9007199254740993",
            "-0",
            "-0.0",
            "1e300",
            "123456789012345678901234567890",
        ] {
            assert_eq!(fault(bad), JsonFaultKind::BadNumber, "{bad}");
        }
        for bad in ["1e400", "NaN", "Infinity", "01", "+1", ".5"] {
            assert_eq!(fault(bad), JsonFaultKind::Malformed, "{bad}");
        }
        assert_eq!(read(b"9007199254740991").unwrap(), json!(9_007_199_254_740_991_u64));
    }

    #[test]
    fn text_has_to_be_text() {
        for bad in [
            &b"\"\xff\""[..],
            b"\"\xc0\xaf\"",
            br#""\ud800""#,
            br#""\udc00\ud800""#,
            b"\"a\0b\"",
            b"",
            b"{} {}",
            b"{\"a\":1,}",
        ] {
            assert_eq!(fault(bad), JsonFaultKind::Malformed, "{bad:?}");
        }
        assert_eq!(read(br#""a\u0000b""#).unwrap(), json!("a\0b"));
    }

    #[test]
    fn equal_values_have_equal_canonical_texts() {
        let one = read(br#"{"b":[1,{"d":2,"c":"x\"y"}],"a":null}"#).unwrap();
        let two = read(br#"{ "a":null, "b":[1, {"c":"x\u0022y","d":2}] }"#).unwrap();
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(canonical(&one), r#"{"a":null,"b":[1,{"c":"x\"y","d":2}]}"#);
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
            Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }

    /// True if a value has a number with a fraction. Its last digit may change when it is read
    /// again, because serde_json's fast number reader is inexact.
    fn has_fraction(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(has_fraction),
            Value::Object(fields) => fields.values().any(has_fraction),
            Value::Number(number) => number.is_f64(),
            Value::Null | Value::Bool(_) | Value::String(_) => false,
        }
    }

    /// Returns the value with 5.0 as 5.
    fn folded(value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(folded).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(key, value)| (key, folded(value))).collect()
            }
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(whole) if whole.fract() == 0.0 => json!(whole as i64),
                _ => Value::Number(number),
            },
            Value::Null | Value::Bool(_) | Value::String(_) => value,
        }
    }

    #[test]
    fn fuzzed_json_reads_as_everybody_reads_it_and_keeps_its_bounds() {
        const DETAIL_MAX: usize = 400;
        let corpus = fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/json"));
        let words = [
            "[",
            "{\"a\":",
            "\"from\":",
            "-0",
            "1e308",
            "9007199254740992",
            "\\ud83d",
            "\\u0000",
            "null",
            "0.1",
            ",",
        ];
        fuzz::bytes("json", &corpus, &words, |bytes| match read(bytes) {
            Ok(value) => {
                assert!(depth(&value) <= DEPTH_MAX);
                assert_eq!(
                    folded(serde_json::from_slice(bytes).unwrap()),
                    value,
                    "another reader reads the same"
                );
                let text = canonical(&value);
                let again = read(text.as_bytes());
                assert!(has_fraction(&value) && again.is_ok() || again == Ok(value), "{text}");
            }
            Err(fault) => assert!(
                !fault.detail.is_empty() && fault.detail.len() <= DETAIL_MAX,
                "{}",
                fault.detail
            ),
        });
    }
}
