//! The plan of a gathering, from a file and from flags that override the file.

use std::path::Path;

use moothall_surfaces::wire::{NewGathering, NewGatheringMember};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::{GatherMember, GatherStart, MemberIs};
use crate::config::{Document, Entries, Node, Variables};
use crate::fault::{Exit, Fault};

/// Role of the member that writes the harvest.
const HARVESTER: &str = "harvester";
/// Values for required keys that a file leaves out.
const LEFT_OUT: &str = "participants = []\nnumber = 0";

/// Builds the request for a gathering.
///
/// # Errors
/// The file cannot be read or is invalid, the participants are missing, or `--harvester` names none
/// of them.
pub fn plan(args: &GatherStart) -> Result<NewGathering, Fault> {
    let mut new = match &args.file {
        Some(file) => read(file)?,
        None => NewGathering::default(),
    };
    override_with(&mut new.from, &args.from);
    override_with(&mut new.title, &args.title);
    override_with(&mut new.rhythm, &args.rhythm);
    override_with(&mut new.opening_question, &args.question);
    override_with(&mut new.breath, &args.breath);
    override_with(&mut new.beats_per_turn, &args.beats);
    override_with(&mut new.beat_interval_seconds, &args.beat_seconds);
    override_with(&mut new.last_word_seconds, &args.last_word_seconds);
    override_with(&mut new.delivery, &args.delivery);
    override_with(&mut new.keep, &args.keep.then_some(true));
    for given in &args.members.0 {
        let number = next_number(&new.participants);
        new.participants.push(NewGatheringMember { number, ..member(given) });
    }
    if new.participants.is_empty() {
        return Err(Fault::new(Exit::Usage, "the gathering has no participants").try_this(
            "moothall gather start --person Ann --agent Cy=critic --agent Hal=writer --harvester Hal",
        ));
    }
    if let Some(name) = &args.harvester {
        choose_harvester(&mut new.participants, name)?;
    }
    Ok(new)
}

/// Replaces a value of the file by the flag, if the flag is set.
fn override_with<T: Clone>(key: &mut Option<T>, flag: &Option<T>) {
    if flag.is_some() {
        key.clone_from(flag);
    }
}

/// Returns the number of a member without one: the last number plus one.
fn next_number(before: &[NewGatheringMember]) -> u32 {
    before.last().map_or(0, |member| member.number).saturating_add(1)
}

/// Converts a member given by a flag. The caller sets its number.
fn member(given: &GatherMember) -> NewGatheringMember {
    let named = NewGatheringMember { name: given.name.clone(), ..NewGatheringMember::default() };
    match &given.is {
        MemberIs::Agent(client) => {
            NewGatheringMember { kind: "agent".into(), client: Some(client.clone()), ..named }
        }
        MemberIs::Session(session) => NewGatheringMember {
            kind: "session".into(),
            session_id: Some(session.clone()),
            ..named
        },
        MemberIs::Person(id) => {
            NewGatheringMember { kind: "human".into(), participant_id: id.clone(), ..named }
        }
    }
}

/// Makes the named member the only harvester. An error if no member has the name.
fn choose_harvester(members: &mut [NewGatheringMember], name: &str) -> Result<(), Fault> {
    if !members.iter().any(|member| member.name == name) {
        let names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
        let what = format!("--harvester: {name:?} is not a participant");
        return Err(
            Fault::new(Exit::Usage, what).try_this(format!("name one of {}", names.join(", ")))
        );
    }
    for member in members {
        if member.name == name {
            member.role = Some(HARVESTER.into());
        } else if member.role.as_deref() == Some(HARVESTER) {
            member.role = None;
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<NewGathering, Fault> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Fault::new(Exit::Config, format!("cannot read {}", file.display())).because(error)
    })?;
    understood(file, text)
}

/// Reads the plan in a file, and numbers the members without a number.
fn understood(file: &Path, text: String) -> Result<NewGathering, Fault> {
    let document = Document::of(vec![(file.to_owned(), text)], &Variables::new());
    let mut entries = document.entries()?;
    let left_out = DeTable::parse(LEFT_OUT)
        .map_err(|error| document.fault(None, error.message()))?
        .into_inner();
    let unnumbered = fill(&mut entries, &left_out);
    let mut new: NewGathering = document.read_whole(entries)?;
    for at in unnumbered {
        let number = next_number(&new.participants[..at]);
        new.participants[at].number = number;
    }
    Ok(new)
}

/// Inserts the required keys that the file leaves out, with the values of [`LEFT_OUT`]. Returns the
/// indexes of the members that had no number.
fn fill<'a>(entries: &mut Entries<'a>, left_out: &DeTable<'a>) -> Vec<usize> {
    let standing = |key: &str| left_out.iter().find(|(known, _)| known.get_ref() == key);
    let mut unnumbered = Vec::new();
    match entries.iter_mut().find(|(key, _)| key.get_ref() == "participants") {
        Some((_, members)) => {
            let tables = tables(members);
            for (at, table) in tables {
                let has_number = table.iter().any(|(key, _)| key.get_ref() == "number");
                if let Some((key, none)) = standing("number").filter(|_| !has_number) {
                    table.insert(key.clone(), none.clone());
                    unnumbered.push(at);
                }
            }
        }
        None => {
            let none = standing("participants").map(|(key, none)| {
                let key = Spanned::new(key.span(), key.get_ref().clone().into_owned());
                (key, none.clone())
            });
            entries.extend(none);
        }
    }
    unnumbered
}

