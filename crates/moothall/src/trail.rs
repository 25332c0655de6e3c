//! The trail of a rhythm: one Markdown file to which the harvest of each of its gatherings is
//! appended, once.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use moothall_engine::hall::HallError;
use moothall_engine::outbox::{CrashRule, DeliveryHandler, DeliveryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_engine::residents::{ResidentHall, WeakHall};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::gathering::{Gathering, GatheringEvent, Member};
use moothall_kernel::ids::{EventId, Seq};
use moothall_kernel::participant::SeatRole;
use moothall_kernel::text::{cut, hang};

/// Appends harvests to their trails, if the operator configured a folder.
pub struct Trails {
    /// Hall from which harvests are read.
    pub hall: WeakHall,
    /// Folder of the trails; `None` disables them.
    pub folder: Option<PathBuf>,
}

#[async_trait]
impl DeliveryHandler for Trails {
    /// Says that a delivery may be repeated after a crash: a harvest that is in the file already is
    /// not appended again.
    fn crash_rule(&self) -> CrashRule {
        CrashRule::Repeats
    }

    /// Appends a harvest to its trail. Returns `Done` if the harvest is in the file, and also if it
    /// never can be: trails are not configured, or the harvest does not exist any more. Returns
    /// `Later` if the append is to be tried again.
    async fn carry(&self, delivery: &Delivery, _: &DeliveryNotes<'_>) -> Outcome {
        let Some(folder) = self.folder.clone() else {
            return Outcome::Done("trails are not configured".into());
        };
        let Some(hall) = self.hall.enter() else {
            return Outcome::later("the server is stopping");
        };
        let (rhythm, entry) = match entry(&hall, delivery).await {
            Ok(Some(entry)) => entry,
            Ok(None) => return Outcome::Done("the harvest does not exist any more".into()),
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => {
                return Outcome::Done("the gathering is deleted".into());
            }
            Err(error) => return Outcome::later(error.to_string()),
        };
        let path = folder.join(file_name(&rhythm));
        let mark = mark(delivery);
        let written =
            tokio::task::spawn_blocking(move || append_once(&path, &mark, &entry).map(|()| path));
        match written.await {
            Ok(Ok(path)) => Outcome::Done(format!("written to {}", path.display())),
            Ok(Err(error)) => Outcome::later(format!("cannot write to the trail: {error}")),
            Err(error) => Outcome::later(error.to_string()),
        }
    }
}

/// Returns the rhythm and the text for its trail; `None` if the harvest or its text does not exist
/// any more.
async fn entry(
    hall: &ResidentHall,
    delivery: &Delivery,
) -> Result<Option<(String, String)>, HallError> {
    let Some(harvested) = event(hall, delivery, delivery.through_seq).await? else {
        return Ok(None);
    };
    let Event::Gathering(GatheringEvent::Harvested { message, rhythm, .. }) = &harvested.event
    else {
        return Ok(None);
    };
    let Some(text) = text(hall, delivery, *message).await? else { return Ok(None) };
    let state = hall.view(&delivery.stream, |state| {
        state.newest_gathering().cloned().map(|gathering| (state.name().to_owned(), gathering))
    });
    let Some((title, gathering)) = state.await? else { return Ok(None) };
    let entry = section(&mark(delivery), &harvested, &title, &gathering, &text);
    Ok(Some((rhythm.clone(), entry)))
}

/// Returns the text of the message at this event. `None` if it does not exist any more or is empty.
async fn text(
    hall: &ResidentHall,
    delivery: &Delivery,
    at: EventId,
) -> Result<Option<String>, HallError> {
    let said = event(hall, delivery, at.seq()).await?;
    let text = said.and_then(|said| said.event.body().map(str::to_owned));
    Ok(text.filter(|text| !text.is_empty()))
}

/// Returns the event at this position; `None` if it does not exist any more.
async fn event(
    hall: &ResidentHall,
    delivery: &Delivery,
    at: Seq,
) -> Result<Option<RecordedEvent>, HallError> {
    let before = Seq(at.0.saturating_sub(1));
    let page = hall.read(&delivery.stream, before, Some(1)).await?;
    Ok(page.events.into_iter().find(|recorded| recorded.seq == at))
}

/// Beginning of the line that marks the end of a harvest.
const MARK: &str = "<!-- gathering ";
/// Longest file name without its ending, in bytes. File systems allow 255 at most.
const FILE_BYTES_MAX: usize = 200;

/// Returns the line that marks a harvest in its trail. The line is the last one of the harvest, so
/// that a partly written harvest does not count as written.
fn mark(delivery: &Delivery) -> String {
    format!("{MARK}{} {} -->", delivery.stream, delivery.through_seq)
}

/// Indents the lines of a text that look like marks, so that a text cannot pass for the mark of
/// another harvest and prevent its append.
fn without_marks(text: &str) -> String {
    let line = |line: &str| {
        let stands_in = if line.starts_with(MARK) { "  " } else { "" };
        format!("{stands_in}{line}")
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a harvest as a section of Markdown that ends with its mark.
fn section(
    mark: &str,
    harvested: &RecordedEvent,
    title: &str,
    gathering: &Gathering,
    text: &str,
) -> String {
    let day: String = harvested.ts.to_string().chars().take(10).collect();
    let named = |part: SeatRole| {
        let members = gathering.members.iter().filter(move |member| member.part == part);
        let names = members.map(|Member { name, number, .. }| format!("{name} ({number})"));
        names.collect::<Vec<_>>().join(", ")
    };
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = format!("\n# {day} {title}\n\n");
    let _ = writeln!(
        out,
        "Speakers: {}. Harvester: {}.",
        named(SeatRole::Speaker),
        named(SeatRole::Harvester)
    );
    if !gathering.plan.opening_question.is_empty() {
        let _ = writeln!(out, "Opening question: {}", hang(&gathering.plan.opening_question));
    }
    let _ = writeln!(out, "\n{}\n\n{mark}", without_marks(text.trim()));
    out
}

/// Returns the file name of a rhythm's trail. Characters other than letters, digits, spaces, `-`
/// and `_` become `-`.
fn file_name(rhythm: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_ ".contains(c) { c } else { '-' };
    let name: String = rhythm.trim().chars().map(safe).collect();
    format!("{}.md", cut(&name, FILE_BYTES_MAX))
}

/// Appends an entry to a file, unless a line of the file is equal to the mark. Creates the file and
/// its folder if necessary. After a failed write, cuts the file to its earlier length.
fn append_once(path: &Path, mark: &str, entry: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Compare bytes: people may have edited the file in any encoding.
    match fs::read(path) {
        Ok(there) if there.split(|byte| *byte == b'\n').any(|line| line == mark.as_bytes()) => {
            return Ok(());
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let before = file.metadata()?.len();
    let written = file.write_all(entry.as_bytes()).and_then(|()| file.sync_data());
    if written.is_err() {
        // Remove the partial entry, because the append is retried.
        file.set_len(before)?;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harvest_stands_in_its_trail_once_and_beside_earlier_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trails").join(file_name("daily"));
        for (mark, entry) in [("<1>", "one\n<1>\n"), ("<1>", "one\n<1>\n"), ("<2>", "two\n<2>\n")] {
            append_once(&path, mark, entry).unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap(), "one\n<1>\ntwo\n<2>\n");
    }

    #[test]
    fn a_harvest_that_stands_there_in_part_or_in_passing_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daily.md");
        for there in
            [&b"# torn in the mid"[..], b"see <1>\n", b" <1>\n", b"<1> and\n", b"\xff\xfe\n"]
        {
            fs::write(&path, there).unwrap();
            append_once(&path, "<1>", "\none\n<1>\n").unwrap();
            assert_eq!(fs::read(&path).unwrap(), [there, b"\none\n<1>\n"].concat());
        }
    }

    #[test]
    fn no_harvest_passes_for_the_mark_of_another() {
        let mark = format!("{MARK}a 7 -->");
        for text in [mark.clone(), format!("x\n{mark}\ny"), format!("x\r\n{mark}\n{mark}")] {
            let written = without_marks(&text);
            assert!(!written.split('\n').any(|line| line == mark), "{written}");
            assert_eq!(written.replace(&format!("  {mark}"), &mark), text);
        }
        assert_eq!(without_marks("# What\n<!-- a note -->\n"), "# What\n<!-- a note -->\n");
    }

    #[test]
    fn no_rhythm_leads_out_of_the_folder() {
        for (rhythm, file) in [
            ("daily", "daily.md"),
            ("../x", "---x.md"),
            (".hidden", "-hidden.md"),
            ("wöchentlich 2", "wöchentlich 2.md"),
            ("a\\b:c", "a-b-c.md"),
        ] {
            assert_eq!(file_name(rhythm), file);
        }
        assert_eq!(file_name(&"𠀀".repeat(64)), format!("{}.md", "𠀀".repeat(50)));
    }
}
