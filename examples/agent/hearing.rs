//! The messages of others to an agent: each once, those of a conversation in order, and including
//! those from while the agent was disconnected.

use serde_json::{Value, json};

use super::client::{Agent, Fault};

impl Agent {
    /// Returns the next message of another participant, with its `taskId`.
    pub async fn next(&mut self) -> Result<Value, Fault> {
        while self.heard.is_empty() {
            let taken = match self.told.pop_front() {
                Some(told) => self.take(&told["method"], &told["params"]).await,
                None => self.frame().await.map(|frame| self.told.push_back(frame)),
            };
            if let Err(fault) = taken {
                self.again(fault).await?;
            }
        }
        Ok(self.heard.pop_front().unwrap_or_default())
    }

    /// Replies to a message once. If the connection closes, looks for the reply before sending it
    /// again.
    pub async fn reply(&mut self, to: &Value, text: &str) -> Result<(), Fault> {
        let send = json!({"taskId": to["taskId"], "conversationId": to["conversationId"],
            "replyToId": to["id"], "parts": [{"type": "text", "text": text}]});
        while let Err(fault) = self.call("messages/send", send.clone()).await {
            self.again(fault).await?;
            if self.answered.contains(&to["id"]) {
                break;
            }
        }
        Ok(())
    }

    /// True if a message names this agent.
    pub fn is_named(&self, message: &Value) -> bool {
        message["taggedEntities"].as_array().is_some_and(|named| named.contains(&self.id))
    }

    async fn take(&mut self, method: &Value, params: &Value) -> Result<(), Fault> {
        let comes = match method.as_str() {
            Some("messages/received") => {
                if !self.read.remove(&params["message"]["id"]) {
                    self.hear(&params["taskId"], &params["message"]);
                }
                false
            }
            Some("task/conversation/created") => true,
            Some("task/conversation/participants/added") => params["addedAgentId"] == self.id,
            _ => false,
        };
        if comes {
            self.read_on(&params["taskId"], &params["conversationId"], false).await?;
        }
        Ok(())
    }

    /// Reads the messages of a conversation after the last handled one. If `first` is true, only
    /// finds out which message is the last.
    pub(crate) async fn read_on(
        &mut self,
        task: &Value,
        conversation: &Value,
        first: bool,
    ) -> Result<(), Fault> {
        let mut list = json!({"taskId": task, "conversationId": conversation});
        list["limit"] = if first { json!(1) } else { json!(200) };
        loop {
            if !first {
                list["sinceSeq"] = self.last.get(conversation).cloned().unwrap_or(json!("0"));
            }
            let page = self.call("messages/list", list.clone()).await?;
            for message in page["messages"].as_array().into_iter().flatten() {
                self.read.insert(message["id"].clone());
                self.hear(task, message);
            }
            if first {
                self.heard.clear();
            }
            if first || page["hasMore"] != true {
                return Ok(());
            }
        }
    }

    fn hear(&mut self, task: &Value, message: &Value) {
        self.last.insert(message["conversationId"].clone(), message["id"].clone());
        if message["senderId"] == self.id {
            self.answered.insert(message["replyToId"].clone());
        } else {
            let mut heard = message.clone();
            heard["taskId"] = task.clone();
            self.heard.push_back(heard);
        }
    }
}

/// Returns the text of a message.
pub fn text_of(message: &Value) -> String {
    let parts = message["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}
