//! Searching: the hits, their order, and the reported lag.

use moothall_engine::ports::{EventLog, Hits, LogError, Search, SearchRequest, StreamBatch};
use moothall_kernel::event::{Change, Event, Posted, SuppressedBecause};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::{AgentFacts, Kind, Profile};
use moothall_kernel::search::Query;

use super::Subject;
use super::build::{Builder, at, batch, said};

/// Maximum number of polls of an index that has not caught up. Each takes a moment, so this is
/// long.
const LOOKS_MAX: usize = 1_000_000;

fn wanted(query: &str, streams: &[&str]) -> SearchRequest {
    let streams = (!streams.is_empty()).then(|| streams.iter().map(StreamId::new).collect());
    SearchRequest { query: Query::parse(query).unwrap(), streams }
}

/// Returns a page of hits once the index has caught up.
pub async fn page(
    log: &impl Search,
    wanted: &SearchRequest,
    limit: usize,
    cursor: Option<u64>,
) -> Hits {
    for _ in 0..LOOKS_MAX {
        let page = log.search(wanted, limit, cursor).await.unwrap();
        if page.lag == 0 {
            return page;
        }
        tokio::task::yield_now().await;
    }
    panic!("the index never caught up");
}

/// Returns all hits as `stream:seq`.
async fn found(log: &impl Search, query: &str, streams: &[&str]) -> Vec<String> {
    let page = page(log, &wanted(query, streams), 1000, None).await;
    page.hits.iter().map(|hit| format!("{}:{}", hit.stream, hit.recorded.seq)).collect()
}

fn by(from: &str, body: &str) -> Event {
    let Event::Posted(posted) = said(body) else { unreachable!("people say messages") };
    Event::Posted(Posted { from: ParticipantId::new(from), ..posted })
}

fn invited(id: &str, nickname: Option<&str>) -> Event {
    let profile = Profile {
        client: Some("x".into()),
        model: Some("x".into()),
        nickname: nickname.map(Into::into),
        ..Profile::default()
    };
    let change = Change::Invited {
        participant: ParticipantId::new(id),
        kind: Kind::Agent,
        given: profile.clone(),
        profile,
        facts: AgentFacts::external(),
        skeleton: id.into(),
        address: None,
        full_name: None,
        number: None,
        part: None,
        reach: None,
    };
    Event::Controlled { by: ParticipantId::user(), changes: vec![change], unproven: false }
}

/// Appends two conversations, one after the other.
async fn two_talks(log: &impl EventLog) {
    let a = batch("a", 0)
        .says("Shall we deploy the rocket on Friday?")
        .event(by("critic", "Not on a friday. NEVER on a Friday!"));
    log.append(vec![a]).await.unwrap();
    let b =
        batch("b", 0).says("The deployment is done; die Größe stimmt.").says("会议改到星期五 🚀");
    log.append(vec![b]).await.unwrap();
}

/// A query finds all its words in any order, without regard to case and accents. An unquoted word
/// also finds longer words.
pub async fn words_and_phrases_are_found<S: Subject>(subject: S) {
    let log = subject.log();
    two_talks(log).await;
    for (query, places) in [
        ("deploy", vec!["b:1", "a:1"]),
        ("\"deploy\"", vec!["a:1"]),
        ("FRIDAY rocket", vec!["a:1"]),
        ("\"on friday\"", vec!["a:1"]),
        ("\"on a friday\"", vec!["a:2"]),
        ("\"friday on\"", vec![]),
        ("grosse", vec![]),
        ("große", vec!["b:1"]),
        ("会议", vec!["b:2"]),
        ("议会", vec![]),
        ("🚀", vec!["b:2"]),
        ("fri", vec!["a:2", "a:1"]),
        ("fr", vec![]),
        ("deploy nothing", vec![]),
    ] {
        assert_eq!(found(log, query, &[]).await, places, "{query}");
    }
}

/// A snippet shows the words around the first match, with the matches marked.
pub async fn snippets_show_the_matches<S: Subject>(subject: S) {
    let log = subject.log();
    two_talks(log).await;
    let hits = page(log, &wanted("friday", &["a"]), 1, None).await.hits;
    let hit = &hits[0];
    let matched: Vec<&str> =
        hit.snippet.iter().filter(|piece| piece.matched).map(|piece| piece.text.as_str()).collect();
    assert_eq!(matched, ["friday", "Friday"]);
    let whole: String = hit.snippet.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(hit.recorded.event.body(), Some(whole.as_str()));
    assert_eq!((hit.recorded.ts, hit.recorded.event.from().unwrap().as_str()), (at(2), "critic"));
}

/// Filters take authors by id and by their name at the time, streams, and days or times, with and
/// without words.
pub async fn filters_narrow<S: Subject>(subject: S) {
    let log = subject.log();
    two_talks(log).await;
    let c = batch("c", 0)
        .event(invited("ann", Some("Ann Lee")))
        .event(by("ann", "deploy one"))
        .event(invited("ann", Some("Anna")))
        .event(by("ann", "deploy two"))
        .event(invited("ann", None))
        .event(by("ann", "deploy three"))
        .says_at(90_000_000, "deploy the day after");
    log.append(vec![c]).await.unwrap();
    let all = ["c:7", "c:6", "c:4", "c:2", "b:1", "a:1"];
    for (query, streams, places) in [
        ("deploy", vec![], all.to_vec()),
        ("deploy from:ANN", vec![], vec!["c:6", "c:4", "c:2"]),
        ("deploy from:\"ann lee\"", vec![], vec!["c:2"]),
        ("from:anna", vec![], vec!["c:4"]),
        ("from:anna from:critic", vec![], vec!["c:4", "a:2"]),
        ("from:nobody deploy", vec![], vec![]),
        ("from:an", vec![], vec![]),
        ("deploy", vec!["a", "b"], vec!["b:1", "a:1"]),
        ("deploy", vec!["nowhere"], vec![]),
        ("from:critic", vec!["b"], vec![]),
        ("deploy after:1970-01-02", vec![], vec!["c:7"]),
        ("after:1970-01-02", vec![], vec!["c:7"]),
        ("deploy before:1970-01-02", vec![], all[1..].to_vec()),
        (
            "after:1970-01-01T00:00:00.002Z before:1970-01-01T00:00:00.004Z",
            vec![],
            vec!["c:2", "b:2", "a:2"],
        ),
        ("after:1970-01-02 before:1970-01-01", vec![], vec![]),
    ] {
        assert_eq!(found(log, query, &streams).await, places, "{query} in {streams:?}");
    }
}

