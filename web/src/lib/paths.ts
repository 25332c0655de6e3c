/** Paths of the server's computer, in few words. */

/** Returns the end of a path: the folder and the one around it. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter(Boolean);
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : path;
}
