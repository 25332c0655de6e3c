/**
 * A deleted conversation disappears at once from every open page and from the browser's storage.
 */

import type { Page } from '@playwright/test';
import type { Server } from '../server';
import { accessible, box, expect, messagesOf, say, shown, signIn, test } from './fixture';

const SECRET = 'xyzzy';

async function erase(server: Server, thread: string): Promise<void> {
  const headers = { authorization: `Bearer ${server.key}`, 'x-moothall': '1' };
  const response = await fetch(`${server.url}/threads/${thread}`, { method: 'DELETE', headers });
  expect(response.status).toBe(200);
}

/** Returns everything that the browser stores for this page. */
function kept(page: Page): Promise<string> {
  return page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }));
}

async function gone(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: 'This conversation was deleted' })).toBeVisible();
  await expect(page.getByText(SECRET)).toHaveCount(0);
}

test('it is deleted by a deliberate act, and only by somebody who may', async ({ page, server }) => {
  const thread = await server.begin(`Plans ${SECRET}`);
  await server.say(thread, `the password is ${SECRET}`);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(page, 'You')).toHaveCount(1);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await expect(page.getByRole('menuitem', { name: 'Rename…' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Delete…' })).toHaveCount(0);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete for good?' });
  await expect(dialog).toContainText(`Plans ${SECRET}`);
  await expect(dialog).toContainText('Earlier backups still hold it.');
  const button = dialog.getByRole('button', { name: 'Delete for good' });
  await expect(button).toBeDisabled();
  await dialog.getByRole('checkbox').check();
  await accessible(page);
  await button.click();
  await expect(page).toHaveURL(`${server.url}/`);
  await expect(page.getByRole('status').getByText('The conversation was deleted.')).toBeVisible();
  await expect(page.getByText(SECRET)).toHaveCount(0);
  expect(await kept(page)).not.toContain(thread);
  const { threads } = await server.get<{ threads: unknown[] }>('/threads');
  expect(threads).toEqual([]);
});

test('every open page lets go of it: who looks at it, who has it in a list, and who found it', async ({
  page,
  server,
  browser,
}) => {
  const [thread, rest] = [await server.begin(`Plans ${SECRET}`), await server.begin('Rest')];
  await server.say(thread, `the password is ${SECRET}`);
  await server.say(rest, 'nothing here');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(page, 'You')).toHaveCount(1);
  const context = await browser.newContext();
  const other = await context.newPage();
  await signIn(other, server);
  await other.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(other, 'You')).toHaveCount(1);
  await other.getByRole('link', { name: 'Rest' }).click();
  await expect(shown(other, 'nothing here')).toBeVisible();
  await other.keyboard.press('Control+Shift+f');
  const search = other.getByRole('dialog', { name: 'Search messages' });
  await search.getByRole('textbox').fill('password');
  await expect(search.getByRole('listitem')).toHaveCount(1);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await erase(server, thread);
  await gone(page);
  await expect(page).toHaveTitle(/^Deleted/);
  await expect(search.getByRole('listitem')).toHaveCount(0);
  await expect(other.getByText(SECRET)).toHaveCount(0);
  // No request names the thread any more, even after the server was away.
  await server.kill();
  await expect(page.getByText('Connection lost')).toBeVisible();
  asked.length = 0;
  await server.start();
  await expect(page.getByText('Connection lost')).toHaveCount(0);
  await server.say(rest, 'something new');
  await expect(page.getByRole('link', { name: 'Rest' })).toContainText('something new');
  expect(asked.filter((url) => url.includes(thread))).toEqual([]);
  await accessible(page);
  await page.getByRole('link', { name: 'All conversations' }).click();
  await expect(page.getByRole('link', { name: 'Rest' })).toBeVisible();
  await page.goBack();
  await gone(page);
  await page.reload();
  await gone(page);
  await context.close();
});

test('what was typed and what waited is told of, can be copied, and is kept nowhere', async ({ page, server }) => {
  const thread = await server.begin('Plans');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  await page.route('**/threads/*/events', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  );
  await say(page, 'waits in the outbox');
  await expect(page.getByText('Not sent yet')).toBeVisible();
  await box(page).fill('half a thought');
  await expect.poll(() => kept(page)).toContain('half a thought');
  await erase(server, thread);
  await gone(page);
  const unsent = page.getByRole('region', { name: 'What you had not sent' });
  await expect(unsent.getByRole('listitem')).toHaveText([/waits in the outbox/, /half a thought/]);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await unsent.getByRole('button', { name: 'Copy' }).first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('waits in the outbox');
  expect(await kept(page)).not.toMatch(/outbox|thought/);
  await accessible(page);
});

test('what was deleted while this page was away is found out, and what waited for it is told of', async ({
  page,
  server,
}) => {
  const [thread, rest] = [await server.begin('Plans'), await server.begin('Rest')];
  const sketch = await server.begin('Sketch');
  await server.say(rest, 'nothing here');
  await signIn(page, server);
  // This conversation has only a draft, and nothing to send.
  await page.goto(`${server.url}/t/${sketch}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  await box(page).fill('half a sketch');
  await expect.poll(() => kept(page)).toContain('half a sketch');
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  await page.context().route('**/*', (route) => route.abort());
  await say(page, 'waits in the outbox');
  await expect(page.getByText('Not sent yet')).toBeVisible();
  await page.goto('about:blank');
  await erase(server, thread);
  await erase(server, sketch);
  await page.context().unroute('**/*');
  await page.goto(`${server.url}/t/${rest}`);
  await expect(shown(page, 'nothing here')).toBeVisible();
  const told = page.getByText('A conversation was deleted, and 1 message of yours could not be sent to it.');
  await expect(told).toHaveCount(2);
  await expect(page.getByRole('link', { name: /Plans|Sketch/ })).toHaveCount(0);
  expect(await kept(page)).not.toMatch(/waits|sketch/);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = new Set<string>();
  for (let left = 2; left > 0; left -= 1) {
    await page.getByRole('button', { name: 'Copy what you wrote' }).first().click();
    await expect(told).toHaveCount(left - 1);
    const read = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(async () => copied.add(await read()).size).toBe(3 - left);
  }
  expect([...copied].sort()).toEqual(['half a sketch', 'waits in the outbox']);
});
