/**
 * Colours of a terminal on the page. The text of a program is text: no part of it becomes markup or
 * a style that the page does not know.
 */

import type { ScreenRun } from './types';

export type Theme = 'light' | 'dark';

/** A run as it is drawn. Colours that are not set are those around it. */
export interface PaintedRun {
  text: string;
  color: string | null;
  background: string | null;
  classes: string;
}

type Rgb = readonly [number, number, number];

interface Palette {
  ground: Rgb;
  ink: Rgb;
  base: Record<string, Rgb>;
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

function palette(ground: string, ink: string, plain: string[], bright: string[]): Palette {
  const named = (name: string, at: number) => [
    [name, rgb(plain[at] ?? ink)] as const,
    [`bright_${name}`, rgb(bright[at] ?? ink)] as const,
  ];
  return { ground: rgb(ground), ink: rgb(ink), base: Object.fromEntries(NAMES.flatMap(named)) };
}

/** `ground` and `ink` are those of `tokens.css`: a terminal stands on the sunken ground. */
const PALETTES: Record<Theme, Palette> = {
  light: palette(
    '#efede7',
    '#1d1b18',
    ['#1d1b18', '#ab1f18', '#2b6a2b', '#7a4d00', '#1f5c99', '#7a3e9d', '#0d6e63', '#d8d4ca'],
    ['#625d55', '#c22a22', '#2c7a2c', '#855400', '#2a6fb5', '#8d4bb3', '#107d71', '#ffffff'],
  ),
  dark: palette(
    '#12110f',
    '#ece9e2',
    ['#12110f', '#ff8d82', '#6cc26c', '#e8ab54', '#8fc1f0', '#d0a4ee', '#54c5b7', '#d8d4ca'],
    ['#8a857b', '#ffaba3', '#93cf8d', '#f2c583', '#b0d3f5', '#dfc1f4', '#86d8cd', '#ffffff'],
  ),
};

/** The least contrast of text, as WCAG AA asks. */
export const CONTRAST_MIN = 4.5;

function rgb(hex: string): Rgb {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

function hex(color: Rgb): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the contrast of two colours such as `#1d1b18`, from 1 to 21. */
export function contrast(one: string, other: string): number {
  return contrastOf(rgb(one), rgb(other));
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  return one.map((part, at) => part + ((other[at] ?? part) - part) * share) as unknown as Rgb;
}

/** Returns a colour as near as possible to `color` that can be read on `ground`. */
function readable(color: Rgb, ground: Rgb): Rgb {
  const STEPS = 20;
  const [black, white]: [Rgb, Rgb] = [
    [0, 0, 0],
    [255, 255, 255],
  ];
  const end = contrastOf(black, ground) > contrastOf(white, ground) ? black : white;
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(color, end, step / STEPS);
    if (contrastOf(mixed, ground) >= CONTRAST_MIN) return mixed;
  }
  return end;
}

/** Returns the colour that a word of the wire names; null for the terminal's own or an unknown word. */
function named(word: string | null | undefined, { base }: Palette): Rgb | null {
  if (!word) return null;
  if (/^#[0-9a-f]{6}$/.test(word)) return rgb(word);
  return Object.hasOwn(base, word) ? (base[word] ?? null) : null;
}

const CLASSES: [keyof ScreenRun, string][] = [
  ['bold', 'font-bold'],
  ['italic', 'italic'],
  ['underline', 'underline'],
  ['strike', 'line-through'],
];

/** Returns a run as it is drawn in a theme. Its colours can be read, whatever the program chose. */
export function paint(run: ScreenRun, theme: Theme): PaintedRun {
  const colors = PALETTES[theme];
  const classes = CLASSES.filter(([attribute]) => run[attribute] === true).map(([, name]) => name);
  const drawn = { text: still(run.text), classes: classes.join(' ') };
  const [fg, bg] = [named(run.fg, colors), named(run.bg, colors)];
  if (!fg && !bg && !run.reverse && !run.faint) return { ...drawn, color: null, background: null };
  const pair = [fg ?? colors.ink, bg ?? colors.ground] as const;
  const [front, back] = run.reverse ? [pair[1], pair[0]] : pair;
  const color = readable(run.faint ? mix(front, back, 0.4) : front, back);
  return { ...drawn, color: hex(color), background: bg || run.reverse ? hex(back) : null };
}

/** Direction marks and control characters, which would move the text beside them. */
const MOVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns text in its columns: each moving character becomes one visible cell. */
export function still(text: string): string {
  return text.replace(MOVING, '\u00b7');
}

/** Sizes of the letters of a terminal, in pixels. Below the least one, the view scrolls sideways. */
const FONT_PX_MAX = 13;
const FONT_PX_MIN = 9;

/**
 * Returns the size of letters with which a terminal fits into a width. `cell` is the width of a
 * letter in parts of its size.
 */
export function fontPx(width: number, columns: number, cell: number): number {
  const fits = width > 0 && columns > 0 ? width / (columns * cell) : FONT_PX_MAX;
  return Math.min(FONT_PX_MAX, Math.max(FONT_PX_MIN, Math.floor(fits * 8) / 8));
}
