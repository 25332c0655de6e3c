//! Text written so that the program that gets it does not obey or change any part of it.

use std::path::PathBuf;

use moothall_engine::sessions::{HostFault, Pane, Paste, SessionId};

use super::control::Control;
use super::obeyed::{ComposerWords, Nearby, Places, as_words, changed, with_files};
use super::tmux_command::TmuxCommand;
use super::{Program, TmuxHost};
use crate::run_as::Account;

impl TmuxHost {
    /// Returns the text in a form in which this program obeys nothing. Patches and code that the
    /// program would change are replaced by files, unless these cannot be written.
    pub(super) async fn worded(
        &self,
        control: &Control,
        pane: &Pane,
        client: &str,
        paste: Paste,
    ) -> Result<ComposerWords, HostFault> {
        let Paste { session, text, bodies } = paste;
        let vendor = self.vendor(client);
        let places = self.places(control, pane, client).await?;
        let (said, near) = (text.clone(), places.clone());
        let blocks = blocking(move || changed(vendor, &said, &bodies, &Nearby::of(near))).await?;
        let texts: Vec<String> =
            blocks.iter().map(|block| text[block.clone()].to_owned()).collect();
        let files = self.filed(pane, client, &session, texts).await;
        blocking(move || {
            let nearby = Nearby::of(places);
            with_files(vendor, &text, &blocks, &files, &nearby)
                .unwrap_or_else(|| as_words(vendor, &text, &nearby))
        })
        .await
    }

    /// Writes blocks to files for the program in a pane. Returns no files if there are no blocks,
    /// or if they cannot be written.
    async fn filed(
        &self,
        pane: &Pane,
        client: &str,
        session: &SessionId,
        texts: Vec<String>,
    ) -> Vec<PathBuf> {
        if texts.is_empty() {
            return Vec::new();
        }
        let kept = match self.account_in(pane, client) {
            Ok(account) => self.injector.keep_words(account.as_ref(), session, texts).await,
            Err(why) => Err(std::io::Error::other(why)),
        };
        kept.unwrap_or_else(|error| {
            tracing::warn!(%session, %error, "text that a program would change could not be \
                                              written to a file");
            Vec::new()
        })
    }

    /// Returns the user that the program in a pane runs as, if not the server's own. Panes on
    /// another tmux server belong to the server's own user.
    fn account_in(&self, pane: &Pane, client: &str) -> Result<Option<Account>, String> {
        let programs = self.known();
        let account = programs.get(client).map_or(Ok(None), Program::account)?;
        Ok(account.filter(|_| pane.socket.is_empty()))
    }

    /// Returns the folders in which the program in a pane finds its files.
    async fn places(
        &self,
        control: &Control,
        pane: &Pane,
        client: &str,
    ) -> Result<Places, HostFault> {
        let work = self.work_of(control, pane).await?;
        let programs = self.known();
        let program = programs.get(client);
        let account = program.and_then(|program| program.account().ok().flatten());
        let given = |name: &str| {
            let own = program.and_then(|program| program.env.get(name)).map(PathBuf::from);
            own.or_else(|| std::env::var_os(name).filter(|_| account.is_none()).map(PathBuf::from))
        };
        let home = account.as_ref().map(|account| account.home().to_owned());
        Ok(Places { work, home: given("HOME").or(home), codex: given("CODEX_HOME") })
    }

    /// Returns the working directory of the program in a pane, if known.
    pub(super) async fn work_of(
        &self,
        control: &Control,
        pane: &Pane,
    ) -> Result<Option<PathBuf>, HostFault> {
        let work = TmuxCommand::of("display-message -p -t")
            .words([pane.id.as_str(), "#{pane_current_path}"]);
        let work = control.run(&work).await?.into_iter().next();
        Ok(work.filter(|path| !path.is_empty()).map(PathBuf::from))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HostFault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| HostFault::Failed(error.to_string()))
}
