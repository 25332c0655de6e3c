/**
 * Letting others in from the page: an agent with a code or a token, and a participant who is
 * already invited.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { BINARY, Server } from '../server';
import { accessible, expect, messagesOf, participant, test as base } from './fixture';

const test = base.extend<{ server: Server }>({
  // eslint-disable-next-line no-empty-pattern
  server: async ({}, use) => {
    const server = await new Server('', ['--mode', 'token']).start();
    await use(server);
    await server.stop();
  },
});

async function inviteDialog(page: Page, server: Server, thread: string, client: string): Promise<Locator> {
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Client').fill(client);
  return dialog;
}

/** Runs the program that accepts an invitation. */
function joined(server: Server, link: string) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: server.folder, XDG_STATE_HOME: join(server.folder, 'state') };
  return spawnSync(BINARY, ['join', '--print', link], { env, encoding: 'utf8' });
}

function as(token: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } };
}

test('an agent gets a code that turns, once, into a token for this conversation', async ({ page, server }) => {
  const thread = await server.begin('With ada');
  const other = await server.begin('Without her');
  await page.goto(server.page);
  await expect(page.getByRole('button', { name: 'New conversation' })).toBeVisible();
  const dialog = await inviteDialog(page, server, thread, 'ada');
  await expect(dialog.getByText('This server does not run “ada”')).toBeVisible();
  await dialog.getByLabel('Valid for').selectOption('one hour');
  await dialog.getByText('Change permissions').click();
  await expect(dialog.getByRole('checkbox', { name: 'Speak' })).toBeChecked();
  await expect(dialog.getByRole('checkbox', { name: /permission/ })).toHaveCount(0);
  await dialog.getByRole('checkbox', { name: 'Invite and remove' }).check();
  await accessible(page);
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click();

  const link = (await dialog.getByTestId('join-link').textContent()) ?? '';
  expect(link).toMatch(new RegExp(`^${server.url}/#join=inv_`));
  await expect(dialog.getByTestId('hand-on').first()).toHaveText(`moothall join '${link}'`);
  await expect(dialog.getByTestId('hand-on').last()).toContainText('export MOOTHALL_TOKEN="$(moothall join --print ');
  await expect(dialog.getByText('Give it these lines')).toBeVisible();
  await accessible(page);

  const token = joined(server, link).stdout.trim();
  expect(token).toMatch(/^agt_/);
  const body = JSON.stringify({ from: 'ada', content: 'I am here.' });
  expect((await fetch(`${server.url}/threads/${thread}/events`, { ...as(token), method: 'POST', body })).ok).toBe(true);
  expect((await fetch(`${server.url}/threads/${other}/state`, as(token))).status).toBe(404);
  const who = (await (await fetch(`${server.url}/session`, as(token))).json()) as { scopes: string[] };
  expect(who.scopes.toSorted()).toEqual(['participants:invite', 'threads:read', 'threads:write']);
  expect(joined(server, link).stderr).toContain('used or expired');

  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(messagesOf(page, 'ada')).toContainText('I am here.');
});

test('whoever runs the server hands out a token, with the lines of its environment', async ({ page, server }) => {
  const thread = await server.begin('With ada');
  await page.goto(server.page);
  await expect(page.getByRole('button', { name: 'New conversation' })).toBeVisible();
  const dialog = await inviteDialog(page, server, thread, 'ada');
  await dialog.getByRole('radio', { name: /A token/ }).check();
  await dialog.getByLabel('Valid for').selectOption('a week');
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
  const lines = (await dialog.getByTestId('hand-on').textContent()) ?? '';
  const [, token = ''] = /^export MOOTHALL_SERVER='http.*'\nexport MOOTHALL_TOKEN='(agt_\w+)'$/.exec(lines) ?? [];
  const who = await (await fetch(`${server.url}/session`, as(token))).json();
  expect(who).toMatchObject({ principal: { id: 'ada', kind: 'agent' }, threads: [thread] });
  const days = (Date.parse((who as { expires_at: string }).expires_at) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(7);
});

test('somebody who is here already is let in again, and nobody hands on more than they have', async ({
  page,
  server,
}) => {
  const thread = await server.begin('Later');
  await server.invite(thread, 'ada', { client: 'ada', model: 'x' });
  const scopes = ['threads:read', 'participants:invite'];
  const { token } = await server.post<{ token: string }>('/tokens', { principal: 'bea', threads: [thread], scopes });
  await page.goto(`${server.url}/t/${thread}`);
  await page.getByLabel('Key').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await participant(page, 'ada').getByRole('button', { name: 'Actions for ada' }).click();
  await page.getByRole('menuitem', { name: 'Give access…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give ada access' });
  await expect(dialog.getByRole('radio')).toHaveCount(0);
  await dialog.getByText('Change permissions').click();
  await expect(dialog.getByRole('checkbox')).toHaveCount(2);
  await dialog.getByRole('checkbox', { name: 'Read and listen' }).uncheck();
  await expect(dialog.getByRole('button', { name: 'Create the code' })).toBeDisabled();
  await dialog.getByRole('checkbox', { name: 'Read and listen' }).check();
  await dialog.getByRole('button', { name: 'Create the code' }).click();
  const link = (await dialog.getByTestId('join-link').textContent()) ?? '';
  expect(joined(server, link).stdout).toMatch(/^agt_/);
  // The server now knows her, so only an operator can make another code. The page says so and keeps
  // the choices.
  await dialog.getByRole('button', { name: 'Done' }).click();
  await participant(page, 'ada').getByRole('button', { name: 'Actions for ada' }).click();
  await page.getByRole('menuitem', { name: 'Give access…' }).click();
  await dialog.getByRole('button', { name: 'Create the code' }).click();
  await expect(dialog.getByRole('alert')).toContainText('ada');
});

test('a link that was sent is pasted as a key as well', async ({ page, server }) => {
  const thread = await server.begin('By hand');
  const body = { principal: 'cy', kind: 'human' };
  const { code } = await server.post<{ code: string }>(`/threads/${thread}/invitations`, body);
  await page.goto(server.url);
  await page.getByLabel('Key').fill(`${server.url}/#join=${code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('navigation').getByText('By hand')).toBeVisible();
});
