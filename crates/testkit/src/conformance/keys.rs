//! Principals, tokens and the audit record.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_engine::access::{
    AuditAction, AuditEntry, InsertOutcome, Principal, Principals, Reach, RevocationScope, Scope,
    Scopes, Secret, Token, TokenId, TokenKind,
};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::{Millis, Timestamp};

use super::Subject;

pub(super) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000) + Millis::from_secs(seconds)
}

pub(super) fn entry(action: AuditAction, detail: &str) -> AuditEntry {
    AuditEntry {
        at: at(5),
        action,
        by: Some("ann".into()),
        token: Some(TokenId::new("t")),
        about: None,
        detail: detail.into(),
    }
}

/// Returns a token of a principal that is valid from 0 to 100 seconds.
pub(super) fn token(id: &str, holder: &str, kind: TokenKind) -> Token {
    let agent = kind == TokenKind::Agent;
    Token {
        id: TokenId::new(id),
        kind,
        hash: Secret::fresh(kind).unwrap().hash(),
        principal: Principal {
            id: holder.into(),
            kind: if agent { Kind::Agent } else { Kind::Human },
        },
        scopes: Scopes::of(&[Scope::ThreadsRead, Scope::TurnsControl]),
        reach: Reach::All,
        label: format!("the key of {holder}"),
        parent: None,
        created_at: at(0),
        expires_at: at(100),
        last_used_at: None,
        revoked_at: None,
    }
}

pub(super) async fn add(log: &impl Principals, token: &Token) -> InsertOutcome {
    log.add_token(token, &entry(AuditAction::TokenCreated, token.id.as_str())).await.unwrap()
}

pub(super) async fn ids(log: &impl Principals) -> Vec<String> {
    log.tokens(None, 100).await.unwrap().into_iter().map(|token| token.id.to_string()).collect()
}

/// A token is found by its hash and by no other.
pub async fn a_token_is_found_as_it_was_kept<S: Subject>(subject: S) {
    let log = subject.log();
    let streams = ["a".into(), "b".into()].into_iter().collect();
    let bound = Token {
        reach: Reach::Only(Arc::new(streams)),
        parent: Some(TokenId::new("p")),
        ..token("1", "critic", TokenKind::Agent)
    };
    let nowhere =
        Token { reach: Reach::Only(Arc::default()), ..token("2", "bob", TokenKind::Personal) };
    for token in [&bound, &nowhere] {
        assert_eq!(add(log, token).await, InsertOutcome::Yes);
        assert_eq!(log.token(&token.hash).await.unwrap().as_ref(), Some(token));
    }
    assert_eq!(log.token(&token("3", "bob", TokenKind::Personal).hash).await.unwrap(), None);
    assert_eq!(log.tokens(None, 100).await.unwrap(), [bound, nowhere]);
}

/// A principal never changes from person to agent.
pub async fn a_principal_stays_of_its_kind<S: Subject>(subject: S) {
    let log = subject.log();
    assert_eq!(log.principal(&"ann".into()).await.unwrap(), None);
    assert_eq!(add(log, &token("1", "ann", TokenKind::Personal)).await, InsertOutcome::Yes);
    assert_eq!(add(log, &token("2", "ann", TokenKind::Agent)).await, InsertOutcome::OtherKind);
    assert_eq!(ids(log).await, ["1"]);
    assert_eq!(log.audit(None, 10).await.unwrap().len(), 1);
    assert_eq!(
        log.principal(&"ann".into()).await.unwrap(),
        Some(Principal { id: "ann".into(), kind: Kind::Human })
    );
}

/// Revoking a token reaches all tokens made from it, once.
pub async fn revoking_reaches_what_was_made_from_a_token<S: Subject>(subject: S) {
    let log = subject.log();
    let (root, other) =
        (token("root", "ann", TokenKind::Personal), token("other", "ann", TokenKind::Personal));
    let session =
        Token { parent: Some(root.id.clone()), ..token("session", "ann", TokenKind::SignIn) };
    for token in [&root, &other, &session] {
        add(log, token).await;
    }
    let revoke = async || {
        log.revoke(&root.id, RevocationScope::Own, at(7), &entry(AuditAction::TokenRevoked, "root"))
            .await
            .unwrap()
    };
    let mut revoked = revoke().await;
    revoked.sort();
    assert_eq!(revoked, [root.id.clone(), session.id.clone()]);
    assert_eq!(revoke().await, []);
    assert_eq!(
        log.revoke(
            &TokenId::new("none"),
            RevocationScope::Own,
            at(7),
            &entry(AuditAction::TokenRevoked, "none")
        )
        .await
        .unwrap(),
        []
    );
    let valid =
        async |token: &Token| log.token(&token.hash).await.unwrap().unwrap().is_valid(at(8));
    assert_eq!(
        [valid(&root).await, valid(&session).await, valid(&other).await],
        [false, false, true]
    );
    let record = log.audit(None, 10).await.unwrap();
    assert_eq!(
        record.iter().filter(|row| row.entry.action == AuditAction::TokenRevoked).count(),
        1
    );
}

