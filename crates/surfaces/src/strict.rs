//! Strict reading of client input into types. Unknown fields and values of the wrong type are
//! rejected, with a message for each fault.

use std::cell::RefCell;
use std::fmt;

use moothall_kernel::command::WORD_CHARS_MAX;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult, Code};
use crate::request::refuse_server_field;

/// A type that a client sends.
pub trait Inbound: DeserializeOwned {
    /// Names of text fields that default to an empty string.
    const EMPTY: &'static [&'static str] = &[];

    /// Returns the error for a required field that is missing.
    fn missing(field: &str) -> ApiError {
        ApiError::new(Code::InvalidField, format!("'{field}' is missing."))
    }

    /// Returns the error for a value of the wrong type. `object` is the field that holds the
    /// object, or empty for the whole. Items of a list are named `list[]`.
    fn wrong(_object: &str, field: &str, takes: &str) -> ApiError {
        ApiError::new(Code::InvalidField, format!("'{field}' {takes}."))
    }

    /// Returns the error for an unknown field in this object.
    fn unknown(_object: &str, key: &str, known: &[&str]) -> ApiError {
        unknown(key, known)
    }
}

/// A type that tolerates unknown fields. They are dropped with a warning instead of an error.
pub trait Open: Inbound {
    /// Rejects an unknown field that must not be dropped, such as one that only the server may set.
    ///
    /// # Errors
    /// [`ApiError`], usually of [`Code::ServerField`].
    fn check(object: &str, key: &str) -> ApiResult<()>;
}

/// Reads an object as this type, and rejects unknown fields.
pub fn read<T: Inbound>(fields: &Map<String, Value>) -> ApiResult<T> {
    read_with(fields, &|object, key, known| Err(T::unknown(object, key, known)))
}

/// Returns the known fields of a type, in order.
pub fn fields_of<T: Inbound>() -> Vec<&'static str> {
    let fields = RefCell::new(Vec::new());
    // An unknown field makes the reader pass the list of known ones to the handler.
    let foreign = Map::from_iter([(String::new(), Value::Null)]);
    let _ = read_with::<T>(&foreign, &|_, _, known| {
        fields.borrow_mut().extend_from_slice(known);
        Ok(())
    });
    fields.into_inner()
}

/// Reads an object of a type that tolerates unknown fields. Returns a warning for each field that
/// was dropped. Some unknown fields are still rejected ([`Open::check`]).
pub fn read_open<T: Open>(fields: &Map<String, Value>) -> ApiResult<(T, Vec<String>)> {
    let warnings = RefCell::new(Vec::new());
    let read = read_with(fields, &|object, key, _| {
        T::check(object, key)?;
        warnings.borrow_mut().push(warning(object, key));
        Ok(())
    })?;
    Ok((read, warnings.into_inner()))
}

fn warning(object: &str, key: &str) -> String {
    let shown: String = key.chars().take(WORD_CHARS_MAX).collect();
    let of = if object.is_empty() { String::new() } else { format!(" of '{object}'") };
    format!("The field {shown:?}{of} is unknown and was dropped.")
}

/// A handler of unknown fields: takes the object's field, the key and the known keys.
type UnknownFieldRule<'a> = &'a dyn Fn(&str, &str, &[&'static str]) -> ApiResult<()>;

/// Reads an object. `unknown` accepts or rejects each unknown field. The fields in
/// [`Inbound::EMPTY`] count as empty texts if they are absent or null.
fn read_with<T: Inbound>(
    fields: &Map<String, Value>,
    unknown: UnknownFieldRule<'_>,
) -> ApiResult<T> {
    let mut fields = fields.clone();
    for field in T::EMPTY {
        if fields.get(*field).is_none_or(Value::is_null) {
            fields.insert((*field).to_owned(), Value::String(String::new()));
        }
    }
    T::deserialize(Spot { unknown, object: "", field: "", value: Value::Object(fields) }).map_err(
        |fault| match fault {
            Fault::Said(error) => *error,
            Fault::Missing(field) => T::missing(field),
            Fault::Wrong { object, field, takes } => T::wrong(&object, &field, takes),
        },
    )
}

/// The reason why an object cannot be read.
#[derive(Debug)]
enum Fault {
    Said(Box<ApiError>),
    Missing(&'static str),
    Wrong { object: String, field: String, takes: &'static str },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Fault::Said(Box::new(ApiError::new(Code::InvalidField, format!("{message}."))))
    }

    fn missing_field(field: &'static str) -> Self {
        Fault::Missing(field)
    }
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        Fault::Said(Box::new(error))
    }
}

/// A value with its place: its field, and the object that the field belongs to.
struct Spot<'a> {
    unknown: UnknownFieldRule<'a>,
    object: &'a str,
    field: &'a str,
    value: Value,
}

impl Spot<'_> {
    fn wrong(&self, takes: &'static str) -> Fault {
        Fault::Wrong { object: self.object.to_owned(), field: self.field.to_owned(), takes }
    }
}

