/** Replies while they are written, and their cost for the page. */

import { gzipSync } from 'node:zlib';
import { Model } from '../model';
import { settled } from '../screens/stage';
import { Server } from '../server';
import { box, expect, messagesOf, say, shown, test as base } from './fixture';

const AGENTS = ['ann', 'bob', 'cy', 'dee', 'eve'];

const test = base.extend<{ model: Model }>({
  // Playwright reads the dependencies of a fixture from this pattern.
  model: async ({}, use) => {
    const model = await new Model().start();
    await use(model);
    model.stop();
  },
  server: async ({ model }, use) => {
    const agent = (name: string) =>
      `[agents.${name}]\nprovider = "openai"\nmodel = "demo"\nbase_url = "${model.url}"\nprice_input = 2.0\nprice_output = 8.0\n`;
    const server = await new Server(AGENTS.map(agent).join('\n')).start();
    await use(server);
    await server.stop();
  },
});

const WORDS = ['# Plan\n\n', 'First **we', ' look**, ', 'then we ', '`leap`.\n\n', '- one\n', '- two\n'];

test('a reply grows, keeps its place, and ends with its reasons and its price', async ({ page, server, model }) => {
  model.pieces = WORDS;
  model.hold(4);
  const thread = await server.begin('Stream', ['ann']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@ann plan');
  const writing = page.getByRole('article', { name: 'ann is writing' });
  await expect(writing).toContainText('First we look, then we');
  await expect(writing.locator('strong')).toHaveText('we look');
  await expect(page.getByRole('group', { name: 'Who speaks' })).toContainText('writing ·');
  await expect(page.getByRole('log')).not.toContainText('First');
  const top = (await writing.boundingBox())!.y;
  await page.reload();
  await expect(writing).toContainText('First we look, then we');
  expect(Math.abs((await writing.boundingBox())!.y - top)).toBeLessThan(60);
  model.goOn();
  await expect(messagesOf(page, 'ann')).toContainText('two');
  await expect(writing).toHaveCount(0);
  const note = messagesOf(page, 'ann').getByTestId('note');
  await expect(note).toContainText('1,240 tokens');
  await expect(note).toContainText('$0.004');
  await expect(page.getByRole('log')).toContainText('ann: Plan First we look');
});

test('code has its colours while it is written, and its long lines wrap on request', async ({
  page,
  server,
  model,
}) => {
  model.pieces = [
    '```rust\n',
    'fn one() {}\n',
    'fn two() {}\n',
    'fn thr',
    `ee() { ${'x + '.repeat(200)}0 }\n`,
    '```\n',
  ];
  model.hold(4);
  const thread = await server.begin('Code', ['ann']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@ann code');
  const writing = page.getByRole('article', { name: 'ann is writing' });
  await expect(writing.locator('.hljs-keyword')).toHaveCount(2);
  await expect(writing.locator('code')).toHaveText('fn one() {}\nfn two() {}\nfn thr');
  model.goOn();
  const reply = messagesOf(page, 'ann');
  await expect(reply.locator('.hljs-keyword')).toHaveCount(3);
  const height = async () => (await reply.locator('pre').boundingBox())!.height;
  const before = await height();
  const wrap = reply.getByRole('button', { name: 'Wrap' });
  await wrap.click();
  await expect(wrap).toHaveAttribute('aria-pressed', 'true');
  expect(await height()).toBeGreaterThan(before);
  await wrap.click();
  await expect(wrap).toHaveAttribute('aria-pressed', 'false');
  expect(await height()).toBe(before);
});

test('a pass is never seen, not even its first letters', async ({ page, server, model }) => {
  model.pieces = ['[', 'PA', 'SS', ']'];
  const thread = await server.begin('Silence', ['ann', 'bob']);
  await page.goto(`${server.url}/t/${thread}`);
  await page.evaluate(() => {
    const seen = { writing: 0 };
    Object.assign(window, { seen });
    new MutationObserver(() => (seen.writing += document.querySelectorAll('.writing .prose-block').length)).observe(
      document.body,
      {
        childList: true,
        subtree: true,
      },
    );
  });
  await say(page, 'anything?');
  await settled(server, thread);
  await expect(shown(page, 'ann, bob passed')).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as { seen: { writing: number } }).seen.writing)).toBe(0);
});

