/** Phones: targets under a finger, and what stays above the keyboard on the screen. */

import type { Page } from '@playwright/test';
import { SESSIONS, TERMINALS, wish } from '../screens/stage';
import { box, expect, messagesOf, say, signIn, test } from './fixture';

test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

/**
 * Returns the controls that take touches on less than 44 pixels of height. A pseudo-element over a
 * control takes touches for it. Links within sentences are left out.
 */
function small(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const CONTROLS = 'button, a[href], input, textarea, select, summary, [role="option"], [role^="menuitem"]';
    const area = (node: HTMLElement) => {
      const label = node.closest('label') ?? node;
      const { height, width } = label.getBoundingClientRect();
      const after = getComputedStyle(node, '::after');
      const grown = after.content === 'none' ? 0 : -parseFloat(after.top) - parseFloat(after.bottom);
      return { width, height: height + (Number.isFinite(grown) ? grown : 0) };
    };
    return [...document.querySelectorAll<HTMLElement>(CONTROLS)]
      .filter((node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .filter((node) => !node.closest('.prose, .sr-only, .skip') && node.tabIndex >= 0)
      .map((node) => ({ html: node.outerHTML.replace(/\s+/g, ' ').slice(0, 140), ...area(node) }))
      .filter(({ width, height }) => width > 1 && height < 43.5)
      .map(({ html, height }) => `${Math.round(height)} px: ${html}`);
  });
}

test('home, a room, its panel and its menu have targets of 44 pixels', async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  expect(await small(page)).toEqual([]);
  const thread = await server.begin('Finger', ['coder', 'quiet'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@coder go');
  await expect(messagesOf(page, 'coder')).toBeVisible();
  await expect(page.getByText(/1 reply/)).toBeVisible();
  expect(await small(page)).toEqual([]);
  await page.getByRole('button', { name: 'Participants' }).tap();
  await expect(page.getByRole('list', { name: 'Who takes part' })).toBeVisible();
  expect(await small(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('main').getByRole('button', { name: 'Conversations' }).tap();
  await page.getByRole('button', { name: 'Settings' }).tap();
  await expect(page.getByRole('menuitem', { name: 'API docs' })).toBeVisible();
  expect(await small(page)).toEqual([]);
});

test('the field stays above a keyboard that covers the page', async ({ page, server }) => {
  const thread = await server.begin('Keys', ['quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeVisible();
  // Safari shrinks the visible part alone: the layout keeps its height under the keyboard.
  await page.evaluate(() => {
    const seen = window.visualViewport as VisualViewport;
    Object.defineProperty(seen, 'height', { value: window.innerHeight - 300, configurable: true });
    seen.dispatchEvent(new Event('resize'));
  });
  await expect
    .poll(async () => ((await box(page).boundingBox())?.y ?? 0) + ((await box(page).boundingBox())?.height ?? 0))
    .toBeLessThan(844 - 300);
});

test.describe('with terminals', () => {
  test.use({ config: SESSIONS });
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');

  test('a card and the sheet have targets of 44 pixels, and the sheet stays above the keyboard', async ({
    page,
    server,
  }) => {
    await wish(server, 'one');
    await signIn(page, server);
    await expect(page.getByRole('region', { name: 'Needs you' }).getByRole('article')).toBeVisible();
    expect(await small(page)).toEqual([]);
    await page.getByRole('button', { name: 'Look at the conversation' }).tap();
    const sheet = page.getByRole('dialog', { name: 'The conversation beside' });
    await expect(sheet).toBeVisible();
    expect(await small(page)).toEqual([]);
    await page.evaluate(() => {
      const seen = window.visualViewport as VisualViewport;
      Object.defineProperty(seen, 'height', { value: window.innerHeight - 300, configurable: true });
      seen.dispatchEvent(new Event('resize'));
    });
    await expect
      .poll(async () => {
        const { y, height } = (await sheet.boundingBox())!;
        return [y >= 0, y + height <= 844 - 300];
      })
      .toEqual([true, true]);
  });
});
