//! Tests of open requests and of the commands that answer them.

use super::*;

const NOON: &str = "2026-01-31T12:00:00.000Z";

fn requested(permission: &str) -> PermissionEvent {
    PermissionEvent::Requested {
        permission: permission.into(),
        turn: Some("t.1".into()),
        participant: "claude-1".into(),
        action: "rm -r build".into(),
        detail: None,
        complete: true,
        options: Vec::new(),
        folder: None,
        look: None,
    }
}

#[test]
fn the_command_that_is_printed_can_be_typed() {
    let mut open = Open::default();
    open.take("01a21247-1882-7688-9084-190c02344864", 7, NOON, &requested("p1"));
    let typed = open.all()[0].command();
    let (typed, _) = typed.split_once('#').unwrap();
    <crate::cli::Cli as clap::Parser>::try_parse_from(typed.split_whitespace()).unwrap();
}

#[test]
fn a_permission_is_meant_by_its_number_or_alone() {
    let mut open = Open::default();
    assert!(open.one(None).is_err_and(|what| what.contains("no open")));
    open.take("t", 7, NOON, &requested("p1"));
    assert_eq!(open.one(None).map(|asked| asked.permission.as_str()), Ok("p1"));
    open.take("t", 9, NOON, &requested("p2"));
    assert!(open.one(None).is_err_and(|what| {
        what.contains("\n  7  claude-1: rm -r build\n  moothall permit t allow --number 7")
            && what.contains("\n  9  claude-1: rm -r build\n  moothall permit t allow")
    }));
    assert_eq!(open.one(Some(9)).map(|asked| asked.permission.as_str()), Ok("p2"));
    assert!(open.one(Some(8)).is_err());
    open.take(
        "t",
        10,
        NOON,
        &PermissionEvent::Answered {
            permission: "p1".into(),
            by: "user".into(),
            label: "deny".into(),
            text: None,
        },
    );
    open.take(
        "t",
        11,
        NOON,
        &PermissionEvent::Withdrawn { permission: "p2".into(), because: "gone".into() },
    );
    assert!(open.all().is_empty());
}
