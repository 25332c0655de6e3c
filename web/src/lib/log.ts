/**
 * The log to which the positions of this page belong. A server restored from a backup counts on
 * from an older position, so its numbers mean other events: the page then reloads.
 */

const HEADER = 'moothall-log';

let kept: string | null = null;
let replaced = () => location.reload();

/** For tests: forgets the log, and sets the reaction to another one. */
export function begin(anew: () => void): void {
  kept = null;
  replaced = anew;
}

/** Returns the header that names the log of a request's position. */
export function ofLog(): Record<string, string> {
  return kept === null ? {} : { [HEADER]: kept };
}

/** Keeps the log of the first answer. An answer with another log reloads the page. */
export function heardOf(response: Pick<Response, 'headers'>): void {
  const log = response.headers.get(HEADER);
  if (log === null) return;
  if (kept !== null && kept !== log) replaced();
  else kept = log;
}
