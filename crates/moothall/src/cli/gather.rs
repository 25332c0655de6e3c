//! Arguments of the commands for gatherings. The participants keep the order of their flags.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde_json::{Value, json};

use super::{Thread, examples};

/// Commands for gatherings.
#[derive(Clone, Debug, Subcommand)]
pub enum Gather {
    /// Start a gathering: a conversation of its own, in which a talking piece goes round
    ///
    /// The participant with the piece speaks, the others listen. After the last round, the
    /// harvester writes the harvest. Flags override the file, and participants in flags follow
    /// those of the file. A participant without a number gets the number after the previous one.
    #[command(after_help = examples(&[
        (
            "moothall gather start --person Ann --agent Cy=critic --agent Hal=writer --harvester Hal",
            "you and two agents",
        ),
        (
            "moothall gather start --file daily.toml --question \"What is in the way?\"",
            "a plan file, with the keys of POST /gatherings and [[participants]]",
        ),
        (
            "moothall gather start --file daily.toml --breath minimal --beats 2 --wait > harvest.md",
            "wait for the harvest",
        ),
    ]))]
    Start(Box<GatherStart>),
    /// List gatherings, closed ones included, newest first
    #[command(after_help = examples(&[("moothall gather list", "")]))]
    List,
    /// Show the state of a gathering, the holder of the piece, and the harvest
    #[command(after_help = examples(&[("moothall gather show -", "the one used last")]))]
    Show(Thread),
    /// Pass the talking piece on, as its holder
    #[command(after_help = examples(&[
        ("moothall gather pass -", "to the next in order"),
        (
            "moothall gather pass - Ann --from bob",
            "as bob, to Ann, who has not had it in this round",
        ),
    ]))]
    Pass(GatherPass),
    /// End the rounds of a gathering; its harvest is written
    ///
    /// A second `end` while the harvest is being written closes the gathering without one.
    #[command(after_help = examples(&[("moothall gather end -", "")]))]
    End(GatherEnd),
}

#[derive(Clone, Debug, Default, Args)]
pub struct GatherStart {
    /// Plan: a TOML file with the keys of POST /gatherings
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Kind of gathering, such as daily [default: gathering]
    #[arg(long, value_name = "WORD")]
    pub rhythm: Option<String>,
    /// Opening question
    #[arg(long, value_name = "WORDS")]
    pub question: Option<String>,
    /// Rounds of inhale, hold and exhale: minimal, standard, extended, or numbers such as 1,2,1
    /// [default: standard, which is 2,2,2]
    #[arg(long, value_name = "ROUNDS", value_parser = breath)]
    pub breath: Option<Value>,
    /// Number of beats that a speaker may hold the piece [default: 3]
    #[arg(long, value_name = "N")]
    pub beats: Option<u32>,
    /// Seconds between beats [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub beat_seconds: Option<f64>,
    /// Seconds for a last word after the last beat [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub last_word_seconds: Option<f64>,
    /// When agents with their own memory receive the messages of the others: live, or on_turn, with
    /// the piece [default: live]
    #[arg(long, value_name = "WHEN")]
    pub delivery: Option<String>,
    /// Keep the programs started for the gathering; otherwise they end with it
    #[arg(long)]
    pub keep: bool,
    /// Title of its conversation [default: made from the rhythm]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Start it as this person [default: user, or the token's holder]
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
    /// Participants.
    #[command(flatten)]
    pub members: Members,
    /// The participant that writes the harvest; it does not speak in the rounds
    #[arg(long, value_name = "NAME")]
    pub harvester: Option<String>,
    /// Wait until the gathering closes, and print its harvest; exit code 3 without a harvest, 5 if
    /// an agent failed
    #[arg(long, short)]
    pub wait: bool,
}

#[derive(Clone, Debug, Args)]
pub struct GatherPass {
    #[command(flatten)]
    pub thread: Thread,
    /// Recipient: a name, an id or a number [default: the next in order]
    #[arg(value_name = "TO")]
    pub to: Option<String>,
    /// Same as TO
    #[arg(long = "to", value_name = "TO", conflicts_with = "to")]
    pub named: Option<String>,
    /// Pass it on as this holder [default: user, or the token's holder]
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct GatherEnd {
    #[command(flatten)]
    pub thread: Thread,
    /// Person who ends it [default: user, or the token's holder]
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
}

/// Parses rounds: a word is passed on unchecked, otherwise three numbers are expected.
fn breath(text: &str) -> Result<Value, String> {
    if text.chars().all(|c| c.is_ascii_alphabetic()) {
        return Ok(json!(text));
    }
    let rounds: Result<Vec<u32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let rounds = rounds.ok().filter(|rounds| rounds.len() == 3);
    let wrong =
        || "expected minimal, standard, extended, or three numbers such as 1,2,1".to_owned();
    rounds.map(|rounds| json!(rounds)).ok_or_else(wrong)
}

/// Participants, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(pub Vec<Member>);

/// A participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name that the other participants read.
    pub name: String,
    /// Agent, session or person that takes part under this name.
    pub is: SeatOccupant,
}

/// Identity of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatOccupant {
    /// An agent of the registry, by its name there.
    Agent(String),
    /// A live session, by id or name.
    Session(String),
    /// A person, by the id that they speak under, if one was given.
    Person(Option<String>),
}

