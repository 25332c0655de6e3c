//! Turns: briefed, run, ended once, and run again after a restart.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use moothall_engine::agent::Agent;
use moothall_engine::hall::{Signal, Update};
use moothall_engine::ports::Clock;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::event::{Event, Outcome, RecordedEvent, SuppressedBecause};
use moothall_kernel::ids::TurnNo;
use moothall_kernel::participant::OnLost;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Millis;

use crate::common::{
    Careful, Dawdler, Flood, Parrot, Rebuilt, SharedAgent, Slow, World, agent, eventually, has,
    words,
};

mod draining;
mod waited;

fn slow() -> (Arc<Slow>, Arc<dyn Agent>) {
    let slow = Arc::new(Slow::default());
    (slow.clone(), agent(SharedAgent(slow)))
}

fn ended(event: &Event) -> Option<Outcome> {
    if let Event::TurnEnded { outcome, .. } = event { Some(*outcome) } else { None }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_answers_at_once_costs_one_append_for_each_turn() {
    let world = World::with(&[("parrot", agent(Parrot("here")))]).await;
    let stream = world.create_as(PolicyName::Hybrid).await;
    for id in ["a", "b", "c"] {
        world.invite(&stream, id, "parrot").await;
    }
    let before = world.log.appended();
    world.post(&stream, "@a @b @c hello").await.unwrap();
    let events =
        world.until(&stream, |events| has(events, |event| *event == Event::RoundClosed)).await;
    let turns = events.iter().filter(|recorded| ended(&recorded.event).is_some()).count();
    assert!(turns >= 3, "{events:#?}");
    assert_eq!(world.log.appended() - before, 1 + turns, "the post, and one for each turn");
    assert_eq!(events.iter().filter_map(words).count(), 1 + turns);
}

/// The first turn of a conversation.
const FIRST: TurnNo = TurnNo(1);

#[tokio::test(start_paused = true)]
async fn the_context_of_a_past_turn_is_the_one_that_its_agent_got() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "the weather is fine").await.unwrap();
    world.post(&stream, "@s is it?").await.unwrap();
    eventually(async || (!slow.asked().is_empty()).then_some(())).await;
    let job = slow.jobs.lock().unwrap()[0].clone();
    let cancel = ClientCommand::Cancel { turn: FIRST, by: Actor::human("user") };
    world.hall.submit(&stream, cancel, None).await.unwrap();
    world.invite(&stream, "later", "slow").await;
    world.post(&stream, "said afterwards").await.unwrap();
    assert_eq!(world.hall.context(&stream, FIRST).await.unwrap(), None);
    let past = world.hall.past_context(&stream, FIRST).await.unwrap().unwrap();
    assert_eq!((past.system, past.text), (job.prompt.system, job.prompt.text));
    assert_eq!(world.hall.past_context(&stream, TurnNo(99)).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_told_what_was_said() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "the weather is fine").await.unwrap();
    world.post(&stream, "@s is it?").await.unwrap();
    eventually(async || (!slow.asked().is_empty()).then_some(())).await;
    let job = slow.jobs.lock().unwrap()[0].clone();
    assert!(job.prompt.text.contains("the weather is fine"), "{}", job.prompt.text);
    assert_eq!(words(&job.trigger).unwrap().1, "@s is it?");
    assert_eq!(
        job.window.iter().filter_map(words).map(|(_, body)| body).collect::<Vec<_>>(),
        ["the weather is fine", "@s is it?"]
    );
    assert_eq!(job.limit, Millis::from_secs(600));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_a_restart_lost_runs_again_and_its_late_result_is_not_shown() {
    let (first, runs) = slow();
    let world = World::with(&[("slow", runs.clone())]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    assert_eq!(first.asked(), [(1, 1)]);

    let (second, runs_again) = slow();
    let world = world.restart(&[("slow", runs_again)]).await;
    eventually(async || (!second.asked().is_empty()).then_some(())).await;
    assert_eq!(second.asked(), [(1, 2)]);
    second.say("the second try");
    let events = world.until(&stream, |events| has(events, |event| ended(event).is_some())).await;
    assert_eq!(events.iter().filter_map(words).next_back().unwrap().1, "the second try");

    let late = moothall_kernel::command::EngineCommand::Finished {
        turn: moothall_kernel::ids::TurnNo(1),
        attempt: 1,
        result: Ok("the first try".into()),
        usage: Default::default(),
    };
    world.hall.tell(&stream, late, None).await.unwrap();
    let events = world.events(&stream).await;
    assert_eq!(events.iter().filter_map(words).count(), 2);
    assert!(has(&events, |event| matches!(
        event,
        Event::Suppressed { because: SuppressedBecause::Late, .. }
    )));
    drop(runs);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_must_not_run_twice_ends_as_interrupted() {
    let fragile = || Arc::new(Slow { on_lost: Some(OnLost::Fail), ..Slow::default() });
    let world = World::with(&[("slow", agent(SharedAgent(fragile())))]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    let second = fragile();
    let world = world.restart(&[("slow", agent(SharedAgent(second.clone())))]).await;
    let interrupted = |event: &Event| matches!(event, Event::TurnEnded { fault: Some(fault), .. } if fault.code == "interrupted");
    world.until(&stream, |events| has(events, interrupted)).await;
    assert_eq!(second.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn a_runtime_that_outlived_the_restart_is_attached_to_again() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs.clone())]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    let world = world.restart(&[("slow", runs)]).await;
    world.until(&stream, |_| true).await;
    assert_eq!(slow.asked(), [(1, 1)]);
    assert!(!has(&world.events(&stream).await, |event| event.kind() == "turn_lost"));
    assert_eq!(world.hall.live_streams(), 1);
}

#[tokio::test(start_paused = true)]
async fn time_that_nobody_ran_does_not_count_against_a_turn() {
    let (_first, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    world.clock.sleep_through(Millis::from_secs(24 * 3600));
    let (second, runs) = slow();
    let world = world.restart(&[("slow", runs)]).await;
    eventually(async || (!second.asked().is_empty()).then_some(())).await;
    second.say("good morning");
    let events = world.until(&stream, |events| has(events, |event| ended(event).is_some())).await;
    let shifted = |event: &Event| {
        matches!(
            event,
            Event::ClockShifted { downtime } if *downtime > Millis::from_secs(23 * 3600)
        )
    };
    assert!(has(&events, shifted));
    assert!(has(&events, |event| ended(event) == Some(Outcome::Spoke)));
}

#[tokio::test(start_paused = true)]
async fn a_computer_that_slept_does_not_time_its_agents_out() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    world.clock.sleep_through(Millis::from_secs(24 * 3600));
    slow.say("that was a long night");
    let events = world.until(&stream, |events| has(events, |event| ended(event).is_some())).await;
    assert!(has(&events, |event| event.kind() == "resumed"));
    assert!(has(&events, |event| ended(event) == Some(Outcome::Spoke)));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_takes_too_long_expires_and_its_work_is_dropped() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    let events = world
        .until(&stream, |events| has(events, |event| ended(event) == Some(Outcome::Expired)))
        .await;
    assert_eq!(events.iter().filter_map(words).next_back().unwrap().1, "[s failed]");
    eventually(async || (slow.dropped.load(Ordering::SeqCst) == 1).then_some(())).await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_drops_the_work() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    world
        .hall
        .submit(&stream, ClientCommand::Stop { by: Actor::human("user") }, None)
        .await
        .unwrap();
    eventually(async || (slow.dropped.load(Ordering::SeqCst) == 1).then_some(())).await;
    assert!(has(&world.events(&stream).await, |event| ended(event) == Some(Outcome::Cancelled)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_streams_once_it_cannot_be_a_pass_any_more() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    let mut early = world.hall.subscribe(&stream).await.unwrap();
    world.post(&stream, "@s hello").await.unwrap();
    for piece in ["+[PA", "+RTY] ", "+tonight"] {
        slow.say(piece);
        let left = async || slow.answers.lock().unwrap().is_empty().then_some(());
        eventually(left).await;
    }
    let mut heard = String::new();
    while heard != "[PARTY] tonight" {
        if let Update::Signal(signal) = early.updates.recv().await.unwrap()
            && let Signal::Delta { offset, text, .. } = &*signal
        {
            assert_eq!(*offset, heard.len());
            heard.push_str(text);
        }
    }
    let late = world.hall.subscribe(&stream).await.unwrap();
    let [Signal::Delta { offset: 0, text, .. }] = &late.partials[..] else {
        panic!("{:?}", late.partials)
    };
    assert_eq!(text, "[PARTY] tonight");
}

#[tokio::test(start_paused = true)]
async fn those_that_the_server_runs_are_seen_thinking_and_listening() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    let state =
        async || world.hall.presence(&stream).await.unwrap().pop().map(|presence| presence.state);
    eventually(async || state().await.filter(|state| state == "thinking")).await;
    slow.say("done");
    eventually(async || state().await.filter(|state| state == "listening")).await;
    let details = world.hall.presence(&stream).await.unwrap()[0].details.clone().unwrap();
    assert_eq!(details["client"], "slow");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_nobody_waits_for_any_more_is_kept() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    let hall = world.hall.clone();
    let at = stream.clone();
    world.log.close_gate();
    let stopped = tokio::spawn(async move {
        hall.submit(&at, ClientCommand::Stop { by: Actor::human("user") }, None).await
    });
    world.log.waiting.notified().await;
    slow.say("too late");
    eventually(async || (slow.dropped.load(Ordering::SeqCst) == 1).then_some(())).await;
    world.log.open_gate();
    stopped.await.unwrap().unwrap();
    let late = |event: &Event| matches!(event, Event::Suppressed { because: SuppressedBecause::Late, body, .. } if body == "too late");
    world.until(&stream, |events| has(events, late)).await;
    assert_eq!(world.said(&stream).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_participant_that_was_silent_for_long_is_told_the_newest_and_its_cause() {
    let (slow, runs) = slow();
    let world = World::with(&[("slow", runs)]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    for n in 0..3000 {
        world.post(&stream, &format!("message {n}")).await.unwrap();
    }
    world.post(&stream, "@s hello").await.unwrap();
    eventually(async || (!slow.asked().is_empty()).then_some(())).await;
    let job = slow.jobs.lock().unwrap()[0].clone();
    assert!(job.prompt.text.contains("message 2999"));
    assert_eq!(job.window.len(), 25);
    assert_eq!(words(&job.trigger).unwrap().1, "@s hello");
}

/// Returns the number of events read for the turns of two agents that join a conversation of this
/// length.
async fn read_for_turns(messages: usize) -> usize {
    const ROUNDS: usize = 300;
    let world =
        World::with(&[("parrot", agent(Parrot("here"))), ("rebuilt", agent(Rebuilt("there")))])
            .await;
    let stream = world.create().await;
    for n in 0..messages {
        world.post(&stream, &format!("message {n}")).await.unwrap();
    }
    for id in ["parrot", "rebuilt"] {
        world.invite(&stream, id, id).await;
    }
    let mut heard = world.hall.subscribe(&stream).await.unwrap().updates;
    let mut first = 0;
    for round in 0..ROUNDS {
        world.post(&stream, "@parrot @rebuilt what now?").await.unwrap();
        let mut answers = 0;
        while answers < 2 {
            if let Update::Events(events) = heard.recv().await.unwrap() {
                answers += events
                    .iter()
                    .filter(|recorded| ended(&recorded.event) == Some(Outcome::Spoke))
                    .count();
            }
        }
        first = if round == 0 { world.log.read_events() } else { first };
    }
    world.log.read_events() - first
}

#[tokio::test(start_paused = true)]
async fn a_turn_reads_nothing_again_however_long_the_conversation_is() {
    assert_eq!((read_for_turns(20).await, read_for_turns(5_000).await), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_permission_goes_to_a_person_and_the_choice_to_the_agent() {
    let world = World::with(&[("careful", agent(Careful::default()))]).await;
    let stream = world.create().await;
    world.invite(&stream, "c", "careful").await;
    world.post(&stream, "@c go").await.unwrap();
    world
        .until(&stream, |events| has(events, |event| event.kind() == "permission_requested"))
        .await;
    let answer = ClientCommand::AnswerPermission {
        permission: "p1".into(),
        option: "no".into(),
        text: None,
        by: Actor::human("user"),
    };
    world.hall.submit(&stream, answer, None).await.unwrap();
    let events = world.until(&stream, |events| has(events, |event| ended(event).is_some())).await;
    assert_eq!(events.iter().filter_map(words).next_back().unwrap().1, "Some(\"no\")");
    world.post(&stream, "@c and again").await.unwrap();
    let events = world.until(&stream, |events| events.iter().filter_map(words).count() == 4).await;
    assert!(has(&events, |event| event.kind() == "permission_withdrawn"));
    assert_eq!(events.iter().filter_map(words).next_back().unwrap().1, "None");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_streamed_text_is_cut_and_the_answer_comes_last() {
    let world = World::with(&[("flood", agent(Flood))]).await;
    let stream = world.create().await;
    world.invite(&stream, "f", "flood").await;
    let mut subscription = world.hall.subscribe(&stream).await.unwrap();
    world.post(&stream, "@f go").await.unwrap();
    world.until(&stream, |events| has(events, |event| ended(event) == Some(Outcome::Spoke))).await;
    let (mut streamed, mut answered) = (0, false);
    while let Ok(update) = subscription.updates.try_recv() {
        match update {
            Update::Events(events) => answered |= has(&events, |event| ended(event).is_some()),
            Update::Signal(signal) => {
                let Signal::Delta { text, .. } = &*signal else { continue };
                assert!(!answered, "a piece of the answer came after it");
                streamed += text.len();
            }
        }
    }
    assert!((1..=1 << 20).contains(&streamed), "{streamed}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_cools_down_is_granted_when_its_time_comes() {
    let world = World::with(&[("parrot", agent(Parrot("here")))]).await;
    let stream = world.create_with(Policy::named(PolicyName::Hybrid)).await;
    world.invite(&stream, "p", "parrot").await;
    world.post(&stream, "@p one").await.unwrap();
    world.until(&stream, |events| events.iter().filter_map(words).count() == 2).await;
    let spoke = world.clock.now();
    world.post(&stream, "@p two").await.unwrap();
    world.until(&stream, |events| events.iter().filter_map(words).count() == 4).await;
    assert!(world.clock.now().since(spoke) >= Millis(1900));
}

/// Asserts that each turn ended once, and has at most one visible answer.
fn assert_settled(events: &[RecordedEvent]) {
    assert!(events.iter().map(|recorded| recorded.seq.0).eq(1..=events.len() as u64));
    let count = |turn: u64, wanted: fn(&Event) -> Option<u64>| {
        events.iter().filter(|recorded| wanted(&recorded.event) == Some(turn)).count()
    };
    let granted =
        events.iter().filter(|recorded| recorded.event.kind() == "turn_granted").count() as u64;
    for turn in 1..=granted {
        let ends = count(turn, |event| {
            if let Event::TurnEnded { turn, .. } = event { Some(turn.0) } else { None }
        });
        let answers = count(turn, |event| {
            if let Event::Posted(posted) = event { posted.turn.map(|turn| turn.0) } else { None }
        });
        assert_eq!(ends, 1, "turn {turn} of {granted}");
        assert!(answers <= 1, "turn {turn} was answered {answers} times");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_again_and_again_answers_everything_once() {
    let agents = || [("dawdler", agent(Dawdler))];
    let mut world = World::with(&agents()).await;
    let stream = world.create_as(PolicyName::Hybrid).await;
    for id in ["a", "b", "c"] {
        world.invite(&stream, id, "dawdler").await;
    }
    for life in 0..60 {
        world.post(&stream, &format!("@a @c message {life}")).await.unwrap();
        for _ in 0..life % 12 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(life % 5)).await;
        world = world.restart(&agents()).await;
    }
    let idle = async || {
        let idle = |state: &Conversation| {
            state.open_turns().next().is_none() && state.queued().next().is_none()
        };
        world.hall.view(&stream, idle).await.unwrap().then_some(())
    };
    eventually(idle).await;
    let events = world.events(&stream).await;
    assert_settled(&events);
    assert!(
        has(&events, |event| event.kind() == "turn_lost"),
        "no life ended in the middle of a turn"
    );
    assert_eq!(events.iter().filter_map(words).filter(|(from, _)| from != "user").count(), 120);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_leave_no_gap_and_every_listener_hears_all() {
    let world = Arc::new(World::with(&[("parrot", agent(Parrot("here")))]).await);
    let mut listeners = Vec::new();
    let mut posters = Vec::new();
    for _ in 0..8 {
        let stream = world.create().await;
        world.invite(&stream, "p", "parrot").await;
        let mut subscription = world.hall.subscribe(&stream).await.unwrap();
        for poster in 0..4 {
            let (world, stream) = (world.clone(), stream.clone());
            posters.push(tokio::spawn(async move {
                for n in 0..20 {
                    world.post(&stream, &format!("@p {poster} {n}")).await.unwrap();
                }
            }));
        }
        listeners.push((
            stream,
            tokio::spawn(async move {
                let mut heard: Vec<RecordedEvent> = Vec::new();
                let quiet = |heard: &[RecordedEvent]| {
                    let asked =
                        heard.iter().filter_map(words).filter(|(from, _)| from == "user").count();
                    let granted = heard
                        .iter()
                        .filter(|recorded| recorded.event.kind() == "turn_granted")
                        .count();
                    let ended =
                        heard.iter().filter(|recorded| ended(&recorded.event).is_some()).count();
                    asked == 80 && granted == ended
                };
                while !quiet(&heard) {
                    if let Update::Events(events) = subscription.updates.recv().await.unwrap() {
                        heard.extend(events.iter().cloned());
                    }
                }
                heard
            }),
        ));
    }
    for poster in posters {
        poster.await.unwrap();
    }
    for (stream, listener) in listeners {
        let heard = listener.await.unwrap();
        let events = world.events(&stream).await;
        assert!(events.iter().map(|recorded| recorded.seq.0).eq(1..=events.len() as u64));
        assert_eq!(heard[..], events[events.len() - heard.len()..]);
        assert_eq!(heard[0].seq.0, 3);
    }
}

#[tokio::test(start_paused = true)]
async fn turns_of_a_client_that_a_restart_does_not_know_end_and_block_nobody() {
    let (first, runs) = slow();
    let world = World::with(&[("slow", runs), ("parrot", agent(Parrot("here I am")))]).await;
    let stream = world.create_as(PolicyName::Hybrid).await;
    world.invite(&stream, "s", "slow").await;
    world.invite(&stream, "p", "parrot").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    assert_eq!(first.asked().len(), 1);
    world.post(&stream, "@p are you there?").await.unwrap();

    let world = world.restart(&[("parrot", agent(Parrot("here I am")))]).await;
    let removed = |event: &Event| matches!(event, Event::TurnEnded { fault: Some(fault), .. } if fault.code == "client_removed");
    let begun = tokio::time::Instant::now();
    world
        .until(&stream, |events| {
            has(events, removed) && events.iter().filter_map(words).any(|said| said.0 == "p")
        })
        .await;
    assert!(begun.elapsed() < Duration::from_secs(5), "it waited for {:?}", begun.elapsed());
}

/// After a stop, as by SIGSTOP, a debugger or a frozen container, a process sees both of its clocks
/// far ahead.
#[tokio::test(start_paused = true)]
async fn an_agent_is_not_late_because_the_server_stood_still() {
    for stood in [12, 60, 3600] {
        let slow = Arc::new(Slow::default());
        let world = World::with(&[("slow", agent(SharedAgent(slow.clone())))]).await;
        let stream = world
            .create_with(Policy {
                agent_reply_timeout: Some(Millis::from_secs(10)),
                ..Policy::default()
            })
            .await;
        world.invite(&stream, "s", "slow").await;
        world.post(&stream, "@s hello").await.unwrap();
        eventually(async || (!slow.jobs.lock().unwrap().is_empty()).then_some(())).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        tokio::time::advance(Duration::from_secs(stood)).await;
        // Let the host see the clock jump before the answer arrives.
        tokio::time::sleep(Duration::from_millis(10)).await;
        slow.say("in time");
        let events = world
            .until(&stream, |events| has(events, |event| matches!(event, Event::TurnEnded { .. })))
            .await;
        let outcome =
            |event: &Event| matches!(event, Event::TurnEnded { outcome: Outcome::Spoke, .. });
        assert!(has(&events, outcome), "after {stood} s: {events:?}");
        assert!(
            has(&events, |event| matches!(event, Event::ClockShifted { .. })),
            "after {stood} s"
        );
    }
}

/// Without a stop, an agent that says nothing still reaches its time limit.
#[tokio::test(start_paused = true)]
async fn an_agent_that_says_nothing_is_late_after_its_own_time() {
    let slow = Arc::new(Slow::default());
    let world = World::with(&[("slow", agent(SharedAgent(slow.clone())))]).await;
    let stream = world
        .create_with(Policy {
            agent_reply_timeout: Some(Millis::from_secs(10)),
            ..Policy::default()
        })
        .await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    eventually(async || (!slow.jobs.lock().unwrap().is_empty()).then_some(())).await;
    let begun = tokio::time::Instant::now();
    world
        .until(&stream, |events| {
            has(events, |event| matches!(event, Event::TurnEnded { outcome: Outcome::Expired, .. }))
        })
        .await;
    assert_eq!(begun.elapsed().as_secs(), 10);
}
