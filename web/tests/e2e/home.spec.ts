/** Home: what needs you is answered by keys, the agents at work, what moved, and a conversation beside. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { SESSIONS, TERMINALS, wish } from '../screens/stage';
import type { Server } from '../server';
import { accessible, expect, signIn, test } from './fixture';

const WIDE = { width: 1440, height: 900 };

const section = (page: Page) => page.getByRole('region', { name: 'Needs you' });
const card = (page: Page, agent: string) => section(page).getByRole('article', { name: new RegExp(`^${agent} asks`) });

async function answers(server: Server, thread: string): Promise<string[]> {
  const { events } = await server.get<{ events: { content: { event: string; option?: string } }[] }>(
    `/threads/${thread}/events?types=permission`,
  );
  return events.filter(({ content }) => content.event === 'answered').map(({ content }) => content.option ?? '');
}

test.describe('with terminals', () => {
  test.use({ config: SESSIONS });
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');

  test('three requests in three rooms are answered from home by keys alone', async ({ page, server }) => {
    const threads = [];
    for (const room of ['one', 'two', 'three']) threads.push(await wish(server, room));
    await page.setViewportSize(WIDE);
    await signIn(page, server);
    await expect(page).toHaveTitle(/^3 need you · /);
    // Oldest first, and its card has the focus.
    await expect(card(page, 'one')).toBeFocused();
    await accessible(page);
    // The room of the open card is beside it.
    await expect(page.getByRole('region', { name: 'Peek: one' })).toBeVisible();

    await page.keyboard.press('j');
    await expect(card(page, 'two')).toBeFocused();
    await page.keyboard.press('k');
    await expect(card(page, 'one')).toBeFocused();
    for (const room of ['one', 'two', 'three']) {
      await expect(card(page, room)).toBeFocused();
      // A key that comes too early for the card that has just opened does nothing.
      await expect(async () => {
        await page.keyboard.press('2');
        await expect(card(page, room)).toHaveCount(0, { timeout: 500 });
      }).toPass();
    }
    await expect(section(page)).toHaveCount(0);
    await expect(page).not.toHaveTitle(/needs? you/);
    for (const thread of threads) expect(await answers(server, thread)).toEqual(['deny']);
  });

  test('an installed program is asked in a folder that is picked', async ({ page, server }) => {
    const folder = mkdtempSync(join(tmpdir(), 'moothall-folder-'));
    mkdirSync(join(folder, 'shop', '.git'), { recursive: true });
    await signIn(page, server);
    const composer = page.getByRole('textbox', { name: 'Begin a conversation' });
    const answers = page.getByRole('group', { name: 'Who answers' });
    await answers.getByRole('button', { name: 'fake' }).click();
    await page.getByRole('button', { name: /^in / }).click();
    const picker = page.getByRole('group', { name: 'Folder' });
    await picker.getByLabel('Path of the folder').fill('/nowhere');
    await picker.getByLabel('Path of the folder').press('Enter');
    await expect(picker.getByRole('alert')).toContainText('does not exist');
    await picker.getByLabel('Path of the folder').fill(folder);
    await picker.getByLabel('Path of the folder').press('Enter');
    await picker.getByRole('button', { name: 'shop (repository)' }).click();
    await expect(picker.getByText('No folders inside.')).toBeVisible();
    await accessible(page);
    await composer.fill('How are you?');
    await composer.press('Enter');
    await expect(page.getByRole('article', { name: /^You,/ })).toContainText('How are you?');
    const { sessions } = await server.get<{ sessions: { cwd: string }[] }>('/sessions');
    expect(sessions.map(({ cwd }) => cwd)).toEqual([join(folder, 'shop')]);
    rmSync(folder, { recursive: true });
  });

  test('a held key answers one card only', async ({ page, server }) => {
    const [first, second] = [await wish(server, 'one'), await wish(server, 'two')];
    await signIn(page, server);
    await expect(card(page, 'one')).toBeFocused();
    await page.keyboard.down('2');
    await expect(card(page, 'two')).toBeFocused();
    // Each further `down` is a repetition of the held key.
    for (let n = 0; n < 20; n += 1) await page.keyboard.down('2');
    await page.keyboard.up('2');
    await expect.poll(() => answers(server, first)).toEqual(['deny']);
    expect(await answers(server, second)).toEqual([]);
    await expect(card(page, 'two')).toBeVisible();
  });
});

test('a failure and a mention are done with E, and letters can be switched off', async ({ page, server }) => {
  const thread = await server.begin('Review', ['ada:elsewhere'], 'mention_only');
  await server.say(thread, '@user please **look**', 'ada');
  await page.setViewportSize(WIDE);
  await signIn(page, server);
  await expect(section(page)).toContainText('please look');
  await expect(page).toHaveTitle(/^1 needs you · /);
  await expect(page.getByRole('region', { name: 'New messages' })).toContainText('Review');

  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitemcheckbox', { name: /Single-letter/ }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Needs you' }).click();
  await page.keyboard.press('e');
  await page.keyboard.press('n');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(section(page)).toBeVisible();

  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitemcheckbox', { name: /Single-letter/ }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Needs you' }).click();
  await page.keyboard.press('e');
  await expect(section(page)).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(section(page)).toHaveCount(0);
  await expect(page).not.toHaveTitle(/needs? you/);
});

test('agents at work are sentences, and a field begins a room', async ({ page, server }) => {
  const thread = await server.begin('Queue', ['sleepy', 'quiet']);
  await server.say(thread, '@sleepy @quiet go');
  await page.setViewportSize(WIDE);
  await signIn(page, server);
  const work = page.getByRole('region', { name: 'At work' });
  await expect(work.getByRole('listitem')).toHaveCount(2);
  await expect(work).toContainText(/quiet.*waits for sleepy/);
  await expect(work).toContainText(/sleepy.*thinking/);
  await expect(work).toContainText('in Queue');
  await accessible(page);

  await page.keyboard.press('/');
  await page.keyboard.type('@quiet what do you say?');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'what do you say?' })).toBeVisible();
  await expect(page.getByRole('article', { name: /^You,/ })).toContainText('what do you say?');
});

test('on a phone the room comes as a sheet', async ({ page, server }) => {
  const thread = await server.begin('Review', ['ada:elsewhere'], 'mention_only');
  await server.say(thread, '@user please look', 'ada');
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, server);
  await expect(section(page)).toContainText('please look');
  await accessible(page);
  await page.getByRole('button', { name: 'Look at the conversation' }).click();
  const sheet = page.getByRole('dialog', { name: 'The conversation beside' });
  await expect(sheet).toContainText('please look');
  await accessible(page);
  await sheet.getByRole('button', { name: 'Close the peek' }).click();
  await expect(sheet).toHaveCount(0);
});