impl<'de> Deserializer<'de> for Spot<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.value
            .into_deserializer()
            .deserialize_any(visitor)
            .map_err(|error: serde_json::Error| de::Error::custom(error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_string() {
            self.deserialize_any(visitor)
        } else {
            Err(self.wrong("must be a string"))
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_boolean() {
            self.deserialize_any(visitor)
        } else {
            Err(self.wrong("must be true or false"))
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_u64() {
            self.deserialize_any(visitor)
        } else {
            Err(self.wrong("must be a whole number from 0"))
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_number() {
            self.deserialize_any(visitor)
        } else {
            Err(self.wrong("must be a number"))
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_object() {
            self.deserialize_any(visitor)
        } else {
            Err(self.wrong("must be an object"))
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => visitor.visit_u32(number),
            None => Err(self.wrong("must be a whole number from 0")),
        }
    }

    /// Reads a list. The faults of its items name the field with `[]`.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value {
            Value::Array(items) => {
                let field = format!("{}[]", self.field);
                visitor.visit_seq(Items {
                    unknown: self.unknown,
                    object: self.object,
                    field,
                    items: items.into_iter(),
                })
            }
            _ => Err(self.wrong("must be a list")),
        }
    }

    /// Reads an object, after the rule for unknown fields has accepted each unknown key of it.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.value {
            Value::Object(fields) => {
                for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
                    (self.unknown)(self.field, key, known)?;
                }
                visitor.visit_map(Fields {
                    unknown: self.unknown,
                    object: self.field,
                    entries: fields.into_iter(),
                    next: None,
                })
            }
            _ => Err(self.wrong("must be an object")),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct enum identifier ignored_any
    }
}

/// Returns the error for an unknown field, or for one that only the server may set.
fn unknown(key: &str, known: &[&str]) -> ApiError {
    let nothing = || {
        ApiError::new(
            Code::UnknownField,
            format!("The field {key:?} is unknown; known are {}.", known.join(", ")),
        )
    };
    refuse_server_field(key).err().unwrap_or_else(nothing)
}

struct Items<'a> {
    unknown: UnknownFieldRule<'a>,
    object: &'a str,
    field: String,
    items: std::vec::IntoIter<Value>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some(value) = self.items.next() else { return Ok(None) };
        seed.deserialize(Spot {
            unknown: self.unknown,
            object: self.object,
            field: &self.field,
            value,
        })
        .map(Some)
    }
}

