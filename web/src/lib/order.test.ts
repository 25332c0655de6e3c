import { expect, it } from 'vitest';
import { inOrder, reordered } from './order';

function thread(id: string, minute: number) {
  return { id, updated_at: `2026-01-01T00:0${minute}:00.000Z` };
}

function map(...threads: ReturnType<typeof thread>[]) {
  return new Map(threads.map((one) => [one.id, one]));
}

it('sorts by the newest events', () => {
  expect(reordered([thread('a', 1), thread('b', 3), thread('c', 2)])).toEqual(['b', 'c', 'a']);
});

it('keeps the order while events come', () => {
  const order = reordered([thread('a', 1), thread('b', 2)]);
  expect(inOrder(map(thread('a', 9), thread('b', 2)), order).map(({ id }) => id)).toEqual(['b', 'a']);
});

it('puts new conversations first and drops deleted ones', () => {
  const order = ['gone', 'a', 'b'];
  const now = map(thread('a', 9), thread('b', 2), thread('c', 1), thread('d', 3));
  expect(inOrder(now, order).map(({ id }) => id)).toEqual(['d', 'c', 'a', 'b']);
});
