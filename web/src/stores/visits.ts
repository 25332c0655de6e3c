/** The time at which this browser's person last left the page. */

import { load, save } from '../lib/storage';

const LEFT = 'left';
/** Time away from which a return begins a new visit. */
const AWAY_MS = 5 * 60_000;

let shown: string | null = load<string | null>(LEFT, null);
let hidden: number | null = null;

/** Returns the time at which the last visit ended; null at the first one. */
export function leftAt(): string | null {
  return shown;
}

/** Notes each time at which the page is left. */
export function watchVisits(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') {
      hidden = Date.now();
      save(LEFT, new Date(hidden).toISOString());
    } else if (hidden !== null && Date.now() - hidden > AWAY_MS) {
      shown = new Date(hidden).toISOString();
    }
  });
}
