//! Gatherings over HTTP and MCP: begun, read, passed, ended, refused.

use moothall_engine::access::Mode;
use moothall_engine::ports::EventLog;
use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::mcp::{call, rpc};
use crate::server::{Frames, Server, every_type, soon};

mod hostile;
mod plans;
mod who;

/// Returns the status and the code of an error.
fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or_default())
}

fn message(answer: &(u16, Value)) -> &str {
    answer.1["error"]["message"].as_str().unwrap_or_default()
}

fn person(name: &str, number: u32) -> Value {
    json!({"name": name, "number": number, "kind": "human", "participant_id": name.to_lowercase()})
}

fn session(name: &str, number: u32) -> Value {
    json!({"name": name, "number": number, "kind": "session", "session_id": name})
}

fn agent(name: &str, number: u32, client: &str) -> Value {
    json!({"name": name, "number": number, "kind": "agent", "client": client})
}

/// Makes Ann and Bob known to the server: an agent adds no unknown people.
async fn introduce(server: &Server) {
    for name in ["ann", "bob"] {
        token(server, json!({"principal": name})).await;
    }
}

/// Turns a member into the harvester.
fn harvester(mut member: Value) -> Value {
    member["role"] = json!("harvester");
    member
}

/// Returns a harvester that writes its harvest at once.
fn scribe(number: u32) -> Value {
    harvester(agent("Hal", number, "echo"))
}

/// Returns a plan for these participants, in which nothing is due soon.
fn plan(participants: Vec<Value>) -> Value {
    json!({
        "rhythm": "daily",
        "opening_question": "What is in the way?",
        "breath": "minimal",
        "beat_interval_seconds": 3600,
        "last_word_seconds": 3600,
        "participants": participants,
    })
}

/// Returns a plan with two people and a scribe.
fn plain() -> Value {
    plan(vec![person("Ann", 1), person("Bob", 2), scribe(3)])
}

