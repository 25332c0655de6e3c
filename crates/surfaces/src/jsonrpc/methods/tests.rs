//! Tests that every method accepts a good example and rejects a bad one, and that fuzzed bytes do
//! no harm.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use moothall_testkit::fuzz;
use serde_json::json;

use super::*;
use crate::jsonrpc::frame::{self, Frame};

const ID: &str = "33333333-3333-4333-8333-333333333333";

/// A method, parameters that it accepts, parameters that it rejects, and the error.
type Example = (Method, Value, Value, &'static str);

fn in_conversation(more: Value) -> Value {
    let mut params = json!({"taskId": ID, "conversationId": ID});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    params
}

fn of_connections_and_agents() -> Vec<Example> {
    let versions = json!({"minProtocol": "2026.523.0", "maxProtocol": "2026.525.0"});
    let mut good = versions.clone();
    good["agentKey"] = json!("k");
    let one_of = "takes exactly one of `agentKey` and `sessionToken`";
    let manifest = json!({
        "appId": ID, "name": "a", "description": "b", "limits": {"maxParticipants": 3},
        "conversations": [{"key": "k", "name": "n", "participantFilter": "initiator"}],
        "hooks": {"message_authorize": {"timeoutMs": 60_000}, "task_create": {}},
    });
    let mut slow = manifest.clone();
    slow["hooks"]["task_create"] = json!({"timeoutMs": 60_001});
    vec![
        (Method::NetworkConnect, good, versions, one_of),
        (Method::NetworkPing, json!({}), json!({"x": 1}), "unknown field `x`"),
        (
            Method::AgentsLookup,
            json!({"agentIds": [ID]}),
            json!({"agentIds": [ID, "x"]}),
            "'agentIds[1]': takes a UUID with hyphens",
        ),
        (
            Method::AgentsLookupByName,
            json!({"names": ["a"]}),
            json!({"names": []}),
            "'names': takes 1 to 100 items",
        ),
        (Method::AgentsList, json!({}), json!({"limit": 1}), "unknown field `limit`"),
        (
            Method::AppsRegister,
            json!({"manifest": manifest}),
            json!({"manifest": slow}),
            "'manifest.hooks.task_create.timeoutMs': takes 1 to 60000",
        ),
        (
            Method::PresenceSubscribe,
            json!({"agentIds": []}),
            json!({"agentIds": ID}),
            "'agentIds': takes a list",
        ),
    ]
}

fn of_tasks() -> Vec<Example> {
    let request = json!({"appId": ID, "invitedAgentIds": [],
        "initialConversation": {"name": "a", "participants": [ID]}});
    let mut nobody = request.clone();
    nobody["initialConversation"] = json!({"participants": []});
    let task = json!({"taskId": ID});
    let agent = json!({"taskId": ID, "agentId": ID});
    vec![
        (
            Method::TaskRequest,
            request,
            nobody,
            "'initialConversation.participants': takes 1 to 2000 items",
        ),
        (
            Method::TaskList,
            json!({"limit": 200, "cursor": "c"}),
            json!({"limit": 201}),
            "'limit': takes 1 to 200",
        ),
        (Method::TaskLeave, task.clone(), json!({}), "missing field `taskId`"),
        (Method::TaskClose, task.clone(), json!({"taskId": 1}), "'taskId': takes a string"),
        (Method::TaskAddParticipant, agent.clone(), task.clone(), "missing field `agentId`"),
        (Method::TaskRemoveParticipant, agent, task, "missing field `agentId`"),
    ]
}

fn of_conversations() -> Vec<Example> {
    let create = json!({"taskId": ID, "name": "Project Alpha", "participants": [ID]});
    let whole = in_conversation(json!({}));
    let agent = in_conversation(json!({"agentId": ID}));
    let mut null = create.clone();
    null["name"] = Value::Null;
    vec![
        (Method::ConversationCreate, create, null, "'name': takes no null; leave it out"),
        (
            Method::ConversationList,
            json!({"limit": 50}),
            json!({"limit": 0}),
            "'limit': takes 1 to 200",
        ),
        (Method::ConversationArchive, whole.clone(), agent.clone(), "unknown field `agentId`"),
        (
            Method::ConversationUnarchive,
            whole.clone(),
            json!({"taskId": ID}),
            "missing field `conversationId`",
        ),
        (Method::ParticipantAdd, agent.clone(), whole.clone(), "missing field `agentId`"),
        (Method::ParticipantRemove, agent, whole, "missing field `agentId`"),
        (
            Method::MessagesSend,
            in_conversation(json!({"replyToId": ID, "dispatchLeaseId": ID, "parts": [
                {"type": "text", "text": "a"},
                {"type": "image", "url": "https://a.example/b", "altText": ""},
                {"type": "file", "url": "a:b", "name": "n", "mimeType": "text/plain", "size": 0},
            ]})),
            in_conversation(
                json!({"parts": [{"type": "text", "text": "a"}, {"type": "text", "text": ""}]}),
            ),
            "'parts[1]': takes 1 to 32768 characters",
        ),
        (
            Method::MessagesList,
            in_conversation(json!({"sinceSeq": "7", "limit": 1})),
            in_conversation(json!({"sinceSeq": 7})),
            "'sinceSeq': takes a string",
        ),
    ]
}

#[test]
fn every_method_reads_a_good_example_and_refuses_a_bad_one() {
    let examples = [of_connections_and_agents(), of_tasks(), of_conversations()].concat();
    for &method in Method::VARIANTS {
        let (_, good, bad, said) =
            examples.iter().find(|(of, ..)| *of == method).unwrap_or_else(|| panic!("{method:?}"));
        let call = Call::read(method.word(), Some(good.clone())).unwrap();
        assert_eq!(call.method(), method);
        let error = Call::read(method.word(), Some(bad.clone())).unwrap_err();
        assert_eq!(error.code, RpcCode::InvalidParams);
        assert_eq!(error.message, format!("Invalid params for method: {}", method.word()));
        let reason = error.data.unwrap()["reason"].as_str().unwrap().to_owned();
        assert!(reason.starts_with(said), "{method:?}: {reason}");
    }
}

#[test]
fn parts_are_closed_and_told_apart_by_their_type() {
    let refused = |part: Value| {
        let params = in_conversation(json!({"parts": [part]}));
        let error = Call::read("messages/send", Some(params)).unwrap_err();
        error.data.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    for part in [
        json!({"type": "text", "text": "a", "more": 1}),
        json!({"type": "text"}),
        json!({"type": "text", "text": 1}),
        json!({"type": "video", "url": "a:b"}),
        json!({"text": "a"}),
        json!(["text", "a"]),
        json!("a"),
        json!({"type": "image", "url": "/a"}),
        json!({"type": "image", "url": "a:b", "altText": null}),
        json!({"type": "file", "url": "a:b"}),
        json!({"type": "file", "url": "a:b", "name": "n", "size": -1}),
        json!({"type": "file", "url": "a:b", "name": "n", "mime_type": "a/b"}),
    ] {
        let reason = refused(part.clone());
        assert!(reason.starts_with("'parts[0]': "), "{part}: {reason}");
    }
}

#[test]
fn params_are_an_object_and_none_are_as_good_as_an_empty_one() {
    assert!(Call::read("network/ping", None).is_ok());
    for params in [json!(null), json!([]), json!(["a"]), json!(1), json!("a"), json!(true)] {
        let error = Call::read("network/ping", Some(params)).unwrap_err();
        assert_eq!(error.code, RpcCode::InvalidParams);
        assert_eq!(error.data, Some(json!({"reason": "takes an object"})));
    }
    let nested = json!({"manifest": [ID, "a"]});
    let error = Call::read("apps/register", Some(nested)).unwrap_err();
    assert_eq!(error.data, Some(json!({"reason": "'manifest': takes an object"})));
}

#[test]
fn both_credentials_at_once_are_one_too_many() {
    let read = |params: Value| Call::read("network/connect", Some(params));
    let both =
        json!({"agentKey": "k", "sessionToken": "t", "minProtocol": "1", "maxProtocol": "2"});
    assert_eq!(read(both).unwrap_err().code, RpcCode::InvalidParams);
    let session = json!({"sessionToken": "t", "minProtocol": "1", "maxProtocol": "2"});
    let Call::NetworkConnect(connect) = read(session.clone()).unwrap() else { unreachable!() };
    assert_eq!(connect.versions(), ("1", "2"));
    assert_eq!(serde_json::to_value(connect).unwrap(), session);
}

#[test]
fn an_unknown_method_is_not_found() {
    for method in ["task/get", "Task/list", "task/created", "task/create", " task/list"] {
        let error = Call::read(method, None).unwrap_err();
        assert_eq!(error.code, RpcCode::MethodNotFound);
        assert_eq!(error.message, format!("Method not found: {method}"));
    }
}

#[test]
fn verdicts_are_read_strictly() {
    let verdict = |verdict: Value| read_result::<rpc::TaskDecided>(json!({"verdict": verdict}));
    let accepted = verdict(json!({"decision": "accept"})).unwrap().verdict;
    assert_eq!(accepted, rpc::TaskVerdict::Accept {});
    assert!(verdict(json!({"decision": "reject", "reason": "busy"})).is_ok());
    for bad in [
        json!({"decision": "Accept"}),
        json!({"decision": "accept", "reason": "a"}),
        json!({"decision": "reject", "reason": ""}),
        json!({"decision": "reject", "reason": null}),
        json!("accept"),
        json!(null),
    ] {
        assert!(verdict(bad.clone()).is_err(), "{bad}");
    }
    let message =
        |verdict: Value| read_result::<rpc::MessageAuthorized>(json!({"verdict": verdict}));
    assert!(message(json!({"decision": "Forward", "recipients": []})).is_ok());
    assert!(message(json!({"decision": "Block"})).is_ok());
    assert!(message(json!({"decision": "forward", "recipients": []})).is_err());
    assert!(read_result::<rpc::TaskDecided>(json!([1])).is_err());
}

#[test]
fn what_the_server_sends_is_written_as_its_payload() {
    let id = rpc::Uuid::try_from(ID.to_owned()).unwrap();
    let added = Notification::ParticipantAdded(rpc::ParticipantAdded {
        task_id: id,
        conversation_id: id,
        added_agent_id: id,
        by_agent_or_tm: rpc::TaskManager::Tm,
    });
    assert_eq!(
        frame::notification(added.word(), &added),
        format!(
            r#"{{"jsonrpc":"2.0","method":"task/conversation/participants/added","params":{{"taskId":"{ID}","conversationId":"{ID}","addedAgentId":"{ID}","byAgentOrTm":"tm"}}}}"#
        )
    );
    let task = rpc::Task {
        id,
        app_id: id,
        initiator_agent_id: id,
        status: rpc::TaskStatus::Waiting,
        started_at: None,
        ended_at: None,
        created_at: moothall_kernel::time::Timestamp::from_millis(0).into(),
    };
    let answer = frame::response("1", &rpc::TaskRequested { task, conversation: None });
    assert!(
        answer
            .contains(r#""startedAt":null,"endedAt":null,"createdAt":"1970-01-01T00:00:00.000Z""#)
    );
    assert!(answer.ends_with(r#""conversation":null}}"#), "{answer}");
    assert_eq!(frame::response("1", &rpc::Done {}), r#"{"jsonrpc":"2.0","id":"1","result":{}}"#);
}

#[test]
fn fuzzed_frames_become_calls_or_errors_that_can_be_answered() {
    let corpus = fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/rpc"));
    let methods = Method::VARIANTS.iter().map(|method| method.word());
    let fields = ["\"params\":", "\"id\":", "null", "[", "{", "}", "\"error\":", "\"taskId\":", ID];
    let words: Vec<&str> = methods.chain(fields).collect();
    fuzz::texts("rpc", &corpus, &words, |text| {
        let answer = match Frame::read(text) {
            Err(error) => frame::error(None, &error),
            Ok(Frame::Response { .. }) => return,
            Ok(Frame::Request { id, method, params }) => match Call::read(&method, params) {
                Ok(call) => {
                    assert_eq!(call.method().word(), method);
                    return;
                }
                Err(error) => frame::error(Some(&id), &error),
            },
        };
        // A response is a frame too, and its size is bounded.
        assert!(matches!(Frame::read(&answer), Ok(Frame::Response { outcome: Err(_), .. })));
        assert!(answer.len() <= text.len() * 6 + 4_096, "{answer}");
    });
}
