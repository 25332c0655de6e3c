/** Sentences of the server for people: warnings beside what it took, and what a refusal asks to confirm. */

/** The words beside which no sentence has to come. */
const WORDS: Record<string, string> = {
  held: 'A guard holds this conversation. These words are kept, and the others do not see them. A person goes on with any words, or with /resume.',
  stopped:
    'A person stopped this conversation. These words are kept, and the others do not see them until a person speaks.',
};

/** Returns warnings as sentences. A word is left out if the sentence that says it follows. */
export function warningSentences(warnings: string[]): string[] {
  const isWord = (warning: string | undefined) => warning !== undefined && /^[a-z_]+$/.test(warning);
  const isSaid = (index: number) => index + 1 < warnings.length && !isWord(warnings[index + 1]);
  const left = warnings.filter((warning, index) => !isWord(warning) || !isSaid(index));
  return left.map((warning) => (isWord(warning) ? (WORDS[warning] ?? unknown(warning)) : warning));
}

function unknown(word: string): string {
  return `The server took it with the warning “${word}”.`;
}

/** Returns the sentences of a refusal that say what would happen. Those that quote what programs send are left out. */
export function consequence(message: string): string {
  const sentences = message.split(/(?<=[.!?])\s+/);
  return sentences.filter((sentence) => !sentence.includes('`')).join(' ') || message;
}
