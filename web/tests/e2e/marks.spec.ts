/** Read marks: counted, shown, sent to the server, and equal in every browser. */

import type { Page } from '@playwright/test';
import { wait } from '../screens/stage';
import type { Server } from '../server';
import { box, expect, shown, test } from './fixture';

/** Opens two conversations: you have read `There`, and are in `Here`. */
async function between(page: Page, server: Server): Promise<{ here: string; there: string }> {
  const here = await server.begin('Here');
  const there = await server.begin('There');
  await server.invite(there, 'ann', { client: 'human', nickname: 'Ann' });
  await server.say(there, 'old news', 'ann');
  await page.goto(`${server.url}/t/${there}`);
  await expect(shown(page, 'old news')).toBeVisible();
  await page.getByRole('link', { name: /^Here / }).click();
  await expect(page).toHaveURL(new RegExp(here));
  await unread(server, there, 0);
  return { here, there };
}

/** Waits until the server has this number of unread messages for you. */
function unread(server: Server, thread: string, count: number): Promise<void> {
  return wait(async () => {
    const { threads } = await server.get<{ threads: { id: string; unread: number }[] }>('/threads?as=user');
    return threads.find((entry) => entry.id === thread)?.unread === count;
  });
}

test('unread messages are counted, marked, and read', async ({ page, server }) => {
  const { there } = await between(page, server);
  await server.say(there, 'fresh news', 'ann');
  await server.say(there, 'fresher news', 'ann');
  await expect(page.getByRole('link', { name: /^There 2 unread/ })).toBeVisible();
  await expect(page).toHaveTitle(/^\(1\)/);
  await page.reload();
  await expect(page.getByRole('link', { name: /^There 2 unread/ })).toBeVisible();
  await page.getByRole('link', { name: /^There 2 unread/ }).click();
  await expect(page.getByText('New', { exact: true })).toBeVisible();
  await expect(shown(page, 'fresher news')).toBeInViewport();
  await page.getByRole('link', { name: /^Here / }).click();
  await expect(page.getByRole('link', { name: /^There (?!.*unread)/ })).toBeVisible();
  await unread(server, there, 0);
});

test('what was read in one browser is read in the other', async ({ page, server, browser }) => {
  const { there } = await between(page, server);
  await server.say(there, 'fresh news', 'ann');
  await expect(page.getByRole('link', { name: /^There 1 unread/ })).toBeVisible();
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${server.url}/t/${there}`);
  await expect(other.getByText('New', { exact: true })).toBeVisible();
  await unread(server, there, 0);
  await page.reload();
  await expect(page.getByRole('link', { name: /^There (?!.*unread)/ })).toBeVisible();
  await other.context().close();
});

test('a message that names you is told from the others', async ({ page, server }) => {
  const { there } = await between(page, server);
  await server.say(there, 'something for all', 'ann');
  const entry = page.getByRole('link', { name: /^There/ });
  await expect(entry).toHaveAccessibleName(/^There 1 unread(?!,)/);
  await server.say(there, 'and you, @user?', 'ann');
  await expect(entry).toHaveAccessibleName(/^There @ 2 unread, for you/);
  await expect(entry).toContainText('@ 2');
});

test('a hundred unread messages: the pill leads to where they begin', async ({ page, server }) => {
  const { there } = await between(page, server);
  await server.say(there, 'the first of the new ones', 'ann');
  for (let n = 0; n < 120; n += 20)
    await Promise.all(Array.from({ length: 20 }, (_, i) => server.say(there, `new ${n + i}`, 'ann')));
  await page.getByRole('link', { name: /^There \d+\+? unread/ }).click();
  await page.getByRole('button', { name: /121 new messages above/ }).click();
  await expect(shown(page, 'the first of the new ones')).toBeInViewport();
  await expect(page.getByText('New', { exact: true })).toBeInViewport();
});

test('unread again stays so across a reload, until it is read', async ({ page, server }) => {
  await between(page, server);
  await page.getByRole('link', { name: /^There (?!.*unread)/ }).click();
  await expect(shown(page, 'old news')).toBeVisible();
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Mark as unread' }).click();
  await expect(page.getByRole('link', { name: /^There 1 unread/ })).toBeVisible();
  await page.reload();
  await page.getByRole('link', { name: /^There 1 unread/ }).click();
  await expect(shown(page, 'old news')).toBeVisible();
  await page.getByRole('link', { name: /^Here / }).click();
  await expect(page.getByRole('link', { name: /^There (?!.*unread)/ })).toBeVisible();
});

test('what is read while the server is away is told when it is back', async ({ page, server }) => {
  const { there } = await between(page, server);
  await server.say(there, 'fresh news', 'ann');
  await page.route('**/read', (route) => route.abort());
  await page.getByRole('link', { name: /^There 1 unread/ }).click();
  await expect(shown(page, 'fresh news')).toBeVisible();
  await unread(server, there, 1);
  await page.unroute('**/read');
  await page.reload();
  await expect(box(page)).toBeVisible();
  await unread(server, there, 0);
});
