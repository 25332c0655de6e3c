/** A server for each test, and a page whose errors fail the test. */

import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { CONFIG, settled } from '../screens/stage';
import { Server } from '../server';

export { expect };

/** A value that no longer follows what it is derived from. */
const STALE = /derived_inert/;
/** Errors that may be logged: connections that a test cut on purpose. */
const EXPECTED = /net::ERR_|Failed to load resource/;

export const test = base.extend<{ server: Server; config: string }>({
  config: [CONFIG, { option: true }],
  server: async ({ config }, use) => {
    const server = await new Server(config).start();
    await use(server);
    await server.stop();
  },
  page: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(`${error.message}\n${error.stack ?? ''}`));
    page.on('console', (message) => {
      const isError = message.type() === 'error' && !EXPECTED.test(message.text());
      if (isError || STALE.test(message.text())) complaints.push(message.text());
    });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await use(page);
    expect(complaints).toEqual([]);
  },
});

/** Opens the page at the address that the server prints, with its start-up credential. */
export async function signIn(page: Page, server: Server): Promise<void> {
  await signInWith(page, server, server.key);
}

/** Opens the page with a key, and waits until the server has taken it: another address would drop it. */
export async function signInWith(page: Page, server: Server, key: string): Promise<void> {
  const taken = page.waitForResponse((answer) => answer.url() === `${server.url}/session` && answer.ok());
  await page.goto(`${server.url}/#key=${key}`);
  await taken;
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

/** Opens a conversation in which two agents talk until a guard holds the floor. */
export async function held(page: Page, server: Server): Promise<string> {
  const policy = { name: 'open', max_exchanges_without_human: 3 };
  const thread = await server.begin('Loop', ['one:terse', 'two:terse'], policy);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'Discuss.');
  await expect(page.getByRole('alert').getByRole('button', { name: 'Continue' })).toBeVisible();
  await settled(server, thread);
  return thread;
}

export function box(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Message' });
}

export async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.keyboard.press('Enter');
}

/** Finds text within the list of messages, not in lists or announcements beside it. */
export function shown(page: Page, text: string | RegExp): Locator {
  return page.getByRole('region', { name: 'Messages' }).getByText(text);
}

/** Finds the messages of a participant by the shown name. */
export function messagesOf(page: Page, name: string): Locator {
  return page.getByRole('article', { name: new RegExp(`^${name},`) });
}

export function participant(page: Page, name: string): Locator {
  return page.getByRole('list', { name: 'Who takes part' }).getByRole('listitem').filter({ hasText: name });
}

/** Expects that axe finds no violation, in both themes. */
export async function accessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`)).toEqual([]);
  }
}
