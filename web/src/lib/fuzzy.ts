/** Returns the fit of a query to a text: 0 for a prefix, higher is worse, -1 if it does not fit. */
export function fit(query: string, text: string): number {
  const wanted = query.toLocaleLowerCase();
  const within = text.toLocaleLowerCase();
  if (wanted === '') return 0;
  const at = within.indexOf(wanted);
  if (at === 0) return 0;
  if (at > 0) return /[\s._:-]/.test(within[at - 1] ?? '') ? 1 : 2;
  return isAbbreviation(wanted, within) ? 3 : -1;
}

/**
 * True if letters of the text, in order, make the query, and each continues a run or begins a word:
 * `gq` fits “general questions”. Letters from anywhere would fit almost every long text.
 */
function isAbbreviation(wanted: string, within: string): boolean {
  let place = -1;
  for (const char of wanted) {
    const next = within[place + 1] === char ? place + 1 : wordAt(within, char, place + 1);
    if (next < 0) return false;
    place = next;
  }
  return true;
}

function wordAt(within: string, char: string, from: number): number {
  for (let at = within.indexOf(char, from); at >= 0; at = within.indexOf(char, at + 1)) {
    if (at === 0 || /[^\p{L}\p{N}]/u.test(within[at - 1] ?? '')) return at;
  }
  return -1;
}

/** Returns the items that fit, best first. Equals keep their order. */
export function rank<T>(query: string, items: readonly T[], texts: (item: T) => readonly string[]): T[] {
  return items
    .map((item) => {
      const fits = texts(item).map((text) => fit(query, text));
      const good = fits.filter((value) => value >= 0);
      return { item, score: good.length > 0 ? Math.min(...good) : -1 };
    })
    .filter(({ score }) => score >= 0)
    .sort((a, b) => a.score - b.score)
    .map(({ item }) => item);
}
