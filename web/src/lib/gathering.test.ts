import { beforeEach, describe, expect, it } from 'vitest';
import {
  countdown,
  isQuiet,
  leftMs,
  momentsOf,
  phaseOf,
  placeOf,
  ringAt,
  ringNow,
  seatsOf,
  segmentsOf,
  spotAt,
  standOf,
  type Ring,
} from './gathering';
import type { Envelope, Gathering, GatheringEvent, GatheringMember } from './types';

let seq = 0;
beforeEach(() => (seq = 0));

function event(type: string, from: string, content: unknown, more: Partial<Envelope> = {}): Envelope {
  seq += 1;
  const ts = new Date(Date.UTC(2026, 4, 4, 12, 0, seq)).toISOString();
  return { id: `e${seq}`, seq, ts, thread: 't', type, from, to: 'all', content, ...more };
}
const step = (content: GatheringEvent) => event('gathering', 'moothall', content);
const says = (from: string, text: string) => event('message', from, text);
const given = (holder: string) => step({ event: 'piece_given', holder, note: null });
const released = (holder: string, next: string | null = null) =>
  step({ event: 'piece_released', holder, because: 'passed', next, note: null });
const member = (id: string, number: number, role = 'speaker'): GatheringMember => {
  return { participant_id: id, name: id, number, role, kind: 'human' };
};
const circle = [member('ann', 1), member('bo', 2), member('cy', 3), member('hal', 4, 'harvester')];
const opened = () =>
  step({
    event: 'opened',
    by: 'user',
    participants: circle,
    plan: {
      rhythm: 'council',
      breath: [1, 2, 1],
      beats_per_turn: 3,
      beat_interval_seconds: 60,
      last_word_seconds: 20,
      opening_question: 'What now?',
      delivery: 'live',
    },
  });
const round = (phase: 'inhale' | 'hold', at = 1) =>
  step({ event: 'round_opened', phase, rule: `${phase}!`, round: at, order: ['ann', 'bo', 'cy'] });

/** Returns a gathering in which ann speaks twice and passes to cy, who lets a beat go by. */
function begun(): Envelope[] {
  return [
    says('user', 'Before it began.'),
    opened(),
    round('inhale'),
    given('ann'),
    says('ann', 'One.'),
    says('ann', 'Two.\n\nI pass to cy'),
    released('ann', 'cy'),
    given('cy'),
    step({ event: 'beat', number: 1 }),
  ];
}

const gathering = {
  status: 'active',
  phase: 'hold',
  rule: 'hold!',
  round: 2,
  rounds: 2,
  holder: { name: 'Bo', number: 2, participant_id: 'bo' },
  beat: 2,
  beats: 3,
  last_word: true,
  order: ['cy'],
} as Gathering;

describe('a gathering that is put together from its events', () => {
  it('knows at each moment who has the piece, who follows, and who spoke how often', () => {
    const moments = momentsOf(begun());
    expect(moments).toHaveLength(8);
    const early = ringAt(moments, 3);
    expect([early.holder, early.order, early.rule]).toEqual(['ann', ['bo', 'cy'], 'inhale!']);
    const between = ringAt(moments, 6);
    expect([between.holder, between.order]).toEqual([null, ['cy', 'bo']]);
    const now = ringAt(moments, 8);
    expect([now.holder, now.order, now.beat, now.beats]).toEqual(['cy', ['bo'], 1, 3]);
    expect([...now.spoke]).toEqual([['ann', 2]]);
    expect(now.said.map(({ from, text }) => `${from}: ${text[0]}`)).toEqual(['ann: O', 'ann: T']);
  });

  it('leaves out what is no part of it: other words, those of strangers, and what comes after the close', () => {
    const events = [
      ...begun(),
      says('stranger', 'May I?'),
      says('moothall', 'A notice in words.'),
      event('notice', 'moothall', { code: 'phase' }),
      step({ event: 'harvest_asked', harvester: 'hal', because: 'done', until: '2026-05-04T13:00:00Z' }),
      says('hal', 'All of it.'),
      step({ event: 'harvested', harvester: 'hal', message: 'e14' }),
      step({ event: 'closed', because: 'done' }),
      says('ann', 'Afterwards.'),
    ];
    const moments = momentsOf(events);
    expect(moments.filter((moment) => moment.type === 'message').map((moment) => moment.from)).toEqual([
      'ann',
      'ann',
      'hal',
    ]);
    const end = ringAt(moments, moments.length);
    expect([end.phase, end.closed, end.holder, end.harvester]).toEqual(['close', true, null, 'hal']);
    expect(ringAt(moments, moments.length - 1).closed).toBe(false);
    expect(end.harvestUntil).toBe('2026-05-04T13:00:00Z');
  });

  it('shows no words that were erased', () => {
    const words = event('message', 'ann', '', { meta: { redacted: true } });
    const ring = ringAt(momentsOf([opened(), round('inhale'), words]), 3);
    expect(ring.said[0]?.text).toBe('');
    expect(ring.spoke.get('ann')).toBe(1);
  });

  it('begins anew with each round, and asks for a last word', () => {
    const moments = momentsOf([...begun(), step({ event: 'last_word_asked' }), released('cy'), round('hold')]);
    expect(ringAt(moments, 9).lastWord).toBe(true);
    const next = ringAt(moments, 11);
    expect([next.phase, next.round, next.rounds, next.lastWord]).toEqual(['hold', 1, 2, false]);
    expect(next.order).toEqual(['ann', 'bo', 'cy']);
  });
});