/// An invitation is redeemed once, even if many try at once, and not after its expiry.
pub async fn an_invitation_is_redeemed_once<S: Subject>(subject: S) {
    let log = subject.log();
    let invitation = token("inv", "critic", TokenKind::Invitation);
    let invitation =
        Token { principal: Principal { kind: Kind::Agent, ..invitation.principal }, ..invitation };
    add(log, &invitation).await;
    let redeem = async |id: &str, when: Timestamp| {
        let accepted = AuditEntry { at: when, ..entry(AuditAction::Accepted, id) };
        log.redeem(&invitation.id, &token(id, "critic", TokenKind::Agent), &accepted).await.unwrap()
    };
    assert_eq!(redeem("late", at(100)).await, InsertOutcome::Used);
    let tried = futures_util::future::join_all(["1", "2", "3"].map(|id| redeem(id, at(50)))).await;
    assert_eq!(tried.iter().filter(|kept| **kept == InsertOutcome::Yes).count(), 1);
    assert_eq!(redeem("4", at(51)).await, InsertOutcome::Used);
    assert_eq!(ids(log).await.len(), 2);
}

/// The open invitations into a conversation that a participant made, or that are for it, are
/// canceled. The user made those of a start-up credential, which is not stored.
pub async fn invitations_of_a_participant_are_canceled<S: Subject>(subject: S) {
    let log = subject.log();
    let (here, elsewhere) = (StreamId::new("here"), StreamId::new("elsewhere"));
    let invitation = |id: &str, holder: &str, maker: &TokenId, stream: &StreamId| Token {
        reach: Reach::Only(BTreeSet::from([stream.clone()]).into()),
        parent: Some(maker.clone()),
        ..token(id, holder, TokenKind::Invitation)
    };
    let (startup, anns) = (TokenId::fresh_startup().unwrap(), TokenId::new("ann"));
    add(log, &token("ann", "ann", TokenKind::Personal)).await;
    for (id, holder, maker, stream) in [
        ("1", "guest", &startup, &here),
        ("2", "guest", &startup, &elsewhere),
        ("3", "guest", &anns, &here),
        ("4", "user", &anns, &here),
    ] {
        add(log, &invitation(id, holder, maker, stream)).await;
    }
    let cancel = async |of: &str| {
        let record = entry(AuditAction::TokenRevoked, of);
        let ids = log.cancel_invitations(&here, &of.into(), at(7), &record).await.unwrap();
        let mut ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        ids.sort();
        ids
    };
    assert_eq!(cancel("user").await, ["1", "4"]);
    assert_eq!(cancel("user").await, [""; 0]);
    assert_eq!(cancel("ann").await, ["3"]);
}

/// Expired sessions are deleted. Everything else stays in the list.
pub async fn sessions_that_ran_out_are_let_go_of<S: Subject>(subject: S) {
    let log = subject.log();
    for (id, kind) in [("old", TokenKind::SignIn), ("kept", TokenKind::Personal)] {
        add(log, &token(id, "ann", kind)).await;
    }
    let later = Token {
        created_at: at(100),
        expires_at: at(200),
        ..token("new", "ann", TokenKind::SignIn)
    };
    add(log, &later).await;
    assert_eq!(ids(log).await, ["kept", "new"]);
}

/// The record is read newest first, numbered without a gap.
pub async fn the_record_is_read_backwards_in_pages<S: Subject>(subject: S) {
    let log = subject.log();
    for number in 1..=5 {
        log.record(&entry(AuditAction::Denied, &number.to_string())).await.unwrap();
    }
    let page = async |before: Option<u64>| {
        let rows = log.audit(before, 2).await.unwrap();
        rows.into_iter().map(|row| (row.number, row.entry.detail)).collect::<Vec<_>>()
    };
    assert_eq!(page(None).await, [(5, "5".into()), (4, "4".into())]);
    assert_eq!(page(Some(4)).await, [(3, "3".into()), (2, "2".into())]);
    assert_eq!(page(Some(1)).await, []);
    assert_eq!(log.audit(Some(2), 1).await.unwrap()[0].entry, entry(AuditAction::Denied, "1"));
}

/// Tokens, their changes, and the record survive a restart.
pub async fn tokens_last<S: Subject>(subject: S) {
    let log = subject.log();
    let (kept, revoked) =
        (token("kept", "ann", TokenKind::Personal), token("revoked", "critic", TokenKind::Agent));
    for token in [&kept, &revoked] {
        add(log, token).await;
    }
    log.note_use(&kept.id, at(3)).await.unwrap();
    log.revoke(&revoked.id, RevocationScope::Own, at(4), &entry(AuditAction::TokenRevoked, ""))
        .await
        .unwrap();
    let (tokens, record) =
        (log.tokens(None, 100).await.unwrap(), log.audit(None, 10).await.unwrap());
    assert_eq!(
        (tokens[0].last_used_at, tokens[1].revoked_at, record.len()),
        (Some(at(3)), Some(at(4)), 3)
    );
    let Some(subject) = subject.reopen().await else { return };
    assert_eq!(subject.log().tokens(None, 100).await.unwrap(), tokens);
    assert_eq!(subject.log().audit(None, 10).await.unwrap(), record);
    assert_eq!(
        add(subject.log(), &token("3", "critic", TokenKind::Personal)).await,
        InsertOutcome::OtherKind
    );
}
