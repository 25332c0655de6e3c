//! Take-over of a terminal: a person types from afar, and the server types nothing meanwhile.

use std::time::Duration;

use moothall_engine::sessions::{SessionError, TypingRequest};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::{Millis, Timestamp};
use tokio::time::Instant;

use crate::faults::host_error;
use crate::runner::Runner;
use crate::turn::Input;
use crate::watching::Typist;

/// Time without a request after which the terminal is released.
const HELD_FOR: Duration = Duration::from_secs(120);

impl Runner {
    /// Types for a person, who has the terminal from the first request on. Returns the time at
    /// which it is released without another request; `None` if it was released.
    pub(super) async fn type_keys(
        &mut self,
        by: &Actor,
        request: TypingRequest,
    ) -> Result<Option<Timestamp>, SessionError> {
        self.refuse_second_typist(&by.id)?;
        let pane = self.pane().map_err(host_error)?;
        if self.typist.is_none() && !(request.release && request.keys.is_empty()) {
            self.take_over(&by.id).await;
        }
        if !request.keys.is_empty() {
            self.host.type_keys(&pane, &request.keys).await.map_err(host_error)?;
        }
        if request.release {
            self.release().await;
            return Ok(None);
        }
        self.typist = Some(Typist { by: by.id.clone(), until: Instant::now() + HELD_FOR });
        let now = self.hall().map(|hall| hall.now()).unwrap_or_default();
        Ok(Some(now + Millis::from_secs(HELD_FOR.as_secs())))
    }

    /// Returns an error if another person has the terminal.
    fn refuse_second_typist(&self, by: &ParticipantId) -> Result<(), SessionError> {
        match &self.typist {
            Some(typist) if typist.by != *by => Err(SessionError::Conflict(format!(
                "{} types in this terminal now. Try again when it is released.",
                typist.by
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Gives the terminal to a person: the server types nothing from now on, and a notice tells
    /// people.
    async fn take_over(&mut self, by: &ParticipantId) {
        self.typist = Some(Typist { by: by.clone(), until: Instant::now() + HELD_FOR });
        tracing::info!(session = %self.session.id, %by, "a terminal was taken over");
        self.tell(Input::Taken(true)).await;
        let name = &self.session.name;
        let text = format!(
            "{by} types in {name}'s terminal. What is said to {name} waits until the terminal is \
             released."
        );
        self.tell_people(text).await;
    }

    /// Gives the terminal back to the server.
    pub(super) async fn release(&mut self) {
        if self.typist.take().is_some() {
            self.tell(Input::Taken(false)).await;
        }
    }
}
