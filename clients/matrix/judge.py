"""Lets a real homeserver judge the channel to Matrix: Synapse, with matrix-nio as the app of the people.

Usage: judge.py PROGRAM   (the program `moothall`, built with the feature `crash-points`; a `fake-tui` beside it stands in
for a program in a terminal)
"""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from nio import AsyncClient

DOMAIN = "example.org"
PASSWORD = "a long password of a judge"
AGENTS = """
[agents.analyst]
runtime = "script"
replies = ["Revenue grew by 8 %."]

[agents.writer]
runtime = "script"
replies = ["Here is a draft."]

[agents.critic]
runtime = "script"
replies = ["[PASS]"]
"""
SCOPES = ["threads:admin", "permissions:answer", "turns:control", "participants:invite"]
PATIENCE = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def until(condition, what):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if asyncio.iscoroutine(value):
            value = await value
        if value:
            return value
        await asyncio.sleep(0.05)
    raise AssertionError(f"it never came about: {what}")


class Cutter(threading.Thread):
    """Stands between the server and the homeserver, and can cut the answer to a send."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.to, self.cuts = to, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            inner, _ = self.listener.accept()
            threading.Thread(target=self.carry, args=(inner,), daemon=True).start()

    def carry(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.to))
        except OSError:
            near.close()
            return
        doomed = []
        threading.Thread(target=self.copy, args=(near, far, doomed, True), daemon=True).start()
        self.copy(far, near, doomed, False)

    def copy(self, source, target, doomed, is_request):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_request and self.cuts > 0 and re.match(rb"PUT [^ ]*/send/m\.room\.message/d", data):
                    self.cuts -= 1
                    doomed.append(True)
                if not is_request and doomed:
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()


class Homeserver:
    """A Synapse of its own, on a free port."""

    def __init__(self, folder, registration):
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        freely = {"per_second": 1000, "burst_count": 1000}
        config = {
            "server_name": DOMAIN,
            "report_stats": False,
            "pid_file": str(folder / "pid"),
            "signing_key_path": str(folder / "signing.key"),
            "media_store_path": str(folder / "media"),
            "macaroon_secret_key": "a secret of the judge",
            "log_config": str(folder / "log.yaml"),
            "trusted_key_servers": [],
            "database": {"name": "sqlite3", "args": {"database": str(folder / "homeserver.db")}},
            "listeners": [
                {
                    "port": self.port,
                    "bind_addresses": ["127.0.0.1"],
                    "type": "http",
                    "resources": [{"names": ["client"]}],
                }
            ],
            "enable_registration": True,
            "enable_registration_without_verification": True,
            "app_service_config_files": [str(registration)],
            "rc_message": freely,
            "rc_registration": freely,
            "rc_login": {name: freely for name in ("address", "account", "failed_attempts")},
            "rc_joins": {"local": freely, "remote": freely},
            "rc_invites": {"per_room": freely, "per_user": freely, "per_issuer": freely},
            "rc_joins_per_room": freely,
            "rc_room_creation": freely,
        }
        log = {
            "version": 1,
            "handlers": {"file": {"class": "logging.FileHandler", "filename": str(folder / "log")}},
            "root": {"level": "INFO", "handlers": ["file"]},
        }
        (folder / "homeserver.yaml").write_text(json.dumps(config))
        (folder / "log.yaml").write_text(json.dumps(log))
        self.command = [sys.executable, "-m", "synapse.app.homeserver", "-c", str(folder / "homeserver.yaml")]
        subprocess.run([*self.command, "--generate-keys"], check=True, capture_output=True, cwd=folder)
        self.process = None

    async def start(self):
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def is_up():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            with contextlib.suppress(OSError):
                return urllib.request.urlopen(f"{self.url}/_matrix/client/versions").status == 200

        await until(is_up, "the homeserver answers")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Server:
    """The program under judgement, with its own folder."""

    def __init__(self, program, folder, registration, homeserver_url):
        self.program, self.folder = program, folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "share"),
            "NO_COLOR": "1",
        }
        matrix = {"homeserver": homeserver_url, "registration": str(registration)}
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in matrix.items())
        self.config = folder / "moothall.toml"
        stand_in = json.dumps([str(Path(program).parent / "fake-tui"), "--name", "fake", "--quiet"])
        terminal = f'[agents.fake]\nruntime = "terminal"\nscreen = "claude"\ncommand = {stand_in}\n'
        self.config.write_text(f"{AGENTS}\n{terminal}\n[channels.matrix]\n{lines}trusted = true\n")
        self.process = self.url = None

    def start(self, crash_at=None):
        command = [self.program, "serve", "--config", self.config, "--data", self.folder / "data", "--bind", "127.0.0.1:0", "--json"]
        environment = {**self.environment, **({"MOOTHALL_CRASH_AT": f"{crash_at}:1"} if crash_at else {})}
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True, cwd=self.folder)
        line = self.process.stdout.readline()
        assert line, (self.folder / "log").read_text()[-3000:]
        self.url = json.loads(line)["listening"]
        self.key = json.loads((self.folder / "data" / "startup.key").read_text())["key"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def run(self, *args):
        environment = {**self.environment, "MOOTHALL_SERVER": self.url, "MOOTHALL_TOKEN": self.key}
        done = subprocess.run([self.program, *args], env=environment, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    def json(self, *args):
        return json.loads(self.run(*args, "--json"))

    def get(self, path, body=None):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers)) as answer:
            return json.load(answer)

    def post(self, path, body):
        return self.get(path, body)

    def say(self, thread, text):
        return self.post(f"/threads/{thread}/events", {"type": "message", "from": "user", "content": text})

    def events(self, thread):
        return self.get(f"/threads/{thread}/events")["events"]

    def words(self, thread):
        return [event["content"] for event in self.events(thread) if event["type"] == "message"]

    def deliveries(self, thread):
        return self.get(f"/threads/{thread}/deliveries")["deliveries"]

    def bound(self, chat):
        listed = self.get("/threads?chat=" + urllib.parse.quote(chat, safe=""))["threads"]
        return listed[0]["id"] if listed else None

    def agents(self, thread):
        invited = self.get(f"/threads/{thread}/state")["state"]["participants"]["invited"]
        return {one["id"] for one in invited}


class Person:
    """A person with an app."""

    def __init__(self, homeserver, name):
        self.app = AsyncClient(homeserver.url, f"@{name}:{DOMAIN}")
        self.name, self.user = name, f"@{name}:{DOMAIN}"

    async def enter(self):
        answer = await self.app.register(self.name, PASSWORD)
        assert getattr(answer, "access_token", None), answer

    async def api(self, method, path, body=None):
        """Calls a path of the client-server API that the app's library lacks."""
        request = urllib.request.Request(
            f"{self.app.homeserver}/_matrix/client/v3{path}",
            json.dumps(body).encode() if body is not None else None,
            {"Authorization": f"Bearer {self.app.access_token}", "Content-Type": "application/json"},
            method=method,
        )
        return json.load(await asyncio.to_thread(urllib.request.urlopen, request))

    async def make_room(self, ghosts, **more):
        answer = await self.app.room_create(invite=[ghost_id(ghost) for ghost in ghosts], **more)
        assert getattr(answer, "room_id", None), answer
        return answer.room_id

    async def say(self, room, text, **more):
        answer = await self.app.room_send(room, "m.room.message", {"msgtype": "m.text", "body": text, **more})
        assert getattr(answer, "event_id", None), answer
        return answer.event_id

    async def shown(self, room):
        """Returns the newest messages of a room, the oldest first, after edits."""
        page = await self.api("GET", f"/rooms/{quoted(room)}/messages?dir=b&limit=200")
        shown = {}
        for event in reversed(page["chunk"]):
            content = event["content"]
            if event["type"] != "m.room.message":
                continue
            relation = content.get("m.relates_to", {})
            if relation.get("rel_type") == "m.replace":
                if relation["event_id"] in shown:
                    shown[relation["event_id"]]["body"] = content["m.new_content"]["body"]
                continue
            body = content.get("body", "")
            shown[event["event_id"]] = {"id": event["event_id"], "sender": event["sender"], "body": body, "content": content}
        return list(shown.values())

    async def texts(self, room):
        return [message["body"] for message in await self.shown(room)]

    async def hears(self, room, text, sender=None, after=None):
        """Waits for a message with a text in it."""

        async def found():
            messages = await self.shown(room)
            if after:
                ids = [message["id"] for message in messages]
                messages = messages[ids.index(after) + 1 :]
            for message in messages:
                if text in message["body"] and (sender is None or message["sender"] == sender) and message["sender"] != self.user:
                    return message

        try:
            return await until(found, text)
        except AssertionError:
            raise AssertionError(f"{text!r} is never said: {await self.texts(room)}") from None

    async def members(self, room):
        return set((await self.api("GET", f"/rooms/{quoted(room)}/joined_members"))["joined"])


