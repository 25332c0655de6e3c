import { expect, test } from 'vitest';
import { warningSentences } from './warnings';

test('a word becomes a sentence, unless one stands beside it', () => {
  expect(warningSentences([])).toEqual([]);
  expect(warningSentences(['held'])[0]).toContain('/resume');
  expect(warningSentences(['queue_full', 'Too many wait.'])).toEqual(['Too many wait.']);
  expect(warningSentences(['novel'])).toEqual(['The server took it with the warning “novel”.']);
});
