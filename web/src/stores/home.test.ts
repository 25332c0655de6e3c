import { afterEach, expect, test, vi } from 'vitest';
import { flushSync } from 'svelte';
import type { Need } from '../lib/types';
import { Home } from './home.svelte';
import { Me } from './me.svelte';
import { Needs } from './needs.svelte';
import { Reads } from './reads.svelte';

const me = new Me();
const needs = new Needs(me, new Reads(me));
const home = new Home(needs);

const need = (id: string, since: string): Need => ({ id, kind: 'permission', thread: id, title: id, since });
const key = (repeat = false) => new KeyboardEvent('keydown', { key: '1', repeat });

/** Draws what is open now, as the view does before it changes the page. */
function draw(): string | undefined {
  flushSync();
  home.draw(home.current?.id ?? null);
  return home.current?.id;
}

function wait(...ids: string[]): void {
  for (const old of ['a', 'b', 'c', 'x', 'y']) needs.take(old, []);
  ids.forEach((id, index) => needs.take(id, [need(id, `2026-11-27T12:0${index}:00Z`)]));
}

afterEach(() => vi.restoreAllMocks());

test('after an answer the next opens, and takes no key for a while nor a held one', () => {
  let now = 10_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  wait('a', 'b', 'c');
  expect(draw()).toBe('a');
  expect(home.takes(key())).toBe(true);
  expect(home.takes(key(true))).toBe(false);

  needs.answered(home.current!);
  expect(draw()).toBe('b');
  expect(home.takes(key())).toBe(false);
  now += 499;
  expect(home.takes(key())).toBe(false);
  now += 1;
  expect(home.takes(key())).toBe(true);
  expect(home.takes(key(true))).toBe(false);

  // The person moved: the card that opens is the one that was meant.
  home.step(1);
  expect(draw()).toBe('c');
  expect(home.takes(key())).toBe(true);
});

test('a card that is replaced takes no key that was meant for the one before', () => {
  const now = 100_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  wait('x', 'y');
  home.choose('y');
  expect(draw()).toBe('y');
  needs.take('y', [need('z', '2026-11-27T12:05:00Z')]);
  expect(draw()).toBe('z');
  expect(home.takes(key())).toBe(false);
});

test('moving stops at both ends', () => {
  wait('a', 'b');
  home.choose('a');
  draw();
  home.step(-1);
  expect(draw()).toBe('a');
  home.step(5);
  expect(draw()).toBe('b');
});

test('the next question of one call opens, though another need is older', () => {
  vi.useFakeTimers();
  const of = (id: string, since: string): Need => ({ ...need(id, since), thread: 'a', participant: 'ada' });
  wait('b');
  needs.take('a', [of('a1', '2026-11-27T11:00:00Z')]);
  home.choose('a1');
  expect(draw()).toBe('a1');
  home.follow(home.current!);
  needs.answered(home.current!);
  expect(draw()).toBe(undefined);
  needs.take('a', [of('a2', '2026-11-27T12:09:00Z')]);
  expect(draw()).toBe('a2');
  expect(home.takes(key())).toBe(false);

  home.follow(home.current!);
  needs.answered(home.current!);
  expect(draw()).toBe(undefined);
  vi.advanceTimersByTime(5000);
  expect(draw()).toBe('b');
  vi.useRealTimers();
});
