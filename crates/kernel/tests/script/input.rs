//! What a script line can ask for.
//!
//! ```text
//! open hybrid cooldown_seconds=0          create the conversation (policy and settings)
//! invite writer runtime=remote roles=a,b nickname=Ann_Lee client=x number=1 part=speaker
//!        principal=agent (what the server knows it as)
//! user: words            codex -> writer: words
//!                        (agents answer their running turn, otherwise they post)
//! user asks a b: words   the same, and just these answer, one after the other
//! user ^7: words         the same as a reply to the message at 7; `preview ^7 words` too
//! user?: words           words of somebody who says that they are the user, and proves nothing;
//!                        `by user?: …` too
//! post codex: words      words of an agent that nobody asked for
//! user at codex: words   words that a person typed in codex's own terminal
//! bind link:a,b          hold a key
//! reads a b             (they are here and take no turns)
//! gone a b              (they left, and nobody waits any more)
//! shown codex WORDS       (what people were shown of its answer by now)
//! codex fails CODE       codex late 1/2: words        (turn 1, attempt 2)       codex lost
//! wait 2s                clock +10s (a jump while nothing looked)               restart 60s
//! mute a b · unmute a · pause · unpause · resume · discussion on · auto on · prod a · uninvite a
//! config k=v · policy NAME (with defaults) · rules NAME (keeping the settings)
//! archive · unarchive · stop · cancel codex · pass codex [writer] [^7] · offline a b · online
//! publish · harvest-close
//! gather rhythm=r breath=1,1,1 beats=3 interval=60 last=20 hearing=on_turn
//! ask codex rm -rf · allow user yes           (permissions) · ask-in-no-turn codex trust?
//! ask-start codex claude --model x · start-done claude-2 · start-fails why
//! writer sums 12: words  a summary of what took effect up to 12
//!                        (`12@9`: made of what stood in the log at 9)
//! budget hall turns=3 unattended=2 money=500
//!                        limits of hall, conversation, agent or principal (money in millionths)
//! raise turns=2 micros=100 for=3600            raises the conversation's budget
//! codex spends 400: words                      an answer with its cost
//! erase 12               erases the words at 12
//! prompt codex           shows what codex is told (`whole`: with a transcript; `memory`: what a
//!                        model's history is rebuilt from)
//! preview words          who would answer
//! by codex: …            any control in somebody else's name
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_kernel::budget::Limit;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Invite, Post, Shown,
};
use moothall_kernel::compose::{Material, Prompt, Story, TRANSCRIPT_BYTES, compose};
use moothall_kernel::event::{Cause, Event, Fault, To, Usage};
use moothall_kernel::gathering::{GatheringPlan, Hearing};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::participant::{AgentFacts, Kind, Part, Profile, Runtime};
use moothall_kernel::permission::{OptionKind, PermissionOption, Question, Withdrawn};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::preview::Draft;
use moothall_kernel::start::{StartOutcome, StartRequest};
use moothall_kernel::time::Millis;
use moothall_kernel::view::Viewer;
use serde_json::Value;

use super::Player;

type Out<'a> = &'a mut Vec<String>;

