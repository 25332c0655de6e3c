import { expect, it } from 'vitest';
import { hueOf, HUES, huesOf } from './palette';

const NAMES = [
  'planner',
  'builder',
  'reviewer',
  'critic',
  'planner-cc',
  'Ana',
  'ann',
  'bo',
  'a11',
  'a12',
  'a13',
  'a14',
];

it('gives a name the same hue in every conversation', () => {
  const alone = huesOf(['planner']);
  expect(
    huesOf(['builder', 'planner'].filter((name) => hueOf(name) !== hueOf('builder') || name === 'builder')),
  ).toEqual(['builder', 'planner'].filter((name) => hueOf(name) !== hueOf('builder') || name === 'builder').map(hueOf));
  expect(alone).toEqual([hueOf('planner')]);
});

it('gives the later of two names with one hue the next free one', () => {
  const [first, second] = NAMES.flatMap((one, at) => NAMES.slice(at + 1).map((two) => [one, two] as const)).find(
    ([one, two]) => hueOf(one) === hueOf(two),
  )!;
  expect(huesOf([first, second])).toEqual([hueOf(first), (hueOf(first) + 1) % HUES]);
});

it('gives twelve names twelve hues', () => {
  expect(new Set(huesOf(NAMES)).size).toBe(HUES);
});

it('ignores case, as the server does in names', () => {
  expect(hueOf('Planner')).toBe(hueOf('planner'));
});
