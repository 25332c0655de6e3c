import { describe, expect, it } from 'vitest';
import { reveal } from './reveal';

const said = (text: string) => reveal(text).map((part) => (part.spelled ? `[${part.text}]` : part.text));

describe('revealing', () => {
  it('leaves what can be seen as it is, with its spaces and lines', () => {
    expect(said('rm -rf\t./target\n&& echo "größer 花 👍"')).toEqual(['rm -rf\t./target\n&& echo "größer 花 👍"']);
  });

  it('spells out what reorders, hides or draws nothing', () => {
    expect(said('a\u202Eb')).toEqual(['a', '[U+202E]', 'b']);
    expect(said('rm\u200B\u00A0-rf')).toEqual(['rm', '[U+200B U+00A0]', '-rf']);
    expect(said('\u{E0041}x\u3164\u2800\uFE0F')).toEqual(['[U+E0041]', 'x', '[U+3164 U+2800 U+FE0F]']);
    expect(said('\u001B[2K\rok\u0007')).toEqual(['[U+001B]', '[2K', '[U+000D]', 'ok', '[U+0007]']);
    expect(said('\uD800')).toEqual(['[U+D800]']);
  });

  it('keeps the marks of a letter, and spells out heaps of them', () => {
    expect(said('e\u0301')).toEqual(['e\u0301']);
    expect(said(`Z${'\u0302'.repeat(40)}`)).toEqual(['Z\u0302\u0302\u0302', '[U+0302 ×37]']);
  });
});