test('stop ends a stream at once', async ({ page, server, model }) => {
  model.pieces = WORDS;
  model.hold(5);
  const thread = await server.begin('Halt', ['ann']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@ann plan');
  const writing = page.getByRole('article', { name: 'ann is writing' });
  await expect(writing).toContainText('leap');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(writing).toHaveCount(0);
  await expect(shown(page, 'ann stopped')).toBeVisible();
});

test('the server dies in mid-stream; the reply comes once', async ({ page, server, model }) => {
  model.pieces = WORDS;
  model.hold(5);
  const thread = await server.begin('Phoenix', ['ann']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@ann plan');
  await expect(page.getByRole('article', { name: 'ann is writing' })).toContainText('leap');
  await server.kill();
  model.goOn();
  await server.start();
  await expect(messagesOf(page, 'ann')).toHaveCount(1);
  await expect(messagesOf(page, 'ann')).toContainText('two');
  await settled(server, thread);
  await expect(messagesOf(page, 'ann')).toHaveCount(1);
});

test('five agents at once: measured, printed', async ({ page, server, model }) => {
  model.pieces = Array.from({ length: 300 }, (_, n) =>
    n % 60 === 0
      ? `\n\n## Part ${n}\n\n`
      : n % 60 === 30
        ? `\n\n\`\`\`rust\n${'fn part(x: u32) -> u32 { x + 1 } // some\n'.repeat(8)}\`\`\`\n\n`
        : n % 11 === 0
          ? '`code` and **weight** '
          : 'words and more words ',
  );
  model.paceMs = 10;
  // Checked while the replies are short: of long ones the list draws only the visible part.
  model.hold(2);
  const thread = await server.begin('Choir', AGENTS, { name: 'open', max_exchanges_without_human: 5 });
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeVisible();
  await page.evaluate(() => {
    const long: number[] = [];
    Object.assign(window, { long });
    new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration))).observe({
      entryTypes: ['longtask'],
    });
  });
  await say(page, 'All together now.');
  await expect(page.getByRole('article', { name: /is writing/ })).toHaveCount(5);
  model.goOn();
  await expect(page.getByRole('article', { name: /is writing/ })).toHaveCount(0);
  await settled(server, thread);
  const long = await page.evaluate(() => (window as unknown as { long: number[] }).long);
  console.log(
    `measured: five agents stream with ${long.length} long tasks, the longest ${Math.max(0, ...long).toFixed(0)} ms`,
  );
});

/** Returns the compressed size of the page and of the files that it names. */
async function firstVisit(url: string): Promise<number> {
  const page = await (await fetch(url)).text();
  const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]!);
  const bodies = await Promise.all(files.map(async (file) => (await fetch(url + file)).arrayBuffer()));
  return [Buffer.from(page), ...bodies].reduce((sum, body) => sum + gzipSync(body).length, 0);
}

test('first paint and own echo: measured, printed', async ({ page, server }) => {
  const thread = await server.begin('Echo');
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeVisible();
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0);
  await page.evaluate(() => {
    const echoes: number[] = [];
    Object.assign(window, { echoes });
    const rows = () => document.querySelectorAll('[role="region"] article').length;
    const watch = (event: KeyboardEvent) => {
      if (event.key !== 'Enter') return;
      const [began, before] = [performance.now(), rows()];
      const observer = new MutationObserver(() => {
        if (rows() <= before) return;
        echoes.push(performance.now() - began);
        observer.disconnect();
      });
      observer.observe(document.body, { childList: true, subtree: true });
    };
    addEventListener('keydown', watch, true);
  });
  for (let n = 0; n < 8; n += 1) {
    await say(page, `message ${n}`);
    await expect(messagesOf(page, 'You')).toHaveCount(n + 1);
  }
  const echoes = await page.evaluate(() => (window as unknown as { echoes: number[] }).echoes);
  const middle = echoes.toSorted((a, b) => a - b)[echoes.length >> 1] ?? 0;
  const kilobytes = ((await firstVisit(server.url)) / 1000).toFixed(0);
  console.log(
    `measured: first visit ${kilobytes} kB (gzip), first paint ${paint.toFixed(0)} ms, own echo ${middle.toFixed(0)} ms (median of ${echoes.length})`,
  );
});
