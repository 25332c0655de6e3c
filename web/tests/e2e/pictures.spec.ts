/**
 * Pictures of the states that matter, in both themes, on a desk and on a phone, compared with those
 * in `tests/pictures`. `npm run pictures` writes them anew.
 */

import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Gathering, NewGathering } from '../../src/lib/types';
import { chromium } from '../chromium';
import { Model } from '../model';
import { CONFIG, FAKE, running, SESSIONS, settled, TERMINALS, wait, wish } from '../screens/stage';
import { Server } from '../server';
import { expect, say, signIn, test as base } from './fixture';

const WIDTHS = [
  [1440, 800],
  [390, 760],
] as const;
const THEMES = ['light', 'dark'] as const;

/** Part of the pixels that may differ: fewer than those of a button. */
const DIFFERENT_MAX = 0.003;

/** Programs that the server may find. Others on this computer would be in the pictures. */
const TOOLS = ['tmux', 'sh', 'bash', 'env', 'cat', 'git', 'sleep', 'ps', 'id', 'stty'];

function environment(folder: string): NodeJS.ProcessEnv {
  const found = (process.env['PATH'] ?? '').split(delimiter);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const tool of TOOLS) {
    const path = found.map((place) => join(place, tool)).find((place) => existsSync(place));
    if (path) symlinkSync(path, join(bin, tool));
  }
  return { PATH: bin, HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm-256color', SHELL: '/bin/sh' };
}

const test = base.extend<{ server: Server; config: string }>({
  server: async ({ config }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'moothall-pictures-'));
    const server = await new Server(config, [], environment(folder)).start();
    await use(server);
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  },
});

// Letters are drawn alike by every build. The style of a comparison needs a page without its policy
// for styles.
const LETTERS = ['--font-render-hinting=none', '--disable-font-subpixel-positioning', '--disable-lcd-text'];
const { launchOptions } = chromium;
test.use({
  timezoneId: 'UTC',
  locale: 'en-GB',
  bypassCSP: true,
  launchOptions: { ...launchOptions, args: [...(launchOptions?.args ?? []), ...LETTERS] },
});

/**
 * Makes texts equal that differ from run to run: times, folders and ports. The page draws anything
 * anew at any time, so they are made equal before each paint.
 */
function still(): void {
  const rules: [RegExp, string][] = [
    [/^(now|\d+ min)$/, '12:00'],
    [/\b\d{1,2}:\d{2}\b/g, '12:00'],
    [/(< )?\b\d+(\.\d+)? s\b/g, '8 s'],
    [/\b(Yesterday|Today)\b/, 'Today'],
    [/\S*\/moothall-\w+-\w+/g, '/srv/shop'],
    [/moothall-\w+-\w{6}/g, 'shop'],
    [/127\.0\.0\.1:\d+/g, '127.0.0.1:8080'],
    [/[0-9a-f]{8}-[0-9a-f-]{27}/g, '00000000'],
    [/\[moothall:[0-9a-f]{8}\]/g, '[moothall:00000000]'],
    // Signs that the page's own font lacks are drawn by the fonts of each computer.
    [/[^\x20-\x7e\xa0-\u024f\u2000-\u206f\s]/g, '-'],
  ];
  const calm = (node: Node): void => {
    const before = node.nodeValue ?? '';
    const after = rules.reduce((text, [pattern, words]) => text.replace(pattern, words), before);
    if (after !== before) node.nodeValue = after;
  };
  const all = (root: Node): void => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    if (root.nodeType === Node.TEXT_NODE) calm(root);
    while (walker.nextNode()) calm(walker.currentNode);
  };
  new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      if (type === 'characterData') calm(target);
      else addedNodes.forEach(all);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** Opens the page as the person who runs the server, at the present, which then stands still. */
