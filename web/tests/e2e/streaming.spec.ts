/** Replies while they are written, and their cost for the page. */

import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { Model } from '../model';
import { settled } from '../screens/stage';
import { Server } from '../server';
import { box, expect, messagesOf, say, shown, test as base } from './fixture';

const AGENTS = ['ann', 'bob', ...Array.from({ length: 17 }, (_, n) => `agent${n}`)];

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

interface Seen {
  long: number[];
  shift: number;
  /** The classes of what moved. */
  moved: string[];
}

/** Observes long tasks and moving layout from now on. Returns a function that reads them. */
async function observe(page: Page): Promise<() => Promise<Seen>> {
  await page.evaluate(() => {
    const seen: Seen = { long: [], shift: 0, moved: [] };
    Object.assign(window, { seen });
    const on = (type: string, take: (entry: PerformanceEntry) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type });
    on('longtask', (entry) => seen.long.push(entry.duration));
    on('layout-shift', (entry) => {
      const { value, sources } = entry as PerformanceEntry & { value: number; sources: { node: Element | null }[] };
      seen.shift += value;
      seen.moved.push(...sources.map(({ node }) => `${value.toFixed(3)} ${node?.nodeName} ${node?.className}`));
    });
  });
  return async () => {
    // An entry comes some frames after its task.
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve))));
    return page.evaluate(() => (window as unknown as { seen: Seen }).seen);
  };
}

interface TraceEvent {
  name: string;
  ph: string;
  ts: number;
  pid: number;
  tid: number;
  tdur?: number;
  args?: { name?: string };
}

/**
 * Returns the processor times of the page's tasks in a trace, the longest first. The browser keeps
 * other renderers ready, which do less. The first second has the start of the trace itself.
 */
function processorMs(trace: Buffer): number[] {
  const { traceEvents: all } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const main = (event: TraceEvent) => `${event.pid}.${event.tid}`;
  const mains = new Set(all.filter(({ args }) => args?.name === 'CrRendererMain').map(main));
  const every = all.filter((event) => event.name === 'RunTask' && event.ph === 'X');
  const first = Math.min(...every.map(({ ts }) => ts));
  const tasks = every.filter(({ ts }) => ts > first + 1_000_000);
  const times = [...mains].map((one) => tasks.filter((task) => main(task) === one).map(({ tdur = 0 }) => tdur / 1000));
  const sum = (all: number[]) => all.reduce((sum, ms) => sum + ms, 0);
  const busiest = times.sort((one, other) => sum(other) - sum(one))[0] ?? [];
  return busiest.sort((one, other) => other - one);
}

test('nineteen agents at once: no row moves while they write; the tasks are measured, printed', async ({
  page,
  browser,
  server,
  model,
}) => {
  model.pieces = Array.from({ length: 120 }, (_, n) =>
    n % 60 === 0
      ? `\n\n## Part ${n}\n\n`
      : n % 60 === 30
        ? `\n\n\`\`\`rust\n${'fn part(x: u32) -> u32 { x + 1 } // some\n'.repeat(8)}\`\`\`\n\n`
        : n % 11 === 0
          ? '`code` and **weight** '
          : 'words and more words ',
  );
  model.paceMs = 50;
  model.hold(2);
  for (let n = 0; n < 30; n += 1) await server.begin(`Conversation ${n}`);
  const thread = await server.begin('Choir', AGENTS, { name: 'open', max_exchanges_without_human: 1 });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeVisible();
  await say(page, 'All together now.');
  const everybody = () => expect.poll(() => model.held).toBe(AGENTS.length);
  await everybody();
  const rows = page.getByRole('article', { name: /is writing/ });
  await expect(page.getByRole('group', { name: 'Who speaks' }).getByText(/^writing/)).toHaveCount(AGENTS.length);
  await expect(rows.filter({ hasText: 'words' }).first()).toBeVisible();
  await expect(rows.filter({ hasNotText: 'words' })).toHaveCount(0);
  const read = await observe(page);
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] });
  model.goOn();
  model.hold(100);
  // The page is left alone meanwhile: each look at it would be a task.
  await everybody();
  const written = await read();
  expect(written.shift, written.moved.join('\n')).toBeLessThanOrEqual(0.02);
  model.goOn();
  await settled(server, thread);
  await expect(rows).toHaveCount(0);
  const all = await read();
  const tasks = processorMs(await browser.stopTracing());
  const told = ({ long, shift }: Seen) =>
    `${long.length} tasks over 50 ms, the longest ${Math.max(0, ...long).toFixed(0)} ms, layout shift ${shift.toFixed(3)}`;
  const busy = tasks.filter((ms) => ms > 50).length;
  console.log(
    `measured: 19 agents write with ${told(written)}; with the ends of their replies ${told(all)}; ` +
      `by the processor ${busy} tasks over 50 ms, the longest ${(tasks[0] ?? 0).toFixed(0)} ms`,
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
