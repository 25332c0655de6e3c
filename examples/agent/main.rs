//! An agent in the tasks of a server, which answers messages that name it:
//!
//! ```sh
//! cargo run -p moothall --example agent -- http://127.0.0.1:5111 bob
//! ```
//!
//! The agent registers under that name and prints its key. Put the key into `MOOTHALL_AGENT_KEY` to
//! run the same agent again.

pub mod client;
pub mod hearing;

use client::{Agent, Fault, register};
use hearing::text_of;
use serde_json::Value;

/// Your part: returns the answer to a message that names the agent.
async fn answer(message: &Value) -> String {
    // Without names: two agents that repeat "@iris and @bob" would answer each other without end.
    format!("I have read {} words.", text_of(message).split_whitespace().count())
}

/// Answers until the server rejects the agent.
pub async fn take_part(mut agent: Agent) -> Result<(), Fault> {
    loop {
        let message = agent.next().await?;
        if agent.is_named(&message) {
            let words = answer(&message).await;
            // The conversation may have been archived meanwhile.
            if let Err(fault) = agent.reply(&message, &words).await {
                eprintln!("not said: {fault:?}");
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [base, name] = &args[..] else { panic!("the address of a server, and a name") };
    let key = match std::env::var("MOOTHALL_AGENT_KEY") {
        Ok(key) => key,
        Err(_) => register(base, name).await.expect("a name that nobody has"),
    };
    // Print the key before anything can fail: if it is lost, only a person can free the name.
    println!("The key of {name} is {key}");
    let agent = Agent::connect(base, &key).await?;
    println!("{name} is {}", agent.id.as_str().unwrap_or_default());
    take_part(agent).await
}
