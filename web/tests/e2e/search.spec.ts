/** Search for messages in all conversations. */

import type { Page } from '@playwright/test';
import { wait } from '../screens/stage';
import type { Server } from '../server';
import { expect, shown, test } from './fixture';

async function library(page: Page, server: Server): Promise<{ plan: string; notes: string }> {
  const plan = await server.begin('Launch plan');
  const notes = await server.begin('Kitchen notes');
  for (const thread of [plan, notes]) await server.invite(thread, 'ann', { client: 'human', nickname: 'Ann' });
  await server.say(plan, 'the launch needs a budget before friday', 'ann');
  await server.say(plan, 'the budget is fine by me');
  await server.say(notes, 'a budget for pans and a budget for lids', 'ann');
  await server.say(notes, 'nothing to see here');
  await wait(async () => (await server.get<{ lag_events: number }>('/search?q=nothing')).lag_events === 0);
  await page.goto(`${server.url}/t/${notes}`);
  await expect(shown(page, 'nothing to see here')).toBeVisible();
  return { plan, notes };
}

test('words and filters find messages, with the words marked in their context', async ({ page, server }) => {
  await library(page, server);
  await page.keyboard.press('Control+Shift+f');
  const dialog = page.getByRole('dialog', { name: 'Search messages' });
  const field = dialog.getByRole('textbox');
  const hits = dialog.getByRole('link');
  await expect(field).toBeFocused();
  await field.fill('budget');
  await expect(hits).toHaveCount(3);
  await expect(hits.filter({ hasText: 'pans' }).locator('mark')).toHaveText(['budget', 'budget']);
  for (const [query, found] of [
    ['budget from:ann', 2],
    ['budget from:user', 1],
    ['budget in:"Launch plan"', 2],
    ['budget from:ann in:"Launch plan"', 1],
    ['"budget for lids"', 1],
    ['budget after:2020-01-01', 3],
    ['budget before:2020-01-01', 0],
    ['budget after:2999-01-01', 0],
  ] as const) {
    await field.fill(query);
    await expect(dialog.locator('[data-query]')).toHaveAttribute('data-query', query);
    await expect(hits, query).toHaveCount(found);
  }
  await expect(dialog.getByText('Nothing found')).toBeVisible();
});

test('what is typed ahead of the dialog falls into it, and not into a message', async ({ page, server }) => {
  const { plan } = await library(page, server);
  await page.getByRole('textbox', { name: 'Message' }).focus();
  await page.evaluate(() => {
    const press = (key: string, more = {}) =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }),
      );
    press('k', { ctrlKey: true });
    [...'launch'].forEach((key) => press(key));
    press('Enter');
  });
  await expect(page).toHaveURL(new RegExp(plan));
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('a result leads to its message, by keyboard too', async ({ page, server }) => {
  const { plan } = await library(page, server);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('friday');
  await page.keyboard.press('Enter');
  const hit = page.getByRole('dialog', { name: 'Search messages' }).getByRole('link');
  await expect(hit).toHaveCount(1);
  await page.keyboard.press('ArrowDown');
  await expect(hit).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${plan}#\\d+$`));
  await expect(shown(page, 'the launch needs a budget before friday')).toBeInViewport();
});