def quoted(text):
    return urllib.parse.quote(text, safe="")


def ghost_id(name):
    return f"@moothall:{DOMAIN}" if name == "moothall" else f"@moothall_{name}:{DOMAIN}"


class Story:
    """The homeserver, the server and the people of one run."""

    async def open(self, program, folder):
        self.folder = folder
        for name in ("synapse", "moothall"):
            (folder / name).mkdir()
        self.registration = folder / "registration.yaml"
        command = [program, "matrix", "registration", "--domain", DOMAIN, "--url", f"http://127.0.0.1:{free_port()}"]
        subprocess.run([*command, "--out", str(self.registration)], check=True, capture_output=True)
        assert self.registration.stat().st_mode & 0o077 == 0, "others can read the registration"
        self.homeserver = Homeserver(folder / "synapse", self.registration)
        self.cutter = Cutter(self.homeserver.port)
        self.cutter.start()
        await self.homeserver.start()
        self.server = Server(program, folder / "moothall", self.registration, f"http://127.0.0.1:{self.cutter.port}")
        self.server.start()
        self.ann, self.bob = Person(self.homeserver, "ann"), Person(self.homeserver, "bob")
        for person in (self.ann, self.bob):
            await person.enter()
        await until(lambda: self.bots()[0]["state"] == "hearing", "the channel hears")

    def bots(self):
        listed = self.server.json("channels")["channels"]
        return next(channel["bots"] for channel in listed if channel["name"] == "matrix")

    async def close(self):
        for person in (self.ann, self.bob):
            await person.app.close()
        for process in (self.server.process, self.homeserver.process):
            process.kill()
            process.wait()

    async def pair(self):
        scopes = [word for scope in SCOPES for word in ("--scope", scope)]
        code = self.server.json("channels", "pair", "matrix", *scopes)["code"]
        self.private = await self.ann.make_room(["moothall"], is_direct=True)
        await until(lambda: self.is_member(self.private, "moothall"), "the relay joins")
        await self.ann.say(self.private, f"/start {code}")
        await self.ann.hears(self.private, "You are now user")

    async def is_member(self, room, ghost):
        return ghost_id(ghost) in await self.ann.members(room)

    async def open_group(self):
        room = await self.ann.make_room(["analyst", "writer", "critic"], name="Market")
        thread = await until(lambda: self.server.bound(f"matrix:{room}"), "the room is open")
        await until(lambda: len(self.server.agents(thread)) == 3, "all agents are in it")
        await self.ann.hears(room, "This chat is connected", ghost_id("moothall"))
        self.room, self.thread = room, thread

    async def entered(self, text):
        await until(lambda: text in self.server.words(self.thread), f"{text!r} enters")
        words = self.server.words(self.thread)
        assert words.count(text) == 1, words


