// Prints what a first visit loads: the page, its script and its style, as browsers that accept Brotli get them.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';

const folder = process.argv[2] ?? 'dist';
const page = readFileSync(`${folder}/index.html`, 'utf8');
const named = [...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1]);
const initial = ['index.html', ...new Set(named)];
const sent = (name) => statSync(`${folder}/${name}${existsSync(`${folder}/${name}.br`) ? '.br' : ''}`).size;
const sizes = initial.map((name) => [name, sent(name)]);
const later = readdirSync(`${folder}/assets`).filter(
  (name) => name.endsWith('.js') && !named.includes(`assets/${name}`),
);
for (const [name, size] of sizes) console.log(`${(size / 1000).toFixed(1).padStart(7)} kB  ${name}`);
console.log(
  `${(sizes.reduce((sum, [, size]) => sum + size, 0) / 1000).toFixed(1).padStart(7)} kB  together (Brotli); ${later.length} more files when needed`,
);
