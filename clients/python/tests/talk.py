"""A conversation with the generated client. The argument is the address of a server in local mode."""

import sys
import time

from moothall_client import Client
from moothall_client.api.events import post_event, read_events
from moothall_client.api.threads import create_thread, read_state
from moothall_client.api.turns import list_turns
from moothall_client.models import ErrorBody, NewEvent, NewThread

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)


def post(thread, **fields):
    accepted = post_event.sync(thread, client=client, body=NewEvent(**fields))
    assert not isinstance(accepted, ErrorBody), accepted
    return accepted.event


def reply_to(thread, asked):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        page = read_events.sync(thread, client=client, after=asked.seq, as_="user")
        for event in page.events:
            if event.type_ == "message" and event.meta and event.meta.reply_to == asked.id:
                return event
        time.sleep(0.05)
    raise AssertionError("no reply")


thread = create_thread.sync(client=client, body=NewThread(name="From Python", policy="mention_only")).id
profile = {"client": "analyst", "model": "demo"}
post(thread, type_="control", from_="user", content={"invite": {"participant_id": "ann", "profile": profile}})
asked = post(thread, from_="user", content="@ann are 40 testers enough?")
reply = reply_to(thread, asked)
assert reply.from_ == "ann" and reply.content, reply

newest = read_events.sync(thread, client=client, before=reply.seq + 1, limit=1, as_="user")
assert [event.id for event in newest.events] == [reply.id], newest
turn = next(turn for turn in list_turns.sync(thread, client=client).turns if turn.reply == reply.id)
assert (turn.participant, turn.why, turn.outcome) == ("ann", "forced", "spoke"), turn

missing = read_state.sync_detailed("nowhere", client=client)
assert missing.status_code == 404 and isinstance(missing.parsed, ErrorBody), missing
assert missing.parsed.error.code == "thread_not_found", missing.parsed
print("said:", reply.content)
