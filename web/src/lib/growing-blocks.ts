/**
 * Renders a text that grows. With each piece only its end is read again, so that a long reply costs
 * no more than a short one.
 */

import { readingOf, renderBlocks, WORK_MAX } from './markdown';

/** Lines that begin what may reach over an empty line, or what changes other blocks. */
const REACHES = /^ {0,3}(?:<|\$\$|\\\[|\[[^\]]+\]:)/m;
/** Longer texts are shown as they were written. */
const CHARS_MAX = 200_000;

export class GrowingBlocks {
  /** The text whose blocks are known, the blocks, and their work. */
  #text = '';
  #blocks: string[] = [];
  #work = 0;

  /** Returns the blocks of the text, as `renderBlocks` does. */
  render(raw: string): string[] {
    if (raw.length > CHARS_MAX) return renderBlocks(raw);
    if (!raw.startsWith(this.#text)) [this.#text, this.#blocks, this.#work] = ['', [], 0];
    this.#settle(raw.slice(this.#text.length));
    return [...this.#blocks, ...renderBlocks(raw.slice(this.#text.length), [], WORK_MAX - this.#work)];
  }

  #settle(rest: string): void {
    const { settled, settledWork } = readingOf(rest, WORK_MAX - this.#work);
    const part = rest.slice(0, settled);
    if (settled === 0 || REACHES.test(part)) return;
    this.#blocks.push(...renderBlocks(part));
    this.#text += part;
    this.#work += settledWork;
  }
}
