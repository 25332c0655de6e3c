"""Lets python-telegram-bot and aiogram use the fake of Telegram, as clients that others wrote.

Usage: foreign.py PROGRAM   (the program `fake-telegram`)
"""

import asyncio
import json
import subprocess
import sys


class Fake:
    """The program `fake-telegram`, whose input plays the person in the group."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = json.loads(self.process.stdout.readline())

    def act(self, **act):
        self.process.stdin.write(json.dumps(act) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the fake ended in {act}"
        return json.loads(line)

    def shown(self):
        return [m for m in self.act(act="shown") if not m["service"]]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=10) == 0


async def telegram_bot(fake):
    """Plays the story with python-telegram-bot."""
    from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, ReplyParameters

    chat = fake.facts["chat"]
    async with Bot(fake.facts["token"], base_url=fake.facts["url"] + "/bot") as bot:
        me = await bot.get_me()
        assert (me.username, me.can_read_all_group_messages) == ("judged_bot", True), me
        said = fake.act(act="say", text="Hello, @judged_bot: /go")
        updates = await bot.get_updates(timeout=5)
        heard = updates[-1].message
        assert (heard.message_id, heard.from_user.username) == (said, "ann_writes"), heard
        assert [heard.parse_entity(e) for e in heard.entities] == ["@judged_bot", "/go"], heard.entities
        assert updates[0].my_chat_member.new_chat_member.status == "member", updates[0]
        keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="yes")]])
        bold = [MessageEntity("bold", 0, 3)]
        sent = await bot.send_message(
            chat, "One & two", entities=bold, reply_markup=keyboard, reply_parameters=ReplyParameters(said)
        )
        assert sent.reply_to_message.message_id == said, sent
        assert sent.reply_markup == keyboard, sent
        press = fake.act(act="press", button="Yes")
        query = (await bot.get_updates(offset=updates[-1].update_id + 1, timeout=5))[0].callback_query
        assert (query.data, query.message.message_id) == ("yes", sent.message_id), query
        await query.answer("Noted.")
        assert fake.act(act="answer", press=press) == "Noted."
        edited = await bot.edit_message_text("Three", chat, sent.message_id)
        assert (edited.text, edited.reply_markup) == ("Three", None), edited
        assert (await bot.get_chat_member(chat, me.id)).status == "member"
        assert (await bot.get_chat(chat)).title == "Judges"
        await bot.send_chat_action(chat, "typing")
        assert fake.shown()[-1]["text"] == "Three" and fake.shown()[-1]["edited"]
        await bot.delete_message(chat, sent.message_id)
        assert fake.shown()[-1]["deleted"]


async def aiogram(fake):
    """Plays the story with aiogram."""
    from aiogram import Bot
    from aiogram.client.session.aiohttp import AiohttpSession
    from aiogram.client.telegram import TelegramAPIServer
    from aiogram.exceptions import TelegramBadRequest
    from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, InputRichMessage, MessageEntity, ReplyParameters

    chat = fake.facts["chat"]
    session = AiohttpSession(api=TelegramAPIServer.from_base(fake.facts["url"]))
    async with Bot(fake.facts["token"], session=session) as bot:
        me = await bot.get_me()
        assert (me.username, me.can_read_all_group_messages) == ("judged_bot", True), me
        said = fake.act(act="say", text="Hello, @judged_bot: /go")
        updates = await bot.get_updates(timeout=5)
        heard = updates[-1].message
        assert (heard.message_id, heard.from_user.username) == (said, "ann_writes"), heard
        assert [e.extract_from(heard.text) for e in heard.entities] == ["@judged_bot", "/go"], heard.entities
        assert updates[0].my_chat_member.new_chat_member.status == "member", updates[0]
        keyboard = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="Yes", callback_data="yes")]])
        bold = [MessageEntity(type="bold", offset=0, length=3)]
        sent = await bot.send_message(
            chat, "One & two", entities=bold, reply_markup=keyboard, reply_parameters=ReplyParameters(message_id=said)
        )
        assert sent.reply_to_message.message_id == said, sent
        press = fake.act(act="press", button="Yes")
        query = (await bot.get_updates(offset=updates[-1].update_id + 1, timeout=5))[0].callback_query
        assert (query.data, query.message.message_id) == ("yes", sent.message_id), query
        await bot.answer_callback_query(query.id, text="Noted.")
        assert fake.act(act="answer", press=press) == "Noted."
        edited = await bot.edit_message_text(text="Three", chat_id=chat, message_id=sent.message_id)
        assert (edited.text, edited.reply_markup) == ("Three", None), edited
        try:
            await bot.edit_message_text(text="Three", chat_id=chat, message_id=sent.message_id)
            raise AssertionError("an edit without a change was accepted")
        except TelegramBadRequest as error:
            assert "message is not modified" in str(error), error
        rich = await bot.send_rich_message(chat, InputRichMessage(markdown="**Four**"))
        assert rich.rich_message.blocks[0].type == "paragraph", rich
        assert (await bot.get_chat_member(chat, me.id)).status == "member"
        assert (await bot.get_chat(chat)).title == "Judges"
        await bot.send_chat_action(chat, "typing")
        assert fake.shown()[1]["text"] == "Three" and fake.shown()[1]["edited"]
        await bot.delete_message(chat, sent.message_id)
        assert fake.shown()[1]["deleted"]


def main():
    for story in (telegram_bot, aiogram):
        fake = Fake(sys.argv[1])
        asyncio.run(story(fake))
        fake.end()
        print(f"{story.__name__}: the whole story played")


main()
