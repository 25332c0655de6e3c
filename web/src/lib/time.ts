/** Times for people, in the viewer's zone. */

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const dayAndYear = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});
const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short' });

const DAY_MS = 86_400_000;

export function clockTime(ts: string): string {
  return clock.format(new Date(ts));
}

/** Returns a day and its month, without weekday and year. */
export function shortDate(ts: string): string {
  return shortDay.format(new Date(ts));
}

export function fullTime(ts: string): string {
  return full.format(new Date(ts));
}

/** Returns a key that is equal for all times of one day in the viewer's zone. */
export function dayKey(ts: string): string {
  const date = new Date(ts);
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`;
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** Returns `Today`, `Yesterday`, or the date. */
export function dayName(ts: string, now = new Date()): string {
  const date = new Date(ts);
  const days = Math.round((startOfDay(now) - startOfDay(date)) / DAY_MS);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return date.getFullYear() === now.getFullYear() ? day.format(date) : dayAndYear.format(date);
}

/** Returns a time for lists: `now`, a time today, a weekday this week, else a date. */
export function shortTime(ts: string, now = new Date()): string {
  const date = new Date(ts);
  const age = now.getTime() - date.getTime();
  if (age < 60_000) return 'now';
  const days = Math.round((startOfDay(now) - startOfDay(date)) / DAY_MS);
  if (days <= 0) return clock.format(date);
  return days < 7 ? weekday.format(date) : shortDay.format(date);
}

/** Formats elapsed seconds: `3.4 s`, `42 s`, `2:05`. */
export function seconds(value: number): string {
  const shown = Math.max(0, value);
  if (shown < 0.05) return '< 0.1 s';
  if (shown < 10) return `${shown.toFixed(1)} s`;
  if (shown < 60) return `${Math.floor(shown)} s`;
  const whole = Math.floor(shown);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Formats millionths of a currency. */
export function cost(micros: number, currency = 'USD'): string {
  const value = micros / 1_000_000;
  const amount = (figure: string): string => (currency === 'USD' ? `$${figure}` : `${figure} ${currency}`);
  if (value === 0) return amount('0');
  if (value < 0.001) return `< ${amount('0.001')}`;
  return amount(value < 1 ? value.toFixed(3) : value.toFixed(2));
}
