/**
 * Turns Markdown of strangers into harmless HTML. Raw HTML is shown as text, and nothing is ever
 * fetched. DOMPurify cleans the result in case the renderer errs.
 */

import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import type { MentionPlace } from './types';

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i;
/** Deeper quotes or lists, or wider tables, are shown as they were typed. */
const TOO_DEEP = /^(?:\s*>){16}|^\s{120}|^(?:[^|\n]*\|){65}/m;
const RUNAWAY = /[*_[\]()`~]{400}/;
const CHARS_MAX = 200_000;
/**
 * Work allowed for one message: about one element of the page per unit. The rest is shown as it was
 * typed.
 */
export const WORK_MAX = 2_000;
/**
 * A line is a break, an item or a row. The first line of a code block also makes a frame and a
 * button.
 */
const LINE_WORK = 2;
const FENCE_WORK = 8;
/** Signs that can begin an element within a line. */
const MARKS = /[*_`~]+|[[\]<>@|!\\]|https?:|www\./g;
const FENCE = /^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})/m;
const FENCE_END = /^ {0,3}(`{3,}|~{3,})[ \t]*$/m;
const LANGUAGE_CHARS_MAX = 24;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Returns the host of a link's real target. */
export function hostOf(href: string): string {
  try {
    const url = new URL(href);
    return url.protocol === 'mailto:' ? url.pathname : url.host;
  } catch {
    return '';
  }
}

/** True if the text of a link is its target. */
function saysItself(text: string, href: string): boolean {
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '');
  return bare(text) === bare(href);
}

function anchor(target: string, inner: string, text: string): string {
  const href = target.replace(MARKER, '');
  if (!SAFE_LINK.test(href)) return inner;
  const host = saysItself(text, href) ? '' : ` <span class="host">(${escapeHtml(hostOf(href))})</span>`;
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer nofollow">${inner}</a>${host}`;
}

