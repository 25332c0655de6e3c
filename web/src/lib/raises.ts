/** Amounts and durations by which a budget may be raised. Loaded with the dialog that asks. */

import type { Spent } from './budgets';

/** The durations on offer. */
export const RAISES = [
  { seconds: 3_600, label: 'one hour' },
  { seconds: 4 * 3_600, label: '4 hours' },
  { seconds: 24 * 3_600, label: 'a day' },
  { seconds: 7 * 24 * 3_600, label: 'a week' },
  { seconds: 31 * 24 * 3_600, label: '31 days' },
] as const;

/**
 * Returns the first value of a form: the limit once more. Money is in the currency, turns are a
 * whole number.
 */
export function suggestedRaise({ measure, limit }: Pick<Spent, 'measure' | 'limit'>): number {
  return measure === 'cost_micros' ? Math.max(limit / 1_000_000, 0.01) : Math.max(limit, 1);
}
