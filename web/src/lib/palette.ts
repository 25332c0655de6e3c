/**
 * Colours of participants. A name picks one of twelve, the same everywhere; people outside the list
 * have their own.
 */

export const HUES = 12;
/** Class of those who were not invited: you, and the server. */
export const OWN = 'c-own';

export function colourClass(hue: number | null | undefined): string {
  return hue === null || hue === undefined ? OWN : `c-${hue % HUES}`;
}

/** Returns the hue of a name. It depends on nothing else. */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const char of name.toLowerCase()) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  // The last bits of this hash are alike for similar names.
  return ((hash ^ (hash >>> 15)) >>> 0) % HUES;
}

/**
 * Returns the hues in one conversation, for names in the order of their invitations. A name whose
 * hue is taken gets the next free one.
 */
export function huesOf(names: readonly string[]): number[] {
  const taken = new Set<number>();
  return names.map((name) => {
    const own = hueOf(name);
    const free = Array.from({ length: HUES }, (_, step) => (own + step) % HUES).find((hue) => !taken.has(hue));
    taken.add(free ?? own);
    return free ?? own;
  });
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Returns two letters for an avatar: of two words, or the first two of one. */
export function initials(name: string): string {
  const words = name.split(/[\s._:-]+/u).filter(Boolean);
  const letters = (word: string | undefined, n: number) =>
    Array.from(segmenter.segment(word ?? ''), (part) => part.segment)
      .slice(0, n)
      .join('');
  const text = words.length > 1 ? letters(words[0], 1) + letters(words[1], 1) : letters(words[0], 2);
  return text.toLocaleUpperCase() || '?';
}
