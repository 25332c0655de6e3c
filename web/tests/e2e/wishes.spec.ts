/** What belongs to no turn: an agent's wish to have another program started, as it stands on the wire. */

import type { Page } from '@playwright/test';
import type { Server } from '../server';
import { accessible, expect, shown, signIn, test } from './fixture';

const WISH = {
  event: 'requested',
  permission: 'p9',
  turn: null,
  participant: 'coder',
  start: { client: 'claude', folder: '/srv/x' },
  action: 'Start claude\nCall it child\nSay to it:\nTidy \u001b[31mup.',
  complete: true,
  options: [
    { id: 'allow', label: 'allow', kind: 'allow_once' },
    { id: 'deny', label: 'deny', kind: 'reject_once' },
  ],
  expires: '2999-01-01T00:00:00.000Z',
  folder: '/srv/x',
};
const about = { permission: 'p9', participant: 'coder' };
const EVENTS: Record<string, unknown> = {
  WISH,
  TIMELESS: { ...WISH, expires: undefined },
  ANSWERED: { ...about, event: 'answered', by: 'user', option: 'allow', label: 'Allow' },
  STARTED: { ...about, event: 'settled', outcome: 'started', session: 's1', name: 'child' },
  EXPIRED: { ...about, event: 'expired' },
  WITHDRAWN: { ...about, event: 'withdrawn', because: 'gone' },
};

interface Event {
  type: string;
  content: unknown;
}

/** A conversation in which these words are read as the events that they name. */
async function wishes(page: Page, server: Server, ...words: string[]): Promise<string> {
  const thread = await server.begin('Wishes', ['coder'], 'mention_only');
  await page.route(`**/threads/${thread}/events?*`, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as { events: Event[] };
    const told = ({ content }: Event) => (typeof content === 'string' ? EVENTS[content] : undefined);
    const events = answer.events.map((event) =>
      told(event) ? { ...event, type: 'permission', content: told(event), meta: {} } : event,
    );
    await route.fulfill({ response, json: { ...answer, events } });
  });
  for (const word of words) await server.say(thread, word);
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  return thread;
}

test('it waits in its conversation and is answered there, with the same buttons', async ({ page, server }) => {
  const thread = await wishes(page, server, 'WISH', 'and we go on');
  const answers: unknown[] = [];
  await page.route('**/permissions/p9/answer', async (route) => {
    answers.push(route.request().postDataJSON());
    await route.fulfill({ json: { received: true, event: null } });
  });
  const card = page.getByRole('region', { name: 'Needs you' }).getByRole('article', { name: /coder asks/ });
  await expect(card).toContainText('Start claude');
  await expect(card).toContainText('In /srv/x');
  await expect(card).toContainText('It holds characters that cannot be seen');
  await accessible(page);
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('a');
  await expect(card).toBeFocused();
  await page.keyboard.press('1');
  await expect.poll(() => answers).toEqual([{ thread, from: 'user', option: 'allow' }]);
});

test('without a time it waits until somebody answers', async ({ page, server }) => {
  await wishes(page, server, 'TIMELESS');
  const card = page.getByRole('article', { name: /coder asks/ });
  await expect(card.getByRole('button', { name: 'Allow' })).toBeEnabled();
  await expect(card.getByRole('timer')).toHaveCount(0);
});

for (const [words, told] of [
  [['ANSWERED'], 'coder asked for a permission. You answered “Allow”.'],
  [['ANSWERED', 'STARTED'], 'coder asked for a permission. You answered “Allow”. It runs as child.'],
  [['EXPIRED'], 'coder asked for a permission. Nobody answered in time.'],
  [['WITHDRAWN'], 'coder asked for a permission. It is not asked any more'],
] as const) {
  test(`its row says what came of it: ${words.join(', ').toLowerCase()}`, async ({ page, server }) => {
    await wishes(page, server, 'WISH', ...words);
    await expect(shown(page, told)).toBeVisible();
    await expect(page.getByRole('region', { name: 'Needs you' })).toHaveCount(0);
    await expect(page.getByRole('link', { name: 'its terminal' })).toHaveCount(words.length - 1);
  });
}
