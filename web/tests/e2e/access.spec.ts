/** Accessibility: axe finds no violation in any state, in both themes, large and small. */

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { running, SESSIONS, settled, TERMINALS } from '../screens/stage';
import { box, expect, held, messagesOf, participant, say, shown, signIn, test } from './fixture';

/** Themes differ only in colours, so the second theme is checked for contrast only. */
const ASPECTS = { light: null, dark: ['color-contrast'] };

async function check(page: Page, state: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme);
    const rules = ASPECTS[colorScheme];
    const axe = new AxeBuilder({ page });
    const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
    const found = violations.map(
      ({ id, nodes }) =>
        `${state}, ${colorScheme}: ${id}\n${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
    );
    expect(found).toEqual([]);
  }
}

for (const [size, width, height] of [
  ['large', 1360, 820],
  ['small', 320, 640],
] as const) {
  test.describe(size, () => {
    test.use({ viewport: { width, height } });

    test('first run, and an empty conversation', async ({ page, server }) => {
      await page.goto(server.url);
      await expect(page.getByRole('heading', { name: /Talk with several agents/ })).toBeVisible();
      await check(page, 'first run');
      const thread = await server.begin('Nobody');
      await page.goto(`${server.url}/t/${thread}`);
      await expect(page.getByText('so nobody will answer')).toBeVisible();
      await check(page, 'nobody invited');
      await page.goto(`${server.url}/t/none`);
      await expect(page.getByRole('heading', { name: /does not exist/ })).toBeVisible();
      await check(page, 'missing');
    });

    test('a conversation, its reasons, and a draft', async ({ page, server }) => {
      const thread = await server.begin(
        'Talk',
        ['coder', 'planner', 'quiet', 'broken', ...Array.from({ length: 9 }, (_, n) => `a${n}:quiet`)],
        'hybrid',
      );
      await server.say(thread, '@coder @planner @broken show me');
      await settled(server, thread);
      await page.goto(`${server.url}/t/${thread}`);
      await expect(messagesOf(page, 'coder')).toBeVisible();
      await page.getByRole('button', { name: 'why?' }).last().click();
      await expect(page.getByText('Asked about this message')).toBeVisible();
      await box(page).pressSequentially('and @');
      await expect(page.getByRole('option').first()).toBeVisible();
      await check(page, 'conversation');
    });

    test('somebody thinks, muted, paused, held, not sent', async ({ page, server }) => {
      const thread = await server.begin('Busy', ['sleepy', 'quiet', 'coder']);
      await server.control(thread, { mute: { targets: ['quiet'] } });
      await page.goto(`${server.url}/t/${thread}`);
      await say(page, '@sleepy go');
      await running(server, thread, 'sleepy');
      await server.control(thread, { pause: { on: true } });
      await expect(page.getByText('Paused. Messages wait')).toBeVisible();
      await check(page, 'paused while thinking');
      await server.kill();
      await say(page, 'lost?');
      await expect(page.getByText('Not sent yet. It is kept here.')).toBeVisible();
      await expect(page.getByText('Connection lost.')).toBeVisible();
      await check(page, 'away');
    });

    test('a guard holds', async ({ page, server }) => {
      await held(page, server);
      await check(page, 'guard');
    });

    test('somebody who is not known, a menu, and what was found', async ({ page, server }) => {
      const thread = await server.begin('Loop', ['one:terse', 'two:terse'], {
        name: 'open',
        max_exchanges_without_human: 3,
      });
      await page.goto(`${server.url}/t/${thread}`);
      await say(page, 'Discuss.');
      await page.getByRole('region', { name: 'Needs you' }).getByRole('button', { name: 'Sign in' }).click();
      await expect(page.getByLabel('Key')).toBeVisible();
      await check(page, 'sign in');
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await check(page, 'not known');
      await settled(server, thread);
      await expect(async () => {
        await page.keyboard.press('Control+Shift+f');
        await page.getByLabel('Words to search for').fill('discuss');
        await expect(page.locator('mark').first()).toBeVisible({ timeout: 2_000 });
      }).toPass();
      await check(page, 'found');
      await page.keyboard.press('Escape');
      if (width < 1_000) await page.getByRole('button', { name: 'Participants' }).click();
      await page.getByRole('button', { name: 'Actions for one' }).click();
      await check(page, 'menu of a participant');
    });

    test('dialogs and menus', async ({ page, server }) => {
      test.slow();
      const thread = await server.begin('Dialogs', ['coder']);
      await page.goto(`${server.url}/t/${thread}`);
      await expect(shown(page, 'began the conversation')).toBeVisible();
      for (const [key, name] of [
        ['?', 'Keyboard shortcuts'],
        ['n', 'New conversation'],
        ['i', 'Invite'],
        ['Control+k', 'Search or jump'],
        ['Control+Shift+f', 'Search messages'],
      ] as const) {
        await page.getByRole('region', { name: 'Messages' }).focus();
        await page.keyboard.press(key);
        await expect(page.getByRole('dialog', { name })).toBeVisible();
        await check(page, name);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('dialog')).toHaveCount(0);
      }
      await page.getByRole('button', { name: 'More about this conversation' }).click();
      await check(page, 'menu');
      for (const [item, name] of [
        ['Who may speak…', 'Who may speak'],
        ['Rename…', 'Rename'],
      ] as const) {
        if (!(await page.getByRole('menu').isVisible()))
          await page.getByRole('button', { name: 'More about this conversation' }).click();
        await page.getByRole('menuitem', { name: item }).click();
        await expect(page.getByRole('dialog', { name })).toBeVisible();
        await check(page, name);
        await page.keyboard.press('Escape');
        await expect(page.getByRole('dialog')).toHaveCount(0);
      }
    });
  });
}

for (const [size, width, height] of [
  ['large', 1440, 900],
  ['small', 320, 640],
] as const) {
  test.describe(`with terminals, ${size}`, () => {
    test.use({ config: SESSIONS, viewport: { width, height } });
    test.skip(!TERMINALS, 'tmux or fake-tui is missing');

    test('settings, a folder picker, a circle, answers, and a keyboard taken over', async ({ page, server }) => {
      test.slow();
      const anna = await server.startSession('anna');
      const talk = await server.begin('Talk', ['coder'], 'mention_only');
      await signIn(page, server);
      const list = () => (width < 1_000 ? page.getByRole('button', { name: 'Conversations' }).click() : undefined);
      await list();
      await page.getByRole('button', { name: 'Settings' }).click();
      await check(page, 'settings');
      await page.keyboard.press('Escape');
      await page.goto(server.url);
      await page.getByRole('group', { name: 'Who answers' }).getByRole('button', { name: 'fake' }).click();
      await page.getByRole('button', { name: /^in / }).click();
      const picker = page.getByRole('group', { name: 'Folder' });
      // The default folder comes from the server.
      await expect(picker.getByLabel('Path of the folder')).not.toHaveValue('');
      await picker.getByLabel('Path of the folder').fill('/nowhere');
      await picker.getByLabel('Path of the folder').press('Enter');
      await expect(picker.getByRole('alert')).toContainText('does not exist');
      await check(page, 'folder picker with an error');
      await page.goto(`${server.url}/t/${talk}`);
      await page.getByRole('region', { name: 'Messages' }).focus();
      await page.keyboard.press('n');
      await page.getByRole('button', { name: 'Talking circle instead…' }).click();
      await expect(page.getByRole('dialog', { name: 'New talking circle' })).toBeVisible();
      await check(page, 'circle');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'More about this conversation' }).click();
      await page.getByRole('menuitem', { name: 'Answers to agents…' }).click();
      await expect(page.getByRole('dialog', { name: 'Answers to agents' })).toBeVisible();
      await check(page, 'answers');
      await page.goto(`${server.url}/t/${anna}/terminal`);
      await page.getByRole('button', { name: 'Take over' }).click();
      await expect(page.getByRole('textbox', { name: 'Type in the terminal of anna' })).toBeFocused();
      await check(page, 'keyboard taken over');
    });

    test('what could not be loaded, and what was refused', async ({ page, server }) => {
      test.slow();
      const thread = await server.begin('Talk', ['coder'], 'mention_only');
      await signIn(page, server);
      await page.route(`**/threads/${thread}/**`, (route) => route.fulfill({ status: 500, body: '{}' }));
      await page.goto(`${server.url}/t/${thread}`);
      await expect(page.getByRole('heading', { name: 'The conversation could not be opened' })).toBeVisible();
      await check(page, 'not opened');
      await page.unroute(`**/threads/${thread}/**`);
      await page.goto(`${server.url}/t/${thread}`);
      await expect(box(page)).toBeVisible();
      await page.route('**/events', (route) =>
        route.request().method() === 'POST' ? route.fulfill({ status: 500, body: '{}' }) : route.continue(),
      );
      await page.getByRole('button', { name: 'Pause' }).click();
      await expect(page.getByText('Pausing failed')).toBeVisible();
      await check(page, 'a refusal');
    });
  });
}

