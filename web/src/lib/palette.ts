/**
 * Colours of participants. Their order of invitation picks one of twelve; people outside the list
 * have their own.
 */

export const HUES = 12;
/** Class of those who were not invited: you, and the server. */
export const OWN = 'c-own';

export function colourClass(order: number | null | undefined): string {
  return order === null || order === undefined ? OWN : `c-${order % HUES}`;
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