pub fn perform(player: &mut Player, line: &str, out: Out<'_>) -> Result<(), String> {
    if let Some((speaker, words)) = speech(line) {
        return say(player, speaker, words, out);
    }
    let (by, line) = match line.strip_prefix("by ").and_then(|rest| rest.split_once(": ")) {
        Some((by, rest)) => (speaking(by), rest),
        None => (Actor::named("user"), line),
    };
    let mut words = line.split_whitespace();
    let verb = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    if let Some(control) = control(verb, &rest)? {
        player.submit(ClientCommand::Control { by, controls: vec![control] }, out);
        return Ok(());
    }
    match verb {
        "open" => open(player, &rest, out),
        "wait" => {
            player.wait(seconds(rest.first())?, out);
            Ok(())
        }
        "clock" => {
            player.now = player.now + seconds(rest.first())?;
            Ok(())
        }
        "restart" => {
            let downtime = seconds(rest.first())?;
            player.now = player.now + downtime;
            player.submit(EngineCommand::ShiftClock { downtime }, out);
            Ok(())
        }
        "offline" => {
            player.facts.offline = rest.iter().map(ParticipantId::new).collect();
            Ok(())
        }
        "reads" => {
            player.facts.readers = rest.iter().map(ParticipantId::new).collect();
            Ok(())
        }
        "gone" => {
            let gone: BTreeSet<_> = rest.iter().map(ParticipantId::new).collect();
            player.facts.offline.extend(gone.iter().cloned());
            player.facts.gone = gone;
            player.submit(EngineCommand::Tick, out);
            Ok(())
        }
        "shown" => {
            let who = rest.first().ok_or("of whom?")?;
            let (turn, attempt) = turn_of(player, who)?;
            let usage = Usage { input_tokens: 7, ..Usage::default() };
            player.facts.shown.insert(turn, Shown { attempt, text: rest[1..].join(" "), usage });
            Ok(())
        }
        "budget" => budget(player, &rest),
        "online" => {
            player.facts.offline.clear();
            player.facts.gone.clear();
            player.submit(EngineCommand::Tick, out);
            Ok(())
        }
        "prompt" => prompt(player, &rest, out),
        "preview" => preview(player, &line["preview".len()..], out),
        _ => {
            let command = command(player, by, verb, &rest)?;
            player.submit(command, out);
            Ok(())
        }
    }
}

fn speech(line: &str) -> Option<(&str, &str)> {
    let (head, words) = line.split_once(": ")?;
    let plain = !head.starts_with("by ")
        && !head.contains('=')
        && (head.split(' ').count() <= 4 || head.contains(" asks "));
    plain.then_some((head, words))
}

fn say(player: &mut Player, head: &str, words: &str, out: Out<'_>) -> Result<(), String> {
    let body = words.replace("\\n", "\n");
    let parts: Vec<&str> = head.split(' ').collect();
    if let Some((speaker, asked)) = head.split_once(" asks ") {
        let asks = asked.split(' ').map(ParticipantId::new).collect();
        player
            .submit(ClientCommand::Post(Post { asks, ..Post::new(speaking(speaker), body) }), out);
        return Ok(());
    }
    let (reply_to, parts) = match parts.split_last() {
        Some((last, rest)) if last.starts_with('^') => {
            (Some(said_at(player, last)?), rest.to_vec())
        }
        _ => (None, parts),
    };
    let (speaker, to, asked) = match parts.as_slice() {
        [speaker] => (*speaker, To::All, true),
        [speaker, "->", to] => (*speaker, To::One(ParticipantId::new(to)), true),
        ["post", speaker] => (*speaker, To::All, false),
        ["user", "at", terminal] => {
            let typed_at = Some(ParticipantId::new(terminal));
            player.submit(
                ClientCommand::Post(Post { typed_at, ..Post::new(Actor::unproven("user"), body) }),
                out,
            );
            return Ok(());
        }
        [speaker, "sums", place] => return sum_up(player, speaker, place, body, out),
        [speaker, "spends", micros] => return spend(player, speaker, micros, body, out),
        [speaker, "late", attempt] => return late(player, speaker, attempt, body, out),
        _ => return Err(format!("cannot read {head:?}")),
    };
    let running = player
        .state
        .open_turns()
        .find(|turn| turn.participant.as_str() == speaker && turn.running.is_some());
    let command: Command = match running.filter(|_| asked && to == To::All && reply_to.is_none()) {
        Some(turn) => EngineCommand::Finished {
            turn: turn.no,
            attempt: turn.attempt,
            result: Ok(body),
            usage: Usage::default(),
        }
        .into(),
        None => {
            ClientCommand::Post(Post { to, reply_to, ..Post::new(speaking(speaker), body) }).into()
        }
    };
    player.submit(command, out);
    Ok(())
}

/// What stands at `^7`, as the host looks it up.
fn said_at(player: &Player, place: &str) -> Result<Cause, String> {
    let seq = Seq(place.trim_start_matches('^').parse().map_err(|_| "bad place")?);
    let recorded =
        player.log.iter().find(|recorded| recorded.seq == seq).ok_or("nothing stands there")?;
    let Event::Posted(posted) = &recorded.event else {
        return Err(format!("{place} is no message"));
    };
    let id = recorded.id(player.state.stream());
    Ok(Cause {
        seq,
        id,
        from: posted.from.clone(),
        depth: posted.depth,
        unproven: recorded.event.lacks_person(),
    })
}

