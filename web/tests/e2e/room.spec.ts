/** The look of a room: its measure, the row of an agent that thinks, rounds, and the floor in one place. */

import { running, settled } from '../screens/stage';
import { accessible, expect, messagesOf, say, shown, signIn, test } from './fixture';

test('a line of text is at most 720 pixels long', async ({ page, server }) => {
  const thread = await server.begin('Wide');
  await server.say(thread, 'A sentence that has many words, so that it fills every line that it is given. '.repeat(8));
  for (const width of [1440, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${server.url}/t/${thread}`);
    const box = (await messagesOf(page, 'You').locator('.prose').boundingBox())!;
    expect(box.width).toBeLessThanOrEqual(720);
    expect(box.width).toBeGreaterThan(680);
  }
});

test('an agent that thinks has a row where its reply will be, and nothing else moves', async ({ page, server }) => {
  const thread = await server.begin('Thinking', ['sleepy', 'planner'], 'mention_only');
  // Enough to fill the view: a list that is shorter grows upwards from the message field.
  for (let n = 0; n < 20; n += 1) await server.say(thread, `Message number ${n}`);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(shown(page, 'Message number 19')).toBeInViewport();
  await page.evaluate(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) =>
      list.getEntries().forEach((entry) => shifts.push((entry as unknown as { value: number }).value)),
    ).observe({ type: 'layout-shift' });
  });
  await say(page, '@planner and then @sleepy');
  await expect(page.getByRole('article', { name: 'sleepy is thinking' })).toContainText(/thinking · \d/);
  await expect(messagesOf(page, 'planner')).toHaveCount(1);
  const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
  expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThanOrEqual(0.02);
});

test('a round is one block: a line below its last reply says what came of it', async ({ page, server }) => {
  const thread = await server.begin('Round', ['coder', 'planner', 'quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@coder and @planner, what do you think?');
  await settled(server, thread);
  const line = page.getByRole('button', { name: /2 replies · .* s .*· quiet passed/ });
  await line.click();
  await expect(shown(page, 'Asked about this message, in order')).toBeVisible();
  const note = messagesOf(page, 'coder').getByTestId('note');
  await expect(note).toHaveCSS('opacity', '0');
  await messagesOf(page, 'coder').hover();
  await expect(note).toHaveCSS('opacity', '1');
});

test('beside the reasons, a reader may see what an agent got as its input', async ({ page, server }) => {
  const thread = await server.begin('Input', ['coder', 'quiet'], 'mention_only');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'The launch is on Friday.');
  await say(page, '@coder when is the launch?');
  await settled(server, thread);
  await say(page, 'Said afterwards.');
  await page.getByRole('button', { name: /^1 reply/ }).click();
  await page.getByRole('button', { name: 'What did it see?' }).click();
  const messages = page.getByRole('group', { name: 'Messages and the request' });
  await expect(messages).toContainText('The launch is on Friday.');
  await expect(messages).toContainText('@coder when is the launch?');
  await expect(messages).not.toContainText('Said afterwards.');
  await expect(page.getByRole('group', { name: 'Rules and participants' })).toContainText('coder');
  await expect(page.getByText('are not part of it.')).toBeVisible();
  await accessible(page);
});

test('who speaks is shown once: in the rail if there is room, and in the strip otherwise', async ({ page, server }) => {
  const thread = await server.begin('Floor', ['sleepy']);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@sleepy go');
  await running(server, thread, 'sleepy');
  const floor = page.getByRole('group', { name: 'Who speaks' });
  const rail = page.getByRole('complementary', { name: 'Participants' });
  await expect(rail.getByRole('group', { name: 'Who speaks' })).toBeVisible();
  await expect(floor).toHaveCount(1);
  await page.getByRole('button', { name: 'Participants' }).click();
  await expect(rail).toHaveCount(0);
  await expect(floor).toHaveCount(1);
  await page.getByRole('button', { name: 'Participants' }).click();
  await page.setViewportSize({ width: 1000, height: 900 });
  await expect(floor.filter({ visible: true })).toHaveCount(1);
});

test('at rest, pausing and stopping are quiet; while agents speak they are not', async ({ page, server }) => {
  const thread = await server.begin('Quiet', ['sleepy']);
  await page.goto(`${server.url}/t/${thread}`);
  const stop = page.getByRole('button', { name: 'Stop', exact: true });
  await expect(stop).toBeDisabled();
  await expect(stop).toHaveClass(/btn-quiet/);
  await say(page, '@sleepy go');
  await expect(stop).toBeEnabled();
  await expect(stop).not.toHaveClass(/btn-quiet/);
});
