/** The `@name` that is being typed. */

export interface Typing {
  /** Position of the sign. */
  start: number;
  query: string;
}

/** Signs that begin a name, as the server reads them: plain, wide and small. */
const SIGN = /[@＠﹫]/;
/** Endings after which a sign belongs to an address, a path or an escape. */
const JOINED = /[\p{Ll}\p{Lu}\p{Lt}0-9０-９_@＠﹫/\\+-]\p{M}*$/u;
/** Characters that end the name being typed. */
const OUTSIDE = /[\s,;!?()[\]{}"'`<>，。、；！？（）]/;
const QUERY_CHARS_MAX = 64;

/**
 * Returns the form in which names are compared, without differences of case, width and composition.
 */
export function folded(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/**
 * Returns the name being typed: from the last sign to the cursor. A blank ends it, unless a known
 * name continues with that blank.
 */
export function typingAt(text: string, cursor: number, names: readonly string[] = []): Typing | null {
  const before = text.slice(Math.max(0, cursor - QUERY_CHARS_MAX), cursor);
  const at = [...before.matchAll(new RegExp(SIGN, 'g'))].at(-1)?.index;
  if (at === undefined) return null;
  const start = cursor - before.length + at;
  const query = before.slice(at + 1);
  if (JOINED.test(text.slice(Math.max(0, start - 8), start)) || query.includes('\n')) return null;
  const goesOn = () => names.some((name) => name.includes(' ') && folded(name).startsWith(folded(query)));
  return !OUTSIDE.test(query) || goesOn() ? { start, query } : null;
}

/** Returns the draft with the name inserted, and the new place of the cursor. */
export function insertAt(text: string, cursor: number, typing: Typing, name: string): { text: string; cursor: number } {
  const after = text.slice(cursor);
  const space = after.startsWith(' ') ? '' : ' ';
  const before = `${text.slice(0, typing.start)}@${name}${space}`;
  return { text: before + after, cursor: before.length + (space ? 0 : 1) };
}
