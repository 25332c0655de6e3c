//! Requests that need consent first.

use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::time::Millis;

use super::{Bench, answers, now};
use crate::answers::{Answer, HallError, Idempotency};
use crate::stream::awaited::AWAITED_MAX;
use crate::stream::idempotency::claim_key;
use crate::stream::{
    Condition, Consent, Input, ItemBody, Lookups, Output, PriorRequest, RequestId, Verdict,
};

const WITHIN: Millis = Millis(1_000);

/// Returns the idempotency key `k` of kim, for a request with this hash.
fn key(fingerprint: &str) -> Idempotency {
    Idempotency { principal: "kim".into(), key: "k".into(), fingerprint: fingerprint.into() }
}

impl Bench {
    fn propose(&mut self, words: &str, idempotency: Option<Idempotency>) -> RequestId {
        self.requests += 1;
        let id = RequestId(self.requests);
        let wanted =
            ItemBody::Decision(ClientCommand::Post(Post::new(Actor::human("user"), words)).into());
        let condition = Some(Condition { principal: "boss".into(), within: WITHIN });
        let idempotency = idempotency.map(Box::new);
        assert_eq!(
            self.tell(Input::Request {
                id,
                wanted,
                idempotency,
                condition,
                owing: <_>::default(),
                taking: None,
            }),
            []
        );
        id
    }

    /// Looks once, and returns the questions of the batch.
    fn questions(&mut self) -> Vec<Output> {
        let outputs = self.tell(Input::Look);
        let Some(Output::Lookup { .. }) = outputs.last() else { return outputs };
        self.tell(super::found())
    }

    fn say(&mut self, id: RequestId, consent: Consent) -> Vec<Output> {
        self.tell(Input::Answered { id, consent })
    }
}

fn asked(outputs: &[Output]) -> Vec<RequestId> {
    outputs
        .iter()
        .filter_map(|output| if let Output::Ask { id, .. } = output { Some(*id) } else { None })
        .collect()
}

fn verdicts(outputs: Vec<Output>) -> Vec<(RequestId, Verdict)> {
    outputs
        .into_iter()
        .flat_map(|output| if let Output::Answer { answers } = output { answers } else { vec![] })
        .collect()
}

fn code(verdict: &Verdict) -> &'static str {
    match verdict {
        Err(HallError::Rejected(rejection)) => rejection.code,
        other => panic!("{other:?}"),
    }
}

fn wake(outputs: &[Output]) -> Option<Millis> {
    outputs
        .iter()
        .rev()
        .find_map(|output| if let Output::Wake { at } = output { Some(*at) } else { None })
        .unwrap()
}

#[test]
fn a_request_is_decided_when_somebody_agreed_and_others_overtake_it() {
    let mut bench = Bench::begun();
    let first = bench.propose("one", None);
    let second = bench.post("two");
    let outputs = bench.tell(Input::Look);
    let [Output::Lookup { .. }] = &outputs[..] else { panic!("{outputs:?}") };
    let outputs = bench.tell(super::found());
    let [Output::Ask { id, principal, until, .. }, rest @ ..] = &outputs[..] else {
        panic!("{outputs:?}")
    };
    assert_eq!((*id, principal.as_str(), *until), (first, "boss", WITHIN));
    let batch = bench.go_on(rest.to_vec());
    assert_eq!(batch.events[0].event.body(), Some("two"));
    let outputs = bench.append(batch, Ok(vec![]));
    assert_eq!((answers(&outputs), wake(&outputs)), (vec![second], Some(WITHIN)));
    assert_eq!(bench.say(first, Consent::Given), []);
    let batch = bench.look();
    assert_eq!(batch.events[0].event.body(), Some("one"));
    assert_eq!(answers(&bench.append(batch, Ok(vec![]))), [first]);
}

#[test]
fn a_no_refuses_it_and_says_why() {
    let mut bench = Bench::begun();
    let id = bench.propose("one", None);
    assert_eq!(asked(&bench.questions()), [id]);
    let decided = verdicts(bench.say(id, Consent::Refused("not today".into())));
    let [(refused, verdict)] = &decided[..] else { panic!("{decided:?}") };
    assert_eq!((*refused, code(verdict)), (id, "not_agreed"));
    assert!(verdict.as_ref().unwrap_err().to_string().ends_with("not today"));
    assert_eq!(bench.say(id, Consent::Given), [], "nobody waits for it any more");
    assert_eq!(verdicts(bench.questions()), []);
}

