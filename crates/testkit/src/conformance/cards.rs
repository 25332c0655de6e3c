//! The cards of registered agents, and their owners.

use futures_util::future::join_all;
use moothall_engine::access::{
    AgentCard, AuditAction, AuditEntry, CARDS_LISTED_MAX, ClaimOutcome, InsertOutcome, Principal,
    Principals, RegisterOutcome, Registration, Secret, Token, TokenHash, TokenKind,
};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;

use super::Subject;
use super::keys::{add, at, entry, ids, token};

/// The request for a registration.
struct RegistrationCase {
    card: AgentCard,
    claim: TokenHash,
    token: Token,
    entry: AuditEntry,
}

impl RegistrationCase {
    async fn of(&self, log: &impl Principals) -> RegisterOutcome {
        log.register(&self.card, &self.claim, &self.token, &self.entry).await.unwrap()
    }
}

fn asked(id: &str, name: &str) -> RegistrationCase {
    RegistrationCase {
        card: AgentCard {
            id: id.into(),
            name: name.into(),
            description: None,
            owner: None,
            created_at: at(1),
        },
        claim: Secret::fresh(TokenKind::Invitation).unwrap().hash(),
        token: token(&format!("token of {id}"), id, TokenKind::Agent),
        entry: entry(AuditAction::Registered, id),
    }
}

fn owned(id: &str, owner: &str, seconds: u64) -> RegistrationCase {
    let asked = asked(id, id);
    let card = AgentCard { owner: Some(owner.into()), created_at: at(seconds), ..asked.card };
    RegistrationCase { card, ..asked }
}

async fn registered(log: &impl Principals, id: &str, name: &str) -> RegistrationCase {
    let asked = asked(id, name);
    assert_eq!(asked.of(log).await, RegisterOutcome::Yes);
    asked
}

async fn claimed(log: &impl Principals, claim: &TokenHash, owner: &str) -> ClaimOutcome {
    log.claim_card(claim, owner, &entry(AuditAction::Claimed, owner)).await.unwrap()
}

async fn recorded_actions(log: &impl Principals) -> Vec<AuditAction> {
    let mut rows = log.audit(None, 500).await.unwrap();
    rows.reverse();
    rows.into_iter().map(|row| row.entry.action).collect()
}

fn names(cards: &[AgentCard]) -> Vec<&str> {
    cards.iter().map(|card| card.name.as_str()).collect()
}

/// A registration stores the agent's card, its principal, its token and a record. The token belongs
/// to the agent, whatever principal it names.
pub async fn an_agent_registers_with_all_that_is_its<S: Subject>(subject: S) {
    let log = subject.log();
    let plain = asked("1", "Scout");
    let scout = RegistrationCase {
        card: AgentCard { description: Some("Looks around.".into()), ..plain.card },
        token: token("key", "ann", TokenKind::Agent),
        ..plain
    };
    assert_eq!(scout.of(log).await, RegisterOutcome::Yes);
    let principal = Principal { id: "1".into(), kind: Kind::Agent };
    assert_eq!(log.cards(&["1".into()]).await.unwrap(), [scout.card]);
    assert_eq!(log.principal(&"1".into()).await.unwrap().as_ref(), Some(&principal));
    assert_eq!(log.principal(&"ann".into()).await.unwrap(), None);
    let kept = log.token(&scout.token.hash).await.unwrap();
    assert_eq!(kept, Some(Token { principal, ..scout.token }));
    assert_eq!(log.audit(None, 10).await.unwrap()[0].entry, scout.entry);
}

/// A name belongs to one agent, even if several request it at once. Names are compared as they are
/// written.
pub async fn a_name_is_of_one_agent<S: Subject>(subject: S) {
    let log = subject.log();
    let wanted = ["1", "2", "3"].map(|id| asked(id, "Scout"));
    let tried = join_all(wanted.iter().map(|asked| asked.of(log))).await;
    assert_eq!(tried.iter().filter(|kept| **kept == RegisterOutcome::Yes).count(), 1);
    assert_eq!((ids(log).await.len(), recorded_actions(log).await.len()), (1, 1));
    for (asked, kept) in
        wanted.iter().zip(&tried).filter(|(_, kept)| **kept != RegisterOutcome::Yes)
    {
        assert_eq!(*kept, RegisterOutcome::NameTaken);
        assert_eq!(log.principal(&asked.card.id).await.unwrap(), None);
        assert_eq!(log.cards(std::slice::from_ref(&asked.card.id)).await.unwrap(), []);
        assert_eq!(claimed(log, &asked.claim, "ann").await, ClaimOutcome::Unknown);
    }
    registered(log, "4", "scout").await;
}

