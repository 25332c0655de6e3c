"""Lets discord.py use the fake of Discord, as a client that others wrote.

Usage: foreign.py PROGRAM   (the program `fake-discord`)
"""

import asyncio
import json
import subprocess
import sys

import discord
import yarl
from discord import app_commands


class Fake:
    """The program `fake-discord`, whose input plays the person in the channel."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = json.loads(self.process.stdout.readline())

    def _act(self, act):
        self.process.stdin.write(json.dumps(act) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the fake ended in {act}"
        return json.loads(line)

    async def act(self, **act):
        return await asyncio.to_thread(self._act, act)

    async def shown(self):
        return [m for m in await self.act(act="shown") if not m["deleted"]]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=10) == 0


class Judge(discord.Client):
    """A bot that keeps what it hears in queues."""

    def __init__(self):
        intents = discord.Intents(guilds=True, messages=True, message_content=True)
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self.heard = {name: asyncio.Queue() for name in ("message", "edit", "delete", "press", "resumed", "ready")}
        self.tree = app_commands.CommandTree(self)

        @self.tree.command(name="ask", description="Asks the agents")
        async def ask(interaction, text: str):
            await interaction.response.defer(ephemeral=True, thinking=True)
            await interaction.followup.send(f"Asked: {text}", ephemeral=True)

    async def on_ready(self):
        self.heard["ready"].put_nowait(True)

    async def on_resumed(self):
        self.heard["resumed"].put_nowait(True)

    async def on_message(self, message):
        if message.author.id != self.user.id and message.webhook_id is None:
            self.heard["message"].put_nowait(message)

    async def on_raw_message_edit(self, payload):
        self.heard["edit"].put_nowait(payload)

    async def on_raw_message_delete(self, payload):
        self.heard["delete"].put_nowait(payload)

    async def on_interaction(self, interaction):
        if interaction.type is discord.InteractionType.component:
            self.heard["press"].put_nowait(interaction)

    async def next(self, name):
        return await asyncio.wait_for(self.heard[name].get(), 60)


async def talk(fake, bot):
    """Hears, answers, changes and deletes messages."""
    channel = bot.get_channel(int(fake.facts["channel"]))
    assert (channel.name, channel.guild.name) == ("review", "Judges"), channel
    mine = channel.permissions_for(channel.guild.me)
    assert mine.manage_webhooks and mine.send_messages and not mine.administrator, mine
    said = await fake.act(act="say", text=f"Hello, <@{bot.user.id}>.")
    heard = await bot.next("message")
    assert (str(heard.id), heard.author.display_name) == (said, "Ann"), heard
    assert bot.user in heard.mentions, heard.mentions
    sent = await heard.reply("One & two", nonce="judge-1", mention_author=False)
    assert (sent.reference.message_id, sent.nonce) == (heard.id, "judge-1"), sent
    edited = await sent.edit(content="Three")
    assert edited.content == "Three" and edited.edited_at, edited
    await fake.act(act="edit", message=said, text="Hello again.")
    while (await bot.next("edit")).data["content"] != "Hello again.":
        pass
    await edited.delete()
    assert (await bot.next("delete")).message_id == sent.id
    assert [m["text"] for m in await fake.shown()] == ["Hello again."]
    async with channel.typing():
        history = [m.content async for m in channel.history(limit=10)]
    assert history == ["Hello again."], history
    try:
        await channel.send("x" * 2001)
        raise AssertionError("2,001 characters were accepted")
    except discord.HTTPException as error:
        assert (error.status, error.code) == (400, 50035), error
    await fake.act(act="write", text="In private.")
    private = await bot.next("message")
    assert isinstance(private.channel, discord.DMChannel), private.channel
    await private.channel.send("Answered.")


async def webhooks(fake, bot):
    """Speaks under names of its own."""
    channel = bot.get_channel(int(fake.facts["channel"]))
    hook = await channel.create_webhook(name="Judges")
    assert [h.id for h in await channel.webhooks()] == [hook.id]
    sent = await hook.send("Bullish.", username="Analyst", wait=True)
    assert (sent.author.display_name, sent.webhook_id) == ("Analyst", hook.id), sent
    await sent.edit(content="Bearish.")
    shown = (await fake.shown())[-1]
    assert (shown["from"], shown["text"], shown["webhook"]) == ("Analyst", "Bearish.", True), shown
    await sent.delete()


async def interactions(fake, bot):
    """Shows buttons and has commands."""
    channel = bot.get_channel(int(fake.facts["channel"]))
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Yes", custom_id="yes", style=discord.ButtonStyle.primary))
    asked = await channel.send("Well?", view=view)
    press = await fake.act(act="press", label="Yes")
    heard = await bot.next("press")
    assert (str(heard.id), heard.message.id, heard.data["custom_id"]) == (press, asked.id, "yes"), heard
    assert heard.user.display_name == "Ann", heard.user
    await heard.response.send_message("Noted.", ephemeral=True)
    assert await fake.act(act="answer", interaction=press) == "Noted."
    press = await fake.act(act="press", label="Yes")
    await (await bot.next("press")).response.edit_message(content="Over.", view=None)
    assert await fake.act(act="answer", interaction=press) == "Over."
    assert (await fake.shown())[-2]["text"] == "Over."
    await bot.tree.sync()
    given = await fake.act(act="slash", name="ask", text="why?")
    for _ in range(100):
        texts = [m["text"] for m in await fake.shown()]
        if "Asked: why?" in texts:
            break
        await asyncio.sleep(0.1)
    assert "Asked: why?" in texts, (given, texts)


async def lost_connections(fake, bot):
    """Resumes what can be resumed, and misses nothing."""
    for fault in ("cut", "reconnect"):
        await fake.act(act="disturb", by=fault)
        await fake.act(act="say", text=f"after {fault}")
        await bot.next("resumed")
        assert (await bot.next("message")).content == f"after {fault}"
    await fake.act(act="disturb", by="invalid")
    await bot.next("ready")
    await fake.act(act="say", text="after invalid")
    assert (await bot.next("message")).content == "after invalid"


async def main():
    fake = Fake(sys.argv[1])
    discord.http.Route.BASE = fake.facts["url"] + "/api/v10"
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(fake.facts["gateway"])
    async with Judge() as bot:
        running = asyncio.create_task(bot.start(fake.facts["token"]))
        await bot.next("ready")
        for story in (talk, webhooks, interactions, lost_connections):
            await story(fake, bot)
            print(f"{story.__name__}: the whole story played")
        await bot.close()
        await running
    fake.end()


asyncio.run(main())
