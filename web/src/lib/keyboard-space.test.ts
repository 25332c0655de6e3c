import { expect, test } from 'vitest';
import { covered } from './keyboard-space';

test('a keyboard covers what is not seen; bars and zoom cover nothing', () => {
  expect(covered(844, { height: 844, offsetTop: 0, scale: 1 })).toBe(0);
  expect(covered(844, { height: 544, offsetTop: 0, scale: 1 })).toBe(300);
  expect(covered(844, { height: 544, offsetTop: 100, scale: 1 })).toBe(200);
  expect(covered(844, { height: 790, offsetTop: 0, scale: 1 })).toBe(0);
  expect(covered(844, { height: 422, offsetTop: 0, scale: 2 })).toBe(0);
});
