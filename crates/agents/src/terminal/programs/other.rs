//! A program of which nothing is known: it is idle when it is quiet, and reports nothing.

use moothall_engine::sessions::PaneState;

use super::{Keys, LaunchSpec, Screening, Table};
use crate::terminal::hooks::LaunchCommand;
use crate::terminal::screen::Seen;
use crate::terminal::screen::cells::Row;

pub(super) static TABLE: Table = Table {
    launch: LaunchSpec {
        name: None,
        login: None,
        once: None,
        resuming: None,
        launch_command: |_| Ok(LaunchCommand::default()),
    },
    screen: Screening { read, has_composer: false },
    keys: Keys::USUAL,
    report: None,
    record: None,
};

fn read(rows: &[Row]) -> Seen {
    let empty = rows.iter().all(|row| row.text().is_empty());
    Seen::only(if empty { PaneState::Starting } else { PaneState::Idle })
}
