/** Erased words. A page that has them loaded drops them as soon as the erasure arrives. */

import type { Envelope } from './types';

/** Returns the position of the event whose words this event erases, or null. */
export function erases(event: Envelope): number | null {
  const content = event.content as { code?: string; seq?: number } | null;
  return event.type === 'notice' && content?.code === 'redacted' ? (content.seq ?? null) : null;
}

/** Returns the event without its words, as the server sends it after the erasure. */
export function withoutWords(event: Envelope): Envelope {
  const content = ['message', 'observation'].includes(event.type) ? '' : { ...(event.content as object), text: '' };
  return { ...event, content, meta: { ...event.meta, redacted: true } };
}
