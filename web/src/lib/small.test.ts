import { describe, expect, it } from 'vitest';
import { insertAt, typingAt } from './at';
import { complete, isCommand, words } from './commands';
import { asMarkdown, fileName } from './export';
import { fit, rank } from './fuzzy';
import { freeId, idFault } from './names';
import { initials } from './palette';
import { grow } from './partial';
import { FrameParser } from './sse';
import { cost, dayName, seconds, shortTime } from './time';
import { endingWords } from './words';

describe('partial replies', () => {
  it('grow by bytes, drop what is known, and begin again with a new attempt', () => {
    let partial = grow(undefined, { attempt: 1, offset: 0, text: 'zwölf ' });
    partial = grow(partial, { attempt: 1, offset: 7, text: 'Uhr' });
    expect(partial).toEqual({ attempt: 1, bytes: 10, text: 'zwölf Uhr' });
    expect(grow(partial, { attempt: 1, offset: 7, text: 'Uhr' })?.text).toBe('zwölf Uhr');
    expect(grow(partial, { attempt: 1, offset: 7, text: 'Uhr!' })?.text).toBe('zwölf Uhr!');
    expect(grow(partial, { attempt: 1, offset: 99, text: '?' })?.text).toBe('zwölf Uhr');
    expect(grow(partial, { attempt: 2, offset: 0, text: 'Neu' })?.text).toBe('Neu');
    expect(grow({ attempt: 2, bytes: 3, text: 'Neu' }, { attempt: 1, offset: 0, text: 'alt' })?.text).toBe('Neu');
  });
});

describe('server-sent events', () => {
  it('come out the same however they are cut', () => {
    const text = 'retry: 1000\n: head 3\n\nid: 3\ndata: {"a":\ndata: 1}\n\nevent: delta\r\ndata: x\r\n\r\n';
    for (let size = 1; size < 12; size += 1) {
      const parser = new FrameParser();
      const frames = [];
      for (let at = 0; at < text.length; at += size) frames.push(...parser.push(text.slice(at, at + size)));
      expect(frames).toEqual([
        { event: 'message', data: '{"a":\n1}', id: '3' },
        { event: 'delta', data: 'x', id: null },
      ]);
    }
  });
});

describe('names', () => {
  it('suggested ids never meet existing ones', () => {
    expect(freeId('Codex', [])).toBe('codex');
    expect(freeId('codex', ['codex', 'CODEX-2'])).toBe('codex-3');
    expect(freeId('user', [])).toBe('user-2');
    expect(freeId('Émile Zola', [])).toBe('emile-zola');
    expect(freeId('日本', [])).toBe('agent');
    expect(idFault('codex', ['Codex'])).toContain('is already here');
    expect(idFault('a b', [])).not.toBeNull();
    expect(idFault('ok-1', ['other'])).toBeNull();
  });

  it('have initials', () => {
    expect(initials('Ann Lee')).toBe('AL');
    expect(initials('critic')).toBe('CR');
    expect(initials('👩‍🚀 x')).toBe('👩‍🚀X');
    expect(initials('')).toBe('?');
  });
});

describe('typing', () => {
  it('finds the name behind the cursor', () => {
    expect(typingAt('hi @an', 6)).toEqual({ start: 3, query: 'an' });
    expect(typingAt('mail@an', 7)).toBeNull();
    expect(typingAt('(@', 2)).toEqual({ start: 1, query: '' });
    expect(typingAt('交给@小', 4)).toEqual({ start: 2, query: '小' });
    expect(typingAt('hi ＠Ｂｏ', 6)).toEqual({ start: 3, query: 'Ｂｏ' });
    expect(typingAt('**@an', 5)).toEqual({ start: 2, query: 'an' });
    for (const joined of ['a@an', 'x/@an', '\\@an', '@@an', 'e\u0301@an', '3@an']) {
      expect(typingAt(joined, joined.length), joined).toBeNull();
    }
    expect(typingAt('hi @ann l', 9, ['Ann Lee'])).toEqual({ start: 3, query: 'ann l' });
    expect(typingAt('hi @ann, l', 10, ['Ann Lee'])).toBeNull();
    expect(typingAt('hi @bob l', 9, ['Ann Lee', 'bob'])).toBeNull();
    expect(typingAt('@an\n', 4)).toBeNull();
    expect(insertAt('hi @an there', 6, { start: 3, query: 'an' }, 'analyst')).toEqual({
      text: 'hi @analyst there',
      cursor: 12,
    });
  });

  it('knows commands from paths and dates', () => {
    const commands = ['/mute', '/group add', '/group list'].map((name) => ({
      name,
      arguments: '',
      does: '',
      example: '',
    }));
    expect(isCommand(' /mute x')).toBe(true);
    expect(isCommand('/1') || isCommand('//x') || isCommand('1/2')).toBe(false);
    const said = [words('//tmp is full'), words('// a comment'), words('///x'), words('a //b')];
    expect(said).toEqual(['/tmp is full', '// a comment', '///x', 'a //b']);
    expect(complete('/gro', commands).map((item) => item.name)).toEqual(['/group add', '/group list']);
    expect(complete('/mute ann', commands).map((item) => item.name)).toEqual(['/mute']);
    expect(complete('/x', commands)).toEqual([]);
  });

  it('ranks what fits', () => {
    expect(fit('an', 'analyst')).toBe(0);
    expect(fit('x', 'analyst')).toBe(-1);
    expect(rank('cr', ['acrobat', 'critic', 'code review'], (item) => [item])).toEqual([
      'critic',
      'acrobat',
      'code review',
    ]);
    expect(fit('core', 'code review')).toBe(3);
    expect(fit('pause', 'planner-cc ↔ builder: use the slow path')).toBe(-1);
  });
});

