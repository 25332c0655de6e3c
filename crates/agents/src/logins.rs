//! The logins of known programs: the variables and files that hold them. The file of each vendor in
//! `terminal/programs` has the facts.
//!
//! A program inherits only a few of the server's variables. A known program would lose its user's
//! login that way, so it also gets the variables that its vendor documents. An unknown program does
//! not get them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strum::VariantArray;

use crate::terminal::Vendor;

/// The variables and files by which a known program logs in.
#[derive(Debug)]
pub struct Login {
    /// The program's name, which is also the name of its client.
    pub client: &'static str,
    /// Variables that hold a key or a token; any of them is a login.
    pub keys: &'static [&'static str],
    /// Variables that say how to reach the provider, and variables that say if the login is at a
    /// cloud.
    pub(crate) settings: &'static [&'static str],
    /// Variables that are passed on only if another one is set: the login of a cloud, for a program
    /// configured to use that cloud.
    pub(crate) clouds: &'static [(&'static str, &'static [&'static str])],
    /// The variable that names the folder of the program's configuration, and the path of this
    /// folder below the home folder, which counts if the variable is unset.
    pub(crate) home: (&'static str, &'static str),
    /// Files in that folder, each of which is a login by itself.
    pub(crate) files: &'static [&'static str],
    /// The file in that folder in which the user may switch the program's hooks off, and the key
    /// that does so.
    pub(crate) hooks: Option<(&'static str, &'static str)>,
    /// The way for a person to log in.
    pub by_hand: &'static str,
}

/// Variables for proxies and trusted certificates.
const NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
];

pub(crate) const AWS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
];

pub(crate) const GOOGLE_CLOUD: &[&str] = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "CLOUD_ML_REGION",
    "CLOUDSDK_CONFIG",
];

/// Words in the output of a program whose login is missing or refused.
const MISSED: [&str; 10] = [
    "log in",
    "login",
    "logged in",
    "api key",
    "api_key",
    "apikey",
    "unauthorized",
    "authentication",
    "auth method",
    "credential",
];

impl Login {
    /// Returns the login of a known program, by its name or the path of its file.
    pub fn of(program: &str) -> Option<&'static Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        Self::all().find(|login| login.client == name)
    }

    /// Returns the logins of all known programs.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        Vendor::VARIANTS.iter().filter_map(|vendor| vendor.table().launch.login)
    }

    /// Returns the variables of an environment that the program gets in addition to the inherited
    /// ones: those for its network, its keys and its settings, and those of each cloud that is
    /// switched on. Empty values are left out. No variable of the server's own is among them.
    pub fn of_environment(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> BTreeMap<String, String> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let clouds = self
            .clouds
            .iter()
            .filter(|(switch, _)| set(switch).is_some())
            .flat_map(|(_, names)| *names);
        let names = NETWORK.iter().chain(self.keys).chain(self.settings).chain(clouds);
        names.filter_map(|name| Some(((*name).to_owned(), set(name)?))).collect()
    }

    /// Returns the name of the first variable that is set and is a key or switches on a cloud, or
    /// else the path of the first login file that exists. `None` if the program is not logged in.
    pub fn find_login(&self, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let key = self
            .keys
            .iter()
            .chain(self.clouds.iter().map(|(switch, _)| switch))
            .find(|name| variable(name).is_some_and(|value| !value.is_empty()));
        if let Some(key) = key {
            return Some((*key).to_owned());
        }
        let folder = self.folder(variable)?;
        self.files
            .iter()
            .map(|file| folder.join(file))
            .find(|file| file.is_file())
            .map(|file| file.display().to_string())
    }

    /// Returns the folder of the program's configuration. `None` if neither its variable nor `HOME`
    /// is set.
    fn folder(&self, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (home_variable, usual) = self.home;
        set(home_variable).map(PathBuf::from).or_else(|| Some(Path::new(&set("HOME")?).join(usual)))
    }

    /// Returns the settings file that switches hooks off, and the key that does so. Looks at the
    /// user's file first, and then at the files of the project in the folder `project`. `None` if
    /// no file does so. With hooks off, the program's sessions cannot report.
    pub fn hooks_off(
        &self,
        variable: impl Fn(&str) -> Option<String>,
        project: Option<&Path>,
    ) -> Option<(String, &'static str)> {
        let (name, key) = self.hooks?;
        let own = self.folder(variable).map(|folder| folder.join(name));
        let project = project.map(|project| project.join(self.home.1));
        let of_project = project.iter().flat_map(|folder| {
            let local = Path::new(name).with_extension("local.json");
            [folder.join(name), folder.join(local)]
        });
        let is_off = |file: &PathBuf| {
            let text = fs::read_to_string(file).ok()?;
            let settings: Value = serde_json::from_str(&text).ok()?;
            Some(settings[key] == true)
        };
        let mut files = own.into_iter().chain(of_project);
        files.find(|file| is_off(file) == Some(true)).map(|file| (file.display().to_string(), key))
    }

    /// Returns advice for a person if the program's words sound like a missing login.
    pub fn cure(&self, said: &str) -> Option<String> {
        let said = said.to_lowercase();
        MISSED.iter().any(|word| said.contains(word)).then(|| {
            let (key, client) = (self.keys[0], self.client);
            format!(
                "As the server's user, {}; or set {key} for the server, or env = {{ {key} = \"…\" \
                 }} in [agents.{client}].",
                self.by_hand
            )
        })
    }
}