/// `ann?` is somebody who says that they are ann.
fn speaking(name: &str) -> Actor {
    name.strip_suffix('?').map_or_else(|| Actor::named(name), Actor::unproven)
}

fn spend(
    player: &mut Player,
    who: &str,
    micros: &str,
    text: String,
    out: Out<'_>,
) -> Result<(), String> {
    let turn = player.state.open_turns().find(|turn| turn.participant.as_str() == who);
    let (turn, attempt) =
        turn.map(|turn| (turn.no, turn.attempt)).ok_or(format!("{who} has no open turn"))?;
    let usage = Usage { cost_micros: micros.parse().map_err(|_| "bad cost")?, ..Usage::default() };
    player.submit(EngineCommand::Finished { turn, attempt, result: Ok(text), usage }, out);
    Ok(())
}

fn budget(player: &mut Player, rest: &[&str]) -> Result<(), String> {
    let given = settings(rest.get(1..).unwrap_or_default())?;
    let number = |key: &str| given.get(key).and_then(Value::as_u64);
    let limit =
        Limit { turns: number("turns"), unattended: number("unattended"), micros: number("money") };
    let budgets = Arc::make_mut(&mut player.facts.budgets);
    budgets.currency = "USD".into();
    match rest.first() {
        Some(&"hall") => budgets.limits.hall = limit,
        Some(&"conversation") => budgets.limits.conversation = limit,
        Some(&"agent") => budgets.limits.agent = limit,
        Some(&"principal") => budgets.limits.principal = limit,
        _ => return Err("whose budget?".into()),
    }
    Ok(())
}

fn sum_up(
    player: &mut Player,
    who: &str,
    place: &str,
    text: String,
    out: Out<'_>,
) -> Result<(), String> {
    let turn = player.state.open_turns().find(|turn| turn.participant.as_str() == who);
    let (turn, attempt) =
        turn.map(|turn| (turn.no, turn.attempt)).ok_or(format!("{who} has no open turn"))?;
    let place_of = |place: &str| place.parse().map(Seq).map_err(|_| "bad place");
    let (through, read_at) = match place.split_once('@') {
        Some((through, read_at)) => (place_of(through)?, place_of(read_at)?),
        None => (place_of(place)?, player.state.head()),
    };
    player.submit(
        EngineCommand::Summarise { turn, attempt, through, read_at, text, usage: Usage::default() },
        out,
    );
    Ok(())
}

fn late(
    player: &mut Player,
    _speaker: &str,
    which: &str,
    body: String,
    out: Out<'_>,
) -> Result<(), String> {
    let (turn, attempt) = which.split_once('/').ok_or("late needs TURN/ATTEMPT")?;
    let turn = TurnNo(turn.parse().map_err(|_| "bad turn")?);
    let attempt = attempt.parse().map_err(|_| "bad attempt")?;
    player.submit(
        EngineCommand::Finished { turn, attempt, result: Ok(body), usage: Usage::default() },
        out,
    );
    Ok(())
}

fn open(player: &mut Player, rest: &[&str], out: Out<'_>) -> Result<(), String> {
    let name =
        rest.first().and_then(|name| PolicyName::parse(name)).ok_or("open needs a policy")?;
    let policy = Policy::named(name)
        .patched(&settings(&rest[1..])?)
        .map_err(|fault| format!("{}: {}", fault.key, fault.expected))?;
    player.submit(
        ClientCommand::Create { name: "script".into(), policy, by: Actor::named("user") },
        out,
    );
    Ok(())
}

fn settings(pairs: &[&str]) -> Result<serde_json::Map<String, Value>, String> {
    let read = |pair: &&str| {
        let (key, value) = pair.split_once('=').ok_or(format!("{pair:?} is not key=value"))?;
        Ok((
            key.to_owned(),
            serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into())),
        ))
    };
    pairs.iter().map(read).collect()
}

fn seconds(word: Option<&&str>) -> Result<Millis, String> {
    let number =
        word.and_then(|word| word.trim_start_matches('+').trim_end_matches('s').parse().ok());
    number.and_then(Millis::from_secs_f64).ok_or("needs a number of seconds".into())
}

