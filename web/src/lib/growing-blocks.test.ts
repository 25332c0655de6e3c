import { describe, expect, it } from 'vitest';
import { GrowingBlocks } from './growing-blocks';
import { renderBlocks } from './markdown';

const TEXTS = [
  'One.\n\nTwo **bold**\nand more.\n\n# Head\n\nThree.',
  '1. a\n\n2. b\n\n   more of b\n\nAfter the list.\n\n- x\n\n- y\n\n> quote\n\n> more\n\nEnd.',
  'Code:\n\n```rust\nfn a() {}\n\nfn b() {}\n```\n\nAnd `inline`.\n\n~~~\nx\n\ny\n~~~\n\nEnd.',
  '| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter the table.\n\n$$\na\n\nb\n$$\n\nAfter the formula.',
  '<pre>\none\n\ntwo\n</pre>\n\nAfter.\n\n    indented\n\n    more\n\nEnd.',
  'Heading\n===\n\nWords\n\n---\n\nx\r\n\r\ny\n \nz',
];

describe('a text that grows', () => {
  it('has at each of its lengths the blocks of a text that is complete', () => {
    for (const text of TEXTS) {
      const growing = new GrowingBlocks();
      for (let end = 1; end <= text.length; end += 1) {
        const grown = text.slice(0, end);
        expect(growing.render(grown)).toEqual(renderBlocks(grown));
      }
    }
  });

  it('begins anew if it is another text', () => {
    const growing = new GrowingBlocks();
    growing.render('One.\n\nTwo.');
    expect(growing.render('Three.')).toEqual(renderBlocks('Three.'));
  });

  it('is shown as it was written where its work ends, as a complete one is', () => {
    const growing = new GrowingBlocks();
    const text = 'a **b** c\n\n'.repeat(1_000) + 'end';
    growing.render('a **b** c\n\n'.repeat(500) + 'a');
    expect(growing.render(text).join('')).toBe(renderBlocks(text).join(''));
  });
});