#[test]
fn silence_refuses_it_and_a_late_yes_comes_too_late() {
    let mut bench = Bench::begun();
    let id = bench.propose("one", None);
    bench.questions();
    bench.steady = WITHIN.0;
    assert_eq!(bench.say(id, Consent::Given), []);
    let outputs = bench.questions();
    assert_eq!(wake(&outputs), None);
    let decided = verdicts(outputs);
    assert!(
        matches!(&decided[..], [(refused, verdict)] if *refused == id && code(verdict) == "unanswered"),
        "{decided:?}"
    );
}

#[test]
fn the_same_request_again_asks_nobody_twice_and_takes_effect_once() {
    let mut bench = Bench::begun();
    let (first, again) =
        (bench.propose("one", Some(key("f"))), bench.propose("one", Some(key("f"))));
    assert_eq!(asked(&bench.questions()), [first]);
    bench.say(first, Consent::Given);
    let batch = bench.look();
    assert_eq!(batch.events.iter().filter(|event| event.event.kind() == "posted").count(), 1);
    let decided = verdicts(bench.append(batch, Ok(vec![])));
    let replayed = |verdict: &Verdict| verdict.as_ref().unwrap().replayed;
    assert_eq!(
        decided.iter().map(|(id, verdict)| (*id, replayed(verdict))).collect::<Vec<_>>(),
        [(first, false), (again, true)]
    );
}

#[test]
fn another_request_under_the_same_key_is_asked_about_and_refused() {
    let mut bench = Bench::begun();
    let (first, other) =
        (bench.propose("one", Some(key("f"))), bench.propose("two", Some(key("g"))));
    assert_eq!(asked(&bench.questions()), [first, other]);
    bench.say(first, Consent::Given);
    bench.say(other, Consent::Given);
    let batch = bench.look();
    let decided = verdicts(bench.append(batch, Ok(vec![])));
    assert!(
        matches!(&decided[..], [(_, Ok(_)), (id, Err(HallError::KeyReused))] if *id == other),
        "{decided:?}"
    );
}

#[test]
fn nobody_is_asked_about_what_was_done_before() {
    let mut bench = Bench::begun();
    let id = bench.propose("one", Some(key("f")));
    bench.tell(Input::Look);
    let answer = Ok(Answer {
        stream: "s".into(),
        event: None,
        head: bench.host.committed().head(),
        replayed: false,
    });
    let earlier = PriorRequest { fingerprint: "f".into(), answer };
    let earlier = Ok([(claim_key(&key("f")), earlier)].into());
    let outputs = bench.tell(Input::Found(Lookups {
        earlier,
        here: <_>::default(),
        budgets: <_>::default(),
        voices: <_>::default(),
    }));
    assert_eq!(asked(&outputs), []);
    assert!(matches!(
        &verdicts(outputs)[..],
        [(known, Ok(Answer { replayed: true, .. }))] if *known == id
    ));
}

#[test]
fn a_request_that_waits_is_forgotten_by_a_crash_and_asks_again() {
    let mut bench = Bench::begun();
    let id = bench.propose("one", Some(key("f")));
    bench.questions();
    let mut bench = bench.again();
    assert_eq!(bench.say(id, Consent::Given), [], "this one asked nobody");
    let again = bench.propose("one", Some(key("f")));
    assert_eq!(asked(&bench.questions()), [again]);
}

#[test]
fn so_many_wait_and_not_more_and_none_of_them_keeps_a_server_up() {
    let mut bench = Bench::begun();
    for _ in 0..=AWAITED_MAX {
        bench.propose("one", None);
    }
    let outputs = bench.questions();
    assert_eq!(asked(&outputs).len(), AWAITED_MAX);
    assert!(matches!(verdicts(outputs)[..], [(_, Err(HallError::Overloaded))]));
    assert!(bench.host.is_settled() && !bench.host.may_leave());
    let around = super::Around { now: now(1), draining: true, agents: &bench.roster };
    let decided = verdicts(bench.host.handle(&around, Input::Look));
    assert_eq!(decided.len(), AWAITED_MAX);
    assert!(decided.iter().all(|(_, verdict)| *verdict == Err(HallError::ShuttingDown)));
    assert!(bench.host.may_leave());
}
