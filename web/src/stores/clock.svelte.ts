/** The time, for displays that count seconds. It ticks only while a view reads it. */

import { createSubscriber } from 'svelte/reactivity';

function ticking(ms: number): () => number {
  const subscribe = createSubscriber((update) => {
    const timer = setInterval(update, ms);
    return () => clearInterval(timer);
  });
  return () => {
    subscribe();
    return Date.now();
  };
}

/** For running turns. */
export const tenths = ticking(100);
/** For running turns, if many run. */
export const wholeSeconds = ticking(1_000);
/** For deadlines, presence and relative times. */
export const halfMinutes = ticking(30_000);
