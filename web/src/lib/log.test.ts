import { beforeEach, expect, test } from 'vitest';
import { begin, heardOf, ofLog } from './log';

const answer = (log?: string) => ({ headers: new Headers(log === undefined ? {} : { 'moothall-log': log }) });
let begun = 0;

beforeEach(() => {
  begun = 0;
  begin(() => (begun += 1));
});

test('a page says of which log its positions are, and begins anew with another', () => {
  expect(ofLog()).toEqual({});
  heardOf(answer());
  heardOf(answer('one'));
  heardOf(answer('one'));
  expect(ofLog()).toEqual({ 'moothall-log': 'one' });
  expect(begun).toBe(0);
  heardOf(answer('two'));
  expect(begun).toBe(1);
  expect(ofLog()).toEqual({ 'moothall-log': 'one' });
});
