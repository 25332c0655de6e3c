//! Fake model providers, to try Moothall with models and without a network or a key.

use std::net::SocketAddr;

use moothall_testkit::model_server::ModelServer;

const USAGE: &str = "Usage: fake-models [ADDRESS]   (default 127.0.0.1:5199; port 0 picks one)";

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:5199".to_owned());
    let Ok(address) = argument.parse::<SocketAddr>() else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    let server = ModelServer::bind(address).await?;
    println!("{}", settings(&server.url()));
    server.run().await
}

/// What to write into a configuration to use it.
fn settings(url: &str) -> String {
    format!(
        "Fake models at {url}: Anthropic, OpenAI, Gemini and Ollama. They repeat what was said, and pass when asked to \"pass\".\n\n\
         [agents.fake-claude]\nruntime = \"llm\"\nprovider = \"anthropic\"\nmodel = \"fake-small\"\nbase_url = \"{url}\"\n\n\
         [agents.fake-gpt]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"fake-large\"\nbase_url = \"{url}\"\n\n\
         Programs: ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=fake   GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY=fake"
    )
}
