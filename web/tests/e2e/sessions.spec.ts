/**
 * Programs in terminals: started, linked, asked, answered and ended, with a stand-in for a real
 * program.
 */

import type { Locator, Page } from '@playwright/test';
import type { EventPage } from '../../src/lib/types';
import { SESSIONS, settled, TERMINALS, wait } from '../screens/stage';
import { accessible, box, expect, messagesOf, say, shown, signIn, test } from './fixture';

test.use({ config: SESSIONS });
test.skip(!TERMINALS, 'tmux or fake-tui is missing');

function terminal(page: Page, name: string): Locator {
  return page.getByRole('group', { name: `Screen of ${name}` });
}

async function start(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New agent', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'New agent' });
  await dialog.getByRole('button', { name: /^fake/ }).click();
  await dialog.getByRole('button', { name: /^in / }).click();
  await dialog.getByLabel('Path of the folder').fill('/tmp');
  await dialog.getByLabel('Path of the folder').press('Enter');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(terminal(page, name)).toContainText('fake, a stand-in');
}

/** Returns the line with the facts of an agent's page, and what can be done with it. */
function bar(page: Page, name: string): Locator {
  return page.getByRole('group', { name: `About ${name}` });
}

function agents(page: Page): Locator {
  return page.getByRole('navigation').getByRole('region', { name: 'Agents in terminals' });
}

test('two agents are started and linked, a message crosses, and the link is closed', async ({ page, server }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await signIn(page, server);
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await expect(page.getByText('No agents run in terminals.')).toBeVisible();
  await start(page, 'anna');
  await start(page, 'bert');
  await bar(page, 'bert').getByRole('button', { name: 'Link…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New link' });
  await expect(dialog.getByRole('checkbox', { name: /bert/ })).toBeChecked();
  await expect(dialog.getByRole('button', { name: 'Link them' })).toBeDisabled();
  await dialog.getByRole('checkbox', { name: /anna/ }).check();
  await dialog.getByLabel('Role of anna').fill('planner');
  await dialog.getByRole('switch', { name: 'Number them' }).click();
  await dialog.getByRole('button', { name: 'Link them' }).click();
  await expect(bar(page, 'bert').getByRole('link', { name: /anna/ })).toBeVisible();
  await agents(page).getByRole('link', { name: 'Agents', exact: true }).click();
  const links = page.getByRole('region', { name: 'Links' });
  await expect(links.getByRole('listitem', { name: /^Link / })).toHaveCount(1);
  await expect(links.getByRole('link', { name: /1 anna planner/ })).toBeVisible();
  await accessible(page);

  // Words of one member reach the terminal of the other.
  const { links: made } = await server.get<{ links: { id: string }[] }>('/links');
  await server.say(made[0]!.id, '[say:The parcel]', 'user', { to: 'anna' });
  await agents(page).getByRole('link', { name: /^bert/ }).click();
  await expect(terminal(page, 'bert')).toContainText('The parcel');

  await bar(page, 'bert')
    .getByRole('button', { name: /^Close the link/ })
    .click();
  await page.getByRole('dialog', { name: 'Close the link?' }).getByRole('button', { name: 'Close it' }).click();
  await expect(bar(page, 'bert').getByRole('link', { name: /anna/ })).toHaveCount(0);
  expect((await server.get<{ links: unknown[] }>('/links')).links).toEqual([]);
});

