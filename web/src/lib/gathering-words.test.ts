import { describe, expect, it } from 'vitest';
import { asMarkdown, harvestAsMarkdown } from './export';
import { pieceSentence, roleWords, standWords, stepSentence, together, whyClosed } from './gathering-words';
import { describe as line } from './lines';
import { Timeline } from './timeline';
import type { Envelope, Gathering, GatheringEvent, GatheringMember } from './types';

const ME = 'user';
const nameOf = (id: string) => (id === ME ? 'You' : id[0]!.toUpperCase() + id.slice(1));
const names = Object.assign(nameOf, { me: ME });
const say = (step: GatheringEvent) => stepSentence(step, names, [1, 2, 1]);
const given = (holder: string): GatheringEvent => ({
  event: 'piece_given',
  holder,
  note: 'Zed is muted; the piece goes on in order.',
});
const released = (
  holder: string,
  because: 'passed' | 'last_word' | 'grace' | 'gone' | 'stopped',
  next: string | null = null,
  note: string | null = null,
): GatheringEvent => ({ event: 'piece_released', holder, because, next, note });

const asked = (harvester: string): GatheringEvent => ({
  event: 'harvest_asked',
  harvester,
  because: 'done',
  until: null,
});

const member = (id: string, number: number, role = 'speaker'): GatheringMember => ({
  participant_id: id,
  name: names(id),
  number,
  role,
  kind: 'human',
});
const gathering = {
  title: 'Council',
  opening_question: 'What *now*?',
  status: 'active',
  phase: 'hold',
  round: 1,
  rounds: 2,
  holder: { name: 'Ann', number: 1, participant_id: 'ann' },
  order: ['bo', 'cy', 'dee'],
  participants: [member('ann', 1), member('bo', 2), member('cy', 3), member('dee', 4), member('hal', 5, 'harvester')],
  harvest: null,
  closed_because: null,
} as unknown as Gathering;

describe('each step of a gathering', () => {
  it('is a sentence', () => {
    const plan = {
      rhythm: 'council',
      breath: [1, 2, 1] as [number, number, number],
      beats_per_turn: 3,
      beat_interval_seconds: 60,
      last_word_seconds: 20,
      opening_question: 'What now?',
      delivery: 'live' as const,
    };
    const { participants } = gathering;
    expect(say({ event: 'opened', by: 'ann', plan, participants: participants.slice(2) })).toBe(
      'Ann opened a gathering of Cy (3) and Dee (4): “What now?” (rounds of inhale 1, hold 2, exhale 1; 3 beats of 60 seconds for each turn)',
    );
    const round: GatheringEvent = { event: 'round_opened', phase: 'hold', rule: 'Question.', round: 1, order: [] };
    expect(say(round)).toBe('Hold, round 1 of 2. Question.');
    expect(stepSentence(round, names)).toBe('Hold, round 1. Question.');
    expect(say(given('bo'))).toBe('Bo has the piece.');
    expect(say(asked('hal'))).toBe('Hal writes the harvest.');
    expect(say({ event: 'harvested', harvester: 'hal', message: 'e1' })).toBe('Hal wrote the harvest.');
    expect(say({ event: 'closed', because: 'too_few' })).toBe('The gathering is closed: too few speakers were left.');
    expect(say({ event: 'closed', because: 'rain' })).toBe('The gathering is closed: rain.');
    expect(say({ event: 'sung' } as unknown as GatheringEvent)).toBe('Gathering: sung');
  });

  it('says why somebody let go, and what came of a name', () => {
    expect(say(released('bo', 'passed'))).toBe('Bo passed the piece.');
    expect(say(released('bo', 'passed', 'cy'))).toBe('Bo passed the piece to Cy.');
    expect(say(released('bo', 'passed', null, 'Nobody here is called Zed.'))).toBe(
      'Bo passed the piece. Nobody here is called Zed.',
    );
    expect(say(released('bo', 'grace'))).toBe('Bo ran out of time.');
    expect(say(released('bo', 'last_word'))).toBe('Bo said a last word.');
    expect(say(released('bo', 'gone'))).toBe('Bo left; the piece moves on.');
    expect(say(released('bo', 'stopped'))).toBe('Bo was stopped.');
  });

  it('speaks to whoever reads it', () => {
    expect(say(given(ME))).toBe('You have the piece.');
    expect(say(released(ME, 'passed', 'cy'))).toBe('You passed the piece to Cy.');
    expect(say(released('cy', 'passed', ME))).toBe('Cy passed the piece to you.');
    expect(say(released(ME, 'grace'))).toBe('Your time ran out.');
    expect(say(asked(ME))).toBe('You write the harvest.');
  });
});

