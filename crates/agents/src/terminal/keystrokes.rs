//! Keystrokes of a person, typed into a pane as they are.

use moothall_engine::sessions::{HostFault, Keystroke, NamedKey, Pane};

use super::TmuxHost;
use super::hygiene::for_composer;
use super::tmux_command::TmuxCommand;

impl TmuxHost {
    /// Types keystrokes into a pane that still runs the same process.
    pub(super) async fn type_keystrokes(
        &self,
        pane: &Pane,
        keys: &[Keystroke],
    ) -> Result<(), HostFault> {
        let control = self.same(pane).await?;
        for key in keys {
            if let Keystroke::Paste(text) = key {
                self.typing(&control, pane, None).load(&for_composer(text)).await?;
            } else if let Some(command) = command(pane, key) {
                control.run(&command).await?;
            }
        }
        Ok(())
    }
}

/// Returns the command for a keystroke. `None` for a paste, and for text without a character to
/// type.
fn command(pane: &Pane, key: &Keystroke) -> Option<TmuxCommand> {
    let keys = |flags: &'static str| TmuxCommand::of(flags).word(&pane.id);
    match key {
        Keystroke::Text(text) => {
            // A control character is a key, and keys have names.
            let text: String = text.chars().filter(|c| !c.is_control()).collect();
            (!text.is_empty()).then(|| keys("send-keys -l -t").words(["--", &text]))
        }
        Keystroke::Named(key) => Some(keys("send-keys -t").word(name(*key))),
        Keystroke::Control(letter) => Some(keys("send-keys -t").word(&format!("C-{letter}"))),
        Keystroke::Paste(_) => None,
    }
}

/// Returns the name that tmux has for a key.
fn name(key: NamedKey) -> &'static str {
    match key {
        NamedKey::Enter => "Enter",
        NamedKey::Escape => "Escape",
        NamedKey::Tab => "Tab",
        NamedKey::BackTab => "BTab",
        NamedKey::Backspace => "BSpace",
        NamedKey::Delete => "DC",
        NamedKey::Up => "Up",
        NamedKey::Down => "Down",
        NamedKey::Left => "Left",
        NamedKey::Right => "Right",
        NamedKey::Home => "Home",
        NamedKey::End => "End",
        NamedKey::PageUp => "PPage",
        NamedKey::PageDown => "NPage",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_a_key_or_an_option() {
        let pane = Pane { id: "%3".into(), ..Pane::default() };
        let line = |key: &Keystroke| command(&pane, key).map(|command| command.line().to_owned());
        let text = |text: &str| line(&Keystroke::Text(text.into()));
        assert_eq!(text("-t Enter").as_deref(), Some(r#"send-keys -l -t "%3" "--" "-t Enter""#));
        assert_eq!(
            text("a\u{1b}[201~\n\";x").as_deref(),
            Some(r#"send-keys -l -t "%3" "--" "a[201\176\";x""#)
        );
        assert_eq!(text("\r\n"), None);
        let key = Keystroke::Control('c');
        assert_eq!(line(&key).as_deref(), Some(r#"send-keys -t "%3" "C-c""#));
    }
}
