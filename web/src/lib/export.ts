/** A conversation as a file. */

import { doubt } from './standing-for';
import { fullTime } from './time';
import type { Envelope } from './types';

export function asJsonl(events: readonly Envelope[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

/** Names go into Markdown headings, so that whatever is in them stays text. */
function escapeName(name: string): string {
  return name.replace(/[\\`*_{}[\]()#+!<>|~&-]/g, (char) => `\\${char}`).replace(/\s+/g, ' ');
}

/** A reader of the file must not run what somebody wrote into it. */
function escapeBody(body: string): string {
  return body.replace(/</g, '&lt;').replace(/!\[/g, '!\\[');
}

export function asMarkdown(title: string, events: readonly Envelope[], nameOf: (id: string) => string): string {
  const parts = [`# ${escapeName(title)}\n`];
  for (const event of events) {
    if (event.type !== 'message' || typeof event.content !== 'string') continue;
    const mark = doubt(event, nameOf)?.mark;
    const to = event.to === 'all' ? '' : ` to ${escapeName(nameOf(event.to))}`;
    parts.push(
      `## ${escapeName(nameOf(event.from))}${to}${mark ? ` (${escapeName(mark)})` : ''}\n\n*${fullTime(event.ts)}*\n\n${escapeBody(event.content)}\n`,
    );
  }
  return parts.join('\n');
}

/** A file name made from a title. */
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
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
