/** Tasks of a new user, without documentation. */

import { readFileSync } from 'node:fs';
import { settled } from '../screens/stage';
import { box, expect, held, messagesOf, participant, say, shown, signIn, test } from './fixture';

test('an example answers at one click, and says why', async ({ page, server }) => {
  await page.goto(server.url);
  await page.getByRole('button', { name: /Start.*second opinion/ }).click();
  await expect(messagesOf(page, 'analyst').first()).toBeVisible();
  await expect(page).toHaveURL(/\/t\/[0-9a-f-]+$/);
  await expect(shown(page, 'writer passed')).toBeVisible();
  await messagesOf(page, 'analyst').first().getByRole('button', { name: 'why?' }).click();
  await expect(page.getByText('Asked about this message')).toBeVisible();
  await expect(page.getByText('named', { exact: true })).toBeVisible();
});

test('a conversation of one’s own: create, invite, mention, mute, rename, export, archive', async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Release review');
  await page.getByRole('checkbox', { name: 'quiet' }).check();
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Release review' })).toBeVisible();
  await expect(participant(page, 'quiet')).toBeVisible();

  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByRole('button', { name: /coder.*Writes code/ }).click();
  await page.getByLabel('Nickname').fill('Ada');
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('ada');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(participant(page, 'Ada')).toContainText('ready');

  await say(page, '@Ada show me');
  await expect(messagesOf(page, 'Ada')).toBeVisible();
  await expect(shown(page, 'quiet passed')).toBeVisible();
  await expect(page.locator('.hljs-keyword').first()).toBeVisible();

  await participant(page, 'Ada').getByRole('button', { name: 'Actions for Ada' }).click();
  await page.getByRole('menuitem', { name: 'Mute' }).click();
  await expect(participant(page, 'Ada')).toContainText('muted');
  await participant(page, 'Ada').getByRole('button', { name: 'Unmute Ada' }).click();
  await expect(participant(page, 'Ada')).toContainText('ready');

  const more = page.getByRole('button', { name: 'More about this conversation' });
  await more.click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Review 2.4');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Review 2.4' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Review 2.4' })).toBeVisible();

  for (const [label, has] of [
    ['Export as Markdown', '# Review 2.4'],
    ['Export as JSONL', '"type":"thread.renamed"'],
  ] as const) {
    await more.click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: label }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toContain(has);
  }

  await more.click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await expect(page.getByText('This conversation is archived')).toBeVisible();
  await page.getByRole('button', { name: 'Open again' }).click();
  await expect(box(page)).toBeVisible();
});

test('an id that is taken is never offered and never sent', async ({ page, server }) => {
  const thread = await server.begin('Twins', ['coder']);
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByRole('button', { name: /coder.*Writes code/ }).click();
  await expect(page.getByLabel('Id', { exact: true })).toHaveValue('coder-2');
  await page.getByLabel('Id', { exact: true }).fill('Coder');
  await expect(page.getByText('is already here')).toBeVisible();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true })).toBeDisabled();
  await page.getByLabel('Id', { exact: true }).fill('');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(participant(page, 'coder')).toHaveCount(2);
});

