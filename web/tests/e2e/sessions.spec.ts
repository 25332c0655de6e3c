/**
 * Programs in terminals: started, linked, asked, answered and ended, with a stand-in for a real
 * program.
 */

import type { Locator, Page } from '@playwright/test';
import type { EventPage } from '../../src/lib/types';
import { SESSIONS, settled, TERMINALS, wait } from '../screens/stage';
import { accessible, box, expect, messagesOf, say, signIn, test } from './fixture';

test.use({ config: SESSIONS });
test.skip(!TERMINALS, 'tmux or fake-tui is missing');

function terminal(page: Page, name: string): Locator {
  return page.getByRole('group', { name: `Screen of ${name}` });
}

async function start(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Start a session' });
  await dialog.getByRole('button', { name: /^fake/ }).click();
  await dialog.getByRole('button', { name: /^in / }).click();
  await dialog.getByLabel('Path of the folder').fill('/tmp');
  await dialog.getByLabel('Path of the folder').press('Enter');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(terminal(page, name)).toContainText('fake, a stand-in');
}

test('two sessions are started and linked, a message crosses, and the link is closed', async ({ page, server }) => {
  await signIn(page, server);
  await page.getByRole('link', { name: 'Sessions' }).click();
  await expect(page.getByText('Nothing runs.')).toBeVisible();
  await start(page, 'anna');
  await start(page, 'bert');
  await page.getByRole('button', { name: 'Link…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New link' });
  await expect(dialog.getByRole('checkbox', { name: /bert/ })).toBeChecked();
  await expect(dialog.getByRole('button', { name: 'Link them' })).toBeDisabled();
  await dialog.getByRole('checkbox', { name: /anna/ }).check();
  await dialog.getByLabel('Role of anna').fill('planner');
  await dialog.getByRole('switch', { name: 'Number them' }).click();
  await dialog.getByRole('button', { name: 'Link them' }).click();
  const links = page.getByRole('region', { name: 'Links' });
  await expect(links.getByRole('listitem', { name: /^Link / })).toHaveCount(1);
  await expect(links.getByRole('link', { name: /1 anna planner/ })).toBeVisible();
  await expect(links.getByRole('img', { name: /1 anna \(planner\), 2 bert/ })).toBeVisible();
  await accessible(page);

  // Words of one member reach the terminal of the other.
  const { links: made } = await server.get<{ links: { id: string }[] }>('/links');
  await server.say(made[0]!.id, '[say:The parcel]', 'user', { to: 'anna' });
  await page.getByRole('list', { name: 'Running' }).getByRole('link', { name: /bert/ }).click();
  await expect(terminal(page, 'bert')).toContainText('The parcel');
  await expect(page.getByRole('article', { name: 'Session bert' }).getByRole('link', { name: /anna/ })).toBeVisible();

  await page.getByRole('link', { name: 'Sessions', exact: true }).first().click();
  await links.getByRole('button', { name: /^Close/ }).click();
  await page.getByRole('dialog', { name: 'Close the link?' }).getByRole('button', { name: 'Close it' }).click();
  await expect(links.getByText('No links yet.')).toBeVisible();
});

test('a link that waits for a session says for which, in the list and at the session', async ({ page, server }) => {
  const members: { session: string }[] = [];
  for (const name of ['anna', 'bert', 'cleo']) members.push({ session: await server.startSession(name) });
  await server.link(...members);
  await server.loseComputer();
  await server.start();
  for (const { session } of members.slice(0, 2)) {
    await wait(async () => (await server.get<{ state: string }>(`/sessions/${session}`)).state === 'ended');
    await server.post(`/sessions/${session}/resume`, {});
  }
  await signIn(page, server);
  await page.getByRole('link', { name: 'Sessions' }).click();
  const waiting = page.getByRole('list', { name: 'Waiting links' }).getByRole('listitem');
  await expect(waiting).toHaveCount(1);
  await expect(waiting).toContainText('Waits for cleo, which ended and was not resumed.');
  await expect(waiting.getByRole('button', { name: 'Resume command' })).toBeVisible();
  await accessible(page);
  await page.getByRole('list', { name: 'Running' }).getByRole('link', { name: /anna/ }).click();
  await expect(page.getByRole('region', { name: 'Links that wait' })).toContainText('Waits for cleo');
  await server.post(`/sessions/${members[2]!.session}/end`, {});
  await expect(page.getByRole('region', { name: 'Links that wait' })).toHaveCount(0);
});

