//! An agent of the tasks of a server, which answers whoever names it:
//!
//! ```sh
//! cargo run -p moothall --example agent -- http://127.0.0.1:5111 ada
//! ```
//!
//! It registers under that name, and prints its key: put it into `MOOTHALL_AGENT_KEY`, and the same
//! agent comes again.

pub mod client;
pub mod hearing;

use client::{Agent, Fault, register};
use hearing::text_of;
use serde_json::Value;

/// Your part: what is said to whoever named the agent.
async fn answer(message: &Value) -> String {
    format!("I have read: {}", text_of(message))
}

/// Answers until the server does not want the agent any more.
pub async fn take_part(mut agent: Agent) -> Result<(), Fault> {
    loop {
        let message = agent.next().await?;
        if agent.is_named(&message) {
            let words = answer(&message).await;
            // A conversation may be archived meanwhile.
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
    // Printed before anything can fail: a name whose key is lost is freed by a person alone.
    println!("The key of {name} is {key}");
    let agent = Agent::connect(base, &key).await?;
    println!("{name} is {}", agent.id.as_str().unwrap_or_default());
    take_part(agent).await
}
