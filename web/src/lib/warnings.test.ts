import { expect, test } from 'vitest';
import { consequence, warningSentences } from './warnings';

test('a word becomes a sentence, unless the sentence of the server follows it', () => {
  expect(warningSentences([])).toEqual([]);
  expect(warningSentences(['held'])[0]).toContain('/resume');
  expect(warningSentences(['queue_full', 'Too many wait.'])).toEqual(['Too many wait.']);
  expect(warningSentences(['novel'])).toEqual(['The server accepted it with a warning: “novel”.']);
});

test('a sentence about something else hides no word', () => {
  const both = warningSentences(['The field "x" is not known.', 'held']);
  expect(both).toHaveLength(2);
  expect(both[1]).toContain('A guard holds');
});

test('what a change ends is said without what programs send', () => {
  const said =
    'A gathering is open here. It has no harvest then. Send it again with `"confirm": true`, or end it first.';
  expect(consequence(said)).toBe('A gathering is open here. It has no harvest then.');
  expect(consequence('Only `code`.')).toBe('Only `code`.');
});
