//! What can be typed about gatherings, and who takes part in one, in the order of the flags.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde_json::{Value, json};

use super::{Thread, examples};

/// What is done with a gathering.
#[derive(Clone, Debug, Subcommand)]
pub enum Gather {
    /// Begin a gathering: a conversation of its own, in which a talking piece goes round
    ///
    /// Whoever has the piece speaks, the others listen; when it has gone round often enough, the
    /// harvester writes what came of it. Flags go over what the file says, and those they name
    /// follow those of the file. Who has no number gets the one after the one before.
    #[command(after_help = examples(&[
        ("moothall gather start --person Ann --agent Cy=critic --agent Hal=writer --harvester Hal", "you, and two agents"),
        ("moothall gather start --file daily.toml --question \"What is in the way?\"", "a plan that is kept, with the keys of POST /gatherings and [[participants]]"),
        ("moothall gather start --file daily.toml --breath minimal --beats 2 --wait > harvest.md", "wait for the harvest"),
    ]))]
    Start(Box<GatherStart>),
    /// List gatherings, those that are closed too, the newest first
    #[command(after_help = examples(&[("moothall gather list", "")]))]
    List,
    /// Show where a gathering is, who has the piece, and what came of it
    #[command(after_help = examples(&[("moothall gather show -", "the one used last")]))]
    Show(Thread),
    /// Hand the talking piece on, as the one who has it
    #[command(after_help = examples(&[
        ("moothall gather pass -", "to the next in order"),
        ("moothall gather pass - Ann --from bob", "to Ann, who has not had it in this round; as bob"),
    ]))]
    Pass(GatherPass),
    /// End a gathering: nothing more is spoken, and its harvest is written
    ///
    /// Ended again while that is written, it closes without one.
    #[command(after_help = examples(&[("moothall gather end -", "")]))]
    End(GatherEnd),
}

#[derive(Clone, Debug, Default, Args)]
pub struct GatherStart {
    /// A plan: a TOML file with the keys of POST /gatherings
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What kind of gathering it is, such as daily [default: gathering]
    #[arg(long, value_name = "WORD")]
    pub rhythm: Option<String>,
    /// The question it begins with
    #[arg(long, value_name = "WORDS")]
    pub question: Option<String>,
    /// Rounds of inhale, hold and exhale: minimal, standard, extended, or numbers such as 1,2,1
    /// [default: standard, which is 2,2,2]
    #[arg(long, value_name = "ROUNDS", value_parser = breath)]
    pub breath: Option<Value>,
    /// For how many beats a speaker may have the piece [default: 3]
    #[arg(long, value_name = "N")]
    pub beats: Option<u32>,
    /// Seconds from beat to beat [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub beat_seconds: Option<f64>,
    /// Seconds for a last word after the last beat [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub last_word_seconds: Option<f64>,
    /// When agents with a memory of their own hear the others: live, or on_turn, with the piece
    /// [default: live]
    #[arg(long, value_name = "WHEN")]
    pub delivery: Option<String>,
    /// Keep the programs that are started for it; without this, they end with it
    #[arg(long)]
    pub keep: bool,
    /// The title of its conversation [default: made of the rhythm]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Who begins it [default: user, or whose token it is]
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
    /// Who takes part.
    #[command(flatten)]
    pub members: Members,
    /// Which of them writes the harvest, and says nothing before
    #[arg(long, value_name = "NAME")]
    pub harvester: Option<String>,
    /// Wait until it is closed, and print its harvest; exit code 3 where there is none, or 5 where
    /// an agent failed
    #[arg(long, short)]
    pub wait: bool,
}

#[derive(Clone, Debug, Args)]
pub struct GatherPass {
    #[command(flatten)]
    pub thread: Thread,
    /// To whom: a name, an id or a number [default: the next in order]
    #[arg(value_name = "TO")]
    pub to: Option<String>,
    /// The same as TO
    #[arg(long = "to", value_name = "TO", conflicts_with = "to")]
    pub named: Option<String>,
    /// Who has it, and hands it on [default: user, or whose token it is]
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct GatherEnd {
    #[command(flatten)]
    pub thread: Thread,
    /// Who ends it: a person [default: user, or whose token it is]
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
}

/// Named rounds as they are, or three numbers.
fn breath(text: &str) -> Result<Value, String> {
    if text.chars().all(|c| c.is_ascii_alphabetic()) {
        return Ok(json!(text));
    }
    let rounds: Result<Vec<u32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let rounds = rounds.ok().filter(|rounds| rounds.len() == 3);
    let wrong = || "takes minimal, standard, extended, or three numbers such as 1,2,1".to_owned();
    rounds.map(|rounds| json!(rounds)).ok_or_else(wrong)
}

/// Who takes part, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(pub Vec<Member>);

/// Somebody who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name that the others read.
    pub name: String,
    /// Who it is.
    pub is: SeatOccupant,
}

/// Who somebody is who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatOccupant {
    /// An agent of the registry, by its name there.
    Agent(String),
    /// A session that lives, by its id or name.
    Session(String),
    /// A person, by the id that they speak under, where one was given.
    Person(Option<String>),
}

/// A flag that names somebody.
struct Flag {
    long: &'static str,
    /// Its name among the arguments: another than those of which the shell completes names.
    id: &'static str,
    takes: &'static str,
    help: &'static str,
}

const AGENT: Flag = Flag {
    long: "agent",
    id: "agent_member",
    takes: "NAME=CLIENT",
    help: "An agent of the server's registry takes part; may be given again",
};
const SESSION: Flag = Flag {
    long: "session",
    id: "session_member",
    takes: "NAME=SESSION",
    help: "A session that lives takes part, by its id or name; may be given again",
};
const PERSON: Flag = Flag {
    long: "person",
    id: "person_member",
    takes: "NAME[=ID]",
    help: "A person takes part; the first without an id is whoever begins it; may be given again",
};

/// What stands on both sides of `=`.
fn pair(text: &str) -> Result<(String, String), String> {
    let wrong = || "takes a name and what it stands for, such as Cy=critic".to_owned();
    let (name, is) = text.split_once('=').ok_or_else(wrong)?;
    let (name, is) = (name.trim(), is.trim());
    let whole = !name.is_empty() && !is.is_empty();
    whole.then(|| (name.to_owned(), is.to_owned())).ok_or_else(wrong)
}

/// A name, and what stands behind `=` where there is one.
fn perhaps_pair(text: &str) -> Result<(String, Option<String>), String> {
    match text.contains('=') {
        true => pair(text).map(|(name, id)| (name, Some(id))),
        false if text.trim().is_empty() => Err("takes a name".into()),
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

/// The values of a flag, each with its place on the command line.
fn given<'a, T: Clone + Send + Sync + 'static>(
    matches: &'a ArgMatches,
    flag: &Flag,
) -> impl Iterator<Item = (usize, &'a T)> {
    let places = matches.indices_of(flag.id).into_iter().flatten();
    places.zip(matches.get_many::<T>(flag.id).into_iter().flatten())
}

impl FromArgMatches for Members {
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
