//! Tests that each engine error gets its status and code, and shows no internals.

use super::*;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::invariants::ORDER;

#[test]
fn what_the_engine_says_keeps_its_kind() {
    let stream = StreamId::new("s");
    let rejection = Rejection::new(Refusal::Conflict, "participant_muted", "Muted.")
        .about(&ParticipantId::new("a"));
    let cases = [
        (HallError::Rejected(Box::new(rejection)), 409, "participant_muted"),
        (HallError::NotFound(stream.clone()), 404, "thread_not_found"),
        (HallError::Deleted(stream.clone()), 410, "thread_deleted"),
        (HallError::KeyReused, 422, "idempotency_key_reused"),
        (HallError::Overloaded, 503, "overloaded"),
        (HallError::DiskFull, 507, "disk_full"),
        (
            HallError::ReadOnly { stream: stream.clone(), seq: Seq(1), kind: "k".into() },
            409,
            "thread_read_only",
        ),
        (HallError::Damaged("at 5".into()), 500, "damaged"),
        (HallError::Broken { stream: stream.clone(), rule: ORDER }, 500, "damaged"),
        (HallError::Unreadable("secret path".into()), 500, "io_error"),
        (HallError::ShuttingDown, 503, "shutting_down"),
        (HallError::Failed("secret path".into()), 500, "internal"),
    ];
    for (error, status, code) in cases {
        let answer = ApiError::of_hall(error, Some(&stream));
        assert_eq!(
            (answer.status.as_u16(), answer.detail.code.as_str(), answer.detail.thread.as_deref()),
            (status, code, Some("s"))
        );
        assert!(!answer.detail.message.contains("secret"));
    }
}