async def registration_and_health(story):
    """The state names what is wrong, in both directions."""
    assert story.bots()[0]["username"] == f"moothall:{DOMAIN}", story.bots()
    found = story.server.run("doctor")
    assert "matrix: moothall" in found and "is hearing" in found, found
    request = urllib.request.Request(json.loads(story.registration.read_text())["url"] + "/_matrix/app/v1/ping", b"{}")
    try:
        urllib.request.urlopen(request)
        raise AssertionError("a request without the token was answered")
    except urllib.error.HTTPError as refused:
        assert refused.code == 403, refused
    added = story.server.json("channels", "add", "matrix", "writer")
    assert added["username"] == f"moothall_writer:{DOMAIN}", added


async def pairing(story):
    """A stranger is told what the account is; a code pairs Ann, once."""
    room = await story.bob.make_room(["moothall"], is_direct=True)
    await until(lambda: story_has(story.bob, room, "moothall"), "the relay joins")
    await story.bob.say(room, "hello")
    await story.bob.hears(room, "whose account is paired")
    await story.pair()
    pairings = story.server.json("channels", "pairings")["pairings"]
    assert [one["account"] for one in pairings] == [f"matrix:@ann:{DOMAIN}"], pairings


async def story_has(person, room, ghost):
    return ghost_id(ghost) in await person.members(room)