describe('in the list of messages', () => {
  let seq = 0;
  const event = (type: string, content: unknown): Envelope => {
    seq += 1;
    return { id: `e${seq}`, seq, ts: '2026-05-04T12:00:00Z', thread: 't', type, from: 'moothall', to: 'all', content };
  };
  const events = [
    event('gathering', released('ann', 'passed')),
    event('gathering', given('bo')),
    event('gathering', { event: 'beat', number: 1 }),
    event('gathering', { event: 'last_word_asked' }),
    event('notice', { code: 'phase', text: 'hold 1/2. Question.' }),
    event('gathering', { event: 'closed', because: 'done' }),
  ];

  it('what the ring shows is no line, and neither are beats and what is told twice', () => {
    const timeline = new Timeline();
    timeline.append(events);
    const rows = timeline.rows.filter((row) => row.kind === 'line');
    expect(rows.map((row) => line(row.events, names).text)).toEqual(['The gathering is closed.']);
  });

  it('a file tells no beats', () => {
    const file = asMarkdown('Council', events, names);
    expect(file).toContain('Ann passed the piece');
    expect(file).not.toContain('eat 1');
  });
});

describe('whoever has not the piece', () => {
  it('reads who has it and when it comes', () => {
    expect(whyClosed(gathering, 'ann')).toBeNull();
    expect(whyClosed(gathering, 'bo')).toBe('Ann (1) has the piece. You are next.');
    expect(whyClosed(gathering, 'dee')).toBe('Ann (1) has the piece. You come after Bo (2) and Cy (3).');
    expect(whyClosed({ ...gathering, order: [] }, 'bo')).toContain('You had your turn; the next round brings another.');
    expect(whyClosed({ ...gathering, order: [], phase: 'exhale', round: 2 }, 'bo')).toContain('this last round');
    expect(whyClosed(gathering, 'hal')).toContain('You write the harvest once the others have spoken.');
    expect(whyClosed(gathering, 'eve')).toContain('Until it closes, only its members write here.');
    expect(whyClosed({ ...gathering, status: 'seeding', phase: null, participants: [], holder: null }, 'bo')).toBe(
      'The gathering is about to begin. You can write once it has begun.',
    );
  });

  it('waits for the harvest, which the harvester writes, and writes when it is closed', () => {
    const closing: Gathering = { ...gathering, phase: 'close', holder: null, order: [] };
    expect(whyClosed(closing, 'bo')).toBe(
      'Hal (5) writes the harvest. Everyone can write again once the gathering is closed.',
    );
    expect(whyClosed(closing, 'hal')).toBeNull();
    expect(whyClosed({ ...closing, status: 'closed' }, 'eve')).toBeNull();
    expect(pieceSentence({ ...closing, status: 'closed', closed_because: 'ended' }, ME)).toBe(
      'A person ended the gathering.',
    );
    expect(pieceSentence({ ...closing, status: 'closed', participants: [] }, ME)).toBe(
      'The gathering could not begin.',
    );
  });
});

describe('words about seats', () => {
  it('are few', () => {
    expect(standWords({ kind: 'waits', place: 0 })).toBe('next');
    expect(standWords({ kind: 'waits', place: 2 })).toBe('3rd');
    expect(roleWords({ isHarvester: true, isPerson: true })).toBe('harvester, not in the speaking order, person');
    expect(roleWords({ isHarvester: false, isPerson: false })).toBe('agent');
    expect(together(['a'])).toBe('a');
    expect(together(['a', 'b', 'c'])).toBe('a, b and c');
  });
});

describe('a harvest', () => {
  it('goes into a file with its question and its circle, and nothing in it runs', () => {
    const file = harvestAsMarkdown({ ...gathering, harvest: { text: '<script> **done**', event: 'e9' } });
    expect(file).toContain('# Council\n\nWhat *now*?\n\n- Ann (1), speaker\n');
    expect(file).toContain('## Harvest\n\n&lt;script> **done**\n');
  });
});
