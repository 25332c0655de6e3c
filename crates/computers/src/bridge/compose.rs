//! The body of a row that another computer is owed, made from its command when it is sent.

use std::sync::Arc;

use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::Delivery;

use super::body::Body;
use crate::frame::ROW_LEN_MAX;

/// Returns the body of a row. A row without a command only carries its number: its conversation was
/// deleted.
pub(super) fn compose(row: &Delivery) -> Arc<[u8]> {
    let bytes = body_of(row).encode();
    if bytes.len() <= ROW_LEN_MAX {
        return bytes.into();
    }
    tracing::error!(row = row.id, bytes = bytes.len(), "a row is too long and is sent empty");
    Body::Void.encode().into()
}

fn body_of(row: &Delivery) -> Body {
    if row.command.is_none() {
        return Body::Void;
    }
    match row.carried() {
        Ok(PostCommand::Say(message)) => Body::Say(message),
        Ok(PostCommand::Finished(wait)) => Body::Finished(wait),
        Ok(PostCommand::Refused { number, code, message, about }) => {
            Body::Refused { number, code, message, about }
        }
        Ok(PostCommand::Void) => Body::Void,
        Err(error) => {
            // A row that is never sent would hold up all later ones.
            tracing::error!(%error, row = row.id, "a row cannot be read and is sent empty");
            Body::Void
        }
    }
}

#[cfg(test)]
mod tests {
    use moothall_engine::ports::{DeliveryState, Target};
    use moothall_kernel::ids::{ComputerId, Seq};

    use super::*;

    fn composed(command: Option<&str>) -> Body {
        let row = Delivery {
            id: 1,
            target: Target::Computer(ComputerId::new("2abc")),
            stream: "s".into(),
            turn: None,
            attempt: 0,
            through_seq: Seq(1),
            number: Some(1),
            command: command.map(str::to_owned),
            state: DeliveryState::Pending,
            evidence: String::new(),
        };
        Body::decode(&compose(&row)).expect("a body")
    }

    #[test]
    fn a_row_is_sent_empty_if_its_command_is_gone_cannot_be_read_or_is_too_long() {
        let message = "No. ".repeat(2);
        let refused = |message: &str| {
            let command = PostCommand::Refused {
                number: 3,
                code: "no".into(),
                message: message.into(),
                about: None,
            };
            serde_json::json!({"hops": 1, "command": command}).to_string()
        };
        let body =
            Body::Refused { number: 3, code: "no".into(), message: message.clone(), about: None };
        assert_eq!(composed(Some(&refused(&message))), body);
        assert_eq!(composed(Some(r#"{"hops":1,"command":{"post":"void"}}"#)), Body::Void);
        assert_eq!(composed(None), Body::Void);
        assert_eq!(composed(Some(r#"{"hops":1,"command":{"post":"sing"}}"#)), Body::Void);
        assert_eq!(composed(Some(&refused(&"x".repeat(ROW_LEN_MAX)))), Body::Void);
    }
}