/// A registration cannot take the id of a known person or agent.
pub async fn who_is_known_does_not_register<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, holder, kind) in [("a", "ann", TokenKind::Personal), ("b", "critic", TokenKind::Agent)]
    {
        assert_eq!(add(log, &token(id, holder, kind)).await, InsertOutcome::Yes);
        assert_eq!(asked(holder, "Scout").of(log).await, RegisterOutcome::NameTaken);
    }
    registered(log, "1", "Scout").await;
    assert_eq!(asked("1", "Other").of(log).await, RegisterOutcome::NameTaken);
    assert_eq!(ids(log).await, ["a", "b", "token of 1"]);
    assert_eq!(log.cards_named(&["Other".into()]).await.unwrap(), []);
}

/// Cards are found by ids and by names, each once, in the order asked.
pub async fn cards_come_in_the_order_asked<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, name) in [("1", "One"), ("2", "Two"), ("3", "Three")] {
        registered(log, id, name).await;
    }
    let wanted: Vec<ParticipantId> = ["3", "none", "1", "3", "One"].map(Into::into).into();
    assert_eq!(names(&log.cards(&wanted).await.unwrap()), ["Three", "One"]);
    let wanted: Vec<String> = ["Two", "one", "2", "One", "Two"].map(Into::into).into();
    assert_eq!(names(&log.cards_named(&wanted).await.unwrap()), ["Two", "One"]);
    assert_eq!(log.cards(&[]).await.unwrap(), []);
    assert_eq!(log.cards_named(&[]).await.unwrap(), []);
}

/// An agent stays with its first owner. Only the first claim is recorded.
pub async fn an_agent_is_claimed_once<S: Subject>(subject: S) {
    let log = subject.log();
    let (scout, other) = (registered(log, "1", "Scout").await, registered(log, "2", "Other").await);
    assert_eq!(log.cards(&["1".into()]).await.unwrap()[0].owner, None);
    let unknown = asked("3", "None").claim;
    assert_eq!(claimed(log, &unknown, "ann").await, ClaimOutcome::Unknown);
    assert_eq!(claimed(log, &scout.claim, "ann").await, ClaimOutcome::First("1".into()));
    assert_eq!(claimed(log, &scout.claim, "ann").await, ClaimOutcome::Again("1".into()));
    assert_eq!(claimed(log, &scout.claim, "bob").await, ClaimOutcome::OtherOwner);
    let owner = |cards: Vec<AgentCard>| cards[0].owner.clone();
    assert_eq!(owner(log.cards(&["1".into()]).await.unwrap()).as_deref(), Some("ann"));

    let tried =
        join_all(["ann", "bob", "eve"].map(|owner| claimed(log, &other.claim, owner))).await;
    let first = ClaimOutcome::First("2".into());
    assert_eq!(tried.iter().filter(|outcome| **outcome == first).count(), 1);
    assert_eq!(tried.iter().filter(|one| **one == ClaimOutcome::OtherOwner).count(), 2);
    let (registered, claimed) = (AuditAction::Registered, AuditAction::Claimed);
    assert_eq!(recorded_actions(log).await, [registered, registered, claimed, claimed]);
}

/// Cards of an owner come oldest first, and in the order of registration if the times are equal.
pub async fn an_owner_lists_their_agents<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, owner, seconds) in
        [("a", "ann", 3), ("b", "bob", 1), ("c", "ann", 2), ("d", "ann", 3), ("z", "ann", 1)]
    {
        assert_eq!(owned(id, owner, seconds).of(log).await, RegisterOutcome::Yes);
    }
    registered(log, "e", "e").await;
    assert_eq!(names(&log.cards_of("ann").await.unwrap()), ["z", "c", "a", "d"]);
    let later = registered(log, "f", "f").await;
    claimed(log, &later.claim, "bob").await;
    assert_eq!(names(&log.cards_of("bob").await.unwrap()), ["b", "f"]);
    assert_eq!(log.cards_of("Ann").await.unwrap(), []);
}

