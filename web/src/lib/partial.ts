/**
 * The text of a running turn, assembled from pieces. Offsets count bytes of UTF-8, as on the
 * server.
 */

import type { Delta } from './types';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Partial {
  attempt: number;
  bytes: number;
  text: string;
}

/**
 * Returns the text after a piece, or the same object if the piece is old, already known, or leaves
 * a gap.
 */
export function grow(
  partial: Partial | undefined,
  delta: Pick<Delta, 'attempt' | 'offset' | 'text'>,
): Partial | undefined {
  const known = partial && partial.attempt === delta.attempt ? partial : undefined;
  if (partial && delta.attempt < partial.attempt) return partial;
  const bytes = known?.bytes ?? 0;
  // A gap cannot be filled from here. The whole text comes with the reply.
  if (delta.offset > bytes) return known ?? partial;
  const piece = encoder.encode(delta.text);
  const fresh = delta.offset + piece.length - bytes;
  if (fresh <= 0) return known;
  const added = fresh === piece.length ? delta.text : decoder.decode(piece.subarray(piece.length - fresh));
  return { attempt: delta.attempt, bytes: bytes + fresh, text: (known?.text ?? '') + added };
}
