/**
 * A server that asks for a slower pace: text waits and is sent in its order, and new events are
 * fetched.
 */

import { Server } from '../server';
import { accessible, box, expect, messagesOf, say, signInWith, shown, test as base } from './fixture';

const LIMITS = '[limits]\nwrites_per_second = 1\nwrites_burst = 4\nstreams_per_principal = 2\n';

const test = base.extend<{ server: Server; thread: string }>({
  // eslint-disable-next-line no-empty-pattern
  server: async ({}, use) => {
    const server = await new Server(LIMITS, ['--mode', 'token']).start();
    await use(server);
    await server.stop();
  },
  thread: async ({ server, page }, use) => {
    const thread = await server.begin('Rush hour');
    const { token } = await server.post<{ token: string }>('/tokens', { principal: 'ann' });
    await signInWith(page, server, token);
    await page.goto(`${server.url}/t/${thread}`);
    await expect(shown(page, 'began the conversation')).toBeVisible();
    await use(thread);
  },
});

const WORDS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];

test('messages that come too fast wait as long as the server says, and arrive once and in order', async ({
  page,
  server,
  thread,
}) => {
  for (const word of WORDS) await say(page, word);
  const waiting = page.getByRole('article', { name: 'Your message, waiting to be sent' });
  await expect(waiting.first()).toContainText('Not sent yet. It is kept here. Too many writes in this time.');
  await expect(waiting.first().getByRole('button', { name: /^Retry in \d s$/ })).toBeVisible();
  await box(page).fill('a draft');
  await page.reload();
  await expect(messagesOf(page, 'You')).toHaveCount(WORDS.length);
  await expect(waiting).toHaveCount(0);
  await expect(page.getByText('Not sent.')).toHaveCount(0);
  await expect(box(page)).toHaveValue('a draft');
  type Said = { events: { type: string; content: unknown }[] };
  const { events } = await server.get<Said>(`/threads/${thread}/events`);
  expect(events.filter((event) => event.type === 'message').map((event) => event.content)).toEqual(WORDS);
});

test('words that wait are sent as their writer, however late the page learns who that is', async ({ page, thread }) => {
  expect(thread).not.toBe('');
  for (const word of WORDS) await say(page, word);
  let learn = (): void => {};
  const learned = new Promise<void>((resolve) => (learn = resolve));
  await page.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'));
  await page.route('**/start', async (route) => {
    await learned;
    await route.continue();
  });
  let early = 0;
  page.on('request', (request) => (early += request.method() === 'POST' ? 1 : 0));
  const streams = page.waitForResponse((response) => response.url().includes('/events/stream'));
  await page.reload({ waitUntil: 'commit' });
  await streams;
  // Requests that follow the opening of the stream were sent before this one.
  await page.evaluate(() => fetch('/healthz'));
  expect(early, 'the page knows its person first').toBe(0);
  learn();
  await expect(messagesOf(page, 'You')).toHaveCount(WORDS.length);
  await expect(page.getByText('Not sent.')).toHaveCount(0);
});

test('one that waits is taken back before it is sent', async ({ page, thread }) => {
  expect(thread).not.toBe('');
  for (const word of WORDS) await say(page, word);
  const last = page.getByRole('article', { name: 'Your message, waiting to be sent' }).filter({ hasText: 'seven' });
  await last.getByRole('button', { name: 'Discard' }).click();
  await expect(messagesOf(page, 'You')).toHaveCount(WORDS.length - 1);
  await expect(shown(page, 'seven')).toHaveCount(0);
});

test('with too many browsers open each still reads along, and says why it is late', async ({
  browser,
  page,
  server,
  thread,
}) => {
  // Tabs of one browser share a stream. A browser without shared workers has one in each tab.
  const state = await page.context().storageState();
  const others = await browser.newContext({ storageState: state, reducedMotion: 'reduce' });
  await others.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'));
  const first = await others.newPage();
  await first.goto(`${server.url}/t/${thread}`);
  await expect(shown(first, 'began the conversation')).toBeVisible();
  const second = await others.newPage();
  await second.goto(`${server.url}/t/${thread}`);
  await expect(second.getByText('The server is busy: You have 2 streams open')).toBeVisible();
  await accessible(second);
  await say(page, 'do you hear me?');
  await expect(shown(second, 'do you hear me?')).toBeVisible();
  await first.goto('about:blank');
  await expect(second.getByText('The server is busy')).toHaveCount(0);
  await server.say(thread, 'and now?');
  await expect(shown(second, 'and now?')).toBeVisible();
  await others.close();
});
