/** By how much, and for how long, a budget may be raised. Loaded with the dialog that asks. */

import type { Spent } from './budgets';

/** For how long a budget may be raised, in seconds. */
export const RAISES = [
  { seconds: 3_600, label: 'one hour' },
  { seconds: 4 * 3_600, label: '4 hours' },
  { seconds: 24 * 3_600, label: 'a day' },
  { seconds: 7 * 24 * 3_600, label: 'a week' },
  { seconds: 31 * 24 * 3_600, label: '31 days' },
] as const;

/** What a form begins with: as much again as there was. Money in the currency, turns as a whole number. */
export function suggestedRaise({ measure, limit }: Pick<Spent, 'measure' | 'limit'>): number {
  return measure === 'cost_micros' ? Math.max(limit / 1_000_000, 0.01) : Math.max(limit, 1);
}
