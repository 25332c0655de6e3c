/**
 * Markdown of strangers to HTML that can do nothing. Raw HTML is shown as text, nothing is ever fetched, and DOMPurify stands behind
 * the renderer in case it errs.
 */

import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i;
/** Deeper quotes or lists, or wider tables, are shown as they were typed. */
const TOO_DEEP = /^(?:\s*>){16}|^\s{120}|^(?:[^|\n]*\|){65}/m;
const RUNAWAY = /[*_[\]()`~]{400}/;
const CHARS_MAX = 200_000;
/** The work that a message may cost: about one element of the page for each unit. What stands behind is shown as it was typed. */
const WORK_MAX = 2_000;
/** A line is a break, an item or a row; one that begins a block of code makes its frame and its button too. */
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

/** The host a link really leads to. */
export function hostOf(href: string): string {
  try {
    const url = new URL(href);
    return url.protocol === 'mailto:' ? url.pathname : url.host;
  } catch {
    return '';
  }
}

/** Whether a link's words already say where it leads, and nothing else. */
function saysItself(text: string, href: string): boolean {
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '');
  return bare(text) === bare(href);
}

function anchor(href: string, inner: string, text: string): string {
  if (!SAFE_LINK.test(href)) return inner;
  const host = saysItself(text, href) ? '' : ` <span class="host">(${escapeHtml(hostOf(href))})</span>`;
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer nofollow">${inner}</a>${host}`;
}

function codeBlock(text: string, info: string): string {
  const language = (info.match(/^\S+/)?.[0] ?? '').replace(/[^\w+#.-]/g, '').slice(0, LANGUAGE_CHARS_MAX);
  const label = language ? `<span class="lang">${escapeHtml(language)}</span>` : '';
  const attribute = language ? ` data-lang="${escapeHtml(language.toLowerCase())}"` : '';
  return (
    `<figure class="code"><div class="code-bar">${label}<button type="button" class="code-copy">Copy</button></div>` +
    `<pre tabindex="0"><code${attribute}>${escapeHtml(text)}</code></pre></figure>`
  );
}

interface At extends Tokens.Generic {
  type: 'at';
  name: string;
}

const at = {
  name: 'at',
  level: 'inline' as const,
  // Asked again at each piece of a line: a search through all that follows would make long messages stop the page.
  start: (source: string) => /^[^\n]*?(?=(?:^|[\s(])@)/.exec(source)?.[0].length,
  tokenizer(source: string): At | undefined {
    const found = /^@([\p{L}\p{N}._:-]*[\p{L}\p{N}])/u.exec(source);
    return found?.[1] ? { type: 'at', raw: found[0], name: found[1] } : undefined;
  },
  renderer: (token: Tokens.Generic) => `<span class="at">${escapeHtml(token.raw)}</span>`,
};

const marked = new Marked({ gfm: true, breaks: true });
marked.use({
  extensions: [at],
  renderer: {
    html: ({ text }) => escapeHtml(text),
    heading({ tokens, depth }) {
      return `<p class="heading h-${Math.min(depth, 4)}">${this.parser.parseInline(tokens)}</p>`;
    },
    link({ href, tokens, text }) {
      return anchor(href, this.parser.parseInline(tokens), text);
    },
    image({ href, text }) {
      if (INLINE_IMAGE.test(href)) return `<img src="${href}" alt="${escapeHtml(text)}">`;
      return anchor(href, `Image: ${escapeHtml(text || 'without a description')}`, '');
    },
    code: ({ text, lang }) => codeBlock(text, lang ?? ''),
    checkbox: ({ checked }) => `<span class="check">${checked ? '[x]' : '[ ]'}</span> `,
    table(token) {
      const cell = (item: Tokens.TableCell, tag: string) => `<${tag}>${this.parser.parseInline(item.tokens)}</${tag}>`;
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
  ALLOWED_ATTR: 'href target rel class data-lang tabindex role aria-label start src alt type'.split(' '),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ADD_ATTR: ['target'],
};

function purify(html: string): string {
  return DOMPurify.sanitize(html, ALLOWED);
}

const CACHE_MAX = 2_000;
const cache = new Map<string, string>();

/** Blocks repeat again and again while a reply streams in, so each is made once. */
function made(token: Token): string {
  const known = cache.get(token.raw);
  if (known !== undefined) return known;
  const html = purify(marked.parser([token]));
  if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value as string);
  cache.set(token.raw, html);
  return html;
}

/** Lets go of everything that was made: words in it may be deleted. */
export function forgetMade(): void {
  cache.clear();
}

function plain(text: string): string[] {
  return [purify(`<p class="plain">${escapeHtml(text)}</p>`)];
}

/** What embeds, overrides or isolates the direction of what follows. */
const REORDERS = /[\u202A-\u202E\u2066-\u2069]/g;

/** Text whose characters stand in the order in which they are drawn: what would reorder them is spelled out. */
export function inOrder(text: string): string {
  return text.replace(REORDERS, (char) => `‹U+${char.charCodeAt(0).toString(16).toUpperCase()}›`);
}

/** The blocks of a message, each as safe HTML. A block stays the same while text is added after it. */
export function renderBlocks(raw: string): string[] {
  const text = inOrder(raw);
  if (text.length > CHARS_MAX || TOO_DEEP.test(text) || RUNAWAY.test(text)) return plain(text);
  const end = readable(text);
  const rest = end < text.length ? plain(text.slice(end)) : [];
  if (end === 0) return rest;
  try {
    const all = marked.lexer(text.slice(0, end));
    // With definitions, the same words can mean another link elsewhere.
    const make = all.some((token) => token.type === 'def') ? (token: Token) => purify(marked.parser([token])) : made;
    return [...all.filter((token) => token.type !== 'space' && token.type !== 'def').map(make), ...rest];
  } catch {
    return plain(text);
  }
}

/** Returns the number of characters that are read as Markdown: whole lines, as long as their work is within bounds. */
function readable(text: string): number {
  let [work, at, fence] = [0, 0, ''];
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
      if (work > WORK_MAX) return at;
    }
    at = next;
  }
  return at;
}

const LINES_MAX = 3;

/** One line of plain words, for lists and announcements. */
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
