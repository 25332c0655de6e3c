/**
 * Needs of conversations that this page never opened: reported by the server, also after a reload,
 * until a person answers.
 */

import type { Page } from '@playwright/test';
import { SESSIONS, settled, TERMINALS, wish } from '../screens/stage';
import type { Server } from '../server';
import { accessible, expect, signIn, test } from './fixture';

/** More conversations than the list shows, so that the row of an older one is not drawn. */
const MANY = 40;

async function fill(server: Server): Promise<void> {
  for (let n = 0; n < MANY; n += 1) await server.begin(`Other ${n}`);
}

async function told(page: Page, name: RegExp): Promise<void> {
  await expect(page).toHaveTitle(/^1 needs you · /);
  await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', '/icon-needs.svg');
  await expect(page.getByRole('region', { name: 'Needs you' })).toContainText(name);
  await expect(page.getByRole('link', { name: /^Home/ })).toContainText('1');
}

async function nothing(page: Page): Promise<void> {
  await expect(page).not.toHaveTitle(/needs? you/);
  await expect(page.locator('link[rel="icon"]')).not.toHaveAttribute('href', '/icon-needs.svg');
  await expect(page.getByRole('region', { name: 'Needs you' })).toHaveCount(0);
}

test('a guard that holds the floor, far down the list', async ({ page, server }) => {
  const policy = { name: 'open', max_exchanges_without_human: 3 };
  const loop = await server.begin('Loop', ['one:terse', 'two:terse'], policy);
  await server.say(loop, 'Discuss.');
  await settled(server, loop);
  await fill(server);
  await signIn(page, server);
  await told(page, /in Loop/);
  await page.reload();
  await told(page, /in Loop/);
  await accessible(page);
  await server.kill();
  await server.start();
  await page.reload();
  await told(page, /in Loop/);
  await server.control(loop, { mute: { targets: ['one', 'two'] } });
  await server.control(loop, { resume: {} });
  await nothing(page);
  await page.reload();
  await expect(page.getByRole('link', { name: `Other ${MANY - 1}` })).toBeVisible();
  await nothing(page);
});

test.describe('a permission', () => {
  test.use({ config: SESSIONS });
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');

  test('that was asked for long before the newest message', async ({ page, server }) => {
    const thread = await wish(server, 'Wishes');
    for (let n = 0; n < 100; n += 1) await server.say(thread, `message ${n}`);
    await signIn(page, server);
    await told(page, /in Wishes/);
    await page.reload();
    await told(page, /in Wishes/);
    const { state } = await server.get<{ state: { starts: { permission: string }[] } }>(`/threads/${thread}/state`);
    await server.post(`/permissions/${state.starts[0]!.permission}/answer`, { thread, from: 'user', option: 'deny' });
    await nothing(page);
    await page.reload();
    await expect(page.getByRole('link', { name: /^Wishes/ })).toContainText('message 99');
    await nothing(page);
  });
});
