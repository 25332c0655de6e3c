/**
 * The server goes away and comes back. Written text is kept, people stay signed in, and clocks
 * pause.
 */

import { running, settled } from '../screens/stage';
import { box, expect, held, messagesOf, participant, say, shown, signIn, test } from './fixture';

interface Said {
  events: { type: string; from: string; content: unknown }[];
}

test('what is written while the server is away goes out when it is back: in order, once each, in every room', async ({
  page,
  server,
}) => {
  const [one, two] = [await server.begin('One'), await server.begin('Two')];
  await signIn(page, server);
  for (const name of ['Two', 'One']) {
    await page.getByRole('link', { name }).click();
    await expect(shown(page, 'You began the conversation')).toBeVisible();
  }
  await server.kill();
  const words = ['first', 'second', 'third'];
  for (const word of words) await say(page, word);
  await page.getByRole('link', { name: 'Two' }).click();
  await say(page, 'elsewhere');
  await expect(page.getByText('It is sent when the server is back.')).toBeVisible();
  await page.getByRole('link', { name: 'One' }).click();
  await server.start();
  // Room Two sends too, although it is not open (checked below).
  await expect(messagesOf(page, 'You')).toHaveCount(3);
  await expect(page.getByText('Not sent')).toHaveCount(0);
  const messages = async (thread: string) => {
    const { events } = await server.get<Said>(`/threads/${thread}/events?types=message`);
    return events.map((event) => event.content);
  };
  await expect.poll(() => messages(one)).toEqual(words);
  await expect.poll(() => messages(two)).toEqual(['elsewhere']);
});

test('commands wait with the messages, run in their place, and answer where they were typed', async ({
  page,
  server,
}) => {
  const thread = await server.begin('One', ['quiet']);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  await server.kill();
  await expect(page.getByText('Connection lost.')).toBeVisible();
  for (const word of ['before', '/mute quiet', 'after', '/help', '/nonsense']) await say(page, word);
  await expect(page.getByRole('article', { name: 'Your command, waiting to be run' })).toHaveCount(3);
  await expect(box(page)).toHaveValue('');
  // The browser shows its own error page for the reload, which may still be loading.
  await page.reload().catch(() => undefined);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await server.start();
  await page.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(page, 'You')).toHaveCount(2);
  const { events } = await server.get<Said>(`/threads/${thread}/events?types=message,control`);
  const order = events.filter((event) => event.type === 'message' || 'mute' in (event.content as object));
  expect(order.map((event) => event.type)).toEqual(['message', 'control', 'message']);
  const composer = page.getByRole('status');
  await expect(composer.filter({ hasText: '/mute quiet' })).toBeVisible();
  await expect(composer.filter({ hasText: '/help' })).toBeVisible();
  const refused = page.getByRole('article', { name: 'Your command, not run' });
  await expect(refused).toContainText('/nonsense');
  await refused.getByRole('button', { name: 'Discard' }).click();
  await composer.filter({ hasText: '/mute quiet' }).getByRole('button', { name: 'Close' }).click();
  await expect(composer.filter({ hasText: '/mute quiet' })).toHaveCount(0);
  await page.reload();
  await expect(messagesOf(page, 'You')).toHaveCount(2);
  await expect(page.getByRole('article', { name: /^Your command/ })).toHaveCount(0);
});

