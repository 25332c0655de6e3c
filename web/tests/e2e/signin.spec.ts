/** Signing in by the address that the server prints or by a pasted key, and signing out. */

import type { Page } from '@playwright/test';
import { Server } from '../server';
import { box, expect, messagesOf, say, test } from './fixture';

async function settingsMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings' }).click();
}

test('the address that the server prints signs in, and leaves no key behind', async ({ page, server }) => {
  await page.goto(server.page);
  await expect(page).toHaveURL(`${server.url}/`);
  await settingsMenu(page);
  await expect(page.getByRole('menuitem', { name: 'Sign out' })).toContainText('user');
  const cookies = await page.context().cookies();
  expect(cookies.map((cookie) => [cookie.httpOnly, cookie.sameSite])).toEqual([[true, 'Strict']]);
  expect(cookies[0]?.value).not.toContain(server.key);
  expect(await page.evaluate(() => document.cookie)).toBe('');
  await Promise.all([page.waitForEvent('load'), page.getByRole('menuitem', { name: 'Sign out' }).click()]);
  await settingsMenu(page);
  await expect(page.getByRole('menuitem', { name: 'Sign in' })).toBeVisible();
});

test('a page that signed in speaks and controls', async ({ page, server }) => {
  const thread = await server.begin('Signed in', ['coder']);
  await page.goto(server.page);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'one word');
  await expect(messagesOf(page, 'You')).toContainText('one word');
  await page.goto(`${server.url}/`);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(page, 'You')).toContainText('one word');
});

test.describe('in token mode', () => {
  test('nothing is shown before somebody signs in, and a revoked token shows it again', async ({ page }) => {
    const server = await new Server('', ['--mode', 'token']).start();
    try {
      const thread = await server.begin('Members only');
      const { token, id } = await server.post<{ token: string; id: string }>('/tokens', { principal: 'ann' });
      await page.goto(`${server.url}/t/${thread}`);
      await expect(page.getByRole('heading', { name: 'Sign in to Moothall' })).toBeVisible();
      await expect(page.getByText('Members only')).toHaveCount(0);
      await page.getByLabel('Key').fill('pat_nonsense');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await expect(page.getByRole('alert')).toContainText('does not work');
      await page.getByLabel('Key').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await expect(box(page)).toBeVisible();
      await say(page, 'hello from ann');
      await expect(messagesOf(page, 'You')).toContainText('hello from ann');
      const events = await server.get<{ events: { from: string; content: unknown }[] }>(`/threads/${thread}/events`);
      expect(events.events.find((event) => event.content === 'hello from ann')?.from).toBe('ann');
      await server.post(`/tokens/${id}/revoke`, {});
      await expect(page.getByRole('heading', { name: 'Sign in to Moothall' })).toBeVisible();
    } finally {
      await server.stop();
    }
  });

  test('a link that somebody makes in the page lets a person in, once', async ({ page, browser }) => {
    const server = await new Server('', ['--mode', 'token']).start();
    try {
      const thread = await server.begin('Members only');
      await page.goto(server.page);
      await expect(page.getByRole('button', { name: 'New conversation' })).toBeVisible();
      await page.goto(`${server.url}/t/${thread}`);
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'A person' }).click();
      await dialog.getByLabel('Nickname').fill('Ann');
      await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
      await expect(dialog.getByRole('button', { name: 'Copy the link' })).toBeVisible();
      const link = (await dialog.getByTestId('join-link').textContent()) ?? '';
      expect(link).toContain('/#join=inv_');

      const guest = await (await browser.newContext()).newPage();
      await guest.goto(link);
      await expect(guest).toHaveURL(`${server.url}/t/${thread}`);
      await say(guest, 'I am in');
      await expect(messagesOf(guest, 'You')).toContainText('I am in');
      await expect(messagesOf(page, 'Ann')).toContainText('I am in');
      await guest.goto(link);
      await expect(guest.getByRole('heading', { name: 'Sign in to Moothall' })).toHaveCount(0);

      const late = await (await browser.newContext()).newPage();
      await late.goto(link);
      await expect(late.getByRole('heading', { name: 'Sign in to Moothall' })).toBeVisible();
      await expect(late.getByRole('alert')).toContainText('does not work');
    } finally {
      await server.stop();
    }
  });
});
