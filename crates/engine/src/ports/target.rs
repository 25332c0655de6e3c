//! The targets of deliveries, and their text in the log.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ComputerId, StreamId};

use super::sessions::SessionId;

/// The recipient of a delivery, stored as text: a scheme, a colon, and a name in that scheme.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A stream of this hall, which takes commands: `stream:…`.
    Stream(StreamId),
    /// A session, into whose terminal prompts are typed: `session:…`.
    Session(SessionId),
    /// A chat of another product: `chat:telegram:-100`.
    Chat(Chat),
    /// The trail of a rhythm, to which harvests are appended: `trail:daily`.
    Trail(String),
    /// An operation of several steps, which is undone if the server dies in it: `saga:…`.
    Saga(String),
    /// Another computer, to which rows are posted under numbers: `computer:2abc…`.
    Computer(ComputerId),
    /// A target of a scheme that this version does not know, as stored. Its deliveries are stored
    /// and listed, but this version does not make them. A version that knows the scheme does.
    Other(String),
}

/// The kinds of targets for which a delivery handler can be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum TargetKind {
    /// [`Target::Stream`].
    Stream,
    /// [`Target::Session`].
    Session,
    /// [`Target::Chat`].
    Chat,
    /// [`Target::Trail`].
    Trail,
    /// [`Target::Saga`].
    Saga,
    /// [`Target::Computer`].
    Computer,
}

impl TargetKind {
    /// Returns the part of the stored text before the colon.
    pub fn scheme(self) -> &'static str {
        self.into()
    }
}

impl Target {
    /// Returns the kind; `None` for a target that this version does not know.
    pub fn kind(&self) -> Option<TargetKind> {
        match self {
            Target::Stream(_) => Some(TargetKind::Stream),
            Target::Session(_) => Some(TargetKind::Session),
            Target::Chat(_) => Some(TargetKind::Chat),
            Target::Trail(_) => Some(TargetKind::Trail),
            Target::Saga(_) => Some(TargetKind::Saga),
            Target::Computer(_) => Some(TargetKind::Computer),
            Target::Other(_) => None,
        }
    }

    /// Returns the target with this stored text; `None` if its scheme or its name is unknown.
    fn known(text: &str) -> Option<Self> {
        let (scheme, name) = text.split_once(':')?;
        Some(match scheme.parse().ok()? {
            TargetKind::Stream => Target::Stream(StreamId::new(name)),
            TargetKind::Session => Target::Session(SessionId::new(name)),
            TargetKind::Chat => Target::Chat(Chat::of_target(text)?),
            TargetKind::Trail => Target::Trail(name.to_owned()),
            TargetKind::Saga => Target::Saga(name.to_owned()),
            TargetKind::Computer => Target::Computer(ComputerId::new(name)),
        })
    }
}

impl FromStr for Target {
    type Err = Infallible;

    /// Reads the stored text. Never fails: a text of a newer version becomes [`Target::Other`].
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Target::known(text).unwrap_or_else(|| Target::Other(text.to_owned())))
    }
}

impl fmt::Display for Target {
    /// Writes the stored text, byte for byte as it was read.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: &dyn fmt::Display = match self {
            Target::Stream(stream) => stream,
            Target::Session(session) => session,
            // A chat writes its scheme itself.
            Target::Chat(chat) => return chat.fmt(out),
            Target::Trail(name) | Target::Saga(name) => name,
            Target::Computer(computer) => computer,
            Target::Other(text) => return out.write_str(text),
        };
        let scheme = self.kind().map_or("", TargetKind::scheme);
        write!(out, "{scheme}:{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Target {
        let Ok(target) = text.parse();
        target
    }

    #[test]
    fn a_target_is_written_as_it_was_stored() {
        for (text, kind) in [
            ("stream:0199", Some(TargetKind::Stream)),
            ("stream:", Some(TargetKind::Stream)),
            ("session:7f3a", Some(TargetKind::Session)),
            ("chat:telegram:-100:7", Some(TargetKind::Chat)),
            ("trail:every day: noon", Some(TargetKind::Trail)),
            ("saga:ab", Some(TargetKind::Saga)),
            ("computer:2abcdefghijklmnopqrstuvwxy", Some(TargetKind::Computer)),
            ("chat:1", None),
            ("chat:chat:telegram:1", None),
            ("peer:b/7", None),
            ("computers:2a", None),
            ("Stream:x", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(read(text).kind(), kind, "{text}");
            assert_eq!(read(text).to_string(), text);
        }
    }

    #[test]
    fn a_name_keeps_its_colons() {
        assert_eq!(read("stream:a:b"), Target::Stream("a:b".into()));
        assert_eq!(read("peer:a:b"), Target::Other("peer:a:b".into()));
    }
}
