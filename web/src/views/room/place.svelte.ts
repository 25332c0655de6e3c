/**
 * Where the list of messages stands: at its end, at a message that was gone to, or where a hand left it. Rows are measured when they are
 * drawn, so a place is taken again until they all have been; a hand that scrolls always wins.
 */

import { tick } from 'svelte';
import type { VirtualizerHandle } from 'virtua/svelte';

type Align = 'center' | 'start';
/** A row that was gone to, or the end. */
type Kept = 'end' | { key: string; align: Align };

/** How near to the end counts as the end. */
const END_PX = 48;
/** What stays free above a row that begins the page. */
const ABOVE_PX = 48;
/** For so long after a hand or a key what moves is their doing. What the page itself moves says nothing about where people want to be. */
const MOVED_MS = 1_000;
/** Then rows are measured, and a message that was gone to is let go. */
const KEPT_MS = 2_000;

const UPWARD = ['ArrowUp', 'PageUp', 'Home'];

interface Parts {
  list: () => VirtualizerHandle | undefined;
  frame: () => HTMLElement | undefined;
  /** The place of a row among all. */
  indexOf: (key: string) => number;
}

export class Place {
  kept = $state.raw<Kept | null>('end');
  atEnd = $derived(this.kept === 'end');
  #parts: Parts;
  #offset = 0;
  #movedAt = -Infinity;
  #release: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  toEnd(): void {
    this.#movedAt = -Infinity;
    this.kept = 'end';
    this.take();
  }

  to(key: string, align: Align): void {
    const kept = { key, align };
    this.#movedAt = -Infinity;
    this.kept = kept;
    this.take();
    clearTimeout(this.#release);
    this.#release = setTimeout(() => this.kept === kept && (this.kept = this.nearEnd() ? 'end' : null), KEPT_MS);
  }

  /** Where to is not known yet. */
  leave(): void {
    if (this.kept === 'end') this.kept = null;
  }

  /** Goes to what is kept, once the rows are drawn. Answers whether that is the end. */
  async take(): Promise<boolean> {
    await tick();
    const { kept } = this;
    const frame = this.#parts.frame();
    if (!kept || !frame) return false;
    const top = kept === 'end' ? frame.scrollHeight : this.#topOf(kept);
    if (top !== null) frame.scrollTop = top;
    return kept === 'end';
  }

  #topOf({ key, align }: { key: string; align: Align }): number | null {
    const list = this.#parts.list();
    const index = this.#parts.indexOf(key);
    if (!list || index < 0) return null;
    const above = align === 'start' ? ABOVE_PX : (list.getViewportSize() - list.getItemSize(index)) / 2;
    return list.getItemOffset(index) - Math.max(0, above);
  }

  nearEnd(): boolean {
    const list = this.#parts.list();
    return !list || list.getScrollSize() - list.getScrollOffset() - list.getViewportSize() < END_PX;
  }

  /** The list was scrolled, by whomever. `last`: its end is the end of the conversation. */
  scrolled(offset: number, last: boolean): void {
    const byHand = performance.now() - this.#movedAt < MOVED_MS;
    const isUp = offset < this.#offset - 1;
    this.#offset = offset;
    if (this.kept === null && last && this.nearEnd()) this.kept = 'end';
    else if (this.kept === 'end' && ((isUp && byHand) || !last) && !this.nearEnd()) this.kept = null;
  }

  /** Somebody touched the list. */
  touched(): void {
    this.#movedAt = performance.now();
    if (this.kept !== 'end') this.kept = null;
  }

  wheeled(event: WheelEvent): void {
    this.touched();
    if (event.deltaY < 0 && !event.ctrlKey) this.#pulledUp();
  }

  pressed(event: KeyboardEvent): void {
    this.touched();
    if (UPWARD.includes(event.key) && event.target === this.#parts.frame()) this.#pulledUp();
  }

  /** It counts at once: on a busy machine the list follows late, and the end must not be kept meanwhile. */
  #pulledUp(): void {
    if ((this.#parts.frame()?.scrollTop ?? 0) > 0) this.kept = null;
  }

  end(): void {
    clearTimeout(this.#release);
  }
}