async def the_seeds_conversation(story):
    """The AAPL conversation runs in a room, each agent under its own name."""
    await story.open_group()
    mention = {"m.mentions": {"user_ids": [ghost_id("analyst")]}}
    asked = await story.ann.say(story.room, "analyst: Analyze AAPL earnings", **mention)
    analysis = await story.ann.hears(story.room, "Revenue grew by 8 %.", ghost_id("analyst"), asked)
    await story.ann.hears(story.room, "Here is a draft.", ghost_id("writer"), asked)
    await story.entered("@analyst: Analyze AAPL earnings")
    assert not any("PASS" in text for text in await story.ann.texts(story.room))
    story.server.say(story.thread, "And what about margins?")
    await story.ann.hears(story.room, "And what about margins?", ghost_id("person_user"))
    name = await story.ann.api("GET", f"/profile/{quoted(ghost_id('person_user'))}/displayname")
    assert name["displayname"] == "user (Moothall)", name
    reply = {"m.relates_to": {"m.in_reply_to": {"event_id": analysis["id"]}}}
    asked = await story.ann.say(story.room, "Are you sure?", **reply)
    await story.ann.hears(story.room, "Revenue grew by 8 %.", ghost_id("analyst"), asked)


async def commands(story):
    """Each command of the seed is answered in the room."""

    async def run(command, answer):
        asked = await story.ann.say(story.room, command)
        return await story.ann.hears(story.room, answer, after=asked)

    await run("/group list", "cooldown_seconds")
    await run("!group config cooldown_seconds 0", "cooldown_seconds")
    await run("/group create analyst", "group")
    await run("/group remove critic", "critic")
    assert "critic" not in story.server.agents(story.thread)
    await run("/group add critic", "critic")
    await run("/ask writer -- a draft please", "Here is a draft.")
    await run("/pause", "paused")
    await run("/resume", "resumed")
    await run("/mute critic", "critic")
    await run("/why", "writer")
    await run("/help", "/group create")
    await run("/nonsense", "Unknown command")
    policy = {"policy": {"name": "mention_only", "cooldown_seconds": 0}}
    story.server.post(f"/threads/{story.thread}/events", {"type": "control", "from": "user", "content": policy})


async def edits_and_redactions(story):
    """Edits and redactions of people reach the log, and erasures reach the room."""
    first = await story.ann.say(story.room, "frist words")
    await story.entered("frist words")
    edit = {"m.new_content": {"msgtype": "m.text", "body": "first words"}}
    await story.ann.say(story.room, "* first words", **edit, **{"m.relates_to": {"rel_type": "m.replace", "event_id": first}})
    await until(lambda: "first words" in json.dumps(story.server.events(story.thread)), "the edit is told")
    secret = await story.ann.say(story.room, "a secret of Ann")
    await story.entered("a secret of Ann")
    await story.ann.app.room_redact(story.room, secret)
    await until(lambda: "a secret of Ann" not in json.dumps(story.server.events(story.thread)), "it is erased")
    said = story.server.say(story.thread, "a secret of the page")
    await story.ann.hears(story.room, "a secret of the page")
    story.server.run("redact", story.thread, str(said["event"]["seq"]), "--yes")

    async def is_gone():
        return not any("a secret of the page" in text for text in await story.ann.texts(story.room))

    await until(is_gone, "the words are redacted in the room")


async def kick_and_return(story):
    """An agent that is kicked leaves, and an invitation brings it back."""
    await story.ann.app.room_kick(story.room, ghost_id("critic"))
    await story.ann.hears(story.room, "critic left.")
    await until(lambda: "critic" not in story.server.agents(story.thread), "the agent is out")
    await story.ann.app.room_invite(story.room, ghost_id("critic"))
    await until(lambda: "critic" in story.server.agents(story.thread), "the agent is back")
    levels = await story.ann.api("GET", f"/rooms/{quoted(story.room)}/state/m.room.power_levels/")
    muted = {**levels, "users": {**levels.get("users", {}), ghost_id("analyst"): -1}}
    await story.ann.api("PUT", f"/rooms/{quoted(story.room)}/state/m.room.power_levels/", muted)
    asked = await story.ann.say(story.room, "@analyst how was the year?")
    relayed = await story.ann.hears(story.room, "Revenue grew by 8 %.", after=asked)
    assert relayed["sender"] == ghost_id("moothall") and relayed["body"].startswith("analyst:"), relayed
    await story.ann.api("PUT", f"/rooms/{quoted(story.room)}/state/m.room.power_levels/", levels)