/// A flag that names a participant.
struct Flag {
    long: &'static str,
    /// Id of the clap argument. It must differ from the ids for which the shell completes names.
    id: &'static str,
    takes: &'static str,
    help: &'static str,
}

const AGENT: Flag = Flag {
    long: "agent",
    id: "agent_member",
    takes: "NAME=CLIENT",
    help: "Add an agent of the server's registry; repeatable",
};
const SESSION: Flag = Flag {
    long: "session",
    id: "session_member",
    takes: "NAME=SESSION",
    help: "Add a running session, by its id or name; repeatable",
};
const PERSON: Flag = Flag {
    long: "person",
    id: "person_member",
    takes: "NAME[=ID]",
    help: "Add a person; the first one without an id is the starter of the gathering; repeatable",
};

/// Splits `NAME=VALUE`; both sides must be present.
fn pair(text: &str) -> Result<(String, String), String> {
    let wrong = || "expected NAME=VALUE, such as Cy=critic".to_owned();
    let (name, is) = text.split_once('=').ok_or_else(wrong)?;
    let (name, is) = (name.trim(), is.trim());
    let whole = !name.is_empty() && !is.is_empty();
    whole.then(|| (name.to_owned(), is.to_owned())).ok_or_else(wrong)
}

/// Parses `NAME` or `NAME=VALUE`.
fn perhaps_pair(text: &str) -> Result<(String, Option<String>), String> {
    match text.contains('=') {
        true => pair(text).map(|(name, id)| (name, Some(id))),
        false if text.trim().is_empty() => Err("expected a name".into()),
        false => Ok((text.trim().to_owned(), None)),
    }
}

fn flag(flag: Flag) -> Arg {
    Arg::new(flag.id)
        .long(flag.long)
        .value_name(flag.takes)
        .help(flag.help)
        .action(ArgAction::Append)
}

impl Args for Members {
    fn augment_args(command: Command) -> Command {
        command
            .arg(flag(AGENT).value_parser(pair))
            .arg(flag(SESSION).value_parser(pair))
            .arg(flag(PERSON).value_parser(perhaps_pair))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Returns the values of a flag, each with its position on the command line.
fn given<'a, T: Clone + Send + Sync + 'static>(
    matches: &'a ArgMatches,
    flag: &Flag,
) -> impl Iterator<Item = (usize, &'a T)> {
    let places = matches.indices_of(flag.id).into_iter().flatten();
    places.zip(matches.get_many::<T>(flag.id).into_iter().flatten())
}

impl FromArgMatches for Members {
    /// Returns the members of all three flags, sorted by their position on the command line.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        type Pair = (String, String);
        let member = |name: &String, is: SeatOccupant| Member { name: name.clone(), is };
        let agents = given::<Pair>(matches, &AGENT)
            .map(|(at, (name, client))| (at, member(name, SeatOccupant::Agent(client.clone()))));
        let sessions = given::<Pair>(matches, &SESSION).map(|(at, (name, session))| {
            (at, member(name, SeatOccupant::Session(session.clone())))
        });
        let people = given::<(String, Option<String>)>(matches, &PERSON)
            .map(|(at, (name, id))| (at, member(name, SeatOccupant::Person(id.clone()))));
        let mut all: Vec<_> = agents.chain(sessions).chain(people).collect();
        all.sort_by_key(|(at, _)| *at);
        Ok(Self(all.into_iter().map(|(_, member)| member).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::Parser;
    use serde_json::json;

    use super::{Gather, GatherStart, Member, SeatOccupant};
    use crate::cli::{Cli, Command};

    fn start(words: &str) -> Result<GatherStart, clap::Error> {
        let words = ["moothall", "gather", "start"].into_iter().chain(words.split_whitespace());
        match Cli::try_parse_from(words)?.command {
            Some(Command::Gather(Gather::Start(args))) => Ok(*args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn members_stand_in_the_order_of_their_flags() {
        let args = start(
            "--person Ann --agent Cy=critic --session Pia=planner --person=Bob=bob --agent Hal=w --harvester Hal",
        )
        .unwrap();
        let member = |name: &str, is: SeatOccupant| Member { name: name.into(), is };
        assert_eq!(
            args.members.0,
            [
                member("Ann", SeatOccupant::Person(None)),
                member("Cy", SeatOccupant::Agent("critic".into())),
                member("Pia", SeatOccupant::Session("planner".into())),
                member("Bob", SeatOccupant::Person(Some("bob".into()))),
                member("Hal", SeatOccupant::Agent("w".into())),
            ]
        );
        assert_eq!(args.harvester.as_deref(), Some("Hal"));
        assert!(start("").unwrap().members.0.is_empty());
        for wrong in ["--agent Cy", "--agent =x", "--session Pia=", "--person", "--person Ann="] {
            assert!(start(wrong).is_err(), "{wrong}");
        }
        assert!(start("--harvester Ann --harvester Bob").is_err(), "one harvests");
    }

    #[test]
    fn a_breath_is_a_word_or_three_numbers() {
        assert_eq!(start("--breath extended").unwrap().breath, Some(json!("extended")));
        assert_eq!(start("--breath 1,2,1").unwrap().breath, Some(json!([1, 2, 1])));
        for wrong in ["--breath 1,2", "--breath 1,x,1", "--breath 1,-2,1"] {
            assert!(start(wrong).is_err(), "{wrong}");
        }
    }
}
