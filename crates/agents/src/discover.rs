//! Agents offered without configuration: models whose key, or for Ollama whose address, is in the
//! environment, and programs on the search path.
//!
//! Discovery only lists these agents. It starts no program and sends no request: an agent works,
//! and costs something, only after it was invited and gets a turn.

use std::path::Path;
use std::sync::Arc;

use moothall_engine::agent::Agent;
use moothall_engine::registry::AgentSpec;
use moothall_engine::run_once::RunOnce;
use moothall_kernel::participant::Profile;
use strum::VariantArray;

use crate::command::{CommandSpec, Stdin};
use crate::llm::{Llm, LlmSpec, Provider};
use crate::logins::Login;
use crate::terminal::Vendor;

/// A model that is offered if one of these variables is set.
struct Model {
    client: &'static str,
    provider: Provider,
    model: &'static str,
    variables: &'static [&'static str],
}

const MODELS: [Model; 4] = [
    Model {
        client: "anthropic",
        provider: Provider::Anthropic,
        model: "claude-sonnet-4-5",
        variables: &["ANTHROPIC_API_KEY"],
    },
    Model {
        client: "openai",
        provider: Provider::Openai,
        model: "gpt-5-mini",
        variables: &["OPENAI_API_KEY"],
    },
    Model {
        client: "google",
        provider: Provider::Gemini,
        model: "gemini-flash-latest",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    Model {
        client: "ollama",
        provider: Provider::Ollama,
        model: "llama3.2",
        variables: &["OLLAMA_HOST"],
    },
];

/// Returns all agents that this environment offers. The caller replaces an offered agent by a
/// configured one of the same name. `variable` looks up a variable. `bridge_url` is the server's
/// own address, which is passed to programs.
pub fn discover(variable: impl Fn(&str) -> Option<String>, bridge_url: &str) -> Vec<AgentSpec> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let path = set("PATH").unwrap_or_default();
    let models = MODELS.iter().filter_map(|model| model.offer(&set));
    let programs = Vendor::VARIANTS.iter().filter_map(|&vendor| offer(vendor, &path, bridge_url));
    models.chain(programs).collect()
}

/// Returns the variables of a client, of which one is enough. For a client with a model, each of
/// them makes the server offer the model. For a program, each of them holds a key. Empty for any
/// other client.
pub fn key_variables(client: &str) -> &'static [&'static str] {
    let model = MODELS.iter().find(|model| model.client == client);
    let login = || Login::of(client).map_or(&[][..], |login| login.keys);
    model.map_or_else(login, |model| model.variables)
}

/// Returns the client name and the settings of each model that the environment offers.
pub fn models(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, LlmSpec)> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    MODELS.iter().filter_map(|model| Some((model.client.to_owned(), model.spec(&set)?.1))).collect()
}

impl Model {
    /// Returns the variable for which the model is offered, and the settings of the model. `None`
    /// if no variable is set, or if the variable of Ollama holds no valid address.
    fn spec(&self, set: &impl Fn(&str) -> Option<String>) -> Option<(&'static str, LlmSpec)> {
        let (variable, value) = self.variables.iter().find_map(|name| Some((*name, set(name)?)))?;
        let mut spec = LlmSpec::new(self.provider, self.model);
        if self.provider.needs_key() {
            spec.api_key = Some(value.trim().to_owned());
        } else {
            spec.base_url = Some(self.provider.base_url(&host_url(&value)).ok()?);
        }
        Some((variable, spec))
    }

    fn offer(&self, set: &impl Fn(&str) -> Option<String>) -> Option<AgentSpec> {
        let (variable, spec) = self.spec(set)?;
        let summary = format!(
            "Asks the model {} ({}) for each turn; offered because {variable} is set. Configure [agents.{}] to choose another.",
            self.model, self.provider, self.client
        );
        Some(offered(self.client, self.model, summary, Arc::new(RunOnce::new(Llm::new(spec)))))
    }
}

/// Converts `OLLAMA_HOST` to a URL. The value may be `host`, `:port`, `host:port` or a URL. A
/// wildcard address, on which a server listens, becomes the loopback address.
fn host_url(host: &str) -> String {
    const PORT: &str = "11434";
    let host = host.trim().trim_end_matches('/');
    if host.contains("://") {
        return host.to_owned();
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (name, port)
        }
        _ => (host, PORT),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    format!("http://{name}:{port}")
}

/// Returns an agent that runs the vendor's program for each turn, with the prompt on stdin and the
/// answer on stdout. `None` if the program is not on the search path, or if it cannot run for a
/// single turn.
fn offer(vendor: Vendor, path: &str, bridge_url: &str) -> Option<AgentSpec> {
    let launch = &vendor.table().launch;
    let (client, arguments) = (launch.name?, launch.once?);
    let file = std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(client))
        .find(|file| crate::command::is_program(file))?;
    let summary = format!(
        "Runs {client} for each turn, in the folder of the conversation or the server, with its own login; offered because it is installed."
    );
    Some(offered(
        client,
        client,
        summary,
        Arc::new(RunOnce::new(spec(&file, arguments, bridge_url))),
    ))
}

/// Returns the program with these arguments, which reads the prompt on its standard input.
fn spec(file: &Path, arguments: &[&str], bridge_url: &str) -> CommandSpec {
    let program = std::iter::once(file.to_string_lossy().into_owned());
    let argv = program.chain(arguments.iter().map(|argument| (*argument).to_owned()));
    CommandSpec {
        stdin: Stdin::Prompt,
        bridge_url: bridge_url.to_owned(),
        ..CommandSpec::new(argv)
    }
}

/// Returns the registry's entry of a discovered agent.
fn offered(client: &str, model: &str, summary: String, agent: Arc<dyn Agent>) -> AgentSpec {
    let profile = Profile {
        client: Some(client.to_owned()),
        model: Some(model.to_owned()),
        ..Profile::default()
    };
    AgentSpec {
        client: client.to_owned(),
        summary,
        profile,
        origin: "discovered",
        run_as: None,
        agent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_be_written_in_many_ways() {
        for (given, url) in [
            ("localhost", "http://localhost:11434"),
            ("box:8080", "http://box:8080"),
            (":8080", "http://127.0.0.1:8080"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("https://box.example/ollama/", "https://box.example/ollama"),
        ] {
            assert_eq!(host_url(given), url, "{given}");
        }
    }
}