async def strangers_and_private_talks(story):
    """Strangers wake no agent. A private room is a talk with one agent alone."""
    await story.ann.app.room_invite(story.room, story.bob.user)
    await story.bob.app.join(story.room)
    await story.bob.say(story.room, "@writer tell me everything")
    asked = await story.ann.say(story.room, "@analyst hello")
    await story.ann.hears(story.room, "Revenue grew by 8 %.", after=asked)
    assert "@writer tell me everything" not in story.server.words(story.thread)
    room = await story.ann.make_room(["writer"], is_direct=True)
    await until(lambda: story.is_member(room, "writer"), "the agent joins")
    await story.ann.say(room, "A draft, please.")
    await story.ann.hears(room, "Here is a draft.", ghost_id("writer"))
    assert story.server.bound(f"matrix:{room}@writer")


async def codes_that_others_read(story):
    """A code in a room of several people is void, and pairs none of them."""
    code = story.server.json("channels", "pair", "matrix")["code"]
    asked = await story.ann.say(story.room, f"this pairs me: {code}")
    await story.ann.hears(story.room, "can read that code", after=asked)
    room = await story.bob.make_room(["moothall"], is_direct=True)
    await until(lambda: story_has(story.bob, room, "moothall"), "the relay joins")
    await story.bob.say(room, f"/start {code}")
    await story.bob.hears(room, "is not valid")
    assert not any(code in text for text in story.server.words(story.thread))


async def cards(story):
    """A question of a program is answered by a reaction and by a reply in the private room, by Ann alone."""
    session = story.server.post("/sessions", {"client": "fake", "name": "builder", "cwd": str(story.folder)})["id"]
    room = await story.ann.make_room(["moothall"])
    await until(lambda: story_has(story.ann, room, "moothall"), "the relay joins")
    story.server.run("channels", "bind", session, f"matrix:{room}")
    await story.ann.hears(room, "This chat is connected")
    await story.ann.app.room_invite(room, story.bob.user)
    await story.bob.app.join(room)
    story.server.say(session, "[ask:rm -r build] [say:the first is done]")
    card = await story.ann.hears(story.private, "rm -r build", ghost_id("moothall"))
    assert "1. " in card["body"], card
    line = await story.ann.hears(room, "builder waits for an answer.", ghost_id("moothall"))
    assert not any("rm -r build" in text for text in await story.bob.texts(room) if not text.startswith("[ask")), line
    await react(story.bob, room, line["id"], "1")
    assert "the first is done" not in story.server.words(session)
    await react(story.ann, story.private, card["id"], "1")
    await story.ann.hears(room, "the first is done", ghost_id("builder"))
    await story.ann.hears(story.private, "Answered: ", after=card["id"])
    story.server.say(session, "[ask:rm -r dist] [say:the second is done]")
    card = await story.ann.hears(story.private, "rm -r dist", ghost_id("moothall"))
    await story.ann.say(story.private, "1", **{"m.relates_to": {"m.in_reply_to": {"event_id": card["id"]}}})
    await story.ann.hears(room, "the second is done", ghost_id("builder"))
    story.server.run("end", "builder")


