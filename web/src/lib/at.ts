/** The `@name` that is being typed. */

export interface Typing {
  /** Where the `@` is. */
  start: number;
  query: string;
}

/** What stands between an `@` at the start of a word and the cursor. */
export function typingAt(text: string, cursor: number): Typing | null {
  const found = /(?:^|[\s(])@([\p{L}\p{N}._:-]*)$/u.exec(text.slice(0, cursor));
  return found ? { start: cursor - (found[1] ?? '').length - 1, query: found[1] ?? '' } : null;
}

/** The draft with the name put in, and where the cursor goes. */
export function insertAt(text: string, cursor: number, typing: Typing, name: string): { text: string; cursor: number } {
  const after = text.slice(cursor);
  const space = after.startsWith(' ') ? '' : ' ';
  const before = `${text.slice(0, typing.start)}@${name}${space}`;
  return { text: before + after, cursor: before.length + (space ? 0 : 1) };
}

/** The names that a draft calls, but for the one that is still being typed. */
export function namesIn(text: string): string[] {
  const code = /```[^]*?(?:```|$)|`[^`\n]*`/g;
  const found = text.replace(code, ' ').matchAll(/(?:^|[\s(])@([\p{L}\p{N}._:-]*[\p{L}\p{N}])(?=[^\p{L}\p{N}_-])/gu);
  return [...new Set([...found].map((match) => match[1] ?? ''))];
}
