//! The commands of a script line.
//!
//! ```text
//! open hybrid cooldown_seconds=0          create the conversation (policy and settings)
//! invite writer runtime=remote roles=a,b nickname=Ann_Lee client=x number=1 part=speaker
//!        principal=agent (its kind on the server) waits=36 (hours, for its computer)
//! user: words            codex -> writer: words
//!                        (agents answer their running turn, otherwise they post)
//! user asks a b: words   the same, and only these answer, one after the other
//! user ^7: words         the same as a reply to the message at 7; `preview ^7 words` too. The
//!                        number is the event's position, in which invitations and rounds count
//! user?: words           words of a caller who claims to be the user, without proof;
//!                        `by user?: …` too
//! post codex: words      words of an agent that answer no turn
//! post codex -> a: words · post codex for a,b: words   to a; for a and b alone
//! elsewhere codex: words  words of an agent in another conversation of the hall
//! user at codex: words   words that a person typed in codex's own terminal
//! typed codex but a,b: words   the same, which a and b hear in another conversation
//! bind link:a,b          hold a key
//! reads a b             (they are present and take no turns)
//! gone a b              (they left, and their turns fail)
//! hesitates codex         takes turns up without starting them; `looks codex` shows it the events
//!                        since, and `begins codex` starts the next one with what it has seen
//! shown codex WORDS       (the part of its answer that people were shown so far)
//! thought codex WORDS     (thoughts of its model) · ended codex length (its model's ending)
//! printed codex WORDS     (by its program, so far)
//! codex fails CODE       codex late 1/2: words        (turn 1, attempt 2)       codex lost
//! wait 2s                clock +10s (a jump while nothing looked)               restart 60s
//! mute a b · unmute a · pause · unpause · resume · discussion on · auto on · prod a · uninvite a
//! config k=v · policy NAME (with defaults) · rules NAME (keeping the settings); with `confirm` as
//!                        the last word a gathering may end by it
//! archive · unarchive · stop · cancel codex · pass codex [writer] [^7] [now]
//! offline a b · online · ends a b           (their sessions ended; without names: none has)
//! publish · close-gathering
//! gather rhythm=r breath=1,1,1 beats=3 interval=60 last=20 hearing=on_turn
//! ask codex rm -rf · allow user yes           (permissions) · ask-in-no-turn codex trust?
//! ask:p2 codex ls · allow:p2 user yes         the same about a second one
//! ask-start codex claude --model x · start-done claude-2 · start-fails why
//! writer sums 12: words  a summary of what took effect up to 12
//!                        (`12@9`: made from the log as it was at 9)
//! workstation hosts lunch 3/1: words   the prompt of a turn of the conversation `lunch` there, its
//!                        third, first attempt (`polls`: it may pass; `plays`: it listens; words in
//!                        `<…>` are a member's). The session is invited with `session=script`
//! joins workstation lunch · parts workstation lunch     the session takes part there, or no more
//! unhosts workstation lunch 3/1 · lapses workstation lunch 3/1     it ended there
//! budget hall turns=3 unattended=2 money=500
//!                        limits of hall, conversation, agent or principal (money in millionths)
//! raise turns=2 micros=100 for=3600            raises the conversation's budget
//! codex spends 400: words                      an answer with its cost
//! user edits 7: words    the words replace the message at 7
//! stranger 99 in telegram:-1: words   words of an unknown account in a bound chat
//! erase 12               erases the words at 12
//! prompt codex           shows the prompt of codex (`whole`: with a transcript; `memory`: the
//!                        history from which a model's memory is rebuilt)
//! preview words          the agents that would answer
//! why 7                  the reason why the message at 7 asked no agent, or what it waits for
//! pending 7              the answers to the message at 7 that are still to come
//! by codex: …            any control in another name
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_kernel::budget::Limit;
use moothall_kernel::chat::{Chat, NotAChat, OverheardWords, PostOrigin};
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Invite, Post, ShownAnswer,
};
use moothall_kernel::compose::{Material, Prompt, Story, TRANSCRIPT_BYTES, compose};
use moothall_kernel::event::{Cause, Event, Fault, Recipient, TurnKind, Usage};
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::hosted::{HostedKey, HostedTurn};
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::link::{JoinedConversation, PartReason};
use moothall_kernel::participant::{Address, AgentFacts, Kind, Profile, Runtime, SeatRole};
use moothall_kernel::permission::{OptionKind, PermissionOption, Question, WithdrawalReason};
use moothall_kernel::policy::Policy;
use moothall_kernel::preview::Draft;
use moothall_kernel::request::Request;
use moothall_kernel::silence::Silence;
use moothall_kernel::silences::Silences;
use moothall_kernel::start::{StartOutcome, StartRequest};
use moothall_kernel::talk::{TalkOutcome, TalkRequest};
use moothall_kernel::time::Millis;
use moothall_kernel::view::Viewer;
use serde_json::Value;