test('a message is sent, a permission is answered, and the session is ended', async ({ page, server }) => {
  await server.startSession('anna');
  // Only a signed-in person may answer a program's questions.
  await signIn(page, server);
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('list', { name: 'Running' }).getByRole('link', { name: /anna/ }).click();
  await expect(terminal(page, 'anna')).toBeVisible();
  await page.getByRole('textbox', { name: 'Message to anna' }).fill('Clean up. [ask:rm -rf build]');
  await page.keyboard.press('Enter');
  const card = page.getByRole('article', { name: 'anna asks for a permission' });
  await expect(card).toContainText('rm -rf build');
  await expect(page.getByRole('navigation').getByText('1 asks')).toBeVisible();
  await accessible(page);
  await page.reload();
  await expect(card).toContainText('rm -rf build');
  await card.getByRole('button', { name: /allow/i }).click();
  await expect(card).toHaveCount(0);
  await expect(terminal(page, 'anna')).toContainText('Clean up.');

  await page.getByRole('link', { name: 'Conversation', exact: true }).click();
  await expect(messagesOf(page, 'anna')).toHaveCount(1);
  await page.getByRole('link', { name: 'Its terminal' }).click();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByRole('dialog', { name: 'End anna?' }).getByRole('button', { name: 'End it' }).click();
  await expect(page.getByRole('heading', { name: 'It is over' })).toBeVisible();
  await page.getByRole('button', { name: 'Ended (1)' }).click();
  await expect(page.getByRole('list', { name: 'Ended' }).getByRole('link', { name: /anna/ })).toBeVisible();
});

test('a question of a program is answered in words, and the conversation says which', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await server.post(`/sessions/${anna}/messages`, { message: '[choose:Which database?|SQLite|Postgres]' });
  await page.goto(`${server.url}/t/${anna}`);
  const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article', { name: /asks for a permission/ });
  await expect(card.getByRole('button', { name: /SQLite/ })).toBeEnabled();
  await card.focus();
  await page.keyboard.press('3');
  const field = card.getByRole('textbox', { name: 'Type something.' });
  await expect(field).toBeFocused();
  await expect(card.getByRole('button', { name: 'Answer' })).toBeDisabled();
  // A digit in the field is text, not an answer.
  await page.keyboard.type('1. MariaDB');
  await accessible(page);
  await page.keyboard.press('Enter');
  await expect(card).toHaveCount(0);
  await expect(messagesOf(page, 'anna')).toContainText('Chosen: 1. MariaDB');
  const answered = page.getByText('answered “1. MariaDB”.');
  await expect(answered).toBeVisible();
  // The words can be erased like any others, and disappear from the page.
  const { events } = await server.get<EventPage>(`/threads/${anna}/events?types=permission`);
  const answer = events.find((event) => (event.content as { event: string }).event === 'answered');
  await server.post(`/threads/${anna}/events/${answer?.id}/redact`, {});
  await expect(answered).toHaveCount(0);
  await expect(page.getByText('answered “words that were erased”.')).toBeVisible();
});

test('a permission waits in its conversation through a reload, for somebody who is known', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await server.post(`/sessions/${anna}/messages`, { message: 'Clean up. [ask:rm -rf build]' });
  await page.goto(`${server.url}/t/${anna}`);
  const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article', { name: /asks for a permission/ });
  await expect(card).toContainText('rm -rf build');
  await expect(card.getByRole('button', { name: /allow/i })).toBeDisabled();
  await card.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Key').fill(server.key);
  // The page reloads with the new identity, and the question is still there.
  const enter = page.getByRole('dialog').getByRole('button', { name: 'Sign in' });
  await Promise.all([page.waitForEvent('load'), enter.click()]);
  await expect(card.getByRole('button', { name: 'Sign in' })).toHaveCount(0);
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('a');
  await expect(card).toBeFocused();
  await page.keyboard.press('1');
  await expect(card).toHaveCount(0);
  await expect(messagesOf(page, 'anna')).toContainText('Clean up.');
});