struct Fields<'a> {
    unknown: UnknownFieldRule<'a>,
    object: &'a str,
    entries: serde_json::map::IntoIter,
    next: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        // Null counts as missing.
        self.next = self.entries.find(|(_, value)| !value.is_null());
        match &self.next {
            Some((key, _)) => seed.deserialize(key.as_str().into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (field, value) = self.next.take().unwrap_or_default();
        seed.deserialize(Spot { unknown: self.unknown, object: self.object, field: &field, value })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use moothall_testkit::fuzz;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct NamedPart {
        name: Option<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Whole {
        title: String,
        #[serde(default)]
        on: bool,
        #[serde(default)]
        seq: Option<u64>,
        #[serde(default)]
        parts: Vec<NamedPart>,
        #[serde(default)]
        any: Option<Value>,
    }

    impl Inbound for Whole {
        fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
            match field {
                "parts[]" => ApiError::new(Code::InvalidField, "A part is an object."),
                _ => ApiError::new(Code::InvalidField, format!("'{field}' {takes}.")),
            }
        }
    }

    fn whole(value: Value) -> Result<Whole, (String, String)> {
        let Value::Object(fields) = value else { unreachable!() };
        read(&fields).map_err(|error: ApiError| {
            (error.detail().code.clone(), error.detail().message.clone())
        })
    }

    #[test]
    fn what_is_sent_becomes_a_type_and_null_is_nothing() {
        let read = whole(json!({"title": "a", "on": null, "seq": 7, "parts": [{"name": "b"}, {}], "any": [1, {"x": null}]})).unwrap();
        let parts = vec![NamedPart { name: Some("b".into()) }, NamedPart::default()];
        assert_eq!(
            whole(json!({"title": "a", "parts": [{"name": null}]})).unwrap().parts,
            [NamedPart::default()]
        );
        assert_eq!(
            read,
            Whole {
                title: "a".into(),
                on: false,
                seq: Some(7),
                parts,
                any: Some(json!([1, {"x": null}]))
            }
        );
    }

    #[test]
    fn a_type_knows_its_fields() {
        assert_eq!(fields_of::<Whole>(), ["title", "on", "seq", "parts", "any"]);
    }

    #[test]
    fn every_fault_has_its_words() {
        let refused = |value: Value| whole(value).unwrap_err();
        let invalid = |message: &str| ("invalid_field".to_owned(), message.to_owned());
        assert_eq!(refused(json!({})), invalid("'title' is missing."));
        assert_eq!(refused(json!({"title": 1})), invalid("'title' must be a string."));
        assert_eq!(
            refused(json!({"title": "a", "on": "yes"})),
            invalid("'on' must be true or false.")
        );
        assert_eq!(
            refused(json!({"title": "a", "seq": -1})),
            invalid("'seq' must be a whole number from 0.")
        );
        assert_eq!(refused(json!({"title": "a", "parts": {}})), invalid("'parts' must be a list."));
        assert_eq!(refused(json!({"title": "a", "parts": [1]})), invalid("A part is an object."));
        let unknown = "The field \"titel\" is unknown; known are title, on, seq, parts, any.";
        assert_eq!(refused(json!({"titel": 1})), ("unknown_field".to_owned(), unknown.to_owned()));
        let nested = "The field \"x\" is unknown; known are name.";
        assert_eq!(
            refused(json!({"title": "a", "parts": [{"x": 1}]})),
            ("unknown_field".to_owned(), nested.to_owned())
        );
        assert_eq!(refused(json!({"id": "x"})).0, "server_field");
        assert_eq!(refused(json!({"titel": null})).0, "unknown_field");
    }

    /// Reads an object as this type, twice, and expects equal results. An error must have a
    /// message.
    fn tried<T: Inbound + fmt::Debug>(fields: &Map<String, Value>) {
        let read = || {
            read::<T>(fields)
                .map(|value| format!("{value:?}"))
                .map_err(|error| error.detail().message.clone())
        };
        assert_eq!(read(), read());
        assert!(read().err().is_none_or(|message| !message.is_empty()));
    }

    #[test]
    fn fuzzed_objects_become_types_or_faults_with_words() {
        let corpus = fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/json"));
        let words = [
            "title", "on", "seq", "parts", "any", "client", "args", "adopt", "members", "name",
            "null", "[", "{", "\": ", "true", "-1",
        ];
        fuzz::bytes("objects", &corpus, &words, |bytes| {
            let Ok(Value::Object(fields)) = crate::json::read(bytes) else { return };
            tried::<Whole>(&fields);
            let known = ["title", "on", "seq", "parts", "any"];
            let foreign = fields.keys().any(|key| !known.contains(&key.as_str()));
            assert!(
                !foreign || super::read::<Whole>(&fields).is_err(),
                "a field that means nothing is refused"
            );
        });
    }

    impl Open for Whole {
        fn check(object: &str, key: &str) -> ApiResult<()> {
            if key == "mine" {
                Err(ApiError::new(Code::ServerField, format!("'{object}.{key}'")))
            } else {
                Ok(())
            }
        }
    }

    #[test]
    fn an_open_object_warns_of_what_it_does_not_keep() {
        let open = |value: &Value| read_open::<Whole>(value.as_object().unwrap());
        let (whole, warnings) =
            open(&json!({"x": 1, "title": "a", "parts": [{"y": null, "name": "b"}]})).unwrap();
        assert_eq!((whole.title.as_str(), whole.parts[0].name.as_deref()), ("a", Some("b")));
        let said = |of: &str| format!("The field {of} is unknown and was dropped.");
        assert_eq!(warnings, [said("\"x\""), said("\"y\" of 'parts[]'")]);
        let refused = open(&json!({"title": "a", "parts": [{"mine": 1}]})).unwrap_err();
        assert_eq!(refused.detail().message, "'parts[].mine'");
    }
}
