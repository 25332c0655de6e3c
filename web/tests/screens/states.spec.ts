import { expect, test } from '@playwright/test';
import { Server } from '../server';
import { CONFIG, running, SESSIONS, settled, shoot, SIZES, TERMINALS, wait } from './stage';

const wide = SIZES.slice(0, 2);
const both = [SIZES[0]!, SIZES[2]!];
let server: Server;

test.beforeEach(async () => {
  server = await new Server(CONFIG).start();
});
test.afterEach(() => server.stop());

const message = 'Message';

test('first run', async ({ page }) => {
  await page.goto(server.url);
  await expect(page.getByRole('heading', { name: /Talk with several agents/ })).toBeVisible();
  await shoot(page, 'first-run');
});

test('conversation, with the next draft and who will answer it', async ({ page }) => {
  const other = await server.begin('Release 2.4 review', ['coder']);
  const thread = await server.begin('Market analysis team', ['planner', 'coder']);
  await server.invite(thread, 'quiet', { client: 'quiet', model: 'haiku-5', nickname: 'Cato', roles: ['critic'] });
  await server.invite(thread, 'codex-7', {
    client: 'codex',
    model: 'gpt-5.2-codex',
    nickname: 'Codex on the build box',
  });
  await page.goto(`${server.url}/t/${thread}`);
  await server.say(thread, '@planner analyse the earnings, then let’s hear what the rest of you think.');
  await settled(server, thread);
  await server.say(other, '@coder is main green?');
  await settled(server, other);
  await page.getByLabel(message, { exact: true }).fill('@Cato is that fair to hardware?');
  await expect(page.locator('.will-answer')).toContainText('Will answer');
  await shoot(page, 'conversation');
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.getByRole('button', { name: 'why?' }).first().click();
  await expect(page.getByText('Asked about this message')).toBeVisible();
  await shoot(page, 'why', wide);
});

