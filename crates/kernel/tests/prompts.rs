//! What prompts say of ranges that were not read whole. All else about prompts stands in the scripts.

#![allow(clippy::unwrap_used, missing_docs)]

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Facts, Invite, Post};
use moothall_kernel::compose::compose;
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::Seq;
use moothall_kernel::participant::{AgentFacts, Profile};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;

#[test]
fn a_prompt_says_when_the_beginning_of_its_range_was_not_read() {
    let (mut state, by) = (Conversation::new("s".into()), Actor::human("user"));
    let profile = Profile { client: Some("x".into()), model: Some("m".into()), ..Profile::default() };
    let invite = Control::Invite(Invite::new("ann", profile, AgentFacts::external()));
    let commands = [
        ClientCommand::Create { name: "Lunch".into(), policy: Policy::default(), by: by.clone() },
        ClientCommand::Control { by: by.clone(), controls: vec![invite] },
        ClientCommand::Post(Post::new(by.clone(), "first")),
        ClientCommand::Post(Post::new(by, "@ann second")),
    ];
    let now = Timestamp::from_millis(1);
    let decided = commands.into_iter().flat_map(|command| state.decide(now, command, &Facts::default()).events);
    let events: Vec<_> = decided.collect();
    let turn = state.open_turns().next().unwrap();
    let prompt = |events: &[Recorded]| compose(&state, turn, Seq(0), state.head(), events).text;
    assert!(prompt(&events).contains("first") && !prompt(&events).contains("left out"));
    let tail = &events[3..];
    assert!(prompt(tail).contains("(earlier messages are left out: more than 1000 events ago)\n[User] @ann second"), "{}", prompt(tail));
}
