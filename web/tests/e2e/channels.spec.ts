/**
 * Chats of other products on the page: pairing by a link, a bot by its token, a bound conversation
 * that is the same in both, and the way of each message. Telegram is the fake of moothall-testkit.
 */

import type { Locator, Page } from '@playwright/test';
import { Server } from '../server';
import { Telegram, TELEGRAM } from '../telegram';
import { accessible, expect, messagesOf, say, shown, signIn, test as base } from './fixture';

const AGENTS = `
[agents.judge]
runtime = "script"
profile = { model = "demo" }
replies = ["Revenue grew by 8 %."]
`;

const test = base.extend<{ telegram: Telegram; bot: boolean }>({
  /** True if the bot is in the configuration. */
  bot: [true, { option: true }],
  // eslint-disable-next-line no-empty-pattern
  telegram: async ({}, use) => {
    const telegram = await Telegram.start();
    await use(telegram);
    telegram.stop();
  },
  server: async ({ telegram, bot }, use) => {
    const server = await new Server(AGENTS + telegram.config(bot ? 'judge' : undefined)).start();
    await use(server);
    await server.stop();
  },
});

test.skip(!TELEGRAM, 'fake-telegram is not built');

/** Opens the dialog about bots and accounts. */
async function chatApps(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitem', { name: 'Chat apps' }).click();
  return page.getByRole('dialog');
}

/** Sends the code of the link in a dialog to the bot, as a tap on it does. */
async function tap(dialog: Locator, telegram: Telegram): Promise<void> {
  const link = (await dialog.getByTestId('pairing-link').textContent()) ?? '';
  expect(link).toMatch(/^https:\/\/t\.me\/judged_bot\?start=[A-Za-z0-9_-]{1,64}$/);
  await telegram.write(`/start ${link.split('start=')[1]}`);
}

function paired(telegram: Telegram): string {
  return `telegram:${telegram.facts.person} is paired`;
}

/** Pairs the account of the person in the group. */
async function pair(page: Page, telegram: Telegram, rights: string[]): Promise<void> {
  const dialog = await chatApps(page);
  await expect(dialog.getByRole('list', { name: 'Bots' })).toContainText('@judged_bot');
  await dialog.getByRole('button', { name: 'Pair an account' }).click();
  for (const right of rights) await dialog.getByRole('checkbox', { name: right }).check();
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  await expect(dialog).toContainText('on your phone, and tap Start');
  await tap(dialog, telegram);
  await expect(dialog.getByRole('status').filter({ hasText: paired(telegram) })).toBeVisible();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(dialog.getByRole('list', { name: 'Paired accounts' })).toContainText(rights[0]!.toLowerCase());
  await dialog.getByRole('button', { name: 'Close' }).click();
}

async function chats(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Chats…' }).click();
  return page.getByRole('dialog', { name: 'Chats' });
}

