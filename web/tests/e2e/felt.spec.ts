/** Faults that people felt: keys that went astray, rows that moved, words that were covered. */

import AxeBuilder from '@axe-core/playwright';
import { hueOf } from '../../src/lib/palette';
import { box, expect, messagesOf, participant, say, shown, signIn, test } from './fixture';

test('a heading does not lie over the text below it', async ({ page, server }) => {
  const thread = await server.begin('Headings');
  const words = 'A heading that is so long that it needs several lines on the small screen of a phone';
  await server.say(thread, `### ${words}\n\nThe text below.`);
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  const heading = (await shown(page, words).boundingBox())!;
  const below = (await shown(page, 'The text below.').boundingBox())!;
  expect(heading.height).toBeGreaterThan(30);
  expect(below.y).toBeGreaterThanOrEqual(heading.y + heading.height);
});

test('words typed after Begin are the message, and no shortcuts', async ({ page, server }) => {
  await signIn(page, server);
  await page.keyboard.press('n');
  await page.getByLabel('Name', { exact: true }).fill('Quick');
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.type('please is it ready?');
  await expect(box(page)).toHaveValue('please is it ready?');
  await expect(box(page)).toBeFocused();
  await expect(page.getByRole('list', { name: 'Who takes part' })).toBeVisible();
});

test('opening a room leads the keyboard to its message field', async ({ page, server }) => {
  await server.begin('One');
  await server.begin('Two');
  await signIn(page, server);
  for (const name of ['One', 'Two', 'One']) {
    await page.getByRole('link', { name }).click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await expect(box(page)).toBeFocused();
  }
});

test('the first Tab leads past the list', async ({ page, server }) => {
  const thread = await server.begin('One');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(box(page)).toBeFocused();
  // As after a click beside the page: Tab then begins at its start.
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
  });
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the message field' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(box(page)).toBeFocused();
  expect(page.url()).toBe(`${server.url}/t/${thread}`);
});

test('rows keep their places while messages come, until one returns to the window', async ({ page, server }) => {
  const rooms = [];
  for (const name of ['First', 'Second', 'Third']) rooms.push(await server.begin(name));
  await signIn(page, server);
  const rows = page.getByRole('navigation').getByRole('link', { name: /First|Second|Third/ });
  await expect(rows).toHaveText([/Third/, /Second/, /First/]);
  await server.say(rooms[0]!, 'something new');
  await expect(rows.filter({ hasText: 'something new' })).toBeVisible();
  await expect(rows).toHaveText([/Third/, /Second/, /First/]);
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(rows).toHaveText([/First/, /Third/, /Second/]);
});

test('a link with a key signs in the tab that is open already', async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  // The page loads again with the new identity.
  await Promise.all([page.waitForEvent('load'), page.evaluate((url) => (location.href = url), server.page)]);
  await page.getByRole('button', { name: 'Settings' }).click();
  await expect(page.getByRole('menuitem', { name: /Sign out/ })).toBeVisible();
});

test('your own words without a key are not called unproven where you wrote them', async ({ page, server }) => {
  const thread = await server.begin('Open');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'mine');
  await expect(messagesOf(page, 'You')).toHaveCount(1);
  await expect(page.getByText('not signed in')).toHaveCount(0);
});

test('an agent has one name and one colour in every list and room', async ({ page, server }) => {
  const colours = new Set<string>();
  await signIn(page, server);
  // Names with other colours: of two with the same one, the later in a room has the next.
  const free = ['one', 'two', 'six', 'ten'].filter((name) => hueOf(name) !== hueOf('ana'));
  for (const others of [[], free.slice(0, 1), free.slice(0, 2)]) {
    const name = `With ${others.length}`;
    const thread = await server.begin(
      name,
      others.map((other) => `${other}:terse`),
      'mention_only',
    );
    await server.invite(thread, 'ana', { client: 'coder', model: 'demo', nickname: 'Ana Lind' });
    await page.goto(`${server.url}/t/${thread}`);
    const face = participant(page, 'Ana Lind').locator('.bg-who').first();
    await expect(face).toBeVisible();
    colours.add(await face.evaluate((node) => getComputedStyle(node).backgroundColor));
    await say(page, '@ana hello');
    await expect(messagesOf(page, 'Ana Lind')).toHaveCount(1);
    await page.goto(server.url);
    await expect(page.getByRole('link', { name: new RegExp(`${name}.*Ana Lind:`, 's') })).toBeVisible();
  }
  expect(colours.size).toBe(1);
});

test('the name of every control begins with what is written on it', async ({ page, server }) => {
  const thread = await server.begin('Named', ['terse']);
  const { event } = await server.say(thread, 'hello');
  await server.say(thread, 'one between');
  await server.say(thread, 'an answer', 'user', { meta: { reply_to: event.id } });
  await server.begin('Another');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'an answer')).toBeVisible();
  const { violations } = await new AxeBuilder({ page })
    .options({ runOnly: ['label-content-name-mismatch'], rules: { 'label-content-name-mismatch': { enabled: true } } })
    .analyze();
  expect(violations.flatMap(({ nodes }) => nodes.map((node) => node.html))).toEqual([]);
});
