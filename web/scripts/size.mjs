// Prints what a first visit loads: the page, its script and its style, compressed as a server would.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const folder = process.argv[2] ?? 'dist';
const page = readFileSync(`${folder}/index.html`, 'utf8');
const initial = ['index.html', ...[...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1])];
const sizes = initial.map((name) => [name, gzipSync(readFileSync(`${folder}/${name}`)).length]);
const later = readdirSync(`${folder}/assets`).filter((name) => !initial.includes(`assets/${name}`));
for (const [name, size] of sizes) console.log(`${(size / 1000).toFixed(1).padStart(7)} kB  ${name}`);
console.log(
  `${(sizes.reduce((sum, [, size]) => sum + size, 0) / 1000).toFixed(1).padStart(7)} kB  together (gzip); ${later.length} more files when needed`,
);
