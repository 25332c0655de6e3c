/** Words that were erased: a page that has them loaded lets go of them as soon as it hears so. */

import type { Envelope } from './types';

/** The position of the event whose words an event erases. */
export function erases(event: Envelope): number | null {
  const content = event.content as { code?: string; seq?: number } | null;
  return event.type === 'notice' && content?.code === 'redacted' ? (content.seq ?? null) : null;
}

/** The event as the server tells of it from then on. */
export function withoutWords(event: Envelope): Envelope {
  const content = event.type === 'message' ? '' : { ...(event.content as object), text: '' };
  return { ...event, content, meta: { ...event.meta, redacted: true } };
}