describe('times and sums', () => {
  it('are short', () => {
    expect([seconds(0.01), seconds(3.42), seconds(42.9), seconds(125)]).toEqual(['< 0.1 s', '3.4 s', '42 s', '2:05']);
    expect([cost(0, 'EUR'), cost(1_500_000, 'EUR')]).toEqual(['0 EUR', '1.50 EUR']);
    expect([cost(0), cost(400), cost(4_000), cost(1_500_000)]).toEqual(['$0', '< $0.001', '$0.004', '$1.50']);
    const now = new Date(2026, 4, 4, 12, 0);
    expect(dayName(new Date(2026, 4, 4, 1).toISOString(), now)).toBe('Today');
    expect(dayName(new Date(2026, 4, 3, 23).toISOString(), now)).toBe('Yesterday');
    expect(shortTime(new Date(2026, 4, 4, 11, 59, 30).toISOString(), now)).toBe('now');
  });
});

describe('files', () => {
  const event = {
    id: 'e',
    seq: 1,
    ts: '2026-05-04T12:00:00.000Z',
    thread: 't',
    type: 'message',
    from: 'a',
    to: 'all',
    content: '<b>x</b> ![y](z)' as unknown,
  };

  it('hold what was said and nothing that runs', () => {
    const text = asMarkdown('T *x*', [event], () => 'Ann\n# no');
    expect(text).toContain('# T \\*x\\*');
    expect(text).toContain('## Ann \\# no');
    expect(text).toContain('&lt;b>x&lt;/b> !\\[y](z)');
    expect(text).not.toContain('erased');
    expect(fileName('../etc/x: y', 'md')).toBe('etcx-y.md');
    expect(fileName('///', 'md')).toBe('conversation.md');
  });

  it('say how words ended that may not be all', () => {
    const file = (meta: object) => asMarkdown('T', [{ ...event, meta } as never], (id) => id);
    expect(file({ ended: 'length' })).toContain('\n\n*Cut short: the model reached its limit of tokens.*\n');
    expect(file({ ended: 'cut', stopped: true })).toContain('\n\n*Stopped here.*\n');
    expect(file({ ended: 'stop' }).trimEnd().endsWith('!\\[y](z)')).toBe(true);
  });

  const body = (content: string) =>
    asMarkdown('T', [{ ...event, content }], (id) => id)
      .split('*\n\n')[1]!
      .trimEnd();

  it('leave code as it was written, wherever it stands', () => {
    const fence = '```rust\nfn f() -> Result<Vec<Job>> { todo!["x"] }\n```';
    expect(body(`Look:\n\n${fence}\n\nand \`Vec<T>\` or **\`Map<K, V>\`** <i>`)).toBe(
      `Look:\n\n${fence}\n\nand \`Vec<T>\` or **\`Map<K, V>\`** &lt;i>`,
    );
    expect(body('- one\n\n  ```\n  a<b\n  ```')).toBe('````\n- one\n\n  ```\n  a<b\n  ```\n````');
    expect(body('| `a<b` |\n|---|\n| <u> |')).toBe('```\n| `a<b` |\n|---|\n| <u> |\n```');
    expect(body('- <script>\n- two')).toBe('- &lt;script>\n- two');
  });

  it('close what somebody left open, and believe no escape', () => {
    expect(body('```\n<script>')).toBe('```\n<script>\n```');
    expect(body('\\`<script>\\`')).toBe('\\`&lt;script>\\`');
    expect(body('a\n\n    ```\n<script>')).not.toMatch(/^<script>/m);
  });

  it('say what was arranged, and what was erased', () => {
    const arranged = { ...event, type: 'control', content: { mute: { targets: ['ann*'] } } };
    const gone = { ...event, content: '', meta: { redacted: true } };
    const text = asMarkdown(
      'T',
      [arranged, gone, { ...event, type: 'turn', content: { event: 'granted' } }],
      (id) => id,
    );
    expect(text).toContain('- a muted ann\\* (');
    expect(text).toContain('(erased)');
    expect(text).not.toContain('granted');
  });
});

describe('the ending of an answer', () => {
  it('is told below a message that may not be all of it', () => {
    expect(endingWords({ ended: 'stop' })).toBeUndefined();
    expect(endingWords(undefined)).toBeUndefined();
    expect(endingWords({ ended: 'length' })).toBe('Cut short: the model reached its limit of tokens.');
    expect(endingWords({ ended: 'stop', thought: true })).toBe('These are the model’s thoughts. It said nothing else.');
  });
});
