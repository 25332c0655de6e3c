/** Warnings that come with a message which the server took: words for programs, and sentences. */

const WORDS: Record<string, string> = {
  held: 'A guard holds this conversation, so these words are kept and not shown to the others. To go on, use /resume.',
  stopped: 'This conversation was stopped, so these words are kept and not shown to the others.',
  muted: 'You are muted here, so these words are kept and not shown to the others.',
  paused: 'This conversation is paused, so these words are kept and not shown to the others.',
  queue_full: 'Too many messages wait here already, so no agent is asked about this one.',
  unknown_name: 'No participant has the name that this message mentions, so no agent is asked.',
};

/** Returns warnings as sentences. A word is left out if sentences stand beside it. */
export function warningSentences(warnings: string[]): string[] {
  const isWord = (warning: string) => /^[a-z_]+$/.test(warning);
  const sentences = warnings.filter((warning) => !isWord(warning));
  if (sentences.length > 0) return sentences;
  return warnings.map((word) => WORDS[word] ?? `The server took it with the warning “${word}”.`);
}