async function open(page: Page, server: Server, path = ''): Promise<void> {
  await page.addInitScript(still);
  await page.clock.setFixedTime(Date.now());
  await page.setViewportSize({ width: 1440, height: 800 });
  await signIn(page, server);
  if (path) await page.goto(server.url + path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

async function compare(page: Page, name: string, widths: readonly (readonly [number, number])[] = WIDTHS) {
  for (const [width, height] of widths) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme);
      await page.mouse.move(0, 0);
      await expect.soft(page).toHaveScreenshot(`${name}-${width}-${colorScheme}.png`, {
        animations: 'disabled',
        caret: 'hide',
        scale: 'css',
        stylePath: join(import.meta.dirname, '../pictures.css'),
        threshold: 0.3,
        maxDiffPixelRatio: DIFFERENT_MAX,
        timeout: 15_000,
      });
    }
  }
}

const DESK = [WIDTHS[0]];
const PHONE = [WIDTHS[1]];

test.describe('with programs', () => {
  test.use({ config: SESSIONS });
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');

  test('empty home', async ({ page, server }) => {
    await open(page, server);
    await expect(page.getByRole('group', { name: 'Who answers' }).getByRole('button', { name: 'fake' })).toBeVisible();
    await compare(page, 'home-empty');
  });

  test('home with a need and work, and a peek', async ({ page, server }) => {
    await wish(server, 'planner');
    await wish(server, 'asker');
    const queue = await server.begin('Queue redesign', ['sleepy', 'quiet']);
    await server.say(queue, '@sleepy @quiet what would the window cost us?');
    await running(server, queue, 'sleepy');
    const suite = await server.begin('Nightly suite', ['tester:elsewhere'], 'mention_only');
    await server.say(suite, 'p95 falls to 62 ms if the retry moves to the client.', 'tester');
    await open(page, server);
    await expect(page.getByRole('region', { name: 'Needs you' }).getByRole('article')).toBeVisible();
    await expect(page.getByRole('region', { name: 'At work' }).getByRole('listitem')).toHaveCount(2);
    await expect(page.getByRole('region', { name: 'Peek: planner' })).toBeVisible();
    await compare(page, 'home');
    await page.setViewportSize({ width: 1440, height: 800 });
    await page
      .getByRole('region', { name: 'New messages' })
      .getByRole('button', { name: /Nightly suite/ })
      .click();
    await expect(page.getByRole('region', { name: 'Peek: Nightly suite' })).toContainText('p95 falls');
    await compare(page, 'home-peek', DESK);
    await page.setViewportSize({ width: 390, height: 760 });
    await expect(page.getByRole('dialog')).toContainText('p95 falls');
    await compare(page, 'home-peek', PHONE);
  });

  test('a command, a question, and a terminal', async ({ page, server }) => {
    const [anna, bert, cleo] = [
      await server.startSession('anna'),
      await server.startSession('bert'),
      await server.startSession('cleo'),
    ];
    await server.post(`/sessions/${anna}/messages`, { message: 'Clean up, please. [ask:rm -rf build]' });
    await server.post(`/sessions/${bert}/messages`, { message: 'Plan it. [choose:Which database?|SQLite|Postgres]' });
    await server.post(`/sessions/${cleo}/messages`, { message: 'How far are you? [say:The parcel is packed.]' });
    await open(page, server, `/t/${anna}`);
    const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article');
    await expect(card.getByRole('button', { name: /allow/i })).toBeEnabled();
    await expect(page.getByRole('group', { name: 'Screen of anna' })).toContainText('rm -rf build');
    await compare(page, 'command');
    await page.goto(`${server.url}/t/${bert}`);
    await expect(card.getByRole('button', { name: /SQLite/ })).toBeEnabled();
    await compare(page, 'question');
    await page.goto(`${server.url}/t/${cleo}/terminal`);
    await expect(page.getByRole('group', { name: 'Screen of cleo' })).toContainText('The parcel is packed.');
    await settled(server, cleo);
    await compare(page, 'terminal');
  });
});

