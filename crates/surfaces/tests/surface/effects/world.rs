//! The places from which words may reach a terminal, and the callers who may try.

use std::sync::Arc;

use moothall_engine::access::{Mode, Scope};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::ways::Way;
use crate::access::token;
use crate::server::Server;
use crate::stage::FakeHost;

/// A conversation, named after the path of its words to the terminal of `planner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The home of `planner`.
    Home,
    /// The link of `planner` and `builder`.
    Link,
    /// A conversation into which a person brought `planner` with reach for drivers.
    Drivers,
    /// A conversation into which a person brought `planner` in the README's way.
    Writers,
}

impl Place {
    pub const ALL: &'static [Place] = &[Place::Home, Place::Link, Place::Drivers, Place::Writers];

    /// True if words in this place reach a terminal that only drivers reach.
    pub fn is_for_drivers(self) -> bool {
        match self {
            Place::Home | Place::Link | Place::Drivers => true,
            Place::Writers => false,
        }
    }
}

/// A kind of caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerKind {
    Nobody,
    Person,
    Agent,
    /// The program of the session `planner`.
    Session,
}

/// A credential with its intended rights.
pub struct Credential {
    pub name: &'static str,
    pub who: CallerKind,
    pub token: Option<String>,
    scopes: Vec<Scope>,
    /// The only place that the credential is bound to; `None` for all places.
    bound: Option<Place>,
}

impl Credential {
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// True if the credential reaches a place by a way. A bound credential reaches only its own
    /// place, and only by ways within conversations.
    pub fn reaches(&self, place: Place, way: Way) -> bool {
        match self.bound {
            None => true,
            Some(bound) => way.is_in_a_conversation() && bound == place,
        }
    }
}

/// The world for the attempts of one way.
pub struct World {
    pub server: Server,
    pub stage: Arc<FakeHost>,
    pub mode: Mode,
    pub credentials: Vec<Credential>,
    places: Vec<(Place, String)>,
    _folder: TempDir,
}

const PERSON: [Scope; 5] = [
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ParticipantsInvite,
    Scope::TurnsControl,
    Scope::AgentsRun,
];
const AGENT: [Scope; 2] = [Scope::ThreadsRead, Scope::ThreadsWrite];
const STEERING: [Scope; 5] = [
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ParticipantsInvite,
    Scope::TurnsControl,
    Scope::AgentsRun,
];
const SESSION: [Scope; 4] =
    [Scope::ThreadsRead, Scope::ThreadsWrite, Scope::ParticipantsInvite, Scope::SessionsDrive];

impl World {
    pub async fn set(mode: Mode) -> World {
        let folder = tempfile::tempdir().unwrap();
        let (server, stage) = Server::with_startable(mode, folder.path()).await;
        let operator = async |path: &str, body: Value| {
            let (status, answer) = server.as_operator(Method::POST, path, body).await;
            assert_eq!(status, 200, "{path}: {answer}");
            answer
        };
        let id = |answer: &Value| answer["id"].as_str().unwrap().to_owned();
        let home = id(&server.session("planner").await);
        server.session("builder").await;
        let members = json!({"members": [{"session": "planner"}, {"session": "builder"}]});
        let made = operator("/links", members).await;
        let link = made["link"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        let mut places = vec![(Place::Home, home), (Place::Link, link)];
        for (place, reach) in [(Place::Drivers, "drivers"), (Place::Writers, "writers")] {
            let thread = id(&operator("/threads", json!({"name": reach})).await);
            let invite = json!({"invite": {"profile": {"session": "planner"}, "reach": reach}});
            let event = json!({"type": "control", "content": invite});
            operator(&format!("/threads/{thread}/events"), event).await;
            places.push((place, thread));
        }
        let credentials = credentials(&server, &stage, &places).await;
        World { server, stage, mode, credentials, places, _folder: folder }
    }

    pub fn thread(&self, place: Place) -> &str {
        &self.places.iter().find(|(known, _)| *known == place).unwrap().1
    }

    /// Returns the state that ways of this kind change: the heads of all conversations, or the
    /// started programs.
    pub async fn effects(&self, way: Way) -> String {
        if way.starts_a_program() {
            return self.stage.count().to_string();
        }
        let listed = self.server.hall.list(Default::default()).await.unwrap().streams;
        let heads = listed.iter().map(|one| format!("{} {}", one.stream, one.head));
        heads.collect::<Vec<_>>().join("\n")
    }
}

async fn credentials(
    server: &Server,
    stage: &FakeHost,
    places: &[(Place, String)],
) -> Vec<Credential> {
    let mut all = vec![Credential {
        name: "no credential",
        who: CallerKind::Nobody,
        token: None,
        scopes: Vec::new(),
        bound: None,
    }];
    let driver: Vec<Scope> = PERSON.into_iter().chain([Scope::SessionsDrive]).collect();
    let driving: Vec<Scope> = STEERING.into_iter().chain([Scope::SessionsDrive]).collect();
    let rows: [(&str, CallerKind, &[Scope], Option<Place>); 8] = [
        ("ann", CallerKind::Person, &PERSON, None),
        ("lea", CallerKind::Person, &PERSON, Some(Place::Link)),
        ("hans", CallerKind::Person, &PERSON, Some(Place::Home)),
        ("dora", CallerKind::Person, &driver, None),
        ("echo", CallerKind::Agent, &AGENT, None),
        ("evil", CallerKind::Agent, &STEERING, None),
        ("dron", CallerKind::Agent, &driving, None),
        ("loki", CallerKind::Agent, &STEERING, Some(Place::Link)),
    ];
    let thread = |place: Place| places.iter().find(|(known, _)| *known == place).unwrap().1.clone();
    for (name, who, scopes, bound) in rows {
        let words: Vec<&str> = scopes.iter().map(<&str>::from).collect();
        let kind = if who == CallerKind::Agent { "agent" } else { "human" };
        let mut wanted = json!({"principal": name, "kind": kind, "scopes": words});
        if let Some(place) = bound {
            wanted["threads"] = json!([thread(place)]);
        }
        let (_, token) = token(server, wanted).await;
        all.push(Credential { name, who, token: Some(token), scopes: scopes.to_vec(), bound });
    }
    all.push(Credential {
        name: "a guest by an invitation",
        who: CallerKind::Person,
        token: Some(guest(server, &thread(Place::Writers)).await),
        scopes: PERSON.to_vec(),
        bound: Some(Place::Writers),
    });
    all.push(Credential {
        name: "planner itself",
        who: CallerKind::Session,
        token: Some(stage.token("planner")),
        scopes: SESSION.to_vec(),
        bound: None,
    });
    all.push(Credential {
        name: "the operator",
        who: CallerKind::Person,
        token: Some(server.key.clone()),
        scopes: <Scope as strum::VariantArray>::VARIANTS.to_vec(),
        bound: None,
    });
    all
}

/// Returns the token of a person who came by an invitation link.
async fn guest(server: &Server, thread: &str) -> String {
    let path = format!("/threads/{thread}/invitations");
    let (status, made) = server.as_operator(Method::POST, &path, json!({"principal": "gus"})).await;
    assert_eq!(status, 200, "{made}");
    let (status, accepted) =
        server.unproven(Method::POST, "/invitations/accept", json!({"code": made["code"]})).await;
    assert_eq!(status, 200, "{accepted}");
    accepted["token"].as_str().unwrap().to_owned()
}
