/** Slash commands for the palette. Their grammar and their help are the server's (`GET /commands`). */

export interface Command {
  name: string;
  arguments: string;
  does: string;
  example: string;
}

/** Whether a draft is meant as a command, as the server sees it. */
export function isCommand(text: string): boolean {
  return /^\s*\/[A-Za-z]/.test(text);
}

/** The words to say of a draft that is not a command. Two slashes before a letter stand for one: so a message can begin with a path. */
export function words(text: string): string {
  return /^\/\/[A-Za-z]/.test(text) ? text.slice(1) : text;
}

/** What can still be meant by the beginning of a draft; once a command is complete, that one, so that its arguments stay in sight. */
export function complete(text: string, commands: readonly Command[]): Command[] {
  const typed = text.trimStart().toLowerCase();
  if (!typed.startsWith('/') || typed.includes('\n')) return [];
  const open = commands.filter((item) => item.name.startsWith(typed.trimEnd()) && typed.length <= item.name.length);
  if (open.length > 0) return open;
  return commands.filter((item) => typed.startsWith(`${item.name} `)).slice(0, 1);
}
