/**
 * Guards: they are listed and lifted in one place, warnings are at their message, and ending a
 * gathering needs consent.
 */

import type { Locator, Page } from '@playwright/test';
import type { Gathering, NewGathering } from '../../src/lib/types';
import type { Server } from '../server';
import { accessible, expect, held, messagesOf, participant, say, shown, signIn, test } from './fixture';

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

async function guards(page: Page): Promise<Locator> {
  await choose(page, 'Guards…');
  return page.getByRole('dialog', { name: 'Guards' });
}

test('what is held is listed with the button that lifts it', async ({ page, server }) => {
  const thread = await held(page, server);
  // One agent alone does not trigger the guard again.
  await server.control(thread, { uninvite: { participant_id: 'two' } });
  const dialog = await guards(page);
  const row = dialog.getByRole('listitem').filter({ hasText: 'agents talked too long without a person' });
  await expect(row).toContainText('Loop');
  await expect(row).toContainText('held');
  await accessible(page);
  await row.getByRole('button', { name: 'Continue' }).click();
  await expect(row).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('alert').getByRole('button', { name: 'Continue' })).toHaveCount(0);
});

test('a mute and a pause are lifted one after the other, until nothing is left', async ({ page, server }) => {
  const thread = await server.begin('Quiet', ['terse', 'quiet']);
  await server.control(thread, { mute: { targets: ['quiet'] } });
  await server.control(thread, { pause: { on: true } });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  const dialog = await guards(page);
  await dialog
    .getByRole('listitem')
    .filter({ hasText: 'quiet is muted' })
    .getByRole('button', { name: 'Unmute' })
    .click();
  await expect(dialog.getByRole('listitem')).toHaveCount(1);
  await dialog.getByRole('listitem').filter({ hasText: 'paused' }).getByRole('button', { name: 'Resume' }).click();
  await expect(dialog.getByRole('status')).toHaveText('No guard holds anything, and no limit is near.');
  await accessible(page);
});

test('a person whom the server does not know is told what lifts a guard', async ({ page, server }) => {
  const thread = await server.begin('Quiet', ['terse']);
  await server.control(thread, { mute: { targets: ['terse'] } });
  await page.goto(`${server.url}/t/${thread}`);
  const dialog = await guards(page);
  const row = dialog.getByRole('listitem').filter({ hasText: 'terse is muted' });
  await expect(row).toBeVisible();
  await accessible(page);
  await expect(row).toContainText('Sign in to lift it.');
  await expect(row.getByRole('button')).toHaveCount(0);
});

test('a warning stands at the message that was sent', async ({ page, server }) => {
  const policy = { name: 'hybrid', max_queued_messages: 4 };
  const thread = await server.begin('Busy', ['terse'], policy);
  await server.control(thread, { pause: { on: true } });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'alpha');
  await expect(shown(page, 'alpha')).toBeVisible();
  // One sender may fill a quarter of the queue.
  await say(page, 'beta');
  const second = page.getByRole('article').filter({ hasText: 'beta' });
  await expect(second.getByRole('status')).toContainText('Too many messages wait here');
  await expect(page.getByRole('article').filter({ hasText: 'alpha' }).getByRole('status')).toHaveCount(0);
  await accessible(page);
});

test('a name that no participant bears is told at its message in the words of the server', async ({ page, server }) => {
  const thread = await server.begin('Plan', ['planner'], 'mention_only');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@planer, what now?');
  const warning = page.getByRole('article').getByRole('status');
  await expect(warning).toContainText('@planner');
  await expect(warning).toContainText('Send it again with the right name');
  await expect(warning).not.toContainText('unknown_name');
});

test('a message about which no agent was asked says why', async ({ page, server }) => {
  const thread = await server.begin('Plan', ['terse'], 'mention_only');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'hello');
  await page.getByRole('button', { name: 'no agent answered' }).click();
  await expect(shown(page, 'No agent was asked: nobody was named. Name an agent with @')).toBeVisible();
  await accessible(page);
  await say(page, '@terse hello');
  await expect(messagesOf(page, 'terse')).toHaveCount(1);
  await page.reload();
  await expect(messagesOf(page, 'terse')).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'no agent answered' })).toHaveCount(1);
});

type Members = NewGathering['participants'];

const CIRCLE: Members = [
  { name: 'Ann', number: 1, kind: 'human', participant_id: 'ann' },
  { name: 'Bo', number: 2, role: 'speaker', kind: 'human', participant_id: 'bo' },
  { name: 'Hal', number: 3, role: 'harvester', kind: 'agent', client: 'terse' },
];

async function gather(page: Page, server: Server): Promise<() => Promise<Gathering>> {
  const { id } = await server.post<Gathering>('/gatherings', {
    title: 'Council',
    rhythm: 'council',
    opening_question: 'What now?',
    participants: CIRCLE,
  });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  return () => server.get<Gathering>(`/gatherings/${id}`);
}

test('a change that ends a gathering is made once a person agrees', async ({ page, server }) => {
  const now = await gather(page, server);
  const dialog = page.getByRole('dialog', { name: 'End the gathering?' });
  const ask = async () => {
    await choose(page, 'Who may speak…');
    await page.getByRole('radio', { name: /^Everyone at once/ }).click();
    await expect(dialog).toContainText('Another policy ends the gathering');
    await expect(dialog).not.toContainText('confirm');
  };
  await ask();
  await accessible(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
  expect((await now()).status).not.toBe('closed');

  await ask();
  await dialog.getByRole('button', { name: 'End it and change' }).click();
  await expect(dialog).toHaveCount(0);
  await expect.poll(async () => (await now()).status).toBe('closed');
  await choose(page, 'Who may speak…');
  await expect(page.getByRole('radio', { name: /^Everyone at once/ })).toBeChecked();
});

test('a harvester is removed once a person agrees that the gathering has no harvest', async ({ page, server }) => {
  const now = await gather(page, server);
  await participant(page, 'Hal')
    .getByRole('button', { name: /^Actions for Hal/ })
    .click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove the harvester?' });
  await expect(dialog).toContainText('Without its harvester the gathering has no harvest.');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(participant(page, 'Hal')).toHaveCount(0);
  expect((await now()).status).not.toBe('closed');
});