fn control(verb: &str, rest: &[&str]) -> Result<Option<Control>, String> {
    let ids = || rest.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let on = rest.first() != Some(&"off");
    Ok(Some(match verb {
        "invite" => Control::Invite(invite(rest)?),
        "uninvite" => Control::Uninvite(rest.first().ok_or("whom?")?.to_string()),
        "mute" => Control::Mute(ids()),
        "unmute" => Control::Unmute(ids()),
        "pause" => Control::Pause(true),
        "unpause" => Control::Pause(false),
        "resume" => Control::Resume,
        "discussion" => Control::Discussion { on, allow_agent_mentions: on },
        "auto" => Control::InvitedAuto(on),
        "prod" => Control::Prod(ids()),
        "config" => Control::Config(settings(rest)?),
        "raise" => {
            let given = settings(rest)?;
            let number = |key: &str| given.get(key).and_then(Value::as_u64).unwrap_or_default();
            Control::RaiseBudget {
                turns: number("turns"),
                micros: number("micros"),
                within: Millis::from_secs(number("for")),
            }
        }
        "rules" => Control::PolicyNamed(
            rest.first().and_then(|name| PolicyName::parse(name)).ok_or("which rules?")?,
        ),
        "policy" => Control::Policy(Policy::named(
            rest.first().and_then(|name| PolicyName::parse(name)).ok_or("which policy?")?,
        )),
        _ => return Ok(None),
    }))
}

