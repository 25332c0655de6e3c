/** Notifications of the desktop for what needs a person, while no tab of the page is visible. */

import type { Page } from '@playwright/test';
import { settled } from '../screens/stage';
import type { Server } from '../server';
import { expect, signIn, test } from './fixture';

interface Told {
  title: string;
  body: string;
  tag: string;
  closed: boolean;
}

/** Records the notifications that the page makes. The desktop itself is not part of the test. */
async function record(page: Page, permission: 'default' | 'denied'): Promise<void> {
  await page.addInitScript((permission) => {
    const all: unknown[] = [];
    class Recorded {
      static permission = permission as string;
      static requestPermission() {
        if (permission === 'default') Recorded.permission = 'granted';
        return Promise.resolve(Recorded.permission);
      }
      closed = false;
      onclick: (() => void) | null = null;
      body: string;
      tag: string;
      constructor(
        public title: string,
        { body, tag }: { body: string; tag: string },
      ) {
        [this.body, this.tag] = [body, tag];
        all.push(this);
      }
      close() {
        this.closed = true;
      }
    }
    Object.assign(window, { Notification: Recorded, told: all });
  }, permission);
}

function told(page: Page): Promise<Told[]> {
  return page.evaluate(() =>
    (window as unknown as { told: Told[] }).told.map(({ title, body, tag, closed }) => ({ title, body, tag, closed })),
  );
}

async function hide(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitemcheckbox', { name }).click();
  await page.keyboard.press('Escape');
}

/** Makes two agents talk until a guard holds the floor. */
async function hold(server: Server, title: string): Promise<string> {
  const thread = await server.begin(title, ['one:terse', 'two:terse'], {
    name: 'open',
    max_exchanges_without_human: 3,
  });
  await server.say(thread, 'Discuss.');
  await settled(server, thread);
  return thread;
}

test('a need is told once, without its words, and its notification goes with it', async ({ page, server }) => {
  await record(page, 'default');
  await hold(server, 'Early');
  await signIn(page, server);
  await expect(page).toHaveTitle(/^1 needs you/);
  await choose(page, 'Desktop notifications');
  await hide(page, 'hidden');
  const thread = await hold(server, 'Secret plans');
  await expect.poll(() => told(page)).toHaveLength(1);
  const [first] = await told(page);
  expect(first).toMatchObject({ title: 'Agents wait for you to let them go on', body: '', closed: false });
  await server.control(thread, { mute: { targets: ['one', 'two'] } });
  await server.control(thread, { resume: {} });
  await expect.poll(async () => (await told(page))[0]?.closed).toBe(true);
});

test('a click leads to the need at home', async ({ page, server }) => {
  await record(page, 'default');
  const early = await hold(server, 'Early');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${early}`);
  await choose(page, 'Desktop notifications');
  await choose(page, 'Message text in notifications');
  await hide(page, 'hidden');
  await hold(server, 'Plans');
  await expect.poll(() => told(page)).toHaveLength(1);
  expect((await told(page))[0]?.body).toContain('Plans: ');
  await page.evaluate(() => (window as unknown as { told: { onclick: () => void }[] }).told[0]!.onclick());
  await expect(page).toHaveURL(`${server.url}/`);
  await expect(page.getByRole('region', { name: 'Needs you' }).getByRole('article')).toHaveAccessibleName(/^Plans/);
});

test('a visible page tells nothing, and neither does one beside it', async ({ page, server, context }) => {
  await record(page, 'default');
  await signIn(page, server);
  await choose(page, 'Desktop notifications');
  const beside = await context.newPage();
  await beside.goto(server.url);
  await expect(beside.getByRole('heading', { level: 1 })).toBeVisible();
  await hide(page, 'hidden');
  await hold(server, 'One');
  await expect(page).toHaveTitle(/^1 needs you/);
  await hide(beside, 'hidden');
  await hold(server, 'Two');
  await expect.poll(() => told(page)).toHaveLength(1);
  await hide(page, 'visible');
  await expect.poll(async () => (await told(page))[0]?.closed).toBe(true);
});

test('a browser that does not allow them leaves them off, and the page says what to do', async ({ page, server }) => {
  await record(page, 'denied');
  await signIn(page, server);
  await choose(page, 'Desktop notifications');
  await expect(page.getByText('The browser does not allow notifications.')).toBeVisible();
  await expect(page.getByText(/Allow them for this page in the settings of the browser/)).toBeVisible();
  await page.getByRole('button', { name: 'Settings' }).click();
  await expect(page.getByRole('menuitemcheckbox', { name: /^Desktop notifications/ })).toHaveAttribute(
    'aria-checked',
    'false',
  );
});
