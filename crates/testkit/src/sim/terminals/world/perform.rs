//! The server's part for its machine: it looks, types, saves, and fails at it.

use moothall_engine::agent::PermissionAnswer;
use moothall_engine::ports::LogError;
use moothall_engine::sessions::{HostFault, Key, PasteReport, SessionError};
use moothall_kernel::ids::PermissionId;
use moothall_terminals::turn::{Input, KeptItem, Output, PaneContent};

use super::super::super::check::Objection;
use super::super::check;
use super::{MachineWait, SessionWorld};

impl SessionWorld {
    /// Carries out the output that the machine waits for, or gives it the result.
    pub(super) fn go_on(&mut self) -> Result<(), Objection> {
        match self.server.as_mut().and_then(|server| server.outstanding.take()) {
            Some(MachineWait::Wanted(output)) => {
                let is_delicate = matches!(
                    *output,
                    Output::Paste { .. } | Output::Press { .. } | Output::Keep { .. }
                );
                let done = self.perform(*output)?;
                if is_delicate && self.fails(5) {
                    self.crash();
                }
                self.server.iter_mut().for_each(|server| {
                    server.outstanding = Some(MachineWait::Done(Box::new(done.clone())))
                });
                Ok(())
            }
            Some(MachineWait::Done(input)) => self.tell(*input),
            None => Ok(()),
        }
    }

    fn perform(&mut self, output: Output) -> Result<Input, Objection> {
        let broken = || HostFault::Failed("the connection was lost".into());
        Ok(match output {
            Output::See { .. } if self.fails(3) => Input::Seen(None),
            Output::See { lines } => {
                let tail = lines.map(|_| self.program.tail());
                Input::Seen(Some(Box::new(PaneContent {
                    view: self.program.view(self.time),
                    tail,
                })))
            }
            Output::Mark { .. } if self.fails(3) => Input::Marked(Err(LogError::Full)),
            Output::Mark { delivery, from, to, .. } => {
                Input::Marked(self.book.mark(delivery, &from, to))
            }
            Output::Paste { .. } if self.fails(4) => {
                Input::Pasted(Err(HostFault::Refused("somebody types".into())))
            }
            Output::Paste { .. } if self.fails(2) => Input::Pasted(Err(broken())),
            Output::Paste { text, .. } => {
                Input::Pasted(self.paste(&text)?.map(|()| PasteReport::default()))
            }
            Output::Press { .. } if self.fails(2) => Input::Pressed(Err(broken())),
            Output::Press { key } => {
                self.press(key)?;
                Input::Pressed(Ok(()))
            }
            Output::Choose { dialog, chosen, text } => {
                let pressed = self.program.choose(self.time, &dialog, &chosen);
                if pressed.is_ok() {
                    let answered = self.server.as_mut().and_then(|server| server.answered.take());
                    check::answer(&dialog, text.as_deref(), answered.as_ref())?;
                }
                Input::Pressed(pressed)
            }
            Output::Keep { .. } if self.fails(4) => {
                Input::Kept(Err(SessionError::Conflict("not now".into())))
            }
            Output::Keep { steps } => {
                steps.into_iter().try_for_each(|(id, step)| self.keep(&id, step))?;
                Input::Kept(Ok(()))
            }
            Output::Recall { key, permission } => {
                Input::Recalled(self.recall(key.turn.0, &permission))
            }
            Output::LookUp { query } => {
                Input::LookedUp(self.program.recorded(query.tag.as_deref()))
            }
            Output::Report { .. }
            | Output::Reply { .. }
            | Output::AskInNoTurn { .. }
            | Output::WithdrawInNoTurn { .. }
            | Output::Tell { .. }
            | Output::Missing { .. }
            | Output::There
            | Output::Wake { .. } => Input::Drawn,
        })
    }

    fn recall(&self, turn: u64, permission: &PermissionId) -> Option<PermissionAnswer> {
        let option = self.book.turns.get(&turn)?.answered.get(permission).cloned()?;
        Some(PermissionAnswer { option, text: None })
    }

    fn paste(&mut self, text: &str) -> Result<Result<(), HostFault>, Objection> {
        let pasted = self.program.paste(self.time, text);
        if pasted.is_ok() {
            self.watch.typed(&self.book, text)?;
        }
        Ok(pasted)
    }

    fn press(&mut self, key: Key) -> Result<(), Objection> {
        let wanted = key == Key::Escape && std::mem::take(&mut self.escape_wanted);
        check::key(self.program.state(self.time), wanted)?;
        self.program.press(&mut self.rng, &mut self.spool, self.time, key);
        Ok(())
    }

    fn keep(&mut self, id: &str, step: KeptItem) -> Result<(), Objection> {
        match step {
            KeptItem::Native(native) => self.book.native = Some(native),
            KeptItem::Result { key, result }
                if self.book.kept.insert(format!("{id}/{}", key.turn)) =>
            {
                result.iter().try_for_each(|text| check::result(key.turn.0, text))?;
                self.book.end(key.turn.0);
                self.server.iter_mut().for_each(|server| server.done.extend([key.turn.0]));
            }
            KeptItem::Late { key, text } if self.book.kept.insert(format!("{id}/{}", key.turn)) => {
                check::result(key.turn.0, &text)?
            }
            KeptItem::Result { .. }
            | KeptItem::Late { .. }
            | KeptItem::Cross { .. }
            | KeptItem::Home(_)
            | KeptItem::Listeners => {}
        }
        Ok(())
    }
}
