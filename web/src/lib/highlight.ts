/** Colours code. The highlighter and each language load when the first block needs them. */

import type { HLJSApi, LanguageFn } from 'highlight.js';

type Load = () => Promise<{ default: LanguageFn }>;

const LANGUAGES: Record<string, Load> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  python: () => import('highlight.js/lib/languages/python'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};

const ALIASES: Record<string, string> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  'c++': 'cpp',
  html: 'xml',
  svg: 'xml',
  js: 'javascript',
  jsx: 'javascript',
  jsonl: 'json',
  md: 'markdown',
  patch: 'diff',
  py: 'python',
  rs: 'rust',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  yml: 'yaml',
};

/** Longer blocks stay plain, so that colouring never makes the page wait. */
const CHARS_MAX = 20_000;

let core: Promise<HLJSApi> | null = null;

/**
 * Returns the code as safe HTML with `hljs-…` classes; null if the language is unknown or the code
 * too long.
 */
export async function highlight(code: string, language: string): Promise<string | null> {
  const name = ALIASES[language] ?? language;
  const load = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (!load || code.length > CHARS_MAX) return null;
  core ??= import('highlight.js/lib/core').then((module) => module.default);
  const [hljs, definition] = await Promise.all([core, load()]);
  if (!hljs.getLanguage(name)) hljs.registerLanguage(name, definition.default);
  return hljs.highlight(code, { language: name, ignoreIllegals: true }).value;
}