describe('a gathering that goes on', () => {
  it('is as the server says it is, with what was said before', () => {
    const moments = momentsOf(begun());
    const ring = ringNow(gathering, ringAt(moments, moments.length));
    expect([ring.holder, ring.beat, ring.lastWord, ring.round, ring.order]).toEqual(['bo', 2, true, 2, ['cy']]);
    expect(ring.said).toHaveLength(2);
    expect(ringNow({ ...gathering, status: 'closed' }, ring).holder).toBeNull();
  });

  it('has nobody to come where it ended before they came', () => {
    const moments = momentsOf(begun());
    expect(ringNow({ ...gathering, phase: 'close', holder: null }, ringAt(moments, moments.length)).order).toEqual([]);
  });

  it('takes the time before the first phase for its beginning', () => {
    expect([phaseOf(null), phaseOf('exhale'), phaseOf('close')]).toEqual(['inhale', 'exhale', 'close']);
  });

  it('counts down to the next beat, and not below nothing', () => {
    const now = Date.UTC(2026, 4, 4, 12);
    expect(leftMs(new Date(now + 61_500).toISOString(), now)).toBe(61_500);
    expect(leftMs(new Date(now - 5).toISOString(), now)).toBe(0);
    expect(leftMs(null, now)).toBeNull();
    expect(leftMs('soon', now)).toBeNull();
    expect([61_500, 60_000, 59_001, 1, 0].map(countdown)).toEqual(['1:02', '1:00', '1:00', '0:01', '0:00']);
  });
});

describe('the circle', () => {
  it('seats everybody by number, those who left too', () => {
    const seats = seatsOf([...circle].reverse(), new Set(['ann', 'cy', 'hal', 'user']));
    expect(seats.map((seat) => [seat.name, seat.gone])).toEqual([
      ['ann', false],
      ['bo', true],
      ['cy', false],
      ['hal', false],
    ]);
    expect(seats.filter((seat) => seat.isHarvester).map((seat) => seat.id)).toEqual(['hal']);
  });

  it('says of each how they stand to the piece', () => {
    const ring = ringAt(momentsOf(begun()), 8);
    const stand = (id: string, isHarvester = false, gone = false) => standOf(ring, { id, isHarvester, gone });
    expect(stand('cy')).toEqual({ kind: 'holds' });
    expect(stand('bo')).toEqual({ kind: 'waits', place: 0 });
    expect(stand('ann')).toEqual({ kind: 'had' });
    expect(stand('hal', true)).toEqual({ kind: 'listens' });
    expect(stand('dee', false, true)).toEqual({ kind: 'gone' });
    expect(standOf({ ...ring, phase: 'close' }, { id: 'hal', isHarvester: true, gone: false }).kind).toBe('gathers');
  });

  it('is a circle: the first at the top, the others with the sun, and two beside each other', () => {
    expect(placeOf(0, 4)).toEqual({ x: 50, y: 14 });
    expect(placeOf(1, 4)).toEqual({ x: 88, y: 50 });
    expect(placeOf(3, 4)).toEqual({ x: 12, y: 50 });
    expect([placeOf(0, 2), placeOf(1, 2)]).toEqual([
      { x: 12, y: 50 },
      { x: 88, y: 50 },
    ]);
  });
});

describe('the breath', () => {
  const told = (ring: Omit<Parameters<typeof segmentsOf>[0], 'breath' | 'reached'> & { reached?: Ring['reached'] }) =>
    segmentsOf({ reached: { phase: 'exhale', round: 1 }, ...ring, breath: [1, 2, 1] }).map(
      ({ phase, round: at, when }) => `${phase} ${at} ${when}`,
    );

  it('marks the round that goes on', () => {
    expect(told({ phase: 'hold', round: 2, closed: false })).toEqual([
      'inhale 1 past',
      'hold 1 past',
      'hold 2 now',
      'exhale 1 coming',
      'close 1 coming',
    ]);
  });

  it('has nothing behind it before the first round, and everything when it is closed', () => {
    expect(told({ phase: 'inhale', round: 0, closed: false }).every((part) => part.endsWith('coming'))).toBe(true);
    expect(told({ phase: 'close', round: 1, closed: false }).at(-1)).toBe('close 1 now');
    expect(told({ phase: 'close', round: 1, closed: true }).every((part) => part.endsWith('past'))).toBe(true);
  });

  it('knows what never was, where it ended early', () => {
    expect(told({ phase: 'close', round: 1, closed: true, reached: { phase: 'hold', round: 1 } })).toEqual([
      'inhale 1 past',
      'hold 1 past',
      'hold 2 never',
      'exhale 1 never',
      'close 1 past',
    ]);
    expect(told({ phase: 'close', round: 1, closed: false, reached: null }).slice(-2)).toEqual([
      'exhale 1 never',
      'close 1 now',
    ]);
  });
});

describe('what the list shows at a moment', () => {
  it('is what was said last, or else how it began', () => {
    const moments = momentsOf(begun());
    expect(spotAt(moments, 1)).toBe(2);
    expect(spotAt(moments, 3)).toBe(4);
    expect(spotAt(moments, 4)).toBe(5);
    expect(spotAt(moments, 8)).toBe(6);
    expect(spotAt([], 0)).toBeNull();
    expect(begun().filter(isQuiet)).toHaveLength(1);
  });
});
