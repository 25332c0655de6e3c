//! Links between sessions as clients send and get them.

use moothall_engine::sessions::{Link, LinkState, Member};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /links`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// The sessions that shall be in it, two or more.
    #[schema(min_items = 2, max_items = 200)]
    pub members: Vec<NewLinkMember>,
    /// Its title; made from the members' names where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Words that its members may exchange before a person has to go on; `[defaults]` of the
    /// operator without it. A link that these sessions have already stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub max_exchanges_without_human: Option<u32>,
    /// Who asks; `user` where it is missing, and the session itself where its token says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Somebody who shall be in a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLinkMember {
    /// The session: its id, the beginning of its id, or its name. Required.
    pub session: String,
    /// Its name in the link; the session's own where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its number, which stands beside its name before what it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub number: Option<u32>,
    /// What it is there for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// A member of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkMember {
    /// The id of the session.
    pub session: String,
    /// Its name in the link.
    pub name: String,
    /// Its number, which stands beside its name before what it says; missing where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// What it is there for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The computer it is on; missing for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
}

/// A link: a thread under `open` whose members are sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkEntry {
    /// Its id, which is that of its thread.
    pub id: String,
    /// The title of its thread.
    pub title: String,
    /// Whether it still carries words.
    pub active: bool,
    /// When it was made.
    pub created_at: String,
    /// Who is in it; for a link that is over, who was in it last.
    pub members: Vec<LinkMember>,
    /// Sessions that ended with the computer, or as the last of the link, and that keep it closed.
    /// Resume them or end them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
}

/// Answer of `GET /links`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkList {
    /// Those that carry words.
    pub links: Vec<LinkEntry>,
    /// Closed ones that come back when the sessions in `waits_for` are resumed or ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<LinkEntry>,
}

/// Answer of `POST /links` and `POST /links/{id}/close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkAnswer {
    /// `created`; `reused`, when there was one between just these members; or `closed`.
    pub link_state: String,
    /// The link as it is now.
    pub link: LinkEntry,
}

impl LinkEntry {
    /// A link as it travels; `name_of` knows the sessions' own names.
    pub fn of(link: &Link, name_of: impl Fn(&Member) -> String) -> Self {
        let member = |member: &Member| LinkMember {
            session: member.session.to_string(),
            name: member.name.clone().unwrap_or_else(|| name_of(member)),
            number: member.number,
            role: member.role.clone(),
            computer: Some(member.computer.clone()).filter(|computer| !computer.is_empty()),
        };
        Self {
            id: link.id.to_string(),
            title: link.title.clone(),
            active: link.active,
            created_at: link.created_at.to_string(),
            members: link.members.iter().map(member).collect(),
            waits_for: Vec::new(),
        }
    }
}

impl LinkAnswer {
    /// What became of a link.
    pub fn of(link: LinkEntry, state: LinkState) -> Self {
        Self { link_state: state.to_string(), link }
    }
}