function codeBlock(text: string, info: string): string {
  const language = (info.match(/^\S+/)?.[0] ?? '').replace(/[^\w+#.-]/g, '').slice(0, LANGUAGE_CHARS_MAX);
  const label = language ? `<span class="lang">${escapeHtml(language)}</span>` : '';
  const attribute = language ? ` data-lang="${escapeHtml(language.toLowerCase())}"` : '';
  return (
    `<figure class="code"><div class="code-bar">${label}<button type="button" class="code-wrap">Wrap</button>` +
    `<button type="button" class="code-copy">Copy</button></div>` +
    `<pre tabindex="0"><code${attribute}>${escapeHtml(text)}</code></pre></figure>`
  );
}

/** Marker after the first character of a name. It makes the name a single token for Markdown. */
const MARKER = /\uFDD0[^\uFDD1]*\uFDD1/g;
const MARKED = /^([@＠﹫])\uFDD0(\d+),([^\uFDD1]*)\uFDD1/;
/** Replaces underscores of an id in a marker: Markdown searches markers for the end of emphasis. */
const UNDERSCORE = '=';
const ESCAPED = /\\([!-/:-@[-`{-~])/g;

interface At extends Tokens.Generic {
  type: 'at';
  words: string;
  who: string;
}

const at = {
  name: 'at',
  level: 'inline' as const,
  // Called at each piece of a line. A regular expression over all the rest would freeze the page on
  // long messages.
  start: (source: string) => {
    const found = source.indexOf('\uFDD0');
    return found > 0 ? found - 1 : undefined;
  },
  tokenizer(source: string): At | undefined {
    const found = MARKED.exec(source);
    if (!found) return undefined;
    const [marker, sign = '', length = '', who = ''] = found;
    const rest = source.slice(marker.length, marker.length + Number(length));
    return { type: 'at', raw: marker + rest, words: sign + rest, who: who.replaceAll(UNDERSCORE, '_') };
  },
  renderer: (token: Tokens.Generic) => {
    const { words, who } = token as At;
    const named = who ? ` data-who="${escapeHtml(who)}"` : '';
    return `<span class="at"${named}>${escapeHtml(words.replace(ESCAPED, '$1'))}</span>`;
  },
};

/**
 * Mathematics, shown as it was written: Markdown would read its backslashes, stars and underscores.
 * A dollar sign before a space or behind one is money.
 */
const MATHS = /^(?:\$\$[^$]+\$\$|\\\([^\n]+?\\\)|\\\[[\s\S]+?\\\]|\$(?![\s$])(?:\\.|[^\\\n$])*(?<!\s)\$(?![\d$]))/;
const MATHS_BLOCK = /^ {0,3}(?:\$\$[^$]+\$\$|\\\[[\s\S]+?\\\])[ \t]*(?:\n|$)/;
/** Characters in which the end of a formula is looked for. */
const MATHS_CHARS_MAX = 2_000;

function mathsToken(source: string, pattern: RegExp): Tokens.Generic | undefined {
  const raw = pattern.exec(source.slice(0, MATHS_CHARS_MAX))?.[0];
  return raw === undefined ? undefined : { type: 'maths', raw, text: raw.trim() };
}

const maths = {
  name: 'maths',
  level: 'inline' as const,
  start: (source: string) => {
    const found = source.search(/\$|\\[([]/);
    return found < 0 ? undefined : found;
  },
  tokenizer: (source: string) => mathsToken(source, MATHS),
  renderer: ({ text }: Tokens.Generic) => `<span class="maths">${escapeHtml(String(text))}</span>`,
};

const mathsBlock = {
  name: 'mathsBlock',
  level: 'block' as const,
  start: (source: string) => {
    const found = source.search(/^ {0,3}(?:\$\$|\\\[)/m);
    return found < 0 ? undefined : found;
  },
  tokenizer: (source: string) => {
    const token = mathsToken(source, MATHS_BLOCK);
    return token && { ...token, type: 'mathsBlock' };
  },
  renderer: ({ text }: Tokens.Generic) => `<p class="plain maths">${escapeHtml(String(text))}</p>`,
};

const marked = new Marked({ gfm: true, breaks: true });
marked.use({
  extensions: [at, maths, mathsBlock],
  renderer: {
    html: ({ text }) => escapeHtml(text),
    heading({ tokens, depth }) {
      return `<p class="heading heading-${Math.min(depth, 4)}">${this.parser.parseInline(tokens)}</p>`;
    },
    link({ href, tokens, text }) {
      return anchor(href, this.parser.parseInline(tokens), text);
    },
    image({ href, text }) {
      if (INLINE_IMAGE.test(href)) return `<img src="${href}" alt="${escapeHtml(text)}">`;
      return anchor(href, `Image: ${escapeHtml(text || 'without a description')}`, '');
    },
    code: ({ text, lang }) => codeBlock(text, lang ?? ''),
    checkbox: ({ checked }) =>
      `<span class="check${checked ? ' check-done' : ''}" role="img" aria-label="${checked ? 'Done' : 'To do'}"></span> `,
    table(token) {
      const cell = ({ align, tokens }: Tokens.TableCell, tag: string) =>
        `<${tag}${align ? ` class="cell-${align}"` : ''}>${this.parser.parseInline(tokens)}</${tag}>`;
      const head = token.header.map((item) => cell(item, 'th')).join('');
      const body = token.rows.map((row) => `<tr>${row.map((item) => cell(item, 'td')).join('')}</tr>`).join('');
      return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
    },
  },
});

const ALLOWED = {
  ALLOWED_TAGS:
    'p br strong em del a code pre span blockquote ul ol li hr table thead tbody tr th td div figure button img'.split(
      ' ',
    ),
  ALLOWED_ATTR: 'href target rel class data-lang data-who tabindex role aria-label start src alt type'.split(' '),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ADD_ATTR: ['target'],
};

/**
 * Returns sanitised HTML without markers. A marker is left over if Markdown reads as code what the
 * server read as words.
 */
function purify(html: string): string {
  return DOMPurify.sanitize(html.replace(MARKER, ''), ALLOWED);
}

const CACHE_MAX = 2_000;
const cache = new Map<string, string>();

/**
 * Returns the HTML of a block, cached: while a reply streams in, its blocks are rendered many
 * times.
 */
function made(token: Token): string {
  const known = cache.get(token.raw);
  if (known !== undefined) return known;
  const html = purify(marked.parser([token]));
  if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value as string);
  cache.set(token.raw, html);
  return html;
}

/** Clears the cache, which may contain words that were deleted. */
export function forgetMade(): void {
  cache.clear();
}

function plain(text: string): string[] {
  return [purify(`<p class="plain">${escapeHtml(text)}</p>`)];
}

/** Characters that embed, override or isolate the direction of text, and the two of markers. */
const REORDERS = /[\u202A-\u202E\u2066-\u2069\uFDD0\uFDD1]/g;

/**
 * Returns text that is drawn in the order of its characters: those that would reorder it are
 * spelled out.
 */
export function inOrder(text: string): string {
  return text.replace(REORDERS, (char) => `‹U+${char.charCodeAt(0).toString(16).toUpperCase()}›`);
}

/** Returns the places of names in the text that `inOrder` makes. */
function inOrderOf(raw: string, mentions: readonly MentionPlace[]): MentionPlace[] {
  let [counted, at] = [0, 0];
  const placeOf = (place: number) => {
    at += inOrder(raw.slice(counted, place)).length;
    counted = place;
    return at;
  };
  return mentions.map(({ start, end, participants }) => ({ start: placeOf(start), end: placeOf(end), participants }));
}

/** Puts a marker after the first character of each name. */
function withMarkers(text: string, mentions: readonly MentionPlace[]): string {
  let [marked, at] = ['', 0];
  for (const { start, end, participants } of mentions) {
    if (start < at || end <= start || end > text.length || text.slice(start, end).includes('\n')) continue;
    const who = participants.length === 1 ? (participants[0] ?? '').replaceAll('_', UNDERSCORE) : '';
    marked += `${text.slice(at, start + 1)}\uFDD0${end - start - 1},${who}\uFDD1${text.slice(start + 1, end)}`;
    at = end;
  }
  return marked + text.slice(at);
}

/**
 * Returns the blocks of a message, each as safe HTML. A block stays the same while text is added
 * after it. `workMax` is the work that is allowed.
 */
export function renderBlocks(raw: string, mentions: readonly MentionPlace[] = [], workMax = WORK_MAX): string[] {
  const text = inOrder(raw);
  if (text.length > CHARS_MAX || TOO_DEEP.test(text) || RUNAWAY.test(text)) return plain(text);
  const { end } = readingOf(text, workMax);
  const rest = end < text.length ? plain(text.slice(end)) : [];
  if (end === 0) return rest;
  try {
    const all = marked.lexer(withMarkers(text.slice(0, end), inOrderOf(raw, mentions)));
    // Link definitions change the meaning of other blocks, so those blocks are not cached.
    const make = all.some((token) => token.type === 'def') ? (token: Token) => purify(marked.parser([token])) : made;
    return [...all.filter((token) => token.type !== 'space' && token.type !== 'def').map(make), ...rest];
  } catch {
    return plain(text);
  }
}

/** The part of a text that is read. */
export interface Reading {
  /** Number of characters to read as Markdown: whole lines. */
  end: number;
  /** Number of characters whose blocks stay as they are, whatever follows, and their work. */
  settled: number;
  settledWork: number;
}

/** The beginning of a block that continues none before it. Lists and quotes may go on. */
const BEGINS = /[\p{L}#`~]/uy;

/** Reads a text by lines, up to an amount of work. */
export function readingOf(text: string, workMax: number): Reading {
  let [work, at, fence, settled, settledWork] = [0, 0, '', 0, 0];
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, next);
    const mark = (fence ? FENCE_END : FENCE).exec(line)?.[1] ?? '';
    if (fence) {
      if (mark.startsWith(fence)) fence = '';
    } else {
      fence = mark;
      work += mark ? FENCE_WORK : LINE_WORK + (line.match(MARKS)?.length ?? 0);
      if (work > workMax) break;
      BEGINS.lastIndex = next;
      if (line === '\n' && BEGINS.test(text)) [settled, settledWork] = [next, work];
    }
    at = next;
  }
  return { end: at, settled, settledWork };
}

const LINES_MAX = 3;

/** Returns one line of plain words, for lists and announcements. */
export function summary(text: string, charsMax = 140): string {
  const line = inOrder(text.slice(0, charsMax * 6))
    .replace(/```[^\n]*\n?/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[#>]+|[*+-](?=\s))\s*/gm, '')
    .replace(/(\*\*|__|~~|[*_`])(?=\S)(.+?)\1/g, '$2')
    .split('\n')
    .filter((part) => part.trim() !== '')
    .slice(0, LINES_MAX)
    .join(' ')
    .trim();
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line;
}