test('a reload while it is away loses nothing either, in rooms that are not opened', async ({
  page,
  server,
  browser,
}) => {
  const [one, two] = [await server.begin('One'), await server.begin('Two')];
  await signIn(page, server);
  await page.goto(`${server.url}/t/${two}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  await server.kill();
  for (const word of ['first', 'second']) await say(page, word);
  await expect(page.getByText('It is sent after the one before.')).toBeVisible();
  const state = await page.context().storageState();
  await server.start();
  const again = await browser.newContext({ storageState: state });
  const other = await again.newPage();
  await other.goto(`${server.url}/t/${one}`);
  await page.reload();
  await expect(messagesOf(page, 'You')).toHaveCount(2);
  const { events } = await server.get<Said>(`/threads/${two}/events?types=message`);
  expect(events.map((event) => event.content)).toEqual(['first', 'second']);
  await again.close();
});

test('a restart signs nobody out: what holds is let go at once', async ({ page, server }) => {
  const thread = await held(page, server);
  await server.kill();
  await server.start();
  await page.reload();
  await page.getByRole('alert').getByRole('button', { name: 'Continue' }).click();
  await expect(shown(page, 'You let the agents go on')).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(thread).not.toBe('');
});

test('no clock runs while the agents are paused or the server is away', async ({ page, server }) => {
  const thread = await server.begin('Clocks', ['sleepy']);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@sleepy go');
  await running(server, thread, 'sleepy');
  const strip = page.getByRole('group', { name: 'Who speaks' });
  await expect(strip).toContainText(/thinking · \d/);
  await server.control(thread, { pause: { on: true } });
  await expect(strip).toContainText(/sleepy\s*paused/);
  await expect(participant(page, 'sleepy')).toContainText('paused');
  await server.control(thread, { pause: { on: false } });
  await expect(strip).toContainText(/thinking · \d/);
  await server.kill();
  await expect(strip).toContainText(/sleepy\s*server away/);
  await expect(strip).not.toContainText(/\d s/);
});

test('the strip tells of the message that is answered, also after a reload and while another waits', async ({
  page,
  server,
}) => {
  const thread = await server.begin('History', ['quiet', 'coder', 'sleepy']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@coder and @sleepy');
  await running(server, thread, 'sleepy');
  await say(page, 'and one more');
  const strip = page.getByRole('group', { name: 'Who speaks' });
  for (const time of ['at once', 'after a reload']) {
    await expect(strip.getByRole('img', { name: 'coder: answered' }), time).toBeVisible();
    await expect(strip, time).toContainText(/1 message waiting.*1 of 3 replies/);
    await page.reload();
  }
  // Follows another message of yours, so it has no header of its own.
  await expect(messagesOf(page, 'You').last()).toContainText('waits its turn');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await settled(server, thread);
  await expect(messagesOf(page, 'You').last()).toContainText('Not answered (stopped).');
  await expect(messagesOf(page, 'You').first()).not.toContainText('Not answered (stopped).');
  await page.reload();
  await expect(messagesOf(page, 'You').last()).toContainText('Not answered (stopped).');
});

for (const width of [390, 1080]) {
  test(`with nineteen agents the strip is as high as with two, and nothing is out of sight at ${width}`, async ({
    page,
    server,
  }) => {
    await page.setViewportSize({ width, height: 800 });
    const agents = Array.from({ length: 18 }, (_, n) => `agent-number-${n}:${n === 17 ? 'sleepy' : 'quiet'}`);
    const thread = await server.begin('Many', [...agents.slice(0, 17), 'sleepy', ...agents.slice(17)]);
    const few = await server.begin('Few', ['sleepy', 'quiet']);
    const heights: number[] = [];
    for (const [id, words, more] of [
      [few, '@sleepy go', ''],
      [thread, '@agent-number-0 @agent-number-1 @agent-number-2 @sleepy go', 'one more'],
    ] as const) {
      await page.goto(`${server.url}/t/${id}`);
      await say(page, words);
      await running(server, id, 'sleepy');
      if (more) await say(page, more);
      const strip = page.getByRole('group', { name: 'Who speaks' });
      if (more) await expect(strip).toContainText('1 message waiting');
      await expect(strip).toContainText('sleepy');
      await expect(strip.getByRole('button', { name: 'Stop the reply of sleepy' })).toBeInViewport({ ratio: 1 });
      await expect(strip.getByText(/\d of \d/)).toBeInViewport({ ratio: 1 });
      const box = (await strip.boundingBox())!;
      // Every element fits its place and leaves its neighbour free.
      const over = await strip.evaluate((node) => {
        const boxes = [...node.children]
          .filter((child) => !child.matches('.sr-only'))
          .map((child) => child.getBoundingClientRect());
        const laps = boxes.slice(1).filter((next, index) => next.left < boxes[index]!.right - 1).length;
        const wide = [node, ...node.querySelectorAll('.pill')].filter(
          (one) => one.scrollWidth > one.clientWidth,
        ).length;
        return laps + wide;
      });
      expect(over).toBe(0);
      heights.push(box.height);
    }
    expect(heights[0]).toBe(heights[1]);
  });
}

test('something that waits for you is told in the title, in the list and at home', async ({ page, server }) => {
  const policy = { name: 'open', max_exchanges_without_human: 3 };
  const loop = await server.begin('Loop', ['one:terse', 'two:terse'], policy);
  const quiet = await server.begin('Quiet');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${quiet}`);
  await expect(page).toHaveTitle('Quiet · Moothall');
  const row = page.getByRole('link', { name: /^Loop/ });
  await expect(row).toBeVisible();
  await server.say(loop, 'Discuss.');
  await expect(row).toContainText('Needs you');
  await expect(page).toHaveTitle(/^1 needs you · .*Quiet · Moothall$/);
  await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', '/icon-needs.svg');
  await page.goto(server.url);
  const home = page.getByRole('region', { name: 'Needs you' });
  await expect(home).toContainText('without you. Let them go on?');
  await server.control(loop, { mute: { targets: ['one', 'two'] } });
  await home.getByRole('button', { name: 'Continue' }).click();
  await expect(home).toHaveCount(0);
  await expect(page).not.toHaveTitle(/needs? you/);
  await expect(page.locator('link[rel="icon"]')).not.toHaveAttribute('href', '/icon-needs.svg');
});

test('a name that nobody here has gets a word before the message is sent', async ({ page, server }) => {
  const thread = await server.begin('Names', ['quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await box(page).fill('@quiet and @nobody, what now?');
  await expect(page.getByText('nobody here is called @nobody.')).toBeVisible();
  await box(page).fill('@all what now?');
  await expect(page.getByText('there is no @all here.')).toBeVisible();
  await box(page).fill('@quiet what now? `@code`');
  await expect(page.getByText('Will answer: quiet.')).toBeVisible();
  await expect(page.getByText('nobody here is called')).toHaveCount(0);
});
