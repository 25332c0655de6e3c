/**
 * The scroll position of the list of messages: its end, a row, or the point to which a person
 * scrolled. Rows are measured when they are drawn, so the position is taken again until all are
 * measured. Scrolling by a person always wins.
 */

import { tick } from 'svelte';
import type { VirtualizerHandle } from 'virtua/svelte';

type Align = 'center' | 'start';
/** The end, or a row to go to. */
type Kept = 'end' | { key: string; align: Align };

/** Distance to the end that counts as the end. */
const END_PX = 48;
/** Free space above a row at the start of the view. */
const ABOVE_PX = 48;
/**
 * Time after a touch or a key in which movement counts as a person's. Movement by the page does not
 * show the position that people want.
 */
const MOVED_MS = 1_000;
/** Time until the rows are measured. Then the position of a row is released. */
const KEPT_MS = 2_000;

const UPWARD = ['ArrowUp', 'PageUp', 'Home'];

interface Parts {
  list: () => VirtualizerHandle | undefined;
  frame: () => HTMLElement | undefined;
  /** Returns the index of a row among all. */
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

  /** Leaves the end before the new position is known. */
  leave(): void {
    if (this.kept === 'end') this.kept = null;
  }

  /** Goes to the kept position once the rows are drawn. Returns true if it is the end. */
  async take(): Promise<boolean> {
    await tick();
    // The place is read after the rows are drawn: a person may have scrolled meanwhile.
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

  /**
   * Handles a scroll by a person or by the page. `last`: the list ends at the end of the
   * conversation.
   */
  scrolled(offset: number, last: boolean): void {
    const byHand = performance.now() - this.#movedAt < MOVED_MS;
    const isUp = offset < this.#offset - 1;
    this.#offset = offset;
    if (this.kept === null && last && this.nearEnd()) this.kept = 'end';
    else if (this.kept === 'end' && ((isUp && byHand) || !last) && !this.nearEnd()) this.kept = null;
  }

  /** Records that a person touched the list. */
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

  /**
   * Releases the end at once. On a busy machine the list follows late, and must not return to the
   * end meanwhile.
   */
  #pulledUp(): void {
    if ((this.#parts.frame()?.scrollTop ?? 0) > 0) this.kept = null;
  }

  end(): void {
    clearTimeout(this.#release);
  }
}
