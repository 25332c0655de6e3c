import { describe, expect, test } from 'vitest';
import { actionText, difference } from './action';
import type { ActionPart, PermissionOption } from './types';

const ALLOW: PermissionOption = { id: 'allow', label: 'allow', kind: 'allow_once' };
const OTHER: PermissionOption = { id: '1', label: 'SQLite', kind: 'other' };

function drawn(tool: string, ...parts: [ActionPart['role'], string, string][]) {
  const detail = { tool, parts: parts.map(([role, name, text]) => ({ role, name, text })) };
  return actionText('word for word', detail, [ALLOW]);
}

describe('an action', () => {
  test('is a command, with all else that it holds', () => {
    const parts: [ActionPart['role'], string, string][] = [
      ['command', 'command', 'cargo publish'],
      ['other', 'run_in_background', 'true'],
      ['claim', 'description', 'Only looks'],
    ];
    expect(drawn('Bash', ...parts)).toEqual({
      lead: 'wants to run a command',
      text: '$ cargo publish\nrun_in_background: true',
      isDiff: false,
      claim: 'Only looks',
    });
  });

  test('is a difference, whichever text comes first', () => {
    const path: [ActionPart['role'], string, string] = ['path', 'file_path', '/srv/shop/flags.rs'];
    const before: [ActionPart['role'], string, string] = ['before', 'old_string', 'a\nb'];
    const after: [ActionPart['role'], string, string] = ['after', 'new_string', 'a\nc'];
    const expected = { lead: 'wants to edit flags.rs', text: '/srv/shop/flags.rs\n  a\n- b\n+ c' };
    expect(drawn('Edit', path, before, after)).toMatchObject({ ...expected, isDiff: true });
    expect(drawn('Edit', path, after, before)).toMatchObject(expected);
    expect(drawn('Write', path, ['content', 'content', 'x\ny'])).toMatchObject({
      lead: 'wants to write flags.rs',
      text: '/srv/shop/flags.rs\n+ x\n+ y',
    });
  });

  test('is told with the dialog that asks, because neither is enough alone', () => {
    const detail = { tool: 'edit', parts: [], screen: 'Apply this change?' };
    expect(actionText('', detail, [ALLOW]).text).toBe('\nOn its screen:\nApply this change?');
  });

  test('without parts is told word for word, and a choice is a question', () => {
    expect(actionText('Which store?', null, [OTHER])).toMatchObject({ lead: 'asks you', text: 'Which store?' });
    expect(actionText('ls', null, [ALLOW])).toMatchObject({ lead: 'asks for permission', text: 'ls' });
    expect(drawn('mcp__shop__buy', ['other', 'item', '7']).lead).toBe('wants to use mcp__shop__buy');
  });
});

test('equal lines far from a change are only counted', () => {
  const lines = Array.from({ length: 10 }, (_, at) => `line ${at}`);
  const now = lines.with(5, 'new');
  expect(difference(lines.join('\n'), now.join('\n'))).toBe(
    [
      '  ⋯ 2 equal lines',
      '  line 2',
      '  line 3',
      '  line 4',
      '- line 5',
      '+ new',
      '  line 6',
      '  line 7',
      '  line 8',
      '  ⋯ 1 equal line',
    ].join('\n'),
  );
  expect(difference('a', 'a\nb')).toBe('  a\n+ b');
  expect(difference('a\nb', 'a')).toBe('  a\n- b');
});

test('a question is its words, and its place among several', () => {
  const parts: ActionPart[] = [{ role: 'question', name: 'DB', text: 'Which database?' }];
  const one = actionText('…', { tool: 'AskUserQuestion', parts }, []);
  expect([one.lead, one.text]).toEqual(['asks you', 'Which database?']);
  const second = actionText('…', { tool: 'AskUserQuestion', parts, step: { number: 2, of: 3 } }, []);
  expect(second.lead).toBe('asks you (2 of 3)');
});