fn invite(rest: &[&str]) -> Result<Invite, String> {
    let id = *rest.first().ok_or("whom?")?;
    let given = settings(&rest[1..])?;
    let text = |key: &str| {
        given.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let bare = text("bare").is_some();
    let profile = Profile {
        client: text("client").or((!bare).then(|| id.to_owned())),
        model: text("model").or((!bare).then(|| "m".to_owned())),
        roles: text("roles").map(|roles| roles.split(',').map(str::to_owned).collect()),
        nickname: text("nickname").map(|name| name.replace('_', " ")),
    };
    let runtime = match text("runtime").as_deref() {
        None | Some("script") => Runtime::SCRIPT,
        Some("remote") => Runtime::REMOTE,
        Some("command") => Runtime::COMMAND,
        Some("terminal") => Runtime::TERMINAL,
        Some("llm") => Runtime::LLM,
        Some(other) => return Err(format!("no runtime {other}")),
    };
    let timeout = given.get("timeout").and_then(Value::as_f64).and_then(Millis::from_secs_f64);
    let facts = AgentFacts {
        known: runtime != Runtime::REMOTE,
        timeout,
        ..AgentFacts::of_runtime(runtime)
    };
    let number = given.get("number").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let part = match text("part").as_deref() {
        None => None,
        Some("speaker") => Some(Part::Speaker),
        Some("harvester") => Some(Part::Harvester),
        Some(other) => return Err(format!("no part {other}")),
    };
    let principal = match text("principal").as_deref() {
        None => None,
        Some("human") => Some(Kind::Human),
        Some("agent") => Some(Kind::Agent),
        Some(other) => return Err(format!("no kind {other}")),
    };
    Ok(Invite { number, part, principal, ..Invite::new(id, profile, facts) })
}

fn command(player: &Player, by: Actor, verb: &str, rest: &[&str]) -> Result<Command, String> {
    match engine_command(player, verb, rest)? {
        Some(command) => Ok(command.into()),
        None => client_command(player, by, verb, rest).map(Into::into),
    }
}

fn turn_of(player: &Player, who: &str) -> Result<(TurnNo, u32), String> {
    let open = player.state.open_turns().find(|turn| turn.participant.as_str() == who);
    open.map(|turn| (turn.no, turn.attempt)).ok_or(format!("{who} has no open turn"))
}

fn is_message(player: &Player, place: &str) -> bool {
    player.log.iter().any(|recorded| recorded.seq.to_string() == place && recorded.event.is_told())
}

fn client_command(
    player: &Player,
    by: Actor,
    verb: &str,
    rest: &[&str],
) -> Result<ClientCommand, String> {
    let first = rest.first().copied().unwrap_or_default();
    Ok(match (verb, first) {
        ("archive", _) => ClientCommand::Archive { on: true, by },
        ("delete", _) => ClientCommand::Delete { by },
        ("unarchive", _) => ClientCommand::Archive { on: false, by },
        ("rename", name) => ClientCommand::Rename { name: name.into(), by },
        ("erase", place) => ClientCommand::Redact {
            seq: Seq(place.parse().map_err(|_| "erase needs a place")?),
            message: is_message(player, place),
            by,
        },
        ("stop", _) => ClientCommand::Stop { by },
        ("bind", target) => {
            ClientCommand::Control { by, controls: vec![Control::Bind(target.into())] }
        }
        ("cancel", who) => ClientCommand::Cancel { turn: turn_of(player, who)?.0, by },
        ("pass", who) => {
            let (at, to) = rest[1..].iter().partition::<Vec<&str>, _>(|word| word.starts_with('^'));
            let reply_to = at.first().map(|place| said_at(player, place)).transpose()?;
            ClientCommand::Pass {
                by: Actor::named(who),
                to: to.first().map(|to| (*to).to_owned()),
                reply_to,
            }
        }
        ("publish", _) => {
            let kept = player
                .log
                .iter()
                .rev()
                .find(|recorded| matches!(recorded.event, Event::Suppressed { .. }))
                .ok_or("nothing was kept")?;
            ClientCommand::Publish { seq: kept.seq, kept: Box::new(kept.clone()), by }
        }
        ("gather", _) => ClientCommand::Gather { by, plan: plan(rest)? },
        ("close-gathering", _) => ClientCommand::CloseGathering { by },
        ("allow", who) => {
            let (option, text) = given(&rest[1..]);
            ClientCommand::AnswerPermission {
                permission: PermissionId::new("p1"),
                option,
                text,
                by: Actor::named(who),
            }
        }
        _ => return Err(format!("no such line: {verb} {}", rest.join(" "))),
    })
}

fn engine_command(
    player: &Player,
    verb: &str,
    rest: &[&str],
) -> Result<Option<EngineCommand>, String> {
    let first = rest.first().copied().unwrap_or_default();
    Ok(Some(match (verb, first) {
        ("ask", who) => EngineCommand::AskPermission {
            permission: PermissionId::new("p1"),
            turn: turn_of(player, who)?.0,
            question: Box::new(Question::new(rest[1..].join(" "), options())),
            within: Millis::from_secs(600),
        },
        ("ask-in-words", who) => EngineCommand::AskPermission {
            permission: PermissionId::new("p1"),
            turn: turn_of(player, who)?.0,
            question: Box::new(Question::new(rest[1..].join(" "), options_with_field())),
            within: Millis::from_secs(600),
        },
        ("ask-in-no-turn", who) => EngineCommand::AskQuestion {
            permission: PermissionId::new("p1"),
            participant: who.into(),
            question: Box::new(Question::new(rest[1..].join(" "), options())),
        },
        ("ask-start", who) => EngineCommand::AskStart {
            permission: PermissionId::new("p1"),
            by: Actor::named(who),
            start: Box::new(StartRequest {
                client: rest.get(1).copied().unwrap_or("claude").into(),
                args: rest.iter().skip(2).map(|arg| (*arg).to_owned()).collect(),
                folder: "/src".into(),
                name: None,
                message: None,
                direct: false,
            }),
            within: Millis::from_secs(600),
        },
        ("start-done", name) => EngineCommand::StartDone {
            permission: PermissionId::new("p1"),
            outcome: StartOutcome::Started {
                session: "s1".into(),
                name: name.into(),
                unsaid: None,
            },
        },
        ("start-fails", _) => EngineCommand::StartDone {
            permission: PermissionId::new("p1"),
            outcome: StartOutcome::Failed { why: rest.join(" ") },
        },
        ("withdraw", _) => EngineCommand::WithdrawPermission {
            permission: PermissionId::new("p1"),
            because: Withdrawn::Gone,
        },
        (who, "fails") => {
            let (turn, attempt) = turn_of(player, who)?;
            let fault = Fault::new(rest.get(1).copied().unwrap_or("exit_status"), "it broke");
            EngineCommand::Finished { turn, attempt, result: Err(fault), usage: Usage::default() }
        }
        (who, "lost") => {
            let (turn, attempt) = turn_of(player, who)?;
            EngineCommand::Lost { turn, attempt }
        }
        _ => return Ok(None),
    }))
}

/// What somebody answers: an option, and after `=` words of their own.
fn given(words: &[&str]) -> (String, Option<String>) {
    let (option, text) = match words.iter().position(|word| *word == "=") {
        Some(at) => (&words[..at], Some(words[at + 1..].join(" "))),
        None if words.is_empty() => (&["yes"][..], None),
        None => (words, None),
    };
    (option.join(" "), text)
}

/// What a program offers, in its own words.
fn options() -> Vec<PermissionOption> {
    let option = |id: &str, label: &str, kind| PermissionOption::new(id, label, kind);
    let always = option("2", "Yes, and never ask again", OptionKind::AllowAlways);
    vec![
        option("1", "Yes, do it", OptionKind::AllowOnce),
        always,
        option("3", "No, do not", OptionKind::RejectOnce),
    ]
}

/// What a program offers that asks its user something.
fn options_with_field() -> Vec<PermissionOption> {
    let option = |id: &str, label: &str| PermissionOption::new(id, label, OptionKind::Other);
    vec![
        option("1", "SQLite"),
        option("2", "Postgres"),
        option("3", "Type something.").taking_text(),
    ]
}

fn plan(rest: &[&str]) -> Result<GatheringPlan, String> {
    let given = settings(rest)?;
    let number =
        |key: &str, default: u64| given.get(key).and_then(Value::as_u64).unwrap_or(default);
    let breath: Vec<u32> = match given.get("breath") {
        Some(Value::String(rounds)) => rounds.split(',').filter_map(|n| n.parse().ok()).collect(),
        _ => vec![1, 1, 1],
    };
    Ok(GatheringPlan {
        rhythm: "script".into(),
        breath: breath.try_into().map_err(|_| "breath needs three numbers")?,
        beats_per_turn: number("beats", 3) as u32,
        beat_interval: Millis::from_secs(number("interval", 60)),
        last_word: Millis::from_secs(number("last", 20)),
        opening_question: "What now?".into(),
        hearing: if given.get("hearing").is_some() { Hearing::OnTurn } else { Hearing::Live },
    })
}

fn prompt(player: &Player, rest: &[&str], out: Out<'_>) -> Result<(), String> {
    let who = rest.first().ok_or("whose prompt?")?;
    let turn = player
        .state
        .open_turns()
        .find(|turn| turn.participant.as_str() == *who && turn.running.is_some());
    let turn = turn.ok_or(format!("{who} has no running turn"))?;
    let running = turn.running.ok_or("not running")?;
    let story = Story::of(
        &player.state,
        Material::of(&player.log),
        &Viewer::Participant(turn.participant.clone()),
    );
    let prompt = compose(
        &player.state,
        turn,
        running.from_seq,
        running.through_seq,
        &story,
        TRANSCRIPT_BYTES,
    );
    let shown = match rest.get(1) {
        Some(&"whole") => prompt.standalone,
        Some(&"memory") => memory(&prompt),
        _ => prompt.text,
    };
    out.extend(shown.lines().map(|line| format!("| {line}")));
    Ok(())
}

/// What a runtime that rebuilds its memory has to do so.
fn memory(prompt: &Prompt) -> String {
    let summary = prompt
        .summary
        .iter()
        .map(|summary| format!("(up to {}: {})\n", summary.through, summary.text));
    summary.chain(prompt.history.iter().map(|told| told.line.clone())).collect()
}

fn preview(player: &Player, words: &str, out: Out<'_>) -> Result<(), String> {
    let (place, words) = words
        .trim()
        .split_once(' ')
        .filter(|(place, _)| place.starts_with('^'))
        .unwrap_or(("", words.trim()));
    let reply_to = if place.is_empty() { None } else { Some(said_at(player, place)?) };
    let draft = Draft { body: words.to_owned(), reply_to, ..Draft::default() };
    let forecast = player.state.preview(player.now, &ParticipantId::user(), &draft, &player.facts);
    out.extend(forecast.iter().map(|entry| match entry.verdict {
        Ok(why) => format!("{} would be asked: {}", entry.participant, super::output::word(&why)),
        Err(why_not) => {
            format!("{} would not: {}", entry.participant, super::output::word(&why_not))
        }
    }));
    Ok(())
}
