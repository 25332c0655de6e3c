/**
 * Finishes the built page for the server that embeds it: the style must not delay the skeleton, the
 * server learns the hashes of what is inside the page, and the files are compressed.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const COMPRESSED = /\.(?:css|html|js|svg)$/;
/** A smaller file fits into one packet anyway. */
const BYTES_MIN = 512;

/** Moves the style behind the skeleton, and has it fetched as early as before. */
export function withEarlySkeleton(html: string): string {
  const style = /\s*<link rel="stylesheet"[^>]*href="([^"]+)"[^>]*>/.exec(html);
  if (!style) return html;
  return html
    .replace(style[0], `\n    <link rel="preload" as="style" crossorigin href="${style[1]}" />`)
    .replace('<noscript>', `<link rel="stylesheet" crossorigin href="${style[1]}" />\n    <noscript>`);
}

/** Has the font fetched with the style, which names it. */
export function withEarlyFont(html: string, files: readonly string[]): string {
  const font = files.find((name) => name.endsWith('.woff2'));
  if (font === undefined) return html;
  const link = `<link rel="preload" as="font" type="font/woff2" crossorigin href="/assets/${font}" />`;
  return html.replace('</head>', `  ${link}\n  </head>`);
}

/** Puts an icon into the page. */
export function withIcon(html: string, svg: string): string {
  const data = `data:image/svg+xml,${encodeURIComponent(svg.trim())}`;
  return html.replace('href="/icon.svg"', `href="${data}"`);
}

/** Returns the sources of a content security policy for the elements inside the page. */
export function hashes(html: string): string {
  const of = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(
      ([, text]) =>
        ` 'sha256-${createHash('sha256')
          .update(text ?? '')
          .digest('base64')}'`,
    );
  return `script-src${of('script').join('')}\nstyle-src${of('style').join('')}\n`;
}

function compress(path: string): void {
  const plain = readFileSync(path);
  if (!COMPRESSED.test(path) || plain.length < BYTES_MIN) return;
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: size }));
  writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
}

function filesIn(folder: string): string[] {
  const all = readdirSync(folder).map((name) => join(folder, name));
  return all.flatMap((path) => (statSync(path).isDirectory() ? filesIn(path) : [path]));
}

export function finish(): Plugin {
  let folder = 'dist';
  return {
    name: 'finish',
    apply: 'build',
    enforce: 'post',
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith('/')) folder = config.build.outDir;
    },
    closeBundle: () => {
      const path = join(folder, 'index.html');
      const icon = readFileSync(join(folder, 'icon.svg'), 'utf8');
      const early = withEarlyFont(withEarlySkeleton(readFileSync(path, 'utf8')), readdirSync(join(folder, 'assets')));
      const html = withIcon(early, icon);
      writeFileSync(path, html);
      writeFileSync(join(folder, 'hashes.txt'), hashes(html));
      filesIn(folder).forEach(compress);
    },
  };
}
