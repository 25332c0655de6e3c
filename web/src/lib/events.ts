/** Which events the page asks for. A server that is asked for no types leaves out those that explain turns. */

/** All that a conversation is shown from. */
const EVERYTHING = [
  'message',
  'control',
  'notice',
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
/** What a row of the list is made of. */
export const LISTED = ['message', 'thread.renamed', 'thread.archived', 'thread.unarchived'];
/** What says which questions are open. */
export const ASKED = ['permission', 'turn'];

/** The query of a request for events. */
export function eventQuery(place: Record<string, number>, types: readonly string[] = EVERYTHING): string {
  const given = Object.entries(place).map(([name, value]) => `${name}=${value}`);
  return [...given, `types=${types.join(',')}`].join('&');
}
