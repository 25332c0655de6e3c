/** Names in messages, as the server finds them. */

import type { Page } from '@playwright/test';
import { settled } from '../screens/stage';
import { accessible, box, expect, messagesOf, say, test } from './fixture';

/** Returns the marked names of the conversation, each with its participant. */
function marked(page: Page): Promise<[string | null, string | null][]> {
  const names = page.getByRole('region', { name: 'Messages' }).locator('.at');
  return names.evaluateAll((all) => all.map((node) => [node.textContent, node.getAttribute('data-who')]));
}

const WORDS = [
  '**@bob** plans, [@小明](https://example.org/m) checks, 交给@bob处理, @Ann Lee signs.',
  'Not these: @openai/codex, `@bob`, \\@bob, ann@bob.example, https://x.example/@bob.',
  '',
  '> @bob said so',
  '',
  '| who | does |\n|---|---|\n| ＠ＢＯＢ | 👩‍👧 all |',
].join('\n');

test('names are marked where the server found them, and nowhere else', async ({ page, server }) => {
  const thread = await server.begin('Names', [], 'mention_only');
  for (const [id, nickname] of [
    ['bob', 'Bob'],
    ['m', '小明'],
    ['ann_l', 'Ann Lee'],
  ] as const) {
    await server.invite(thread, id, { client: 'quiet', model: 'demo', nickname });
  }
  await server.say(thread, WORDS);
  await settled(server, thread);
  await page.goto(`${server.url}/t/${thread}`);
  await expect(messagesOf(page, 'You')).toContainText('checks');
  const all: [string, string][] = [
    ['@bob', 'bob'],
    ['@小明', 'm'],
    ['@bob', 'bob'],
    ['@Ann Lee', 'ann_l'],
    ['＠ＢＯＢ', 'bob'],
  ];
  await expect.poll(() => marked(page)).toEqual(all);
  await expect(page.locator('.prose strong .at.known')).toHaveText('@bob');
  await expect(page.locator('.prose a .at.known')).toHaveText('@小明');
  await page.screenshot({ path: test.info().outputPath('names.png') });
  await accessible(page);
});

test('a name is completed behind any script, by its nickname, and what is put in reaches its bearer', async ({
  page,
  server,
}) => {
  const thread = await server.begin('Names', ['quiet'], 'mention_only');
  await server.invite(thread, 'ann', { client: 'quiet', model: 'demo', nickname: 'Ann Lee' });
  await server.invite(thread, 'm', { client: 'quiet', model: 'demo', nickname: '小明' });
  await page.goto(`${server.url}/t/${thread}`);
  const cases = [
    ['交给@小', '交给@m ', 'm'],
    ['well, ＠ＡＮＮ l', 'well, @ann ', 'Ann Lee'],
    ['**@ann le', '**@ann ', 'Ann Lee'],
  ] as const;
  for (const [typed, put, who] of cases) {
    await box(page).fill('');
    await box(page).pressSequentially(typed);
    await expect(page.getByRole('option')).toHaveCount(1);
    await page.keyboard.press('Tab');
    await expect(box(page)).toHaveValue(put);
    await expect(page.locator('.will-answer')).toContainText(`Will answer: ${who === 'm' ? '小明' : who}`);
  }
  await box(page).fill('');
  await box(page).pressSequentially('ann@an');
  await expect(page.getByRole('option')).toHaveCount(0);
});

test('a name that no participant bears is told below the message, with the nearest', async ({ page, server }) => {
  const thread = await server.begin('Names', ['quiet']);
  await page.goto(`${server.url}/t/${thread}`);
  await say(page, '@quite and @quiet, look');
  const told = messagesOf(page, 'You').getByRole('status');
  await expect(told).toHaveText(
    'One name reaches no participant: nobody here is called @quite; the nearest name is @quiet.',
  );
});
