/**
 * Colours code that is still being written: its complete lines, not with each piece. One block of
 * the whole page is painted at a time, with a rest between two, so that many replies that stream at
 * once never hold the page up.
 */

import { highlight } from './highlight';
import { escapeHtml } from './markdown';

/** Rest between two paintings on the page. */
const REST_MS = 80;
/** Longer code keeps its last colours until the reply is complete. */
const CHARS_MAX = 8_000;

const waiting = new Map<GrowingCode, () => Promise<void>>();
let timer: ReturnType<typeof setTimeout> | undefined;

function soon(): void {
  timer ??= setTimeout(() => void paintNext(), REST_MS);
}

async function paintNext(): Promise<void> {
  const [first] = waiting;
  if (first) {
    const [owner, paint] = first;
    waiting.delete(owner);
    await paint();
  }
  timer = undefined;
  if (waiting.size > 0) soon();
}

export class GrowingCode {
  /** The lines that are coloured, and their HTML. */
  #source = '';
  #html = '';

  /** Shows the known colours at once, and asks for those of new lines. */
  show(node: HTMLElement, language: string): void {
    const code = node.textContent ?? '';
    if (!code.startsWith(this.#source)) [this.#source, this.#html] = ['', ''];
    this.#draw(node, code);
    const lines = code.slice(0, code.lastIndexOf('\n') + 1);
    if (lines.length <= this.#source.length || lines.length > CHARS_MAX) return;
    waiting.set(this, () => this.#paint(node, lines, language));
    soon();
  }

  async #paint(node: HTMLElement, lines: string, language: string): Promise<void> {
    const html = await highlight(lines, language);
    if (html === null) return;
    [this.#source, this.#html] = [lines, html];
    const code = node.textContent ?? '';
    if (node.isConnected && code.startsWith(lines)) this.#draw(node, code);
  }

  #draw(node: HTMLElement, code: string): void {
    if (this.#source) node.innerHTML = this.#html + escapeHtml(code.slice(this.#source.length));
  }
}
