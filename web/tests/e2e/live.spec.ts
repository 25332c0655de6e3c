/** The page's connection: one for all tabs, few requests, and an honest banner. */

import { box, expect, messagesOf, say, shown, signIn, test } from './fixture';
import type { Page, Response } from '@playwright/test';

/** Bytes that a first visit with thirty conversations may send over the wire. */
const BYTES_MAX = 260_000;
const START_BYTES_MAX = 20_000;
const REQUESTS_MAX = 10;

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
}

test('with six tabs open a message still goes at once, and every tab shows it', async ({ context, page, server }) => {
  const thread = await server.begin('Shared');
  await signIn(page, server);
  const tabs = [page, ...(await Promise.all(Array.from({ length: 5 }, () => context.newPage())))];
  for (const tab of tabs) await open(tab, `${server.url}/t/${thread}`);
  await say(tabs[5]!, 'from the sixth');
  for (const tab of tabs) await expect(messagesOf(tab, 'You')).toHaveCount(1);
  await tabs[5]!.close();
  await say(tabs[0]!, 'from the first');
  await expect(messagesOf(tabs[4]!, 'You')).toHaveCount(2);
});

test('a tab without shared workers has a connection of its own', async ({ page, server }) => {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'));
  const thread = await server.begin('Alone', ['terse']);
  await signIn(page, server);
  await open(page, `${server.url}/t/${thread}`);
  await say(page, 'hello');
  await expect(messagesOf(page, 'terse')).toHaveCount(1);
});

test('a tab that changes rooms gets the events of the room that it shows, each once', async ({ page, server }) => {
  const [one, two] = [await server.begin('One'), await server.begin('Two')];
  await signIn(page, server);
  await open(page, `${server.url}/t/${one}`);
  for (const [name, thread, count] of [
    ['Two', two, 1],
    ['One', one, 1],
    ['Two', two, 2],
  ] as const) {
    await page.getByRole('link', { name }).click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await server.say(thread, `number ${count} in ${name}`);
    await expect(shown(page, `number ${count} in ${name}`)).toHaveCount(1);
  }
  await expect(messagesOf(page, 'You')).toHaveCount(2);
});

test('a first visit with thirty conversations takes few requests and few bytes', async ({ page, server }) => {
  for (let n = 0; n < 30; n += 1) {
    const thread = await server.begin(`Conversation number ${n}`);
    await server.say(thread, `These are the newest words of conversation number ${n}, so that its row has a line.`);
  }
  const answers: Response[] = [];
  page.context().on('response', (response) => answers.push(response));
  await page.goto(server.url);
  await expect(page.getByRole('link', { name: /Conversation number 29.*newest words/s })).toBeVisible();
  const seen = () => answers.map((answer) => new URL(answer.url()).pathname);
  // Dialogs are fetched when the page is idle.
  await expect.poll(() => seen().some((path) => path.includes('dialogs'))).toBe(true);
  const paths = seen();
  // The shared worker, and its stream, are not seen from the page.
  expect(paths.length + 2, paths.join('\n')).toBeLessThanOrEqual(REQUESTS_MAX);
  const sizes = await Promise.all(answers.map(async (answer) => (await answer.request().sizes()).responseBodySize));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BYTES_MAX);
  const start = paths.indexOf('/start');
  expect(sizes[start]).toBeLessThanOrEqual(START_BYTES_MAX);
});

test('files are compressed, have tags, and are kept for ever if their names tell their content', async ({ server }) => {
  const page = await fetch(server.url, { headers: { 'accept-encoding': 'br' } });
  expect(page.headers.get('content-encoding')).toBe('br');
  const html = await page.text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
  const file = await fetch(server.url + script, { headers: { 'accept-encoding': 'gzip' } });
  expect(file.headers.get('content-encoding')).toBe('gzip');
  expect(file.headers.get('cache-control')).toContain('immutable');
  const tag = page.headers.get('etag') ?? '';
  const again = await fetch(server.url, { headers: { 'accept-encoding': 'br', 'if-none-match': tag } });
  expect(again.status).toBe(304);
});

test('a skeleton is drawn while the script is still on its way', async ({ page, server }) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/assets\/index-.*\.(js|css)$/, (route) => held.then(() => route.continue()));
  await page.goto(server.url, { waitUntil: 'commit' });
  const skeleton = page.getByRole('status', { name: 'Loading Moothall' });
  await expect(skeleton).toBeVisible();
  expect(await skeleton.evaluate((node) => getComputedStyle(node).display)).toBe('flex');
  release();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(skeleton).toHaveCount(0);
});

test('a browser that goes offline says so at once, and what is written waits', async ({ context, page, server }) => {
  const thread = await server.begin('Away');
  await signIn(page, server);
  await open(page, `${server.url}/t/${thread}`);
  await context.setOffline(true);
  await expect(page.getByText('Connection lost.')).toBeVisible();
  await say(page, 'later');
  await expect(page.getByText('Not sent yet')).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText('Connection lost.')).toHaveCount(0);
  await expect(messagesOf(page, 'You')).toHaveCount(1);
});

test('a visible page asks a silent server if it is there, and a hidden one does not', async ({ page, server }) => {
  await page.clock.install();
  let asked = 0;
  await page.route('**/healthz', (route) => {
    asked += 1;
    return asked === 1 ? route.continue() : new Promise(() => {});
  });
  const thread = await server.begin('Silent');
  await signIn(page, server);
  await open(page, `${server.url}/t/${thread}`);
  await page.evaluate(() =>
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true }),
  );
  await page.clock.runFor(10_000);
  expect(asked).toBe(0);
  await page.evaluate(() => Reflect.deleteProperty(document, 'visibilityState'));
  await page.clock.runFor(2_000);
  await expect.poll(() => asked).toBe(1);
  await page.clock.runFor(5_000);
  await expect.poll(() => asked).toBe(2);
  await page.clock.runFor(1_500);
  await expect(page.getByText('Connection lost.')).toBeVisible();
  await expect(box(page)).toBeEnabled();
});