test.describe('with a program that edits', () => {
  const edits = join(import.meta.dirname, '../edits.mjs');
  test.use({ config: SESSIONS.replace(`["${FAKE}"`, `["${process.execPath}", "${edits}", "${FAKE}"`) });
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');

  test('an edit', async ({ page, server }) => {
    const anna = await server.startSession('anna');
    await server.post(`/sessions/${anna}/messages`, { message: 'Wait longer with each try. [ask:src/retry.rs]' });
    await open(page, server, `/t/${anna}`);
    const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article');
    await expect(card).toContainText('wants to edit retry.rs');
    await expect(card.getByRole('button', { name: /allow/i })).toBeEnabled();
    await compare(page, 'edit');
  });
});

const model = new Model();

test.describe('with a model', () => {
  test.beforeAll(() => model.start());
  test.afterAll(() => model.stop());

  test('a talk, three at once, and a guard', async ({ page }) => {
    const folder = mkdtempSync(join(tmpdir(), 'moothall-pictures-'));
    const ann = `[agents.ann]\nprovider = "openai"\nmodel = "demo"\nbase_url = "${model.url}"\n`;
    const server = await new Server(`${CONFIG}\n${ann}`, [], environment(folder)).start();
    const talk = await server.begin('Market analysis', ['planner', 'coder', 'quiet']);
    await server.say(talk, '@planner analyse the earnings, then let’s hear what the rest of you think.');
    await settled(server, talk);
    const busy = await server.begin('Slow day', ['sleepy', 'second:sleepy', 'ann'], 'mention_only');
    const policy = { name: 'open', max_exchanges_without_human: 4 };
    const loop = await server.begin('Loop', ['one:terse', 'two:terse'], policy);
    await server.say(loop, 'Discuss.');
    await wait(async () =>
      Boolean((await server.get<{ state: { held?: unknown } }>(`/threads/${loop}/state`)).state.held),
    );
    await settled(server, loop);
    await open(page, server, `/t/${talk}`);
    await expect(page.getByRole('article', { name: /^planner,/ })).toBeVisible();
    await compare(page, 'talk');
    model.pieces = ['# Plan\n\n', 'First **we look**, ', 'then we leap.'];
    model.hold(2);
    await page.goto(`${server.url}/t/${busy}`);
    await say(page, '@sleepy @second @ann what is next?');
    await expect(page.getByRole('article', { name: 'ann is writing' })).toContainText('First we look');
    for (const name of ['sleepy', 'second']) await running(server, busy, name);
    await compare(page, 'busy');
    model.goOn();
    await page.goto(`${server.url}/t/${loop}`);
    await expect(page.getByRole('alert').getByRole('button', { name: 'Continue' })).toBeVisible();
    await compare(page, 'guard');
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});

test('a gathering in its round, and its harvest', async ({ page, server }) => {
  const participants: NewGathering['participants'] = [
    { name: 'Mia Petersen', number: 1, kind: 'human' },
    { name: 'Bo', number: 2, kind: 'human', participant_id: 'bo' },
    { name: 'Carmen', number: 3, kind: 'human', participant_id: 'carmen' },
    { name: 'Planner', number: 4, role: 'harvester', kind: 'agent', client: 'planner' },
  ];
  const { id } = await server.post<Gathering>('/gatherings', {
    title: 'Where the release stands',
    rhythm: 'weekly council',
    opening_question: 'What did we learn from the release?',
    breath: [1, 1, 1],
    beats_per_turn: 3,
    beat_interval_seconds: 600,
    last_word_seconds: 600,
    participants,
  });
  await server.say(id, 'I see three things: the tests were late, the notes were good, and all slept well.');
  await server.say(id, 'And a fourth: we did it.\n\nI pass');
  await server.say(id, 'The notes were good because **Carmen** wrote them.', 'bo');
  await open(page, server, `/t/${id}`);
  await expect(page.getByRole('region', { name: 'Gathering' })).toContainText('Bo (2) has the piece.');
  await compare(page, 'gathering');
  await server.post(`/gatherings/${id}/end`, {});
  await expect(page.getByRole('article', { name: 'Harvest' })).toBeVisible();
  await compare(page, 'harvest');
});