/// Begins a gathering as the operator.
async fn begun(server: &Server, plan: Value) -> Value {
    let (status, answer) = server.as_operator(Method::POST, "/gatherings", plan).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

fn id_of(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

/// Returns a gathering as the operator sees it, with the texts for one of its participants.
async fn seen_by(server: &Server, id: &str, participant: &str) -> Value {
    let path = format!("/gatherings/{id}?participant={participant}");
    let (status, answer) = server.as_operator(Method::GET, &path, Value::Null).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

/// Opens the stream of a gathering's events, from its beginning.
async fn stream(server: &Server, id: &str) -> Frames {
    let path = server.url(&every_type(&format!("/threads/{id}/events/stream?after=0")));
    Frames::of(soon(server.client.get(path).bearer_auth(&server.key).send()).await.unwrap())
}

/// Waits for the first event of a kind in a gathering. Returns its content.
async fn step(server: &Server, id: &str, says: &str) -> Value {
    let wanted = |event: &Value| event["type"] == "gathering" && event["content"]["event"] == says;
    stream(server, id).await.until(wanted).await["content"].clone()
}

async fn end(server: &Server, id: &str) {
    let path = format!("/gatherings/{id}/end");
    let (status, answer) = server.as_operator(Method::POST, &path, json!({})).await;
    assert_eq!(status, 200, "{answer}");
    step(server, id, "closed").await;
}

/// Calls a tool that must refuse; returns the error.
async fn refusal(server: &Server, token: &str, tool: &str, arguments: Value) -> (u16, Value) {
    let called = json!({"name": tool, "arguments": arguments});
    let said = rpc(server, Some(token), "tools/call", called).await;
    assert_eq!(said["result"]["isError"], true, "{said}");
    (0, said["result"]["structuredContent"].clone())
}

/// Returns the names of the living sessions.
async fn living(server: &Server) -> Vec<String> {
    let (_, list) = server.as_operator(Method::GET, "/sessions", Value::Null).await;
    let names = list["sessions"].as_array().unwrap().iter();
    let mut names: Vec<_> = names.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn start_gathering_brings_sessions_agents_and_people_or_nobody() {
    let (server, stage) = Server::with_terminals().await;
    server.session("inside").await;
    let members = vec![
        person("Ann", 4),
        agent("Dora", 2, "demo"),
        session("inside", 3),
        harvester(agent("Echo", 9, "echo")),
        agent("Quiet one", 5, "quiet"),
    ];
    let answer = begun(&server, plan(members.clone())).await;
    let id = id_of(&answer);
    let who = |member: &Value| {
        ["name", "role", "kind"].map(|key| member[key].as_str().unwrap().to_owned()).join(" ")
    };
    let members_of = |answer: &Value| {
        answer["participants"].as_array().unwrap().iter().map(who).collect::<Vec<_>>()
    };
    assert_eq!(
        members_of(&answer),
        [
            "Dora speaker agent",
            "inside speaker agent",
            "Ann speaker human",
            "Quiet one speaker agent",
            "Echo harvester agent",
        ],
        "by number"
    );
    let started = living(&server).await.into_iter().find(|name| name != "inside").unwrap();
    assert_eq!(answer["holder"], json!({"name": "Dora", "number": 2, "participant_id": started}));
    assert_eq!(answer["order"], json!(["inside", "ann", "quiet-one"]));
    assert_eq!(answer["participants"][4]["participant_id"], "echo");
    assert_eq!(
        (&answer["status"], &answer["title"], &answer["phase"], &answer["thread"]),
        (&json!("active"), &json!("Gathering: daily"), &json!("inhale"), &answer["id"])
    );
    stage.taken(1).await;
    for (at, you) in ["inside (3)", "Dora (2)"].iter().enumerate() {
        let prompt = stage.taken(at).await;
        assert!(prompt.contains(&format!("You are {you} in this gathering.")), "{prompt}");
    }
    let (_, listed) = server.get("/gatherings").await;
    assert_eq!(members_of(&listed["gatherings"][0]), members_of(&answer));
    end(&server, &id).await;

    // One program cannot be started: the one that was started ends, and the session is free.
    stage.has_room_for(1);
    let before = living(&server).await;
    let mut more = members;
    more.push(agent("Dan", 6, "demo"));
    let refused = server.post("/gatherings", plan(more)).await;
    assert_eq!((refused.0, stage.count()), (409, 3), "{}", refused.1);
    assert_eq!(living(&server).await, before);
    for list in ["/threads", "/threads?archived=true"] {
        let (_, threads) = server.get(list).await;
        let threads = threads["threads"].as_array().unwrap();
        let is_left =
            |entry: &Value| entry["name"] == "Gathering: daily" && entry["id"] != json!(id);
        assert!(!threads.iter().any(is_left), "{list}");
    }
    for key in ["gathering-of", "gathering"] {
        let now = server.hall.now();
        let claims = server.log.claims(key, now).await.unwrap();
        let held = |claim: &moothall_engine::ports::Claim| claim.stream.as_str() != id;
        assert!(!claims.iter().any(held), "{key}: {claims:?}");
    }
    let again = plan(vec![session("inside", 1), person("Ann", 2), scribe(3)]);
    assert_eq!(begun(&server, again).await["holder"]["name"], "inside");
}

#[tokio::test]
async fn nested_gathering_guard_prevents_starting_a_gathering_within_a_gathering() {
    let (server, stage) = Server::with_terminals().await;
    server.session("inside").await;
    introduce(&server).await;
    let inside = stage.token("inside");
    let members = || vec![session("inside", 1), person("Ann", 2), person("Bob", 3), scribe(4)];
    let first = id_of(&begun(&server, plan(members())).await);
    for round in ["in the first", "in the third"] {
        let refused = refusal(&server, &inside, "start_gathering", plain()).await;
        assert_eq!(code(&refused).1, "nested_gathering", "{round}");
        let words = "Cannot start a gathering from within a gathering";
        assert!(message(&refused).starts_with(words), "{round}: {}", refused.1);
        let refused = server.post_as(&inside, "/gatherings", plain()).await;
        assert_eq!(code(&refused), (409, "nested_gathering"), "{round}");
        let refused = server.post("/gatherings", plan(members())).await;
        assert_eq!(code(&refused), (409, "nested_gathering"), "{round}");
        assert!(message(&refused).starts_with("inside already takes part in"), "{}", refused.1);
        if round == "in the third" {
            break;
        }
        // After the close the session may begin a gathering again, and be a member of one.
        end(&server, &first).await;
        let second = call(&server, Some(&inside), "start_gathering", plain()).await;
        assert_eq!(second["status"], "active", "who begins one is not in it by that: {second}");
        begun(&server, plan(members())).await;
    }
    let third = server.get("/gatherings").await.1["gatherings"][0]["id"].clone();
    let third = third.as_str().unwrap();
    server.control(third, json!({"uninvite": {"participant_id": "inside"}})).await;
    assert_eq!(server.get(&format!("/gatherings/{third}")).await.1["status"], "active");
    assert_eq!(
        call(&server, Some(&inside), "start_gathering", plain()).await["status"],
        "active",
        "after it left it may"
    );
    begun(&server, plan(members())).await;
}

#[tokio::test]
async fn history_search_is_invoked_during_seed_preparation() {
    let (server, stage) = Server::with_terminals().await;
    server.session("inside").await;
    introduce(&server).await;
    let inside = stage.token("inside");
    let titled = async |name: &str| {
        let (_, thread) = server.post("/threads", json!({"name": name})).await;
        thread["id"].as_str().unwrap().to_owned()
    };
    let (shared, apart) = (titled("Harbour").await, titled("Vault").await);
    let invite = json!({"invite": {"profile": {"session": "inside"}}});
    server.control(&shared, invite).await;
    server.say(&shared, "user", "The lighthouse\nneeds a keeper.").await;
    server.say(&apart, "user", "The lighthouse has a secret cellar.").await;
    let asked = |question: &str| {
        let mut plan = plain();
        plan["opening_question"] = json!(question);
        plan
    };

    let wide = id_of(&begun(&server, asked("Who keeps the lighthouse?")).await);
    let seed = seen_by(&server, &wide, "ann").await["seed"].as_str().unwrap().to_owned();
    assert!(seed.contains("History signals:\n- "), "{seed}");
    for signal in [
        "\"Harbour\", user: The lighthouse needs a keeper.\n",
        "\"Vault\", user: The lighthouse has",
    ] {
        assert!(seed.contains(signal), "{signal:?} is not in\n{seed}");
    }
    assert!(seed.contains("Pulse:\n- conversations: "), "{seed}");

    // A session gets signals only from conversations within its reach.
    let narrow =
        call(&server, Some(&inside), "start_gathering", asked("Who keeps the lighthouse?")).await;
    let seed = seen_by(&server, &id_of(&narrow), "ann").await["seed"].as_str().unwrap().to_owned();
    assert!(seed.contains("needs a keeper") && !seed.contains("secret cellar"), "{seed}");

    // Words that were never said, or that say too little, find nothing.
    let other = id_of(&begun(&server, asked("Is it so? Zanzibar!")).await);
    let seed = seen_by(&server, &other, "ann").await["seed"].as_str().unwrap().to_owned();
    assert!(!seed.contains("History signals"), "{seed}");

    // An agent bound to one conversation cannot begin a gathering.
    let scopes = ["threads:read", "threads:write", "turns:control"];
    let bound =
        json!({"principal": "echo", "kind": "agent", "scopes": scopes, "threads": [shared]});
    let (_, bound) = token(&server, bound).await;
    assert_eq!(code(&server.post_as(&bound, "/gatherings", plain()).await), (403, "forbidden"));
}

#[tokio::test]
async fn only_the_holder_passes_the_piece_and_only_people_end_a_gathering() {
    let (server, stage) = Server::with_terminals_in(Mode::Token).await;
    for name in ["inside", "beside"] {
        server.session(name).await;
    }
    let (inside, beside) = (stage.token("inside"), stage.token("beside"));
    let scopes = ["threads:read", "threads:write", "turns:control"];
    let known = async |name: &str, kind: &str| {
        token(&server, json!({"principal": name, "kind": kind, "scopes": scopes})).await.1
    };
    let (ann, bob, bot) =
        (known("ann", "human").await, known("bob", "human").await, known("bot", "agent").await);
    let members = vec![
        person("Ann", 1),
        session("inside", 2),
        person("Bob", 3),
        session("beside", 4),
        scribe(5),
    ];
    let id = id_of(&begun(&server, plan(members)).await);
    let pass = async |token: &str, to: Value| {
        server.post_as(token, &format!("/gatherings/{id}/pass"), json!({"to": to})).await
    };
    let mine = json!({"gathering": id});

    for other in [&bob, &bot, &server.key] {
        assert_eq!(code(&pass(other, Value::Null).await), (409, "not_your_piece"));
    }
    let forged = json!({"from": "ann"});
    let forged = server.post_as(&bob, &format!("/gatherings/{id}/pass"), forged).await;
    assert_eq!(code(&forged), (403, "forbidden"));
    assert_eq!(
        code(&refusal(&server, &inside, "pass_piece", mine.clone()).await).1,
        "not_your_piece"
    );
    assert_eq!(
        code(
            &server
                .post_as(&bob, &format!("/threads/{id}/events"), json!({"content": "Me!"}))
                .await
        ),
        (409, "not_your_piece")
    );

    // The piece is passed by name, by number, and in order.
    let (status, answer) = pass(&ann, json!("INSIDE")).await;
    assert_eq!((status, &answer["holder"]["name"]), (200, &json!("inside")), "{answer}");
    assert_eq!(code(&pass(&ann, Value::Null).await), (409, "not_your_piece"), "not twice");
    assert_eq!(
        code(&refusal(&server, &beside, "pass_piece", mine.clone()).await).1,
        "not_your_piece"
    );
    let to = json!({"gathering": id, "to": "4"});
    let answer = call(&server, Some(&inside), "pass_piece", to).await;
    let waits = (&answer["holder"]["name"], &answer["pass_asked"]);
    assert_eq!(waits, (&json!("inside"), &json!(true)), "until its turn ends: {answer}");
    // A person does not wait for a holder that hangs.
    let (_, operator) =
        token(&server, json!({"principal": "rex", "scopes": ["server:admin", "turns:control"]}))
            .await;
    for (holder, next) in [("inside", "beside"), ("beside", "Bob")] {
        let now = json!({"from": holder, "to": next});
        let path = format!("/gatherings/{id}/pass");
        let (status, answer) = server.post_as(&operator, &path, now).await;
        assert_eq!((status, &answer["holder"]["name"]), (200, &json!(next)), "{answer}");
    }

    // Only people end a gathering.
    let finish = async |token: &str| {
        server.post_as(token, &format!("/gatherings/{id}/end"), json!({})).await
    };
    assert_eq!(code(&finish(&bot).await), (403, "humans_only"));
    assert_eq!(code(&finish(&inside).await), (403, "forbidden"));
    assert_eq!(server.get(&format!("/gatherings/{id}")).await.0, 401);
    let (status, answer) = finish(&ann).await;
    assert_eq!((status, &answer["holder"]), (200, &Value::Null), "{answer}");
    assert_eq!(step(&server, &id, "closed").await["because"], "ended");
    for late in [finish(&ann).await, pass(&bob, Value::Null).await] {
        assert_eq!(code(&late), (409, "no_gathering"), "{}", late.1);
    }
    let late = refusal(&server, &inside, "pass_piece", mine).await;
    assert_eq!(code(&late).1, "no_gathering");
    let (status, done) =
        server.with(&ann, Method::GET, &format!("/gatherings/{id}"), Value::Null).await;
    assert_eq!((status, &done["harvest"]["text"]), (200, &json!("I heard you.")), "{done}");
    assert_eq!((&done["phase"], &done["status"]), (&json!("close"), &json!("closed")));

    // A thread without a gathering, and a missing thread.
    let (_, bare) = server.as_operator(Method::POST, "/threads", json!({"name": "bare"})).await;
    let bare = id_of(&bare);
    for (action, expected) in [("pass", (409, "no_gathering")), ("end", (409, "no_gathering"))] {
        for (thread, expected) in
            [(bare.as_str(), expected), ("nothing", (404, "thread_not_found"))]
        {
            let path = format!("/gatherings/{thread}/{action}");
            assert_eq!(code(&server.post_as(&ann, &path, json!({})).await), expected, "{path}");
        }
    }
    let path = format!("/gatherings/{bare}");
    let bare = server.with(&ann, Method::GET, &path, Value::Null).await;
    assert_eq!(code(&bare), (404, "gathering_not_found"));
}

#[tokio::test]
async fn seed_and_pulse_are_private_to_their_participant_and_operators() {
    let server = Server::start_in(Mode::Token).await;
    let scopes = ["threads:read", "threads:write"];
    let known =
        async |name: &str| token(&server, json!({"principal": name, "scopes": scopes})).await.1;
    let (ann, bob) = (known("ann").await, known("bob").await);
    let mut quick = plain();
    quick["beat_interval_seconds"] = json!(1);
    quick["beats_per_turn"] = json!(100);
    let id = id_of(&begun(&server, quick).await);
    let beat = step(&server, &id, "beat").await;
    assert_eq!(beat, json!({"event": "beat", "number": 1}), "the pulse is the holder's");
    let opened = step(&server, &id, "opened").await;
    assert!(opened["plan"].get("signals").is_none() && opened["plan"].get("pulse").is_none());

    let get = async |token: &str, query: &str| {
        server.with(token, Method::GET, &format!("/gatherings/{id}{query}"), Value::Null).await
    };
    let (status, own) = get(&ann, "?participant=ann").await;
    assert_eq!(status, 200, "{own}");
    assert!(own["seed"].as_str().unwrap().starts_with("You are Ann (1) in"), "{own}");
    assert!(own["pulse"].as_str().unwrap().contains("inhale round 1/1"), "{own}");
    let (_, own) = get(&bob, "?participant=bob").await;
    assert!(own["seed"].as_str().unwrap().starts_with("You are Bob (2) in"), "{own}");
    assert_eq!(own["pulse"], Value::Null, "bob holds nothing");
    for (token, other) in [(&ann, "bob"), (&bob, "ann"), (&bob, "hal"), (&bob, "user")] {
        let refused = get(token, &format!("?participant={other}")).await;
        assert_eq!(code(&refused), (403, "forbidden"), "{other}");
    }
    assert_eq!(code(&get(&ann, "?participant=%00").await), (422, "invalid_participant"));
    let (_, plain) = get(&ann, "").await;
    assert!(plain["seed"].as_str().unwrap().starts_with("You are Ann (1) in"), "{plain}");
    assert!(plain["pulse"].as_str().unwrap().contains("inhale round 1/1"), "{plain}");
    for (token, query) in [(&server.key, ""), (&server.key, "?participant=zoe")] {
        let (status, plain) = get(token, query).await;
        assert_eq!((status, &plain["seed"], &plain["pulse"]), (200, &Value::Null, &Value::Null));
    }
    assert!(seen_by(&server, &id, "ann").await["pulse"].is_string());
    assert!(seen_by(&server, &id, "hal").await["seed"].is_string());
}

#[tokio::test]
async fn a_session_that_ends_leaves_its_gathering_and_the_piece_goes_on() {
    let (server, _stage) = Server::with_terminals().await;
    for name in ["inside", "beside"] {
        server.session(name).await;
    }
    let members = vec![session("inside", 1), session("beside", 2), person("Ann", 3), scribe(4)];
    let id = id_of(&begun(&server, plan(members)).await);
    let mut steps = stream(&server, &id).await;
    let mut next = async |says: &str| {
        steps.until(|event| event["content"]["event"] == says).await["content"].clone()
    };
    assert_eq!(next("piece_given").await["holder"], "inside");
    assert_eq!(server.post("/sessions/inside/end", json!({})).await.0, 200);
    let released = next("piece_released").await;
    assert_eq!((&released["holder"], &released["because"]), (&json!("inside"), &json!("gone")));
    assert_eq!(next("piece_given").await["holder"], "beside");
    let (_, now) = server.get(&format!("/gatherings/{id}")).await;
    assert_eq!((&now["holder"]["name"], &now["order"]), (&json!("beside"), &json!(["ann"])));
    assert_eq!(now["participants"].as_array().unwrap().len(), 4, "as they were when it began");

    // With one speaker left, speaking ends and the harvest is written.
    assert_eq!(server.post("/sessions/beside/end", json!({})).await.0, 200);
    assert_eq!(next("harvest_asked").await["because"], "too_few");
    assert_eq!(next("closed").await["because"], "too_few");
    let (_, done) = server.get(&format!("/gatherings/{id}")).await;
    assert_eq!(done["harvest"]["text"], "I heard you.");
    let claims = server.log.claims("gathering-of", server.hall.now()).await.unwrap();
    assert!(claims.is_empty(), "{claims:?}");
}

#[tokio::test]
async fn gathering_status_and_pass_piece_know_the_gathering_of_the_session_that_calls() {
    let (server, stage) = Server::with_terminals().await;
    for name in ["inside", "beside"] {
        server.session(name).await;
    }
    let (inside, beside) = (stage.token("inside"), stage.token("beside"));
    let members = vec![session("inside", 1), person("Ann", 2), person("Bob", 3), scribe(4)];
    let id = id_of(&begun(&server, plan(members)).await);

    let own = call(&server, Some(&inside), "gathering_status", json!({})).await;
    assert_eq!((&own["id"], &own["holder"]["name"]), (&json!(id), &json!("inside")));
    assert!(own["seed"].as_str().unwrap().starts_with("You are inside (1) in"), "{own}");
    let titled = json!({"gathering": "Gathering: daily"});
    assert_eq!(call(&server, Some(&inside), "gathering_status", titled).await["id"], json!(id));
    for tool in ["gathering_status", "pass_piece"] {
        let refused = refusal(&server, &beside, tool, json!({})).await;
        assert_eq!(code(&refused).1, "invalid_field", "{tool}");
        assert!(message(&refused).contains("you take part in none"), "{}", refused.1);
        let refused = refusal(&server, &beside, tool, json!({"gathering": id})).await;
        assert_eq!(code(&refused).1, "thread_not_found", "{tool}: it does not reach it");
    }
    let passed = call(&server, Some(&inside), "pass_piece", json!({"to": "Bob"})).await;
    assert_eq!((&passed["id"], &passed["pass_asked"]), (&json!(id), &json!(true)));
    let now = json!({"from": "inside", "to": "Bob"});
    let (_, passed) = server.post(&format!("/gatherings/{id}/pass"), now).await;
    assert_eq!(passed["holder"]["name"], "Bob", "{passed}");
    assert_eq!(code(&refusal(&server, &inside, "pass_piece", json!({})).await).1, "not_your_piece");
    end(&server, &id).await;
    let refused = refusal(&server, &inside, "gathering_status", json!({})).await;
    assert_eq!(code(&refused).1, "invalid_field", "it is over");
    let over = call(&server, Some(&inside), "gathering_status", json!({"gathering": id})).await;
    assert_eq!((&over["status"], &over["seed"]), (&json!("closed"), &Value::Null), "{over}");
}

/// Ruling 28: another policy ends a gathering, so the change needs a confirmation and waits for the
/// harvest.
#[tokio::test]
async fn another_policy_is_confirmed_and_waits_for_the_harvest() {
    let server = Server::start().await;
    let gathering = begun(&server, plain()).await;
    let thread = gathering["thread"].as_str().unwrap().to_owned();
    let path = format!("/threads/{thread}/events");
    let mut stream = server.stream(&every_type(&format!("{path}/stream"))).await;
    let change = |content: Value| json!({"type": "control", "from": "user", "content": content});
    let refused = server.as_operator(Method::POST, &path, change(json!({"policy": "open"}))).await;
    assert_eq!(code(&refused), (409, "gathering_open"));
    assert!(message(&refused).contains("confirm"), "{}", message(&refused));
    let wanted = change(json!({"policy": "open", "confirm": true}));
    let (status, taken) = server.as_operator(Method::POST, &path, wanted).await;
    assert_eq!(status, 200, "{taken}");
    stream.until(|event| event["content"]["event"] == "harvested").await;
    stream.until(|event| event["content"]["event"] == "closed").await;
    stream.until(|event| event["content"]["policy"]["name"] == "open").await;
    assert_eq!(server.state(&thread).await["policy"]["name"], "open");
}