use super::Player;
use commands::{command, control, hosted_key};

mod commands;

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
        let agreed = rest.last().filter(|word| **word == "confirm").map(|_| Control::Confirm);
        let controls = [control].into_iter().chain(agreed).collect();
        player.submit(ClientCommand::Control { by, controls }, out);
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
        "ends" => {
            let named = |id: &&str| (ParticipantId::new(id), format!("{id}-1"));
            player.facts.ended = rest.iter().map(named).collect();
            Ok(())
        }
        "hesitates" => {
            player.hesitating.extend(rest.iter().map(ParticipantId::new));
            Ok(())
        }
        "looks" => player.looks(rest.first().ok_or("who?")?),
        "begins" => player.begins(rest.first().ok_or("who?")?, out),
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
            let shown = player.facts.shown.entry(turn).or_default();
            *shown = ShownAnswer { attempt, text: rest[1..].join(" "), usage, ..shown.clone() };
            Ok(())
        }
        "thought" | "printed" | "ended" => {
            let (turn, attempt) = turn_of(player, rest.first().ok_or("of whom?")?)?;
            let shown = player.facts.shown.entry(turn).or_default();
            shown.attempt = attempt;
            match verb {
                "thought" => shown.thoughts = rest[1..].join(" "),
                "printed" => shown.printed = rest[1..].join(" "),
                _ => shown.ended = rest.get(1).and_then(|word| word.parse().ok()),
            }
            Ok(())
        }
        "budget" => budget(player, &rest),
        "online" => {
            player.facts.offline.clear();
            player.facts.gone.clear();
            player.submit(EngineCommand::Tick, out);
            Ok(())
        }
        "why" => why(player, rest.first().ok_or("about which place?")?, out),
        "pending" => pending(player, rest.first().ok_or("about which place?")?, out),
        "prompt" => prompt(player, &rest, out),
        "preview" => preview(player, &by, &line["preview".len()..], out),
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
        [speaker] => (*speaker, Recipient::All, true),
        [speaker, "->", to] => (*speaker, Recipient::One(ParticipantId::new(to)), true),
        ["post", speaker] => (*speaker, Recipient::All, false),
        ["post", speaker, "->", to] => (*speaker, Recipient::One(ParticipantId::new(to)), false),
        ["post", speaker, "for", readers] => {
            let only_for = Some(readers.split(',').map(ParticipantId::new).collect());
            let post = Post { only_for, ..Post::new(speaking(speaker), body) };
            player.submit(ClientCommand::Post(post), out);
            return Ok(());
        }
        ["elsewhere", speaker] => {
            player.hears_elsewhere(speaker, body);
            return Ok(());
        }
        [speaker, "edits", place] => {
            let replaces = Some(Box::new(said_at(player, place)?));
            let post = Post { replaces, ..Post::new(speaking(speaker), body) };
            player.submit(ClientCommand::Post(post), out);
            return Ok(());
        }
        ["stranger", account, "in", chat] => return overhear(player, account, chat, body, out),
        ["user", "at", terminal] => return typed(player, terminal, "", &body, out),
        ["typed", terminal, "but", others] => return typed(player, terminal, others, &body, out),
        [speaker, "sums", place] => return sum_up(player, speaker, place, body, out),
        [speaker, "spends", micros] => return spend(player, speaker, micros, body, out),
        [computer, verb @ ("hosts" | "polls" | "plays"), stream, turn] => {
            return host(player, (computer, stream, turn), verb, body, out);
        }
        [speaker, "late", attempt] => return late(player, speaker, attempt, body, out),
        _ => return Err(format!("cannot read {head:?}")),
    };
    let running = player
        .state
        .open_turns()
        .find(|turn| turn.participant.as_str() == speaker && turn.running.is_some());
    let command: Command = match running
        .filter(|_| asked && to == Recipient::All && reply_to.is_none())
    {
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

/// Offers a turn of another computer's conversation. Words in `<…>` of the prompt are a member's.
fn host(
    player: &mut Player,
    (computer, stream, turn): (&str, &str, &str),
    verb: &str,
    text: String,
    out: Out<'_>,
) -> Result<(), String> {
    let mut bodies = Vec::new();
    for (at, _) in text.match_indices('<') {
        let end = text[at..].find('>').ok_or("no end of the member's words")? + at;
        bodies.push(serde_json::from_value(serde_json::json!([at + 1, end])).expect("a span"));
    }
    let hosted = HostedTurn {
        key: hosted_key(computer, stream, turn)?,
        through: Seq(7),
        label: computer.to_owned(),
        kind: if verb == "plays" { TurnKind::Listen } else { TurnKind::Reply },
        may_pass: verb == "polls",
        bodies: bodies.into(),
    };
    player.submit(EngineCommand::Host { hosted: Box::new(hosted), text }, out);
    Ok(())
}

/// Returns the message at `^7`, as the host looks it up.
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

fn overhear(
    player: &mut Player,
    account: &str,
    chat: &str,
    body: String,
    out: Out<'_>,
) -> Result<(), String> {
    let chat: Chat = chat.parse().map_err(|error: NotAChat| error.to_string())?;
    let identity = Some(format!("{}:{account}", chat.channel()));
    let origin = PostOrigin { chat, identity, message: None };
    let words = OverheardWords { origin, name: "User".into(), body };
    player.submit(EngineCommand::Overhear(Box::new(words)), out);
    Ok(())
}

/// Returns the actor of a name. `ann?` only claims to be ann.
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

fn typed(
    player: &mut Player,
    terminal: &str,
    others: &str,
    body: &str,
    out: &mut Vec<String>,
) -> Result<(), String> {
    let typed_at = Some(ParticipantId::new(terminal));
    let others = others.split(',').filter(|id| !id.is_empty());
    let elsewhere = others.map(ParticipantId::new).collect();
    let post = Post { typed_at, elsewhere, ..Post::new(Actor::unproven("user"), body) };
    player.submit(ClientCommand::Post(post), out);
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
    let name = rest.first().and_then(|name| name.parse().ok()).ok_or("open needs a policy")?;
    let policy = Policy::named(name)
        .patched(&settings(&rest[1..])?)
        .map_err(|fault| format!("{}: {}", fault.key, fault.expected))?;
    player.submit(
        ClientCommand::Create {
            name: "script".into(),
            policy,
            folder: None,
            by: Actor::named("user"),
        },
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

fn turn_of(player: &Player, who: &str) -> Result<(TurnNo, u32), String> {
    let open = player.state.open_turns().find(|turn| turn.participant.as_str() == who);
    open.map(|turn| (turn.no, turn.attempt)).ok_or(format!("{who} has no open turn"))
}

fn is_message(player: &Player, place: &str) -> bool {
    player
        .log
        .iter()
        .any(|recorded| recorded.seq.to_string() == place && recorded.event.is_in_prompts())
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
    for body in prompt.bodies.iter().filter(|body| !body.is_empty()) {
        let before = &prompt.text[..body.start];
        let is_headed = before.ends_with(":\n\n") || before.ends_with(")\n") || turn.is_hosted();
        let ends = if turn.is_hosted() { '>' } else { '\n' };
        assert!(is_headed && prompt.text[..=body.end].ends_with(ends), "{body:?} of {prompt:?}");
    }
    let shown = match rest.get(1) {
        Some(&"whole") => prompt.standalone,
        Some(&"memory") => memory(&prompt),
        _ => prompt.text,
    };
    out.extend(shown.lines().map(|line| format!("| {line}")));
    Ok(())
}

/// Returns the material from which a runtime rebuilds its memory.
fn memory(prompt: &Prompt) -> String {
    let summary = prompt
        .summary
        .iter()
        .map(|summary| format!("(up to {}: {})\n", summary.through, summary.text));
    summary.chain(prompt.history.iter().map(|entry| entry.line.clone())).collect()
}

/// Prints the reason why a message asked no agent, or the thing that it waits for.
fn why(player: &Player, place: &str, out: Out<'_>) -> Result<(), String> {
    let seq = Seq(place.parse().map_err(|_| format!("{place} is not a place"))?);
    let mut silences = Silences::new(player.state.stream().clone(), Viewer::Operator);
    player.log.iter().for_each(|recorded| silences.observe(recorded));
    let found = silences.into_messages().find(|message| message.seq == seq);
    out.push(match (player.state.wait_of(seq), found) {
        (Some(wait), _) => format!("{}: {}", wait.reason(), wait.sentence(&player.state)),
        (None, Some(message)) => {
            let near = message.silence.participant.as_ref().map(|id| player.state.name_of(id));
            let text = message.silence.sentence(message.name.as_deref(), near);
            format!("{}: {text}", message.silence.reason)
        }
        (None, None) => "no reason is kept".into(),
    });
    Ok(())
}

/// Prints the answers to a message that are still to come.
fn pending(player: &Player, place: &str, out: Out<'_>) -> Result<(), String> {
    let seq = Seq(place.parse().map_err(|_| format!("{place} is not a place"))?);
    let pending = player.state.pending(seq);
    let ids =
        |list: &[ParticipantId]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
    out.push(match (pending.is_over(), pending.waits) {
        (true, _) => "nothing is to come".into(),
        (false, true) => "its time is to come".into(),
        (false, false) => {
            format!("to come: must [{}], may [{}]", ids(&pending.must), ids(&pending.may))
        }
    });
    Ok(())
}

fn silence_line(player: &Player, silence: &Silence, words: &str) -> String {
    let near = silence.participant.as_ref().map(|id| player.state.name_of(id));
    silence.sentence(silence.name_in(words).as_deref(), near)
}

fn preview(player: &Player, by: &Actor, words: &str, out: Out<'_>) -> Result<(), String> {
    let (place, words) = words
        .trim()
        .split_once(' ')
        .filter(|(place, _)| place.starts_with('^'))
        .unwrap_or(("", words.trim()));
    let reply_to = if place.is_empty() { None } else { Some(said_at(player, place)?) };
    let unproven = !by.proven;
    let draft = Draft { body: words.to_owned(), reply_to, unproven, ..Draft::default() };
    // The events of a decision have times of their own, which may be later than the clock.
    let now = player.log.last().map_or(player.now, |last| player.now.max(last.ts));
    let preview = player.state.preview(now, &by.id, &draft, &player.facts);
    if let Some(silence) = preview.silence {
        out.push(format!("no agent by these words: {}", silence_line(player, &silence, words)));
    }
    out.extend(preview.forecast.iter().map(|entry| match entry.verdict {
        Ok(why) => format!("{} would be asked: {}", entry.participant, super::output::word(&why)),
        Err(why_not) => {
            format!("{} would not: {}", entry.participant, super::output::word(&why_not))
        }
    }));
    Ok(())
}
