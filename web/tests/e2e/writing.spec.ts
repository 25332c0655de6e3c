/** The composer. */

import { running, settled } from '../screens/stage';
import { box, expect, messagesOf, say, shown, test } from './fixture';

test('names are completed by keyboard, with nickname, role and state', async ({ page, server }) => {
  const thread = await server.begin('Names', ['coder']);
  await server.invite(thread, 'planner', { client: 'planner', model: 'demo', nickname: 'Paula', roles: ['architect'] });
  await page.goto(`${server.url}/t/${thread}`);
  await box(page).pressSequentially('well, @');
  await expect(page.getByRole('option')).toHaveCount(2);
  await page.keyboard.type('arch');
  await expect(page.getByRole('option')).toHaveText(/Paula.*@planner · architect · ready/);
  await page.keyboard.press('Tab');
  await expect(box(page)).toHaveValue('well, @planner ');
  await expect(page.getByRole('option')).toHaveCount(0);
  await page.keyboard.type('and @');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(box(page)).toHaveValue('well, @planner and @planner ');
  await page.keyboard.type('@');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('option')).toHaveCount(0);
});

test('Enter sends, Shift+Enter breaks the line, and a composition is left alone', async ({ page, server }) => {
  const thread = await server.begin('Keys');
  await page.goto(`${server.url}/t/${thread}`);
  await box(page).fill('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await box(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true });
  await expect(box(page)).toHaveValue('one\ntwo');
  await page.keyboard.press('Enter');
  await expect(box(page)).toHaveValue('');
  await expect(messagesOf(page, 'You')).toContainText('one');
});

test('the page says before sending who will answer', async ({ page, server }) => {
  const thread = await server.begin('Forecast', ['coder', 'quiet']);
  await server.control(thread, { mute: { targets: ['quiet'] } });
  await page.goto(`${server.url}/t/${thread}`);
  await box(page).fill('@coder hm?');
  await expect(page.locator('.will-answer')).toHaveText(/Will answer: coder\.\s*quiet: is muted\./);
  await box(page).fill('hm?');
  await expect(page.locator('.will-answer')).toHaveText(/coder may answer\.\s*quiet: is muted\./);
  await page.getByRole('button', { name: 'To: everyone' }).click();
  await page.getByRole('menuitem', { name: 'coder' }).click();
  await expect(page.locator('.will-answer')).toContainText('Will answer: coder');
  await page.keyboard.press('Enter');
  await expect(messagesOf(page, 'You')).toContainText('to coder');
});

test('the code of a message is copied as it stands', async ({ page, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  const thread = await server.begin('Copies');
  await server.say(thread, 'Here:\n\n```rust\nfn main() {\n    println!("<b>");\n}\n```');
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('    println!("<b>");');
});

test('commands are offered, run by the server, and never said', async ({ page, server }) => {
  const thread = await server.begin('Commands', ['coder', 'quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await box(page).pressSequentially('/mu');
  await expect(page.getByRole('option', { name: /\/mute/ })).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(box(page)).toHaveValue('/mute ');
  await expect(page.getByRole('option', { name: /<id>….*\/mute critic/ })).toBeVisible();
  await page.keyboard.type('@qui');
  await page.keyboard.press('Tab');
  await expect(box(page)).toHaveValue('/mute @quiet ');
  await page.keyboard.press('Enter');
  await expect(shown(page, /muted quiet/)).toBeVisible();
  await expect(box(page)).toHaveValue('');
  await say(page, '/grup list');
  await expect(page.getByText('Unknown command /grup')).toBeVisible();
  await expect(box(page)).toHaveValue('/grup list');
  await expect(messagesOf(page, 'You')).toHaveCount(0);
});

test('a draft is kept for each conversation, across a reload', async ({ page, server }) => {
  const one = await server.begin('One');
  await server.begin('Two');
  await page.goto(`${server.url}/t/${one}`);
  await box(page).fill('half a thought');
  await page.getByRole('link', { name: 'Two' }).click();
  await expect(box(page)).toHaveValue('');
  await expect(page.getByRole('link', { name: 'One' })).toContainText('Draft');
  await page.reload();
  await page.getByRole('link', { name: 'One' }).click();
  await expect(box(page)).toHaveValue('half a thought');
});

test('what could not be sent stays, survives a reload, and goes out once', async ({ page, server }) => {
  const thread = await server.begin('Lost and found', ['quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  await server.kill();
  await say(page, 'do not lose me');
  await expect(page.getByText('Not sent yet. It is kept here.')).toBeVisible();
  await expect(page.getByText('Connection lost.')).toBeVisible();
  await server.start();
  await page.reload();
  await expect(page.getByText('Not sent')).toHaveCount(0);
  await expect(messagesOf(page, 'You')).toHaveCount(1);
  await settled(server, thread);
  const { events } = await server.get<{ events: { type: string; content: unknown }[] }>(`/threads/${thread}/events`);
  expect(events.filter((event) => event.content === 'do not lose me')).toHaveLength(1);
});

test('what a reload cuts off arrives once, and nobody has to ask for it', async ({ page, server }) => {
  const thread = await server.begin('Cut off');
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'You began the conversation')).toBeVisible();
  // The first message arrives, but its answer does not reach the page. The second one waits behind
  // it.
  let posts = 0;
  await page.route(`**/threads/${thread}/events`, async (route) => {
    posts += 1;
    await route.fetch();
  });
  for (const text of ['it arrived', 'it did not arrive']) {
    await say(page, text);
    await expect(shown(page, text)).toBeVisible();
  }
  await expect.poll(() => posts).toBe(1);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.reload();
  for (const text of ['it arrived', 'it did not arrive']) await expect(shown(page, text)).toHaveCount(1);
  await expect(messagesOf(page, 'You')).toHaveCount(2);
  await expect(page.getByText('Not sent.')).toHaveCount(0);
});

test('each Enter sends what was written then, also while the conversation still loads', async ({ page, server }) => {
  const thread = await server.begin('Slow to load');
  let load = (): void => {};
  const loads = new Promise<void>((resolve) => (load = resolve));
  await page.route('**/threads/*/events?*', async (route) => {
    if (route.request().method() === 'GET') await loads;
    await route.continue();
  });
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'one');
  await say(page, 'two');
  load();
  await expect(messagesOf(page, 'You')).toContainText(['one', 'two']);
  await expect(box(page)).toHaveValue('');
});

test('a reply points to its message and leads back to it', async ({ page, server }) => {
  const thread = await server.begin('Replies');
  await server.say(thread, 'the first of many');
  for (let n = 0; n < 40; n += 1) await server.say(thread, `filler ${n}\n\nmore`);
  const { events } = await server.get<{ events: { seq: number; content: unknown }[] }>(`/threads/${thread}/events`);
  const seq = events.find((event) => event.content === 'the first of many')!.seq;
  await page.goto(`${server.url}/t/${thread}#${seq}`);
  const first = page.getByRole('article').filter({ hasText: 'the first of many' });
  // The list moves while its rows are measured, so the pointer must move again to be over the row.
  await expect(async () => {
    await page.mouse.move(0, 0);
    await first.hover();
    await first.getByRole('button', { name: 'Reply' }).click({ timeout: 2_000 });
  }).toPass();
  await expect(page.getByText('Reply to You:')).toBeVisible();
  await say(page, 'answering the first');
  const answer = page.getByRole('article').filter({ hasText: 'answering the first' });
  await expect(answer).toBeVisible();
  await answer.getByRole('button', { name: /^Replies to You/ }).click();
  await expect(first.last()).toBeInViewport();
});

test('the strip shows who speaks, who is next, who passed, and how much is used', async ({ page, server }) => {
  const thread = await server.begin('Strip', ['coder', 'sleepy', 'quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@coder and @sleepy');
  await running(server, thread, 'sleepy');
  const strip = page.getByRole('group', { name: 'Who speaks' });
  await expect(strip.getByRole('img', { name: 'coder: answered' })).toBeVisible();
  await expect(strip).toContainText(/sleepy\s*thinking · \d/);
  await expect(strip).toContainText(/quiet\s*may reply/);
  await expect(strip).toContainText('1 of 3 replies');
});

test('a pasted image is told about, and the text beside it stays', async ({ page, server }) => {
  const thread = await server.begin('Images');
  await page.goto(`${server.url}/t/${thread}`);
  await box(page).fill('before ');
  const paste = (text: string) =>
    box(page).evaluate((area, text) => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'x.png', { type: 'image/png' }));
      if (text) data.setData('text/plain', text);
      return area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
  // The browser inserts the text itself: the event is not cancelled.
  expect(await paste('')).toBe(true);
  await expect(page.getByText('Images cannot be sent yet.', { exact: true })).toBeVisible();
  expect(await paste('words')).toBe(true);
  await expect(page.getByText('The text beside them is kept.')).toBeVisible();
  await expect(box(page)).toHaveValue('before ');
});
