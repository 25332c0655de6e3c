//! The table of reasons in `docs/rules.md` equals the one in the code. `MOOTHALL_BLESS=1` writes
//! it.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeSet;
use std::fmt::Write;

use moothall_kernel::ids::Seq;
use moothall_kernel::silence::Reason;
use moothall_kernel::silences::Wait;

const BEGIN: &str = "| word | it is the reason if | told to | cure |\n|---|---|---|---|\n";

fn table() -> String {
    let mut table = BEGIN.to_owned();
    for reason in Reason::ALL {
        let row = reason.row();
        writeln!(table, "| `{reason}` | {} | {} | {} |", row.condition, row.audience, row.cure)
            .unwrap();
    }
    table
}

#[test]
fn every_reason_is_a_row_of_the_rules_and_every_row_a_reason() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");
    let rules = std::fs::read_to_string(path).unwrap();
    let start = rules.find(BEGIN).expect("docs/rules.md has the table of reasons");
    let length = rules[start..].find("\n\n").map_or(rules.len() - start, |at| at + 1);
    let written = &rules[start..start + length];
    if written != table() && std::env::var_os("MOOTHALL_BLESS").is_some() {
        std::fs::write(path, rules.replace(written, &table())).unwrap();
        return;
    }
    assert_eq!(written, table());
    let words: BTreeSet<String> = Reason::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), Reason::ALL.len());
}

#[test]
fn a_wait_for_words_that_a_reader_does_not_see_names_none_of_them() {
    let (participant, cause) = ("a".into(), Seq(4));
    let waits: [fn(_, _) -> Wait; 3] = [
        |participant, cause| Wait::Answer { participant, cause },
        |participant, cause| Wait::Permission { participant, cause },
        |participant, cause| Wait::Cooldown { participant, cause },
    ];
    for wait in waits.map(|of| of(moothall_kernel::ids::ParticipantId::clone(&participant), cause))
    {
        assert_eq!(wait.clone().for_reader(|seq| seq != cause), Wait::Earlier);
        assert_eq!(wait.clone().for_reader(|_| true), wait);
    }
}
