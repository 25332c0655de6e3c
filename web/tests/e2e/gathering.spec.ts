/** A gathering of two people and a harvester: the piece goes round, the composer follows it, and the past can be played again. */

import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import type { Server } from '../server';
import { accessible, box, expect, messagesOf, say, shown, signIn, test } from './fixture';

const NARROW = { width: 390, height: 844 };

/** Ann and Bo speak, an agent of the registry gathers. Beats are so far apart that no test meets one. */
async function gather(server: Server): Promise<string> {
  const { id } = await server.post<{ id: string }>('/gatherings', {
    from: 'user',
    title: 'Council',
    rhythm: 'council',
    opening_question: 'What now?',
    breath: [1, 1, 1],
    beats_per_turn: 3,
    beat_interval_seconds: 600,
    last_word_seconds: 60,
    participants: [
      { name: 'Ann', number: 1, role: 'speaker', kind: 'human', participant_id: 'ann' },
      { name: 'Bo', number: 2, role: 'speaker', kind: 'human', participant_id: 'bo' },
      { name: 'Hal', number: 3, role: 'harvester', kind: 'agent', client: 'planner', participant_id: 'hal' },
    ],
  });
  return id;
}

/** Opens the gathering as Ann, who shows a token of her own. */
async function asAnn(page: Page, server: Server, id: string): Promise<void> {
  const { token } = await server.post<{ token: string }>('/tokens', { principal: 'ann', kind: 'human' });
  await page.goto(`${server.url}/#key=${token}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.goto(`${server.url}/t/${id}`);
}

function turn(page: Page): Locator {
  return page.getByRole('region', { name: 'Your turn' });
}

function panel(page: Page): Locator {
  return page.getByRole('region', { name: 'Gathering' });
}

function seat(page: Page, name: string): Locator {
  return page.getByRole('list', { name: 'The circle, by number' }).getByRole('listitem').filter({ hasText: name });
}

function replay(page: Page): Locator {
  return page.getByRole('slider', { name: 'Moment of the gathering' });
}

test('the piece goes round: a banner, words, a pass, a closed composer, and the harvest', async ({ page, server }) => {
  const id = await gather(server);
  await asAnn(page, server, id);
  await expect(turn(page)).toContainText('You have the piece');
  await expect(turn(page)).toContainText('beat 0 of 3, next in');
  await expect(turn(page)).toContainText('Inhale, round 1 of 1.');
  await expect(page).toHaveTitle(/^1 needs you · /);
  await accessible(page);

  // To speak is not to pass.
  await say(page, 'I see three things.');
  await expect(messagesOf(page, 'You')).toContainText('I see three things.');
  await expect(turn(page)).toBeVisible();
  await expect(seat(page, 'Ann')).toContainText('spoke 1 time');
  await expect(page).toHaveTitle(/^1 needs you · /);

  await turn(page).getByRole('button', { name: 'Pass', exact: true }).click();
  await expect(turn(page)).toHaveCount(0);
  await expect(page).not.toHaveTitle(/needs? you/);
  await expect(box(page)).toHaveCount(0);
  await expect(page.getByText('Bo (2) has the talking piece. You had it in this round')).toBeVisible();
  await expect(panel(page).getByText('The piece is with Bo (2).')).toBeVisible();
  await expect(seat(page, 'Bo')).toContainText('has the piece');
  await expect(seat(page, 'Hal')).toContainText('harvester, outside the speaking order');
  await expect(shown(page, 'You passed the piece. The piece is with Bo (2).')).toBeVisible();
  await accessible(page);

  await server.say(id, 'I see a fourth.\n\nI pass', 'bo');
  await expect(turn(page)).toContainText('Hold, round 1 of 1.');
  await turn(page).getByRole('button', { name: 'Pass to…' }).click();
  await page.getByRole('menuitem', { name: 'Bo' }).click();
  await expect(page.getByText('Bo (2) has the talking piece.')).toBeVisible();
  await expect(shown(page, 'You passed the piece to Bo.')).toBeVisible();

  await panel(page).getByRole('button', { name: 'End…' }).click();
  await expect(page.getByRole('dialog')).toContainText('The harvester writes the harvest at once.');
  await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
  const harvest = page.getByRole('article', { name: 'Harvest' });
  await expect(harvest).toContainText('Revenue grew 8 %');
  await expect(box(page)).toBeVisible();
  await accessible(page);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    harvest.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(readFileSync(await file.path(), 'utf8')).toMatch(/^# Council\n[^]*What now\?[^]*## Harvest\n[^]*Revenue grew/);
});

test('the past is played again, with the words that were said then', async ({ page, server }) => {
  const id = await gather(server);
  await asAnn(page, server, id);
  await say(page, 'The first word.');
  await expect(messagesOf(page, 'You')).toContainText('The first word.');
  await turn(page).getByRole('button', { name: 'Pass', exact: true }).click();
  await expect(seat(page, 'Bo')).toContainText('has the piece');
  await server.say(id, 'The second word.', 'bo');
  await expect(seat(page, 'Bo')).toContainText('spoke 1 time');

  // Opened, the first round, and the piece with Ann.
  await replay(page).focus();
  await page.keyboard.press('Home');
  await expect(replay(page)).toHaveAttribute('aria-valuetext', /^1 of \d+: .*opened a gathering/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(seat(page, 'Ann')).toContainText('has the piece');
  await expect(seat(page, 'Ann')).not.toContainText('spoke');
  await page.keyboard.press('ArrowRight');
  await expect(replay(page)).toHaveAttribute('aria-valuetext', /You spoke\.$/);
  await expect(messagesOf(page, 'You').first()).toHaveClass(/bg-tint/);
  await expect(seat(page, 'Ann')).toContainText('spoke 1 time');
  // What is so now is told as it is.
  await expect(panel(page).getByText('The piece is with Bo (2).')).toBeVisible();

  await page.getByRole('button', { name: 'Play the gathering' }).click();
  await expect(page.getByRole('button', { name: 'Pause the replay' })).toBeVisible();
  await expect(seat(page, 'Bo')).toContainText('has the piece');
  // It stops where the present begins.
  await expect(page.getByRole('button', { name: 'Play the gathering' })).toBeVisible();
  await expect(replay(page)).toHaveAttribute('aria-valuetext', 'Now');
  await expect(messagesOf(page, 'You').first()).not.toHaveClass(/bg-tint/);
});

test('whoever is no member reads along, stops it, and lets it go on', async ({ page, server }) => {
  const id = await gather(server);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  await expect(page.getByText('Only members of the gathering speak here until it is closed.')).toBeVisible();
  await expect(box(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(panel(page).getByText('stopped')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('A person stopped the gathering.');
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(panel(page).getByText('next in')).toBeVisible();
});

test('a small screen has a list in place of the circle, and whoever hides it finds it hidden', async ({
  page,
  server,
}) => {
  const id = await gather(server);
  await page.setViewportSize(NARROW);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  await expect(seat(page, 'Ann')).toBeInViewport();
  await expect(panel(page).locator('svg ellipse')).toBeHidden();
  await accessible(page);
  await page.getByRole('button', { name: 'Hide the circle' }).click();
  await expect(seat(page, 'Ann')).toHaveCount(0);
  await page.reload();
  await expect(panel(page).getByText('The piece is with Ann (1).')).toBeVisible();
  await expect(seat(page, 'Ann')).toHaveCount(0);
  await page.getByRole('button', { name: 'Show the circle' }).click();
  await expect(seat(page, 'Ann')).toBeVisible();
});
