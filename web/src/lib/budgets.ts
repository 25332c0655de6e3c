/** Budgets in words: the used-up ones, the spending, and the limits. */

import { clockTime, cost, dayKey, shortDate } from './time';
import type { Budget, Envelope } from './types';
import { count } from './words';

/** A used-up budget, as in a notice. */
export interface Spent {
  budget: string;
  whose: string | null;
  measure: string;
  /** Turns, or millionths of the currency. */
  limit: number;
  until: string;
  currency: string;
}

/** Returns a budget's key. The limit is not part of it, and all limits of turns share one key. */
export function keyOf({ budget, whose, measure }: { budget: string; whose?: string | null; measure: string }): string {
  return [budget, whose ?? '', measure === 'cost_micros' ? 'money' : 'turns'].join(' ');
}

/** Returns the used-up budget of a notice; null for any other event. */
export function spentOf(event: Envelope): Spent | null {
  const content = (event.content ?? {}) as Record<string, unknown>;
  if (event.type !== 'notice' || content['code'] !== 'over_budget') return null;
  const word = (key: string) => (typeof content[key] === 'string' ? content[key] : '');
  return {
    budget: word('budget'),
    whose: word('whose') || null,
    measure: word('measure'),
    limit: Number(content['limit']) || 0,
    until: word('until'),
    currency: word('currency') || 'USD',
  };
}

/** True if an event raises a budget or says that one is used up. */
export function isAboutBudgets(event: Envelope): boolean {
  const content = event.content;
  const isRaise = event.type === 'control' && content !== null && typeof content === 'object' && 'budget' in content;
  return isRaise || spentOf(event) !== null;
}

/** Converts a budget that the page looked up. */
export function spentFrom(budget: Budget, currency: string): Spent {
  const { budget: kind, whose = null, measure, limit, until } = budget;
  return { budget: kind, whose, measure, limit, until, currency };
}

/** Returns a sentence for a used-up budget, in the viewer's time. */
export function spentSentence({ budget, whose, measure, limit, until, currency }: Spent): string {
  const spent = limitWords(measure, limit, currency);
  return `The budget of ${whoseWords(budget, whose)} (${spent}) is used up until ${timeOf(until)}.`;
}

export function whoseWords(budget: string, whose: string | null): string {
  switch (budget) {
    case 'conversation':
      return 'this conversation';
    case 'agent':
      return `the agent ${whose ?? ''}`.trim();
    case 'principal':
      return `turns that ${whose ?? 'one person'} starts`;
    default:
      return 'this server';
  }
}

function limitWords(measure: string, limit: number, currency: string): string {
  if (measure === 'cost_micros') return `${cost(limit, currency)} a day`;
  return `${count(limit, 'turn')}${measure === 'turns' ? '' : ' without a person'} an hour`;
}

/** Returns the spent part of a budget, and until when it counts. */
export function spentWords(budget: Budget, currency: string): string {
  const until = timeOf(budget.until);
  if (budget.measure === 'cost_micros') {
    return `${cost(budget.spent, currency)} of ${cost(budget.limit, currency)} today, until ${until}`;
  }
  const whose = budget.measure === 'turns' ? '' : ' without a person';
  return `${budget.spent.toLocaleString('en')} of ${count(budget.limit, 'turn')}${whose} this hour, until ${until}`;
}

/** Returns a time, with its day if that is not today. */
export function timeOf(ts: string, now = new Date()): string {
  return dayKey(ts) === dayKey(now.toISOString()) ? clockTime(ts) : `${shortDate(ts)}, ${clockTime(ts)}`;
}