/// The list of agents is bounded and leaves out the newest.
pub async fn a_list_of_agents_has_an_end<S: Subject>(subject: S) {
    let log = subject.log();
    let many: Vec<RegistrationCase> = (0..=CARDS_LISTED_MAX)
        .map(|place| owned(&format!("agent-{place}"), "ann", place as u64))
        .collect();
    let tried = join_all(many.iter().map(|asked| asked.of(log))).await;
    assert!(tried.iter().all(|kept| *kept == RegisterOutcome::Yes));
    let listed = log.cards_of("ann").await.unwrap();
    assert_eq!(listed.len(), CARDS_LISTED_MAX);
    assert_eq!([&listed[0], &listed[CARDS_LISTED_MAX - 1]], [0, 199].map(|at| &many[at].card));
}

/// Pages join, and show each agent's revocation and last use.
pub async fn agents_are_listed_by_their_names_in_pages<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, name) in [("1", "cid"), ("2", "ann"), ("3", "bob")] {
        registered(log, id, name).await;
    }
    let names = |page: Vec<Registration>| {
        page.into_iter().map(|row| (row.card.name, row.revoked)).collect::<Vec<_>>()
    };
    let page = |after: Option<&'static str>| async move {
        names(log.registrations(after, 2).await.unwrap())
    };
    assert_eq!(page(None).await, [("ann".into(), false), ("bob".into(), false)]);
    assert_eq!(page(Some("bob")).await, [("cid".into(), false)]);
    assert_eq!(page(Some("cid")).await, []);
    log.revoke_all(&"2".into(), at(2), &entry(AuditAction::AgentRevoked, "2")).await.unwrap();
    assert_eq!(page(None).await, [("ann".into(), true), ("bob".into(), false)]);
}

/// All keys of one agent are revoked, once, and those of no other agent.
pub async fn keys_of_an_agent_are_revoked_together<S: Subject>(subject: S) {
    let log = subject.log();
    let (ann, bob) = (registered(log, "1", "ann").await, registered(log, "2", "bob").await);
    let (agent, because) = ("1".into(), entry(AuditAction::AgentRevoked, "1"));
    let revoked = log.revoke_all(&agent, at(2), &because).await.unwrap();
    assert_eq!(revoked, std::slice::from_ref(&ann.token.id));
    assert_eq!(log.revoke_all(&agent, at(3), &because).await.unwrap(), []);
    let kept = |hash| async move { log.token(&hash).await.unwrap().unwrap().revoked_at };
    assert_eq!(kept(ann.token.hash).await, Some(at(2)));
    assert_eq!(kept(bob.token.hash).await, None);
    let recorded = recorded_actions(log)
        .await
        .into_iter()
        .filter(|action| *action == AuditAction::AgentRevoked);
    assert_eq!(recorded.count(), 1);
}

/// A freed name can be taken by another agent, but its id is never given again.
pub async fn a_freed_name_is_another_agents<S: Subject>(subject: S) {
    let log = subject.log();
    let first = registered(log, "1", "ann").await;
    let freed = entry(AuditAction::AgentFreed, "1");
    let revoked = log.free_card(&"1".into(), at(2), &freed).await.unwrap();
    assert_eq!(revoked, Some(vec![first.token.id.clone()]));
    assert_eq!(log.free_card(&"1".into(), at(2), &freed).await.unwrap(), None);
    assert_eq!(log.cards(&["1".into()]).await.unwrap(), []);
    assert_eq!(asked("1", "ann").of(log).await, RegisterOutcome::NameTaken, "the id");
    registered(log, "2", "ann").await;
    assert_eq!(log.cards_named(&["ann".into()]).await.unwrap()[0].id, ParticipantId::new("2"));
}

/// Cards survive a restart, with their owners and claims.
pub async fn cards_last<S: Subject>(subject: S) {
    let log = subject.log();
    let (scout, other) = (registered(log, "1", "Scout").await, registered(log, "2", "Other").await);
    claimed(log, &scout.claim, "ann").await;
    let wanted = ["1".into(), "2".into()];
    let cards = log.cards(&wanted).await.unwrap();
    let Some(subject) = subject.reopen().await else { return };
    let log = subject.log();
    assert_eq!(log.cards(&wanted).await.unwrap(), cards);
    assert_eq!(claimed(log, &scout.claim, "bob").await, ClaimOutcome::OtherOwner);
    assert_eq!(claimed(log, &other.claim, "bob").await, ClaimOutcome::First("2".into()));
    assert_eq!(asked("3", "Scout").of(log).await, RegisterOutcome::NameTaken);
}
