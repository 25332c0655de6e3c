import { describe, expect, it } from 'vitest';
import { isAboutBudgets, keyOf, spentFrom, spentOf, spentSentence, spentWords, timeOf } from './budgets';
import { describe as say } from './lines';
import { suggestedRaise } from './raises';
import { clockTime } from './time';
import type { Envelope } from './types';

const soon = new Date(Date.now() + 60_000).toISOString();
const event = (type: string, content: unknown): Envelope => ({
  id: 'e',
  seq: 1,
  ts: soon,
  thread: 't',
  type,
  from: 'moothall',
  to: 'all',
  content,
});
const notice = (more: Record<string, unknown>) =>
  event('notice', {
    code: 'over_budget',
    text: 'raw',
    budget: 'conversation',
    measure: 'turns',
    limit: 3,
    until: soon,
    ...more,
  });

describe('a budget that is used up', () => {
  it('is told in the words and the time of whoever reads', () => {
    const line = say([notice({})], (id) => id);
    expect(line.text).toBe(`The budget of this conversation (3 turns an hour) is used up until ${timeOf(soon)}.`);
    expect(line.tone).toBe('warn');
    const money = spentOf(
      notice({ budget: 'agent', whose: 'ada', measure: 'cost_micros', limit: 2_500_000, currency: 'EUR' }),
    )!;
    expect(spentSentence(money)).toContain('of the agent ada (2.50 EUR a day)');
    const unattended = spentOf(notice({ budget: 'principal', whose: 'bob', measure: 'unattended_turns', limit: 600 }))!;
    expect(spentSentence(unattended)).toContain('of turns that bob starts (600 turns without a person an hour)');
    expect(spentSentence(spentOf(notice({ budget: 'hall' }))!)).toContain('of this server (');
  });

  it('is told as the server said it where only words are known', () => {
    const old = event('notice', { code: 'over_budget', text: 'The budget is used up.' });
    expect(say([old], (id) => id).text).toBe('The budget is used up.');
  });

  it('is not another notice, and is the same one whatever its limit', () => {
    expect(spentOf(event('notice', { code: 'held' }))).toBeNull();
    expect(spentOf(event('message', 'over_budget'))).toBeNull();
    expect(spentOf(event('notice', null))).toBeNull();
    expect(keyOf(spentOf(notice({ limit: 3 }))!)).toBe(
      keyOf(spentOf(notice({ limit: 9, measure: 'unattended_turns' }))!),
    );
    expect(keyOf(spentOf(notice({}))!)).not.toBe(keyOf(spentOf(notice({ measure: 'cost_micros' }))!));
    expect(isAboutBudgets(notice({}))).toBe(true);
    expect(isAboutBudgets(event('control', { budget: { turns: 1 } }))).toBe(true);
    expect(isAboutBudgets(event('control', { pause: { on: true } }))).toBe(false);
  });

  it('is raised by as much again, in whole turns or in the currency', () => {
    expect(suggestedRaise({ measure: 'turns', limit: 3 })).toBe(3);
    expect(suggestedRaise({ measure: 'turns', limit: 0 })).toBe(1);
    expect(suggestedRaise({ measure: 'cost_micros', limit: 2_500_000 })).toBe(2.5);
    const raised = event('control', { budget: { turns: 1, cost_micros: 2_500_000, until: soon } });
    expect(say([raised], (id) => id, 'EUR').text).toBe(
      `moothall raised the budget by 1 turn an hour and 2.50 EUR a day, until ${timeOf(soon)}`,
    );
  });
});

describe('what is spent', () => {
  const budget = { budget: 'conversation', measure: 'turns', limit: 1_200, spent: 1_000, until: soon };

  it('says how much of how much, and until when', () => {
    expect(spentWords(budget, 'USD')).toBe(`1,000 of 1,200 turns this hour, until ${timeOf(soon)}`);
    expect(spentWords({ ...budget, measure: 'cost_micros', limit: 2_000_000, spent: 500_000 }, 'EUR')).toContain(
      '0.500 EUR of 2.00 EUR today',
    );
    expect(spentFrom({ ...budget, whose: 'ada' }, 'EUR')).toMatchObject({
      whose: 'ada',
      limit: 1_200,
      currency: 'EUR',
    });
  });

  it('names the day where it is another one', () => {
    const now = new Date(2026, 4, 4, 12);
    expect(timeOf(new Date(2026, 4, 4, 13).toISOString(), now)).toBe(clockTime(new Date(2026, 4, 4, 13).toISOString()));
    expect(timeOf(new Date(2026, 4, 5, 0).toISOString(), now)).toMatch(/5.*, /);
  });
});