async def react(person, room, event, key):
    relation = {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": key}}
    answer = await person.app.room_send(room, "m.reaction", relation)
    assert getattr(answer, "event_id", None), answer


async def encrypted_rooms(story):
    """An encrypted room is refused with a word."""
    encryption = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
    room = await story.ann.make_room(["analyst"], initial_state=[encryption])
    await story.ann.hears(room, "This room is encrypted")

    async def is_left():
        return not await story.is_member(room, "analyst")

    await until(is_left, "the account leaves")
    assert story.server.bound(f"matrix:{room}") is None


async def aliases(story):
    """The room of a conversation is made by its alias, for those who may open it."""
    thread = story.server.post("/threads", {"name": "Launch"})["id"]
    alias = f"#moothall_{thread}:{DOMAIN}"
    refused = await story.bob.app.join(alias)
    assert not hasattr(refused, "room_id"), refused
    room = (await story.ann.app.join(alias)).room_id
    await until(lambda: story.server.bound(f"matrix:{room}") == thread, "the room is bound")
    await story.ann.hears(room, "This chat is connected")


async def upgrades(story):
    """A room that is upgraded keeps its conversation."""
    body = {"new_version": "11"}
    new = (await story.ann.api("POST", f"/rooms/{quoted(story.room)}/upgrade", body))["replacement_room"]
    for agent in ("analyst", "writer", "critic"):
        with contextlib.suppress(urllib.error.HTTPError):
            await story.ann.api("POST", f"/rooms/{quoted(new)}/invite", {"user_id": ghost_id(agent)})
    await until(lambda: story.server.bound(f"matrix:{new}") == story.thread, "the conversation moved")
    story.room = new
    asked = await story.ann.say(new, "@analyst and here?")
    await story.ann.hears(new, "Revenue grew by 8 %.", ghost_id("analyst"), asked)


async def sends_that_are_cut(story):
    """Sends whose answers are cut arrive once, and none is unknown."""
    for number in range(8):
        story.cutter.cuts = 1
        story.server.say(story.thread, f"cut {number} for @nobody")
    await settled(story, [f"cut {number} for @nobody" for number in range(8)])


async def kills_of_the_server(story):
    """Kills between the note, the send and the answer lose nothing and repeat nothing."""
    said = []
    for number, point in enumerate(["before_note", "after_note", "delivery_carried", "delivery_taken"] * 2):
        story.server.kill()
        story.server.start(crash_at=point)
        text = f"killed at {point} {number} for @nobody"
        said.append(text)
        with contextlib.suppress(OSError):
            story.server.say(story.thread, text)
        await until(lambda: story.server.process.poll() is not None, f"it crashes at {point}")
        story.server.start()
        if text not in story.server.words(story.thread):
            story.server.say(story.thread, text)
        await settled(story, said)


async def an_outage_of_the_homeserver(story):
    """While the homeserver is away words wait in both directions, and arrive once."""
    story.homeserver.kill()
    for number in range(5):
        story.server.say(story.thread, f"away {number} for @nobody")
    await until(lambda: story.bots()[0]["state"] == "unreachable", "the outage is shown")
    await story.homeserver.start()
    await settled(story, [f"away {number} for @nobody" for number in range(5)])
    story.server.kill()
    for number in range(5):
        await story.ann.say(story.room, f"nobody listens {number}")
    story.server.start()
    for number in range(5):
        await story.entered(f"nobody listens {number}")


async def settled(story, texts):
    """Waits until all deliveries have ended, and checks that each text arrived once."""

    def are_settled():
        return all(one["state"] not in ("pending", "sending") for one in story.server.deliveries(story.thread))

    await until(are_settled, "all deliveries end")
    states = {one["state"] for one in story.server.deliveries(story.thread)}
    shown = await story.ann.texts(story.room)
    for text in texts:
        assert shown.count(text) == 1, (text, shown.count(text))
    assert "unknown" not in states, story.server.deliveries(story.thread)


async def dissolving(story):
    """After `/group dissolve` a mention is a talk with that agent alone."""
    asked = await story.ann.say(story.room, "/group dissolve")
    await story.ann.hears(story.room, "dissolved", after=asked)
    await until(lambda: story.server.bound(f"matrix:{story.room}") is None, "the room is free")
    asked = await story.ann.say(story.room, "@analyst between us")
    await story.ann.hears(story.room, "Revenue grew by 8 %.", ghost_id("analyst"), asked)


PARTS = [
    registration_and_health,
    pairing,
    the_seeds_conversation,
    commands,
    edits_and_redactions,
    kick_and_return,
    strangers_and_private_talks,
    codes_that_others_read,
    cards,
    encrypted_rooms,
    aliases,
    upgrades,
    sends_that_are_cut,
    kills_of_the_server,
    an_outage_of_the_homeserver,
    dissolving,
]


async def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        story = Story()
        try:
            await story.open(program, Path(folder))
            for part in PARTS:
                begun = time.monotonic()
                await part(story)
                print(f"{part.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
        except BaseException:
            for name in ("moothall/log", "synapse/log"):
                with contextlib.suppress(OSError):
                    print(f"--- {name}\n{(Path(folder) / name).read_text()[-4000:]}", file=sys.stderr)
            raise
        finally:
            await story.close()
    print(f"Synapse and matrix-nio judged the channel to Matrix in {len(PARTS)} parts")


asyncio.run(main())
