/** Slash commands for the palette. Grammar and help come from the server (`GET /commands`). */

export interface Command {
  name: string;
  arguments: string;
  does: string;
  example: string;
}

/** True if the server would read a draft as a command. */
export function isCommand(text: string): boolean {
  return /^\s*\/[A-Za-z]/.test(text);
}

/**
 * Returns the words of a draft that is not a command. Two slashes before a letter stand for one, so
 * that a message can begin with a path.
 */
export function words(text: string): string {
  return /^\/\/[A-Za-z]/.test(text) ? text.slice(1) : text;
}

/**
 * Returns the commands that the beginning of a draft can still mean. A complete command stays
 * listed, so that its arguments remain visible.
 */
export function complete(text: string, commands: readonly Command[]): Command[] {
  const typed = text.trimStart().toLowerCase();
  if (!typed.startsWith('/') || typed.includes('\n')) return [];
  const open = commands.filter((item) => item.name.startsWith(typed.trimEnd()) && typed.length <= item.name.length);
  if (open.length > 0) return open;
  return commands.filter((item) => typed.startsWith(`${item.name} `)).slice(0, 1);
}
