//! A captured screen in colour, as runs of one style.

use moothall_engine::sessions::StyledRun;

use super::cells::{Cell, cells, without_end};

/// Maximum number of styled runs of a screen. A program that colours each cell for itself shows the
/// rest of its screen without style.
const RUNS_MAX: usize = 4_000;

/// Returns the lines of a captured screen in runs, without empty lines at the end. Drops the spaces
/// at the end of a line, unless their style makes them visible.
pub(crate) fn lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Vec<StyledRun>> {
    let mut left = RUNS_MAX;
    let is_bare = |cell: &Cell| cell.c == ' ' && cell.style.hides_spaces();
    let lines = cells(lines).map(|cells| runs(&without_end(cells, is_bare), &mut left));
    let mut lines: Vec<_> = lines.collect();
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(end);
    lines
}

/// Returns the runs of a line. `left` is the number of runs that the screen may still have. A line
/// with more runs becomes one run without style.
fn runs(cells: &[Cell], left: &mut usize) -> Vec<StyledRun> {
    let runs: Vec<_> = cells.chunk_by(|one, next| one.style == next.style).map(run).collect();
    match left.checked_sub(runs.len()) {
        Some(fewer) => {
            *left = fewer;
            runs
        }
        None => {
            *left = 0;
            vec![StyledRun { style: Default::default(), ..run(cells) }]
        }
    }
}

fn run(cells: &[Cell]) -> StyledRun {
    let style = cells.first().map(|cell| cell.style).unwrap_or_default();
    StyledRun { text: cells.iter().map(|cell| cell.c).collect(), style }
}

#[cfg(test)]
mod tests {
    use moothall_engine::sessions::{CellColor, CellStyle};
    use proptest::prelude::*;

    use super::*;
    use crate::terminal::screen::cells::rows;

    fn styled(text: &str, style: CellStyle) -> StyledRun {
        StyledRun { text: text.to_owned(), style }
    }

    fn fg(color: CellColor) -> CellStyle {
        CellStyle { fg: Some(color), ..CellStyle::default() }
    }

    #[test]
    fn sequences_become_styles() {
        use CellColor::{Base, Exact};
        let plain = CellStyle::default();
        let bold = CellStyle { bold: true, ..plain };
        for (sequence, style) in [
            ("31", fg(Base(1))),
            ("97", fg(Base(15))),
            ("38;5;9", fg(Base(9))),
            ("38;5;16", fg(Exact(0, 0, 0))),
            ("38;5;110", fg(Exact(135, 175, 215))),
            ("38;5;255", fg(Exact(238, 238, 238))),
            ("38;2;1;2;3", fg(Exact(1, 2, 3))),
            ("38:2::1:2:3", fg(Exact(1, 2, 3))),
            ("48;5;4", CellStyle { bg: Some(Base(4)), ..plain }),
            ("104", CellStyle { bg: Some(Base(12)), ..plain }),
            ("58;2;1;1;1;1", bold),
            ("4:3", CellStyle { underline: true, ..plain }),
            ("4;4:0", plain),
            (
                "1;2;3;7;9",
                CellStyle {
                    bold: true,
                    faint: true,
                    italic: true,
                    reverse: true,
                    strike: true,
                    ..plain
                },
            ),
            ("1;2;22", plain),
            ("31;39;41;49", plain),
            ("31;1;0", plain),
            ("31;", plain),
            ("38;5;256", plain),
            ("38;2;1;2", plain),
            ("38", plain),
            ("777;5;1", bold),
        ] {
            let line = format!("\u{1b}[{sequence}ma");
            assert_eq!(lines([line.as_str()]), [[styled("a", style)]], "{sequence}");
        }
    }

    #[test]
    fn a_style_lasts_over_lines_and_coloured_spaces_stay() {
        let all = lines(["a\u{1b}[41m ", "b  \u{1b}[0m  ", "\u{1b}]8;;x\u{1b}\\c\u{1b}[2K", "  "]);
        let red = CellStyle { bg: Some(CellColor::Base(1)), ..CellStyle::default() };
        let plain = CellStyle::default();
        let expected = [
            vec![styled("a", plain), styled(" ", red)],
            vec![styled("b  ", red)],
            vec![styled("c", plain)],
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_screen_of_too_many_runs_loses_its_colours_and_no_text() {
        let line: String = (0..RUNS_MAX).map(|at| format!("\u{1b}[3{}mx", at % 8)).collect();
        let all = lines([line.as_str(), line.as_str()]);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [RUNS_MAX, 1]);
        assert_eq!(all[1][0], styled(&"x".repeat(RUNS_MAX), CellStyle::default()));
    }

    proptest! {
        /// The picture has the characters that readers see, whatever a program draws.
        #[test]
        fn the_picture_has_the_text_of_the_screen(
            drawn in prop::collection::vec(
                "(\u{1b}|\u{1b}\\[|\u{1b}\\]|[0-9;:m]|[ <&]|.){0,40}", 0..4)
        ) {
            let text = |line: &Vec<StyledRun>| {
                let line: String = line.iter().map(|run| run.text.as_str()).collect();
                line.trim_end_matches(' ').to_owned()
            };
            let drawn = || drawn.iter().map(String::as_str);
            let mut shown: Vec<_> = lines(drawn()).iter().map(text).collect();
            let mut read: Vec<_> = rows(drawn()).iter().map(|row| row.text()).collect();
            for all in [&mut shown, &mut read] {
                while all.last().is_some_and(String::is_empty) {
                    all.pop();
                }
            }
            prop_assert!(shown.iter().flat_map(|line| line.chars()).all(|c| !c.is_control()));
            prop_assert_eq!(shown, read);
        }
    }
}