/// Returns the variables added to the inherited ones: the login of a known program from this
/// process's environment, overridden by the configured ones.
pub(crate) fn added_variables(
    login: Option<&Login>,
    configured: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut all = login
        .map(|login| login.of_environment(|name| std::env::var(name).ok()))
        .unwrap_or_default();
    all.extend(configured.clone());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(client: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let lookup = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Login::of(client).unwrap().of_environment(lookup).into_keys().collect()
    }

    #[test]
    fn each_program_gets_its_own_login_and_no_others() {
        let all = [
            ("ANTHROPIC_API_KEY", "a"),
            ("OPENAI_API_KEY", "o"),
            ("GEMINI_API_KEY", "g"),
            ("HTTPS_PROXY", "p"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("CODEX_HOME", ""),
            ("MOOTHALL_TOKEN", "t"),
        ];
        assert_eq!(given("claude", &all), ["ANTHROPIC_API_KEY", "HTTPS_PROXY"]);
        assert_eq!(given("/opt/x/codex", &all), ["HTTPS_PROXY", "OPENAI_API_KEY"]);
        assert_eq!(given("gemini", &all), ["GEMINI_API_KEY", "HTTPS_PROXY"]);
        assert!(Login::of("claude-wrapper").is_none() && Login::of("sh").is_none());
    }

    #[test]
    fn the_login_of_a_cloud_goes_along_where_the_program_was_told_to_use_it() {
        let aws = [("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_SECRET_ACCESS_KEY", "s")];
        assert_eq!(given("claude", &aws), ["AWS_SECRET_ACCESS_KEY", "CLAUDE_CODE_USE_BEDROCK"]);
        assert_eq!(given("codex", &aws), Vec::<String>::new());
    }

    #[test]
    fn nothing_of_the_servers_own_is_on_any_list() {
        for login in Login::all() {
            let everything = login.of_environment(|name| Some(name.to_owned()));
            assert!(
                everything.keys().all(|name| !crate::command::is_own_variable(name)),
                "{}",
                login.client
            );
        }
    }

    #[test]
    fn a_login_is_a_key_or_a_file() {
        let home = tempfile::tempdir().unwrap();
        let codex = Login::of("codex").unwrap();
        let lookup =
            |name: &str| (name == "HOME").then(|| home.path().to_string_lossy().into_owned());
        assert_eq!(codex.find_login(lookup), None);
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        std::fs::write(home.path().join(".codex/auth.json"), "{}").unwrap();
        assert!(codex.find_login(lookup).unwrap().ends_with("/.codex/auth.json"));
        assert_eq!(
            codex.find_login(|name| (name == "OPENAI_API_KEY").then(|| "k".to_owned())).as_deref(),
            Some("OPENAI_API_KEY")
        );
        assert!(codex.cure("Error: you are not logged in").unwrap().contains("codex login"));
        assert_eq!(codex.cure("Out of memory"), None);
    }
}