test('a link that waits for an agent says for which, in the list and at the agent', async ({ page, server }) => {
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
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
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

test('an agent is one page: told, answered, looked at, ended and resumed there', async ({ page, server }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const anna = await server.startSession('anna');
  // Only a signed-in person may answer a program's questions.
  await signIn(page, server);
  await agents(page).getByRole('link', { name: /^anna/ }).click();
  await expect(page).toHaveURL(`${server.url}/t/${anna}`);
  await expect(terminal(page, 'anna')).toBeVisible();
  await expect(box(page)).toBeVisible();
  await say(page, 'Clean up. [ask:rm -rf build]');
  const card = page.getByRole('article', { name: 'anna asks for permission' });
  await expect(card).toContainText('rm -rf build');
  await expect(agents(page).getByRole('link', { name: /anna asks you/ })).toBeVisible();
  await expect(bar(page, 'anna')).toContainText('asks you');
  await accessible(page);
  await page.reload();
  await expect(card).toContainText('rm -rf build');
  await card.getByRole('button', { name: /allow/i }).click();
  await expect(card).toHaveCount(0);
  await expect(terminal(page, 'anna')).toContainText('Clean up.');
  await expect(messagesOf(page, 'anna')).toHaveCount(1);

  await bar(page, 'anna').getByRole('button', { name: 'End' }).click();
  await page.getByRole('dialog', { name: 'End anna?' }).getByRole('button', { name: 'End it' }).click();
  await expect(page.getByRole('heading', { name: 'Ended' })).toBeVisible();
  // The last screen stays, with the words about the end.
  await expect(terminal(page, 'anna')).toContainText('Clean up.');
  await expect(page.getByRole('region', { name: 'Terminal', exact: true })).toContainText('user ended it');
  await expect(messagesOf(page, 'anna')).toHaveCount(1);
  await accessible(page);
  await page.reload();
  await agents(page).getByRole('link', { name: '1 ended' }).click();
  await page.getByRole('list', { name: 'Ended' }).getByRole('link', { name: /anna/ }).click();
  await bar(page, 'anna').getByRole('button', { name: 'Resume' }).click();
  await expect(terminal(page, 'anna')).toContainText('fake, a stand-in');
});

test('without room for both, the terminal is a tab with an address, and older addresses lead to it', async ({
  page,
  server,
}) => {
  await page.setViewportSize({ width: 1000, height: 800 });
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await page.goto(`${server.url}/s/${anna}`);
  await expect(page).toHaveURL(`${server.url}/t/${anna}/terminal`);
  await expect(terminal(page, 'anna')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Messages' })).toHaveCount(0);
  // What is written below the terminal is said in the conversation.
  await say(page, '[say:The parcel]');
  await expect(terminal(page, 'anna')).toContainText('The parcel');
  await accessible(page);
  await page.getByRole('link', { name: 'Conversation', exact: true }).click();
  await expect(page).toHaveURL(`${server.url}/t/${anna}`);
  await expect(messagesOf(page, 'anna')).toContainText('The parcel');
  await expect(terminal(page, 'anna')).toHaveCount(0);
  await accessible(page);
  await page.goBack();
  await expect(terminal(page, 'anna')).toBeVisible();
  await page.reload();
  await expect(terminal(page, 'anna')).toBeVisible();
  await page.setViewportSize({ width: 1440, height: 800 });
  await expect(page.getByRole('region', { name: 'Messages' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Terminal', exact: true })).toHaveCount(0);
});

test('a terminal is in colour, and what a program draws is text', async ({ page, server }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${anna}`);
  const screen = terminal(page, 'anna');
  const heading = screen.locator('span', { hasText: /^fake$/ });
  await expect(heading).toHaveCSS('font-weight', '700');
  await say(page, '<b id="x">[say:&lt;]</b> [work:hold]');
  const star = screen.locator('span', { hasText: '✻' });
  await expect(star).toBeVisible();
  const ground = await screen.evaluate((element) => getComputedStyle(element).color);
  expect(await star.evaluate((element) => getComputedStyle(element).color)).not.toBe(ground);
  await expect(screen).toContainText('<b id="x">');
  await expect(screen.locator('b')).toHaveCount(0);
  // All columns are there, in letters that fit.
  const { columns } = await server.get<{ columns: number }>(`/sessions/${anna}/screen`);
  expect(columns).toBeGreaterThanOrEqual(80);
  await accessible(page);
});

test('a person takes the terminal over, types there, and gives it back', async ({ page, server }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${anna}`);
  await expect(terminal(page, 'anna')).toContainText('fake, a stand-in');
  const pane = page.getByRole('region', { name: 'Terminal', exact: true });
  await pane.getByRole('button', { name: 'Take over' }).click();
  const field = pane.getByRole('textbox', { name: 'Type in the terminal of anna' });
  await expect(field).toBeFocused();
  await expect(shown(page, "user types in anna's terminal")).toHaveCount(1);
  // Letters are keys of the terminal, not shortcuts of the page.
  await page.keyboard.type('sna <b>q</b>');
  await expect(terminal(page, 'anna')).toContainText('sna <b>q</b>');
  await accessible(page);
  await page.keyboard.press('Backspace');
  await expect(terminal(page, 'anna')).not.toContainText('</b>');
  await page.keyboard.type('>');
  // Words wait while a person has the terminal.
  await server.post(`/sessions/${anna}/messages`, { message: 'And the parcel?' });
  await page.keyboard.press('Enter');
  await expect(messagesOf(page, 'anna').first()).toContainText('sna');
  expect(await server.get<{ text: string }>(`/sessions/${anna}/screen`).then(({ text }) => text)).not.toContain(
    'parcel',
  );
  await page.keyboard.press('Control+Shift+Enter');
  await expect(field).toHaveCount(0);
  await expect(terminal(page, 'anna')).toContainText('And the parcel?');
});

test('a question of a program is answered in words, and the conversation says which', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await signIn(page, server);
  await server.post(`/sessions/${anna}/messages`, { message: '[choose:Which database?|SQLite|Postgres]' });
  await page.goto(`${server.url}/t/${anna}`);
  const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article', { name: /asks for permission/ });
  await expect(card.getByRole('button', { name: /SQLite/ })).toBeEnabled();
  await card.focus();
  await page.keyboard.press('3');
  const field = card.getByRole('textbox', { name: 'Write an answer' });
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
  await expect(page.getByText('answered “erased words”.')).toBeVisible();
});

test('a permission waits in its conversation through a reload, for somebody who is known', async ({ page, server }) => {
  const anna = await server.startSession('anna');
  await server.post(`/sessions/${anna}/messages`, { message: 'Clean up. [ask:rm -rf build]' });
  await page.goto(`${server.url}/t/${anna}`);
  const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article', { name: /asks for permission/ });
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
    .getByRole('article', { name: /asks for permission/ })
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
  const card = page.getByRole('article', { name: 'anna asks for permission' });
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
  const card = page.getByRole('article', { name: 'anna asks for permission' });
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
  await page.goto(`${server.url}/t/${anna}`);
  await say(page, 'Go on for ever. [work:hold]');
  await expect(bar(page, 'anna')).toContainText('thinking');
  await bar(page, 'anna').getByRole('button', { name: 'Interrupt' }).click();
  await expect(bar(page, 'anna')).toContainText('ready');
});

test('an agent is in the list of agents, not among the rooms, and can be invited into one', async ({
  page,
  server,
}) => {
  const anna = await server.startSession('anna');
  for (const name of ['bert', 'cleo', 'dora']) await server.startSession(name);
  const talk = await server.begin('Talk', ['coder'], 'mention_only');
  await signIn(page, server);
  await page.goto(`${server.url}/t/${talk}`);
  const list = page.getByRole('navigation', { name: 'Conversations' });
  await expect(list.getByRole('link', { name: /, agent/ })).toHaveCount(0);
  // Those at rest are a number until they are asked for.
  await expect(agents(page).getByRole('link', { name: /^anna/ })).toHaveCount(0);
  await agents(page).getByRole('button', { name: '4 ready' }).click();
  await expect(agents(page).getByRole('link', { name: /^anna ready/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Invite' });
  await dialog.getByRole('button', { name: 'A running agent' }).click();
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
  await expect(page.getByRole('heading', { level: 1, name: 'Agents' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Links' })).toBeVisible();
  await accessible(page);
  await page.getByRole('list', { name: 'Running' }).getByRole('link', { name: /bert/ }).click();
  await page.getByRole('link', { name: 'Terminal', exact: true }).click();
  await expect(terminal(page, 'bert')).toBeVisible();
  await accessible(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('agent');
  await expect(page.getByRole('option', { name: 'Agents' })).toBeVisible();
  await page.getByRole('option', { name: 'New agent…' }).click();
  await expect(page.getByRole('dialog', { name: 'New agent' })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
