/**
 * A conversation of a task: a person in the page, an agent of the server, and two remote agents of
 * other programs.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import type * as Rpc from '../../../clients/typescript/rpc';
import type { Server } from '../server';
import { accessible, box, expect, messagesOf, participant, say, shown, signIn, test } from './fixture';

const CLIENT = join(import.meta.dirname, '../../../clients/typescript/rpc.ts');
const DEFAULT_APP = 'e12fe562-ed1f-4d2d-bed5-68b8edfa41cb';
const NARROW = { width: 390, height: 844 };

type Client = typeof Rpc;
type Place = { taskId: string; conversationId: string };

/**
 * A remote agent. It runs in a page of its own, because browsers have WebSockets and Node 20 does
 * not.
 */
class Remote {
  id = '';
  private constructor(private readonly page: Page) {}

  static async start(page: Page, server: Server, name: string): Promise<Remote> {
    const options = { target: ScriptTarget.ES2022, module: ModuleKind.ES2022 };
    const { outputText } = transpileModule(readFileSync(CLIENT, 'utf8'), { compilerOptions: options });
    await page.route('**/rpc.js', (route) => route.fulfill({ contentType: 'text/javascript', body: outputText }));
    await page.goto(server.url);
    const remote = new Remote(page);
    remote.id = await page.evaluate(async (name) => {
      const client = (await import('/rpc.js' as string)) as Client;
      const agent = await client.connect(location.origin, (await client.register(location.origin, name)).apiKey);
      const heard: unknown[] = [];
      const archived = new Promise((resolve) => agent.on('task/conversation/archived', resolve));
      await agent.onMessage(({ message, text }) => heard.push([message.senderId, text]));
      Object.assign(window, { agent, heard, archived });
      return agent.id;
    }, name);
    return remote;
  }

  /** Calls a method. Rejects on an error. */
  call<M extends keyof Rpc.Methods>(method: M, params: Rpc.Methods[M]['params']): Promise<Rpc.Methods[M]['result']> {
    return this.page.evaluate(
      ({ method, params }) => {
        const { agent } = window as unknown as { agent: Rpc.Agent };
        return agent.call(method, params);
      },
      { method, params },
    );
  }

  /** Speaks in a conversation. Resolves to the code and message of a refusal. */
  say(place: Place, text: string): Promise<unknown> {
    return this.page.evaluate(
      ({ place, text }) => {
        const { agent } = window as unknown as { agent: Rpc.Agent };
        return agent.say(place, text).catch(({ code, message }: Rpc.Refused) => ({ code, message }));
      },
      { place, text },
    );
  }

  /** Returns the messages received so far, each with the sender's name from `agents/lookup`. */
  async heard(): Promise<string[]> {
    const heard = await this.page.evaluate(() => (window as unknown as { heard: [string, string][] }).heard);
    const agentIds = [...new Set(heard.map(([sender]) => sender))];
    if (!agentIds.length) return [];
    const { agents } = await this.call('agents/lookup', { agentIds });
    const names = new Map(agents.map(({ id, name }) => [id, name]));
    return heard.map(([sender, text]) => `${names.get(sender)}: ${text}`);
  }

  archived(): Promise<unknown> {
    return this.page.evaluate(() => (window as unknown as { archived: Promise<unknown> }).archived);
  }
}

test('a person, an agent of the server and two of other programs talk until the person archives it', async ({
  page,
  server,
  browser,
}) => {
  const others = await browser.newContext();
  const ada = await Remote.start(await others.newPage(), server, 'ada');
  const bob = await Remote.start(await others.newPage(), server, 'bob');
  const { task, conversation } = await ada.call('task/request', {
    appId: DEFAULT_APP,
    invitedAgentIds: [bob.id],
    initialConversation: { name: 'Project Alpha' },
  });
  const place = { taskId: task.id, conversationId: conversation!.id };

  await signIn(page, server);
  await page.getByRole('link', { name: /Project Alpha/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Project Alpha' })).toBeVisible();
  await ada.say(place, '@bob are 40 testers enough?');
  await expect(messagesOf(page, 'ada')).toContainText('are 40 testers enough?');
  await bob.say(place, 'For a first round.');
  await expect(messagesOf(page, 'bob')).toContainText('For a first round.');

  // Both are connected, and shown by name.
  await expect(participant(page, 'ada')).toContainText('ready');
  await expect(participant(page, 'bob')).not.toContainText(/away|elsewhere|[0-9a-f]{8}-/);

  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Invite' });
  await dialog.getByRole('button', { name: /^analyst/ }).click();
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(participant(page, 'analyst')).toBeVisible();
  // An agent that is not named is not asked.
  await say(page, 'I read along.');
  await say(page, '@analyst what do you say?');
  await expect(messagesOf(page, 'analyst')).toHaveCount(1);
  const words: unknown = expect.stringMatching(/^analyst: \S/);
  for (const [remote, other] of [
    [ada, 'bob: For a first round.'],
    [bob, 'ada: @bob are 40 testers enough?'],
  ] as const) {
    const all = [other, 'user: I read along.', 'user: @analyst what do you say?', words];
    await expect.poll(() => remote.heard()).toEqual(all);
  }
  await accessible(page);
  await page.setViewportSize(NARROW);
  await expect(box(page)).toBeVisible();
  await accessible(page);

  await page.getByRole('button', { name: 'More about this conversation' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await expect(page.getByText('This conversation is archived')).toBeVisible();
  expect(await ada.archived()).toMatchObject(place);
  expect(await bob.archived()).toMatchObject(place);
  expect(await bob.say(place, 'Wait.')).toEqual({ code: -32022, message: 'Conversation is archived' });
  await expect(shown(page, 'Wait.')).toHaveCount(0);
  await others.close();
});