/// Neither refused words in the trace nor other events are found.
pub async fn only_what_was_said_to_all_is_found<S: Subject>(subject: S) {
    let log = subject.log();
    let kept = Event::Suppressed {
        participant: ParticipantId::user(),
        turn: None,
        because: SuppressedBecause::Late,
        counted: 0,
        body: "secret plan".into(),
    };
    let created = Event::Created {
        name: "secret".into(),
        by: ParticipantId::user(),
        policy: Default::default(),
        task: None,
        folder: None,
    };
    log.append(vec![batch("a", 0).event(created).event(kept).says("").says("no secret")])
        .await
        .unwrap();
    assert_eq!(found(log, "secret", &[]).await, ["a:4"]);
    assert_eq!(found(log, "plan", &[]).await, Vec::<String>::new());
}

/// Pages of any size give every hit once, and the last page says that it is the last.
pub async fn hits_are_paged<S: Subject>(subject: S) {
    let log = subject.log();
    let talk =
        |stream: &str| (1..=12).fold(batch(stream, 0), |batch, n| batch.says(&format!("word {n}")));
    log.append(vec![talk("a"), talk("b")]).await.unwrap();
    let all = found(log, "word", &[]).await;
    assert_eq!((all.len(), all[0].as_str(), all[23].as_str()), (24, "b:12", "a:1"));
    for limit in [1, 5, 23, 24, 25] {
        let (mut read, mut cursor) = (Vec::new(), None);
        loop {
            let page = page(log, &wanted("word", &[]), limit, cursor).await;
            assert!(page.hits.len() <= limit);
            read.extend(page.hits.iter().map(|hit| format!("{}:{}", hit.stream, hit.recorded.seq)));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(read, all, "{limit}");
    }
    for cursor in [0, 1, u64::MAX] {
        assert!(log.search(&wanted("word", &[]), 5, Some(cursor)).await.is_ok());
    }
}

/// Syntax of query languages or SQL is treated as plain words.
pub async fn hostile_queries_find_nothing_and_break_nothing<S: Subject>(subject: S) {
    let log = subject.log();
    two_talks(log).await;
    let hostile = [
        "NEAR(deploy friday, 3)",
        "deploy*",
        "deploy OR",
        "AND",
        "NOT deploy",
        "words:deploy",
        "keys:s1",
        "s1 f1",
        "'; DROP TABLE docs; --",
        "{words}: deploy",
        "^deploy",
        "deploy + friday",
        "from:'\\\"x",
        "in:x from:%",
        "x \"'\"",
        "a\0b",
        "\u{202e}deploy",
        "-deploy",
        "🚀*",
    ];
    for query in hostile {
        let wanted = Query::parse(query).map(|query| SearchRequest { query, streams: None });
        let Ok(wanted) = wanted else { continue };
        let answer = log.search(&wanted, 10, None).await;
        assert!(answer.is_ok(), "{query}: {answer:?}");
    }
    let long = (0..31).map(|n| format!("\"{n} x\"")).collect::<Vec<_>>().join(" ");
    assert!(log.search(&wanted(&long, &[]), 10, None).await.is_ok());
    assert_eq!(found(log, "keys:s1", &[]).await, Vec::<String>::new());
    assert_eq!(found(log, "rocket", &[]).await, ["a:1"]);
}

/// A forgotten message is not found any more, but its neighbours are. A message that was not
/// indexed yet never will be.
pub async fn what_is_forgotten_is_found_no_more<S: Subject>(subject: S) {
    let log = subject.log();
    let talk: StreamBatch = batch("a", 0).says("word one").says("word two").says("word three");
    log.append(vec![talk]).await.unwrap();
    assert_eq!(found(log, "word", &[]).await, ["a:3", "a:2", "a:1"]);
    Search::forget(log, &"a".into(), Seq(3)).await.unwrap();
    assert_eq!(found(log, "word", &[]).await, ["a:2", "a:1"]);
    log.append(vec![batch("a", 3).says("word four").says("word five")]).await.unwrap();
    Search::forget(log, &"a".into(), Seq(4)).await.unwrap();
    assert_eq!(found(log, "word", &[]).await, ["a:5", "a:2", "a:1"]);
    assert_eq!(Search::forget(log, &"nowhere".into(), Seq(1)).await, Ok::<_, LogError>(()));
}

/// The index survives a restart.
pub async fn the_index_lasts<S: Subject>(subject: S) {
    two_talks(subject.log()).await;
    let before = found(subject.log(), "deploy", &[]).await;
    subject.log().append(vec![batch("c", 0).event(invited("ann", Some("Ann")))]).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    subject.log().append(vec![batch("c", 1).event(by("ann", "deploy again"))]).await.unwrap();
    let after = found(subject.log(), "deploy", &[]).await;
    assert_eq!(after, [vec!["c:2".to_owned()], before].concat());
    assert_eq!(found(subject.log(), "from:Ann", &[]).await, ["c:2"]);
}
