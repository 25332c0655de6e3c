// Two agents in a task, and a server that is killed in the middle: no message is missed or comes twice. The argument is the address of a
// server in local mode. A line "kill" of the output asks for kill -9 and a restart of the server; a line of input reports the restart.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';

import { connect, Refused, register, textOf, type Agent, type Heard } from '../rpc.ts';

const DEFAULT_APP = 'e12fe562-ed1f-4d2d-bed5-68b8edfa41cb';
const base = process.argv[2]!;
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

class Ear {
  readonly texts: string[] = [];
  private look: () => void = () => {};

  hear({ text }: Heard): void {
    this.texts.push(text);
    this.look();
  }

  /** Resolves when `count` messages have been handled. */
  async until(count: number): Promise<string[]> {
    while (this.texts.length < count) await new Promise<void>((resolve) => (this.look = resolve));
    return this.texts;
  }
}

const quiet = { onError: () => {}, onConnection: () => {} };
const keys = await Promise.all(['ada', 'bob'].map((name) => register(base, name)));
const [ada, bob] = await Promise.all(keys.map(({ apiKey }) => connect(base, apiKey, quiet)) as [Promise<Agent>, Promise<Agent>]);
assert.deepEqual([ada.id, bob.id], keys.map(({ agentId }) => agentId));
await assert.rejects(register(base, 'ada'), /409/);

// A task with both agents, and a conversation. Bob is notified, and answers messages that name him.
const begun = new Promise<string>((resolve) => bob.on('task/conversation/created', ({ name }) => resolve(name ?? '')));
const [adas, bobs] = [new Ear(), new Ear()];
await ada.onMessage((heard) => adas.hear(heard));
await bob.onMessage(async (heard) => {
  bobs.hear(heard);
  if (heard.named) await heard.reply(`heard ${heard.text}`);
});
const { task, conversation } = await ada.call('task/request', {
  appId: DEFAULT_APP,
  invitedAgentIds: [bob.id],
  initialConversation: { name: 'Plan' },
});
assert.equal(await begun, 'Plan');
const place = { taskId: task.id, conversationId: conversation!.id };
for (let n = 1; n <= 5; n += 1) await ada.say(place, `@bob ${n}`);
const early = Array.from({ length: 5 }, (_, n) => `@bob ${n + 1}`);
assert.deepEqual(await bobs.until(5), early);
assert.deepEqual(await adas.until(5), early.map((text) => `heard ${text}`));

// The server is killed while Ada talks. Carol, who connects and disconnects, reads everything from her position on.
const positions = new Map<string, string>();
const carolKey = (await register(base, 'carol')).apiKey;
const carols = new Ear();
const first = await connect(base, carolKey, { ...quiet, positions });
await first.onMessage((heard) => carols.hear(heard));
await ada.call('task/addParticipant', { taskId: task.id, agentId: first.id });
await ada.call('task/conversation/participants/add', { ...place, agentId: first.id });
const talk = async (from: number, to: number) => {
  for (let n = from; n <= to; n += 1) await ada.say(place, n % 5 ? `word ${n}` : `@bob word ${n}`);
};
await talk(6, 10);
await carols.until(16);
first.close();
const talking = talk(11, 30);
await bobs.until(15);
console.log('kill');
await Promise.all([talking, input.next()]);
const late = Array.from({ length: 25 }, (_, n) => ((n + 6) % 5 ? `word ${n + 6}` : `@bob word ${n + 6}`));
assert.deepEqual(await bobs.until(30), [...early, ...late]);
const answers = [...early, ...late.filter((text) => text.startsWith('@'))].map((text) => `heard ${text}`);
assert.deepEqual(await adas.until(10), answers);

const second = await connect(base, carolKey, { ...quiet, positions });
await second.onMessage((heard) => carols.hear(heard));
await carols.until(40);
const { messages } = await ada.call('messages/list', { ...place, limit: 200 });
assert.deepEqual(carols.texts, messages.map(textOf));
assert.equal(messages.length, 40);

// An archived conversation takes no more messages; the error says so.
const archived = new Promise((resolve) => bob.on('task/conversation/archived', resolve));
await ada.call('task/conversation/archive', place);
await archived;
const refused = (error: unknown) => error instanceof Refused && error.code === -32022;
await assert.rejects(bob.say(place, 'too late'), refused);

// An app's manager decides who may begin a task, and who receives a message.
const judge = await connect(base, (await register(base, 'judge')).apiKey, quiet);
const appId = '11111111-2222-4333-8444-555555555555';
await judge.manage(
  { appId, name: 'Court', hooks: { task_create: {}, message_authorize: {} } },
  {
    'task/create': ({ invitedAgentIds }) => ({
      verdict: invitedAgentIds.length ? { decision: 'accept' } : { decision: 'reject', reason: 'alone' },
    }),
    'messages/authorize': () => ({ verdict: { decision: 'Forward', recipients: [second.id] } }),
  },
);
const alone = (error: unknown) => error instanceof Refused && error.code === -32024 && error.data?.reason === 'alone';
await assert.rejects(ada.call('task/request', { appId, invitedAgentIds: [] }), alone);
const court = await ada.call('task/request', {
  appId,
  invitedAgentIds: [second.id, bob.id],
  initialConversation: { name: 'Case' },
});
await ada.say({ taskId: court.task.id, conversationId: court.conversation!.id }, 'for Carol');
assert.equal((await carols.until(41)).at(-1), 'for Carol');
assert.equal(bobs.texts.length, 30);

for (const agent of [ada, bob, second, judge]) agent.close();
await assert.rejects(ada.call('network/ping', {}), /closed/);
await assert.rejects(connect(base, 'nobody', quiet), (error) => error instanceof Refused && error.code === -32000);
console.log('said:', messages.length);
process.exit(0);
