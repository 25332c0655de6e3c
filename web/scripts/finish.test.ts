import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { hashes, withEarlyFont, withEarlySkeleton, withIcon } from './finish.ts';

const PAGE = `<head>
    <script>let a = 1;</script>
    <style>.sk{}</style>
    <link rel="stylesheet" crossorigin href="/assets/index-1.css">
  </head><body><div id="root">skeleton</div><noscript>no</noscript></body>`;

it('lets the style wait behind the skeleton', () => {
  const page = withEarlySkeleton(PAGE);
  expect(page.indexOf('rel="stylesheet"')).toBeGreaterThan(page.indexOf('skeleton'));
  expect(page.indexOf('rel="preload"')).toBeLessThan(page.indexOf('<body>'));
});

it('has the font fetched early', () => {
  const page = withEarlyFont(PAGE, ['index-1.css', 'inter-1.woff2']);
  expect(page.indexOf('href="/assets/inter-1.woff2"')).toBeLessThan(page.indexOf('</head>'));
});

it('lists the hash of each script and style inside the page', () => {
  const of = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  expect(hashes(PAGE)).toBe(`script-src ${of('let a = 1;')}\nstyle-src ${of('.sk{}')}\n`);
});

it('puts the icon into the page', () => {
  expect(withIcon('<link href="/icon.svg">', '<svg id="#1"/>')).toContain('data:image/svg+xml,%3Csvg');
});
