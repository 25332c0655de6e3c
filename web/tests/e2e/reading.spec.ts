/** History, places in it, and new messages while a person reads. */

import { box, expect, messagesOf, say, shown, test } from './fixture';

test('two browsers in one conversation', async ({ page, server, browser }) => {
  const thread = await server.begin('Two windows', ['coder']);
  const other = await (await browser.newContext()).newPage();
  await page.goto(`${server.url}/t/${thread}`);
  await other.goto(`${server.url}/t/${thread}`);
  await expect(box(other)).toBeVisible();
  await say(page, 'hello from the one');
  await expect(shown(other, 'hello from the one')).toBeVisible();
  await say(other, 'hello from the other');
  await expect(shown(page, 'hello from the other')).toHaveCount(1);
  await expect(messagesOf(page, 'You')).toHaveCount(2);
  await other.context().close();
});

test('the server dies and comes back; nothing is lost or doubled', async ({ page, server }) => {
  const thread = await server.begin('Phoenix', ['sleepy'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@sleepy think');
  await expect(page.getByRole('group', { name: 'Who speaks' }).getByText(/thinking ·/)).toBeVisible();
  await server.kill();
  await expect(page.getByText('Connection lost.')).toBeVisible();
  await server.start();
  await expect(page.getByText('Connection lost.')).toHaveCount(0);
  await expect(page.getByRole('group', { name: 'Who speaks' }).getByText(/thinking ·/)).toBeVisible();
  await say(page, 'still here');
  await expect(shown(page, 'still here')).toHaveCount(1);
  await page.reload();
  await expect(shown(page, 'still here')).toHaveCount(1);
  await expect(page.getByRole('group', { name: 'Who speaks' }).getByText(/thinking ·/)).toBeVisible();
});

test('what could not be opened opens once the server is back', async ({ page, server }) => {
  await server.begin('Later');
  await page.goto(server.url);
  await expect(page.getByRole('link', { name: 'Later' })).toBeVisible();
  await server.kill();
  await page.getByRole('link', { name: 'Later' }).click();
  await expect(page.getByRole('heading', { name: 'The conversation could not be opened' })).toBeVisible();
  await server.start();
  await expect(shown(page, 'You began the conversation')).toBeVisible();
});

test('reading further up is left alone; a pill says what came', async ({ page, server }) => {
  const thread = await server.begin('Library');
  await server.invite(thread, 'ann', { client: 'human' });
  for (let n = 0; n < 60; n += 1) await server.say(thread, `page ${n} of the book`);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'page 59 of the book')).toBeInViewport();
  const list = page.getByRole('region', { name: 'Messages' });
  await list.hover();
  await page.mouse.wheel(0, -900);
  await expect(page.getByRole('button', { name: 'Jump to latest' })).toBeVisible();
  const before = await list.evaluate((node) => node.scrollTop);
  await server.say(thread, 'something new', 'ann');
  await expect(page.getByRole('button', { name: '1 new message' })).toBeVisible();
  expect(Math.abs((await list.evaluate((node) => node.scrollTop)) - before)).toBeLessThan(4);
  await page.getByRole('button', { name: '1 new message' }).click();
  await expect(shown(page, 'something new')).toBeInViewport();
});

test('10,000 messages: the end, a link into the middle, and both ways from there', async ({ page, server }) => {
  const thread = await server.begin('Long');
  for (let n = 0; n < 10_000; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => server.say(thread, `line ${n + i}`)));
  }
  const { events } = await server.get<{ events: { seq: number; content: string }[] }>(
    `/threads/${thread}/events?after=5000&limit=1`,
  );
  const middle = events[0]!;
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByRole('article').last()).toBeInViewport();
  await page.goto(`${server.url}/t/${thread}#${middle.seq}`);
  await expect(page.getByText(middle.content, { exact: true })).toBeInViewport();
  const list = page.getByRole('region', { name: 'Messages' });
  await list.hover();
  const first = () => page.getByRole('article').first().getAttribute('data-seq').then(Number);
  await expect(async () => {
    await page.mouse.wheel(0, -4_000);
    expect(await first()).toBeLessThan(middle.seq - 400);
  }).toPass({ timeout: 120_000 });
  await expect(async () => {
    await page.mouse.wheel(0, 4_000);
    expect(await first()).toBeGreaterThan(middle.seq + 400);
  }).toPass({ timeout: 120_000 });
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect(page.locator(`[data-seq="${10_001}"]`)).toBeInViewport();
  expect(await page.getByRole('article').count()).toBeLessThan(200);
});

test('older messages load without moving what is being read', async ({ page, server }) => {
  const thread = await server.begin('Place');
  for (let n = 0; n < 700; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => server.say(thread, `entry ${n + i}`)));
  await page.goto(`${server.url}/t/${thread}`);
  const list = page.getByRole('region', { name: 'Messages' });
  await expect(page.getByRole('article').last()).toBeInViewport();
  await list.hover();
  let loads = 0;
  page.on('request', (request) => (loads += /events\?after=\d+&limit/.test(request.url()) ? 1 : 0));
  await expect(async () => {
    await page.mouse.wheel(0, -1_500);
    expect(loads).toBeGreaterThan(0);
  }).toPass();
  const visible = () =>
    list.evaluate((node) => {
      const frame = node.getBoundingClientRect();
      const isInside = (box: DOMRect) => box.top >= frame.top && box.bottom <= frame.bottom;
      const rows = [...node.querySelectorAll<HTMLElement>('article')].filter((row) =>
        isInside(row.getBoundingClientRect()),
      );
      return rows.map((row) => Number(row.dataset['seq']));
    });
  // The visible rows have no gap and no overlap, and stay in place when older ones arrive above.
  await expect(async () => {
    const seqs = await visible();
    expect(seqs.length).toBeGreaterThan(5);
    expect(seqs).toEqual(seqs.map((_, index) => seqs[0]! + index));
    expect(await visible()).toEqual(seqs);
  }).toPass();
});

test('a link to nothing says so', async ({ page, server }) => {
  await page.goto(`${server.url}/t/0190-nothing#5`);
  await expect(page.getByRole('heading', { name: 'This conversation does not exist' })).toBeVisible();
});

test('the keyboard alone: switch, walk through messages, reply', async ({ page, server }) => {
  const one = await server.begin('Alpha');
  const two = await server.begin('Beta', ['coder'], 'mention_only');
  await server.say(two, 'first');
  await server.say(two, 'second');
  await page.goto(`${server.url}/t/${one}`);
  await expect(box(page)).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('bet');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Beta' })).toBeVisible();
  await expect(shown(page, 'second')).toBeVisible();
  await expect(box(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('k');
  await expect(page.getByRole('article').filter({ hasText: 'second' })).toBeFocused();
  await page.keyboard.press('k');
  await expect(page.getByRole('article').filter({ hasText: 'first' })).toBeFocused();
  await page.keyboard.press('r');
  await expect(box(page)).toBeFocused();
  await page.keyboard.type('@co');
  await page.keyboard.press('Tab');
  await page.keyboard.type('go');
  await page.keyboard.press('Enter');
  await expect(messagesOf(page, 'coder')).toBeVisible();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(page.getByRole('heading', { level: 1, name: 'Alpha' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Beta' })).toBeVisible();
});
