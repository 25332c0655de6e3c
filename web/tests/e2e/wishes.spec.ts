/** Requests that belong to no turn: an agent asks for another program, and the outcome. */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SESSIONS, TERMINALS } from '../screens/stage';
import type { Server } from '../server';
import { accessible, expect, shown, signIn, test } from './fixture';

test.use({ config: SESSIONS });
test.skip(!TERMINALS, 'tmux or fake-tui is missing');

/**
 * Lets an agent of a conversation ask for a program. Returns the thread, and the program's folder.
 */
async function wish(server: Server): Promise<{ thread: string; folder: string }> {
  const thread = await server.begin('Wishes', ['critic:elsewhere'], 'mention_only');
  const scopes = ['threads:read', 'threads:write', 'sessions:drive'];
  const { token } = await server.post<{ token: string }>('/tokens', { principal: 'critic', kind: 'agent', scopes });
  const folder = join(server.folder, 'work');
  mkdirSync(folder);
  const response = await fetch(`${server.url}/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ client: 'fake', name: 'child', cwd: folder, args: ['--quiet', 'x\u202e'], thread }),
  });
  expect(response.status).toBe(202);
  return { thread, folder };
}

test('it waits in its conversation, is answered there, and its row says what came of it', async ({ page, server }) => {
  const { thread, folder } = await wish(server);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article', { name: /critic asks/ });
  await expect(card).toContainText('Start fake "--quiet" "x\\u{202e}"');
  await expect(card).toContainText('Call it child');
  await expect(card).toContainText(`In ${folder}`);
  await expect(card.getByRole('timer')).toHaveText('24 h left');
  await accessible(page);
  await page.reload();
  await expect(card).toBeVisible();
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('a');
  await expect(card).toBeFocused();
  await page.keyboard.press('1');
  await expect(shown(page, 'critic asks for permission. You allowed it. child runs.')).toBeVisible();
  await expect(card).toHaveCount(0);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Answers to agents…' }).click();
  const answers = page.getByRole('dialog', { name: 'Answers to agents' });
  await expect(answers.getByRole('listitem')).toContainText('critic asks for permission. You allowed it.');
  await answers.getByRole('button', { name: 'show', exact: true }).click();
  await expect(answers).toContainText('Start fake "--quiet"');
  await accessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'its terminal' }).click();
  await expect(page.getByRole('heading', { name: 'child' })).toBeVisible();
});

test('it is told when it is refused, and when it could not be done', async ({ page, server }) => {
  const { thread, folder } = await wish(server);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  const card = page.getByRole('article', { name: /critic asks/ });
  rmSync(folder, { recursive: true });
  await card.getByRole('button', { name: 'Allow' }).click();
  await expect(shown(page, 'It could not start:')).toBeVisible();
  await expect(card).toHaveCount(0);
});

test('it is withdrawn with whoever asked', async ({ page, server }) => {
  const { thread } = await wish(server);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByRole('article', { name: /critic asks/ })).toBeVisible();
  await server.control(thread, { uninvite: { participant_id: 'critic' } });
  await expect(shown(page, 'Withdrawn: the agent has left')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Needs you' })).toHaveCount(0);
});

test('it waits in sight however much is said after it', async ({ page, server }) => {
  const { thread } = await wish(server);
  for (let n = 0; n < 300; n += 1) await server.say(thread, `message ${n}`);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'message 299')).toBeVisible();
  const card = page.getByRole('article', { name: /critic asks/ });
  await expect(card).toHaveCount(1);
  await card.getByRole('button', { name: 'Deny' }).click();
  await expect(card).toHaveCount(0);
});
