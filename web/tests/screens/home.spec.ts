import { expect, test } from '@playwright/test';
import { Server } from '../server';
import { running, SESSIONS, settled, shoot, TERMINALS, wish, type Shot } from './stage';

const SIZES: Omit<Shot, 'name'>[] = [
  { theme: 'light', width: 1440, height: 900 },
  { theme: 'dark', width: 1440, height: 900 },
  { theme: 'light', width: 390, height: 844 },
  { theme: 'dark', width: 390, height: 844 },
];

test('home with requests, agents at work and rooms that moved', async ({ page }) => {
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');
  const server = await new Server(SESSIONS).start();
  for (const room of ['planner', 'asker']) await wish(server, room);
  const policy = { name: 'open', max_exchanges_without_human: 3 };
  const loop = await server.begin('Loop', ['one:terse', 'two:terse'], policy);
  await server.say(loop, 'Discuss.');
  await settled(server, loop);
  const queue = await server.begin('Queue redesign', ['sleepy', 'quiet']);
  await server.say(queue, '@sleepy @quiet what would the window cost us?');
  await running(server, queue, 'sleepy');
  const suite = await server.begin('Nightly suite', ['broken', 'tester:elsewhere']);
  await server.say(suite, '@broken run it');
  await settled(server, suite);
  await server.say(suite, '@user p95 falls to 62 ms if the retry moves to the client.', 'tester');
  await page.goto(server.page);
  await expect(page.getByRole('region', { name: 'Needs you' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'At work' })).toBeVisible();
  await shoot(page, 'home', SIZES);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Look at the conversation' }).click();
  await shoot(page, 'home-sheet', SIZES.slice(2));
  await server.stop();
});
