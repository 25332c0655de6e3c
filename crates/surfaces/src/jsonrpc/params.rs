//! Reads the parameters of a frame as a type. An error names the field and the expected value.
//!
//! Stricter than `serde`: rejects a list in place of an object, and null in place of an absent
//! field.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// Reads an object as this type.
///
/// # Errors
/// A sentence that names the wrong field and the expected value.
pub(crate) fn read<T: DeserializeOwned>(object: Value) -> Result<T, String> {
    T::deserialize(ParamPath { path: String::new(), value: object })
        .map_err(|fault| fault.to_string())
}

/// A fault. The path of its field is empty until it is known.
#[derive(Debug)]
struct ParamFault {
    path: String,
    takes: String,
}

impl ParamFault {
    /// Adds the field, unless the fault has a deeper one.
    fn within(self, path: &str) -> Self {
        if self.path.is_empty() { Self { path: path.to_owned(), ..self } } else { self }
    }
}

impl fmt::Display for ParamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, takes } = self;
        if path.is_empty() { f.write_str(takes) } else { write!(f, "'{path}': {takes}") }
    }
}

impl std::error::Error for ParamFault {}

impl de::Error for ParamFault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { path: String::new(), takes: message.to_string() }
    }
}

/// A value, and its path from the outermost object.
struct ParamPath {
    path: String,
    value: Value,
}

impl ParamPath {
    fn wrong<T>(self, takes: &str) -> Result<T, ParamFault> {
        Err(ParamFault { path: self.path, takes: takes.to_owned() })
    }
}

/// Converts serde_json's result, with a fault in this field.
fn plain<T>(path: &str, read: Result<T, serde_json::Error>) -> Result<T, ParamFault> {
    read.map_err(|error| ParamFault { path: path.to_owned(), takes: error.to_string() })
}

impl<'de> Deserializer<'de> for ParamPath {
    type Error = ParamFault;

    /// Reads an object that has no null fields. Only tagged types call this, and those are objects.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamFault> {
        let Value::Object(fields) = &self.value else { return self.wrong("takes an object") };
        match fields.iter().find(|(_, value)| value.is_null()) {
            Some((key, _)) => {
                let reason = format!("takes no null; leave `{key}` out");
                self.wrong(&reason)
            }
            None => plain(&self.path, self.value.deserialize_any(visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamFault> {
        if self.value.is_null() {
            return self.wrong("takes no null; leave it out");
        }
        visitor.visit_some(self)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamFault> {
        match self.value {
            Value::String(text) => visitor.visit_string(text),
            _ => self.wrong("takes a string"),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamFault> {
        match self.value.as_u64() {
            Some(number) => visitor.visit_u64(number),
            None => self.wrong("takes a whole number from 0"),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamFault> {
        match self.value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => visitor.visit_u32(number),
            None => self.wrong("takes a whole number from 0 to 4294967295"),
        }
    }

    /// Reads a word of an enum. The error for another kind of value lists the words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamFault> {
        if self.value.is_string() {
            plain(&self.path, self.value.deserialize_enum(name, words, visitor))
        } else {
            self.wrong(&format!("takes one of {}", words.join(", ")))
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamFault> {
        match self.value {
            Value::Array(items) => visitor
                .visit_seq(ParamItems { path: self.path, items: items.into_iter().enumerate() }),
            _ => self.wrong("takes a list"),
        }
    }

    /// Reads an object. Errors about its fields begin with their path.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamFault> {
        match self.value {
            Value::Object(fields) => visitor.visit_map(ParamFields {
                path: self.path,
                fields: fields.into_iter(),
                next: None,
            }),
            _ => self.wrong("takes an object"),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map identifier ignored_any
    }
}

struct ParamItems {
    path: String,
    items: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

impl<'de> SeqAccess<'de> for ParamItems {
    type Error = ParamFault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ParamFault> {
        let Some((index, value)) = self.items.next() else { return Ok(None) };
        let path = format!("{}[{index}]", self.path);
        seed.deserialize(ParamPath { path: path.clone(), value })
            .map(Some)
            .map_err(|fault| fault.within(&path))
    }
}

struct ParamFields {
    path: String,
    fields: serde_json::map::IntoIter,
    next: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for ParamFields {
    type Error = ParamFault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ParamFault> {
        self.next = self.fields.next();
        match &self.next {
            Some((key, _)) => seed.deserialize(key.as_str().into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ParamFault> {
        let (field, value) = self.next.take().unwrap_or_default();
        let path = if self.path.is_empty() { field } else { format!("{}.{field}", self.path) };
        seed.deserialize(ParamPath { path: path.clone(), value })
            .map_err(|fault| fault.within(&path))
    }
}
