/** A person with limited rights at the page of an agent whose conversation they may not read. */

import { SESSIONS, TERMINALS } from '../screens/stage';
import { accessible, expect, signInWith, test } from './fixture';

test.use({ config: SESSIONS });
test.skip(!TERMINALS, 'tmux or fake-tui is missing');

const NAME = 'nightingale';
const WORDS = 'The parcel is in the attic.';

test('is told that it does not exist, and gets no name, no words and no lines of its screen', async ({
  page,
  server,
}) => {
  const agent = await server.startSession(NAME);
  await server.post(`/sessions/${agent}/messages`, { message: `[say:${WORDS}]` });
  const screen = () => server.get<{ text: string }>(`/sessions/${agent}/screen`).then(({ text }) => text);
  await expect.poll(screen).toContain(WORDS);
  const open = await server.begin('Open to Bea', ['coder'], 'mention_only');
  const scopes = ['threads:read', 'threads:write'];
  const { token } = await server.post<{ token: string }>('/tokens', { principal: 'bea', threads: [open], scopes });

  const leaks: string[] = [];
  const secret = new RegExp(`${NAME}|attic`);
  page.on('response', async (response) => {
    // The answer of a stream does not end, and the page shows what it brings.
    if (response.headers()['content-type']?.includes('event-stream')) return;
    const text = await response.text().catch(() => '');
    if (secret.test(text)) leaks.push(`${response.url()}: ${text}`);
  });
  await signInWith(page, server, token);
  for (const path of ['', '/terminal']) {
    await page.goto(`${server.url}/t/${agent}${path}`);
    await expect(page.getByRole('heading', { name: 'This conversation does not exist' })).toBeVisible();
    await expect(page.getByRole('group', { name: /^Screen of/ })).toHaveCount(0);
    await expect(page.getByRole('button', { name: /Interrupt|Take over|Resume|^End$/ })).toHaveCount(0);
    await expect(page.locator('body')).not.toContainText(secret);
    await expect(page).not.toHaveTitle(secret);
    await accessible(page);
  }
  // A conversation that they may read is one click away.
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /Open to Bea/ })
    .click();
  await expect(page.getByRole('heading', { level: 1, name: 'Open to Bea' })).toBeVisible();
  await page.goto(`${server.url}/s`);
  await expect(page.getByRole('main')).toBeVisible();
  await expect(page.locator('body')).not.toContainText(secret);
  await page.keyboard.press('Control+k');
  await page.keyboard.type(NAME.slice(0, 5));
  await expect(page.getByRole('option', { name: NAME })).toHaveCount(0);
  expect(leaks).toEqual([]);
});
