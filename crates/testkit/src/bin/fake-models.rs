//! Fake model providers, to try Moothall with models but without a network or a key.

use std::net::SocketAddr;
use std::time::Duration;

use moothall_testkit::model_server::{ModelServer, Reply};

const USAGE: &str = "Usage: fake-models [ADDRESS]   (default 127.0.0.1:5199; port 0 picks one)";

/// A text long enough to watch, to stop and to wrap on any screen, with wide, combined and
/// right-to-left characters.
const SLOW: &str = "This is fake-slow, a fake model that takes its time, one word after the other, so that you can watch an answer grow, \
    stop it half way, or restart the server meanwhile. Wide characters take two columns each: 会议室里有很多人 と エージェント, and so do 🚀 and 👩‍🚀. \
    Accents may be letters of their own: e\u{301}te\u{301}. Some words are written from right to left: שלום.\n\n\
    A second paragraph, with a list:\n\n- the first thing, which is short\n- the second thing, which is so much longer that no narrow \
    terminal can hold all of it in a single line of text\n\n```sh\necho \"and a line of code\"\n```\n\nThat was all.";

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:5199".to_owned());
    let Ok(address) = argument.parse::<SocketAddr>() else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    let server = ModelServer::bind(address).await?;
    server.always("fake-slow", Reply::text(SLOW).every(Duration::from_millis(120)));
    server.always("fake-quiet", Reply::text("[PASS]"));
    server.always("fake-broken", Reply::refusal(400, "This model is broken on purpose."));
    println!("{}", settings(&server.url()));
    server.run().await
}

/// Returns the configuration that uses the server.
fn settings(url: &str) -> String {
    format!(
        "Fake models at {url}: Anthropic, OpenAI, Gemini and Ollama. They repeat what was said, and pass when asked to \"pass\".\n\
         `fake-slow` takes its time, `fake-quiet` always passes, `fake-broken` always fails.\n\n\
         [agents.fake-claude]\nruntime = \"llm\"\nprovider = \"anthropic\"\nmodel = \"fake-small\"\nbase_url = \"{url}\"\n\n\
         [agents.fake-gpt]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"fake-large\"\nbase_url = \"{url}\"\n\n\
         [agents.fake-slow]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"fake-slow\"\nbase_url = \"{url}\"\n\n\
         Programs: ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=fake   GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY=fake"
    )
}
