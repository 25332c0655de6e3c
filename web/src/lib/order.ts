/** The order of the list of conversations. */

interface Listed {
  id: string;
  updated_at: string;
}

/** Returns the ids, those with the newest events first. */
export function reordered(threads: Iterable<Listed>): string[] {
  const all = [...threads].sort((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
  return all.map((thread) => thread.id);
}

/** Returns the threads in an order of ids. Threads outside it are newer, and come first. */
export function inOrder<T extends Listed>(threads: ReadonlyMap<string, T>, order: readonly string[]): T[] {
  const known = new Set(order);
  const fresh = reordered([...threads.values()].filter((thread) => !known.has(thread.id)));
  return [...fresh, ...order].flatMap((id) => threads.get(id) ?? []);
}
