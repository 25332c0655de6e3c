/**
 * Gatherings of people and agents: the piece goes round, the composer follows it, and the past can
 * be replayed.
 */

import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import type { Gathering, NewGathering } from '../../src/lib/types';
import type { Server } from '../server';
import { accessible, box, expect, messagesOf, say, signInWith, shown, signIn, test } from './fixture';

const NARROW = { width: 390, height: 844 };

type Members = NewGathering['participants'];

const ANN: Members[number] = { name: 'Ann', number: 1, kind: 'human', participant_id: 'ann' };
const BO: Members[number] = { name: 'Bo', number: 2, role: 'speaker', kind: 'human', participant_id: 'bo' };
/** An agent of the registry. */
const HAL: Members[number] = { name: 'Hal', number: 3, role: 'harvester', kind: 'agent', client: 'planner' };

/** Opens a gathering. By default, beats are too far apart for a test to see one. */
async function gather(server: Server, participants = [ANN, BO, HAL], more = {}): Promise<string> {
  const { id } = await server.post<Gathering>('/gatherings', {
    title: 'Council',
    rhythm: 'council',
    opening_question: 'What now?',
    breath: [1, 1, 1],
    beats_per_turn: 3,
    beat_interval_seconds: 600,
    last_word_seconds: 60,
    participants,
    ...more,
  });
  return id;
}

/** Opens the gathering as Ann, with a token of her own. */
async function asAnn(page: Page, server: Server, id: string): Promise<void> {
  const { token } = await server.post<{ token: string }>('/tokens', { principal: 'ann', kind: 'human' });
  await signInWith(page, server, token);
  await page.goto(`${server.url}/t/${id}`);
}

function turn(page: Page): Locator {
  return page.getByRole('region', { name: 'Your turn' });
}

function panel(page: Page): Locator {
  return page.getByRole('region', { name: 'Gathering' });
}

function circle(page: Page): Locator {
  return page.getByRole('region', { name: 'The circle', exact: true });
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
  await expect(turn(page)).toContainText(/\d:\d\d left \(nudge in \d/);
  await expect(turn(page)).toContainText('Inhale, round 1 of 1.');
  await expect(page).toHaveTitle(/^1 needs you · /);
  await circle(page).getByText('What you are told at the start').click();
  await expect(circle(page).getByText('You are Ann (1) in this gathering.')).toBeVisible();
  await accessible(page);

  // Speaking does not pass the piece.
  await say(page, 'I see three things.');
  await expect(messagesOf(page, 'You')).toContainText('I see three things.');
  await expect(turn(page)).toBeVisible();
  await expect(seat(page, 'Ann')).toContainText('spoke 1 time');
  await expect(page).toHaveTitle(/^1 needs you · /);

  await turn(page).getByRole('button', { name: 'Pass', exact: true }).click();
  await expect(turn(page)).toHaveCount(0);
  await expect(page).not.toHaveTitle(/needs? you/);
  await expect(box(page)).toHaveCount(0);
  await expect(page.getByText(/Bo \(2\) has the piece\. You had your turn/)).toBeVisible();
  await expect(panel(page).getByText('Bo (2) has the piece.')).toBeVisible();
  await expect(seat(page, 'Bo')).toContainText('has the piece');
  await expect(seat(page, 'Hal')).toContainText('harvester, not in the speaking order');
  // The ring shows it, so the conversation has no line for it.
  await expect(shown(page, /passed the piece/)).toHaveCount(0);
  await accessible(page);

  // Notifications count the piece in any person's hand. The page knows that it is not hers.
  await server.say(id, 'I see a fourth.', 'bo');
  await expect(messagesOf(page, 'Bo')).toContainText('I see a fourth.');
  await expect(page).not.toHaveTitle(/needs? you/);
  await server.say(id, 'And that is all.\n\nI pass', 'bo');
  await expect(turn(page)).toContainText('Hold, round 1 of 1.');
  await turn(page).getByRole('button', { name: 'Pass to…' }).click();
  await page.getByRole('menuitem', { name: 'Bo' }).click();
  await expect(page.getByText('Bo (2) has the piece.').last()).toBeVisible();
  await expect(seat(page, 'Bo')).toContainText('has the piece');

  await panel(page).getByRole('button', { name: 'End…' }).click();
  await expect(page.getByRole('dialog')).toContainText('The harvester writes the harvest now.');
  await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
  const harvest = page.getByRole('article', { name: 'Harvest' });
  await expect(harvest).toContainText('Revenue grew 8 %');
  await expect(panel(page).getByText('A person ended the gathering.')).toBeVisible();
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
  // The present is still shown as it is.
  await expect(panel(page).getByText('Bo (2) has the piece.')).toBeVisible();

  await page.getByRole('button', { name: 'Play the gathering' }).click();
  await expect(page.getByRole('button', { name: 'Pause the replay' })).toBeVisible();
  await expect(seat(page, 'Bo')).toContainText('has the piece');
  // The replay stops at the present.
  await expect(page.getByRole('button', { name: 'Play the gathering' })).toBeVisible();
  await expect(replay(page)).toHaveAttribute('aria-valuetext', 'Now');
  await expect(messagesOf(page, 'You').first()).not.toHaveClass(/bg-tint/);
});

