import { expect, test } from 'vitest';
import { isAtWork, isRunning, isStuck, rankOf } from './occupations';

const words = (given: string) => given.split(' ').map((word) => ({ word }));

test('stuck participants come first, and those that rest are not at work', () => {
  const all = words('ready thinking queued asks away working waits paused muted writing ended');
  const busy = all.filter(isAtWork).sort((one, other) => rankOf(one) - rankOf(other));
  expect(busy).toEqual(words('asks waits paused working writing thinking queued'));
  expect(all.filter(isStuck)).toEqual(words('asks waits'));
  expect(all.filter(isRunning)).toEqual(words('thinking working writing'));
});

test('a word of a newer server rests', () => {
  const [unknown] = words('dreaming');
  expect([isAtWork(unknown!), isRunning(unknown!), isStuck(unknown!)]).toEqual([false, false, false]);
});
