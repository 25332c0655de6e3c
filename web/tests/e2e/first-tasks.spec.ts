/**
 * The ten tasks of a person who has just started the server, with nothing but what the page shows:
 * roles, names and words.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { FAKE, TERMINALS } from '../screens/stage';
import { accessible, box, expect, messagesOf, say, shown, test } from './fixture';

const PROGRAM = `
[agents.fake]
runtime = "terminal"
command = ["${FAKE}", "--name", "fake"]
screen = "claude"
summary = "Repeats what it is told."

[budgets]
conversation = { turns_per_hour = 40 }
`;

test.use({ config: PROGRAM, viewport: { width: 1440, height: 900 } });
test.skip(!TERMINALS, 'tmux or fake-tui is missing');

/** Begins a conversation at home with agents that the page offers. */
async function ask(page: Page, agents: readonly string[], words: string): Promise<void> {
  await page.getByRole('link', { name: /^Home/ }).click();
  for (const face of await page.getByRole('group', { name: 'Who answers' }).getByRole('button').all()) {
    const isOn = (await face.getAttribute('aria-pressed')) === 'true';
    const isMeant = agents.includes((await face.textContent())?.replace(/^[A-Z]+/, '').trim() ?? '');
    if (isOn !== isMeant) await face.click();
  }
  await page.getByRole('textbox', { name: 'Begin a conversation' }).fill(words);
  await page.getByRole('button', { name: 'Send' }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).not.toHaveText('Home');
}

function conversation(page: Page, name: string | RegExp): Locator {
  return page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name });
}

test('ten of ten', async ({ page, server, browser }) => {
  test.slow();
  const folder = mkdtempSync(join(tmpdir(), 'moothall-first-'));
  mkdirSync(join(folder, 'shop', '.git'), { recursive: true });
  await page.goto(server.page);

  await test.step('a conversation with two agents, who answer', async () => {
    await expect(page.getByRole('heading', { name: 'Talk with several agents at once' })).toBeVisible();
    await ask(page, ['analyst', 'critic', 'writer'], '@analyst and @critic: why do half of our new users leave?');
    for (const name of ['analyst', 'critic']) await expect(messagesOf(page, name).first()).toBeVisible();
  });

  await test.step('why another was silent', async () => {
    await expect(shown(page, /writer passed/).first()).toBeVisible();
    await page.getByRole('button', { name: 'why?' }).last().click();
    const reasons = page.getByRole('list', { name: 'Asked about this message, in order' });
    await expect(reasons.or(page.getByText('Asked about this message, in order')).first()).toBeVisible();
    await expect(page.getByText('asked, could pass').first()).toBeVisible();
  });

  await test.step('what it costs', async () => {
    await expect(page.getByRole('region', { name: 'What turns have cost' })).toContainText(/\d+ of 40 turns this hour/);
  });

  await test.step('a third is invited, and answers', async () => {
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite' });
    await dialog.getByRole('button', { name: /^analyst/ }).click();
    await dialog.getByLabel('Nickname').fill('Ada');
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    await expect(dialog).toHaveCount(0);
    await say(page, '@Ada what would you measure first?');
    await expect(messagesOf(page, 'Ada').first()).toBeVisible();
  });

  await test.step('an installed program is started in a folder', async () => {
    await page.getByRole('link', { name: /^Home/ }).click();
    const faces = page.getByRole('group', { name: 'Who answers' });
    for (const name of ['analyst', 'critic', 'writer', 'fake']) await faces.getByRole('button', { name }).click();
    await page.getByRole('button', { name: /^in / }).click();
    const picker = page.getByRole('group', { name: 'Folder' });
    await picker.getByLabel('Path of the folder').fill(folder);
    await picker.getByLabel('Path of the folder').press('Enter');
    await picker.getByRole('button', { name: /^shop/ }).click();
    await expect(picker.getByText('No folders inside.')).toBeVisible();
    await page.getByRole('textbox', { name: 'Begin a conversation' }).fill('Good morning.');
    await page.getByRole('button', { name: 'Send' }).first().click();
    await expect(messagesOf(page, 'fake').first()).toContainText('Good morning.');
    await expect(page.getByRole('group', { name: 'About fake' })).toContainText('shop');
  });

  await test.step('a permission is answered', async () => {
    await say(page, 'Clean up. [ask:rm -rf build]');
    const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article');
    await expect(card).toContainText('wants to run a command');
    await card.getByRole('button', { name: 'Allow', exact: false }).click();
    await expect(card).toHaveCount(0);
    await expect(messagesOf(page, 'fake').last()).toContainText('Clean up.');
  });

  await test.step('an agent is stopped', async () => {
    await say(page, 'Go on for ever. [work:hold]');
    const about = page.getByRole('group', { name: 'About fake' });
    await expect(about).toContainText('thinking');
    await about.getByRole('button', { name: 'Interrupt' }).click();
    await expect(about).toContainText('ready');
  });

  await test.step('an old message is found', async () => {
    const link = page
      .getByRole('dialog', { name: 'Search messages' })
      .getByRole('link', { name: /You .*@analyst and @critic/ });
    // The index follows the conversations.
    await expect(async () => {
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: /Search or jump/ }).click();
      await page.getByRole('combobox', { name: 'Search or jump' }).fill('users leave');
      await page.getByRole('option', { name: 'Search messages for “users leave”' }).click();
      await expect(link).toBeVisible({ timeout: 2_000 });
    }).toPass();
    await link.click();
    await expect(shown(page, /why do half of our new users leave/).first()).toBeInViewport();
  });

  await test.step('a talking circle brings a harvest', async () => {
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByRole('button', { name: 'Talking circle instead…' }).click();
    const dialog = page.getByRole('dialog', { name: 'New talking circle' });
    await dialog.getByLabel('Opening question').fill('What makes our releases slow?');
    await dialog.getByRole('checkbox', { name: 'You' }).uncheck();
    for (const speaker of ['writer', 'critic']) await dialog.getByRole('checkbox', { name: speaker }).check();
    await dialog.getByLabel('Harvester').selectOption('analyst');
    await dialog.getByRole('button', { name: 'Begin' }).click();
    await expect(page.getByRole('article', { name: 'Harvest', exact: true })).toContainText('What emerged');
  });

  await test.step('a person is invited by a link, and reads and writes', async () => {
    await conversation(page, /half of our new|why do half|critic/)
      .first()
      .click();
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'A person' }).click();
    await dialog.getByLabel('Nickname').fill('Ann');
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    const link = await dialog.getByText(/^http\S+#join=\S+$/).textContent();
    await accessible(page);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await say(page, 'Ann, are you there?');
    const theirs = await browser.newContext();
    const guest = await theirs.newPage();
    await guest.goto(link ?? '');
    await guest
      .getByRole('navigation')
      .getByRole('link', { name: /why do half|half of our|critic/ })
      .first()
      .click();
    await expect(shown(guest, 'Ann, are you there?').first()).toBeVisible();
    await box(guest).fill('Yes, and I read it all.');
    await guest.keyboard.press('Enter');
    await expect(messagesOf(page, 'Ann')).toContainText('Yes, and I read it all.');
    await theirs.close();
  });
  rmSync(folder, { recursive: true });
});
