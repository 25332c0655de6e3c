// A conversation with the generated types. The argument is the address of a server in local mode.

import assert from 'node:assert/strict';

import { moothall, type Schemas } from '../client.ts';

const client = moothall(process.argv[2]!);

async function post(id: string, body: Schemas['NewEvent']): Promise<Schemas['Envelope']> {
  const { data, error } = await client.POST('/threads/{id}/events', { params: { path: { id } }, body });
  assert(data?.event, error?.error.message);
  return data.event;
}

async function replyTo(id: string, asked: Schemas['Envelope']): Promise<Schemas['Envelope']> {
  const until = Date.now() + 60_000;
  while (Date.now() < until) {
    const query = { after: asked.seq, as: 'user' };
    const { data } = await client.GET('/threads/{id}/events', { params: { path: { id }, query } });
    const reply = data?.events.find((event) => event.type === 'message' && event.meta?.reply_to === asked.id);
    if (reply) return reply;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no reply');
}

const created = await client.POST('/threads', { body: { name: 'From TypeScript', policy: 'mention_only' } });
const id = created.data!.id;
const profile = { client: 'analyst', model: 'demo' };
await post(id, { type: 'control', from: 'user', content: { invite: { participant_id: 'ann', profile } } });
const asked = await post(id, { from: 'user', content: '@ann are 40 testers enough?' });
const reply = await replyTo(id, asked);
assert.equal(reply.from, 'ann');

const query = { before: reply.seq + 1, limit: 1, as: 'user' };
const newest = await client.GET('/threads/{id}/events', { params: { path: { id }, query } });
assert.deepEqual(newest.data?.events.map((event) => event.id), [reply.id]);
const turns = await client.GET('/threads/{id}/turns', { params: { path: { id } } });
const turn = turns.data?.turns.find((turn) => turn.reply === reply.id);
assert.deepEqual([turn?.participant, turn?.why, turn?.outcome], ['ann', 'forced', 'spoke']);

const missing = await client.GET('/threads/{id}/state', { params: { path: { id: 'nowhere' } } });
assert.deepEqual([missing.response.status, missing.error?.error.code], [404, 'thread_not_found']);
console.log('said:', reply.content);
