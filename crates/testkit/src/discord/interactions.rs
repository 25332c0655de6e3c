//! The answers to interactions: presses of buttons and slash commands.

use serde_json::{Value, json};

use super::checks::Body;
use super::messages::{EPHEMERAL, new_message};
use super::refusal::RestRefusal;
use super::routes::RouteCall;
use super::world::{Author, DiscordWorld, InteractionState, KeptMessage};

/// Kinds of answers.
const MESSAGE: u64 = 4;
const DEFERRED_MESSAGE: u64 = 5;
const DEFERRED_UPDATE: u64 = 6;
const UPDATE: u64 = 7;

impl DiscordWorld {
    /// Answers an interaction at once, or says that the answer follows.
    pub(super) fn call_back(&mut self, call: &RouteCall) -> Result<Value, RestRefusal> {
        let id = call.id(0);
        let found = self.interactions.get(&id).filter(|it| it.token == call.ids[1] && !it.is_over);
        let Some(state) = found.cloned() else {
            return Err(RestRefusal::unknown(10_062, "Unknown interaction"));
        };
        if state.callback.is_some() {
            let message = "Interaction has already been acknowledged.";
            return Err(RestRefusal::new(400, 40_060, message));
        }
        let kind = call.body.get("type").and_then(Value::as_u64).unwrap_or_default();
        let empty = Body::new();
        let data = call.body.get("data").and_then(Value::as_object).unwrap_or(&empty);
        let flags = data.get("flags").and_then(Value::as_u64).unwrap_or_default();
        let is_ephemeral = flags & EPHEMERAL != 0;
        let answer = match (kind, state.message) {
            (MESSAGE, _) => Some(self.answer(&state, data, is_ephemeral)?),
            (DEFERRED_MESSAGE, _) => None,
            (DEFERRED_UPDATE, Some(message)) => Some(message),
            (UPDATE, Some(message)) => {
                self.change_message(state.channel, message, data)?;
                Some(message)
            }
            _ => {
                let message = "Value is not a kind of answer to this interaction.";
                return Err(RestRefusal::field("type", "BASE_TYPE_CHOICES", message));
            }
        };
        if let Some(state) = self.interactions.get_mut(&id) {
            (state.callback, state.answer) = (Some(kind), answer);
            state.is_ephemeral = is_ephemeral;
        }
        let is_told = call.query.get("with_response").is_some_and(|it| it == "true" || it == "1");
        Ok(if is_told { self.told(id, kind) } else { Value::Null })
    }

    /// Returns an interaction and its answer, for callers that want them.
    fn told(&self, id: u64, kind: u64) -> Value {
        let state = &self.interactions[&id];
        let message = state.answer.map(|answer| self.message_object(state.channel, answer));
        let kind_of_all = if state.message.is_some() { 3 } else { 2 };
        let mut told = json!({"interaction": {
            "id": id.to_string(), "type": kind_of_all,
            "response_message_id": state.answer.map(|answer| answer.to_string()),
            "response_message_loading": kind == DEFERRED_MESSAGE,
            "response_message_ephemeral": state.is_ephemeral,
        }});
        if let Some(message) = message {
            told["resource"] = json!({"type": kind, "message": message});
        }
        told
    }

    /// Adds a message that answers an interaction.
    fn answer(
        &mut self,
        state: &InteractionState,
        body: &Body,
        is_ephemeral: bool,
    ) -> Result<u64, RestRefusal> {
        let message = new_message(Author::Bot(state.bot), body)?;
        let flags = if is_ephemeral { message.flags | EPHEMERAL } else { message.flags };
        let message = KeptMessage {
            flags,
            only_to: is_ephemeral.then_some(state.person),
            application: Some(state.bot),
            ..message
        };
        Ok(self.post(state.channel, message))
    }

    /// Returns the interaction that a path of an application's webhook means.
    pub(super) fn interaction_with(&self, ids: &[String]) -> Option<u64> {
        let (application, token) = (ids.first()?.parse::<u64>().ok()?, ids.get(1)?);
        let mut all = self.interactions.iter();
        all.find(|(_, it)| it.bot == application && it.token == *token).map(|(id, _)| *id)
    }

    /// Returns the interaction of a path, once it has an answer.
    fn answered(&self, call: &RouteCall) -> Result<(u64, InteractionState), RestRefusal> {
        let found = self.interaction_with(&call.ids);
        let state = found.and_then(|id| Some((id, self.interactions.get(&id)?.clone())));
        let state = state.filter(|(_, state)| state.callback.is_some());
        state.ok_or_else(|| RestRefusal::unknown(10_015, "Unknown Webhook"))
    }

    /// Answers an interaction once more.
    pub(super) fn follow_up(&mut self, call: &RouteCall) -> Result<Value, RestRefusal> {
        let (_, state) = self.answered(call)?;
        let flags = call.body.get("flags").and_then(Value::as_u64).unwrap_or_default();
        let id = self.answer(&state, &call.body, flags & EPHEMERAL != 0)?;
        Ok(self.message_object(state.channel, id))
    }

    /// Changes the answer to an interaction, or gives the one that was put off.
    pub(super) fn edit_answer(&mut self, call: &RouteCall) -> Result<Value, RestRefusal> {
        let (id, state) = self.answered(call)?;
        if call.ids[2] != "@original" {
            let message = self.message_of(state.channel, call.id(2))?;
            return self.change_message(state.channel, message, &call.body);
        }
        let Some(answer) = state.answer else {
            let message = self.answer(&state, &call.body, state.is_ephemeral)?;
            if let Some(state) = self.interactions.get_mut(&id) {
                state.answer = Some(message);
            }
            return Ok(self.message_object(state.channel, message));
        };
        self.change_message(state.channel, answer, &call.body)
    }
}
