/** Text in which invisible and reordering characters are spelled out. */

export interface Shown {
  text: string;
  /** True if the part spells out characters. */
  spelled: boolean;
}

/**
 * Characters that draw nothing or reorder their neighbours. Plain spaces and line breaks are
 * exempt.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u;
const PLAIN = /[ \n\t]/;
const MARK = /\p{M}/u;
/** Marks that real writing puts on one letter. More of them hide the line above. */
const MARKS_MAX = 3;

export function reveal(text: string): Shown[] {
  const shown: Shown[] = [];
  let marks = 0;
  for (const char of text) {
    marks = MARK.test(char) ? marks + 1 : 0;
    const spelled = marks > MARKS_MAX || (UNSEEN.test(char) && !PLAIN.test(char));
    add(shown, spelled ? codePoint(char) : char, spelled);
  }
  return shown.map((part) => (part.spelled ? { ...part, text: counted(part.text) } : part));
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function add(shown: Shown[], text: string, spelled: boolean): void {
  const last = shown.at(-1);
  if (last?.spelled === spelled) last.text += spelled ? ` ${text}` : text;
  else shown.push({ text, spelled });
}

/** Writes repeated names once, with their number. */
function counted(names: string): string {
  const said: { name: string; times: number }[] = [];
  for (const name of names.split(' ')) {
    const last = said.at(-1);
    if (last?.name === name) last.times += 1;
    else said.push({ name, times: 1 });
  }
  return said.map(({ name, times }) => (times > 1 ? `${name} ×${times}` : name)).join(' ');
}