test('somebody thinks, another waits', async ({ page }) => {
  const thread = await server.begin('Slow day', ['planner', 'sleepy', 'quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await server.say(thread, '@planner and @sleepy, what is next?');
  await running(server, thread, 'sleepy');
  await expect(page.getByRole('group', { name: 'Who speaks' }).getByText(/thinking ·/)).toBeVisible();
  await shoot(page, 'thinking');
  await server.say(thread, 'And one more thing, when you are done.');
  await server.control(thread, { pause: { on: true } });
  await server.control(thread, { mute: { targets: ['quiet'] } });
  await expect(page.getByText('Paused. Messages wait')).toBeVisible();
  await shoot(page, 'paused', both);
});

test('an agent fails', async ({ page }) => {
  const thread = await server.begin('Trouble', ['broken', 'coder'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await server.say(thread, '@broken and @coder, go.');
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await settled(server, thread);
  await shoot(page, 'failed', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
});

test('a guard holds', async ({ page }) => {
  const thread = await server.begin('Loop', ['one:terse', 'two:terse'], {
    name: 'open',
    max_exchanges_without_human: 4,
  });
  await page.goto(`${server.url}/t/${thread}`);
  await server.say(thread, 'Discuss.');
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  await shoot(page, 'guard-unknown', both);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await shoot(page, 'sign-in', both);
  await page.goto(server.page);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByRole('button', { name: 'Continue' })).toBeVisible();
  await shoot(page, 'guard', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
});

test('nobody invited', async ({ page }) => {
  const thread = await server.begin('All alone');
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByText('so nobody will answer')).toBeVisible();
  await shoot(page, 'nobody', both);
});

test('dialogs', async ({ page }) => {
  const thread = await server.begin('Dialogs', ['planner', 'coder']);
  await server.begin('Design links');
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Invite' }).first().click();
  await page.getByLabel('Client').fill('codex');
  await page.getByLabel('Nickname').fill('Codex');
  await shoot(page, 'invite', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
  await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(page.getByText('Give it these lines')).toBeVisible();
  await shoot(page, 'invited', both);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await shoot(page, 'menu', wide);
  await page.getByRole('menuitem', { name: 'Who may speak…' }).click();
  await shoot(page, 'rules', both);
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('d');
  await shoot(page, 'switcher', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
  await page.keyboard.press('Escape');
  await page.getByLabel('Messages').focus();
  await page.keyboard.press('?');
  await shoot(page, 'shortcuts', both);
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await shoot(page, 'new', both);
});

test('search', async ({ page }) => {
  const thread = await server.begin('Launch plan');
  await server.say(thread, 'The launch needs a budget before Friday, and the budget needs somebody who signs it.');
  await server.say(thread, 'What would be a budget that nobody regrets?');
  await wait(async () => (await server.get<{ lag_events: number }>('/search?q=budget')).lag_events === 0);
  await page.goto(`${server.url}/t/${thread}`);
  await page.keyboard.press('Control+Shift+f');
  await expect(page.getByRole('textbox', { name: 'Words to search for' })).toBeFocused();
  await page.keyboard.type('budget from:user');
  await expect(page.locator('mark').first()).toBeVisible();
  await shoot(page, 'search', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
});

test('unread, and written to you', async ({ page }) => {
  const here = await server.begin('Here');
  for (const [name, line] of [
    ['Release 2.4 review', 'tests pass on main'],
    ['Design links', '@user, is this yours?'],
  ] as const) {
    const thread = await server.begin(name);
    await server.invite(thread, 'ann', { client: 'human', nickname: 'Ann' });
    await server.say(thread, line, 'ann');
    await server.say(thread, 'And more of it.', 'ann');
  }
  await page.goto(`${server.url}/t/${here}`);
  await expect(page.getByRole('link', { name: /for you/ })).toBeVisible();
  await shoot(page, 'unread', wide);
});

test('writing: names, commands, replies', async ({ page }) => {
  const thread = await server.begin('Writing', ['planner', 'coder', 'quiet']);
  await server.say(thread, '@coder show me.');
  await settled(server, thread);
  await page.goto(`${server.url}/t/${thread}`);
  const box = page.getByLabel(message, { exact: true });
  await box.pressSequentially('What about @');
  await expect(page.getByRole('option').first()).toBeVisible();
  await shoot(page, 'mention', both);
  await page.setViewportSize({ width: 1360, height: 820 });
  await box.fill('');
  await box.pressSequentially('/gr');
  await expect(page.getByRole('option').first()).toBeVisible();
  await shoot(page, 'command', both);
  await box.fill('/why');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await expect(page.locator('pre', { hasText: 'coder' }).last()).toBeVisible();
  await shoot(page, 'command-answer', wide);
});

test('the server goes away; a message waits', async ({ page }) => {
  const thread = await server.begin('Away', ['coder']);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByText('You began the conversation')).toBeVisible();
  await server.kill();
  await page.getByLabel(message, { exact: true }).fill('Does this get lost?');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Not sent yet. It is kept here.')).toBeVisible();
  await expect(page.getByText('Connection lost.')).toBeVisible();
  await shoot(page, 'away', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
});

test('long names, long words, right to left, emoji', async ({ page }) => {
  const thread = await server.begin(
    'Ein ungewöhnlich langer Titel, der nirgends hineinpasst und trotzdem ordentlich aussehen soll 🏛️',
    ['coder'],
  );
  const nickname = 'Wolfeschlegelsteinhausenbergerdorff the Elder';
  await server.invite(thread, 'a-very-long-identifier-that-somebody-thought-was-a-good-idea-1', {
    client: 'planner',
    model: 'a-model-with-a-very-long-name-2026-11-21',
    nickname,
    roles: ['architect', 'reviewer'],
  });
  await server.invite(thread, 'salma', { client: 'human', nickname: 'سلمى' });
  await server.invite(thread, 'hanako', { client: 'quiet', model: 'haiku-5', nickname: '花子🚀' });
  await server.say(thread, 'x'.repeat(400));
  await server.say(
    thread,
    'مرحبا بالجميع، كيف حالكم اليوم؟ هذا نص من اليمين إلى اليسار مع كلمة English في الوسط.',
    'salma',
  );
  await server.say(
    thread,
    '👍🏽🎉 数字と日本語の文章もここで正しく折り返されるべきです。長い文章でも大丈夫。'.repeat(3),
    'salma',
  );
  await server.say(thread, `Z${'̂̃̄̅̆̇'.repeat(40)}algo`, 'salma');
  await settled(server, thread);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(page.getByText('algo')).toBeVisible();
  await shoot(page, 'odd', [SIZES[0]!, SIZES[1]!, SIZES[2]!]);
});

test('sides on a small screen, archived, missing', async ({ page }) => {
  const thread = await server.begin('Pocket', ['planner', 'coder', 'sleepy']);
  const small = [SIZES[2]!, { ...SIZES[2]!, theme: 'dark' as const }];
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Conversations' }).click();
  await shoot(page, 'drawer-list', small);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Participants' }).click();
  await shoot(page, 'drawer-panel', small);
  await page.keyboard.press('Escape');
  await server.control(thread, { archive: {} });
  await expect(page.getByText('This conversation is archived')).toBeVisible();
  await shoot(page, 'archived', both);
  await page.goto(`${server.url}/t/none`);
  await expect(page.getByRole('heading', { name: 'This conversation does not exist' })).toBeVisible();
  await shoot(page, 'missing', both);
});

test('sessions: several, linked, one asks, one is ended', async ({ page }) => {
  test.skip(!TERMINALS, 'tmux or fake-tui is missing');
  const small = SIZES[2]!;
  await server.stop();
  server = await new Server(SESSIONS).start();
  await page.goto(server.page);
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await expect(page.getByText('No agents run in terminals.')).toBeVisible();
  await shoot(page, 'sessions-none', both);
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.getByRole('button', { name: 'New agent', exact: true }).click();
  await shoot(page, 'session-start', [SIZES[1]!, small]);
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 1360, height: 820 });
  const ids: string[] = [];
  for (const name of ['planner', 'builder', 'reviewer', 'a-session-with-a-rather-long-name', 'done'])
    ids.push(await server.startSession(name));
  const [planner, builder, reviewer, long, done] = ids as [string, string, string, string, string];
  await server.link({ session: planner }, { session: builder });
  await server.link(
    { session: planner, number: 1, role: 'lead' },
    { session: reviewer, number: 2, role: 'critic' },
    { session: long, number: 3 },
  );
  await server.post(`/sessions/${done}/end`, {});
  await expect(page.getByRole('list', { name: 'Ended' }).getByRole('listitem')).toHaveCount(1);
  await server.post(`/sessions/${builder}/messages`, { message: 'Clean up, please. [ask:rm -rf build]' });
  await expect(page.getByRole('navigation').getByRole('link', { name: /builder asks you/ })).toBeVisible();
  await shoot(page, 'sessions');
  await page.goto(`${server.url}/t/${builder}/terminal`);
  await expect(page.getByRole('article', { name: 'builder asks for permission' })).toBeVisible();
  await shoot(page, 'session-asks');
  await page.goto(`${server.url}/t/${planner}/terminal`);
  await expect(page.getByRole('group', { name: 'Screen of planner' })).toBeVisible();
  await shoot(page, 'session');
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.getByRole('button', { name: 'Link…' }).click();
  await page.getByRole('checkbox', { name: /builder/ }).check();
  await shoot(page, 'session-link', [SIZES[0]!, small]);
  await page.goto(`${server.url}/t/${done}/terminal`);
  await expect(page.getByRole('heading', { name: 'Ended' })).toBeVisible();
  await shoot(page, 'session-ended', both);
  await page.goto(`${server.url}/t/${builder}`);
  await expect(page.getByRole('article', { name: 'builder asks for permission' })).toBeVisible();
  await shoot(page, 'session-home', both);
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.getByRole('button', { name: 'Invite' }).first().click();
  await page.getByRole('button', { name: 'A running agent' }).click();
  await shoot(page, 'session-invite', [SIZES[0]!, small]);
});
