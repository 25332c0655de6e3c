/** Chats of other products: accounts, bots, bound chats, and the way of messages. */

import { expect, test } from '@playwright/test';
import { Server } from '../server';
import { Telegram, TELEGRAM } from '../telegram';
import { CONFIG, DESK_AND_PHONE, settled, shoot } from './stage';

let server: Server;
let telegram: Telegram;

test.skip(!TELEGRAM, 'fake-telegram is not built');

test.beforeEach(async () => {
  telegram = await Telegram.start();
  server = await new Server(CONFIG + telegram.config('planner')).start();
});

test.afterEach(async () => {
  await server.stop();
  telegram.stop();
});

async function pair(): Promise<void> {
  const { code } = await server.post<{ code: string }>('/channels/telegram/pairings', { scopes: ['threads:admin'] });
  await telegram.write(`/start ${code}`);
  await expect(async () => {
    expect((await server.get<{ pairings: unknown[] }>('/pairings')).pairings.length).toBe(1);
  }).toPass();
}

test('accounts and bots, and the link of a pairing', async ({ page }) => {
  await page.goto(server.page);
  await pair();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitem', { name: 'Chat apps' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('list', { name: 'Paired accounts' })).toBeVisible();
  await shoot(page, 'chat-apps', DESK_AND_PHONE);
  await dialog.getByRole('button', { name: 'Pair an account' }).click();
  await shoot(page, 'pair-rights', DESK_AND_PHONE.slice(0, 3));
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  await expect(dialog.getByTestId('pairing-link')).toBeVisible();
  await shoot(page, 'pair-link', DESK_AND_PHONE);
  await dialog.getByRole('button', { name: 'Back' }).click();
  await dialog.getByRole('button', { name: 'Add a bot' }).click();
  await shoot(page, 'add-bot', DESK_AND_PHONE.slice(1, 3));
});

test('a bound conversation, its chats, and messages that did not arrive', async ({ page }) => {
  const thread = await server.begin('Market', ['planner', 'coder'], 'mention_only');
  await page.goto(server.page);
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Chats…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Chats' });
  await dialog.getByRole('button', { name: 'Judges' }).click();
  await shoot(page, 'bind', DESK_AND_PHONE);
  await dialog.getByRole('button', { name: 'Bind', exact: true }).click();
  await expect(dialog.getByRole('list', { name: 'Bound chats' })).toContainText('hearing');
  await pair();
  await server.say(thread, '@planner How are earnings?');
  await settled(server, thread);
  await telegram.said('Revenue grew');
  await telegram.say('And margins?');
  await telegram.drop('sendMessage');
  await server.say(thread, 'Words in doubt.');
  await shoot(page, 'chats', DESK_AND_PHONE);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('button', { name: 'Send again' })).toBeVisible();
  await page.getByRole('article').first().hover();
  await shoot(page, 'bound', DESK_AND_PHONE);
  await telegram.privacy(true);
  await expect(page.getByText('@judged_bot hears only')).toHaveCount(1);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Participants' }).click();
  await shoot(page, 'deaf-panel', DESK_AND_PHONE.slice(2));
});
