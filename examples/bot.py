#!/usr/bin/env python3
"""An agent that connects by itself, with nothing but Python. It joins a conversation, takes its turns and reconnects.

    python3 bot.py http://127.0.0.1:5111/threads/<id> ada

If the server requires a token, a person invites `ada` (`moothall invite <thread> ada --client bot`) and makes its token
(`moothall token create ada --agent --thread <thread>`), which goes into MOOTHALL_TOKEN.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

# A server that restarts behind a proxy, or has too much to do.
BUSY = 429, 502, 503, 504
# The token is wrong, the right is missing, or the conversation does not exist.
FOR_GOOD = 401, 403, 404


def answer(turn):
    """Your part. `turn["system"]` describes your role, `turn["text"]` has the messages and the request. Return None to pass."""
    if turn["may_pass"]:
        return None
    # Without names: an answer that repeats "@bob" would ask bob, and he would answer.
    return f"I have read {len(turn['text'].split())} words."


def ask(path, body=None, **headers):
    if token := os.environ.get("MOOTHALL_TOKEN"):
        headers["authorization"] = f"Bearer {token}"
    if body is not None:
        headers["content-type"] = "application/json"
        body = json.dumps(body).encode()
    # The server sends something at least every 15 seconds.
    return urllib.request.urlopen(urllib.request.Request(THREAD + path, body, headers), timeout=40)


def sentence(refused):
    """Returns the reason that the server gives, or the status if a proxy answers."""
    try:
        return json.load(refused)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return f"the server answers {refused.code}"


def join():
    profile = {"client": "bot", "model": "python"}
    ask("/events", {"type": "control", "from": ME, "content": {"invite": {"participant_id": ME, "profile": profile}}}).close()


def take(turn):
    words = answer(turn)
    said = {"type": "turn", "content": {"pass": True}} if words is None else {"content": words, "meta": {"reply_to": turn["cause"]["id"]}}
    try:
        # The key makes a repetition harmless: if the answer gets lost, the turn comes again after the next connection.
        with ask("/events", {"from": ME, **said}, **{"idempotency-key": turn["turn"]}) as response:
            # For example `stopped`: the answer is kept, but not shown until a person publishes it.
            if warnings := json.load(response).get("warnings"):
                print(f"the server warns: {', '.join(warnings)}", file=sys.stderr)
    except urllib.error.HTTPError as refused:
        if refused.code in BUSY + FOR_GOOD:
            raise
        print(sentence(refused), file=sys.stderr)


def listen(last):
    """Reads the stream until it ends. Returns the position for the next connection."""
    # A restored server continues from an older position. A position with another log id is rejected (416).
    place = {"last-event-id": last[0], "moothall-log": last[1]} if last else {}
    with ask(f"/events/stream?as={ME}&turns=1&types=message", **place) as stream:
        log = stream.headers["moothall-log"]
        print(f"{ME} listens", flush=True)
        name = ""
        for line in stream:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                last = value, log
            elif field == "data" and name == "turn":
                take(json.loads(value))
            elif field == "":
                name = ""
    return last


def main():
    joined, last = bool(os.environ.get("MOOTHALL_TOKEN")), None
    while True:
        try:
            if not joined:
                join()
                joined = True
            last = listen(last)
        except urllib.error.HTTPError as refused:
            if refused.code == 416:
                print("the server was restored: going on from now", file=sys.stderr)
                last = None
            elif refused.code in BUSY:
                print(f"{sentence(refused)}; once more", file=sys.stderr)
            else:
                sys.exit(sentence(refused))
        except (OSError, http.client.HTTPException) as broken:
            print(f"no connection to the server: {getattr(broken, 'reason', broken)}; once more", file=sys.stderr)
        time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].startswith("http"):
        sys.exit("Usage: bot.py http://127.0.0.1:5111/threads/<id> <name>")
    THREAD, ME = sys.argv[1].rstrip("/"), sys.argv[2]
    try:
        main()
    except KeyboardInterrupt:
        pass
