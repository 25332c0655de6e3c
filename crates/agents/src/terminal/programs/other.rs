//! An unknown program: it counts as idle as soon as it shows anything, and does not report.

use moothall_engine::sessions::PaneState;

use super::{Keys, LaunchSpec, ProgramTable, ScreenReader};
use crate::terminal::hooks::LaunchCommand;
use crate::terminal::screen::ScreenReading;
use crate::terminal::screen::cells::Row;

pub(super) static TABLE: ProgramTable = ProgramTable {
    launch: LaunchSpec {
        name: None,
        install: None,
        login: None,
        once: None,
        printed: None,
        resuming: None,
        launch_command: |_| Ok(LaunchCommand::default()),
    },
    screen: ScreenReader { read, has_composer: false },
    keys: Keys::USUAL,
    report: None,
    record: None,
};

fn read(rows: &[Row]) -> ScreenReading {
    let empty = rows.iter().all(|row| row.text().is_empty());
    ScreenReading::only(if empty { PaneState::Starting } else { PaneState::Idle })
}
