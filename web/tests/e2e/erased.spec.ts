/** Erased words disappear from every open page at once. */

import { expect, messagesOf, shown, signIn, test } from './fixture';

test('a row, a reply to it, the draft of one, the list and a search let go of erased words', async ({
  page,
  server,
  browser,
}) => {
  const thread = await server.begin('Secrets');
  const { event } = await server.say(thread, 'the password is xyzzy');
  await server.say(thread, 'a reply', 'user', { meta: { reply_to: event.id } });
  await signIn(page, server);
  await page.goto(`${server.url}/t/${thread}`);
  await messagesOf(page, 'You').first().hover();
  await messagesOf(page, 'You').first().getByRole('button', { name: 'Reply' }).click();
  const context = await browser.newContext();
  const other = await context.newPage();
  await signIn(other, server);
  await other.keyboard.press('Control+Shift+f');
  const search = other.getByRole('dialog', { name: 'Search messages' });
  await search.getByRole('textbox').fill('xyzzy');
  await expect(search.getByRole('listitem')).toHaveCount(1);
  await expect(page.getByText('xyzzy')).not.toHaveCount(0);
  await server.post(`/threads/${thread}/events/${event.id}/redact`, {});
  await expect(page.getByText('xyzzy')).toHaveCount(0);
  await expect(messagesOf(page, 'You').first()).toContainText('erased');
  await expect(search.getByText('xyzzy')).toHaveCount(1);
  await expect(search).toContainText('Nothing found for “xyzzy”');
  await page.reload();
  await expect(messagesOf(page, 'You').first()).toContainText('erased');
  await expect(shown(page, 'The text of an event was erased.')).toBeVisible();
  await context.close();
});
