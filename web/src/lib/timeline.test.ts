import { describe, expect, it } from 'vitest';
import { describe as line } from './lines';
import { Timeline, type Row } from './timeline';
import type { Envelope } from './types';

let seq = 0;
function event(
  type: string,
  from: string,
  content: unknown,
  meta: Envelope['meta'] = undefined,
  minutes = 0,
): Envelope {
  seq += 1;
  const ts = new Date(Date.UTC(2026, 4, 4, 12, minutes, 0, seq)).toISOString();
  return { id: `e${seq}`, seq, ts, thread: 't', type, from, to: 'all', content, ...(meta ? { meta } : {}) };
}
const cause = (of: Envelope, depth = 0) => ({ id: of.id, seq: of.seq, from: of.from, depth });
const turn = (content: Record<string, unknown>) => event('turn', 'moothall', content);
const usage = { seconds: 2, input_tokens: 10, output_tokens: 5, cost_micros: 0 };

function messages(rows: readonly Row[]) {
  return rows.filter((row) => row.kind === 'message');
}

describe('a timeline', () => {
  it('has no line for what an agent writes that only hears', () => {
    const timeline = new Timeline();
    const kept = (because: string) => turn({ event: 'kept', participant: 'b', because, text: 'hm' });
    timeline.append([event('message', 'a', 'A piece.'), kept('listening')]);
    expect(timeline.rows.filter((row) => row.kind === 'line')).toEqual([]);
    timeline.append([kept('late')]);
    expect(timeline.rows.filter((row) => row.kind === 'line')).toHaveLength(1);
  });

  it('says under each reply why it was asked, and under the question who stayed silent', () => {
    const timeline = new Timeline();
    const question = event('message', 'user', '@a hello?');
    timeline.append([
      question,
      turn({ event: 'granted', turn: '1', participant: 'a', why: 'forced', cause: cause(question) }),
      turn({ event: 'started', turn: '1' }),
    ]);
    const reply = event('message', 'a', 'Yes.', { turn: '1', depth: 1, reply_to: question.id });
    timeline.append([reply, turn({ event: 'ended', turn: '1', participant: 'a', outcome: 'spoke', usage })]);
    timeline.append([
      turn({ event: 'granted', turn: '2', participant: 'b', why: 'polled', cause: cause(question) }),
      turn({ event: 'ended', turn: '2', participant: 'b', outcome: 'passed', usage }),
    ]);
    timeline.append([turn({ event: 'skipped', participant: 'a', why_not: 'cooled', cause: cause(reply, 1) })]);
    const [asked, said] = messages(timeline.rows);
    expect(said?.turn).toMatchObject({ why: 'forced', outcome: 'spoke', usage });
    expect([asked?.root, said?.root]).toEqual([question.id, question.id]);
    expect(asked?.verdicts).toEqual([
      { participant: 'a', word: 'spoke' },
      { participant: 'b', word: 'passed' },
    ]);
  });

  it('knows about which messages an agent was asked, or left out for a reason of its own', () => {
    const timeline = new Timeline();
    const words = ['to one', 'to the muted', 'to none'].map((text) => event('message', 'user', text));
    const [granted, skipped] = words as [Envelope, Envelope];
    timeline.append([
      ...words,
      turn({ event: 'granted', turn: 't1', participant: 'a', why: 'forced', kind: 'reply', cause: cause(granted) }),
      turn({ event: 'skipped', participant: 'b', why_not: 'muted', cause: cause(skipped) }),
    ]);
    expect(messages(timeline.rows).map((row) => row.asked)).toEqual([true, true, false]);
  });

  it('knows which waiting messages a stop let go of', () => {
    const timeline = new Timeline();
    const waiting = (words: string) => event('message', 'user', words, { queued: true });
    const [taken, left] = [waiting('one'), waiting('two')];
    timeline.append([taken, left, turn({ event: 'taken', cause: cause(taken) })]);
    timeline.append([event('notice', 'moothall', { code: 'stopped' }), waiting('three')]);
    expect(messages(timeline.rows).map((row) => row.dropped)).toEqual([false, true, false]);
  });

  it('tells of everybody who was invited at once, and not the key of a link', () => {
    const of = (id: string) => ({ participant_id: id, profile: {} });
    const content = { bind: 'link:0c5f', invite: of('a'), invites: [of('a'), of('b'), of('c')] };
    const text = line([event('control', 'user', content)], (id) => id).text;
    expect(text).toBe('user linked the agents · invited a, b, c');
  });

  it('has a sentence for what is connected, and for controls that it does not know', () => {
    const said = (content: unknown) => line([event('control', 'user', content)], (id) => id);
    expect(said({ bind: 'chat:telegram:-100' }).text).toBe('user connected a chat on Telegram');
    expect(said({ unbind: 'chat:telegram:-100' }).text).toBe('user disconnected a chat on Telegram');
    expect(said({ bind: 'link:0c5f' }).text).toBe('user linked the agents');
    expect(said({ unbind: 'link:0c5f' }).text).toBe('user closed the link');
    const members = { bind: 'gathering-of:a', binds: ['gathering-of:a', 'gathering-of:b', 'gathering:1'] };
    expect(said(members).text).toBe('user brought the members in · made it a gathering');
    const two = { bind: 'link:1', binds: ['link:1', 'elsewhere:7'] };
    expect(said(two).text).toBe('user linked the agents · connected “elsewhere:7”');
    expect(said({ bind: { of: 'the future' } }).text).toBe('user connected another product');
    const unknown = said({ teleport: { to: 'the moon' } });
    expect([unknown.text, unknown.detail]).toEqual(['user changed “teleport”', null]);
  });

  it('knows for how long a turn waited for answers, several at a time', () => {
    const timeline = new Timeline();
    const at = (seconds: number, type: string, content: unknown) => ({
      ...event(type, 'moothall', content),
      ts: new Date(Date.UTC(2026, 4, 4, 12, 0, seconds)).toISOString(),
    });
    const asks = (permission: string, seconds: number) =>
      at(seconds, 'permission', { event: 'requested', permission, turn: '1', participant: 'a', options: [] });
    const ends = (permission: string, seconds: number) =>
      at(seconds, 'permission', { event: 'answered', permission, by: 'user', option: 'x', label: 'x' });
    timeline.append([at(0, 'turn', { event: 'started', turn: '1', deadline: '2026-05-04T12:10:00.000Z' })]);
    timeline.append([asks('a', 3), asks('b', 5), ends('a', 9)]);
    expect(timeline.stoodMs('1')).toBe(0);
    timeline.append([ends('b', 13), ends('b', 14), asks('c', 20), ends('c', 21)]);
    expect(timeline.stoodMs('1')).toBe(11_000);
  });

  it('is the same whether events come one by one or all at once', () => {
    const events = [
      event('message', 'user', 'one'),
      event('message', 'user', 'two', undefined, 1),
      event('control', 'user', { pause: { on: true } }, undefined, 2),
    ];
    const slow = new Timeline();
    events.forEach((item) => slow.append([item]));
    const fast = new Timeline();
    fast.append(events);
    expect(slow.rows).toEqual(fast.rows);
  });

  it('groups what one person says in a row, and separates days', () => {
    const timeline = new Timeline();
    timeline.append([
      event('message', 'user', 'one'),
      event('message', 'user', 'two', undefined, 1),
      event('message', 'user', 'three', undefined, 60 * 24 * 2),
    ]);
    expect(timeline.rows.map((row) => row.kind)).toEqual(['day', 'message', 'message', 'day', 'message']);
    expect(messages(timeline.rows).map((row) => row.grouped)).toEqual([false, true, false]);
  });

  it('puts what somebody arranges into one line', () => {
    const timeline = new Timeline();
    const invite = (id: string) => event('control', 'user', { invite: { participant_id: id, profile: {} } });
    timeline.append([
      event('thread.created', 'user', 'x'),
      invite('a'),
      invite('b'),
      event('control', 'user', { pause: { on: true } }),
    ]);
    const row = timeline.rows[1];
    expect(row?.kind).toBe('line');
    if (row?.kind === 'line') {
      expect(line(row.events, (id) => id).text).toBe(
        'user began the conversation · invited a, b · paused the conversation',
      );
    }
  });

  it('does not stumble over what it does not know', () => {
    const timeline = new Timeline();
    timeline.append([
      event('from-the-future', 'x', { a: 1 }),
      event('turn', 'moothall', null),
      event('notice', 'moothall', null),
      event('permission', 'moothall', null),
      event('permission', 'moothall', { event: 'answered', permission: 'not-loaded', by: 'user', option: 'x' }),
      event('control', 'user', 'text'),
    ]);
    const lines = timeline.rows.filter((row) => row.kind === 'line').map((row) => line(row.events, (id) => id).text);
    expect(lines[0]).toBe('x sent “from-the-future”');
  });
});
