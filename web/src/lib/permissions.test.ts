import { describe, expect, it } from 'vitest';
import { cameOf, optionTitle, outcomeOf } from './permissions';
import { Timeline } from './timeline';
import type { Envelope } from './types';

let seq = 0;
function event(type: string, content: unknown): Envelope {
  seq += 1;
  const ts = new Date(Date.UTC(2026, 4, 4, 12, 0, 0, seq)).toISOString();
  return { id: `e${seq}`, seq, ts, thread: 't', type, from: 'moothall', to: 'all', content };
}
const request = {
  event: 'requested',
  permission: 'p1',
  turn: '1',
  participant: 'codex',
  action: 'cargo publish',
  complete: true,
  options: [
    { id: 'y', label: 'Yes, publish it', kind: 'allow_once' },
    { id: 'n', label: 'No', kind: 'reject_once' },
  ],
  expires: '2026-05-04T12:01:00.000Z',
};
const granted = { event: 'granted', turn: '1', participant: 'codex', why: 'forced', cause: { id: 'x', seq: 0 } };

function asked(...more: Envelope[]): Timeline {
  const timeline = new Timeline();
  timeline.append([event('turn', granted), event('permission', request), ...more]);
  return timeline;
}
function rows(timeline: Timeline) {
  return timeline.rows.filter((row) => row.kind === 'permission').map((row) => row.permission);
}

