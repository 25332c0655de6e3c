/**
 * Sentences of the server: warnings about what it accepted, and consequences that a refusal asks to
 * confirm.
 */

/** Sentences for words that the server may send without one. */
const WORDS: Record<string, string> = {
  held: 'A guard holds this conversation. The server keeps this message, and the others do not see it. A message from a person, or /resume, lets the agents go on.',
  stopped:
    'A person stopped this conversation. The server keeps this message, and the others see it when a person writes again.',
};

/** Returns warnings as sentences. A word is left out if its sentence follows. */
export function warningSentences(warnings: string[]): string[] {
  const isWord = (warning: string | undefined) => warning !== undefined && /^[a-z_]+$/.test(warning);
  const isSaid = (index: number) => index + 1 < warnings.length && !isWord(warnings[index + 1]);
  const left = warnings.filter((warning, index) => !isWord(warning) || !isSaid(index));
  return left.map((warning) => (isWord(warning) ? (WORDS[warning] ?? unknown(warning)) : warning));
}

function unknown(word: string): string {
  return `The server accepted it with a warning: “${word}”.`;
}

/**
 * Returns the sentences of a refusal that name the consequence. Sentences for programs, which quote
 * a field, are left out.
 */
export function consequence(message: string): string {
  const sentences = message.split(/(?<=[.!?])\s+/);
  return sentences.filter((sentence) => !sentence.includes('`')).join(' ') || message;
}
