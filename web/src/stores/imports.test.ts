import { expect, test } from 'vitest';

const files = import.meta.glob<string>('../**/*.{ts,svelte}', { query: '?raw', import: 'default', eager: true });

/** Returns the path of an imported file, from the path of the one that imports it. */
function resolved(from: string, to: string): string | undefined {
  const path = new URL(to, `file:///src/stores/${from}`).pathname.replace('/src/', '../').replace('../stores/', './');
  return [path, `${path}.ts`].find((name) => name in files);
}

/** Returns the files that a file imports when it is loaded, and those whose types it uses. */
function importsOf(path: string): string[] {
  const named = files[path]!.matchAll(/^\s*(?:import|export)\s[^'"()]*?from\s+'(\.[^']+)'/gm);
  return [...named].flatMap(([, to]) => resolved(path, to!) ?? []);
}

/** Returns a circle of imports that begins at a file, or null. */
function circleFrom(path: string, way: readonly string[], done: Set<string>): string[] | null {
  if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
  if (done.has(path)) return null;
  for (const next of importsOf(path)) {
    const circle = circleFrom(next, [...way, path], done);
    if (circle) return circle;
  }
  done.add(path);
  return null;
}

test('no file of the page imports itself in a circle', () => {
  const done = new Set<string>();
  const circles = Object.keys(files).map((path) => circleFrom(path, [], done));
  expect(circles.filter((circle) => circle !== null)).toEqual([]);
  expect(importsOf('./app.ts')).toContain('./hall.svelte.ts');
});

test('stores are given what they need: only the app makes one, and no store imports it', () => {
  const made = importsOf('./app.ts').filter((path) => path.startsWith('./'));
  const users = made.filter((path) => importsOf(path).includes('./app.ts'));
  expect(users).toEqual([]);
});