/// Returns the tables of a list, with their indexes.
fn tables<'a, 'b>(node: &'b mut Node<'a>) -> Vec<(usize, &'b mut DeTable<'a>)> {
    let DeValue::Array(list) = node.get_mut() else { return Vec::new() };
    let items = list.iter_mut().enumerate();
    items
        .filter_map(|(at, item)| {
            let DeValue::Table(table) = item.get_mut() else { return None };
            Some((at, table))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::cli::Members;

    const PLAN: &str = r#"
rhythm = "daily"
opening_question = "What now?"
breath = [1, 2, 1]
beat_interval_seconds = 30

[[participants]]
name = "Ann"
kind = "human"

[[participants]]
name = "Cy"
number = 5
kind = "agent"
client = "critic"
args = ["--fast"]

[[participants]]
name = "Hal"
kind = "agent"
client = "writer"
role = "harvester"
"#;

    fn file(text: &str) -> Result<NewGathering, Fault> {
        understood(Path::new("plan.toml"), text.to_owned())
    }

    /// Returns the plan of a file, overridden by flags.
    fn both(text: &str, args: GatherStart) -> Result<NewGathering, Fault> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.toml");
        std::fs::write(&path, text).unwrap();
        plan(&GatherStart { file: Some(path), ..args })
    }

    fn numbers(new: &NewGathering) -> Vec<(&str, u32, Option<&str>)> {
        let members = new.participants.iter();
        members
            .map(|member| (member.name.as_str(), member.number, member.role.as_deref()))
            .collect()
    }

    #[test]
    fn a_file_holds_what_the_request_does_and_may_leave_numbers_out() {
        let new = file(PLAN).unwrap();
        assert_eq!(numbers(&new), [("Ann", 1, None), ("Cy", 5, None), ("Hal", 6, Some(HARVESTER))]);
        assert_eq!(new.breath, Some(json!([1, 2, 1])));
        assert_eq!(new.beat_interval_seconds, Some(30.0));
        assert_eq!(new.participants[1].args, ["--fast"]);
        assert_eq!(file("").unwrap().participants, []);
        let zero = "[[participants]]\nname = \"Ann\"\nkind = \"human\"\nnumber = 0\n";
        assert_eq!(file(zero).unwrap().participants[0].number, 0, "for the server to refuse");
    }

    #[test]
    fn flags_go_over_the_file_and_their_members_after_it() {
        let person = GatherMember { name: "Bob".into(), is: MemberIs::Person(None) };
        let args = GatherStart {
            rhythm: Some("weekly".into()),
            breath: Some(json!("minimal")),
            members: Members(vec![person]),
            harvester: Some("Bob".into()),
            ..GatherStart::default()
        };
        let new = both(PLAN, args).unwrap();
        assert_eq!((new.rhythm.as_deref(), new.breath), (Some("weekly"), Some(json!("minimal"))));
        assert_eq!(new.opening_question.as_deref(), Some("What now?"));
        let new = NewGathering { participants: new.participants, ..NewGathering::default() };
        assert_eq!(
            numbers(&new),
            [("Ann", 1, None), ("Cy", 5, None), ("Hal", 6, None), ("Bob", 7, Some(HARVESTER))]
        );
    }

    #[test]
    fn what_is_wrong_names_its_place() {
        let rows = [
            ("rythm = \"daily\"", "plan.toml:1:1: unknown key `rythm`", Some("`rhythm`")),
            (
                "\n[[participants]]\nname = \"Ann\"\nkind = \"human\"\nnumbr = 1\n",
                "plan.toml:5:1: unknown key `numbr`",
                Some("`number`"),
            ),
            ("rhythm = ", "plan.toml:1:", None),
            ("rhythm = 1", "plan.toml:1:10: invalid type: integer", None),
            ("[[participants]]\nkind = \"human\"", "missing field `name`", None),
            ("participants = 3", "plan.toml:1:16: invalid type: integer", None),
        ];
        for (text, what, near) in rows {
            let fault = file(text).unwrap_err();
            assert!(fault.exit == Exit::Config && fault.what.contains(what), "{text}: {fault}");
            let forward = fault.forward.unwrap_or_default();
            assert!(near.is_none_or(|near| forward.contains(near)), "{text}: {forward}");
        }
    }

    #[test]
    fn flags_that_do_not_fit_say_so() {
        let nobody = plan(&GatherStart::default()).unwrap_err();
        assert!(nobody.exit == Exit::Usage && nobody.what.contains("no participants"), "{nobody}");
        let args = GatherStart { harvester: Some("Zoe".into()), ..GatherStart::default() };
        let unknown = both(PLAN, args).unwrap_err();
        assert!(unknown.what.contains("\"Zoe\""), "{unknown}");
        assert_eq!(unknown.forward.as_deref(), Some("name one of Ann, Cy, Hal"));
        let missing = GatherStart { file: Some("/nowhere.toml".into()), ..GatherStart::default() };
        assert_eq!(plan(&missing).unwrap_err().exit, Exit::Config);
    }
}
