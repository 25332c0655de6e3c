/** A conversation as a file. */

import { marked, type Token, type Tokens } from 'marked';
import { isQuiet, stepOf } from './gathering';
import { describe } from './lines';
import type { Names } from './names';
import { doubt } from './standing-for';
import { fullTime } from './time';
import type { Envelope, Gathering } from './types';
import { endingWords } from './words';

export function asJsonl(events: readonly Envelope[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

/** Escapes a name for a Markdown heading, so that it stays text. */
function escapeName(name: string): string {
  return name.replace(/[\\`*_{}[\]()#+!<>|~&-]/g, (char) => `\\${char}`).replace(/\s+/g, ' ');
}

/** Escapes prose, so that HTML and images in it stay text when the file is opened. */
function escapeProse(text: string): string {
  return text.replace(/</g, '&lt;').replace(/!\[/g, '!\\[');
}

/** Returns a fence that no line of the text can close. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(longest + 1);
}

/** Returns the line breaks at the end of a text. */
function end(text: string): string {
  return /\n*$/.exec(text)?.[0] ?? '';
}

function fenced(text: string): string {
  const fence = fenceFor(text);
  return `${fence}\n${text.replace(/\n+$/, '')}\n${fence}${end(text)}`;
}

/** Returns a token as safe Markdown. Code stays as it was written, because people copy it. */
function safe(token: Token): string {
  if (token.type === 'code') return codeBlock(token as Tokens.Code);
  if (token.type === 'codespan' || isInert(token.raw)) return token.raw;
  const parts = 'tokens' in token && token.tokens ? token.tokens : [];
  const inner = parts.map((part) => part.raw).join('');
  const at = inner === '' ? -1 : token.raw.indexOf(inner);
  if (at >= 0)
    return escapeProse(token.raw.slice(0, at)) + joined(parts) + escapeProse(token.raw.slice(at + inner.length));
  // The parts of lists, quotes and tables do not make up the whole text.
  return inside(token).some(hasCode) ? fenced(token.raw) : escapeProse(token.raw);
}

function codeBlock({ text, lang, raw }: Tokens.Code): string {
  const language = (lang ?? '').replace(/[^\w+#.-].*$/s, '');
  const fence = fenceFor(text);
  return `${fence}${language}\n${text}\n${fence}${end(raw)}`;
}

/** Joins safe parts. Two harmless parts must not make an image together: `!` and `[`. */
function joined(parts: readonly Token[]): string {
  return parts
    .map(safe)
    .reduce((all, part) => all + (all.endsWith('!') && part.startsWith('[') ? '\\' : '') + part, '');
}

function isInert(raw: string): boolean {
  return escapeProse(raw) === raw;
}

function inside(token: Token): Token[] {
  if (token.type === 'list') return (token as Tokens.List).items;
  if (token.type !== 'table') return 'tokens' in token ? (token.tokens ?? []) : [];
  const { header, rows } = token as Tokens.Table;
  return [...header, ...rows.flat()].flatMap((cell) => cell.tokens);
}

/** True if a token contains code that escaping would change. */
function hasCode(token: Token): boolean {
  if (token.type === 'code' || token.type === 'codespan') return !isInert(token.raw);
  return inside(token).some(hasCode);
}

function escapeBody(body: string): string {
  return joined(marked.lexer(body)).trimEnd();
}

function entry(event: Envelope, nameOf: Names, breath: readonly number[]): string | null {
  if (event.type === 'message' && typeof event.content === 'string') return message(event, event.content, nameOf);
  if (event.type === 'turn' || event.type === 'permission' || isQuiet(event)) return null;
  return `- ${escapeName(describe([event], nameOf, undefined, breath).text)} (${fullTime(event.ts)})\n`;
}

function message(event: Envelope, words: string, nameOf: Names): string {
  const mark = doubt(event, nameOf)?.mark;
  const to = event.to === 'all' ? '' : ` to ${escapeName(nameOf(event.to))}`;
  const head = `## ${escapeName(nameOf(event.from))}${to}${mark ? ` (${escapeName(mark)})` : ''}`;
  const ending = event.meta?.stopped ? 'Stopped here.' : endingWords(event.meta);
  const after = ending ? `\n\n*${ending}*` : '';
  return `${head}\n\n*${fullTime(event.ts)}*\n\n${event.meta?.redacted ? '(erased)' : escapeBody(words)}${after}\n`;
}

export function asMarkdown(title: string, events: readonly Envelope[], nameOf: Names): string {
  const opened = events.map(stepOf).findLast((step) => step?.event === 'opened');
  const entries = events
    .map((event) => entry(event, nameOf, opened?.plan.breath ?? []))
    .filter((text) => text !== null);
  return [`# ${escapeName(title)}\n`, ...entries].join('\n');
}

/** Returns the harvest of a gathering, with its question and its participants. */
export function harvestAsMarkdown({ title, opening_question, participants, harvest }: Gathering): string {
  const members = participants.map(({ name, number, role }) => `- ${escapeName(name)} (${number}), ${role}\n`).join('');
  const question = opening_question === '' ? '' : `${escapeBody(opening_question)}\n\n`;
  const head = `# ${escapeName(title)}\n\n${question}${members}`;
  return `${head}\n## Harvest\n\n${escapeBody(harvest?.text ?? '')}\n`;
}

/** Returns a file name made from a title. */
export function fileName(title: string, extension: string): string {
  const stem = title
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N} _-]+/gu, '')
    .trim()
    .replace(/\s+/g, '-')
    .slice(0, 60);
  return `${stem || 'conversation'}.${extension}`;
}

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  // The browser may read the URL after the click returns.
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
