/**
 * Budgets: reported when they are used up, raised by a person, and the costs of turns per agent.
 */

import type { Page } from '@playwright/test';
import { CONFIG, settled } from '../screens/stage';
import { Server } from '../server';
import { accessible, expect, messagesOf, say, signInWith, shown, signIn, test } from './fixture';

const conversation = `${CONFIG}\n[budgets]\nconversation = { turns_per_hour = 1 }\n`;
const hall = `${CONFIG}\n[budgets]\nhall = { turns_per_hour = 1 }\n`;

/** Opens a conversation with a budget for one turn, and sends two messages that need one each. */
async function usedUp(page: Page, server: Server): Promise<string> {
  const thread = await server.begin('Thrift', ['terse'], 'mention_only');
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@terse one');
  await expect(messagesOf(page, 'terse')).toHaveCount(1);
  await settled(server, thread);
  await say(page, '@terse two');
  await expect(shown(page, /The budget of .* \(1 turn an hour\) is used up until/)).toBeVisible();
  return thread;
}

test.describe('of a conversation', () => {
  test.use({ config: conversation });

  test('is raised where it is told, and then agents answer again', async ({ page, server }) => {
    await signIn(page, server);
    await usedUp(page, server);
    const costs = page.getByRole('region', { name: 'What turns have cost' });
    await expect(costs).toContainText('1 of 1 turn this hour');
    await expect(costs.getByRole('listitem')).toContainText('terse');
    await expect(costs.getByRole('button', { name: 'Raise…' })).toBeVisible();

    await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Raise…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Raise the budget' });
    await expect(dialog.getByLabel('More turns each hour')).toBeFocused();
    await accessible(page);
    await dialog.getByLabel('More turns each hour').fill('0');
    await expect(dialog.getByRole('button', { name: 'Raise' })).toBeDisabled();
    await dialog.getByLabel('More turns each hour').fill('2');
    await dialog.getByLabel('For').selectOption('4 hours');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Raise' }).click();
    await expect(dialog).toHaveCount(0);
    await expect(shown(page, 'You raised the budget by 2 turns an hour, until')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Raise…' })).toHaveCount(0);
    await expect(costs).toContainText('1 of 3 turns this hour');
    await say(page, '@terse three');
    await expect(messagesOf(page, 'terse')).toHaveCount(2);
    await expect(costs.getByRole('listitem')).toContainText('2 turns');
  });

  test('is nobody’s to raise who is not known: the way in is shown', async ({ page, server }) => {
    await usedUp(page, server);
    await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Raise…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Raise the budget' });
    await expect(dialog).toContainText('Sign in to raise it');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByLabel('Key')).toBeVisible();
  });
});

test.describe('of the server', () => {
  test.use({ config: hall });

  test('is raised by whoever runs it', async ({ page, server }) => {
    await signIn(page, server);
    await usedUp(page, server);
    const costs = page.getByRole('region', { name: 'What turns have cost' });
    await costs.getByRole('button', { name: 'Raise…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Raise the budget' });
    await dialog.getByRole('button', { name: 'Raise' }).press('Enter');
    await expect(page.getByText('The budget of this server is raised until')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Raise…' })).toHaveCount(0);
    await say(page, '@terse three');
    await expect(messagesOf(page, 'terse')).toHaveCount(2);
  });

  test('says to a person who does not run it that it is not theirs', async ({ page, server }) => {
    const { token } = await server.post<{ token: string }>('/tokens', { principal: 'ann' });
    await signInWith(page, server, token);
    await usedUp(page, server);
    await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Raise…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Raise the budget' });
    await expect(dialog).toContainText('Only the server’s administrator can raise this budget.');
    await expect(dialog.getByRole('button', { name: 'Raise' })).toHaveCount(0);
  });
});

test.describe('of money', () => {
  test.use({ config: `${CONFIG}\n[budgets]\ncurrency = "EUR"\nconversation = { cost_per_day = 2.5 }\n` });

  test('is in the currency of the server', async ({ page, server }) => {
    await signIn(page, server);
    const thread = await server.begin('Euros', ['terse']);
    await page.goto(`${server.url}/t/${thread}`);
    await expect(page.getByRole('region', { name: 'What turns have cost' })).toContainText('0 EUR of 2.50 EUR today');
  });
});
