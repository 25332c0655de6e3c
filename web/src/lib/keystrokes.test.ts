import { expect, test } from 'vitest';
import { joined, keystrokeOf, releases } from './keystrokes';

const plain = { ctrlKey: false, altKey: false, metaKey: false, shiftKey: false };

test('keys without a character have words, and characters have none', () => {
  expect(keystrokeOf({ ...plain, key: 'Enter' })).toEqual({ key: 'enter' });
  expect(keystrokeOf({ ...plain, key: 'ArrowUp' })).toEqual({ key: 'up' });
  expect(keystrokeOf({ ...plain, key: 'Tab', shiftKey: true })).toEqual({ key: 'back_tab' });
  expect(keystrokeOf({ ...plain, key: 'c', ctrlKey: true })).toEqual({ key: 'ctrl+c' });
  for (const key of ['a', 'A', 'é', ' ', 'Shift', 'F5', 'constructor'])
    expect(keystrokeOf({ ...plain, key })).toBeNull();
});

test('keys of the browser stay with it', () => {
  for (const more of [{ metaKey: true }, { altKey: true }, { ctrlKey: true, shiftKey: true }])
    expect(keystrokeOf({ ...plain, ...more, key: 't' })).toBeNull();
  expect(keystrokeOf({ ...plain, key: 'v', ctrlKey: true })).toBeNull();
  expect(releases({ ...plain, key: 'Enter', ctrlKey: true, shiftKey: true })).toBe(true);
  expect(releases({ ...plain, key: 'Enter', ctrlKey: true })).toBe(false);
});

test('characters after each other are one text, and keep their place among keys', () => {
  const keys = [{ text: 'l' }, { text: 's' }, { key: 'enter' }, { text: 'x' }, { paste: 'y' }];
  expect(keys.reduce<object[]>(joined, [])).toEqual([{ text: 'ls' }, { key: 'enter' }, { text: 'x' }, { paste: 'y' }]);
});
