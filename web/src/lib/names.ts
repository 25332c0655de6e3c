/** Ids of participants, as the server takes them, and names for them. */

/** Returns the names for ids, as one reader sees them. `me` is the reader's own id. */
export interface Names {
  (id: string): string;
  me?: string;
}

/** Reserved ids. The server also rejects ids that look like them. */
const RESERVED = new Set(
  (
    'all everyone here user system moothall you me myself human person operator admin administrator root owner server ' +
    'null none undefined nobody anyone everybody'
  ).split(' '),
);
const CHARS_MAX = 64;

export function slug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain
    .replace(/[^a-z0-9._:-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, CHARS_MAX);
}

/** Returns a free id made from a name: `codex`, `codex-2`, … */
export function freeId(name: string, taken: Iterable<string>): string {
  const used = new Set(Array.from(taken, (id) => id.toLowerCase()));
  const base = slug(name) || 'agent';
  const isFree = (id: string) => !used.has(id) && !RESERVED.has(id);
  if (isFree(base)) return base;
  for (let n = 2; ; n += 1) {
    const id = `${base.slice(0, CHARS_MAX - 5)}-${n}`;
    if (isFree(id)) return id;
  }
}

/** Returns a sentence about a fault of an id; null if the id can be used. */
export function idFault(id: string, taken: Iterable<string>): string | null {
  if (!/^[A-Za-z0-9._:-]{1,64}$/.test(id)) return 'Use 1 to 64 letters, digits, and . _ : -';
  if (RESERVED.has(id.toLowerCase())) return `“${id}” is reserved.`;
  for (const other of taken) {
    if (other.toLowerCase() === id.toLowerCase())
      return `“${id}” is already here. Inviting it again would change its profile.`;
  }
  return null;
}
