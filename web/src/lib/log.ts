/**
 * Of which log the positions of this page are. A server that was restored from a backup counts on from an older position, so its numbers stand for
 * other events: the page then begins anew.
 */

const HEADER = 'moothall-log';

let kept: string | null = null;
let replaced = () => location.reload();

/** For tests: forgets the log, and says what to do when there is another. */
export function begin(anew: () => void): void {
  kept = null;
  replaced = anew;
}

/** Returns the header that says of which log the position of a request is. */
export function ofLog(): Record<string, string> {
  return kept === null ? {} : { [HEADER]: kept };
}

/** Takes the log of the first answer; an answer of another one begins anew. */
export function heardOf(response: Pick<Response, 'headers'>): void {
  const log = response.headers.get(HEADER);
  if (log === null) return;
  if (kept !== null && kept !== log) replaced();
  else kept = log;
}
