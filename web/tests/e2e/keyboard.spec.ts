/** Whole tasks in the page without a mouse. */

import { settled } from '../screens/stage';
import { box, expect, held, messagesOf, participant, shown, test } from './fixture';
import type { Page } from '@playwright/test';

/** Presses Tab until the element has the focus, as a person would. */
async function tabTo(page: Page, role: Parameters<Page['getByRole']>[0], name: string | RegExp): Promise<void> {
  const wanted = page.getByRole(role, { name, ...(typeof name === 'string' ? { exact: true } : {}) }).first();
  await expect(wanted).toBeVisible();
  for (let presses = 0; presses < 60; presses += 1) {
    if (await wanted.evaluate((node) => node === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${role} ${String(name)}`);
}

/** Opens the menu from its focused button, and chooses with the arrow keys. */
async function choose(page: Page, button: string, item: string): Promise<void> {
  await tabTo(page, 'button', button);
  await page.keyboard.press('Enter');
  const wanted = page.getByRole('menuitem', { name: item });
  await expect(wanted).toBeVisible();
  for (let presses = 0; presses < 12; presses += 1) {
    if (await wanted.evaluate((node) => node === document.activeElement)) break;
    await page.keyboard.press('ArrowDown');
  }
  await expect(wanted).toBeFocused();
  await page.keyboard.press('Enter');
}

test('begin, invite, speak, mute, rename, archive', async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByRole('heading', { name: /Talk with several agents/ })).toBeVisible();
  await page.keyboard.press('n');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.type('By hand');
  await tabTo(page, 'radio', /Named first/);
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: /Only when named/ })).toBeChecked();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'By hand' })).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await tabTo(page, 'button', 'Participants');
  await page.keyboard.press('i');
  await tabTo(page, 'button', /^terse/);
  await page.keyboard.press('Enter');
  await tabTo(page, 'textbox', 'Nickname');
  await page.keyboard.type('Tess');
  await page.keyboard.press('Enter');
  await expect(participant(page, 'Tess')).toContainText('ready');

  await page.keyboard.press('m');
  await expect(box(page)).toBeFocused();
  await page.keyboard.type('@Te');
  await page.keyboard.press('Tab');
  await page.keyboard.type('is it so?');
  await page.keyboard.press('Enter');
  await expect(messagesOf(page, 'Tess')).toBeVisible();

  await choose(page, 'Actions for Tess', 'Mute');
  await expect(participant(page, 'Tess')).toContainText('muted');

  const more = 'More about this conversation';
  await tabTo(page, 'button', more);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.type('ren');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('By keyboard');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'By keyboard' })).toBeVisible();

  await tabTo(page, 'button', more);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.type('arc');
  await page.keyboard.press('Enter');
  await expect(page.getByText('This conversation is archived')).toBeVisible();
});

test('start an example, pause, resume, ask for a reply, stop, search, export', async ({ page, server }) => {
  await page.goto(server.url);
  await tabTo(page, 'button', /Start.*second opinion/);
  await page.keyboard.press('Enter');
  await expect(messagesOf(page, 'analyst').first()).toBeVisible();
  const slow = await server.begin('Slow', ['sleepy'], 'mention_only');
  await tabTo(page, 'button', 'Pause');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Paused. Messages wait')).toBeVisible();
  await tabTo(page, 'button', 'Resume');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Paused. Messages wait')).toHaveCount(0);
  const download = page.waitForEvent('download');
  await choose(page, 'More about this conversation', 'Export as Markdown');
  expect((await download).suggestedFilename()).toMatch(/\.md$/);

  await page.keyboard.press('Control+k');
  await page.keyboard.type('slow');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(slow));
  await choose(page, 'Actions for sleepy', 'Ask for a reply now');
  await expect(participant(page, 'sleepy')).toContainText('thinking');
  // In the message field, Escape leaves the field first.
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('Escape');
  await expect(page.getByText('Press Esc again')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(shown(page, 'Everyone was stopped')).toBeVisible();

  await page.keyboard.press('Control+k');
  await page.keyboard.type('sign-ups');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Search messages' }).locator('mark').first()).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'A second opinion' })).toBeVisible();
});

test('what needs you is one key away', async ({ page, server }) => {
  const thread = await held(page, server);
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('a');
  await expect(page.getByRole('button', { name: 'Continue' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(shown(page, 'let the agents go on')).toBeVisible();
  await settled(server, thread);
});

test('nothing traps the focus: Tab goes through the page and comes back', async ({ page, server }) => {
  const thread = await server.begin('Circle', ['terse']);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeVisible();
  await tabTo(page, 'textbox', 'Message');
  await page.keyboard.press('Tab');
  await tabTo(page, 'textbox', 'Message');
  await page.keyboard.press('Shift+Tab');
  await expect(box(page)).not.toBeFocused();
});
