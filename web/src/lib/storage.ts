/** Storage of this browser. If it is refused, everything works but is forgotten. */

const PREFIX = 'moothall.';

export function load<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

export function save(name: string, value: unknown): void {
  try {
    if (value === null || value === '') localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or refused storage only means that this browser forgets.
  }
}

/** Returns the stored names that begin with a prefix. */
export function names(prefix: string): string[] {
  try {
    const all = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX + prefix));
    return all.map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** Calls back when another tab of this browser changes a value. */
export function watch(name: string, changed: () => void): () => void {
  const listen = (event: StorageEvent) => {
    if (event.key === PREFIX + name) changed();
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}
