import { expect, it } from 'vitest';
import { roundsOf } from './rounds';
import type { Row, TurnInfo, Verdict } from './timeline';
import type { Envelope } from './types';

type MessageRow = Extract<Row, { kind: 'message' }>;

function message(seq: number, root: string | null, more: Partial<MessageRow> = {}): Row {
  const event = { id: `e${seq}`, seq, ts: '2026-01-01T00:00:00.000Z', from: 'x', meta: {} } as unknown as Envelope;
  const row = { kind: 'message', key: `k${seq}`, event, grouped: false, turn: null, verdicts: [], root };
  return { ...row, dropped: false, asked: true, ...more } as Row;
}

function turn(endedAt: string, cost_micros: number): TurnInfo {
  return { participant: 'a', endedAt, usage: { cost_micros } } as unknown as TurnInfo;
}

const passed: Verdict = { participant: 'quiet', word: 'passed' };

it('puts a message and its answers into one line below the last', () => {
  const rows = [
    message(1, 'e1', { verdicts: [passed, { participant: 'a', word: 'spoke' }] }),
    message(2, 'e1', { turn: turn('2026-01-01T00:00:05.000Z', 300) }),
    message(3, 'e1', { turn: turn('2026-01-01T00:00:14.000Z', 200) }),
  ];
  const round = roundsOf(rows).get('k3');
  expect(round).toMatchObject({
    root: 'e1',
    replies: 2,
    seconds: 14,
    costMicros: 500,
    silent: [['passed', ['quiet']]],
  });
  expect(roundsOf(rows).size).toBe(1);
});

it('tells rounds apart that overlap', () => {
  const rows = [message(1, 'e1'), message(2, 'e2'), message(3, 'e1', { turn: turn('2026-01-01T00:00:01.000Z', 0) })];
  expect([...roundsOf(rows).keys()]).toEqual(['k3', 'k2']);
});

it('leaves out what is told elsewhere, and rounds whose message is not loaded', () => {
  const failed: Verdict = { participant: 'a', word: 'failed' };
  const row = message(2, 'e1', { turn: turn('2026-01-01T00:00:01.000Z', 0) }) as MessageRow;
  row.event.meta = { error: { message: 'no' } } as unknown as Envelope['meta'];
  expect(roundsOf([message(1, 'e1', { verdicts: [failed] }), row]).get('k2')?.silent).toEqual([]);
  expect(roundsOf([message(2, 'e1')]).size).toBe(0);
});