/** Begins a conversation with the agent, opens it and binds it to the group by hand. */
async function bound(page: Page, server: Server, telegram: Telegram): Promise<string> {
  const thread = await server.begin('Market', ['judge'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  const dialog = await chats(page);
  await expect(dialog).toContainText('bound to no chat');
  await dialog.getByRole('button', { name: 'Judges' }).click();
  await expect(dialog.getByLabel('Chat', { exact: true })).toHaveValue(telegram.group);
  await dialog.getByRole('button', { name: 'Bind', exact: true }).click();
  const row = dialog.getByRole('list', { name: 'Bound chats' }).getByRole('listitem');
  await expect(row).toContainText('Judges');
  await expect(row).toContainText('hearing');
  await accessible(page);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await telegram.said('This chat is connected to a Moothall server.');
  return thread;
}

test('a bound conversation is the same in the group and on the page, with people writing in each', async ({
  page,
  server,
  telegram,
}) => {
  await signIn(page, server);
  await pair(page, telegram, ['Open groups', 'Stop, pause']);
  await bound(page, server, telegram);
  const before = (await telegram.texts()).length;

  await say(page, '@judge How are earnings?');
  await telegram.said('user (page):\n@judge How are earnings?');
  await telegram.said('Revenue grew by 8 %.');
  await telegram.say('And margins?');
  await expect(messagesOf(page, 'You').last()).toContainText('And margins?');
  await say(page, 'Thanks, from the page.');
  await telegram.said('Thanks, from the page.');
  await telegram.say('From the group too.');
  await expect(messagesOf(page, 'You').last()).toContainText('From the group too.');

  const inGroup = (await telegram.texts()).slice(before).map((text) => text.replace(/^user \(page\):\n/, ''));
  const onPage = await page.getByRole('article').locator('.prose').allInnerTexts();
  expect(onPage.map((text) => text.trim())).toEqual(inGroup);

  // The way of each message is said on request, and needs no room while all is well.
  const [mine, theirs] = [messagesOf(page, 'You').first(), messagesOf(page, 'You').last()];
  await expect(page.getByTestId('way').filter({ visible: true })).toHaveCount(0);
  await mine.focus();
  await expect(mine.getByTestId('way')).toHaveText('Sent to Telegram');
  await accessible(page);
  await theirs.focus();
  await expect(theirs.getByTestId('way')).toHaveText('Written in Telegram');
  await expect(page.getByRole('button', { name: 'Send again' })).toHaveCount(0);
  await expect(page.getByRole('complementary').getByRole('region', { name: 'Bound chats' })).toContainText(
    '1 turn today',
  );
});

test('a message that may not have arrived says so, and is sent again by a person', async ({
  page,
  server,
  telegram,
}) => {
  await signIn(page, server);
  await bound(page, server, telegram);
  await telegram.drop('sendMessage');
  await say(page, 'Words in doubt.');
  const row = messagesOf(page, 'You').filter({ hasText: 'Words in doubt.' });
  await expect(row).toContainText('It may not have arrived in Telegram');
  await accessible(page);
  expect((await telegram.texts()).filter((text) => text.includes('in doubt'))).toEqual([]);
  await row.getByRole('button', { name: 'Send again' }).press('Enter');
  await telegram.said('Words in doubt.');
  await expect(row).not.toContainText('It may not have arrived');
  await row.focus();
  await expect(row.getByTestId('way')).toHaveText('Sent to Telegram');
  expect((await telegram.texts()).filter((text) => text.includes('in doubt')).length).toBe(1);
});

test('a deaf bot is named with its cure, and a second chat names both audiences', async ({
  page,
  server,
  telegram,
}) => {
  await signIn(page, server);
  await bound(page, server, telegram);
  await telegram.privacy(true);
  await server.control(await threadOf(page), {
    invite: { participant_id: 'judge', profile: { client: 'judge', model: 'demo' } },
  });
  const dialog = await chats(page);
  const list = dialog.getByRole('list', { name: 'Bound chats' });
  await expect(async () => {
    await dialog.getByRole('button', { name: 'Done' }).click();
    await chats(page);
    await expect(list).toContainText('deaf', { timeout: 1_000 });
  }).toPass();
  await expect(list).toContainText('@judged_bot hears only commands and replies. Make one bot an admin');

  await dialog.getByLabel('Another chat').fill('telegram:-1009');
  await dialog.getByRole('button', { name: 'Bind', exact: true }).click();
  const asked = page.getByRole('dialog', { name: 'Bind telegram:-1009 too?' });
  await expect(asked).toContainText('The members of Judges and of telegram:-1009 will read each other’s messages');
  await accessible(page);
  await asked.getByRole('button', { name: 'Bind it too' }).click();
  await expect(asked).toHaveCount(0);
  const again = await chats(page);
  await expect(again.getByRole('list', { name: 'Bound chats' }).getByRole('listitem')).toHaveCount(2);
  await again.getByRole('button', { name: 'Unbind telegram:-1009' }).click();
  await page.getByRole('dialog', { name: 'Unbind telegram:-1009?' }).getByRole('button', { name: 'Unbind' }).click();
  await expect(shown(page, /disconnected a chat on Telegram/)).toBeVisible();
});

/** Returns the id of the open conversation. */
function threadOf(page: Page): Promise<string> {
  return Promise.resolve(new URL(page.url()).pathname.split('/')[2]!);
}

test.describe('without a bot', () => {
  test.use({ bot: false });

  test('a bot is added by its token, pairs an account by a link, and is removed', async ({
    page,
    server,
    telegram,
  }) => {
    await signIn(page, server);
    const dialog = await chatApps(page);
    await expect(dialog).toContainText('No agent has a bot yet');
    await accessible(page);
    await dialog.getByRole('button', { name: 'Add a bot' }).click();
    await dialog.getByLabel('Agent that speaks by the bot').selectOption('judge');
    await dialog.getByLabel('Token').fill('12:no-token');
    await dialog.getByRole('button', { name: 'Add the bot' }).click();
    await expect(dialog.getByRole('alert')).toBeVisible();
    await dialog.getByLabel('Token').fill(telegram.facts.token);
    await accessible(page);
    await dialog.getByRole('button', { name: 'Add the bot' }).click();
    await expect(dialog.getByRole('status')).toContainText('@judged_bot speaks for judge');
    // The token is nowhere in the page any more.
    const kept = await page.evaluate(() =>
      [document.documentElement.outerHTML, ...document.querySelectorAll('input')]
        .map((part) => (typeof part === 'string' ? part : part.value))
        .concat(JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }))
        .join(),
    );
    expect(kept).not.toContain(telegram.facts.token.split(':')[1]);

    await dialog.getByRole('checkbox', { name: 'Answer questions of agents' }).check();
    await dialog.getByRole('button', { name: 'Make the link' }).click();
    await expect(dialog.getByTestId('pairing-link')).toBeVisible();
    await accessible(page);
    await tap(dialog, telegram);
    await expect(dialog.getByRole('status').filter({ hasText: paired(telegram) })).toBeVisible();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const account = dialog.getByRole('list', { name: 'Paired accounts' }).getByRole('listitem');
    await expect(account).toContainText('answer questions of agents');
    await accessible(page);
    await account.getByRole('button', { name: 'Unpair' }).click();
    await account.getByRole('button', { name: 'Unpair' }).click();
    await expect(account).toHaveCount(0);
    const bot = dialog.getByRole('list', { name: 'Bots' }).getByRole('listitem');
    await expect(bot).toContainText('@judged_bot');
    await bot.getByRole('button', { name: 'Remove' }).click();
    await bot.getByRole('button', { name: 'Remove' }).click();
    await expect(dialog).toContainText('No agent has a bot yet');
  });
});
