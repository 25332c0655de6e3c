import { describe, expect, it } from 'vitest';
import { CONTRAST_MIN, contrast, fontPx, paint, still, type Theme } from './terminal';

const GROUNDS: Record<Theme, string> = { light: '#efede7', dark: '#12110f' };
const THEMES: Theme[] = ['light', 'dark'];
const BASE = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'].flatMap((name) => [
  name,
  `bright_${name}`,
]);

describe('colours', () => {
  it('can be read in both themes, whatever a program chooses', () => {
    for (const theme of THEMES)
      for (const fg of [...BASE, '#ffffff', '#000000', '#808080', '#efede7'])
        for (const bg of [undefined, ...BASE, '#777777', '#101010'])
          for (const more of [{}, { reverse: true }, { faint: true }]) {
            const { color, background } = paint({ text: 'x', fg, ...(bg ? { bg } : {}), ...more }, theme);
            const ratio = contrast(color!, background ?? GROUNDS[theme]);
            expect(ratio, `${theme} ${fg} on ${bg} ${JSON.stringify(more)}`).toBeGreaterThanOrEqual(
              CONTRAST_MIN - 0.05,
            );
          }
  });

  it('stay as the program chose them if they can be read', () => {
    expect(paint({ text: 'x', fg: '#8fc1f0' }, 'dark').color).toBe('#8fc1f0');
    expect(paint({ text: 'x', fg: '#003366' }, 'light').color).toBe('#003366');
  });

  it('of the terminal itself are those around it', () => {
    expect(paint({ text: 'x', bold: true }, 'dark')).toEqual({
      text: 'x',
      color: null,
      background: null,
      classes: 'font-bold',
    });
  });

  it('are nothing else than colours', () => {
    for (const fg of ['red;background:url(x)', '#12', 'constructor', 'var(--bad)', '#GGGGGG'])
      expect(paint({ text: 'x', fg, bg: fg }, 'dark')).toMatchObject({ color: null, background: null });
  });
});

it('text stays in its cells', () => {
  expect(still('rm \u202efdlih\u202c\u001b[2J\u200f ')).toBe('rm ·fdlih··[2J· ');
  expect(paint({ text: '<b>\u202e' }, 'dark').text).toBe('<b>·');
});

it('letters shrink with the width, down to a size that can be read', () => {
  expect(fontPx(2000, 100, 0.6)).toBe(13);
  expect(fontPx(600, 100, 0.6)).toBe(10);
  expect(fontPx(300, 200, 0.6)).toBe(9);
  expect(fontPx(0, 200, 0.6)).toBe(13);
});