describe('a permission', () => {
  it('says the words it was answered in, and that they were erased', () => {
    const answered = (text?: string) =>
      event('permission', {
        event: 'answered',
        permission: 'p1',
        by: 'ann',
        option: 'w',
        label: 'Type something.',
        text,
      });
    const said = (text?: string) => outcomeOf(rows(asked(answered(text)))[0]?.end ?? null, (id) => id);
    expect(said('not today')).toBe('ann answered “not today”.');
    expect(said('')).toBe('ann answered “erased words”.');
    expect(said()).toBe('ann answered “Type something.”.');
  });

  it('waits from its request on, with the action and the options as they came', () => {
    const { event: _, permission: id, ...asIs } = request;
    expect(asked().waiting()).toEqual([{ ...asIs, id, detail: null, folder: null, look: null, end: null, came: null }]);
  });

  it('belongs to no turn where an agent asks for another program: it waits until it is answered, whatever turn ends', () => {
    const wish = {
      event: 'requested',
      permission: 'p9',
      turn: null,
      participant: 'anna',
      action: 'Start claude in /srv/x',
      complete: true,
      options: request.options,
      expires: request.expires,
    };
    const over = event('turn', { event: 'ended', turn: '1', participant: 'codex', outcome: 'spoke' });
    const timeline = asked(event('permission', wish), over);
    const [waiting, ...more] = timeline.waiting();
    expect(more).toEqual([]);
    expect(waiting).toMatchObject({ id: 'p9', turn: null, participant: 'anna', end: null });
    timeline.append([event('permission', { event: 'withdrawn', permission: 'p9', because: 'gone' })]);
    expect(timeline.waiting()).toEqual([]);
    expect(rows(timeline).at(-1)?.end).toEqual({ kind: 'withdrawn', because: 'gone' });
    for (const end of [{ event: 'expired' }, { event: 'answered', by: 'user', option: 'y', label: 'Yes' }]) {
      const again = new Timeline();
      again.append([event('permission', wish)]);
      expect(again.waiting()).toHaveLength(1);
      again.append([event('permission', { ...end, permission: 'p9' })]);
      expect(again.waiting()).toEqual([]);
    }
  });

  it('is one row, which says who answered', () => {
    const timeline = asked(
      event('permission', { event: 'answered', permission: 'p1', by: 'user', option: 'n', label: 'No' }),
    );
    expect(rows(timeline).map(({ end }) => end)).toEqual([
      { kind: 'answered', by: 'user', label: 'No', choice: 'denied' },
    ]);
    expect(timeline.waiting()).toEqual([]);
  });

  it('says what came of a program that was to be started', () => {
    const wish = {
      event: 'requested',
      permission: 'p9',
      turn: null,
      participant: 'anna',
      action: 'Start x',
      options: [],
    };
    const settled = (more: object) => event('permission', { event: 'settled', permission: 'p9', ...more });
    const answered = { event: 'answered', permission: 'p9', by: 'user', option: 'allow', label: 'Allow' };
    const came = (...more: Envelope[]) => {
      const timeline = new Timeline();
      timeline.append([event('permission', wish), ...more]);
      expect(timeline.waiting()).toEqual([]);
      const row = rows(timeline)[0]!;
      return [outcomeOf(row.end, (id) => id), cameOf(row.came)];
    };
    const started = settled({ outcome: 'started', session: 's1', name: 'child' });
    expect(came(event('permission', answered), started)).toEqual(['user answered “Allow”.', 'child runs.']);
    const mute = settled({ outcome: 'started', session: 's1', name: 'child', unsaid: 'It is gone.' });
    expect(came(event('permission', answered), mute)[1]).toContain('Its first message did not arrive: It is gone.');
    const failed = settled({ outcome: 'failed', why: 'No such folder.' });
    expect(came(event('permission', answered), failed)[1]).toBe('It could not start: No such folder.');
    const talk = { to: 'bob', message: 'Hello.' };
    const linked = settled({ outcome: 'linked', talk, link: 'l1' });
    expect(came(event('permission', answered), linked)[1]).toBe('It is linked with bob.');
    const unsaid = settled({ outcome: 'linked', talk, link: 'l1', unsaid: 'It has ended.' });
    expect(came(event('permission', answered), unsaid)[1]).toContain('first message did not arrive: It has ended.');
    const unmet = settled({ outcome: 'failed', talk, why: 'There is no session bob.' });
    expect(came(event('permission', answered), unmet)[1]).toBe('It could not be linked: There is no session bob.');
    expect(came(settled({ outcome: 'refused', by: 'user' }))).toEqual(['user denied it.', null]);
    expect(came(settled({ outcome: 'expired' }))).toEqual(['Nobody answered in time.', null]);
  });

  it('says when nobody answered in time', () => {
    const timeline = asked(event('permission', { event: 'expired', permission: 'p1' }));
    expect(rows(timeline).map(({ end }) => end)).toEqual([{ kind: 'expired' }]);
    expect(timeline.waiting()).toEqual([]);
  });

  it('is gone when it is not asked any more', () => {
    expect(rows(asked(event('permission', { event: 'gave_up', permission: 'p1' }))).map(({ end }) => end)).toEqual([
      { kind: 'gave_up' },
    ]);
    const withdrawn = { event: 'withdrawn', permission: 'p1', because: 'replaced' };
    const timeline = asked(event('permission', withdrawn));
    expect(timeline.waiting()).toEqual([]);
    expect(rows(timeline).map(({ end }) => outcomeOf(end, String))).toEqual(['Replaced by a newer question.']);
  });

  it('waits no longer when its turn is over', () => {
    const timeline = asked(event('turn', { event: 'ended', turn: '1', participant: 'codex', outcome: 'cancelled' }));
    expect(timeline.waiting()).toEqual([]);
    expect(rows(timeline)[0]?.end).toBeNull();
  });

  it('is never made by what somebody says', () => {
    const timeline = new Timeline();
    timeline.append([{ ...event('message', request), from: 'codex' }]);
    expect(timeline.waiting()).toEqual([]);
    expect(rows(timeline)).toEqual([]);
  });
});

describe('an option', () => {
  it('has words where it is known, and stays as it is elsewhere', () => {
    const title = (id: string, label = id) => optionTitle({ id, label });
    expect(title('allow')).toBe('Allow');
    expect(title('toString')).toBe('toString');
    expect(title('2', 'Yes, and don’t ask again')).toBe('Yes, and don’t ask again');
    expect(optionTitle({ id: '1', label: '1. Yes, proceed (y)', kind: 'allow_once' })).toBe('Allow once');
    expect(optionTitle({ id: '2', label: 'No', kind: 'reject_once' })).toBe('Deny');
    // The label of an option that allows never becomes one that refuses.
    expect(optionTitle({ id: '2', label: 'No', kind: 'allow_once' })).toBe('No');
    expect(optionTitle({ id: '4', label: 'Type something.', kind: 'other' })).toBe('Write an answer');
  });
});
