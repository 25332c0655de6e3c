//! Script lines that are commands: to take part, to steer, to end and to report.

use super::*;

pub(super) fn control(verb: &str, rest: &[&str]) -> Result<Option<Control>, String> {
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
            rest.first().and_then(|name| name.parse().ok()).ok_or("which rules?")?,
        ),
        "policy" => Control::Policy(Policy::named(
            rest.first().and_then(|name| name.parse().ok()).ok_or("which policy?")?,
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
    let hours = given.get("waits").and_then(Value::as_u64);
    let waits = hours.map(|hours| Millis::from_secs(hours * 3600));
    let facts = AgentFacts {
        known: runtime != Runtime::REMOTE,
        timeout,
        waits,
        ..AgentFacts::of_runtime(runtime)
    };
    let number = given.get("number").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let part = match text("part").as_deref() {
        None => None,
        Some("speaker") => Some(SeatRole::Speaker),
        Some("harvester") => Some(SeatRole::Harvester),
        Some(other) => return Err(format!("no part {other}")),
    };
    let principal = match text("principal").as_deref() {
        None => None,
        Some("human") => Some(Kind::Human),
        Some("agent") => Some(Kind::Agent),
        Some(other) => return Err(format!("no kind {other}")),
    };
    let address = text("session").map(|local_id| Address {
        computer: String::new(),
        kind: "session".into(),
        local_id,
    });
    Ok(Invite { number, part, principal, address, ..Invite::new(id, profile, facts) })
}

pub(super) fn command(
    player: &Player,
    by: Actor,
    verb: &str,
    rest: &[&str],
) -> Result<Command, String> {
    match engine_command(player, verb, rest)? {
        Some(command) => Ok(command.into()),
        None => client_command(player, by, verb, rest).map(Into::into),
    }
}

fn client_command(
    player: &Player,
    by: Actor,
    verb: &str,
    rest: &[&str],
) -> Result<ClientCommand, String> {
    let first = rest.first().copied().unwrap_or_default();
    let (verb, permission) = about(verb);
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
            let chat = target.starts_with("chat:").then(|| target.parse().ok()).flatten();
            let control = chat.map_or_else(|| Control::Hold(target.into()), Control::BindChat);
            ClientCommand::Control { by, controls: vec![control] }
        }
        ("cancel", who) => ClientCommand::Cancel { turn: turn_of(player, who)?.0, by },
        ("pass", who) => {
            let words = rest[1..].iter().filter(|word| **word != "now");
            let (at, to) = words.partition::<Vec<&str>, _>(|word| word.starts_with('^'));
            let reply_to = at.first().map(|place| said_at(player, place)).transpose()?;
            ClientCommand::Pass {
                by: Actor::named(who),
                to: to.first().map(|to| (*to).to_owned()),
                reply_to,
                at_once: rest.contains(&"now"),
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
        ("gather", _) => ClientCommand::Gather { by, plan: plan(rest)?, controls: Vec::new() },
        ("close-gathering", _) => ClientCommand::CloseGathering { by },
        ("allow", who) => {
            let (option, text) = given(&rest[1..]);
            ClientCommand::AnswerPermission {
                permission: permission.clone(),
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
    let (verb, permission) = about(verb);
    Ok(Some(match (verb, first) {
        ("ask", who) => EngineCommand::AskPermission {
            permission: permission.clone(),
            turn: turn_of(player, who)?.0,
            question: Box::new(Question::new(rest[1..].join(" "), options())),
            within: Millis::from_secs(600),
        },
        ("ask-in-words", who) => EngineCommand::AskPermission {
            permission: permission.clone(),
            turn: turn_of(player, who)?.0,
            question: Box::new(Question::new(rest[1..].join(" "), options_with_field())),
            within: Millis::from_secs(600),
        },
        ("ask-in-no-turn", who) => EngineCommand::AskQuestion {
            permission: permission.clone(),
            participant: who.into(),
            question: Box::new(Question::new(rest[1..].join(" "), options())),
        },
        ("ask-start", who) => EngineCommand::Ask {
            permission: permission.clone(),
            by: Actor::named(who),
            request: Box::new(Request::Start(StartRequest {
                client: rest.get(1).copied().unwrap_or("claude").into(),
                args: rest.iter().skip(2).map(|arg| (*arg).to_owned()).collect(),
                folder: "/src".into(),
                name: None,
                message: None,
                direct: false,
            })),
            within: Millis::from_secs(600),
        },
        ("ask-talk", who) => EngineCommand::Ask {
            permission: permission.clone(),
            by: Actor::named(who),
            request: Box::new(Request::Talk(TalkRequest {
                to: rest.get(1).copied().unwrap_or("builder").into(),
                message: rest[2..].join(" "),
            })),
            within: Millis::from_secs(600),
        },
        ("talk-done", link) => EngineCommand::TalkDone {
            permission: permission.clone(),
            outcome: TalkOutcome::Linked { link: link.into(), unsaid: None },
        },
        ("start-done", name) => EngineCommand::StartDone {
            permission: permission.clone(),
            outcome: StartOutcome::Started {
                session: "s1".into(),
                name: name.into(),
                unsaid: None,
            },
        },
        ("start-fails", _) => EngineCommand::StartDone {
            permission: permission.clone(),
            outcome: StartOutcome::Failed { why: rest.join(" ") },
        },
        ("withdraw", _) => EngineCommand::WithdrawPermission {
            permission: permission.clone(),
            because: if first == "left" { WithdrawalReason::Left } else { WithdrawalReason::Gone },
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
        ("joins", computer) => {
            let stream = rest.get(1).ok_or("joins COMPUTER CONVERSATION")?;
            EngineCommand::Join(Box::new(JoinedConversation {
                created_at: Default::default(),
                computer: ComputerId::new(format!("2{computer}")),
                stream: (*stream).into(),
                title: (*stream).into(),
                link: true,
                participant: "codex".into(),
                members: Vec::new(),
            }))
        }
        ("parts", computer) => EngineCommand::Part {
            computer: ComputerId::new(format!("2{computer}")),
            stream: (*rest.get(1).ok_or("parts COMPUTER CONVERSATION")?).into(),
            why: PartReason::Closed,
        },
        ("unhosts", key) => {
            let [computer, stream, turn] = rest[..] else {
                return Err(format!("unhosts COMPUTER CONVERSATION TURN, not {key:?}"));
            };
            EngineCommand::Unhost { key: hosted_key(computer, stream, turn)?, lapse: false }
        }
        ("lapses", key) => {
            let [computer, stream, turn] = rest[..] else {
                return Err(format!("lapses COMPUTER CONVERSATION TURN, not {key:?}"));
            };
            EngineCommand::Unhost { key: hosted_key(computer, stream, turn)?, lapse: true }
        }
        _ => return Ok(None),
    }))
}

/// Reads the turn of another computer: `workstation lunch 3/1` is its third, first attempt.
pub(super) fn hosted_key(computer: &str, stream: &str, turn: &str) -> Result<HostedKey, String> {
    let (turn, attempt) = turn.split_once('/').unwrap_or((turn, "1"));
    let number = |word: &str| word.parse::<u64>().map_err(|_| format!("{word} is not a number"));
    Ok(HostedKey {
        computer: ComputerId::new(format!("2{computer}")),
        stream: stream.into(),
        turn: TurnNo(number(turn)?),
        attempt: u32::try_from(number(attempt)?).map_err(|_| "too many attempts")?,
    })
}

/// Splits a verb from its permission: `ask:p2` is about p2.
fn about(verb: &str) -> (&str, PermissionId) {
    let (verb, permission) = verb.split_once(':').unwrap_or((verb, "p1"));
    (verb, PermissionId::new(permission))
}

/// Reads an answer: an option, and after `=` words of the answerer's own.
fn given(words: &[&str]) -> (String, Option<String>) {
    let (option, text) = match words.iter().position(|word| *word == "=") {
        Some(at) => (&words[..at], Some(words[at + 1..].join(" "))),
        None if words.is_empty() => (&["yes"][..], None),
        None => (words, None),
    };
    (option.join(" "), text)
}

/// Returns the options of a program, in its own words.
fn options() -> Vec<PermissionOption> {
    let option = |id: &str, label: &str, kind| PermissionOption::new(id, label, kind);
    let always = option("2", "Yes, and never ask again", OptionKind::AllowAlways);
    vec![
        option("1", "Yes, do it", OptionKind::AllowOnce),
        always,
        option("3", "No, do not", OptionKind::RejectOnce),
    ]
}

/// Returns the options of a question with a text field.
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
        pulse: Vec::new(),
        signals: Vec::new(),
        hearing: if given.get("hearing").is_some() {
            DeliveryMode::OnTurn
        } else {
            DeliveryMode::Live
        },
    })
}