test('an agent that runs elsewhere gets words to join with', async ({ page, server }) => {
  const thread = await server.begin('Elsewhere');
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByLabel('Client').fill('codex');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(page.getByText('Give it these lines')).toBeVisible();
  await expect(page.getByRole('dialog').locator('pre').first()).toContainText(thread);
  await expect(page.getByRole('dialog').locator('pre').last()).toContainText(/^curl .*as=codex&turns=1'$/);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(participant(page, 'codex')).toContainText('away');
});

test('pause, resume, stop one turn, stop everything', async ({ page, server }) => {
  const thread = await server.begin('Brakes', ['sleepy', 'coder'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@sleepy think');
  await expect(participant(page, 'sleepy')).toContainText('thinking');
  await page
    .getByRole('group', { name: 'Who speaks' })
    .getByRole('button', { name: 'Stop the reply of sleepy' })
    .click();
  await expect(shown(page, 'sleepy stopped')).toBeVisible();

  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByText('Paused. Messages wait')).toBeVisible();
  await say(page, '@coder go');
  await expect(messagesOf(page, 'You').last()).toContainText('waits its turn');
  await page.getByRole('button', { name: 'Resume' }).first().click();
  await expect(messagesOf(page, 'coder')).toBeVisible();
  await expect(page.getByText('waits its turn')).toHaveCount(0);

  await say(page, '@sleepy and @coder again');
  await expect(participant(page, 'sleepy')).toContainText('thinking');
  await box(page).press('Escape');
  await expect(page.getByText('Press Esc again')).toBeVisible();
  await box(page).press('Escape');
  await expect(shown(page, 'Everyone was stopped')).toBeVisible();
  await settled(server, thread);
  await expect(page.getByRole('group', { name: 'Who speaks' })).toHaveCount(0);
});

test('rules change, and a forced reply comes', async ({ page, server }) => {
  const thread = await server.begin('Rules', ['coder'], 'mention_only');
  // Only a person whom the server knows may raise a limit.
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Only when named' }).click();
  await page.getByRole('radio', { name: /Everyone in turn/ }).check();
  await page.getByLabel('Replies to a message').fill('7');
  await page.getByLabel('Replies to a message').press('Tab');
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('button', { name: 'Everyone in turn · up to 7 replies' })).toBeVisible();
  await say(page, 'hello');
  await expect(messagesOf(page, 'coder')).toHaveCount(1);
  await settled(server, thread);
  await participant(page, 'coder').getByRole('button', { name: 'Actions for coder' }).click();
  await page.getByRole('menuitem', { name: 'Ask for a reply now' }).click();
  await expect(messagesOf(page, 'coder')).toHaveCount(2);
});

test('a guard holds, is told once, and Continue lets go', async ({ page, server }) => {
  await held(page, server);
  await expect(page.getByText('without you. Let them go on?')).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Continue' })).toHaveCount(1);
  await page.getByRole('region', { name: 'Needs you' }).getByRole('button', { name: 'Continue' }).click();
  await expect(shown(page, 'let the agents go on')).toBeVisible();
});

test('who is not known sees what holds, and is shown the way in', async ({ page, server }) => {
  const thread = await server.begin('Loop', ['one:terse', 'two:terse'], {
    name: 'open',
    max_exchanges_without_human: 3,
  });
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, 'Discuss.');
  const needs = page.getByRole('region', { name: 'Needs you' });
  await expect(needs.getByRole('alert')).toContainText('without you. Let them go on?');
  await settled(server, thread);
  await expect(needs.getByRole('button', { name: 'Continue' })).toHaveCount(0);
  await needs.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Key').fill(server.key);
  const enter = page.getByRole('dialog').getByRole('button', { name: 'Sign in' });
  await Promise.all([page.waitForEvent('load'), enter.click()]);
  await needs.getByRole('button', { name: 'Continue' }).click();
  await expect(shown(page, 'let the agents go on')).toBeVisible();
});

test('an agent fails, says why, and can be asked again', async ({ page, server }) => {
  const thread = await server.begin('Trouble', ['broken'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@broken go');
  await expect(shown(page, 'broken failed')).toBeVisible();
  await expect(page.getByText(/exit status/)).toBeVisible();
  // Only the failure's own row reports it.
  await expect(messagesOf(page, 'You').first()).not.toContainText('failed');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(shown(page, 'broken failed')).toHaveCount(2);
});

test('an example that is started before the agents are known invites them all the same', async ({ page, server }) => {
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  await page.route('**/agents', async (route) => {
    await gate;
    await route.continue();
  });
  await page.goto(server.url);
  await page.getByRole('button', { name: /Start.*second opinion/ }).click();
  go();
  await expect(messagesOf(page, 'analyst').first()).toBeVisible();
});

test('the same on a small screen', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(server.url);
  await page.getByRole('button', { name: /Start.*second opinion/ }).click();
  await expect(messagesOf(page, 'analyst').first()).toBeVisible();
  await page.getByRole('button', { name: 'Participants' }).click();
  const panel = page.getByRole('dialog', { name: 'Participants' });
  await panel.getByRole('button', { name: 'Actions for writer' }).click();
  await page.getByRole('menuitem', { name: 'Mute' }).click();
  await expect(panel.getByText('muted')).toBeVisible();
  await panel.getByRole('button', { name: 'Close the participants' }).click();
  await say(page, '@critic go on');
  await expect(messagesOf(page, 'critic').last()).toBeVisible();
  await page.getByRole('button', { name: 'Conversations' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'New conversation' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Second');
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Second' })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