test('drawers on a small screen', async ({ page, server }) => {
  test.slow();
  await page.setViewportSize({ width: 320, height: 640 });
  const thread = await server.begin('Pocket', ['coder']);
  await page.goto(`${server.url}/t/${thread}`);
  for (const name of ['Conversations', 'Participants']) {
    await page.getByRole('button', { name, exact: true }).click();
    await expect(page.getByRole('dialog', { name })).toBeVisible();
    await check(page, name);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('button', { name, exact: true })).toBeFocused();
  }
});

test('final words are announced, and nothing below 24 pixels is pressed', async ({ page, server }) => {
  const thread = await server.begin('Ear', ['coder', 'sleepy'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@coder go');
  await expect(page.getByRole('log')).toContainText('coder: Here is the change');
  await say(page, '@sleepy go');
  await expect(participant(page, 'sleepy')).toContainText('thinking');
  await messagesOf(page, 'coder').hover();
  const small = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, a, input, textarea')]
      .filter((node) => node.checkVisibility() && !node.closest('.prose p, .sr-only, .skip'))
      .map((node) => ({ html: node.outerHTML.slice(0, 120), box: node.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
      .map(({ html, box }) => `${Math.round(box.width)}×${Math.round(box.height)} ${html}`),
  );
  expect(small).toEqual([]);
});

test('under a finger nothing that stands alone is below 44 pixels, and no keyboard opens by itself', async ({
  browser,
  server,
}) => {
  const context = await browser.newContext({ hasTouch: true, isMobile: true, viewport: { width: 320, height: 640 } });
  const page = await context.newPage();
  const thread = await server.begin('Finger', ['coder', 'quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeVisible();
  const small = () =>
    page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.icon-btn, .btn:not(.btn-small), .menu-item, .field')]
        .filter((node) => node.checkVisibility() && !node.closest('.pill'))
        .map((node) => ({ html: node.outerHTML.slice(0, 120), box: node.getBoundingClientRect() }))
        .filter(({ box }) => box.height < 44)
        .map(({ html, box }) => `${Math.round(box.width)}×${Math.round(box.height)} ${html}`),
    );
  expect(await small()).toEqual([]);
  await page.getByRole('button', { name: 'Participants' }).tap();
  expect(await small()).toEqual([]);
  await page.getByRole('button', { name: 'Invite', exact: true }).tap();
  await expect(page.getByLabel('Nickname')).toBeVisible();
  await expect(page.getByRole('dialog', { name: 'Invite' })).toBeFocused();
  expect(await small()).toEqual([]);
  await context.close();
});