test('the clock of who asks goes on from where it stood: what a person takes to think does not count', async ({
  page,
  server,
}) => {
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${anna}`);
  const sent = Date.now();
  await server.post(`/sessions/${anna}/messages`, { message: 'Clean up. [ask:rm -rf build] [work:hold]' });
  const strip = page.getByRole('group', { name: 'Who speaks' });
  await expect(strip).toContainText('asks you');
  const asked = Date.now();
  // The person does something else while deciding.
  await accessible(page);
  const thought = Date.now() - asked;
  await page
    .getByRole('article', { name: /asks for a permission/ })
    .getByRole('button', { name: /allow/i })
    .click();
  // Holds from the first figure on, even before the server has reported the moved deadline.
  const figures = strip.getByText(/(thinking|writing) · [\d.]+ s/);
  for (const when of ['at once', 'after a reload']) {
    const [, shown] = /· ([\d.]+) s/.exec((await figures.textContent()) ?? '') ?? [];
    expect(Number(shown) * 1_000, when).toBeLessThanOrEqual(Date.now() - sent - thought);
    await page.reload();
    await expect(figures).toBeVisible();
  }
});

test('a command is drawn as a command, and a refusal can say why', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await server.post(`/sessions/${anna}/messages`, { message: 'Clean up. [ask:rm -rf build]' });
  await page.goto(`${server.url}/t/${anna}`);
  const card = page.getByRole('article', { name: 'anna asks for a permission' });
  await expect(card).toContainText('anna wants to run a command');
  await expect(card.getByRole('group', { name: 'What it wants to do' })).toHaveText(/^\$ rm -rf build/);
  await card.getByRole('button', { name: 'Deny, and say why…' }).click();
  await expect(card.getByRole('textbox', { name: 'Deny, and say why' })).toBeFocused();
  await accessible(page);
  await page.keyboard.type('others need it');
  await page.keyboard.press('Enter');
  await expect(card).toHaveCount(0);
  await expect(page.getByText('answered “others need it”.')).toBeVisible();
  await expect(messagesOf(page, 'anna')).toContainText('Not allowed: rm -rf build');
});

test('what is longer than its view is allowed only when its end was seen', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await signIn(page, server);
  const long = `${'echo harmless; '.repeat(80)}rm -rf precious`;
  await server.post(`/sessions/${anna}/messages`, { message: `Clean up. [ask:${long}]` });
  await page.goto(`${server.url}/t/${anna}`);
  const card = page.getByRole('article', { name: 'anna asks for a permission' });
  const allow = card.getByRole('button', { name: /allow/i });
  await expect(allow).toBeDisabled();
  await expect(card.getByRole('button', { name: 'Deny', exact: true })).toBeEnabled();
  await expect(card).toContainText('Scroll to the end to allow');
  await accessible(page);
  await card.focus();
  await page.keyboard.press('1');
  await expect(card).toBeVisible();
  await card.getByRole('button', { name: /^Show all/ }).press('Enter');
  await expect(allow).toBeDisabled();
  await card.getByRole('group', { name: 'What it wants to do' }).focus();
  await page.keyboard.press('End');
  await expect(allow).toBeEnabled();
  await allow.click();
  await expect(card).toHaveCount(0);
});

test.describe('a link', () => {
  // Otherwise each repeats the other's words until a guard holds them.
  test.use({ config: SESSIONS.replace('"--name"', '"--quiet", "--name"') });

  test('is watched, spoken in and closed in its conversation', async ({ page, server }) => {
    const [anna, bert] = [await server.startSession('anna'), await server.startSession('bert')];
    const link = await server.link({ session: anna }, { session: bert });
    await signIn(page, server);
    await page.goto(`${server.url}/t/${link}`);
    await expect(box(page)).toBeVisible();
    await server.say(link, '[say:The parcel]');
    for (const name of ['anna', 'bert']) await expect(messagesOf(page, name)).toContainText('The parcel');
    await say(page, 'A word for both of you.');
    for (const id of [anna, bert]) {
      const told = () => server.get<{ text: string }>(`/sessions/${id}/screen`).then(({ text }) => text);
      await expect.poll(told).toContain('A word for both of you.');
    }
    await settled(server, link);

    await page.getByRole('button', { name: 'More about this conversation' }).click();
    await page.getByRole('menuitem', { name: 'Close the link…' }).click();
    await page.getByRole('dialog', { name: 'Close the link?' }).getByRole('button', { name: 'Close it' }).click();
    await expect(page.getByText('This conversation is archived')).toBeVisible();
    expect((await server.get<{ links: unknown[] }>('/links')).links).toEqual([]);
    await expect(messagesOf(page, 'anna')).toContainText('The parcel');
  });
});

test('work is interrupted', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await page.goto(`${server.url}/s/${anna}`);
  await expect(terminal(page, 'anna')).toBeVisible();
  await page.keyboard.press('m');
  await page.keyboard.type('Go on for ever. [work:hold]');
  await page.keyboard.press('Enter');
  const detail = page.getByRole('article', { name: 'Session anna' });
  await expect(detail.locator('header')).toContainText('thinking');
  await detail.getByRole('button', { name: 'Interrupt' }).click();
  await expect(detail.locator('header')).toContainText('ready');
});

test('its conversation is marked and grouped, and it can be invited into another one', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  const talk = await server.begin('Talk', ['coder'], 'mention_only');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${talk}`);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await expect(list.getByRole('link', { name: /^anna .*, session/ })).toBeVisible();
  await list.getByRole('button', { name: 'With sessions (1)' }).click();
  await expect(list.getByRole('link', { name: /, session/ })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Invite' });
  await dialog.getByRole('button', { name: 'A session' }).click();
  await dialog.getByRole('button', { name: /^anna/ }).click();
  await expect(dialog.getByLabel('Id')).toHaveValue('anna');
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await server.say(talk, '@anna [say:Here I am.]');
  await expect(messagesOf(page, 'anna')).toContainText('Here I am.');
  const { state } = await server.get<{ state: { participants: { invited: { profile: { session?: string } }[] } } }>(
    `/threads/${talk}/state`,
  );
  expect(state.participants.invited.map((one) => one.profile.session)).toContain(anna);
});

test('the keyboard and a small screen reach everything', async ({ page, server }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const anna = await server.startSession('anna');
  const bert = await server.startSession('bert');
  await server.link({ session: anna }, { session: bert, role: 'reviewer' });
  await signIn(page, server);
  await page.keyboard.press('s');
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Links' })).toBeVisible();
  await accessible(page);
  await page.getByRole('list', { name: 'Running' }).getByRole('link', { name: /bert/ }).click();
  await expect(terminal(page, 'bert')).toBeVisible();
  await accessible(page);
  await page.getByRole('button', { name: 'All sessions' }).click();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('sess');
  await expect(page.getByRole('option', { name: 'Sessions' })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
