//! A turn of the stand-in: the instructions of its prompt, and its end.

use std::collections::VecDeque;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::choosing::{ChoiceOutcome, OpenChoice};
use super::keys::Key;
use super::{Next, PLANTED, Tui, Wake, hooks};

/// A turn in progress.
pub(super) struct Turn {
    prompt: String,
    /// Time at which the work is done; `None` if only an interrupt ends it.
    pub(super) until: Option<Instant>,
    denied: Option<String>,
    /// The chosen answer, or "nothing" if the user declined.
    chosen: Option<String>,
    /// Permissions still to ask for, one after the other.
    asks: VecDeque<String>,
}

impl Tui {
    /// Begins a turn with all waiting prompts.
    pub(super) fn begin(&mut self) -> Next {
        let prompts = std::mem::take(&mut self.waiting);
        for prompt in &prompts {
            self.screen.say('❯', prompt);
            self.log(prompt);
            self.hook("UserPromptSubmit", "prompt", prompt);
        }
        let prompt = prompts.join("\n");
        if prompt.contains("[shell]") {
            return Next::Shell;
        }
        if prompt.contains("[die]") {
            return Next::Exit(0);
        }
        if let Some(code) = directive(&prompt, "die") {
            return Next::Exit(code.parse().unwrap_or(1));
        }
        let until = match directive(&prompt, "work") {
            Some("hold") => None,
            Some(millis) => {
                Some(Instant::now() + Duration::from_millis(millis.parse().unwrap_or_default()))
            }
            None => Some(Instant::now() + self.options.work),
        };
        if let Some(command) = directive(&prompt, "tool") {
            self.hook_with("PreToolUse", tool_input(command));
        }
        let asks = directives(&prompt, "ask").map(str::to_owned).collect();
        let choosing = directive(&prompt, "choose").map(OpenChoice::of);
        self.turn = Some(Turn { prompt, until, denied: None, chosen: None, asks });
        match choosing {
            Some(choosing) => self.ask_which(choosing),
            None => self.ask_next(),
        }
        Next::On
    }

    /// Asks for the turn's next permission, if any is left.
    fn ask_next(&mut self) {
        let Some(action) = self.turn.as_mut().and_then(|turn| turn.asks.pop_front()) else {
            return;
        };
        self.questions += 1;
        let payload = self.payload("PermissionRequest", tool_input(&action));
        for command in self.options.hooks("PermissionRequest") {
            let (question, wakes, payload) = (self.questions, self.wakes.clone(), payload.clone());
            thread::spawn(move || {
                if let Some(allowed) = hooks::decision(&hooks::call(&command, &payload)) {
                    // The program may be ending; then the decision does not matter.
                    let _ = wakes.send(Wake::Decided(question, allowed));
                }
            });
        }
        self.screen.asking = Some(action);
    }

    /// Asks the user a question. A hook is called but cannot answer it.
    fn ask_which(&mut self, choosing: OpenChoice) {
        let payload = self.payload(
            "PermissionRequest",
            json!({"tool_name": "AskUserQuestion", "tool_input": choosing.report()}),
        );
        for command in self.options.hooks("PermissionRequest") {
            let payload = payload.clone();
            thread::spawn(move || hooks::call(&command, &payload));
        }
        self.screen.choosing = Some(choosing);
    }

    /// Passes a key to the question.
    pub(super) fn choose(&mut self, key: Key) -> Next {
        let chosen = match self.screen.choosing.as_mut().map(|choosing| choosing.key(key)) {
            Some(ChoiceOutcome::Answer(answer)) => answer,
            Some(ChoiceOutcome::Declined) => "nothing".to_owned(),
            Some(ChoiceOutcome::Nothing) | None => return Next::On,
        };
        self.screen.choosing = None;
        if let Some(turn) = &mut self.turn {
            turn.chosen = Some(chosen);
        }
        self.ask_next();
        Next::On
    }

    /// Takes the first decision on a permission, from a hook or the user.
    pub(super) fn decided(&mut self, allowed: bool) -> Next {
        let Some(action) = self.screen.asking.take() else { return Next::On };
        self.questions += 1;
        if action == PLANTED {
            self.screen.say('⎿', if allowed { "Planted: yes" } else { "Planted: no" });
            return Next::On;
        }
        if let Some(turn) = self.turn.as_mut().filter(|_| !allowed) {
            turn.denied = Some(action);
            turn.until = Some(Instant::now());
            turn.asks.clear();
        }
        self.ask_next();
        Next::On
    }

    /// Ends the turn when its work is done.
    pub(super) fn finish(&mut self) -> Next {
        let Some(turn) = self.turn.take() else { return Next::On };
        let answer = match (turn.denied, turn.chosen) {
            (Some(action), _) => format!("Not allowed: {action}"),
            (None, Some(chosen)) => format!("Chosen: {chosen}"),
            (None, None) => self.reply(&turn.prompt),
        };
        if !answer.is_empty() {
            self.screen.say('●', &answer);
        }
        self.hook("Stop", "last_assistant_message", &answer);
        if self.waiting.is_empty() { Next::On } else { self.begin() }
    }

    fn reply(&mut self, prompt: &str) -> String {
        match directive(prompt, "say") {
            Some(text) => text.to_owned(),
            None if self.options.quiet || prompt.contains("[silent]") => String::new(),
            None => {
                self.answers.pop_front().unwrap_or_else(|| format!("I was told: {}", prompt.trim()))
            }
        }
    }

    /// Calls all hooks of an event, and waits for them.
    pub(super) fn hook(&self, event: &str, key: &str, value: &str) {
        self.hook_with(event, json!({ key: value }));
    }

    fn hook_with(&self, event: &str, more: Value) {
        let commands = self.options.hooks(event);
        if commands.is_empty() {
            return;
        }
        let payload = self.payload(event, more);
        for command in commands {
            hooks::call(&command, &payload);
        }
    }

    fn payload(&self, event: &str, more: Value) -> Value {
        let cwd = std::env::current_dir().unwrap_or_default();
        let mut payload = json!({
            "session_id": self.options.session_id,
            "transcript_path": "",
            "cwd": cwd,
            "hook_event_name": event,
        });
        if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
            payload.extend(more);
        }
        if let (Some(payload), "Stop") = (payload.as_object_mut(), event) {
            payload.insert("stop_hook_active".to_owned(), false.into());
        }
        payload
    }

    fn log(&self, prompt: &str) {
        let Some(path) = &self.options.log else { return };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        // Several programs may share the file. A single write is not torn by another.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let ms = u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or_default();
        let line = format!("{}\n", json!({ "prompt": prompt, "ms": ms }));
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(why) = written {
            eprintln!("{}: {why}", path.display());
        }
    }
}

fn tool_input(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}})
}

/// Returns the value of `[name:value]`.
fn directive<'a>(prompt: &'a str, name: &str) -> Option<&'a str> {
    directives(prompt, name).next()
}

/// Returns the values of all `[name:value]`, in order.
fn directives<'a>(prompt: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!("[{name}:");
    let mut rest = prompt;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&begin)?;
        let (value, more) = after.split_once(']')?;
        rest = more;
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::{directive, directives};

    #[test]
    fn directives_stand_anywhere() {
        assert_eq!(directive("Ann:\n\nhello [work:20] [say:yes, I do] ", "say"), Some("yes, I do"));
        assert_eq!(directive("[work:", "work"), None);
        assert_eq!(directives("[ask:a] and [ask:b] [ask:", "ask").collect::<Vec<_>>(), ["a", "b"]);
    }
}
