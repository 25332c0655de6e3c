/**
 * The event types that the page requests. Without a list, the server leaves out events that explain
 * turns.
 */

/** Types from which a conversation is shown. */
const EVERYTHING = [
  'message',
  'control',
  'notice',
  'observation',
  'turn',
  'permission',
  'gathering',
  'link',
  'delivery',
  'attachment',
  'thread.created',
  'thread.renamed',
  'thread.archived',
  'thread.unarchived',
  'thread.deleted',
  'other',
];
/** Types from which a row of the list is made. */
export const LISTED = ['message', 'thread.renamed', 'thread.archived', 'thread.unarchived'];
/** Types from which open requests for permission are found. */
export const ASKED = ['permission', 'turn'];

/** Returns the query of a request for events. */
export function eventQuery(place: Record<string, number>, types: readonly string[] = EVERYTHING): string {
  const given = Object.entries(place).map(([name, value]) => `${name}=${value}`);
  return [...given, `types=${types.join(',')}`].join('&');
}
