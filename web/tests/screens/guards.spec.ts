import { expect, test, type Page } from '@playwright/test';
import type { Gathering } from '../../src/lib/types';
import { Server } from '../server';
import { CONFIG, DESK_AND_PHONE as sizes, settled, shoot, wait } from './stage';

let server: Server;

test.beforeEach(async () => {
  server = await new Server(`${CONFIG}\n[budgets]\nhall = { turns_per_hour = 8 }\n`).start();
});
test.afterEach(() => server.stop());

async function look(page: Page, thread: string): Promise<void> {
  await page.goto(server.page);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByRole('region', { name: 'Messages' })).toBeVisible();
}

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

interface Held {
  state: { held?: unknown };
}

test('guards of several conversations', async ({ page }) => {
  const loop = await server.begin('Loop', ['one:terse', 'two:terse'], { name: 'open', max_exchanges_without_human: 5 });
  await server.say(loop, 'Discuss.');
  await wait(async () => Boolean((await server.get<Held>(`/threads/${loop}/state`)).state.held));
  await settled(server, loop);
  const quiet = await server.begin(
    'Where the release of the second quarter stands, and who is to write its notes in which language',
    ['planner', 'coder', 'a-name-that-takes-the-room-of-several-others:terse'],
    { name: 'hybrid', max_queued_messages: 4 },
  );
  await server.control(quiet, { mute: { targets: ['coder', 'a-name-that-takes-the-room-of-several-others'] } });
  await server.control(quiet, { pause: { on: true } });
  for (const words of ['one', 'two', 'three']) await server.say(quiet, words);
  await look(page, quiet);
  await choose(page, 'Guards…');
  await expect(page.getByRole('dialog', { name: 'Guards' }).getByRole('listitem').nth(4)).toBeVisible();
  await shoot(page, 'guards', sizes);
});

test('no guard holds', async ({ page }) => {
  await look(page, await server.begin('Plan', ['terse']));
  await choose(page, 'Guards…');
  await expect(page.getByRole('dialog', { name: 'Guards' }).getByText('No guard holds')).toBeVisible();
  await shoot(page, 'guards-none', sizes);
});

test('warnings, and a message that asked no agent', async ({ page }) => {
  const policy = { name: 'mention_only', max_queued_messages: 4 };
  const thread = await server.begin('Plan', ['planner', 'terse'], policy);
  await look(page, thread);
  await say(page, 'Good morning.');
  await page.getByRole('button', { name: 'no agent answered' }).click();
  await say(page, '@planer, what is to be done first?');
  await expect(page.getByRole('article').getByRole('status')).toHaveCount(1);
  await server.control(thread, { pause: { on: true } });
  for (const words of ['@terse is that so?', '@planner and you?']) await say(page, words);
  await expect(page.getByRole('article').getByRole('status')).toHaveCount(2);
  await shoot(page, 'warnings', sizes);
});

test('a change that ends a gathering', async ({ page }) => {
  const { id } = await server.post<Gathering>('/gatherings', {
    title: 'Council',
    rhythm: 'council',
    opening_question: 'What now?',
    participants: [
      { name: 'Ann', number: 1, kind: 'human', participant_id: 'ann' },
      { name: 'Bo', number: 2, role: 'speaker', kind: 'human', participant_id: 'bo' },
      { name: 'Hal', number: 3, role: 'harvester', kind: 'agent', client: 'terse' },
    ],
  });
  await look(page, id);
  await choose(page, 'Who may speak…');
  await page.getByRole('radio', { name: /^Open/ }).click();
  await expect(page.getByRole('dialog', { name: 'End the gathering?' })).toBeVisible();
  await shoot(page, 'agree', sizes);
});