test('whoever is no member reads along, stops it, and lets it go on', async ({ page, server }) => {
  const id = await gather(server);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  await expect(page.getByText('Until it closes, only its members write here.')).toBeVisible();
  await expect(box(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(panel(page).getByText('stopped')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('The gathering is stopped. Let it go on?');
  await page.getByRole('main').getByRole('button', { name: 'Continue' }).first().click();
  await expect(panel(page).getByText('nudge in')).toBeVisible();
});

test('whoever sits at this computer says a last word, and the piece goes on to an agent', async ({ page, server }) => {
  const members: Members = [
    { name: 'Mia', number: 1, kind: 'human' },
    { name: 'Ana', number: 2, kind: 'agent', client: 'terse' },
    HAL,
  ];
  const times = { beats_per_turn: 1, beat_interval_seconds: 1, last_word_seconds: 600 };
  const id = await gather(server, members, times);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  await expect(seat(page, 'Mia')).toContainText('(you)');
  await expect(turn(page).getByRole('alert')).toHaveText('Your turn is up. What would you like to say last?');
  await expect(turn(page)).toContainText('last word: 9:');
  await expect(turn(page)).toContainText('after you Ana (2)');
  await say(page, 'That is all.');
  await expect(messagesOf(page, 'Ana').first()).toContainText('had the piece');
  // The next round begins with the first number.
  await expect(turn(page)).toContainText('Your turn is up.');
  await expect(circle(page)).toContainText('Hold, round 1 of 1.');
  await server.post(`/gatherings/${id}/end`, {});
  await expect(messagesOf(page, 'Hal')).toContainText('wrote the harvest');
  await expect(circle(page).getByRole('list', { name: 'Phases' })).toContainText('Exhale: 1 round, cut short');
});

test('the harvest is asked of whoever sits at this computer, and closes the gathering', async ({ page, server }) => {
  const members: Members = [ANN, BO, { name: 'Mia', number: 3, role: 'harvester', kind: 'human' }];
  // Mia is the first person without an id, and so the one who opens the gathering.
  const id = await gather(server, members);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${id}`);
  await expect(page.getByText('You write the harvest once the others have spoken.')).toBeVisible();
  for (let round = 0; round < 3; round += 1) {
    await server.say(id, 'So it is.\n\nI pass', 'ann');
    await server.say(id, 'It is.\n\nI pass', 'bo');
  }
  await expect(turn(page)).toContainText('You write the harvest');
  await expect(turn(page)).toContainText('waits for it until');
  await expect(page).toHaveTitle(/^1 needs you · /);
  await accessible(page);
  await say(page, '## What emerged\n\nAgreement.');
  await expect(page.getByRole('article', { name: 'Harvest' })).toContainText('Agreement.');
  await expect(panel(page).getByText('The gathering is closed.')).toBeVisible();
  await expect(page).not.toHaveTitle(/needs? you/);
  await expect(turn(page)).toHaveCount(0);
  await expect(box(page)).toBeVisible();
});

test('whoever is removed keeps their place as somebody who is gone', async ({ page, server }) => {
  const cy: Members[number] = { name: 'Cy', number: 4, kind: 'human', participant_id: 'cy' };
  const id = await gather(server, [ANN, BO, HAL, cy]);
  await asAnn(page, server, id);
  await server.say(id, 'First.\n\nI pass', 'ann');
  await server.say(id, 'Second.', 'bo');
  await expect(seat(page, 'Bo')).toContainText('has the piece');
  await server.control(id, { uninvite: { participant_id: 'bo' } });
  await expect(seat(page, 'Bo')).toContainText('left');
  await expect(seat(page, 'Cy')).toContainText('has the piece');
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
  await expect(panel(page).getByText('Ann (1) has the piece.')).toBeVisible();
  await expect(seat(page, 'Ann')).toHaveCount(0);
  await page.getByRole('button', { name: 'Show the circle' }).click();
  await expect(seat(page, 'Ann')).toBeVisible();
});

test('a talking circle is begun in the page, and ends with a harvest of what was said', async ({ page, server }) => {
  await signIn(page, server);
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByRole('button', { name: 'Talking circle instead…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New talking circle' });
  await expect(dialog.getByRole('status')).toHaveText('Write the question that the circle opens with.');
  await dialog.getByLabel('Opening question').fill('What makes our releases slow?');
  await dialog.getByRole('checkbox', { name: 'You' }).uncheck();
  for (const speaker of ['writer', 'critic']) await dialog.getByRole('checkbox', { name: speaker }).check();
  await expect(dialog.getByRole('status')).toHaveText('Choose who writes the harvest.');
  await dialog.getByLabel('Harvester').selectOption('analyst');
  await accessible(page);
  await dialog.getByRole('button', { name: 'Begin' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /gathering/i })).toBeVisible();
  const harvest = page.getByRole('article', { name: /^Harvester/ });
  await expect(harvest).toContainText('What emerged');
  await expect(harvest).toContainText('Writer: Put simply: releases');
});
