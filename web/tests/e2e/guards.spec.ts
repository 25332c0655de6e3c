/** Guards: what holds is listed and lifted in one place, warnings stand at their message, and an end is agreed to. */

import { accessible, expect, held, say, shown, signIn, test } from './fixture';
import type { Gathering } from '../../src/lib/types';

test('what is held is listed with the button that lifts it', async ({ page, server }) => {
  await held(page, server);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Guards…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Guards' });
  const row = dialog.getByRole('listitem').filter({ hasText: 'agents talked too long without a person' });
  await expect(row).toContainText('Loop');
  await expect(row).toContainText('held');
  await accessible(page);
  await row.getByRole('button', { name: 'Continue' }).click();
  await expect(row).toHaveCount(0);
});

test('a warning stands at the message that was sent', async ({ page, server }) => {
  const policy = { name: 'hybrid', max_queued_messages: 4 };
  const thread = await server.begin('Busy', ['terse'], policy);
  await server.post(`/threads/${thread}/events`, { type: 'control', from: 'user', content: { pause: { on: true } } });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'one');
  await expect(shown(page, 'one')).toBeVisible();
  // One sender fills a quarter of the queue.
  await say(page, 'two');
  const second = page.getByRole('article').filter({ hasText: 'two' });
  await expect(second.getByRole('status')).toContainText('Too many messages wait here already');
  await accessible(page);
});

test('a change that ends a gathering is made once a person agrees', async ({ page, server }) => {
  const { id } = await server.post<Gathering>('/gatherings', {
    title: 'Council',
    rhythm: 'council',
    opening_question: 'What now?',
    participants: [
      { name: 'Ann', number: 1, kind: 'human', participant_id: 'ann' },
      { name: 'Bo', number: 2, role: 'speaker', kind: 'human', participant_id: 'bo' },
    ],
  });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Who may speak…' }).click();
  await page.getByRole('radio', { name: /^Open/ }).click();
  const dialog = page.getByRole('dialog', { name: 'End the gathering?' });
  await expect(dialog).toContainText('waits for the harvest');
  await accessible(page);
  await dialog.getByRole('button', { name: 'End it and change' }).click();
  await expect(dialog).toHaveCount(0);
  const phase = async () => (await server.get<{ status: string }>(`/gatherings/${id}`)).status;
  await expect.poll(phase).not.toBe('open');
});
